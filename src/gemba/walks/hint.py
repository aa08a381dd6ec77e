"""Whether a walk is worth it now: when several agents stand still, or one has stood still for too long."""

from __future__ import annotations

from sqlalchemy import Connection, func, or_, select

from gemba import clock
from gemba.escalations.escalation import State, Urgency
from gemba.escalations.store import escalations
from gemba.walks.tables import walks
from gemba.walks.walk import WalkHint

MANY = 3  # blocking ones that are worth a sitting
LIMIT = 30 * 60 * clock.SECOND  # after which a blocking one has waited for too long


def hint(connection: Connection, slot: str, now: int) -> WalkHint:
    """An ask has aged past its limit when its policy has reminded of it, or without one after half an hour."""
    waiting = (~escalations.c.resolved, escalations.c.state != State.SNOOZED)
    blocking = escalations.c.urgency == Urgency.BLOCKING
    overdue = (blocking, or_(escalations.c.reminders > 0, escalations.c.opened_at < now - LIMIT))
    all_of_them = _count(connection, *waiting)
    of_blocking, of_overdue = _count(connection, *waiting, blocking), _count(connection, *waiting, *overdue)
    mine = connection.execute(select(walks.c.id).where(walks.c.slot == slot)).scalar()
    return WalkHint(
        offer=of_blocking >= MANY or of_overdue > 0,
        reason=_reason(of_blocking, of_overdue),
        waiting=all_of_them,
        blocking=of_blocking,
        overdue=of_overdue,
        open_walk=mine,
    )


def _count(connection: Connection, *chosen: object) -> int:
    query = select(func.count()).select_from(escalations).where(*chosen)  # type: ignore[arg-type]
    return connection.execute(query).scalar_one()


def _reason(blocking: int, overdue: int) -> str:
    if overdue:
        return f"{overdue} {'agent has' if overdue == 1 else 'agents have'} waited for too long"
    if blocking >= MANY:
        return f"{blocking} agents wait for you"
    return ""
