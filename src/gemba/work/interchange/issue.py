"""An issue of the `bd` tracker (beads) as a work item: what each of its fields says here, and what is kept beside it.

Everything that is imported has this shape; sheets and checklists are turned into it. An issue is read into the values
of an item and its links with others. What an item has no place for, and every word that is only nearly the same here
(a status, a type), stays in the `line`, which is kept in the item's extras under `KEPT` and goes out again unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from gemba import clock
from gemba.errors import Invalid
from gemba.work.item import (
    FINISHED,
    LONGEST_REASON,
    LONGEST_TARGET,
    LONGEST_WORD,
    LOWEST_PRIORITY,
    USUAL_PRIORITY,
    Kind,
    Order,
    Relation,
    Retro,
    State,
    Tokens,
    check_id,
    clean_text,
    clean_title,
    clean_word,
    clean_words,
    is_id,
)

KEPT = "beads"  # in an item's extras
OURS = "gemba"  # in an issue: what only Gemba knows of it

STATES = {
    "open": State.UNSTARTED,
    "in_progress": State.IN_PROGRESS,
    "hooked": State.IN_PROGRESS,
    "closed": State.DONE,
    "tombstone": State.CANCELLED,
}
# A tombstone is a deletion there, which a cancelled item is not: it goes out as closed, with its own state beside it.
WORDS = {
    State.BACKLOG: "deferred",
    State.UNSTARTED: "open",
    State.STAGED: "open",
    State.IN_PROGRESS: "in_progress",
    State.REVIEW: "in_progress",
    State.DONE: "closed",
    State.DEFERRED: "deferred",
    State.CANCELLED: "closed",
}
LINKS = {
    "blocks": Relation.BLOCKS,
    "parent-child": Relation.PARENT_CHILD,
    "related": Relation.RELATES_TO,
    "relates-to": Relation.RELATES_TO,
    "duplicates": Relation.DUPLICATES,
    "supersedes": Relation.SUPERSEDES,
    "discovered-from": Relation.DISCOVERED_FROM,
}
TYPES = {Relation.RELATES_TO: "related"} | {kind: str(kind) for kind in Relation if kind is not Relation.RELATES_TO}
_KINDS = {str(kind): kind for kind in Kind}
# Long texts that are stored to the letter are not kept a second time.
_TO_THE_LETTER = {"id": "id", "title": "title", "description": "description", "acceptance_criteria": "acceptance"}
_WAITS = (Relation.BLOCKS, Relation.PARENT_CHILD)


class OurPart(msgspec.Struct, frozen=True, kw_only=True):
    """What an item has and an issue does not; written only where it is not as usual."""

    state: State | None = None
    targets: list[str] = []
    concepts: list[str] = []
    estimated_tokens: Tokens | None = None
    user_order: Order | None = None
    repository: str | None = None
    retro: Retro = Retro.NONE


_NOTHING_OURS = OurPart()


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an item that was imported has in its extras, under `KEPT`.

    `line` and `digest` are of the line that was imported last, `version` is the item's after that: another one says
    that it was changed here since. `apart` are dependencies of separate lines; `left_out` names those that could not
    be made, by type and other issue.
    """

    line: dict[str, Any] = {}
    digest: str = ""
    version: int = 0
    apart: list[dict[str, Any]] = []
    left_out: list[tuple[str, str]] = []


class Link(NamedTuple):
    """One dependency of an issue on another, as it is written."""

    issue_id: str
    type: str
    depends_on_id: str

    @property
    def ends(self) -> tuple[str, Relation, str] | None:
        """The same as a relation; None of a type that Gemba has no relation for."""
        kind = LINKS.get(self.type)
        if kind is None:
            return None
        return (
            (self.depends_on_id, kind, self.issue_id) if kind in _WAITS else (self.issue_id, kind, self.depends_on_id)
        )


class Issue(NamedTuple):
    """`values` are an item's but for its parent and extras; `own` is what it says of its past, None where it does not.

    `line` is what is kept of it, `digest` tells whether a line is the one that was imported before.
    """

    id: str
    values: dict[str, Any]
    own: dict[str, Any]
    links: list[Link]
    line: dict[str, Any]
    digest: str


