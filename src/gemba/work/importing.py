"""Issues from elsewhere made into work items, or into changes of those that they were made into before.

One call is one transaction, and the same call again changes nothing. New items are inserted in bulk; what becomes of
those that are there is `reimporting`'s to say. What is wrong with one issue is told, and stops none of the others; a
word that is not known here is told with what it was taken as. A dependency that cannot be made (the other is not there,
it would close a circle) is told, kept with the item, and tried again whenever its line comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Row, select

from gemba.action import Action
from gemba.collector import Paused
from gemba.errors import Invalid
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.work.batch import Given, insert_many
from gemba.work.interchange.issue import KEPT, Issue, Link, Unknown, read_issue, read_link, read_links, unknown_types
from gemba.work.item import FINISHED, Cause, clean_extras
from gemba.work.items import alone
from gemba.work.joining import LeftOut, join_new
from gemba.work.reimporting import Known, Outcome, closed_by_line, import_again, new_apart
from gemba.work.tables import items

MOST_ISSUES = 2_000

Place = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class ImportItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Issues in the shape of the `bd` tracker, and by issue the dependencies that stand apart from them.

    `name` is where they come from. With `prefer` file a line also wins over what was changed here after it. `places`
    are those of the issues in what is imported, where they come in another order: what is alike in all else stands
    here as it stands there.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    issues: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=MOST_ISSUES)] = []
    apart: Annotated[dict[str, list[dict[str, Any]]], msgspec.Meta(max_length=MOST_ISSUES)] = {}
    places: Annotated[list[Place], msgspec.Meta(max_length=MOST_ISSUES)] = []
    prefer: Literal["newer", "file"] = "newer"


class UnknownWord(msgspec.Struct, frozen=True):
    """A word of an issue that is not known here, and what it was taken as; it is kept, and goes out again. `place` is
    the issue's among those given, -1 where only a dependency of it came."""

    place: int
    id: str
    field: str
    found: str
    taken_as: str


class Imported(msgspec.Struct, frozen=True):
    """What was done; issues that say nothing new are only counted. `left_out` are dependencies that were not made,
    `unknown_words` those of the issues that were taken."""

    outcomes: list[Outcome]
    unchanged: int
    left_out: list[LeftOut]
    unknown_words: list[UnknownWord] = []


def import_items(tx: Transaction, body: ImportItems) -> Imported:
    with Paused():
        return _import(tx, body)


