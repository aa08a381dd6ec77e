"""Like asks together: groups of those that wait, and earlier answers offered to them as precedents.

`assign(tx, rows)` is called by `projection.py` for the asks that it is about to insert, in the ingesting transaction;
it gives each row its `like_key` and `group_id`. A group is named by its first ask: a new one joins the oldest group
whose first it is like, as long as somebody in that group waits; else it begins a group of its own. Two processes that
ingest like asks at the same moment may begin two groups, which are shown as two and lose nothing.

`best_for` (a page of the inbox) and `for_one` find precedents: what a person answered to a like ask. They are offered
with their source and the reason, never given by themselves.

`likes` finds what is worth comparing: the bands (`likeness.py`) of one ask for each `like_key` there is, so that a
question that is asked ten thousand times is looked up like one that is asked once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Row, Select, Table, Text, select
from sqlalchemy.dialects.postgresql import insert

from gemba import clock
from gemba.escalations import likeness
from gemba.escalations.escalation import Answer, Channel, Precedent
from gemba.escalations.likeness import Form, compare
from gemba.escalations.store import escalations, get, options_of, schema_of
from gemba.store.database import Transaction
from gemba.store.lists import as_parameter, unnested, within
from gemba.store.schema import metadata

likes = Table(
    "likes",
    metadata,
    Column("band", BigInteger, primary_key=True, autoincrement=False),
    Column("ref", Text, primary_key=True),
    sqlite_with_rowid=False,
)

MOST_SHOWN = 3
# Of a person, by whatever way it was given. What a rule answered says nothing that the rule does not.
_BY_PEOPLE = ("operator", "pane")
_LONGEST_QUESTION = 500
# More groups than that are not compared with: one may then be begun twice, none is wrong.
_MOST_GROUPS = 4_000

_e = escalations.c


class _Group(NamedTuple):
    """One that has somebody waiting, by its first ask."""

    opened_at: int
    id: str
    form: Form


# ---- groups ---------------------------------------------------------------------------------------------------------


def assign(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Give rows that are about to be inserted their `like_key` and `group_id`; only what agents ask is grouped."""
    met: dict[tuple[Any, ...], tuple[Form, str, list[int]]] = {}
    asks: list[tuple[dict[str, Any], Form, str, list[int]]] = []
    for row in rows:
        row["like_key"], row["group_id"] = "", row["id"]
        if row["channel"] == Channel.TOOL_CALL:
            said = (row["kind"], row["title"], row["text"], row["options"], row.get("schema"))
            known_form = met.get(said)
            if known_form is None:
                form = _form(*said)
                known_form = met[said] = form, form.key, form.bands
            row["like_key"] = known_form[1]
            asks.append((row, *known_form))
    if not asks:
        return
    known, groups = _look_up(tx.connection, {band for _, _, _, bands in asks for band in bands})
    new: list[tuple[int, str]] = []
    for row, form, key, bands in asks:
        joined = _oldest_like(form, bands, groups)
        if joined is None:
            _remember(groups, _Group(row["opened_at"], row["id"], form), bands)
        else:
            row["group_id"] = joined.id
        if key not in known:
            known.add(key)
            new += [(band, row["id"]) for band in bands]
    if new:
        _store(tx.connection, new)


def _look_up(connection: Connection, bands: set[int]) -> tuple[set[str], dict[int, list[_Group]]]:
    """The keys that are found by these bands already, and of each the oldest group that has such an ask waiting."""
    dialect = connection.dialect.name
    known: set[str] = set()
    groups: dict[int, list[_Group]] = {}
    met: set[str] = set()
    for key, opened_at, id, *said in connection.execute(
        _waiting_groups(dialect), {"bands": as_parameter(dialect, bands)}
    ):
        known.add(key)
        if id is not None and id not in met:
            met.add(id)
            form = _form(*said)
            _remember(groups, _Group(opened_at, id, form), form.bands)
    return known, groups


@functools.cache
def _waiting_groups(dialect: str) -> Select[Any]:
    keys = _keys_of(dialect).subquery()
    member, first = escalations.alias(), escalations.alias()
    group_id = (  # a step in the index, however many wait
        select(member.c.group_id)
        .where(member.c.like_key == keys.c.like_key, ~member.c.resolved, member.c.resolved_at.is_(None))
        .order_by(member.c.group_id)
        .limit(1)
        .correlate(keys)
        .scalar_subquery()
    )
    waiting = select(keys.c.like_key, group_id.label("group_id")).limit(_MOST_GROUPS).subquery()
    said = [first.c[name] for name in ("opened_at", "id", "kind", "title", "text", "options", "schema")]
    return select(waiting.c.like_key, *said).join_from(waiting, first, first.c.id == waiting.c.group_id, isouter=True)


def _store(connection: Connection, pairs: list[tuple[int, str]]) -> None:
    """Each ask that is taken in has some of these: past the layers that would handle them one by one. An id that comes
    once more, with another text, may bring what is there already."""
    if connection.dialect.name == "postgresql":
        bands, refs = zip(*pairs, strict=True)
        rows = select(unnested(bands, BigInteger()), unnested(refs, Text()))
        connection.execute(insert(likes).from_select(["band", "ref"], rows).on_conflict_do_nothing())
    else:
        connection.exec_driver_sql("insert or ignore into likes (band, ref) values (?, ?)", pairs)


