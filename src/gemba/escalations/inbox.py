"""Reading escalations: one page of them by filter, blocking first and oldest first within, or what changed last first.

Whether the code moved since an ask is looked up when it is read, from git's files, once a worktree and page.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, case, func, select, tuple_

from gemba import wire
from gemba.errors import Invalid
from gemba.escalations import precedents, search
from gemba.escalations.escalation import RANK, UNRESOLVED, Delivery, Escalation, State, Urgency
from gemba.escalations.stale import stale_of
from gemba.escalations.store import escalations, get, view
from gemba.sessions.session import Asks
from gemba.store.lists import among
from gemba.store.rows import Waiting, waiting

LONGEST_IN_LIST = 2_000

# Where a page ended: the sort key of its last escalation. What changed last has no rank.
Place = tuple[int, int, str]

_APPROVALS = ("approval", "hitl_approval")
# Of a proposal as it is stored: the quotes in somebody's words are not written so.
_WANTS_PERSON = '"verifier":"person","state":"waiting"'
_INBOX = (escalations.c.rank, escalations.c.opened_at, escalations.c.id)
_RECENT = (escalations.c.changed_at, escalations.c.id)


class Order(StrEnum):
    INBOX = "inbox"  # blocking first, oldest first within
    RECENT = "recent"  # what changed last first


class Wanted(msgspec.Struct, frozen=True):
    """Which escalations; an empty part wants all."""

    states: frozenset[State] = frozenset()
    kind: str | None = None
    urgency: Urgency | None = None
    delivery: Delivery | None = None
    session: str | None = None
    work_item: str | None = None
    group: str | None = None
    q: str | None = None  # words, all of which occur in a settled one

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        columns = escalations.c
        found: list[ColumnElement[bool]] = []
        if self.states:
            resolved = {state not in UNRESOLVED for state in self.states}
            if len(resolved) == 1:
                found.append(columns.resolved == resolved.pop())
            if self.states != frozenset(UNRESOLVED):
                found.append(columns.state.in_(sorted(self.states)))
        for column, value in (
            (columns.kind, self.kind),
            (columns.urgency, self.urgency),
            (columns.delivery, self.delivery),
            (columns.session_id, self.session),
            (columns.bead_id, self.work_item),
            (columns.group_id, self.group),
        ):
            if value is not None:
                found.append(column == value)
        if self.q is not None:
            found.append(columns.id.in_(search.matching(connection, self.q)))
        return found


class Page(msgspec.Struct, frozen=True):
    """Some escalations, how many there are in all, and where the next page starts."""

    escalations: list[Escalation]
    total: int
    next: Place | None


def parse_states(text: str) -> frozenset[State]:
    """A comma list of states; `unresolved` stands for open, acknowledged and snoozed."""
    states: set[State] = set()
    for word in text.split(","):
        if word == "unresolved":
            states.update(UNRESOLVED)
        elif word in State.__members__.values():
            states.add(State(word))
        else:
            allowed = [*map(str, State), "unresolved"]
            raise Invalid(
                f"state is {word[:80]!r}; allowed: {', '.join(allowed)}",
                code="invalid_value",
                pointer="/state",
                found=word[:80],
                allowed=allowed,
            )
    return frozenset(states)


def list_escalations(
    connection: Connection,
    wanted: Wanted,
    limit: int,
    after: Place | None = None,
    order: Order = Order.INBOX,
    *,
    origin: str | None = None,
) -> Page:
    conditions = wanted.conditions(connection)
    total = connection.execute(select(func.count()).select_from(escalations).where(*conditions)).scalar_one()
    query = select(escalations).where(*conditions).limit(limit + 1)
    if order is Order.INBOX:
        query = query.order_by(*_INBOX)
        if after is not None:
            query = query.where(tuple_(*_INBOX) > after)
    else:
        query = query.order_by(*(column.desc() for column in _RECENT))
        if after is not None:
            query = query.where(tuple_(*_RECENT) < after[1:])
    rows = connection.execute(query).all()
    shown = rows[:limit]
    last = _place(shown[-1], order) if len(rows) > limit else None
    return Page(_views(connection, shown, origin), total, last)


def get_escalation(connection: Connection, id: str, *, origin: str | None = None) -> Escalation:
    row = get(connection, id)
    precedent = precedents.best_for(connection, [row]).get(id)
    size = _group_sizes(connection, [row]).get(row.group_id, 1)
    return view(row, stale=stale_of(row, origin), precedent=precedent, group_size=size)


def asks_by_session(connection: Connection, session_id: str | None = None) -> dict[str, Asks]:
    """How many escalations are unresolved, of the sessions that have such, or of one."""
    whose = () if session_id is None else (escalations.c.session_id == session_id,)
    blocking = func.sum(case((escalations.c.urgency == Urgency.BLOCKING, 1), else_=0))
    found = select(escalations.c.session_id, func.count(), blocking).where(~escalations.c.resolved, *whose)
    rows = connection.execute(found.group_by(escalations.c.session_id))
    return {id: Asks(waiting, int(blocking)) for id, waiting, blocking in rows}


def counts(connection: Connection) -> dict[str, int]:
    """How many wait, how many of them block, how many replies lie undelivered."""
    waiting = select(escalations.c.urgency, func.count()).where(~escalations.c.resolved).group_by(escalations.c.urgency)
    by_urgency: dict[str, int] = dict(connection.execute(waiting).all())
    undelivered = select(func.count()).select_from(escalations).where(escalations.c.delivery == Delivery.UNDELIVERED)
    return {
        "escalations_unresolved": sum(by_urgency.values()),
        "escalations_blocking": by_urgency.get(Urgency.BLOCKING, 0),
        "replies_undelivered": connection.execute(undelivered).scalar_one(),
    }


class Needs(msgspec.Struct, frozen=True):
    """What wants the operator now. `approvals` and `proposed`, answers that a second person has to agree to, are among
    the `blocking` and `advisory` ones; what is snoozed is not."""

    blocking: Waiting
    advisory: Waiting
    approvals: Waiting
    proposed: Waiting
    undelivered: Waiting
    snoozed: int


def read_needs(connection: Connection) -> Needs:
    columns = escalations.c
    snoozed = columns.state == State.SNOOZED
    active = (~columns.resolved, ~snoozed)

    def of(*chosen: ColumnElement[bool]) -> Waiting:
        return waiting(connection, columns.opened_at, *active, *chosen)

    ranked = {urgency: of(columns.rank == rank) for urgency, rank in RANK.items()}
    return Needs(
        blocking=ranked[Urgency.BLOCKING],
        advisory=ranked[Urgency.ADVISORY],
        approvals=of(columns.kind.in_(_APPROVALS)),
        proposed=of(columns.proposal.contains(_WANTS_PERSON, autoescape=True)),
        undelivered=waiting(connection, columns.resolved_at, columns.delivery == Delivery.UNDELIVERED),
        snoozed=connection.execute(
            select(func.count()).select_from(escalations).where(~columns.resolved, snoozed)
        ).scalar_one(),
    )


def _place(row: Row[Any], order: Order) -> Place:
    return (row.rank, row.opened_at, row.id) if order is Order.INBOX else (0, row.changed_at, row.id)


def _views(connection: Connection, rows: Sequence[Row[Any]], origin: str | None) -> list[Escalation]:
    place_of = cache(wire.git_place)
    best = precedents.best_for(connection, rows)
    sizes = _group_sizes(connection, rows)
    return [
        view(
            row,
            longest=LONGEST_IN_LIST,
            stale=stale_of(row, origin, place_of),
            precedent=best.get(row.id),
            group_size=sizes.get(row.group_id, 1),
        )
        for row in rows
    ]


def _group_sizes(connection: Connection, rows: Sequence[Row[Any]]) -> dict[str, int]:
    """How many wait in the groups of these."""
    wanted = among(connection, escalations.c.group_id, {row.group_id for row in rows})
    waiting = select(escalations.c.group_id, func.count()).where(wanted, ~escalations.c.resolved)
    return dict(connection.execute(waiting.group_by(escalations.c.group_id)).all())
