"""An issue of the `bd` tracker (beads) as a work item: what each of its fields says here, and what is kept beside it.

Everything that is imported has this shape; sheets and checklists are turned into it. An issue is read into the values
of an item and its links with others. What an item has no place for, and every word that is only nearly the same here
(a status, a type), stays in the `line`, which is kept in the item's extras under `KEPT` and goes out again unchanged.
A word that is not known at all is told (`Unknown`), with what it was taken as.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from gemba import clock, typed
from gemba.errors import Invalid
from gemba.fit import fit
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
# Words of the tracker's that are known, and say here no more than that it is not now.
_NOT_NOW = frozenset({"blocked", "deferred", "pinned"})
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


class Unknown(msgspec.Struct, frozen=True):
    """A word of a field that is not known here, and what it was taken as. The word itself is kept."""

    field: str
    found: str
    taken_as: str


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
    unknown: tuple[Unknown, ...] = ()


class _Dependency(msgspec.Struct, gc=False):
    issue_id: str | None = None
    depends_on_id: str | None = None
    type: str | None = None


class _Said(msgspec.Struct, gc=False):
    """The fields of an issue that are looked at, with the types that they have to have; no text is none."""

    id: str | None = None
    title: str | None = None
    description: str | None = None
    acceptance_criteria: str | None = None
    status: str | None = None
    issue_type: str | None = None
    assignee: str | None = None
    created_at: str | None = None
    created_by: str | None = None
    updated_at: str | None = None
    closed_at: str | None = None
    closed_by: str | None = None
    close_reason: str | None = None
    deleted_at: str | None = None
    deleted_by: str | None = None
    delete_reason: str | None = None
    priority: Annotated[int, msgspec.Meta(ge=0, le=LOWEST_PRIORITY)] | None = None
    labels: list[str] | None = None
    dependencies: list[_Dependency] | None = None


_TEXTS = tuple(name for name in _Said.__struct_fields__ if name not in ("priority", "labels", "dependencies"))


def read_issue(given: dict[str, Any]) -> Issue:
    """What an issue says; an Invalid names the field that cannot be read."""
    said = _read(given)
    id = check_id(said.id or "", "id")
    status = said.status or "open"
    ours = _ours(given.get(OURS))
    state = ours.state if ours.state is not None and WORDS[ours.state] == status else STATES.get(status, State.DEFERRED)
    closed = state in FINISHED
    values = {
        "title": clean_title(said.title or "", "title"),
        "description": clean_text(said.description or "", "description"),
        "acceptance": clean_text(said.acceptance_criteria or "", "acceptance_criteria"),
        "kind": _KINDS.get(said.issue_type or "", Kind.TASK),
        "state": state,
        "priority": USUAL_PRIORITY if said.priority is None else said.priority,
        "labels": clean_words([each for each in said.labels if each.strip()], "labels") if said.labels else [],
        "assignee": clean_word(said.assignee[:LONGEST_WORD], "assignee")
        if said.assignee and said.assignee.strip()
        else None,
        "targets": clean_words(ours.targets, f"{OURS}/targets", LONGEST_TARGET) if ours.targets else [],
        "concepts": clean_words(ours.concepts, f"{OURS}/concepts") if ours.concepts else [],
        "estimated_tokens": ours.estimated_tokens,
        "user_order": ours.user_order,
        "repository": clean_word(ours.repository, f"{OURS}/repository") if ours.repository else None,
        "retro": ours.retro,
    }
    reason = said.close_reason or said.delete_reason or ""
    own = {
        "created_at": _moment(said.created_at, "created_at"),
        "created_by": _name(said.created_by, "created_by"),
        "updated_at": _moment(said.updated_at, "updated_at"),
        "closed_at": _moment(said.closed_at, "closed_at") or _moment(said.deleted_at, "deleted_at") if closed else None,
        "closed_by": _name(said.closed_by, "closed_by") or _name(said.deleted_by, "deleted_by") if closed else None,
        "close_reason": (clean_text(reason[:LONGEST_REASON], "close_reason") or None) if closed else None,
    }
    stored = {"id": id, **values}
    line = {
        name: value
        for name, value in given.items()
        if not (value and name in _TO_THE_LETTER and value == stored[_TO_THE_LETTER[name]])
    }
    links = _links(said.dependencies, given.get("dependencies"), id)
    return Issue(id, values, own, links, line, digest_of(given), _unknown(said, values, links))


def _read(given: dict[str, Any]) -> _Said:
    """The fields in their types. All at once, since imports bring them by the ten thousand; where one is wrong it is
    looked for."""
    try:
        return typed.convert(given, _Said)
    except msgspec.ValidationError as error:
        for name in _TEXTS:
            _text(given, name)
        _check_priority(given.get("priority"))
        _check_labels(given.get("labels"))
        read_links(given.get("dependencies"), None)
        raise Invalid(str(error), code="invalid_value") from None


def _links(said: list[_Dependency] | None, given: Any, id: str) -> list[Link]:
    """The dependencies of an issue; as nearly all are, they need no look of their own."""
    links: list[Link] = []
    for place, each in enumerate(said or ()):
        other, type_ = each.depends_on_id, each.type
        if each.issue_id == id and other is not None and type_ in LINKS and is_id(other):
            links.append(Link(id, type_, other))
        else:
            links.append(read_link(given[place], id, f"dependencies/{place}"))
    return links


def _unknown(said: _Said, values: dict[str, Any], links: Iterable[Link]) -> tuple[Unknown, ...]:
    status, type_ = said.status or "open", said.issue_type
    found: list[Unknown] = []
    if status not in STATES and status not in _NOT_NOW:
        found.append(Unknown("status", status[:LONGEST_WORD], str(values["state"])))
    if type_ and type_ not in _KINDS:
        found.append(Unknown("issue_type", type_[:LONGEST_WORD], str(values["kind"])))
    found += unknown_types(links)
    return tuple(found)


def unknown_types(links: Iterable[Link]) -> list[Unknown]:
    """Of dependencies, those that are no relation here."""
    types = dict.fromkeys(link.type for link in links if link.type not in LINKS)
    return [Unknown("dependency type", type_, "no relation") for type_ in types]


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
    issue = _text(given, "issue_id", pointer) or id or ""
    check_id(issue, f"{pointer}/issue_id")
    if id is not None and issue != id:
        raise _wrong(f"{pointer}/issue_id", issue, f"{id}, on whose line it stands")
    other = check_id(_text(given, "depends_on_id", pointer), f"{pointer}/depends_on_id")
    type_ = _text(given, "type", pointer) or "blocks"
    return Link(issue, type_ if type_ in LINKS else clean_word(type_, f"{pointer}/type"), other)


def kept_of(extras: dict[str, Any]) -> Kept:
    """Extras are anybody's to change: what is not as an import left it is as if nothing were kept."""
    try:
        kept = typed.convert(extras.get(KEPT, {}), Kept)
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


def _name(text: str | None, name: str) -> str | None:
    """Who did something; no name is none."""
    words = " ".join(text.split())[:LONGEST_WORD] if text else ""
    return clean_word(words, name) if words.strip() else None


def _check_priority(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LOWEST_PRIORITY:
        raise _wrong("priority", value, f"0 to {LOWEST_PRIORITY}")


def _check_labels(value: Any) -> None:
    if value is not None and (not isinstance(value, list) or not all(isinstance(each, str) for each in value)):
        raise _wrong("labels", value, "a list of texts")


def _moment(text: str | None, name: str) -> int | None:
    """When; one without a zone, or before 1970 as programs write "never", is not said."""
    if not text:
        return None
    moment = clock.parse(text)
    if moment is None:
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
        return fit(given, OurPart, whole=OURS)
    except Invalid as error:
        raise Invalid(f"{OURS}{error.message}", code=error.code, pointer=f"{OURS}{error.pointer}") from None


def _wrong(pointer: str, found: Any, allowed: str) -> Invalid:
    shown = repr(found)
    return Invalid(
        f"{pointer} is {shown if len(shown) <= 60 else shown[:59] + '…'}; allowed: {allowed}",
        code="invalid_value",
        pointer=pointer,
        allowed=allowed,
    )
