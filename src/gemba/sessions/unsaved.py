"""What is only in the worktrees of sessions, looked at when it may have changed and kept on the run's row.

A look starts several gits, so a list of sessions takes none: it shows what was seen last, and when. One looks when a
turn is over and when the run is. Nothing is looked at once the worktree is released. Called by the app's background
work and, for what has ended, by commands without a server.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Row, or_, select, update

from gemba import git
from gemba.event import Draft, Filter
from gemba.sessions.agents import preamble
from gemba.sessions.runs import agent_of, find, runs
from gemba.sessions.worktrees import worktree
from gemba.store.database import REFUSALS, Database
from gemba.store.hub import Hub
from gemba.store.patience import patiently

_WORKED = Filter(frozenset({"turn_ended", "run.ended"}))  # after these there may be something new
_AT_ONCE = 10_000  # events; more than the hub keeps
_BETWEEN_SECONDS = 2.0
_SHARE = 9  # times as long as it looked, it does not

log = structlog.get_logger("gemba.sessions")


class Looking:
    """The worktrees of one home and workspace."""

    def __init__(self, database: Database, workspace: Path, origin: str) -> None:
        self._database = database
        self._workspace = str(workspace)
        self._origin = origin

    def due(self) -> list[str]:
        """Sessions with a worktree that was not looked at since they ended, or that live."""
        seen_before = or_(runs.c.seen_at.is_(None), runs.c.ended_at.is_(None), runs.c.seen_at < runs.c.ended_at)
        mine = (runs.c.origin == self._origin, runs.c.workspace == self._workspace, runs.c.branch.is_not(None))
        query = select(runs.c.session_id).where(*mine, runs.c.released_at.is_(None), seen_before)
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(runs.c.created_at)).scalars())

    def look_at_ended(self) -> None:
        """What nobody has looked at since it ended."""
        for session_id in self.due():
            with self._database.read() as connection:
                row = find(connection, session_id)
            if row is not None and row.ended_at is not None:
                self.look(session_id)

    def look(self, session_id: str) -> None:
        """See what is only in the session's worktree now, if it has one here, and tell what is new."""
        with self._database.read() as connection:
            row = find(connection, session_id)
        if row is None or (row.origin, row.workspace) != (self._origin, self._workspace) or not row.branch:
            return
        if row.released_at is not None:
            return
        try:
            found = worktree.find(self._workspace, row.tree or session_id)
            state = None if found is None else state_of(row, found)
        except REFUSALS:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an agent did there is no server's end
            log.info("a worktree cannot be looked at", session_id=session_id, reason=str(error))
            return
        if state is None:
            return
        seen = {"dirty": state.dirty, "unmerged": state.unmerged or 0}
        with self._database.transaction() as tx:
            still = (runs.c.session_id == session_id, runs.c.released_at.is_(None))
            changed = tx.connection.execute(update(runs).where(*still).values(**seen, seen_at=tx.now)).rowcount
            if changed and (row.dirty, row.unmerged) != (*seen.values(),):
                tx.emit(Draft("worktree.changed", seen, session_id, session_id))


def state_of(run: Row[Any], found: worktree.Worktree) -> worktree.State:
    """The state of a session's worktree. While it lives its preamble stands in its client's file, and is Gemba's own:
    a file with nothing else to commit counts as committed."""
    state, file = worktree.state(found), agent_of(run).instructions
    if run.ended_at is not None or not file:
        return state
    name = os.path.relpath(Path(found.folder, file), found.path)
    if name not in state.names or not _has_block_alone(Path(found.folder), file, run.session_id):
        return state
    return state._replace(dirty=state.dirty - 1, names=tuple(other for other in state.names if other != name))


def _has_block_alone(folder: Path, file: str, session_id: str) -> bool:
    """Whether a file is as committed, but for the session's block."""
    try:
        text = preamble.take_out((folder / file).read_bytes(), [session_id])
    except (OSError, preamble.Broken):
        return False
    committed = git.run(str(folder), "show", f"HEAD:./{file}")
    known = committed.stdout.encode("utf-8", "surrogateescape") if committed.code == 0 else None
    return text == known


async def keep_looking(looking: Looking, hub: Hub) -> None:
    """Look at what lives or has ended meanwhile, then at what has worked; one after another."""
    seen = hub.last
    wanted = await patiently(looking.due, "worktrees")
    while True:
        began = time.monotonic()
        for session_id in wanted:
            await patiently(partial(looking.look, session_id), "worktrees")
        # However many work at once, it takes a tenth of the time at most.
        await asyncio.sleep(max(_BETWEEN_SECONDS, _SHARE * (time.monotonic() - began)))
        await hub.wait_for(seen, _WORKED)
        if hub.holds(seen):
            told, seen = await hub.read(seen, _AT_ONCE, _WORKED)
            wanted = list(dict.fromkeys(event.session_id for event in told if event.session_id))
        else:  # more has happened than anybody remembers
            seen = hub.last
            wanted = await patiently(looking.due, "worktrees")
