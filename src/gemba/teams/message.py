"""A message on the bus of a team run: what it may hold, the types that are known with a schema each, and how what is
reported of a task becomes one state. Pure.

`checked` is the one way to a message: everything in it is bounded, text is literal, and no key or character is left
that a database would not take. A type that is not in the table is taken and marked. `merged` never forgets: an update
adds what it lists and says anew what is one value, per task, whoever sends it.

Called by `bus.py`; the table of types in the documentation is made from `TYPES`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec

from gemba import wire
from gemba.errors import Conflict, Invalid
from gemba.fit import escape, fit
from gemba.teams.gates import Points
from gemba.teams.run import COORDINATOR
from gemba.text import showable, storable

ALL = "all"
MOST_AT_ONCE = 500
LONGEST_NAME = 128
LONGEST_SUMMARY = 2_000  # characters
LONGEST_DATA = 65_536  # bytes of JSON
MOST_KEPT = 10_000  # findings, decisions, files: of each in a task's state
STATE_UPDATE = "state_update"

_TYPE = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_COMPLETE = re.compile(r"[a-z][a-z0-9_]{0,31}_complete")  # a role's prefix in lower case
_BIGGEST = 2**63 - 1

TaskId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Finding = Annotated[str, msgspec.Meta(min_length=1, max_length=99)]
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
_Note = Annotated[str, msgspec.Meta(max_length=4_000)]
_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
_Paths = Annotated[list[_Path], msgspec.Meta(max_length=500)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=100)]
Verification = Literal["self-validated", "peer-reviewed", "tested"]


# ---- what the types carry. Where the engine acts on it nothing else is taken; elsewhere more may stand beside it. ----


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    decision: _Line
    reason: _Line


class StateUpdate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskId
    ref: _Path | None = None
    key_findings: Annotated[list[Finding], msgspec.Meta(max_length=5)] = []
    decisions: Annotated[list[Decision], msgspec.Meta(max_length=50)] = []
    files_modified: _Paths = []
    verification: Verification | None = None


class ReviewGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskId
    completeness: Points
    consistency: Points
    accuracy: Points
    depth: Points
    note: _Note = ""


class RatingGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskId
    rating: Annotated[int, msgspec.Meta(ge=1, le=5)]
    critical: bool = False
    note: _Note = ""


class Progress(msgspec.Struct, frozen=True):
    task_id: TaskId | None = None
    percent: _Share | None = None
    phase: Annotated[int, msgspec.Meta(ge=1, le=5)] | None = None


class Blocker(msgspec.Struct, frozen=True):
    task_id: TaskId | None = None
    reason: _Note = ""
    needs: _Note = ""


class Completed(msgspec.Struct, frozen=True):
    task_id: TaskId
    state: _Line | None = None
    score: _Share | None = None
    attempt: _Count | None = None
    artifacts: _Paths = []


class Unblocked(msgspec.Struct, frozen=True):
    task_id: TaskId
    by: Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)] | None = None


class CapabilityGap(msgspec.Struct, frozen=True):
    capability: _Line
    task_id: TaskId | None = None
    reason: _Note = ""


class ConsensusTold(msgspec.Struct, frozen=True):
    task_id: TaskId
    severity: Literal["LOW", "MEDIUM", "HIGH"] | None = None
    mean: Annotated[float, msgspec.Meta(ge=1, le=5)] | None = None
    reason: _Note = ""


class Failure(msgspec.Struct, frozen=True):
    task_id: TaskId | None = None
    attempt: _Count | None = None
    reason: _Note = ""


class Type(NamedTuple):
    """A type that is known: what it says, and what its data is."""

    name: str
    says: str
    data: type[msgspec.Struct]

    @property
    def is_closed(self) -> bool:
        """Whether its data has these fields alone, and is of a task of the run."""
        return self.data.__struct_config__.forbid_unknown_fields

    @property
    def has_task(self) -> bool:
        return "task_id" in self.data.__struct_fields__


_PREFIX_COMPLETE = Type("<prefix>_complete", "a role has done a task, with its prefix in lower case", Completed)
TYPES: dict[str, Type] = {
    each.name: each
    for each in (
        Type(STATE_UPDATE, "what is known of a task's work by now; merged into the task's state", StateUpdate),
        Type("progress", "how far somebody is", Progress),
        Type("blocker", "somebody cannot go on, and why", Blocker),
        Type("task_complete", "a task is done", Completed),
        Type("task_unblocked", "nothing holds a task any more", Unblocked),
        Type("capability_gap", "a skill is missing in the run", CapabilityGap),
        Type("consensus_reached", "those who rated a task's work agree enough", ConsensusTold),
        Type("consensus_blocked", "those who rated a task's work do not: it is held", ConsensusTold),
        _PREFIX_COMPLETE,
        Type("error", "an attempt broke, and why", Failure),
        Type("review", "the points that a reviewer gives a task's work, of 100", ReviewGiven),
        Type("rating", "what somebody who discusses a task's work gives it, from 1 to 5", RatingGiven),
    )
}


def find_type(name: str) -> Type | None:
    """The type of that name; None where it has no schema."""
    return TYPES.get(name) or (_PREFIX_COMPLETE if _COMPLETE.fullmatch(name) else None)


# ---- a message -------------------------------------------------------------------------------------------------------


class Message(NamedTuple):
    """One that may be posted. `about` is its data as its type has it, None where the type is not known."""

    sender: str
    recipient: str
    type: str
    summary: str
    data: dict[str, Any]
    about: msgspec.Struct | None = None

    @property
    def known(self) -> bool:
        return self.about is not None

    @property
    def bound_to(self) -> str | None:
        """The task that has to be one of the run's."""
        kind = find_type(self.type)
        return self.about.task_id if kind is not None and kind.is_closed else None  # type: ignore[union-attr]


