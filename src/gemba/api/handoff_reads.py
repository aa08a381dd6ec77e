"""What can be read of handoffs and all that belongs to them, as a table: dispatches, approvals, the audit log, what is
known of the project, what is remembered.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gemba import typed
from gemba.action import Nothing
from gemba.api.read import BIGGEST, Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
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

    after: Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)] = 0
    limit: Limit = 500


class ContextHistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 20
    cursor: str | None = None


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


class DispatchList(msgspec.Struct, frozen=True):
    """A page of dispatches, without their envelopes."""

    dispatches: list[Dispatch]
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


def approvals(app: App, query: ApprovalQuery) -> ApprovalList:
    before = open_cursor(query.cursor, tuple[int, str])
    states = states_in(query.state, RequestState)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_approvals(connection, states, query.limit, before, escalation_id=query.escalation)
    return ApprovalList(page, total, seal_cursor(following), as_of)


def approval(app: App, _query: Nothing, *, id: str) -> Approval:
    with app.database.read() as connection:
        return view_approval(get_approval(connection, id))


def memories(app: App, query: MemoryQuery) -> MemoryList:
    before = open_cursor(query.cursor, tuple[int, str])
    states = states_in(query.state, MemoryState)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_memories(connection, states, query.class_, query.limit, before)
    return MemoryList(page, total, seal_cursor(following), as_of)


def memory(app: App, _query: Nothing, *, id: str) -> MemoryView:
    with app.database.read() as connection:
        return view_memory(get_memory(connection, id))


def dispatches(app: App, query: DispatchQuery) -> DispatchList:
    before = open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_dispatches(connection, query.limit, before, session=query.session)
    return DispatchList(page, total, seal_cursor(following), as_of)


def dispatch(app: App, _query: Nothing, *, id: str) -> Dispatch:
    with app.database.read() as connection:
        return view_dispatch(get_dispatch(connection, id))


def handoffs(app: App, query: HandoffQuery) -> HandoffList:
    before = open_cursor(query.cursor, tuple[int, str])
    chosen = {"dispatch": query.dispatch, "session": query.session, "plan_status": query.plan_status}
    states = states_in(query.state, HandoffState)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_handoffs(connection, query.limit, before, states=states, **chosen)
    return HandoffList(page, total, seal_cursor(following), as_of)


def handoff(app: App, _query: Nothing, *, id: str) -> Handoff:
    with app.database.read() as connection:
        return view_handoff(get_handoff(connection, id))


def handoff_schema(_app: App, _query: Nothing) -> EnvelopeSchema:
    return typed.convert(json_schema(), EnvelopeSchema)


def audit_log(app: App, query: AuditQuery) -> AuditList:
    with app.database.read() as connection:
        page = audit.entries(connection, query.after, query.limit)
        return AuditList([AuditEntry(*entry) for entry in page], audit.count(connection))


def audit_verdict(app: App, _query: Nothing) -> AuditVerdict:
    # Anchors first: what is anchored meanwhile is committed, and would look like a chain that ends too early.
    known = app.anchors.read()
    with app.database.read() as connection:
        return judge_audit(connection, known, app.anchors)


def context(app: App, _query: Nothing) -> ContextList:
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        as_of = last_event(connection)
        return ContextList(list_sections(connection, declared), as_of)


def context_section(app: App, _query: Nothing, *, name: str) -> ContextSection:
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        return get_section(connection, declared, name)


def context_history(app: App, query: ContextHistoryQuery, *, name: str) -> ContextHistory:
    place = open_cursor(query.cursor, tuple[int, str])
    declared = read_sections(app.workspace)
    with app.database.read() as connection:
        page, total, following = list_revisions(connection, declared, name, query.limit, place[0] if place else None)
    return ContextHistory(page, total, None if following is None else seal_cursor((following, name)))


READS = (
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
)
