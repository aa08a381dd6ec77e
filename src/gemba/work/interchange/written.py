"""A work item as an issue of the `bd` tracker: the line it came from, with what was changed here since.

A field that still says what the item says goes out as it came, to the letter. So an item that was imported and not
changed gives the line that it was, and one that was made here gives a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gemba import clock
from gemba.errors import Invalid
from gemba.work.interchange.issue import (
    OURS,
    STATES,
    TYPES,
    WORDS,
    Issue,
    Kept,
    Link,
    kept_of,
    read_issue,
    read_link,
)
from gemba.work.item import FINISHED, Relation, Retro, State

_FIRST = (
    *("id", "title", "description", "design", "acceptance_criteria", "notes", "status", "priority", "issue_type"),
    *("assignee", "created_at", "created_by", "updated_at", "closed_at", "close_reason"),
)
_LAST = ("labels", "dependencies", "comments", OURS)
_OURS: dict[str, Any] = {
    "targets": [],
    "concepts": [],
    "estimated_tokens": None,
    "user_order": None,
    "repository": None,
    "retro": Retro.NONE,
}


class Tie(NamedTuple):
    """A relation that the item has now, and since when."""

    source: str
    kind: Relation
    target: str
    created_at: int
    created_by: str


def write_issue(item: Mapping[str, Any], ties: Iterable[Tie]) -> dict[str, Any]:
    """The issue of an item, whose words and extras are decoded; `ties` are all relations that it has."""
    kept = kept_of(item["extras"])
    line, said = _said(item, kept.line)
    out = {"id": item["id"], **line}
    _write_values(out, item, said, "title" in line)
    _write_past(out, item, said, untouched=kept.version == item["version"])
    _write_ours(out, item)
    _write_links(out, item["id"], kept, list(ties))
    order = {name: place for place, name in enumerate(_FIRST)} | {name: 1000 + at for at, name in enumerate(_LAST)}
    return dict(sorted(out.items(), key=lambda pair: order.get(pair[0], 500)))


def _said(item: Mapping[str, Any], line: dict[str, Any]) -> tuple[dict[str, Any], Issue]:
    """What the line says, with the long texts that the item alone has. Extras may be anybody's: what cannot be read
    is not written."""
    texts = {"title": item["title"], "description": item["description"], "acceptance_criteria": item["acceptance"]}
    try:
        return line, read_issue({**texts, **line, "id": item["id"]})
    except Invalid:
        return {}, read_issue({**texts, "id": item["id"]})


def _write_values(out: dict[str, Any], item: Mapping[str, Any], said: Issue, titled: bool) -> None:
    values = said.values
    if not titled or values["title"] != item["title"]:
        out["title"] = item["title"]
    for name, column in (("description", "description"), ("acceptance_criteria", "acceptance")):
        if name not in out or values[column] != item[column]:
            _put(out, name, item[column])
    if values["state"] != item["state"] or "status" not in out:
        out["status"] = WORDS[State(item["state"])]
    if values["kind"] != item["kind"] or "issue_type" not in out:
        out["issue_type"] = str(item["kind"])
    if values["priority"] != item["priority"] or "priority" not in out:
        out["priority"] = item["priority"]
    for name in ("assignee", "labels"):
        if values[name] != item[name]:
            _put(out, name, item[name])


def _write_past(out: dict[str, Any], item: Mapping[str, Any], said: Issue, *, untouched: bool) -> None:
    if said.own["created_at"] != item["created_at"]:
        out["created_at"] = clock.rfc3339(item["created_at"])
    if said.own["created_by"] not in (None, item["created_by"]) or "created_at" not in said.line:
        out["created_by"] = item["created_by"]
    if not untouched or said.own["updated_at"] is None:
        out["updated_at"] = clock.rfc3339(item["updated_at"])
    if State(item["state"]) in FINISHED:
        if item["closed_at"] is not None and said.own["closed_at"] != item["closed_at"]:
            out["closed_at"] = clock.rfc3339(item["closed_at"])
        if said.own["close_reason"] != item["close_reason"]:
            _put(out, "close_reason", item["close_reason"])
    elif said.values["state"] in FINISHED:  # it was opened again
        for name in ("closed_at", "closed_by", "close_reason", "deleted_at", "deleted_by", "delete_reason"):
            out.pop(name, None)


def _write_ours(out: dict[str, Any], item: Mapping[str, Any]) -> None:
    before = out.get(OURS)
    ours = {} if not isinstance(before, dict) else {k: v for k, v in before.items() if k not in (*_OURS, "state")}
    ours |= {name: item[name] for name, usual in _OURS.items() if item[name] != usual}
    if STATES.get(out["status"], State.DEFERRED) != item["state"]:
        ours["state"] = str(item["state"])
    if ours:
        out[OURS] = ours
    elif isinstance(before, dict):
        del out[OURS]


def _write_links(out: dict[str, Any], id: str, kept: Kept, ties: list[Tie]) -> None:
    """The dependencies that came and still hold, that could not be made, or have no relation here; then the others."""
    there = {tie[:3] for tie in ties}
    there |= {(target, kind, source) for source, kind, target in there if kind is Relation.RELATES_TO}
    left_out = set(kept.left_out)
    covered: set[tuple[str, Relation, str]] = set()
    written: list[Any] = []
    for each in [*(out.get("dependencies") or ()), *kept.apart]:
        link = read_link(each, id, "dependencies")
        ends = link.ends
        if ends is None or ends in there or (link.type, link.depends_on_id) in left_out:
            written.append(each)
            if ends is not None:
                covered |= {ends, (ends[2], ends[1], ends[0])} if ends[1] is Relation.RELATES_TO else {ends}
    for tie in ties:
        link = _link(tie)
        if link.issue_id == id and tie[:3] not in covered:
            since = {"created_at": clock.rfc3339(tie.created_at), "created_by": tie.created_by}
            written.append({**link._asdict(), **since})
    if written or out.get("dependencies"):
        _put(out, "dependencies", written)


def _link(tie: Tie) -> Link:
    """On the line of the issue that waits, or that the sentence is about."""
    waits = tie.kind in (Relation.BLOCKS, Relation.PARENT_CHILD)
    issue, other = (tie.target, tie.source) if waits else (tie.source, tie.target)
    return Link(issue, TYPES[tie.kind], other)


def _put(out: dict[str, Any], name: str, value: Any) -> None:
    """What is empty is not written."""
    if value:
        out[name] = value
    else:
        out.pop(name, None)
