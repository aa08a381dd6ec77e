"""Reads what `choosing` decides on: switches, what of the limits is taken, who is free, what is ready and what is kept.

All from one state of the database, each by an index; what is asked of the world (which types there are, whether they
can run here) the caller has asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, or_, select

from gemba import clock
from gemba.autodispatch.choosing import Free, Situation, TypeFacts
from gemba.autodispatch.start import OPEN, WENT_WRONG, AutoHold, StartState
from gemba.autodispatch.switching import WORKSPACE, is_on, read_switches
from gemba.autodispatch.tables import starts
from gemba.config import AutoSettings
from gemba.escalations.awaited import is_awaited
from gemba.handoff.dispatches import dispatches
from gemba.sessions import inputs, runs
from gemba.sessions.agents.agent import Agent
from gemba.sessions.at_work import living
from gemba.sessions.inputs import InputState
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.store.lists import among
from gemba.store.schema import events
from gemba.work.item import FINISHED, State
from gemba.work.selecting import Ground, read_ground
from gemba.work.selection import Worker
from gemba.work.tables import items

_HOUR = 3_600 * clock.SECOND
_OF_TURNS = ("turn_ended", "user_message", "tool_use")
_MOST_FAILURES = 20  # counted; the pause is as long as it gets before

ReadHolds = Callable[[Connection, int], Sequence[AutoHold]]


class Here(NamedTuple):
    """The workspace and home that start something, with what was asked of the world before. `unusable` has, by type,
    why none can run here; `others` are asked for holds that other parts know of."""

    workspace: str
    origin: str
    settings: AutoSettings
    agents: Mapping[str, Agent]
    unusable: Mapping[str, str]
    others: Sequence[ReadHolds] = ()


def read_situation(connection: Connection, here: Here, now: int) -> tuple[Situation, Ground]:
    known = living(connection, now)
    ground = read_ground(connection, known, now)
    thrown = read_switches(connection, here.workspace)
    situation = Situation(
        on=is_on(thrown, WORKSPACE, here.settings.enabled),
        field=ground.field,
        types=_types(connection, here, thrown, now),
        free=_free(connection, here, thrown, ground.workers),
        running=_open(connection, here),
        most=here.settings.max_parallel,
        others=[hold for read in here.others for hold in read(connection, now)],
        kept=_kept(connection, here, [item.id for item in ground.field.items]),
        now=now,
    )
    return situation, ground


def _types(connection: Connection, here: Here, thrown: Mapping[str, Row[Any]], now: int) -> list[TypeFacts]:
    mine = runs.runs.c.workspace == here.workspace
    lasting = _counted(connection, runs.runs.c.agent_type, mine, runs.runs.c.ended_at.is_(None))
    recent = _recent(connection, mine, runs.runs.c.created_at > now - _HOUR)
    claimed = (starts.c.workspace == here.workspace, starts.c.state == StartState.CLAIMED, ~starts.c.living)
    coming = _counted(connection, starts.c.agent_type, *claimed)
    found = []
    for name, agent in here.agents.items():
        on = is_on(thrown, name, agent.auto_dispatch)
        since = thrown[name].at if name in thrown else 0
        failures, failed_at = _failures(connection, here, name, since) if on else (0, 0)
        about_to = coming.get(name, 0)
        started, oldest = recent.get(name, (0, now))
        found.append(
            TypeFacts(
                name,
                on,
                here.unusable.get(name),
                living=lasting.get(name, 0) + about_to,
                most=agent.max_parallel,
                started=started + about_to,
                rate=agent.limits.runs_per_hour,
                fewer_at=oldest + _HOUR,
                failures=failures,
                failed_at=failed_at,
            )
        )
    return found


def _recent(connection: Connection, *conditions: Any) -> dict[str, tuple[int, int]]:
    """By type how many were started, and when the first of them was."""
    table = runs.runs.c
    query = select(table.agent_type, func.count(), func.min(table.created_at)).where(*conditions)
    return {name: (many, first) for name, many, first in connection.execute(query.group_by(table.agent_type))}


def _counted(connection: Connection, column: Any, *conditions: Any) -> dict[str, int]:
    return dict(connection.execute(select(column, func.count()).where(*conditions).group_by(column)).all())


def _failures(connection: Connection, here: Here, agent_type: str, since: int) -> tuple[int, int]:
    """How many of the last starts of a type went wrong one after the other, and when the last one did."""
    ended = (starts.c.workspace == here.workspace, starts.c.agent_type == agent_type, starts.c.ended_at > since)
    query = select(starts.c.state, starts.c.ended_at).where(*ended).order_by(starts.c.ended_at.desc())
    many, last = 0, 0
    for state, ended_at in connection.execute(query.limit(_MOST_FAILURES)):
        if state not in WENT_WRONG:
            break
        many, last = many + 1, last or ended_at
    return many, last


def _open(connection: Connection, here: Here) -> int:
    query = (
        select(func.count()).select_from(starts).where(starts.c.workspace == here.workspace, starts.c.state.in_(OPEN))
    )
    return connection.execute(query).scalar_one()


# ---- who is free -----------------------------------------------------------------------------------------------------


def _free(
    connection: Connection, here: Here, thrown: Mapping[str, Row[Any]], workers: Mapping[str, Worker]
) -> list[Free]:
    """Sessions that were given work and have ended it; what a person drives and never dispatched is left alone."""
    on = [name for name, agent in here.agents.items() if is_on(thrown, name, agent.auto_dispatch)]
    rests = (
        sessions.c.lifecycle == Lifecycle.RUNNING,
        sessions.c.role.is_(None),
        sessions.c.prompts == "[]",
        runs.runs.c.agent_type.in_(on),
    )
    query = (
        select(runs.runs.c.session_id, runs.runs.c.agent_type, runs.runs.c.dispatch_id)
        .join(sessions, sessions.c.id == runs.runs.c.session_id)
        .where(*runs.running_here(here.origin, here.workspace), *rests)
        .order_by(runs.runs.c.session_id)
    )
    return [
        Free(row.agent_type, workers.get(row.session_id, Worker(row.session_id)))
        for row in connection.execute(query).all()
        if _has_ended_its_work(connection, row.session_id, row.dispatch_id) and _can_be_told(connection, row.session_id)
    ]


def _has_ended_its_work(connection: Connection, session_id: str, dispatch_id: str | None) -> bool:
    """It has a dispatch that is complete and none that is not, no start that is open, and no item in hand."""
    own = dispatches.c.session_id == session_id
    mine = own if dispatch_id is None else or_(own, dispatches.c.id == dispatch_id)
    ends = connection.execute(select(dispatches.c.completed_at).where(mine)).scalars().all()
    if not ends or None in ends:
        return False
    begun = select(starts.c.id).where(starts.c.session_id == session_id, starts.c.state.in_(OPEN))
    done = sorted(str(state) for state in (*FINISHED, State.REVIEW))
    claimed = (items.c.claimed_by == session_id, items.c.claimed_until.is_not(None), items.c.state.not_in(done))
    queries = (begun, select(items.c.id).where(*claimed))
    return all(connection.execute(query.limit(1)).first() is None for query in queries)


def _can_be_told(connection: Connection, session_id: str) -> bool:
    on_its_way = inputs.inputs.c.state.in_((InputState.WAITING, InputState.TYPING))
    query = select(inputs.inputs.c.id).where(inputs.inputs.c.session_id == session_id, on_its_way)
    return (
        inputs.can_be_typed(connection, session_id)
        and _is_at_rest(connection, session_id)
        and connection.execute(query.limit(1)).first() is None
        and not is_awaited(connection, session_id)
    )


def _is_at_rest(connection: Connection, session_id: str) -> bool:
    """Whether its turn is over, as far as its client says: nobody has typed to it since, and it has used no tool."""
    of_turns = (events.c.session_id == session_id, events.c.name.in_(_OF_TURNS))
    query = select(events.c.name).where(*of_turns).order_by(events.c.id.desc()).limit(1)
    return connection.execute(query).scalar() in (None, "turn_ended")


# ---- what is kept for a person ---------------------------------------------------------------------------------------


def _kept(connection: Connection, here: Here, ids: Sequence[str]) -> dict[str, str]:
    """Items that are ready and not started by themselves: the last start came to nothing, and nobody has changed the
    item since."""
    tried = (
        select(starts.c.item_id, starts.c.trouble)
        .join(items, items.c.id == starts.c.item_id)
        .where(
            among(connection, starts.c.item_id, ids),
            starts.c.workspace == here.workspace,
            starts.c.item_version == items.c.version,
        )
    )
    return {id: f"its last automatic start came to nothing: {why}" for id, why in connection.execute(tried)}
