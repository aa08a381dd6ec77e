"""Issues from elsewhere made into work items, or into changes of those that they were made into before.

One call is one transaction, and the same call again changes nothing. New items are inserted in bulk; what becomes of
those that are there is `reimporting`'s to say. What is wrong with one issue is told, and stops none of the others. A
dependency that cannot be made (the other is not there, it would close a circle) is told, kept with the item, and tried
again whenever its line comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Row, select

from gemba.action import Action
from gemba.errors import Invalid
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.work.batch import Given, insert_many
from gemba.work.interchange.issue import KEPT, Issue, read_issue, read_link
from gemba.work.item import FINISHED, Cause, clean_extras
from gemba.work.items import alone
from gemba.work.joining import LeftOut, join_new
from gemba.work.reimporting import Known, Outcome, closed_by_line, import_again
from gemba.work.tables import items

MOST_ISSUES = 2_000


class ImportItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Issues in the shape of the `bd` tracker, and by issue the dependencies that stand apart from them.

    `name` is where they come from. With `prefer` file a line also wins over what was changed here after it.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    issues: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=MOST_ISSUES)] = []
    apart: Annotated[dict[str, list[dict[str, Any]]], msgspec.Meta(max_length=MOST_ISSUES)] = {}
    prefer: Literal["newer", "file"] = "newer"


class Imported(msgspec.Struct, frozen=True):
    """What was done; issues that say nothing new are only counted. `left_out` are dependencies that were not made."""

    outcomes: list[Outcome]
    unchanged: int
    left_out: list[LeftOut]


def import_items(tx: Transaction, body: ImportItems) -> Imported:
    alone(tx)
    tx.cause = Cause("import", body.name)
    outcomes: list[Outcome] = []
    left_out: list[LeftOut] = []
    issues = _read(body, outcomes)
    here = {issue.id for _, issue in issues}
    rows = _rows(tx, here | body.apart.keys())
    _insert(tx, body, [(place, issue) for place, issue in issues if issue.id not in rows], outcomes, left_out)
    known = [
        Known(place, issue, body.issues[place], rows[issue.id], body.apart.get(issue.id, []))
        for place, issue in issues
        if issue.id in rows
    ]
    for id, given in body.apart.items():
        if id in rows and id not in here:
            known.append(Known(-1, None, {}, rows[id], given))
        elif id not in here:
            links = (read_link(each, id, f"/apart/{id}") for each in given)
            left_out += [LeftOut(*link, "unknown_item", f"there is no item {id}") for link in links]
    unchanged = 0
    for one in known:
        done = import_again(tx, one, body.prefer, left_out)
        if done is None:
            unchanged += one.issue is not None
        else:
            outcomes.append(done)
    return Imported(sorted(outcomes, key=lambda each: each.place), unchanged, left_out)


ACTIONS = (
    Action(
        "/api/work-items/import", import_items, ImportItems, Imported, "Take in issues of another tracker, or again"
    ),
)


def _rows(tx: Transaction, ids: set[str]) -> dict[str, Row[Any]]:
    found = tx.connection.execute(select(items).where(among(tx.connection, items.c.id, ids)))
    return {row.id: row for row in found}


def _read(body: ImportItems, outcomes: list[Outcome]) -> list[tuple[int, Issue]]:
    found: list[tuple[int, Issue]] = []
    seen: set[str] = set()
    for place, given in enumerate(body.issues):
        try:
            issue = read_issue(given)
            if issue.id in seen:
                raise Invalid(f"{issue.id} is given twice", code="repeated_id")
            for each in body.apart.get(issue.id, ()):
                read_link(each, issue.id, f"/apart/{issue.id}")
            _kept(issue, body)
            seen.add(issue.id)
            found.append((place, issue))
        except Invalid as error:
            id = given.get("id")
            outcomes.append(Outcome(place, id if isinstance(id, str) else None, "refused", reason=error.message))
    return found


def _insert(
    tx: Transaction,
    body: ImportItems,
    new: Sequence[tuple[int, Issue]],
    outcomes: list[Outcome],
    left_out: list[LeftOut],
) -> None:
    if not new:
        return
    links = {
        issue.id: [*issue.links, *(read_link(each, issue.id, "apart") for each in body.apart.get(issue.id, ()))]
        for _, issue in new
    }
    joined = join_new(tx.connection, links)
    given: list[Given] = []
    for place, issue in new:
        missing = joined.left_out.get(issue.id, [])
        extras = _kept(issue, body, missing)
        values = {**issue.values, "parent": joined.parents.get(issue.id), "extras": extras}
        given.append(Given(issue.id, values, _past(tx, issue)))
        outcomes.append(Outcome(place, issue.id, "created"))
        left_out += missing
    insert_many(tx, given, joined.edges)


def _kept(issue: Issue, body: ImportItems, missing: Sequence[LeftOut] = ()) -> dict[str, Any]:
    """The extras of a new item; an Invalid where they are more than an item can have."""
    kept: dict[str, Any] = {"line": issue.line, "digest": issue.digest, "version": 1}
    if issue.id in body.apart:
        kept["apart"] = body.apart[issue.id]
    if missing:
        kept["left_out"] = [[each.type, each.depends_on_id] for each in missing]
    return clean_extras({KEPT: kept}, "what is kept of it")


def _past(tx: Transaction, issue: Issue) -> dict[str, Any]:
    """What it says of its past, whole; what it does not say happened now, by whoever imports it."""
    own = issue.own
    closed = dict.fromkeys(("closed_at", "closed_by", "close_reason"))
    return {
        "created_at": own["created_at"] or tx.now,
        "created_by": own["created_by"] or tx.actor,
        "updated_at": own["updated_at"] or tx.now,
        **(closed_by_line(tx, issue) if issue.values["state"] in FINISHED else closed),
    }