def checked(
    sender: str,
    type: str,  # noqa: A002 - as a message has it
    summary: str,
    data: dict[str, Any] | None = None,
    recipient: str = COORDINATOR,
) -> Message:
    """A message of this, or an Invalid that says what of it cannot be taken."""
    sender, recipient = checked_name(sender, "/from"), checked_name(recipient, "/to")
    if sender == ALL:
        raise _unfit("/from", f"{ALL} is who a broadcast goes to, and sends nothing", ALL, "the name of one")
    if not _TYPE.fullmatch(type):
        rule = "small letters, digits, _ . and -, at most 64 of them, with a letter first"
        raise _unfit("/type", f"type is {type[:80]!r}; allowed: {rule}", storable(type[:80]), rule)
    words = storable(summary).strip()
    if not 1 <= len(words) <= LONGEST_SUMMARY:
        allowed = f"1 to {LONGEST_SUMMARY:,} characters"
        raise _unfit("/summary", f"summary has {len(words):,} characters; allowed: {allowed}", len(words), allowed)
    document = _literal(data or {}, "/data", 1)
    size = len(msgspec.json.encode(document))
    if size > LONGEST_DATA:
        allowed = f"at most {LONGEST_DATA:,}"
        raise _unfit("/data", f"data takes {size:,} bytes as JSON; allowed: {allowed}", size, allowed)
    kind = find_type(type)
    return Message(sender, recipient, type, words, document, None if kind is None else _fitted(document, kind))


def checked_name(name: str, pointer: str) -> str:
    """The name of a sender or a recipient: a line that can be shown as it is."""
    if (
        1 <= len(name) <= LONGEST_NAME
        and name == name.strip() == storable(showable(name))
        and not set("\n\t") & {*name}
    ):
        return name
    allowed = f"1 to {LONGEST_NAME} characters on one line, none of them invisible, no space at either end"
    shown = storable(name[:80])
    raise _unfit(pointer, f"{pointer[1:]} is {shown!r}; allowed: {allowed}", shown, allowed)


