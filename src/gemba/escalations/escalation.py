"""An escalation: something an agent or the system wants from the operator, and the states it goes through.

Pure: the types, the state table, and the decision what an operator's words mean for which channel.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from gemba.machine import Machine


class State(StrEnum):
    OPEN = "open"  # nobody has looked at it yet
    ACKNOWLEDGED = "acknowledged"  # the operator has seen it
    SNOOZED = "snoozed"  # the operator wants to see it later
    RESOLVED = "resolved"  # answered, by the operator, in the pane, or by a policy's default
    DISMISSED = "dismissed"  # the operator declined to answer
    EXPIRED = "expired"  # a policy's time ran out
    WITHDRAWN = "withdrawn"  # the asker no longer wants an answer


class Urgency(StrEnum):
    BLOCKING = "blocking"
    ADVISORY = "advisory"


class Channel(StrEnum):
    """How it came, and so how the reply goes back."""

    TOOL_CALL = "tool_call"
    NOTIFICATION = "notification"
    HANDOFF = "handoff"
    SYSTEM = "system"


class Delivery(StrEnum):
    """Where the reply is. `none`: there is nothing to deliver."""

    NONE = "none"
    PENDING = "pending"
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"


Kind = Literal[
    "question",
    "blocker",
    "permission_prompt",
    "hitl_approval",
    "approval",
    "needs_input",
    "blocked",
    "gate_failure",
    "purview_violation",
    "budget_warn",
    "budget_stop",
    "stalled",
]
Outcome = Literal["answered", "default", "expired", "declined", "withdrawn"]
Resolver = Literal["operator", "pane", "agent", "session", "policy", "rule"]
Decision = Literal["yes", "no", "modify"]

S = State
UNRESOLVED = (S.OPEN, S.ACKNOWLEDGED, S.SNOOZED)
MACHINE = Machine(
    "the escalation",
    {
        **{(state, "acknowledged"): S.ACKNOWLEDGED for state in UNRESOLVED},
        **{(state, "snoozed"): S.SNOOZED for state in UNRESOLVED},
        **{(state, "reopened"): S.OPEN for state in (S.ACKNOWLEDGED, S.SNOOZED, S.RESOLVED, S.DISMISSED)},
        **{(state, "resolved"): S.RESOLVED for state in UNRESOLVED},
        **{(state, "dismissed"): S.DISMISSED for state in UNRESOLVED},
        **{(state, "expired"): S.EXPIRED for state in UNRESOLVED},
        **{(state, "withdrawn"): S.WITHDRAWN for state in UNRESOLVED},
        # An answer that comes after the time ran out, or that is another one than the policy's: the agent's next turn.
        **{(state, "answered_late"): S.RESOLVED for state in (S.EXPIRED, S.RESOLVED)},
    },
)

# Blocking first.
RANK = {Urgency.BLOCKING: 0, Urgency.ADVISORY: 1}


class Respond(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer: a text, an option by its number, or a value where the ask has a schema; yes / no / modify for a
    client's own prompt; or an action. For `hold` seconds it is not sent and can be taken back."""

    text: str | None = None
    option: int | None = None
    value: Any = msgspec.UNSET
    decision: Decision | None = None
    action: str | None = None
    hold: Annotated[int, msgspec.Meta(ge=0, le=60)] = 0


class Reply(msgspec.Struct, frozen=True):
    """What was decided, in full: the words that reach the asker, how they came about and who decided."""

    outcome: Outcome
    text: str
    by: Resolver
    option: int | None = None
    value: Any = msgspec.UNSET
    decision: Decision | None = None
    action: str | None = None
    who: str | None = None
    confirmed_by: str | None = None
    rule_id: str | None = None
    seals: list[str] | None = None  # of the commands that were read, where it approves some


class Resolution(msgspec.Struct, frozen=True):
    """A stored reply, as the API shows it. `late`: it came after the ask's time had run out. `walk_id`: where it was
    decided in a walk."""

    outcome: Outcome
    text: str
    option: int | None
    value: Any
    decision: Decision | None
    action: str | None
    by: Resolver
    who: str | None
    confirmed_by: str | None
    rule_id: str | None
    late: bool
    walk_id: str | None
    at: str


class Stale(msgspec.Struct, frozen=True):
    """The code moved since the ask: where it was made and what is there now. Figures only where one is asked for."""

    commit: str
    head: str | None
    branch: str | None
    head_branch: str | None
    gone: bool
    files: int | None = None
    insertions: int | None = None
    deletions: int | None = None


class Answer(msgspec.Struct, frozen=True):
    """What was answered to an earlier ask, or what a rule answers."""

    text: str
    option: int | None = None
    value: Any = None


class Precedent(msgspec.Struct, frozen=True):
    """An earlier answer to a like question, with its source and why it is like."""

    escalation_id: str
    session_id: str
    text: str
    answer: Answer
    by: Resolver
    who: str | None
    at: str
    score: float
    why: str


class Proposal(msgspec.Struct, frozen=True):
    """An answer that must pass a check or a second person before it is given."""

    text: str
    option: int | None
    value: Any
    decision: Decision | None
    action: str | None
    hold: int
    by: str
    at: str
    verifier: Literal["check", "person"]
    state: Literal["waiting", "refused"]
    note: str | None
    seals: list[str] | None = None  # of the commands that it approves


class Escalation(msgspec.Struct, frozen=True):
    """An escalation as the API, the page and the command line show it."""

    id: str
    session_id: str
    agent_type: str
    kind: str
    channel: Channel
    urgency: Urgency
    state: State
    delivery: Delivery
    delivery_note: str | None
    role: str | None
    mode: str
    title: str | None
    text: str
    text_cut: bool
    options: list[str]
    schema: dict[str, Any] | None
    bead_id: str | None
    waiting: bool
    waiting_until: str | None
    opened_at: str
    received_at: str
    seen_at: str | None
    changed_at: str
    snoozed_until: str | None
    cwd: str | None
    worktree: str | None
    commit: str | None
    branch: str | None
    stale: Stale | None
    group_id: str
    group_size: int
    precedent: Precedent | None
    policy: str | None
    reminders: int
    expires_at: str | None
    proposal: Proposal | None
    held_until: str | None
    late: bool
    turn_session: str | None
    attempts: int
    next_attempt_at: str | None
    resolution: Resolution | None