def _remember(groups: dict[int, list[_Group]], group: _Group, bands: Iterable[int]) -> None:
    for band in bands:
        groups.setdefault(band, []).append(group)


def _oldest_like(form: Form, bands: Iterable[int], groups: dict[int, list[_Group]]) -> _Group | None:
    candidates = {group[:2]: group for band in bands for group in groups.get(band, ())}
    for place in sorted(candidates):
        if compare(form, candidates[place].form).same:
            return candidates[place]
    return None


# ---- precedents -----------------------------------------------------------------------------------------------------


def for_one(connection: Connection, id: str) -> list[Precedent]:
    """What people answered to asks like this one: newest first, at most three."""
    row = get(connection, id)
    return _found(connection, [row], MOST_SHOWN).get(id, [])


def best_for(connection: Connection, rows: Sequence[Row[Any]]) -> dict[str, Precedent]:
    """The newest precedent of each of these that waits and has one, in one query."""
    waiting = [row for row in rows if not row.resolved and row.channel == Channel.TOOL_CALL]
    return {id: found[0] for id, found in _found(connection, waiting, 1).items()}


def _found(connection: Connection, rows: Sequence[Row[Any]], most: int) -> dict[str, list[Precedent]]:
    forms = {row.id: form_of(row) for row in rows if row.channel == Channel.TOOL_CALL}
    if not forms:
        return {}
    bands = {id: form.bands for id, form in forms.items()}
    dialect = connection.dialect.name
    sought = {"bands": as_parameter(dialect, {band for known in bands.values() for band in known})}
    by_band: dict[int, list[tuple[Row[Any], Form]]] = {}
    for earlier in connection.execute(_newest_answers(dialect, most), sought):
        form = form_of(earlier)
        for band in form.bands:
            by_band.setdefault(band, []).append((earlier, form))
    found: dict[str, list[Precedent]] = {}
    for row in rows:
        if row.id not in forms:
            continue
        candidates = {earlier.id: (earlier, form) for band in bands[row.id] for earlier, form in by_band.get(band, ())}
        for earlier, form in sorted(candidates.values(), key=lambda pair: (-pair[0].resolved_at, pair[0].id)):
            alike = compare(forms[row.id], form)
            if alike.same and earlier.id != row.id and len(found.get(row.id, ())) < most:
                found.setdefault(row.id, []).append(_precedent(row, earlier, alike))
    return found


@functools.cache
def _newest_answers(dialect: str, most: int) -> Select[Any]:
    """Of each wording that has one of the bands the newest that people answered, as many as are wanted."""
    keys = _keys_of(dialect).subquery()
    earlier = escalations.alias()
    newest = (
        select(earlier.c.id)
        .where(
            earlier.c.like_key == keys.c.like_key,
            earlier.c.resolved,
            earlier.c.outcome == "answered",
            earlier.c.resolved_by.in_(_BY_PEOPLE),
        )
        .order_by(earlier.c.resolved_at.desc(), earlier.c.id)
    )
    ids = [
        select(newest.limit(1).offset(place).correlate(keys).scalar_subquery().label("id")).select_from(keys)
        for place in range(most)
    ]
    chosen = ids[0] if most == 1 else ids[0].union(*ids[1:])
    return select(escalations).where(_e.id.in_(chosen)).order_by(_e.resolved_at.desc(), _e.id)


def _precedent(row: Row[Any], earlier: Row[Any], alike: likeness.Likeness) -> Precedent:
    return Precedent(
        escalation_id=earlier.id,
        session_id=earlier.session_id,
        text=earlier.text[:_LONGEST_QUESTION],
        answer=Answer(
            text=earlier.reply_text or "",
            option=same_option(options_of(earlier), earlier.reply_option, options_of(row)),
            value=None if earlier.reply_value is None else msgspec.json.decode(earlier.reply_value),
        ),
        by=earlier.resolved_by,
        who=earlier.resolved_as,
        at=clock.rfc3339(earlier.resolved_at),
        score=alike.score,
        why=alike.why,
    )


def same_option(theirs: list[str], number: int | None, ours: list[str]) -> int | None:
    """The number of an option in a list that has the same ones, maybe in another order."""
    if number is None or not 1 <= number <= len(theirs):
        return None
    wanted = likeness.option_form(theirs[number - 1])
    return next((place for place, option in enumerate(ours, 1) if likeness.option_form(option) == wanted), None)


# ---- rows -----------------------------------------------------------------------------------------------------------


def form_of(row: Row[Any]) -> Form:
    return likeness.form(row.kind, row.title, row.text, options_of(row), schema_of(row))


def _keys_of(dialect: str) -> Select[tuple[str]]:
    """The keys of what has one of the `bands`."""
    found = select(_e.like_key).join(likes, likes.c.ref == _e.id)
    return found.where(within(dialect, likes.c.band, "bands")).distinct()


def _form(kind: str, title: str | None, text: str, options: str, schema: str | None) -> Form:
    offered = msgspec.json.decode(options, type=list[str]) if options != "[]" else []
    return likeness.form(kind, title, text, offered, None if schema is None else msgspec.json.decode(schema))
