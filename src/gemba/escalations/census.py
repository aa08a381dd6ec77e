"""How much of everything there is at this moment, in one read: what the metrics show. Counts only, no texts, no ids."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, func, select

from gemba.escalations.escalation import Urgency
from gemba.escalations.inbox import counts
from gemba.escalations.notices import notices
from gemba.escalations.store import escalations
from gemba.flows.executors import executors
from gemba.flows.wanted import flows
from gemba.sessions.store import read_counters, sessions
from gemba.store import events


class Census(msgspec.Struct, frozen=True):
    unresolved: dict[tuple[str, ...], int]  # by kind and urgency
    oldest_blocking_at: int | None
    undelivered: int
    notices: dict[bool | None, int]  # by whether they could be sent; None: not known yet
    events: int
    frames: dict[str, int]  # by what became of them
    sessions: dict[str, int]  # by lifecycle
    flows_wanted: int
    flows_troubled: int
    executors: int


def take_census(connection: Connection) -> Census:
    waiting = ~escalations.c.resolved
    by_kind = (
        select(escalations.c.kind, escalations.c.urgency, func.count())
        .where(waiting)
        .group_by(escalations.c.kind, escalations.c.urgency)
    )
    oldest = select(func.min(escalations.c.opened_at)).where(waiting, escalations.c.urgency == Urgency.BLOCKING)
    by_lifecycle = select(sessions.c.lifecycle, func.count()).group_by(sessions.c.lifecycle)
    by_result = select(notices.c.ok, func.count()).group_by(notices.c.ok)
    running = select(func.count(), func.count(flows.c.trouble)).select_from(flows)
    wanted, troubled = connection.execute(running).one()
    return Census(
        unresolved={(kind, urgency): many for kind, urgency, many in connection.execute(by_kind)},
        oldest_blocking_at=connection.execute(oldest).scalar(),
        undelivered=counts(connection)["replies_undelivered"],
        notices=dict(connection.execute(by_result).all()),
        events=events.last_id(connection),
        frames={name.removeprefix("frames_"): many for name, many in read_counters(connection).items()},
        sessions=dict(connection.execute(by_lifecycle).all()),
        flows_wanted=wanted,
        flows_troubled=troubled,
        executors=connection.execute(select(func.count()).select_from(executors)).scalar_one(),
    )
