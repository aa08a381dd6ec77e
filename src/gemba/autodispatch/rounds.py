"""Auto-dispatch at work, one round after the other: end what is over, give what is claimed, claim what is next.

A round looks at everything and can be repeated at any time, so that a kill at any point is made up for by the next one,
of this process or of another. It comes after events that may change what is decided, and at moments that are known
before: when a claim runs out or a pause is over. While everything is off and nothing is open it waits for the switch
alone. Run by `app`; blocking but for `keep`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import structlog
from sqlalchemy import Row, func, select

from gemba import clock, wire
from gemba.autodispatch import ending, store
from gemba.autodispatch.advice import ask_project_manager
from gemba.autodispatch.choosing import Decision, decide, workers_of
from gemba.autodispatch.claiming import claim_next
from gemba.autodispatch.facts import Here, ReadHolds, read_situation
from gemba.autodispatch.giving import Giving
from gemba.autodispatch.start import ACTOR, LEASE_SECONDS, StartState
from gemba.autodispatch.switching import WORKSPACE, is_on, read_switches
from gemba.config import AutoSettings, Workspace
from gemba.errors import GembaError
from gemba.event import Filter
from gemba.sessions import runs
from gemba.sessions.agents.agent import usable
from gemba.sessions.agents.file import sound_agents
from gemba.store.database import REFUSALS, Database
from gemba.store.hub import Hub
from gemba.store.patience import patiently
from gemba.work.tables import items

# What may change what is decided.
NEWS = Filter(
    frozenset(
        {
            *(f"item.{what}" for what in ("created", "changed", "claimed", "released", "imported")),
            *("session_transition", "session_state_reported", "turn_ended", "run.ended", "permission_settled"),
            *("dispatch.created", "dispatch.moved", "handoff.accepted", "handoff.refused", "input.changed"),
            *(f"escalation.{how}" for how in ("resolved", "dismissed", "expired", "withdrawn", "delivered")),
            *("escalation.undelivered", "auto.switched", "auto.refused", "auto.ended"),
            *("sprint.changed", "sprint.closed"),
        }
    )
)
SWITCH = Filter(frozenset({"auto.switched"}))
_LONGEST_SLEEP = 300 * clock.SECOND  # a clock that was set is noticed within this
_SOON = 50_000
_AFTER_A_FAULT = 30 * clock.SECOND

log = structlog.get_logger("gemba.auto")


class Rest(NamedTuple):
    """Until when nothing has to be done, as far as is known, and which events end that before."""

    until: int | None
    news: Filter


class Rounds:
    """For one workspace and home. `take_in` takes in every frame that lies in a log: an agent that ends at once spoke
    a moment before. `others` are asked for holds of other parts."""

    def __init__(
        self,
        database: Database,
        workspace: Workspace,
        home: Path,
        origin: str,
        settings: AutoSettings,
        take_in: Callable[[], object],
        others: Sequence[ReadHolds] = (),
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._root = str(workspace.root)
        self._origin = origin
        self._settings = settings
        self._take_in = take_in
        self._others = others
        self._giving = Giving(database, home, self._lives)

    async def keep(self, hub: Hub) -> None:
        """For ever."""
        while True:
            seen = hub.last
            rest = await patiently(self._round_or_rest, "auto-dispatch")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_seconds(rest.until)):
                    await hub.wait_for(seen, rest.news)

    def _round_or_rest(self) -> Rest:
        """A fault in one round must not end the server: it is told, and tried again after a while."""
        try:
            return self.round()
        except REFUSALS:
            raise  # the database's; it is tried again
        except Exception:
            log.exception("a round of auto-dispatch failed")
            return Rest(clock.now() + _AFTER_A_FAULT, SWITCH)

    def round(self) -> Rest:
        self._end_what_is_over()
        if not self._is_on():
            self._give()
            return Rest(self._next_moment(None), NEWS) if self._open() else Rest(None, SWITCH)
        here = self.here()
        while (decision := self._decided(here)).chosen is not None:
            if self._database.change(partial(claim_next, here=here), ACTOR) is None:
                break
        self._give(here)
        if decision.has_room and self._is_empty():
            ask_project_manager(self._database, self._workspace)
        return Rest(self._next_moment(decision.again_at), NEWS)

    def workers(self) -> int | None:
        """How many may work at once, where that is known."""
        here = self.here()
        with self._database.read() as connection:
            return workers_of(read_situation(connection, here, clock.now())[0])

    def lay_down_given(self) -> None:
        self._giving.lay_down_given(self._open())

    def here(self) -> Here:
        try:
            agents = sound_agents(self._workspace).agents
        except GembaError:  # `gemba doctor` tells of it
            agents = {}
        tasked = {name: agent for name, agent in agents.items() if agent.takes_task}
        unusable = {name: why for name, agent in tasked.items() if (why := usable(agent, self._workspace.root))}
        return Here(self._root, self._origin, self._capped(), tasked, unusable, self._others)

    def _capped(self) -> AutoSettings:
        """Where there is nothing to make worktrees of, sessions work in the workspace itself, one at a time."""
        commit, _ = wire.git_head(self._root)  # from git's files: a round is no place for four processes
        if commit is not None:
            return self._settings
        return msgspec.structs.replace(self._settings, max_parallel=1)

    # ---- parts of a round

    def _is_on(self) -> bool:
        with self._database.read() as connection:
            return is_on(read_switches(connection, self._root), WORKSPACE, self._settings.enabled)

    def _decided(self, here: Here) -> Decision:
        """Read first: most rounds find nothing to start, and keep nobody from writing."""
        with self._database.read() as connection:
            return decide(read_situation(connection, here, clock.now())[0])

    def _open(self) -> list[Row[Any]]:
        with self._database.read() as connection:
            return store.list_open(connection, self._root, self._origin)

    def _end_what_is_over(self) -> None:
        begun = [row for row in self._open() if row.state == StartState.STARTED]
        if any(not self._lives(row.session_id) for row in begun):
            self._take_in()
        with self._database.read() as connection:
            due = [row.id for row in begun if ending.is_due(connection, row, clock.now())]
        for id in due:
            self._database.change(partial(ending.settle, id=id), ACTOR)

    def _give(self, here: Here | None = None) -> None:
        for row in self._open():
            if row.state == StartState.CLAIMED:
                self._giving.give(row.id, here or self.here())

    def _is_empty(self) -> bool:
        """Nothing is ready."""
        now = clock.now()
        free = items.c.claimed_until.is_(None) | (items.c.claimed_until <= now)
        with self._database.read() as connection:
            query = select(items.c.id).where(items.c.standing, free).limit(1)
            return connection.execute(query).first() is None

    def _next_moment(self, again_at: int | None) -> int | None:
        """When a claim has to be extended or runs out, or a hold ends."""
        now = clock.now()
        with self._database.read() as connection:
            query = select(func.min(items.c.claimed_until)).where(items.c.claimed_until > now)
            lapses = connection.execute(query).scalar_one()
        begun = self._open()
        extends = now + LEASE_SECONDS * clock.SECOND // 2 if begun else None
        return min((moment for moment in (lapses, extends, again_at) if moment is not None), default=None)

    def _lives(self, session_id: str) -> bool:
        with self._database.read() as connection:
            row = runs.find(connection, session_id)
        return row is not None and row.ended_at is None


def _seconds(until: int | None) -> float | None:
    if until is None:
        return None
    return min(max(until - clock.now(), _SOON), _LONGEST_SLEEP) / clock.SECOND
