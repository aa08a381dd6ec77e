"""A work item: its kinds, its states with the one table of legal moves, and what its fields may hold. No I/O.

`ready` is no state: it follows from an item's state, its claim, and what blocks it or what it is part of
(`readiness`). Everything that writes an item gets its values through `clean_*`, so that no table ever has a text that
one of the databases refuses.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from gemba import wire
from gemba.errors import Conflict, Invalid
from gemba.machine import Machine
from gemba.text import storable

LONGEST_TITLE = wire.MAX_TITLE
LONGEST_TEXT = 200_000  # of a description, or of what has to be true for it to be accepted
LONGEST_REASON = wire.MAX_NOTE
LONGEST_WORD = 200  # of a label, a concept, a name
LONGEST_TARGET = 500
MOST_WORDS = 200  # labels, concepts, targets: of each
LARGEST_EXTRAS = 200_000  # bytes, as JSON
LOWEST_PRIORITY = 4
USUAL_PRIORITY = 2
BIGGEST = 2**53 - 1  # every reader of JSON can take it

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # those that are not taken for one another
_SHORTEST = 4
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NUMBERED = re.compile(r"M(?P<number>\d{1,9})(?=[\s:.]|$)\s?", re.IGNORECASE)


class Kind(StrEnum):
    MILESTONE = "milestone"
    EPIC = "epic"
    TASK = "task"
    BUG = "bug"
    FEATURE = "feature"
    CHORE = "chore"
    DECISION = "decision"


class State(StrEnum):
    BACKLOG = "backlog"  # nobody decided yet that it will be done
    UNSTARTED = "unstarted"  # it will be; new items are
    STAGED = "staged"  # it is chosen to be done next
    IN_PROGRESS = "in_progress"
    REVIEW = "review"  # somebody says that it is done, and nobody has looked yet
    DONE = "done"
    DEFERRED = "deferred"  # not now; what it blocks stays blocked
    CANCELLED = "cancelled"  # never; what it blocks goes on


class Retro(StrEnum):
    NONE = "none"
    WANTED = "wanted"
    DONE = "done"


class Relation(StrEnum):
    """`source` … `target`, read as a sentence: one blocks the other, is its parent, was discovered from it."""

    BLOCKS = "blocks"
    PARENT_CHILD = "parent-child"
    RELATES_TO = "relates-to"
    DUPLICATES = "duplicates"
    SUPERSEDES = "supersedes"
    DISCOVERED_FROM = "discovered-from"


# What decides readiness: along these, from target to source, an item waits, or has its waits from.
BINDING = (Relation.BLOCKS, Relation.PARENT_CHILD)
FINISHED = frozenset({State.DONE, State.CANCELLED})
STARTABLE = frozenset({State.UNSTARTED, State.STAGED})
# A new item may be put aside at once; that work on it has begun, or is over, it is told by a move.
FIRST = frozenset({State.BACKLOG, State.UNSTARTED, State.STAGED, State.DEFERRED})

S = State
_EVENTS = {
    S.BACKLOG: "shelved",
    S.UNSTARTED: "planned",
    S.STAGED: "staged",
    S.IN_PROGRESS: "started",
    S.REVIEW: "handed in",
    S.DONE: "finished",
    S.DEFERRED: "deferred",
    S.CANCELLED: "cancelled",
}
MOVES = {
    S.BACKLOG: (S.UNSTARTED, S.STAGED, S.DONE, S.DEFERRED, S.CANCELLED),
    S.UNSTARTED: (S.BACKLOG, S.STAGED, S.IN_PROGRESS, S.REVIEW, S.DONE, S.DEFERRED, S.CANCELLED),
    S.STAGED: (S.BACKLOG, S.UNSTARTED, S.IN_PROGRESS, S.REVIEW, S.DONE, S.DEFERRED, S.CANCELLED),
    S.IN_PROGRESS: (S.UNSTARTED, S.STAGED, S.REVIEW, S.DONE, S.DEFERRED, S.CANCELLED),
    S.REVIEW: (S.UNSTARTED, S.IN_PROGRESS, S.DONE, S.DEFERRED, S.CANCELLED),
    S.DONE: (S.UNSTARTED, S.IN_PROGRESS),
    S.DEFERRED: (S.BACKLOG, S.UNSTARTED, S.STAGED, S.IN_PROGRESS, S.DONE, S.CANCELLED),
    S.CANCELLED: (S.BACKLOG, S.UNSTARTED),
}
MACHINE = Machine(
    "the item",
    {(source, _EVENTS[target]): target for source, targets in MOVES.items() for target in targets},
)

Priority = Annotated[int, msgspec.Meta(ge=0, le=LOWEST_PRIORITY)]
Order = Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)]
CauseKind = Literal["person", "consult", "walk", "run", "import"]


class Cause(msgspec.Struct, frozen=True):
    """What a change follows from: somebody's own request, a consult's line, a decision of a walk, a run's session."""

    kind: CauseKind
    id: str


