"""Wiring only: one workspace's database, hub and background work, and what the surfaces call.

`App.open` is enough for a command that works without a server; `App.running` adds what a server does all the time:
follow the logs, hand events to readers, run the flows, write replies, wake what is snoozed, forget what is old.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from gemba import clock
from gemba.actions import ACTIONS
from gemba.autodispatch.budget_holds import budget_holds
from gemba.autodispatch.rounds import Rounds
from gemba.config import Settings, Workspace, origin_of
from gemba.escalations import (
    approval_flows,
    delivery,
    derived,
    handoff_flows,
    handoff_frames,
    notices,
    projection,
    reply,
    stalls,
)
from gemba.escalations.alarms import Alarms
from gemba.escalations.awaited import is_awaited
from gemba.escalations.flows import NEWS, EscalationFlows
from gemba.escalations.journal import keep_journal
from gemba.escalations.notify import open_policies
from gemba.event import Filter
from gemba.flows.executors import claimed_name
from gemba.handoff import audit, dispatches
from gemba.handoff.anchors import Anchors
from gemba.handoff.sections import read_sections
from gemba.personas import (
    asking,
    consult_flows,
    consult_lines,
    consulting,
    holding,
)
from gemba.personas import reservations as reservations  # its tables
from gemba.personas.consult_records import Records
from gemba.personas.consults import persona_of
from gemba.personas.expert import Expert
from gemba.personas.file import read_personas
from gemba.sessions.agents.file import find_sound, sound_agents
from gemba.sessions.backends.process import ProcessBackend
from gemba.sessions.backends.tmux import TmuxBackend
from gemba.sessions.housekeeping import Housekeeping
from gemba.sessions.ingest import Ingest
from gemba.sessions.keeping import Keeping
from gemba.sessions.store import role_of
from gemba.sessions.unsaved import Looking, keep_looking
from gemba.skills.advisor.advise import advise
from gemba.skills.consult import epic_order, perspective, team_plan, walk_summary
from gemba.skills.consult.registry import SKILLS
from gemba.sprints import cards as sprint_cards
from gemba.sprints import holds, progress, usage
from gemba.store import confirmations, events
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.migrate import open_database
from gemba.store.patience import after_each, patiently
from gemba.store.signal import Signal, signal_for
from gemba.teams import cards as team_cards
from gemba.teams import deciding, proposing, stint
from gemba.teams.at_work import TeamsAtWork
from gemba.teams.epics import item_of
from gemba.teams.folder import Folders
from gemba.teams.told import read_task
from gemba.threads import first_of, readable, repeat_in_thread
from gemba.walks import asking as walk_asking
from gemba.walks.records import Summaries
from gemba.watch import FolderWatch
from gemba.work import following

if TYPE_CHECKING:
    from gemba.flows.engine import Engine

# What changes which replies must be on disk.
_REPLIES = Filter(
    frozenset(
        f"escalation.{end}"
        for end in (
            *("resolved", "dismissed", "expired", "withdrawn", "reopened"),
            *("sent", "rerouted", "undelivered", "delivered"),
        )
    )
    | {f"assumption.{end}" for end in ("overturned", "sent", "undelivered", "delivered")}
)
_SESSIONS = Filter(frozenset({"session.wanted", "session.unwanted"}))
# What waits for a dialog, or for its agent to come up, can be typed then.
_INPUTS = Filter(frozenset({"input.wanted", "permission_settled", "session_transition"}))
_STALL_SECONDS = 30.0
_GLANCE_SECONDS = 1.0  # between two looks at the agents that run
_HOUR_SECONDS = 3600.0

log = structlog.get_logger("gemba.app")


class App:
    """A workspace that is open: every surface works on one of these."""

    def __init__(self, workspace: Workspace, settings: Settings, home: Path, database: Database) -> None:
        self.workspace = workspace
        self.settings = settings
        self.home = home
        self.database = database
        self.origin = origin_of(home)
        self.policies = open_policies(settings, workspace)
        project = partial(projection.project, origin=self.origin, policies=self.policies)
        follow = partial(following.project, role_of=role_of)
        count = partial(usage.project, persona_of=persona_of, item_of=item_of)
        self.ingest = Ingest(
            database, home / "sessions", self.origin, workspace.root, [project, consult_lines.project, follow, count]
        )
        self.signal: Signal = signal_for(database, workspace.signal_folder)
        self.started_at: int | None = None
        self.is_demo = False  # with agents of `gemba demo`: the page says what one is looking at
        self.alarms = Alarms(database)
        self.reply_trouble: str | None = None
        self.engine: Engine | None = None  # while it runs
        self.keeping = Keeping(
            database,
            workspace,
            home,
            self.origin,
            {"process": ProcessBackend(), "tmux": TmuxBackend(home)},
            lambda tx, drafts: self.ingest.tell(tx, drafts),
            is_awaited,
        )
        self.looking = Looking(database, workspace.root, self.origin)
        kept = settings.sessions.keep_transcripts_days
        self.housekeeping = Housekeeping(database, workspace.root, home, self.origin, kept)
        database.surroundings["let_go"] = self.housekeeping.releasing.let_go
        self.anchors = Anchors(home / "anchors" / f"{self.origin}.{self._own_name()}")
        database.surroundings.update(origin=self.origin, policies=self.policies, anchors=self.anchors)
        database.surroundings["sections"] = partial(read_sections, workspace)
        database.surroundings["agent"] = lambda name: find_sound(sound_agents(workspace), name)
        database.surroundings.update(home=home, workspace=workspace.root, gate=settings.handoff.gate)
        database.surroundings["role_of"] = role_of
        self.personas = read_personas(workspace, SKILLS)
        guards = {
            "transition_guards": [holding.guard_item, progress.notice],
            "dispatch_guards": [holds.refuse_work],
            "session_guards": [holds.refuse_session],
            "turn_keepers": [deciding.keeps_turn],
            "turn_checkers": [deciding.checks_turn],
            "cards": {**holding.CARDS, **sprint_cards.CARDS, **team_cards.CARDS},
            "caps": settings.caps,
        }
        database.surroundings.update(work_prefix=workspace.work_prefix(settings), personas=self.personas, **guards)
        database.surroundings.update(consults=settings.consults, teams=settings.teams, actions=ACTIONS)
        take_in = lambda *session_ids: self.ingest.drain(*session_ids)  # noqa: E731 - a test may put another one in its place
        others = (budget_holds(settings.caps),)
        self.rounds = Rounds(database, workspace, home, self.origin, settings.auto, take_in, others)
        database.surroundings["things"] = read_task
        database.surroundings["experts"] = {
            epic_order.SKILL.id: Expert(lambda given, _: advise(given, self.rounds.workers())),
            team_plan.SKILL.id: proposing.expert_of(workspace.root),
            perspective.SKILL.id: asking.expert_of(database, self.personas),
            walk_summary.SKILL.id: walk_asking.expert_of(database),
        }
        lease = settings.teams.lease_seconds * clock.SECOND
        self.handoff_flows = handoff_flows.HandoffFlows(database, self.origin, workspace.root, take_in)
        compare = self.handoff_flows.compare
        self.teams = TeamsAtWork(database, workspace.root, home, self.origin, lease, take_in, compare)
        self.consult_flows = consult_flows.ConsultFlows(database, take_in)
        self.records = Records(database, home, self.origin)
        self.team_folders = Folders(database, workspace.root, self.origin)
        self.walk_summaries = Summaries(database, workspace.root, self.origin)
        database.on_commit.append(lambda _: self.signal.tell())

    @classmethod
    def open(cls, workspace: Workspace, settings: Settings, home: Path) -> App:
        database = open_database(workspace.database_url(settings), workspace.backups)
        try:
            derived.refresh(database)
            app = cls(workspace, settings, home, database)
            app._check_audit_log()
            return app
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        self.keeping.close()
        self.signal.close()
        self.database.close()

    def _check_audit_log(self) -> None:
        """Its tail, at each start; the whole of it is checked by `gemba audit verify`."""
        known = self.anchors.read()
        with self.database.read() as connection:
            broken = audit.check(connection, known, tail=True) if known.anchors else None
        if broken is not None:
            log.error("the audit log is not as it was written", entry=broken.number, what=broken.what)

    def catch_up(self) -> None:
        """What a running server would have done by now: take in new frames, ring alarms, write replies."""
        self.ingest.drain()
        self.alarms.ring()
        self.keeping.keep()
        self.see_to_consults()
        self.looking.look_at_ended()
        self.team_folders.write()
        self.walk_summaries.write()
        self.write_replies()

    def write_replies(self) -> None:
        trouble = reply.write_out(self.database, self.origin, self.home, delivery.tell_of_writing)
        if trouble and trouble != self.reply_trouble:  # said once, not at every attempt
            log.warning("replies wait to be written, trying again", reason=trouble)
        self.reply_trouble = trouble

    def see_to_consults(self) -> None:
        """What a server has its flows do for consults, and their records; for a command without one."""
        self.consult_flows.catch_up()
        self.records.write()

    def lay_down_envelopes(self) -> None:
        """What whoever dispatched did not live to do: the files of what is not complete are there."""
        with self.database.read() as connection:
            made_up_for = dispatches.lay_down_missing(connection, self.home, self.origin)
        self.rounds.lay_down_given()
        if made_up_for:
            log.info("envelopes of dispatches were missing, and are there again", dispatches=made_up_for)

    def prune(self) -> None:
        """Forget what retention says: old events, spent confirm ids, positions of logs that are gone."""
        keep = self.settings.events
        with self.database.transaction() as tx:
            # A clock that was set ahead by mistake must not make everything old.
            now = min(tx.now, events.last_at(tx.connection))
            older_than = now - keep.keep_days * clock.DAY
            events.prune(tx.connection, older_than=older_than, keep_at_most=keep.keep_at_most)
            confirmations.prune(tx, now)
            consulting.close_old(tx, now)
            notices.prune(tx, older_than)
            self.ingest.forget_old(tx, older_than)

    @asynccontextmanager
    async def running(self, *, alone: bool = False) -> AsyncIterator[Hub]:
        """Everything a server does by itself, until the block ends. A part that fails ends the whole.

        `alone`: the caller holds the workspace's lock, so that no other server keeps its sessions.
        """
        # Slow to load, and only needed here; before there are threads, which must not meet it half loaded.
        from gemba.flows.engine import Engine

        self.started_at = clock.now()
        hub = Hub(self.database)
        await hub.start()
        self.database.on_commit.append(hub.tell)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(work)
                    for work in (
                        hub.run(),
                        self.signal.listen(hub.nudge),
                        self._follow_logs(),
                        self._keep_sessions(hub, alone),
                        self._type_to_agents(hub),
                        self._run_flows(hub, Engine),
                        self._deliver(hub),
                        self.records.keep(hub),
                        self.team_folders.keep(hub),
                        self.walk_summaries.keep(hub),
                        self.alarms.keep(hub),
                        self._prune_hourly(),
                        self._tidy_hourly(),
                        keep_looking(self.looking, hub),
                        self._watch_stalls(),
                        self.rounds.keep(hub),
                        self.teams.crew.keep(hub),
                        keep_journal(self.database, hub),
                    )
                ]
                yield hub
                hub.close()
                for task in tasks:
                    task.cancel()
        finally:
            self.database.on_commit.remove(hub.tell)

    async def _run_flows(self, hub: Hub, engine_type: type[Engine]) -> None:
        replies = self.settings.reply.undelivered_after_seconds * clock.SECOND
        flows = EscalationFlows(self.policies, self.workspace.root, replies, self._page)
        lease = self.settings.flows.lease_seconds * clock.SECOND
        table = {
            **flows.table,
            **approval_flows.TABLE,
            **handoff_frames.TABLE,
            **self.handoff_flows.table,
            **self.consult_flows.table,
            **self.teams.table,
        }
        others = (approval_flows, handoff_frames, handoff_flows, consult_flows, stint)
        news = Filter(NEWS.names.union(*(each.NEWS.names for each in others)))
        with claimed_name(self.workspace.executors_folder, f"{self.origin}.{self._own_name()}") as name:
            file = self.workspace.flows_file
            engine = engine_type(self.database, file, name, table, news, lease, origin=self.origin)
            self.teams.crew.executor = name
            async with engine.running(hub):
                self.engine = engine
                try:
                    await asyncio.Future()
                finally:
                    self.engine = None

    def _own_name(self) -> str:
        """Several workspaces may share a home and a database; each has its own."""
        return hashlib.sha256(str(self.workspace.root).encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def _page(self) -> str | None:
        """Where the page is, as long as a server says so."""
        try:
            return str(msgspec.json.decode(self.workspace.server_file.read_bytes())["url"])
        except (OSError, msgspec.MsgspecError, KeyError, TypeError):
            return None

    async def _follow_logs(self) -> None:
        with FolderWatch(str(self.home / "sessions")) as watch:
            self.ingest.look_again()
            await repeat_in_thread(lambda: self.ingest.follow(watch), interrupt=watch.wake)

    async def _keep_sessions(self, hub: Hub, alone: bool) -> None:
        if alone:
            await patiently(self.keeping.take_over, "sessions")
        while True:
            seen = hub.last
            alive = await patiently(self.keeping.reconcile, "sessions")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GLANCE_SECONDS if alive else None):
                    await first_of(hub.wait_for(seen, _SESSIONS), readable(self.keeping.ends))

    async def _type_to_agents(self, hub: Hub) -> None:
        await patiently(self.lay_down_envelopes, "envelopes")  # what is typed may be about one
        while True:
            seen = hub.last
            unreached = await patiently(self.keeping.typist.type_waiting, "inputs")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GLANCE_SECONDS if unreached else None):
                    await hub.wait_for(seen, _INPUTS)

    async def _deliver(self, hub: Hub) -> None:
        await after_each(hub, _REPLIES, self.write_replies, "replies", lambda: self.reply_trouble)

    async def _prune_hourly(self) -> None:
        while True:
            await patiently(self.prune, "retention")
            await asyncio.sleep(_HOUR_SECONDS)

    async def _tidy_hourly(self) -> None:
        while True:
            await patiently(self.housekeeping.tidy, "housekeeping")
            await asyncio.sleep(_HOUR_SECONDS)

    async def _watch_stalls(self) -> None:
        while True:
            await asyncio.sleep(_STALL_SECONDS)
            await patiently(self.look_for_stalls, "stalls")

    def look_for_stalls(self) -> None:
        stalls.look(self.database, self.workspace, self.origin)
