"""What agents' asks cost: how many, how soon they were seen and answered, and how long agents stood still for them.

`summarise` is pure: asks in, figures out, whatever their order. Figures belong to the day (UTC) on which an ask was
made. An agent that waits for two answers at once stands still once: of the asks of a session that overlap, each counts
the time that no earlier one has counted, so the rows add up to the total. No figure is negative, whatever a clock did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.config import AttentionSettings
from gemba.escalations.escalation import Kind, Urgency
from gemba.escalations.store import escalations
from gemba.sessions.store import sessions

_MINUTE = 60 * clock.SECOND
_ENOUGH_HOURS = 0.25  # of less, a rate an hour says nothing
_HOUR = 3_600 * clock.SECOND


class AttentionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last `days` days, today included."""

    days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 7
    agent_type: str | None = None
    kind: Kind | None = None


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds; null where nothing was seen or answered. No price set: no cost."""

    asked: int
    seen: int
    answered: int
    by_default: int
    expired: int
    declined: int
    to_see_p50: float | None
    to_see_p90: float | None
    to_answer_p50: float | None
    to_answer_p90: float | None
    blocked_minutes: float
    cost: float | None


class AttentionRow(Figures, frozen=True, kw_only=True):
    """The asks of one day, agent type and kind."""

    day: str
    agent_type: str
    kind: str


class AttentionTotal(Figures, frozen=True, kw_only=True):
    """All of them. An agent's hours go from its first frame to its last; `share_by_default` is of what was answered.

    There is no rate an hour yet when all agents together have worked less than a quarter of one.
    """

    agent_hours: float
    questions_per_agent_hour: float | None
    share_by_default: float | None


class Attention(msgspec.Struct, frozen=True, rename={"since": "from", "until": "to"}):
    since: str
    until: str
    currency: str
    rows: list[AttentionRow]
    total: AttentionTotal


class Ask(NamedTuple):
    """What is known of one ask; moments as `clock` has them."""

    id: str
    session_id: str
    agent_type: str
    kind: str
    blocking: bool
    opened_at: int
    seen_at: int | None = None
    outcome: str | None = None
    resolved_at: int | None = None
    free_at: int | None = None  # when the agent could go on, where that was before it was resolved


class _Tally:
    """Figures as they grow."""

    def __init__(self) -> None:
        self.outcomes: dict[str | None, int] = {}
        self.to_see: list[int] = []
        self.to_answer: list[int] = []
        self.blocked = 0

    def add(self, ask: Ask, blocked: int) -> None:
        self.outcomes[ask.outcome] = self.outcomes.get(ask.outcome, 0) + 1
        if ask.seen_at is not None:
            self.to_see.append(max(0, ask.seen_at - ask.opened_at))
        if ask.outcome == "answered" and ask.resolved_at is not None:
            self.to_answer.append(max(0, ask.resolved_at - ask.opened_at))
        self.blocked += blocked

    def include(self, other: _Tally) -> None:
        for outcome, many in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + many
        self.to_see += other.to_see
        self.to_answer += other.to_answer
        self.blocked += other.blocked

    def figures(self, price: float) -> dict[str, Any]:
        minutes = self.blocked / _MINUTE
        count = self.outcomes.get
        return {
            "asked": sum(self.outcomes.values()),
            "seen": len(self.to_see),
            "answered": count("answered", 0),
            "by_default": count("default", 0),
            "expired": count("expired", 0),
            "declined": count("declined", 0),
            "to_see_p50": _quantile(self.to_see, 0.5),
            "to_see_p90": _quantile(self.to_see, 0.9),
            "to_answer_p50": _quantile(self.to_answer, 0.5),
            "to_answer_p90": _quantile(self.to_answer, 0.9),
            "blocked_minutes": minutes,
            "cost": minutes * price if price else None,
        }


def measure(connection: Connection, query: AttentionQuery, settings: AttentionSettings, now: int) -> Attention:
    """The figures of the last days: one range of the asks, one of the sessions."""
    since = now // clock.DAY * clock.DAY - (query.days - 1) * clock.DAY
    heard = select(sessions.c.first_seen_at, sessions.c.last_frame_at).where(sessions.c.last_frame_at >= since)
    if query.agent_type is not None:
        heard = heard.where(sessions.c.agent_type == query.agent_type)
    asks = read_asks(connection, since, query.agent_type, query.kind)
    at_work = sum(max(0, last - max(first, since)) for first, last in connection.execute(heard))
    rows, total = summarise(asks, now=now, price=settings.cost_per_agent_minute, at_work=at_work)
    return Attention(clock.rfc3339(since), clock.rfc3339(now), settings.currency, rows, total)


def read_asks(connection: Connection, since: int, agent_type: str | None = None, kind: str | None = None) -> list[Ask]:
    """What was asked since a moment, of all or of one type and kind."""
    asked = select(
        *(escalations.c[name] for name in ("id", "session_id", "agent_type", "kind", "urgency", "opened_at")),
        *(escalations.c[name] for name in ("seen_at", "outcome", "resolved_at", "late", "expires_at")),
    ).where(escalations.c.opened_at >= since)
    if agent_type is not None:
        asked = asked.where(escalations.c.agent_type == agent_type)
    if kind is not None:
        asked = asked.where(escalations.c.kind == kind)
    return [_ask(row) for row in connection.execute(asked)]


def summarise(
    asks: Sequence[Ask], *, now: int, price: float, at_work: int
) -> tuple[list[AttentionRow], AttentionTotal]:
    """Rows in order of day, agent type and kind, and their total. `at_work` is the time of all agents together."""
    blocked = standing_still(asks, now)
    by_row: dict[tuple[int, str, str], _Tally] = {}
    for ask in asks:
        key = (ask.opened_at // clock.DAY, ask.agent_type, ask.kind)
        tally = by_row.get(key)
        if tally is None:
            tally = by_row[key] = _Tally()
        tally.add(ask, blocked.get(ask.id, 0))
    whole = _Tally()
    for tally in by_row.values():
        whole.include(tally)
    rows = [
        AttentionRow(day=clock.rfc3339(day * clock.DAY)[:10], agent_type=agent_type, kind=kind, **tally.figures(price))
        for (day, agent_type, kind), tally in sorted(by_row.items())
    ]
    figures = whole.figures(price)
    replied = figures["answered"] + figures["by_default"]
    hours = at_work / _HOUR
    total = AttentionTotal(
        **figures,
        agent_hours=hours,
        questions_per_agent_hour=figures["asked"] / hours if hours >= _ENOUGH_HOURS else None,
        share_by_default=figures["by_default"] / replied if replied else None,
    )
    return rows, total


def standing_still(asks: Iterable[Ask], now: int) -> dict[str, int]:
    """How long each blocking ask held its agent up, beyond what an earlier one of the same session did."""
    covered: dict[str, int] = {}  # up to when a session's time is counted
    found: dict[str, int] = {}
    # Not by their ends: one that is unresolved ends now, which would make the shares depend on when it is looked at.
    for ask in sorted((ask for ask in asks if ask.blocking), key=lambda ask: (ask.opened_at, ask.id)):
        ends = [moment for moment in (ask.resolved_at, ask.free_at) if moment is not None]
        end = min(ends) if ends else now
        start = max(ask.opened_at, covered.get(ask.session_id, ask.opened_at))
        found[ask.id] = max(0, end - start)
        covered[ask.session_id] = max(start, end)
    return found


def _ask(row: Row[Any]) -> Ask:
    # A late answer comes to an agent that went on when the ask's time ran out.
    free_at = row.expires_at if row.late else None
    blocking = row.urgency == Urgency.BLOCKING
    moments = (row.opened_at, row.seen_at, row.outcome, row.resolved_at, free_at)
    return Ask(row.id, row.session_id, row.agent_type, row.kind, blocking, *moments)


def _quantile(values: list[int], share: float) -> float | None:
    """The smallest value that so large a share does not exceed, in seconds."""
    return sorted(values)[ceil(share * len(values)) - 1] / clock.SECOND if values else None
