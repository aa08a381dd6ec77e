"""A consult: one run of one skill by one persona, from a frozen input to lines that the operator may apply.

Types, the state table, and what can be refused, each with the status that HTTP answers. No I/O.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from gemba import wire
from gemba.errors import Conflict, GembaError, Invalid, Unusable
from gemba.machine import Machine
from gemba.personas.prompts import Composed
from gemba.skills.consult.judge import LineError, LineNote, OrderError

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]


class ConsultStatus(StrEnum):
    PREPARED = "prepared"  # its prompt is made, and nothing else: a dry run
    RUNNING = "running"
    COMPLETED = "completed"  # its lines can be applied
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    CLOSED = "closed"  # it was completed, and nothing of it can be applied any more


S = ConsultStatus
CONSULT = Machine(
    "the consult",
    {
        (S.PREPARED, "cancelled"): S.CANCELLED,
        (S.PREPARED, "closed"): S.CLOSED,
        (S.RUNNING, "completed"): S.COMPLETED,
        (S.RUNNING, "failed"): S.FAILED,
        (S.RUNNING, "timed_out"): S.TIMED_OUT,
        (S.RUNNING, "cancelled"): S.CANCELLED,
        (S.COMPLETED, "closed"): S.CLOSED,
    },
)
APPLICABLE = frozenset({S.PREPARED, S.RUNNING, S.COMPLETED})


class NewConsult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Whom to ask for what. `raw_input` is the skill's input; without `spawn` the prompt is made and nothing else.
    `workspace` is this one's path or the name of its folder; `repository` is for personas whose scope is any."""

    persona_id: Name
    skill_id: Name
    raw_input: dict[str, Any]
    workspace: Annotated[str, msgspec.Meta(max_length=4_096)] = ""
    spawn: bool = True
    guidance: Annotated[str, msgspec.Meta(max_length=20_000)] | None = None
    agent_type: Name | None = None
    repository: Name | None = None


class ConsultTokens(msgspec.Struct, frozen=True):
    input: int
    output: int
    total: int


class ConsultSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A consult without its lines and its prompt. `dollars` is null where nobody knows what it cost."""

    id: str
    persona_id: str
    skill_id: str
    workspace: str
    working_dir: str
    repository: str | None
    status: ConsultStatus
    started_at: str
    ended_at: str | None
    line_count: int
    line_error_count: int
    model: str | None
    latency_ms: int | None
    tokens: ConsultTokens
    dollars: float | None
    error: str | None


class ConsultOutcome(msgspec.Struct, frozen=True):
    """What became of a line that was applied: the route's status and answer, or that it was only recorded."""

    executed: bool
    status: int | None = None
    answer: Any = None


class AppliedLine(msgspec.Struct, frozen=True):
    idx: int
    at: str
    by: str
    outcome: ConsultOutcome


class ConsultDetail(ConsultSummary, frozen=True, kw_only=True):
    """A consult in full. `source` is archived once nothing of it can be applied; nothing is lost by that."""

    composed: Composed
    composed_persisted: bool
    raw_request: dict[str, Any]
    validated_lines: list[dict[str, Any]]
    line_errors: list[LineError]
    line_notes: list[LineNote]
    order_errors: list[OrderError]
    applied_idx: list[int]
    applied: list[AppliedLine]
    walk_id: str | None
    source: Literal["live", "archived"]


class ApplyLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With `record_only` the action is not carried out: somebody did it by hand."""

    record_only: bool = False


class ApplyQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    record_only: bool | msgspec.UnsetType = msgspec.UNSET


class LineApplied(msgspec.Struct, frozen=True):
    """A line that was applied, all places that are by now, and what became of its action."""

    consult_id: str
    idx: int
    line: dict[str, Any]
    applied_idx: list[int]
    outcome: ConsultOutcome


class LineTakenBack(msgspec.Struct, frozen=True):
    """A line that is applied no more, and all places that still are."""

    consult_id: str
    idx: int
    applied_idx: list[int]


class NotListed(Invalid):
    """A persona is asked for a skill that is none of its own."""

    status = 403


class NotAllowed(Invalid):
    """An action that the skill's allow-list does not have."""

    status = 403


class NotApplicable(Invalid):
    """A line that has no action."""

    status = 400


class ActionRefused(Conflict):
    """An action that its own route refused; `answer` is what that one said."""

    status = 424


class NotStarted(Unusable):
    """There is nobody who could answer; the consult is failed, and shown with the error."""

    status = 502


def refused_by(error: GembaError, action: str) -> ActionRefused:
    answer = {
        "status": error.status,
        "code": error.code,
        "detail": error.message,
        "pointer": error.pointer,
        "found": error.found,
        "allowed": error.allowed,
    }
    told = {name: value for name, value in answer.items() if value is not None}
    return ActionRefused(f"{action} was refused: {error.message}", code="action_refused", answer=told)
