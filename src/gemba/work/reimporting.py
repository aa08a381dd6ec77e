"""An issue whose item is there already: what of its line is new, and what stays because it was changed here.

A line that is the one that was imported last is passed over, so what was changed here since stays. A line that changed
gives its item new values, unless the item was changed here later than the line: then it stays as it is, and that is
told each time. Dependencies are compared with those that the line had before, each by itself: what was added or taken
away here stays so. An import says what is, so it is not held to the table of moves; guards hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Row, select, update

from gemba import clock
from gemba.errors import GembaError
from gemba.store.database import Transaction
from gemba.work import history, milestones
from gemba.work.exporting import issue_of
from gemba.work.interchange.issue import KEPT, Issue, Kept, Link, first_parent, kept_of, read_links
from gemba.work.item import FINISHED, Kind, Relation, clean_extras
from gemba.work.items import encoded
from gemba.work.joining import LeftOut
from gemba.work.relating import tell_both
from gemba.work.relations import relate, unrelate
from gemba.work.store import apply_values, value_of
from gemba.work.tables import items, relations

_NO_PARENT = ("cycle", "blocked_by_ancestor", "unknown_item")
_WORDS = {"unknown_item": "there is no such item"}


class Outcome(msgspec.Struct, frozen=True):
    """What became of an issue, by its place among those given, or -1; a `reason` where it is not as one would think."""

    place: int
    id: str | None
    outcome: Literal["created", "changed", "kept", "refused"]
    fields: list[str] = []
    reason: str | None = None


class Known(NamedTuple):
    """An issue whose item is there. There is none where only dependencies come."""

    place: int
    issue: Issue | None
    given: dict[str, Any]
    row: Row[Any]
    apart: list[dict[str, Any]]


def import_again(tx: Transaction, one: Known, prefer: str, left_out: list[LeftOut]) -> Outcome | None:
    """Carry out what is new; None where nothing is."""
    row, issue, reason = one.row, one.issue, None
    extras: dict[str, Any] = value_of(row, "extras")
    found = extras.get(KEPT)
    known = found if isinstance(found, dict) else {}
    if issue is not None and known.get("digest") == issue.digest and not one.apart and not known.get("left_out"):
        return None  # as most lines are that come again
    kept = kept_of(extras)
    apart = [*kept.apart, *(each for each in one.apart if each not in kept.apart)]
    if issue is not None and kept.digest != issue.digest:
        if not kept.digest and issue_of(tx.connection, row) == one.given:
            return None  # it went out from here, and comes back as it was
        reason = _against(row, kept, issue)
        if reason and prefer == "newer" and not _is_newer(issue, row):
            return Outcome(one.place, issue.id, "kept", reason=reason)
    else:
        issue = None
        if len(apart) == len(kept.apart) and not kept.left_out:
            return None
    try:
        with tx.part():
            fields, missing = _carry_out(tx, row, kept, issue, apart)
    except GembaError as error:
        return Outcome(one.place, row.id, "refused", reason=error.message)
    left_out += missing
    if not fields:
        return None
    taken_over = f"{reason}; the line was taken, and an undo gives back what was here" if reason else None
    return Outcome(one.place, row.id, "changed", fields, taken_over)


def new_apart(one: Known) -> list[dict[str, Any]]:
    """Of the dependencies that come apart from their line, those that did not come before."""
    kept = kept_of(value_of(one.row, "extras")).apart if one.apart else []
    return [each for each in one.apart if each not in kept]


def closed_by_line(tx: Transaction, issue: Issue) -> dict[str, Any]:
    """When and by whom an issue was closed that says that it is."""
    own = issue.own
    return {
        "closed_at": own["closed_at"] or own["updated_at"] or tx.now,
        "closed_by": own["closed_by"] or tx.actor,
        "close_reason": own["close_reason"],
    }


# ---- its own fields --------------------------------------------------------------------------------------------------


def _against(row: Row[Any], kept: Kept, issue: Issue) -> str | None:
    """That it was changed here, where the line says something else."""
    if kept.version == row.version or all(value_of(row, name) == value for name, value in issue.values.items()):
        return None
    said = issue.own["updated_at"]
    line = "which says no time" if said is None else f"of {clock.rfc3339(said)}"
    return (
        f"it was changed here at {clock.rfc3339(row.updated_at)}, by {row.updated_by}, and differs from the line {line}"
    )


def _is_newer(issue: Issue, row: Row[Any]) -> bool:
    said: int | None = issue.own["updated_at"]
    return said is not None and said > row.updated_at


def _values(tx: Transaction, row: Row[Any], issue: Issue) -> dict[str, Any]:
    """The columns that the line gives other values."""
    values = {**issue.values, **{name: issue.own[name] for name in ("created_at", "created_by") if issue.own[name]}}
    if issue.values["state"] not in FINISHED:
        values |= dict.fromkeys(("closed_at", "closed_by", "close_reason"))
    elif issue.values["state"] != row.state or any(issue.own[name] for name in ("closed_at", "close_reason")):
        values |= closed_by_line(tx, issue)
    if values["kind"] == Kind.MILESTONE:
        milestones.move_past(tx, [values["title"]])
    return values


def _carry_out(
    tx: Transaction, row: Row[Any], kept: Kept, issue: Issue | None, apart: list[dict[str, Any]]
) -> tuple[list[str], list[LeftOut]]:
    """Make of the item what the line says; the fields that changed, and the dependencies that could not be made.

    Without an issue only dependencies are looked at: those that come apart, and those that could not be made before.
    """
    before = [*read_links(kept.line.get("dependencies"), row.id), *read_links(kept.apart, row.id)]
    on_line = read_links(kept.line.get("dependencies"), row.id) if issue is None else issue.links
    now = [*on_line, *read_links(apart, row.id)]
    again = set(kept.left_out)
    wanted = [link for link in dict.fromkeys(now) if link not in before or (link.type, link.depends_on_id) in again]
    gone = [link for link in before if link not in now]
    values = {} if issue is None else _values(tx, row, issue)
    ended = [_take_away(tx, link, row) for link in gone]
    parent = first_parent(now)
    left_out, made = _make(tx, [link for link in wanted if link != parent], row)
    if parent is not None and parent in wanted and row.parent != parent.depends_on_id:
        refused = _refused_parent(tx, row, parent.depends_on_id, retried=issue is None)
        if refused is None:
            values["parent"] = parent.depends_on_id
        else:
            left_out.append(LeftOut(*parent, *refused))
    elif any(link.type == "parent-child" and link.depends_on_id == row.parent for link in gone):
        values["parent"] = None
    fields = [name for name in values if values[name] != value_of(row, name)]
    _note(tx, row, kept, issue, values if fields else {}, apart, left_out)
    return [*fields, *(["relations"] if made or any(ended) else [])], left_out


def _note(
    tx: Transaction,
    row: Row[Any],
    kept: Kept,
    issue: Issue | None,
    values: dict[str, Any],
    apart: list[dict[str, Any]],
    left_out: list[LeftOut],
) -> None:
    """Write the values, and what is kept of the line. What is only remembered of dependencies is no change."""
    extras: dict[str, Any] = value_of(row, "extras")
    changed = bool(values) or issue is not None
    untouched = kept.version == row.version or issue is not None
    keeping = Kept(
        line=kept.line if issue is None else issue.line,
        digest=kept.digest if issue is None else issue.digest,
        version=row.version + 1 if changed and untouched else kept.version,
        apart=apart,
        left_out=[(each.type, each.depends_on_id) for each in left_out],
    )
    noted = clean_extras({**extras, KEPT: msgspec.to_builtins(keeping)}, "extras")
    if changed:
        apply_values(tx, row, {**values, "extras": noted}, history.CHANGED)
    elif noted != extras:
        tx.connection.execute(update(items).where(items.c.id == row.id).values(extras=encoded(noted)))


# ---- its relations ---------------------------------------------------------------------------------------------------


def _refused_parent(tx: Transaction, row: Row[Any], parent: str, *, retried: bool) -> tuple[str, str] | None:
    """Why the item cannot be a part of that one; what is tried is undone."""
    if retried and row.parent is not None:
        return "has_parent", f"it is a part of {row.parent} already"
    try:
        with tx.part():
            apply_values(tx, row, {"parent": parent}, history.CHANGED)
            raise _Tried
    except _Tried:
        return None
    except GembaError as error:
        if error.code not in _NO_PARENT:
            raise
        return error.code, _WORDS.get(error.code, error.message)


class _Tried(Exception):
    pass


def _make(tx: Transaction, wanted: Sequence[Link], row: Row[Any]) -> tuple[list[LeftOut], bool]:
    """Make relations; the first parent is a value of the item, and not among these."""
    left_out: list[LeftOut] = []
    made = False
    for link in wanted:
        ends = link.ends
        if ends is None:
            continue
        if ends[1] is Relation.PARENT_CHILD:
            left_out.append(LeftOut(*link, "has_parent", "it is a part of another item already"))
            continue
        try:
            tell_both(tx, ends, relate(tx, *ends, at=row.id))
            made = True
        except GembaError as error:
            if error.code != "relation_exists":
                left_out.append(LeftOut(*link, error.code, _WORDS.get(error.code, error.message)))
    return left_out, made


def _take_away(tx: Transaction, link: Link, row: Row[Any]) -> bool:
    """Whether there was such a relation."""
    ends = link.ends
    if ends is None or ends[1] is Relation.PARENT_CHILD:
        return False
    there = (relations.c.source == ends[0], relations.c.kind == ends[1], relations.c.target == ends[2])
    if tx.connection.execute(select(relations.c.kind).where(*there)).first() is None:
        return False
    tell_both(tx, ends, unrelate(tx, *ends, at=row.id))
    return True
