"""The sessions that live, as far as anybody knows, as the selection of work has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, select

from gemba.errors import Conflict
from gemba.sessions import runs
from gemba.sessions.session import SILENT_AFTER, Lifecycle
from gemba.sessions.store import get_session, sessions
from gemba.work.selecting import AtWork

MOST = 200  # those heard of last
_MOST_COUNTED = 2_000

_ALIVE = (Lifecycle.STARTING, Lifecycle.RUNNING)


def living(connection: Connection, now: int) -> list[AtWork]:
    """Those that Gemba runs, and of the others those that were heard of lately; by id."""
    heard = sessions.c.last_frame_at > now - SILENT_AFTER
    query = (
        select(sessions, runs.runs.c.folder, runs.runs.c.released_at)
        .select_from(sessions.outerjoin(runs.runs, runs.runs.c.session_id == sessions.c.id))
        .where(sessions.c.lifecycle.in_(_ALIVE), heard | runs.runs.c.session_id.is_not(None))
        .order_by(sessions.c.last_frame_at.desc(), sessions.c.id)
        .limit(MOST)
    )
    found = [
        AtWork(row.id, row.bead_id, None if row.released_at else row.folder, row.role == "coach")
        for row in connection.execute(query)
    ]
    return sorted(found, key=lambda one: one.id)


def living_with(connection: Connection, now: int, id: str) -> list[AtWork]:
    """The same, with this one among them; NotFound where there is none, a Conflict where it is over."""
    found = living(connection, now)
    if all(one.id != id for one in found):
        row, run = get_session(connection, id), runs.find(connection, id)
        if row.lifecycle not in _ALIVE:
            raise Conflict(f"the session {id} is {row.lifecycle}", code="session_over", found=row.lifecycle)
        found.append(AtWork(id, row.bead_id, run.folder if run is not None else None, row.role == "coach"))
    return sorted(found, key=lambda one: one.id)


def tokens_of(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """What the sessions that were heard of last took for each of these items, as far as they said."""
    recent = select(sessions.c.bead_id, sessions.c.tokens_in, sessions.c.tokens_out)
    recent = recent.order_by(sessions.c.last_frame_at.desc()).limit(_MOST_COUNTED)
    wanted, found = set(ids), Counter[str]()
    for item, taken, given in connection.execute(recent):
        if item in wanted:
            found[item] += (taken or 0) + (given or 0)
    return dict(found)