def check_move(state: State, target: State) -> None:
    """Whether an item may go from one state to another; a Conflict names where it may go."""
    if not MACHINE.allows(state, _EVENTS[target]):
        allowed = [str(each) for each in MOVES[state]]
        raise Conflict(
            f"state is {state}: it cannot become {target}; allowed: {', '.join(allowed)}",
            code="illegal_move",
            pointer="/state",
            found=str(state),
            allowed=allowed,
        )


def new_id(prefix: str, attempt: int) -> str:
    """A short id; a longer one each second time that one was taken."""
    length = _SHORTEST + attempt // 2
    return f"{prefix}-{''.join(secrets.choice(_LETTERS) for _ in range(length))}"


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def check_id(id: str, pointer: str) -> str:
    if not is_id(id):
        raise Invalid(
            f"{pointer}: {id[:80]!r} is not an id",
            code="invalid_id",
            pointer=pointer,
            found=id[:80],
            allowed="1 to 128 letters, digits, '.', '_' or '-'",
        )
    return id


# ---- milestones ------------------------------------------------------------------------------------------------------


def milestone_number(title: str) -> int | None:
    """The number that a milestone's title begins with."""
    found = _NUMBERED.match(title)
    return None if found is None else int(found["number"])


def without_number(title: str) -> str:
    return _NUMBERED.sub("", title, count=1)


def numbered_title(number: int, title: str) -> str:
    return f"M{number} {title}"


def refuse_number(title: str, pointer: str) -> None:
    if milestone_number(title) is not None:
        raise Invalid(
            f"{pointer}: a milestone is given its number here, so its title brings none; found {title[:40]!r}",
            code="milestone_numbered",
            pointer=pointer,
            found=title[:80],
            allowed="a title without M<n> in front",
        )


# ---- values ----------------------------------------------------------------------------------------------------------


def clean_title(text: str, pointer: str) -> str:
    title = " ".join(storable(text).split())
    _check_length(title, pointer, 1, LONGEST_TITLE)
    return title


def clean_text(text: str, pointer: str, most: int = LONGEST_TEXT) -> str:
    _check_length(text, pointer, 0, most)
    return storable(text)


def clean_word(text: str, pointer: str, most: int = LONGEST_WORD) -> str:
    """A name in one line: of a label, an assignee, a repository."""
    if _is_clean(text, most):
        return text
    word = " ".join(storable(text).split())
    _check_length(word, pointer, 1, most)
    return word


def _is_clean(word: str, most: int) -> bool:
    """Nothing of it would change; other words may be clean as well. Imports bring the same few a thousand times."""
    return word.isascii() and word.isprintable() and 0 < len(word) <= most and word == " ".join(word.split())


def clean_words(words: Iterable[str], pointer: str, most: int = LONGEST_WORD) -> list[str]:
    """Each once, in their order."""
    cleaned = (
        word if _is_clean(word, most) else clean_word(word, f"{pointer}/{place}", most)
        for place, word in enumerate(words)
    )
    found = list(dict.fromkeys(cleaned))
    if len(found) > MOST_WORDS:
        raise Invalid(
            f"{pointer} has {len(found)} items; allowed: up to {MOST_WORDS}",
            code="invalid_value",
            pointer=pointer,
            found=len(found),
            allowed=f"up to {MOST_WORDS}",
        )
    return found


def clean_extras(extras: dict[str, Any], pointer: str) -> dict[str, Any]:
    """A document of others' making: bounded in size and depth, otherwise as it is."""
    try:
        data = msgspec.json.encode(extras)
    except (UnicodeEncodeError, RecursionError):  # it has half a character, or no bottom
        data = b""
    # What the text cannot be is not looked for in every part: imports bring thousands of these.
    if (not data or data.count(b"[") + data.count(b"{") > wire.MAX_DEPTH) and wire.is_deeper(extras, wire.MAX_DEPTH):
        raise Invalid(
            f"{pointer} is nested more than {wire.MAX_DEPTH} levels deep",
            code="invalid_value",
            pointer=pointer,
            allowed=f"{wire.MAX_DEPTH} levels",
        )
    kept = extras
    if not data or b"\\u0000" in data:
        kept = _storable(extras)
        data = msgspec.json.encode(kept)
    size = len(data)
    if size > LARGEST_EXTRAS:
        raise Invalid(
            f"{pointer} has {size:,} bytes; allowed: up to {LARGEST_EXTRAS:,}",
            code="invalid_value",
            pointer=pointer,
            found=size,
            allowed=f"up to {LARGEST_EXTRAS:,} bytes",
        )
    return kept


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(name): _storable(each) for name, each in value.items()}
    return value


def _check_length(text: str, pointer: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        allowed = f"{least:,} to {most:,} characters"
        raise Invalid(
            f"{pointer} has {len(text):,} characters; allowed: {allowed}",
            code="invalid_value",
            pointer=pointer,
            found=len(text),
            allowed=allowed,
        )
