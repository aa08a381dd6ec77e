"""A walk: its states, its agenda, what is proposed for an item and what was decided. Types and state tables, no I/O.

A walk is one operator's; an operator has one that is open at most. Its agenda has each source once. An item is decided
once: a second decision is a Conflict that shows the first, unless the first was taken back.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from gemba import wire
from gemba.machine import Machine
from gemba.personas.consult import ConsultSummary
from gemba.personas.persona import PROJECT_MANAGER
from gemba.skills.consult.suggested import Verb

MOST_ITEMS = 1_000  # of an agenda
MOST_ACTIONS = 3  # that are proposed for an item
LONGEST_LABEL = 200
LONGEST_WORDS = 20_000
LOWEST_PRIORITY = 9

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]
Words = Annotated[str, msgspec.Meta(max_length=LONGEST_WORDS)]
Label = Annotated[str, msgspec.Meta(max_length=LONGEST_LABEL)]
Priority = Annotated[int, msgspec.Meta(ge=0, le=LOWEST_PRIORITY)]


class WalkStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class ItemStatus(StrEnum):
    QUEUED = "queued"  # it was not looked at yet
    ACTIVE = "active"  # it is on the table
    DECIDED = "decided"
    DEFERRED = "deferred"  # not now; it can be taken up again
    DISMISSED = "dismissed"  # it was settled elsewhere before anybody decided here


class SourceKind(StrEnum):
    ESCALATION = "escalation"
    TEAM_TASK = "team_task"  # one that is suspended, and that no open escalation asks about
    SESSION = "session"  # one that failed
    FILED = "filed"  # work that is new, and that nobody has agreed to
    CLOSED = "closed"  # work that is done and wants a retrospective
    MEMORY = "memory"  # what an agent suggests to remember, and nobody has decided about
    ITEM = "item"  # work that the operator wants to talk about
    TOPIC = "topic"  # what the operator wants to talk about


DecisionKind = Literal["ratify", "modify", "reject", "defer", "handoff"]
DECISIONS: tuple[DecisionKind, ...] = ("ratify", "modify", "reject", "defer", "handoff")
Speaker = Literal["operator", "manager", "walk"]

W, S = WalkStatus, ItemStatus
WALK = Machine(
    "the walk",
    {
        (W.ACTIVE, "paused"): W.PAUSED,
        (W.PAUSED, "resumed"): W.ACTIVE,
        (W.ACTIVE, "completed"): W.COMPLETED,
        (W.PAUSED, "completed"): W.COMPLETED,
        (W.ACTIVE, "abandoned"): W.ABANDONED,
        (W.PAUSED, "abandoned"): W.ABANDONED,
    },
)
OPEN = (W.ACTIVE, W.PAUSED)
ITEM = Machine(
    "the agenda item",
    {
        **{(state, "taken up"): S.ACTIVE for state in (S.QUEUED, S.ACTIVE, S.DEFERRED)},
        **{(state, "decided"): S.DECIDED for state in (S.QUEUED, S.ACTIVE, S.DEFERRED)},
        **{(state, "deferred"): S.DEFERRED for state in (S.QUEUED, S.ACTIVE, S.DEFERRED)},
        **{(state, "put back"): S.QUEUED for state in (S.ACTIVE, S.DEFERRED)},
        **{(state, "settled elsewhere"): S.DISMISSED for state in (S.QUEUED, S.ACTIVE, S.DEFERRED)},
        **{(state, "taken back"): S.QUEUED for state in (S.QUEUED, S.ACTIVE, S.DEFERRED, S.DECIDED)},
    },
)
UNDECIDED = (S.QUEUED, S.ACTIVE, S.DEFERRED)


# ---- what is shown ---------------------------------------------------------------------------------------------------


class Source(msgspec.Struct, frozen=True):
    """Where an item comes from; `ref` is the id of the thing (of a team's task: run/task), `worker` who it is about."""

    kind: SourceKind
    ref: str
    worker: str | None


class WalkAction(msgspec.Struct, frozen=True):
    """A request that is made for the operator if they say so, and what it is in words."""

    label: str
    verb: Verb
    path: str
    body: dict[str, Any]


class Framing(msgspec.Struct, frozen=True):
    """What the project manager says of an item: the topic in a sentence, the source in short, one to three actions."""

    sentence: str
    summary: str
    actions: list[WalkAction]


class Applied(msgspec.Struct, frozen=True):
    """What became of the action of a decision: its route's status, and the id of what it changed or made. `change` is
    its number in the history of a work item; until `held_until` an answer is not sent and can be taken back."""

    status: int
    ref: str | None
    change: int | None = None
    held_until: str | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided of an item. `action` is what was carried out; `consult_id` is the other persona's."""

    kind: DecisionKind
    by: str
    at: str
    rationale: str
    action: WalkAction | None = None
    applied: Applied | None = None
    persona_id: str | None = None
    consult_id: str | None = None
    until: str | None = None


class AgendaItem(msgspec.Struct, frozen=True, kw_only=True):
    """`settled` says what became of its source elsewhere, while nobody has decided here; null while it waits."""

    id: str
    topic: str
    source: Source
    priority: int
    place: int
    status: ItemStatus
    since: str
    settled: str | None
    framing: Framing | None
    decision: Decision | None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the transcript. `who` is the operator's name or the persona's id."""

    number: int
    at: str
    speaker: Speaker
    who: str
    item_id: str | None
    text: str
    consult_id: str | None


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """How far a walk is and what came of it; `dollars` is null where nobody knows what a consult cost."""

    items: int
    left: int
    decided: int
    deferred: int
    dismissed: int
    decisions: dict[str, int]
    applied: int
    work_touched: list[str]
    consults: int
    dollars: float | None
    seconds: int


class WalkSummary(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    label: str
    status: WalkStatus
    persona_id: str
    started_by: str
    started_at: str
    changed_at: str
    ended_at: str | None
    items: int
    left: int


class WalkDetail(WalkSummary, frozen=True, kw_only=True):
    """A walk in full. `active_item` is on the table. `synopsis` is what the operator's next message begins with after
    a pause. `summary` is there once it has ended, as Markdown."""

    active_item: str | None
    agenda: list[AgendaItem]
    transcript: list[Said]
    consults: list[ConsultSummary]
    totals: Totals
    synopsis: str | None
    summary: str | None
    as_of: int


class WalkHint(msgspec.Struct, frozen=True):
    """Whether a walk is worth it now, and why; `open_walk` is the operator's own that is not over."""

    offer: bool
    reason: str
    waiting: int
    blocking: int
    overdue: int
    open_walk: str | None


# ---- what is asked for -----------------------------------------------------------------------------------------------


class StartWalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`label` is what the operator calls it. The agenda fills itself."""

    label: Label = ""
    persona_id: Name = PROJECT_MANAGER


class AddToAgenda(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One more thing, by its `ref` (an escalation, a work item, a session, run/task of a team) or as a `topic` in
    words; with neither, everything that came to wait since."""

    ref: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)] | None = None
    topic: Label | None = None
    priority: Priority | None = None


class ChangeAgendaItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`place` counts from 1 among those that are not decided."""

    place: Annotated[int, msgspec.Meta(ge=1, le=MOST_ITEMS)] | None = None
    priority: Priority | None = None
    topic: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_LABEL)] | None = None


class TakeTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say something to the project manager, go to an `item`, or with neither to the next one."""

    message: Words = ""
    item: Name | None = None


class Edited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action as the operator wants it; what is left out is as it was proposed. `text` stands for a reply."""

    verb: Verb | None = None
    path: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    body: dict[str, Any] | None = None
    text: Words | None = None


class Decide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`action` is the number of the proposed one. `edited` is wanted by modify, `rationale` by reject, `persona` by
    handoff; `until` is a time, or `backlog` for work, and only for defer. For `hold` seconds an answer is not sent and
    can be taken back."""

    kind: DecisionKind
    action: Annotated[int, msgspec.Meta(ge=1, le=MOST_ACTIONS)] = 1
    edited: Edited | None = None
    rationale: Words = ""
    persona: Name | None = None
    until: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    hold: Annotated[int, msgspec.Meta(ge=0, le=60)] = 0


class WalkConsult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask a persona inside of the walk. Without an input, epic_order is given the board as it is, and the others the
    item that is on the table."""

    persona_id: Name = PROJECT_MANAGER
    skill_id: Name
    raw_input: dict[str, Any] = {}
    guidance: Words | None = None
    item: Name | None = None


class AskPerspectives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of the item on the table, or another one."""

    item: Name | None = None


class EndWalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`abandon`: it does not count as gone through."""

    abandon: bool = False


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """The item as it was decided, and the one that is on the table now, framed; null when the agenda is done."""

    item: AgendaItem
    next: AgendaItem | None
    totals: Totals