def read_issue(given: dict[str, Any]) -> Issue:
    """What an issue says; an Invalid names the field that cannot be read."""
    id = check_id(_text(given, "id"), "id")
    status = _text(given, "status") or "open"
    ours = _ours(given.get(OURS))
    state = ours.state if ours.state is not None and WORDS[ours.state] == status else STATES.get(status, State.DEFERRED)
    assignee, closed = _text(given, "assignee"), state in FINISHED
    values = {
        "title": clean_title(_text(given, "title"), "title"),
        "description": clean_text(_text(given, "description"), "description"),
        "acceptance": clean_text(_text(given, "acceptance_criteria"), "acceptance_criteria"),
        "kind": _kind(_text(given, "issue_type")),
        "state": state,
        "priority": _priority(given.get("priority")),
        "labels": clean_words(_labels(given.get("labels")), "labels"),
        "assignee": clean_word(assignee[:LONGEST_WORD], "assignee") if assignee.strip() else None,
        "targets": clean_words(ours.targets, f"{OURS}/targets", LONGEST_TARGET) if ours.targets else [],
        "concepts": clean_words(ours.concepts, f"{OURS}/concepts") if ours.concepts else [],
        "estimated_tokens": ours.estimated_tokens,
        "user_order": ours.user_order,
        "repository": clean_word(ours.repository, f"{OURS}/repository") if ours.repository else None,
        "retro": ours.retro,
    }
    reason = _text(given, "close_reason") or _text(given, "delete_reason")
    own = {
        "created_at": _moment(given, "created_at"),
        "created_by": _name(given, "created_by"),
        "updated_at": _moment(given, "updated_at"),
        "closed_at": (_moment(given, "closed_at") or _moment(given, "deleted_at")) if closed else None,
        "closed_by": (_name(given, "closed_by") or _name(given, "deleted_by")) if closed else None,
        "close_reason": (clean_text(reason[:LONGEST_REASON], "close_reason") or None) if closed else None,
    }
    stored = {"id": id, **values}
    line = {
        name: value
        for name, value in given.items()
        if not (value and name in _TO_THE_LETTER and value == stored[_TO_THE_LETTER[name]])
    }
    return Issue(id, values, own, read_links(given.get("dependencies"), id), line, digest_of(given))


def digest_of(given: dict[str, Any]) -> str:
    """The same for the same fields in whatever order."""
    return hashlib.sha256(msgspec.json.encode(given, order="sorted")).hexdigest()[:24]


def read_links(given: Any, id: str | None) -> list[Link]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise _wrong("dependencies", given, "a list")
    return [read_link(each, id, f"dependencies/{place}") for place, each in enumerate(given)]


def read_link(given: Any, id: str | None, pointer: str) -> Link:
    """A dependency; `id` is the issue on whose line it stands, where it stands on one."""
    if not isinstance(given, dict):
        raise _wrong(pointer, given, "an object")
    if (plain := _plain_link(given, id)) is not None:
        return plain
    issue = _text(given, "issue_id", pointer) or id or ""
    check_id(issue, f"{pointer}/issue_id")
    if id is not None and issue != id:
        raise _wrong(f"{pointer}/issue_id", issue, f"{id}, on whose line it stands")
    other = check_id(_text(given, "depends_on_id", pointer), f"{pointer}/depends_on_id")
    type_ = _text(given, "type", pointer) or "blocks"
    return Link(issue, type_ if type_ in LINKS else clean_word(type_, f"{pointer}/type"), other)


def _plain_link(given: dict[str, Any], id: str | None) -> Link | None:
    """A dependency as the tracker writes nearly all of them, with nothing to say about it."""
    issue, type_, other = given.get("issue_id"), given.get("type"), given.get("depends_on_id")
    if issue is None or issue != id or type_ not in LINKS or not isinstance(other, str) or not is_id(other):
        return None
    return Link(issue, type_, other)


def kept_of(extras: dict[str, Any]) -> Kept:
    """Extras are anybody's to change: what is not as an import left it is as if nothing were kept."""
    try:
        kept = msgspec.convert(extras.get(KEPT, {}), Kept)
        read_links([*(kept.line.get("dependencies") or ()), *kept.apart], None)
    except (msgspec.ValidationError, Invalid, TypeError):
        return Kept()
    return kept


def first_parent(links: Iterable[Link]) -> Link | None:
    return next((link for link in links if link.type == "parent-child"), None)


def _text(given: dict[str, Any], name: str, pointer: str = "") -> str:
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(f"{pointer}/{name}" if pointer else name, value, "a text")
    return value


def _name(given: dict[str, Any], name: str) -> str | None:
    """Who did something; no name is none."""
    words = " ".join(_text(given, name).split())[:LONGEST_WORD]
    return clean_word(words, name) if words.strip() else None


def _kind(word: str) -> Kind:
    """A type that Gemba does not know is a task here."""
    return _KINDS.get(word, Kind.TASK)


def _priority(value: Any) -> int:
    if value is None:
        return USUAL_PRIORITY
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LOWEST_PRIORITY:
        raise _wrong("priority", value, f"0 to {LOWEST_PRIORITY}")
    return value


def _labels(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _wrong("labels", value, "a list of texts")
    return [each for each in value if each.strip()]


def _moment(given: dict[str, Any], name: str) -> int | None:
    """When; one without a zone, or before 1970 as programs write "never", is not said."""
    text = _text(given, name)
    moment = clock.parse(text) if text else None
    if moment is None and text:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise _wrong(name, text, "a moment such as 2025-01-31T12:00:00Z") from None
    return moment


def _ours(given: Any) -> OurPart:
    """Somebody else's field of that name is left alone."""
    if not isinstance(given, dict):
        return _NOTHING_OURS
    try:
        return msgspec.convert(given, OurPart)
    except msgspec.ValidationError as error:
        raise Invalid(f"{OURS}: {error}", code="invalid_value", pointer=OURS) from None


def _wrong(pointer: str, found: Any, allowed: str) -> Invalid:
    shown = repr(found)
    return Invalid(
        f"{pointer} is {shown if len(shown) <= 60 else shown[:59] + '…'}; allowed: {allowed}",
        code="invalid_value",
        pointer=pointer,
        allowed=allowed,
    )
