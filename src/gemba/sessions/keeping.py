"""The runs of one home and workspace, kept as they are wanted: what is missing is started, what is redundant stopped,
and what has ended is written down.

One round looks at everything and does what `reconcile` says. Every step can be repeated, so a kill at any point is made
up for by the next round, of this process or of one that starts after it: a run is known by its id, and lives on with
its keeper while no server does. Blocking: called by `app.py` in a thread of its own, and by commands without a server.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Row

from gemba import clock
from gemba.config import Workspace
from gemba.errors import Conflict, GembaError, NotFound, Unusable
from gemba.event import Draft
from gemba.handoff import dispatches
from gemba.programs import path_with_programs
from gemba.sessions import inputs, runs, store, unknown_runs
from gemba.sessions.agents import preamble_file, profiles
from gemba.sessions.agents.agent import Agent, environment_of
from gemba.sessions.agents.given import Given, Where
from gemba.sessions.agents.launch import Launch, launch
from gemba.sessions.agents.preamble import compose
from gemba.sessions.backends.backend import Backend, Observation, RunFolder, Seen, Start, run_folder
from gemba.sessions.backends.run_folder import Keeper, own_program, read_keeper
from gemba.sessions.backends.run_lock import ALREADY_STARTING
from gemba.sessions.inputs import IsAwaited
from gemba.sessions.living_keepers import LivingKeepers
from gemba.sessions.reconcile import Ending, Found, Run, plan
from gemba.sessions.session import Lifecycle, Transcript
from gemba.sessions.typist import Tell, Typist
from gemba.sessions.worktrees import worktree
from gemba.store.database import REFUSALS, Database

_AT_ONCE = 8  # sessions that are started, or stopped, beside each other
_GRACE = 5.0  # seconds between a request to end and force
# Of the server's own surroundings, what must not reach an agent: it has its own, or none.
_NOT_PASSED_ON = ("GEMBA_", "TMUX", "CLAUDECODE", "CLAUDE_CODE_")

log = structlog.get_logger("gemba.sessions")


class Keeping:
    """`tell` emits events and has every projection follow them, as for those that frames bring. `is_awaited`: whether
    there is still something to come for a session."""

    def __init__(
        self,
        database: Database,
        workspace: Workspace,
        home: Path,
        origin: str,
        backends: Mapping[str, Backend],
        tell: Tell,
        is_awaited: IsAwaited,
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._home = home
        self._origin = origin
        self._backends = backends
        self._tell = tell
        self._is_awaited = is_awaited
        self._troubles: dict[str, str] = {}
        self._keepers = LivingKeepers()
        self.typist = Typist(database, origin, str(workspace.root), self._reach, tell)

    def keep(self) -> bool:
        """One round, and all that can be typed then; whether anything lives, so that there is more to come."""
        alive = self.reconcile()
        self.typist.type_all()
        return alive

    def reconcile(self) -> bool:
        """What runs is what is wanted; whether anything lives."""
        rows = {row.session_id: row for row in self._rows()}
        if not rows:
            return False
        made = plan([_run(row) for row in rows.values()], self._found(list(rows.values())))
        with ThreadPoolExecutor(_AT_ONCE, "sessions") as pool:
            # Each step to its end before the next: nothing starts beside what is about to stop.
            list(pool.map(lambda id: self._alone(self._stop, rows[id]), made.stops))
            for ending in made.ends:
                self._alone(self._end, rows[ending.session_id], ending)
            for session_id in made.running:
                self._came_up(rows[session_id])
            list(pool.map(lambda id: self._alone(self._start, rows[id]), made.starts))
            living = [id for id in rows if id not in {*made.stops, *(ending.session_id for ending in made.ends)}]
            self._close_driven([rows[id] for id in living])
        changed = [*made.starts, *(ending.session_id for ending in made.ends)]
        for name in {runs.agent_of(rows[id]).backend for id in changed}:
            self._backends[name].close()
        return len(made.ends) < len(rows)

    @property
    def ends(self) -> int | None:
        """A file that is readable while a run has ended that no round has seen; None where there is nothing to see."""
        return self._keepers.ends

    def take_over(self) -> None:
        """What an earlier server left that no row tells of. Only for whoever keeps this workspace alone."""
        unknown_runs.stop(unknown_runs.find(self._database, self._home, self._workspace.root))
        for backend in self._backends.values():
            backend.close()

    def close(self) -> None:
        """What is held of the runs; they go on."""
        self._keepers.close()

    def _alone(self, step: Callable[..., None], row: Row[Any], *more: Any) -> None:
        """What goes wrong with one session is told, tried again in the next round, and no other one's trouble."""
        try:
            step(row, *more)
        except REFUSALS:
            raise  # the database's, which concerns all
        except Exception as error:  # noqa: BLE001 - told, with where it happened unless it is a refusal
            if self._troubles.get(row.session_id) != str(error):  # said once, not in every round
                how = {"reason": error.message} if isinstance(error, GembaError) else {"exc_info": error}
                log.warning("a session cannot be kept as it is wanted", session_id=row.session_id, **how)
            self._troubles[row.session_id] = str(error)
        else:
            self._troubles.pop(row.session_id, None)

    # ---- looking

    def transcript(self, session_id: str, lines: int) -> Transcript:
        """Of a session that runs, or ran, here; Conflict where that is elsewhere."""
        with self._database.read() as connection:
            store.get_session(connection, session_id)
            row = runs.find(connection, session_id)
        if row is None or row.origin != self._origin:
            where = "by somebody else" if row is None else f"in another home, {row.origin}"
            raise Conflict(f"session {session_id} was started {where}: what it shows is not here", code="elsewhere")
        if row.cleared_at is not None:
            kept = "[sessions] keep_transcripts_days in .gemba/workspace.toml says how long it is kept"
            told = f"what session {session_id} printed is gone since {clock.rfc3339(row.cleared_at)[:10]}: {kept}"
            raise NotFound(told, code="transcript_gone")
        backend, folder = self._backend(row), self._folder(session_id)
        return Transcript(session_id, backend.read(folder, lines), backend.attach(folder))

    def _rows(self) -> Sequence[Row[Any]]:
        with self._database.read() as connection:
            return runs.to_keep(connection, self._origin, str(self._workspace.root))

    def _found(self, rows: Sequence[Row[Any]]) -> dict[str, Found]:
        """What is seen of those that were started at all. Those whose keeper is known to live are not looked for; of
        the others each backend is asked once."""
        living = self._keepers.among({row.session_id for row in rows})
        found = {id: Found(run_id, Observation(Seen.RUNNING)) for id, run_id in living.items()}
        kept: dict[str, dict[str, Keeper]] = defaultdict(dict)  # by backend and session
        for row in rows:
            if row.session_id not in living and (keeper := read_keeper(self._folder(row.session_id))):
                kept[runs.agent_of(row).backend][row.session_id] = keeper
        for name, keepers in kept.items():
            seen = self._backends[name].observe([self._folder(session_id) for session_id in keepers])
            for session_id, keeper in keepers.items():
                found[session_id] = Found(keeper.run_id, seen[session_id])
                if seen[session_id].seen is Seen.RUNNING:
                    self._keepers.add(session_id, keeper)
        return found

    def _backend(self, row: Row[Any]) -> Backend:
        return self._backends[runs.agent_of(row).backend]

    def _reach(self, row: Row[Any]) -> tuple[Backend, RunFolder]:
        return self._backend(row), self._folder(row.session_id)

    def _folder(self, session_id: str) -> RunFolder:
        return run_folder(self._home, self._workspace.root, session_id)

    # ---- doing

    def _stop(self, row: Row[Any]) -> None:
        self._backend(row).stop(self._folder(row.session_id), _GRACE)

    def _start(self, row: Row[Any]) -> None:
        if self._is_begun(row):
            return
        try:
            tree = self._make_tree(row)
            folder = str(self._workspace.root) if tree is None else tree.folder
            branch = None if tree is None else tree.branch
            if (row.folder, row.branch) != (folder, branch):
                with self._database.transaction() as tx:
                    # Before it starts: whoever ends it has to know where its block stands.
                    runs.change(tx, row.session_id, folder=folder, branch=branch)
            has_started = self._launch(row, folder)
        except REFUSALS:
            raise  # the database's; it is tried again
        except GembaError as error:
            # What does not work here concerns whoever reads the log, a refusal only who looks at the session.
            level = logging.WARNING if isinstance(error, Unusable) else logging.INFO
            log.log(level, "a session could not be started", session_id=row.session_id, reason=error.message)
            self._not_started(row, error)
        except Exception as error:
            log.warning("a session could not be started", session_id=row.session_id, exc_info=True)
            self._not_started(row, error)
        else:
            if has_started:
                self._came_up(row)

    def _is_begun(self, row: Row[Any]) -> bool:
        """Whether another process has started it since it was looked at, so that it needs no worktree now. The next
        round sees what became of it."""
        with self._database.read() as connection:
            now = runs.find(connection, row.session_id)
        keeper = read_keeper(self._folder(row.session_id))
        is_there = keeper is not None and keeper.run_id == row.run_id
        return is_there or now is None or now.started_at is not None or now.ended_at is not None

    def _not_started(self, row: Row[Any], error: Exception) -> None:
        self._end(row, Ending(row.session_id, Lifecycle.FAILED, "not_started"), _reason(error))

    def _close_driven(self, living: Sequence[Row[Any]]) -> None:
        """Those to which there is nothing left to say."""
        driven = {row.session_id: row for row in living if runs.agent_of(row).is_driven}
        if not driven:
            return
        with self._database.read() as connection:
            at_rest = [id for id in inputs.at_rest(connection, list(driven)) if not self._is_awaited(connection, id)]
        for session_id in at_rest:
            self._alone(self._close, driven[session_id])

    def _close(self, row: Row[Any]) -> None:
        with self._database.transaction() as tx:
            inputs.close(tx, row.session_id, self._is_awaited)

    def _make_tree(self, row: Row[Any]) -> worktree.Worktree | None:
        name = row.tree or row.session_id
        return worktree.make(str(self._workspace.root), name, self._lives) if row.own_tree else None

    def _lives(self, session_id: str) -> bool:
        with self._database.read() as connection:
            row = runs.find(connection, session_id)
        return row is not None and row.ended_at is None

    def _launch(self, row: Row[Any], folder: str) -> bool:
        """False while another process starts the same."""
        agent = runs.agent_of(row)
        with self._database.read() as connection:
            session = store.get_session(connection, row.session_id)
            if row.dispatch_id is not None:
                dispatches.lay_down(connection, self._home, row.dispatch_id)
        manners = preamble_file.read_manners(self._workspace, session.mode)
        told = compose(row.session_id, session.mode, session.role, manners)
        run, env = self._folder(row.session_id), self._environment(row, agent, session)
        given = profiles.given_to(agent, Where(run.path, self._workspace.root, Path(folder), self._home, env))
        how = launch(agent, told, row.task, str(self._home), given.words)
        if how.block is not None:
            preamble_file.put_block(Path(folder) / agent.instructions, row.session_id, how.block)
        try:
            self._backends[agent.backend].start(self._what_to_start(row, agent, how, given, env, folder))
        except Conflict as conflict:
            if conflict.code == ALREADY_STARTING:
                return False
            keeper = read_keeper(run)
            if keeper is None or keeper.run_id != row.run_id:
                raise  # it is another run that lives there; else ours was started before a crash
        return True

    def _environment(self, row: Row[Any], agent: Agent, session: Row[Any]) -> dict[str, str]:
        ours = {
            "GEMBA_WORKSPACE": str(self._workspace.root),
            "GEMBA_HOME": str(self._home),
            "GEMBA_AGENT_TYPE": agent.name,
            "GEMBA_INTERACTION_MODE": session.mode,
            "GEMBA_ROLE": session.role or "",
            "GEMBA_DISPATCH_ID": row.dispatch_id or "",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}
        env = {
            **inherited,
            **environment_of(agent, os.environ),
            **{name: value for name, value in ours.items() if value},
        }
        # Behind all else: an agent finds gemba-ask also where only the path of gemba itself was given.
        env["PATH"] = path_with_programs(env.get("PATH", os.defpath), str(self._home))
        return env

    def _what_to_start(
        self, row: Row[Any], agent: Agent, how: Launch, given: Given, env: Mapping[str, str], folder: str
    ) -> Start:
        run = str(self._folder(row.session_id).path)
        start = Start(
            session_id=row.session_id,
            run_id=row.run_id,
            folder=run,
            command=how.command,
            env={**env, **given.environment},
            cwd=folder,
            stdin=how.stdin,
            keep_stdin=not agent.headless,
            terminal=agent.terminal,
            output_limit=agent.limits.output_bytes,
            max_seconds=agent.limits.max_seconds or None,
            files=given.files,
            workspace=str(self._workspace.root),
        )
        if not agent.is_driven:
            return start
        driver = tuple(own_program("gemba.sessions.driver.__main__", run))
        files = {**given.files, **profiles.driver_files(agent, how, given, str(self._home))}
        return start._replace(command=driver, stdin=None, files=files)

    # ---- writing down

    def _came_up(self, row: Row[Any]) -> None:
        with self._database.transaction() as tx:
            if runs.get_locked(tx, row.session_id).started_at is not None:
                return
            runs.change(tx, row.session_id, started_at=tx.now)
            self._tell(
                tx, [Draft("session_transition", {"to": "running", "cause": {"run": row.run_id}}, row.session_id)]
            )

    def _end(self, row: Row[Any], how: Ending, trouble: str | None = None) -> None:
        """What it left goes first, processes and its block: a kill before the end is written down has it done again."""
        self._backend(row).stop(self._folder(row.session_id), 0)
        self._take_out_block(row)
        said = {"to": how.to, "close_reason": how.reason, "code": how.code, "signal": how.signal, "trouble": trouble}
        with self._database.transaction() as tx:
            if not runs.end(tx, how, trouble):
                return
            tx.emit(Draft("run.ended", {"code": how.code, "signal": how.signal}, row.session_id, row.session_id))
            # Its client may have told of its end before.
            if store.is_alive(tx, row.session_id):
                self._tell(tx, [Draft("session_transition", said, row.session_id)])

    def _take_out_block(self, row: Row[Any]) -> None:
        file = runs.agent_of(row).instructions
        with self._database.read() as connection:
            now = runs.find(connection, row.session_id)  # it may have got its folder in this round
        if file and now is not None and now.folder:
            with contextlib.suppress(GembaError):  # a person has put something else there
                preamble_file.take_out_block(Path(now.folder) / file, row.session_id)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return error.message if isinstance(error, GembaError) else f"Gemba failed on it: {type(error).__name__}"


def _run(row: Row[Any]) -> Run:
    return Run(row.session_id, row.run_id, row.wanted, row.started_at is not None)