def _import(tx: Transaction, body: ImportItems) -> Imported:
    alone(tx)
    if body.places and len(body.places) != len(body.issues):
        raise Invalid(
            f"/places has {len(body.places)} places for {len(body.issues)} issues; allowed: one for each, or none",
            code="invalid_value",
            pointer="/places",
            found=len(body.places),
            allowed=len(body.issues),
        )
    tx.cause = Cause("import", body.name)
    outcomes: list[Outcome] = []
    left_out: list[LeftOut] = []
    read = _read(body, outcomes)
    here = {one.issue.id for one in read}
    rows = _rows(tx, here | body.apart.keys())
    new = [one for one in read if one.issue.id not in rows]
    _insert(tx, new, _moments(tx, new, body.places), outcomes, left_out)
    unknown = [word for one in new for word in _unknown_words(one.place, one.issue.id, one.issue.unknown, one.apart)]
    known = [
        Known(one.place, one.issue, body.issues[one.place], rows[one.issue.id], body.apart.get(one.issue.id, []))
        for one in read
        if one.issue.id in rows
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
            if done.outcome == "changed" and one.issue is not None:
                unknown += _unknown_words(one.place, one.row.id, one.issue.unknown, ())
        if apart := new_apart(one):
            unknown += _unknown_words(one.place, one.row.id, (), read_links(apart, one.row.id))
    return Imported(sorted(outcomes, key=lambda each: each.place), unchanged, left_out, unknown)


def _unknown_words(place: int, id: str, words: Iterable[Unknown], apart: Iterable[Link]) -> Iterator[UnknownWord]:
    for word in (*words, *unknown_types(apart)):
        yield UnknownWord(place, id, word.field, word.found, word.taken_as)


ACTIONS = (
    Action(
        "/api/work-items/import", import_items, ImportItems, Imported, "Take in issues of another tracker, or again"
    ),
)


def _rows(tx: Transaction, ids: set[str]) -> dict[str, Row[Any]]:
    found = tx.connection.execute(select(items).where(among(tx.connection, items.c.id, ids)))
    return {row.id: row for row in found}


class _Read(NamedTuple):
    """An issue that can be taken: its place among those given, its dependencies that stand apart, and its extras."""

    place: int
    issue: Issue
    apart: list[Link]
    extras: dict[str, Any]


def _read(body: ImportItems, outcomes: list[Outcome]) -> list[_Read]:
    found: list[_Read] = []
    seen: set[str] = set()
    for place, given in enumerate(body.issues):
        try:
            issue = read_issue(given)
            if issue.id in seen:
                raise Invalid(f"{issue.id} is given twice", code="repeated_id")
            apart = [read_link(each, issue.id, f"/apart/{issue.id}") for each in body.apart.get(issue.id, ())]
            found.append(_Read(place, issue, apart, _kept(issue, body)))
            seen.add(issue.id)
        except Invalid as error:
            id = given.get("id")
            outcomes.append(Outcome(place, id if isinstance(id, str) else None, "refused", reason=error.message))
    return found


def _moments(tx: Transaction, new: Sequence[_Read], places: Sequence[int]) -> dict[str, int]:
    """By issue when it counts as made: one after the other as they stand in what is imported, the last one now. So
    their order is that of their age, which is what is compared wherever work is listed."""
    wanted = sorted(new, key=lambda one: places[one.place]) if places else new
    return {one.issue.id: tx.now - after for after, one in enumerate(reversed(wanted))}


def _insert(
    tx: Transaction,
    new: Sequence[_Read],
    moments: dict[str, int],
    outcomes: list[Outcome],
    left_out: list[LeftOut],
) -> None:
    if not new:
        return
    joined = join_new(tx.connection, {one.issue.id: [*one.issue.links, *one.apart] for one in new})
    given: list[Given] = []
    for place, issue, _, extras in new:
        missing = joined.left_out.get(issue.id, [])
        if missing:
            extras[KEPT]["left_out"] = [[each.type, each.depends_on_id] for each in missing]
        values = {**issue.values, "parent": joined.parents.get(issue.id), "extras": extras}
        given.append(Given(issue.id, values, _past(tx, issue, moments[issue.id])))
        outcomes.append(Outcome(place, issue.id, "created"))
        left_out += missing
    insert_many(tx, given, joined.edges)


def _kept(issue: Issue, body: ImportItems) -> dict[str, Any]:
    """The extras of a new item; an Invalid where they are more than an item can have."""
    kept: dict[str, Any] = {"line": issue.line, "digest": issue.digest, "version": 1}
    if issue.id in body.apart:
        kept["apart"] = body.apart[issue.id]
    return clean_extras({KEPT: kept}, "what is kept of it")


def _past(tx: Transaction, issue: Issue, made_at: int) -> dict[str, Any]:
    """What it says of its past, whole; what it does not say happened now, by whoever imports it. Who imports what they
    or nobody in particular filed agrees to it."""
    own = issue.own
    closed = dict.fromkeys(("closed_at", "closed_by", "close_reason"))
    return {
        "created_at": own["created_at"] or made_at,
        "created_by": own["created_by"] or tx.actor,
        "updated_at": own["updated_at"] or tx.now,
        **({"ratified_at": tx.now, "ratified_by": tx.actor} if own["created_by"] in (None, tx.actor) else {}),
        **(closed_by_line(tx, issue) if issue.values["state"] in FINISHED else closed),
    }
