"""What can be read of escalations, precedents, rules and assumptions, as a table."""

from __future__ import annotations

import msgspec

from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor
from gemba.app import App
from gemba.escalations.assumption import Assumption
from gemba.escalations.assumptions import list_assumptions
from gemba.escalations.escalation import Delivery, Escalation, Kind, Precedent, Urgency
from gemba.escalations.inbox import Order, Wanted, get_escalation, list_escalations, parse_states
from gemba.escalations.precedents import for_one
from gemba.escalations.rules import Rule, list_rules
from gemba.escalations.stale import measured


class EscalationQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` is a comma list of states; `unresolved` stands for open, acknowledged and snoozed. `q` is words, all of
    which occur in the title, question or reply of a settled one, the last as the beginning of a word; "quoted" ones
    follow each other."""

    state: str | None = None
    kind: Kind | None = None
    urgency: Urgency | None = None
    delivery: Delivery | None = None
    session: str | None = None
    work_item: str | None = None
    group: str | None = None
    q: str | None = None
    order: Order = Order.INBOX
    limit: Limit = 50
    cursor: str | None = None


class AssumptionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    session: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class RuleQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 200
    cursor: str | None = None


class EscalationList(msgspec.Struct, frozen=True):
    """A page of escalations. `as_of` is the event sequence of this read: resume `/api/events` after it."""

    escalations: list[Escalation]
    total: int
    next_cursor: str | None
    as_of: int


class PrecedentList(msgspec.Struct, frozen=True):
    """What people answered to asks like this one, newest first."""

    precedents: list[Precedent]


class RuleList(msgspec.Struct, frozen=True):
    rules: list[Rule]
    total: int
    next_cursor: str | None
    as_of: int


class AssumptionList(msgspec.Struct, frozen=True):
    assumptions: list[Assumption]
    total: int
    next_cursor: str | None
    as_of: int


def escalations(app: App, query: EscalationQuery) -> EscalationList:
    wanted = Wanted(
        parse_states(query.state) if query.state else frozenset(),
        query.kind,
        query.urgency,
        query.delivery,
        query.session,
        query.work_item,
        query.group,
        query.q,
    )
    after = open_cursor(query.cursor, tuple[int, int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page = list_escalations(connection, wanted, query.limit, after, query.order, origin=app.origin)
    return EscalationList(page.escalations, page.total, seal_cursor(page.next), as_of)


def escalation(app: App, _query: Nothing, *, id: str) -> Escalation:
    with app.database.read() as connection:
        found = get_escalation(connection, id, origin=app.origin)
    return measured(found)


def precedents(app: App, _query: Nothing, *, id: str) -> PrecedentList:
    with app.database.read() as connection:
        return PrecedentList(for_one(connection, id))


def rules(app: App, query: RuleQuery) -> RuleList:
    after = open_cursor(query.cursor, tuple[int, int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_rules(connection, query.limit, after)
    return RuleList(page, total, seal_cursor(following), as_of)


def assumptions(app: App, query: AssumptionQuery) -> AssumptionList:
    before = open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_assumptions(connection, query.session, query.limit, before)
    return AssumptionList(page, total, seal_cursor(following), as_of)


READS = (
    Read(
        "/api/escalations",
        escalations,
        EscalationQuery,
        EscalationList,
        "The inbox: blocking first, oldest first",
        cached=True,
    ),
    Read("/api/escalations/{id}", escalation, Nothing, Escalation, "One escalation with its whole text"),
    Read(
        "/api/escalations/{id}/precedents",
        precedents,
        Nothing,
        PrecedentList,
        "What was answered to asks like this one, newest first",
    ),
    Read("/api/rules", rules, RuleQuery, RuleList, "Answers given by rule, the live ones first", cached=True),
    Read(
        "/api/assumptions",
        assumptions,
        AssumptionQuery,
        AssumptionList,
        "What agents decided alone, newest first",
        cached=True,
    ),
)