def _fitted(document: dict[str, Any], kind: Type) -> msgspec.Struct:
    try:
        about = fit(document, kind.data, whole="data")
    except Invalid as error:
        raise placed(error, "/data") from None
    if isinstance(about, StateUpdate):
        _check_path(about.ref, "/data/ref")
        for at, path in enumerate(about.files_modified):
            _check_path(path, f"/data/files_modified/{at}")
    return about


def placed(error: Invalid, pointer: str) -> Invalid:
    """The same, of a document that lies under a pointer in another one."""
    before = error.pointer or ""
    words = error.message.removeprefix(f"{before}: ") if before else error.message
    return Invalid(
        f"{pointer}{before}: {words}",
        code=error.code,
        pointer=f"{pointer}{before}",
        found=error.found,
        allowed=error.allowed,
    )


def _check_path(path: str | None, pointer: str) -> None:
    """A path within the worktree. It is shown and compared, and leads nowhere else."""
    if path is None:
        return
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\", "~")) or ".." in parts or not _is_plain(path):
        allowed = "a path in the worktree, such as src/app.py"
        raise _unfit(
            pointer, f"{pointer}: {path[:80]!r} is not in the worktree; allowed: {allowed}", path[:80], allowed
        )


def _is_plain(text: str) -> bool:
    """Whether it is a line that is seen as it is."""
    return text == storable(showable(text)) and not {"\n", "\t"} & {*text}


def _literal(value: Any, pointer: str, depth: int) -> Any:
    """A JSON document as it can be kept: text that any database takes, numbers that any reader does."""
    if depth > wire.MAX_DEPTH:
        raise _unfit("/data", f"data is nested too deeply; allowed: {wire.MAX_DEPTH} levels", None, wire.MAX_DEPTH)
    if isinstance(value, str):
        return storable(str(value))  # and no member of an enumeration
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {
            storable(str(key)): _literal(each, f"{pointer}/{escape(storable(key[:80]))}", depth + 1)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_literal(each, f"{pointer}/{at}", depth + 1) for at, each in enumerate(value)]
    if isinstance(value, int | float) and math.isfinite(value) and abs(value) <= _BIGGEST:
        return value
    allowed = "what JSON has: texts, numbers up to 2^63, true, false, null, lists, objects"
    raise _unfit(pointer[:500], f"{pointer[:500]} cannot be kept; allowed: {allowed}", None, allowed)


def _unfit(pointer: str, message: str, found: object, allowed: object) -> Invalid:
    return Invalid(message, code="invalid_value", pointer=pointer, found=found, allowed=allowed)


# ---- what is known of a task -----------------------------------------------------------------------------------------


class KnownState(msgspec.Struct, frozen=True):
    """All that was reported of a task: what was listed, each once, in the order in which it came; of what is one value
    the latest."""

    ref: str | None = None
    key_findings: list[str] = []
    decisions: list[Decision] = []
    files_modified: list[str] = []
    verification: Verification | None = None


def merged(before: KnownState, update: StateUpdate) -> KnownState:
    """What is known after an update. The same again changes nothing; what is not mentioned stays."""
    return KnownState(
        update.ref or before.ref,
        _united("key_findings", before.key_findings, update.key_findings, update.task_id),
        _united("decisions", before.decisions, update.decisions, update.task_id),
        _united("files_modified", before.files_modified, update.files_modified, update.task_id),
        update.verification or before.verification,
    )


def merged_all(before: KnownState, updates: Iterable[StateUpdate]) -> KnownState:
    for each in updates:
        before = merged(before, each)
    return before


T = TypeVar("T")


def _united(name: str, before: list[T], new: list[T], task_id: str) -> list[T]:
    if not new:
        return before
    found = list(dict.fromkeys([*before, *new]))
    if len(found) > MOST_KEPT:  # nothing of it is let go for what is new
        raise Conflict(
            f"the state of {task_id} would have {len(found):,} {name}; allowed: at most {MOST_KEPT:,}",
            code="state_full",
            found=len(found),
            allowed=MOST_KEPT,
        )
    return found
