"""What can be read over HTTP, as a table; what can be changed is `app.ACTIONS`. Handlers parse and render nothing.

`text/event-stream` and the page are not JSON and have modules of their own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Connection

import gemba
from gemba import clock
from gemba.action import Nothing
from gemba.app import App
from gemba.doctor import Diagnosis, diagnose
from gemba.errors import Invalid
from gemba.escalations.assumption import Assumption
from gemba.escalations.assumptions import list_assumptions
from gemba.escalations.attention import Attention, AttentionQuery, measure
from gemba.escalations.escalation import Delivery, Escalation, Kind, Precedent, Urgency
from gemba.escalations.inbox import Order, Wanted, get_escalation, list_escalations, parse_states, sessions_needing_you
from gemba.escalations.policy_view import PolicyList, policies_view
from gemba.escalations.precedents import for_one
from gemba.escalations.rules import Rule, list_rules
from gemba.escalations.stale import measured
from gemba.handoff import audit
from gemba.handoff.approval import RequestState
from gemba.handoff.approvals import Approval, list_approvals
from gemba.handoff.approvals import get as get_approval
from gemba.handoff.approvals import view as view_approval
from gemba.handoff.audit_verdict import AuditVerdict
from gemba.handoff.audit_verdict import judge as judge_audit
from gemba.handoff.contract_view import (
    ContextRevision,
    ContextSection,
    get_section,
    list_revisions,
    list_sections,
)
from gemba.handoff.dispatches import Dispatch, list_dispatches
from gemba.handoff.dispatches import get as get_dispatch
from gemba.handoff.dispatches import view as view_dispatch
from gemba.handoff.handoffs import Handoff, HandoffState, list_handoffs
from gemba.handoff.handoffs import get as get_handoff
from gemba.handoff.handoffs import view as view_handoff
from gemba.handoff.memories import MemoryView, list_memories
from gemba.handoff.memories import get as get_memory
from gemba.handoff.memories import view as view_memory
from gemba.handoff.memory import MemoryState
from gemba.handoff.schema import json_schema
from gemba.handoff.sections import read_sections
from gemba.handoff.status import PlanStatus
from gemba.sessions.session import SessionView
from gemba.sessions.store import list_sessions
from gemba.store import events

_BIGGEST = 2**63 - 1

Limit = Annotated[int, msgspec.Meta(ge=1, le=500)]


class Health(msgspec.Struct, frozen=True):
    status: str


class Version(msgspec.Struct, frozen=True):
    version: str


class Me(msgspec.Struct, frozen=True):
    """Whose token it is."""

    operator: str


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


class ApprovalQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` is a comma list of states; `escalation` is the id of the one that asks about them."""

    state: str | None = None
    escalation: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class MemoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """`state` is a comma list of states. `class` is any text: agents may have written one that nobody knows."""

    state: str | None = None
    class_: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class DispatchQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    session: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class HandoffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` is a comma list of states."""

    dispatch: str | None = None
    session: str | None = None
    state: str | None = None
    plan_status: PlanStatus | None = None
    limit: Limit = 50
    cursor: str | None = None


class AuditQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`after` is the number of the last entry that is known already."""

    after: Annotated[int, msgspec.Meta(ge=0, le=_BIGGEST)] = 0
    limit: Limit = 500


class ContextHistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 20
    cursor: str | None = None


class SessionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 200


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


class ApprovalList(msgspec.Struct, frozen=True):
    approvals: list[Approval]
    total: int
    next_cursor: str | None
    as_of: int


class MemoryList(msgspec.Struct, frozen=True):
    memories: list[MemoryView]
    total: int
    next_cursor: str | None
    as_of: int


class HandoffList(msgspec.Struct, frozen=True):
    """A page of handoffs, each without its document."""

    handoffs: list[Handoff]
    total: int
    next_cursor: str | None
    as_of: int


class EnvelopeSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"schema": "$schema"}):
    """The JSON Schema of an output envelope, and nothing around it."""

    schema: str
    title: str
    description: str
    type: str
    properties: dict[str, Any]
    required: list[str]
    allOf: list[dict[str, Any]]  # noqa: N815 - as JSON Schema has it


class DispatchList(msgspec.Struct, frozen=True):
    """A page of dispatches, without their envelopes."""

    dispatches: list[Dispatch]
    total: int
    next_cursor: str | None
    as_of: int


class AuditEntry(msgspec.Struct, frozen=True):
    """An entry as its hash was made of it; `body` is a text and stays one, `at` counts microseconds."""

    number: int
    at: int
    kind: str
    actor: str
    ref: str
    body: str
    previous: str
    hash: str


class AuditList(msgspec.Struct, frozen=True):
    entries: list[AuditEntry]
    total: int


class ContextList(msgspec.Struct, frozen=True):
    sections: list[ContextSection]
    as_of: int


class ContextHistory(msgspec.Struct, frozen=True):
    """The revisions of a section, newest first."""

    revisions: list[ContextRevision]
    total: int
    next_cursor: str | None


class SessionList(msgspec.Struct, frozen=True):
    sessions: list[SessionView]
    as_of: int


class Read(NamedTuple):
    """One GET: its path, its handler, the types of its query and its answer.

    What is `cached` depends on the database alone, and changes with an event; on the world beside it at most in ways
    that may be told a second late. The handler of a `personal` one is also told the `operator` who asks.
    """

    path: str
    handler: Callable[..., msgspec.Struct]
    query: type[msgspec.Struct]
    result: type[msgspec.Struct]
    summary: str
    public: bool = False
    cached: bool = False
    personal: bool = False


def health(_app: App, _query: Nothing) -> Health:
    return Health("ok")


def version(_app: App, _query: Nothing) -> Version:
    return Version(gemba.__version__)


def me(_app: App, _query: Nothing, *, operator: str) -> Me:
    return Me(operator)


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
    after = _open_cursor(query.cursor, tuple[int, int, str])
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page = list_escalations(connection, wanted, query.limit, after, query.order, origin=app.origin)
    return EscalationList(page.escalations, page.total, _seal_cursor(page.next), as_of)


def escalation(app: App, _query: Nothing, *, id: str) -> Escalation:
    with app.database.read() as connection:
        found = get_escalation(connection, id, origin=app.origin)
    return measured(found)


def precedents(app: App, _query: Nothing, *, id: str) -> PrecedentList:
    with app.database.read() as connection:
        return PrecedentList(for_one(connection, id))


def rules(app: App, query: RuleQuery) -> RuleList:
    after = _open_cursor(query.cursor, tuple[int, int, str])
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_rules(connection, query.limit, after)
    return RuleList(page, total, _seal_cursor(following), as_of)


def assumptions(app: App, query: AssumptionQuery) -> AssumptionList:
    before = _open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_assumptions(connection, query.session, query.limit, before)
    return AssumptionList(page, total, _seal_cursor(following), as_of)


def approvals(app: App, query: ApprovalQuery) -> ApprovalList:
    before = _open_cursor(query.cursor, tuple[int, str])
    states = _states(query.state, RequestState)
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_approvals(
            connection, states, query.limit, before, escalation_id=query.escalation
        )
    return ApprovalList(page, total, _seal_cursor(following), as_of)


def approval(app: App, _query: Nothing, *, id: str) -> Approval:
    with app.database.read() as connection:
        return view_approval(get_approval(connection, id))


def memories(app: App, query: MemoryQuery) -> MemoryList:
    before = _open_cursor(query.cursor, tuple[int, str])
    states = _states(query.state, MemoryState)
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_memories(connection, states, query.class_, query.limit, before)
    return MemoryList(page, total, _seal_cursor(following), as_of)


def memory(app: App, _query: Nothing, *, id: str) -> MemoryView:
    with app.database.read() as connection:
        return view_memory(get_memory(connection, id))


def dispatches(app: App, query: DispatchQuery) -> DispatchList:
    before = _open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_dispatches(connection, query.limit, before, session=query.session)
    return DispatchList(page, total, _seal_cursor(following), as_of)


def handoffs(app: App, query: HandoffQuery) -> HandoffList:
    before = _open_cursor(query.cursor, tuple[int, str])
    chosen = {"dispatch": query.dispatch, "session": query.session, "plan_status": query.plan_status}
    states = _states(query.state, HandoffState)
    with app.database.read() as connection:
        as_of = _as_of(connection)
        page, total, following = list_handoffs(connection, query.limit, before, states=states, **chosen)
    return HandoffList(page, total, _seal_cursor(following), as_of)


def handoff(app: App, _query: Nothing, *, id: str) -> Handoff:
    with app.database.read() as connection:
        return view_handoff(get_handoff(connection, id))


def handoff_schema(_app: App, _query: Nothing) -> EnvelopeSchema:
    return msgspec.convert(json_schema(), EnvelopeSchema)


def dispatch(app: App, _query: Nothing, *, id: str) -> Dispatch:
    with app.database.read() as connection:
        return view_dispatch(get_dispatch(connection, id))


def audit_log(app: App, query: AuditQuery) -> AuditList:
    with app.database.read() as connection:
        page = audit.entries(connection, query.after, query.limit)
        return AuditList([AuditEntry(*entry) for entry in page], audit.count(connection))


def audit_verdict(app: App, _query: Nothing) -> AuditVerdict:
    # Anchors first: what is anchored meanwhile is committed, and would look like a chain that ends too early.
    known = app.anchors.read()
    with app.database.read() as connection:
        return judge_audit(connection, known, app.anchors)


def _states(text: str | None, known: type[StrEnum]) -> list[str]:
    """The states of a comma list; none at all stands for every one."""
    states = [state.strip() for state in text.split(",")] if text else []
    for state in states:
        if state not in list(known):
            allowed = ", ".join(known)
            raise Invalid(
                f"state is {state[:80]!r}; allowed: {allowed}",
                code="invalid_value",
                pointer="/state",
                found=state[:80],
                allowed=list(known),
            )
    return states


def context(app: App, _query: Nothing) -> ContextList:
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        as_of = _as_of(connection)
        return ContextList(list_sections(connection, declared), as_of)


def context_section(app: App, _query: Nothing, *, name: str) -> ContextSection:
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        return get_section(connection, declared, name)


def context_history(app: App, query: ContextHistoryQuery, *, name: str) -> ContextHistory:
    place = _open_cursor(query.cursor, tuple[int, str])
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        page, total, following = list_revisions(connection, declared, name, query.limit, place[0] if place else None)
    return ContextHistory(page, total, None if following is None else _seal_cursor((following, name)))


def sessions(app: App, query: SessionQuery) -> SessionList:
    with app.database.read() as connection:
        as_of = _as_of(connection)
        return SessionList(list_sessions(connection, query.limit, sessions_needing_you(connection)), as_of)


def policies(app: App, _query: Nothing) -> PolicyList:
    return policies_view(app.policies)


def attention(app: App, query: AttentionQuery) -> Attention:
    with app.database.read() as connection:
        return measure(connection, query, app.settings.attention, clock.now())


def doctor(app: App, _query: Nothing) -> Diagnosis:
    return diagnose(app)


READS = (
    Read("/api/health", health, Nothing, Health, "Is the server up?", public=True),
    Read("/api/version", version, Nothing, Version, "Which version is it?", public=True),
    Read("/api/me", me, Nothing, Me, "Who am I here?", personal=True),
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
    Read("/api/approvals", approvals, ApprovalQuery, ApprovalList, "Requests for approval, newest first", cached=True),
    Read("/api/approvals/{id}", approval, Nothing, Approval, "One request with its seal, and its grant"),
    Read("/api/memories", memories, MemoryQuery, MemoryList, "What agents want remembered, newest first", cached=True),
    Read("/api/memories/{id}", memory, Nothing, MemoryView, "One memory with its source"),
    Read("/api/dispatches", dispatches, DispatchQuery, DispatchList, "Work given to agents, newest first", cached=True),
    Read("/api/dispatches/{id}", dispatch, Nothing, Dispatch, "One dispatch with the envelope that its agent got"),
    Read("/api/handoffs", handoffs, HandoffQuery, HandoffList, "Ends of turns, newest first", cached=True),
    Read("/api/handoffs/{id}", handoff, Nothing, Handoff, "One handoff: its envelope, its checks, what became of it"),
    Read(
        "/api/handoff/schema.json",
        handoff_schema,
        Nothing,
        EnvelopeSchema,
        "The JSON Schema of the envelope that ends a turn",
    ),
    Read("/api/audit", audit_log, AuditQuery, AuditList, "The audit log, entry by entry"),
    Read("/api/audit/verdict", audit_verdict, Nothing, AuditVerdict, "Is the audit log as it was written?"),
    Read("/api/context", context, Nothing, ContextList, "What is known of this project, by section"),
    Read("/api/context/{name}", context_section, Nothing, ContextSection, "One section of what is known"),
    Read(
        "/api/context/{name}/history",
        context_history,
        ContextHistoryQuery,
        ContextHistory,
        "What changed in a section, newest first",
    ),
    Read("/api/sessions", sessions, SessionQuery, SessionList, "Sessions, the one heard of last first", cached=True),
    Read("/api/policies", policies, Nothing, PolicyList, "What happens to what nobody answers, and whom to notify"),
    Read(
        "/api/attention",
        attention,
        AttentionQuery,
        Attention,
        "What the asks of the last days cost: times to see and to answer, agents that stood still",
        cached=True,
    ),
    Read("/api/doctor", doctor, Nothing, Diagnosis, "What works and what does not, with hints"),
)


def _as_of(connection: Connection) -> int:
    """Read before the rest: what happens in between is told again rather than missed."""
    return events.last_id(connection)


C = TypeVar("C")


def _open_cursor(text: str | None, kind: type[C]) -> C | None:
    if text is None:
        return None
    try:
        place: Any = msgspec.json.decode(base64.b64decode(text.encode(), altchars=b"-_", validate=True), type=kind)
        if all(abs(part) <= _BIGGEST for part in place if isinstance(part, int)) and "\0" not in place[-1]:
            return place  # type: ignore[no-any-return]
    except (binascii.Error, msgspec.MsgspecError, UnicodeEncodeError):
        pass
    raise Invalid(
        "cursor is not one that this list gave out",
        code="invalid_value",
        pointer="/cursor",
        found=text[:80],
        allowed="next_cursor of the page before",
    )


def _seal_cursor(place: tuple[Any, ...] | None) -> str | None:
    return None if place is None else base64.b64encode(msgspec.json.encode(place), altchars=b"-_").decode()
