"""The sessions that live, as far as anybody knows: as the selection of work has them, and as they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from gemba.errors import Conflict
from gemba.sessions import runs
from gemba.sessions.session import SILENT_AFTER, Asks, Lifecycle, SessionView
from gemba.sessions.store import get_session, sessions, view_all
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


class AtWorkNow(NamedTuple):
    """The first few of those that live, how many do, and how many of them want the operator."""

    views: list[SessionView]
    total: int
    needs_you: int


def list_living(connection: Connection, now: int, limit: int, asks: Mapping[str, Asks]) -> AtWorkNow:
    """Those that want the operator first, then the one that began last: none moves by being heard of."""
    lasting = select(runs.runs.c.session_id).where(runs.runs.c.ended_at.is_(None))
    heard = sessions.c.last_frame_at > now - SILENT_AFTER
    alive = (sessions.c.lifecycle.in_(_ALIVE), heard | sessions.c.id.in_(lasting))
    total: int = connection.execute(select(func.count()).select_from(sessions).where(*alive)).scalar_one()
    query = select(sessions).where(*alive).order_by(sessions.c.last_frame_at.desc(), sessions.c.id).limit(MOST)
    found = view_all(connection, connection.execute(query).all(), asks)
    found.sort(key=lambda one: (one.first_seen_at, one.id), reverse=True)
    found.sort(key=lambda one: not one.needs_you)
    return AtWorkNow(found[:limit], total, sum(one.needs_you for one in found))


def count_failed(connection: Connection, since: int) -> int:
    """Those that failed or were lost, of all that were heard of since."""
    bad = (sessions.c.lifecycle.in_((Lifecycle.FAILED, Lifecycle.LOST)), sessions.c.last_frame_at > since)
    return connection.execute(select(func.count()).select_from(sessions).where(*bad)).scalar_one()


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
