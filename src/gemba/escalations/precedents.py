"""Like asks together: groups of those that wait, and earlier answers offered to them as precedents.

`assign(tx, rows)` is called by `projection.py` for the asks that it is about to insert, in the ingesting transaction;
it gives each row its `like_key` and `group_id`. A group is named by its first ask: a new one joins the oldest group
whose first it is like, as long as somebody in that group waits; else it begins a group of its own. Two processes that
ingest like asks at the same moment may begin two groups, which are shown as two and lose nothing.

`best_for` (a page of the inbox) and `for_one` find precedents: what a person answered to a like ask. They are offered
with their source and the reason, never given by themselves.

`likes` finds what is worth comparing: the bands (`likeness.py`) of one ask for each `like_key` there is, so that a
question that is asked ten thousand times is looked up like one that is asked once.

Agents choose the words, so what shares a band may be much and all unlike. An ask is compared with a few of it only, and
besides with whatever has its very key: the work for a batch or a page grows as its number of asks does, and no more.
What is not compared is taken for unlike: a group may be split and a precedent go unseen, none is wrong.
"""

from __future__ import annotations

import functools
from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Row,
    Select,
    Subquery,
    Table,
    TableValuedAlias,
    Text,
    bindparam,
    cast,
    column,
    func,
    select,
    true,
    union,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.types import TypeEngine

from gemba import clock, typed
from gemba.escalations import likeness
from gemba.escalations.escalation import Answer, Channel, Precedent
from gemba.escalations.likeness import Form, compare, is_like
from gemba.escalations.store import escalations, get, options_of, schema_of
from gemba.store.database import Transaction
from gemba.store.lists import as_parameter, unnested
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
# Of what has a band in common with an ask, how much is compared with it, and how many words that may take in all.
_MOST_COMPARED = 50
_MOST_WORDS = 2_000
# Of what has a band in common with any of a batch or page, how many wordings are loaded.
_MOST_WORDINGS = 1_000

_e = escalations.c


class _Group(NamedTuple):
    """One that has somebody waiting, by its first ask."""

    opened_at: int
    id: str
    form: Form

    @property
    def place(self) -> tuple[int, str]:
        return self[:2]


class _Groups:
    """Those that an ask may join: the oldest of each band, and of each key."""

    def __init__(self) -> None:
        self._by_band: dict[int, list[_Group]] = {}
        self._by_key: dict[str, _Group] = {}

    def add(self, group: _Group, bands: Iterable[int]) -> None:
        for band in bands:
            known = self._by_band.setdefault(band, [])
            insort(known, group, key=lambda one: one.place)
            del known[_MOST_COMPARED:]

    def takes(self, key: str, group: _Group) -> None:
        """What has this key is known to belong here."""
        self._by_key[key] = group

    def oldest_like(self, form: Form, key: str, bands: Iterable[int]) -> _Group | None:
        found = {group.id: group for band in bands for group in self._by_band.get(band, ())}
        oldest = sorted(found.values(), key=lambda group: group.place)
        near = oldest[: _within_reach(form, (group.form for group in oldest))]
        same = next((group for group in near if is_like(form, group.form)), None)
        return same or self._by_key.get(key)


def _within_reach(form: Form, others: Iterable[Form]) -> int:
    """How many of these it is compared with, in their order: at least one, if there is one."""
    words = 0
    for count, other in enumerate(others):
        words += len(form.words) + len(other.words)
        if count == _MOST_COMPARED or (count and words > _MOST_WORDS):
            return count
    return _MOST_COMPARED


# Of an ask that is about to be inserted: the row, its form, and the form's key and bands.
_Ask = tuple[dict[str, Any], Form, str, list[int]]


# ---- groups ---------------------------------------------------------------------------------------------------------


def assign(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Give rows that are about to be inserted their `like_key` and `group_id`; only what agents ask is grouped."""
    met: dict[tuple[Any, ...], tuple[Form, str, list[int]]] = {}
    asks: list[_Ask] = []
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
    known, groups = _look_up(tx.connection, asks)
    new: list[tuple[int, str]] = []
    placed: dict[str, str] = {}
    for row, form, key, bands in asks:
        if key not in placed:
            joined = groups.oldest_like(form, key, bands)
            if joined is None:
                joined = _Group(row["opened_at"], row["id"], form)
                groups.add(joined, bands)
            placed[key] = joined.id
        row["group_id"] = placed[key]
        if key not in known:
            known.add(key)
            new += [(band, row["id"]) for band in bands]
    if new:
        _store(tx.connection, new)


def _look_up(connection: Connection, asks: Sequence[_Ask]) -> tuple[set[str], _Groups]:
    """Of these asks' keys those that were met before, and the groups that wait among what may be like them."""
    dialect = connection.dialect.name
    keys = {key for _, _, key, _ in asks}
    bands = {band for *_, bands in asks for band in bands}
    sought = {"keys": as_parameter(dialect, keys), "bands": as_parameter(dialect, bands)}
    known: set[str] = set()
    groups = _Groups()
    met: dict[str, _Group] = {}
    for key, opened_at, id, *said in connection.execute(_waiting_groups(dialect), sought):
        known.add(key)
        if id is None:
            continue
        if id not in met:
            met[id] = _Group(opened_at, id, _form(*said))
            groups.add(met[id], met[id].form.bands)
        groups.takes(key, met[id])
    return known & keys, groups


@functools.cache
def _waiting_groups(dialect: str) -> Select[Any]:
    keys = _keys_of(dialect)
    member, first = escalations.alias(), escalations.alias()
    group_id = (  # a step in the index, however many wait
        select(member.c.group_id)
        .where(member.c.like_key == keys.c.like_key, ~member.c.resolved, member.c.resolved_at.is_(None))
        .order_by(member.c.group_id)
        .limit(1)
        .correlate(keys)
        .scalar_subquery()
    )
    waiting = select(keys.c.like_key, group_id.label("group_id")).subquery()
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
    asks = [(row, form, form.bands) for row in rows if row.channel == Channel.TOOL_CALL for form in (form_of(row),)]
    if not asks:
        return {}
    dialect = connection.dialect.name
    sought = {
        "keys": as_parameter(dialect, {row.like_key for row, _, _ in asks}),
        "bands": as_parameter(dialect, {band for *_, bands in asks for band in bands}),
    }
    earlier = [(row, form_of(row)) for row in connection.execute(_newest_answers(dialect, most), sought)]
    by_key: dict[str, list[int]] = {}
    by_band: dict[int, list[int]] = {}
    for place, (answered, form) in enumerate(earlier):
        by_key.setdefault(answered.like_key, []).append(place)
        for band in form.bands:
            known = by_band.setdefault(band, [])
            if len(known) < _MOST_COMPARED:
                known.append(place)
    found: dict[str, list[Precedent]] = {}
    for row, form, bands in asks:
        newest = sorted({place for band in bands for place in by_band.get(band, ())})
        near = newest[: _within_reach(form, (earlier[place][1] for place in newest))]
        alike = (
            _precedent(row, earlier[place][0], compare(form, earlier[place][1]))
            for place in sorted({*near, *by_key.get(row.like_key, ())})
            if earlier[place][0].id != row.id and is_like(form, earlier[place][1])
        )
        if precedents := list(islice(alike, most)):
            found[row.id] = precedents
    return found


@functools.cache
def _newest_answers(dialect: str, most: int) -> Select[Any]:
    """Of each wording that has one of the bands the newest that people answered, as many as are wanted."""
    keys = _keys_of(dialect)
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


def _keys_of(dialect: str) -> Subquery:
    """Those of the `keys` that were met before, and the keys of the newest wordings that have one of the `bands`."""
    keys, bands = _given(dialect, "keys", Text()), _given(dialect, "bands", BigInteger())
    met = select(keys.c.value.label("like_key")).where(select(_e.id).where(_e.like_key == keys.c.value).exists())
    same = likes.alias()
    newest = select(same.c.ref).where(same.c.band == bands.c.value).order_by(same.c.ref.desc())
    if dialect == "postgresql":
        near = newest.limit(_MOST_COMPARED).lateral()
        refs = select(near.c.ref).select_from(bands.join(near, true()))
    else:  # which has no lateral join: the range of the index that holds them
        last = newest.limit(1).offset(_MOST_COMPARED - 1).correlate(bands).scalar_subquery()
        refs = select(likes.c.ref).where(likes.c.band == bands.c.value, likes.c.ref >= func.coalesce(last, ""))
    found = refs.subquery()
    banded = select(_e.like_key).join(found, found.c.ref == _e.id).distinct().limit(_MOST_WORDINGS).subquery()
    return union(met, select(banded.c.like_key)).subquery()


def _given(dialect: str, name: str, type_: TypeEngine[Any]) -> TableValuedAlias:
    """A list that is a parameter, as a table of its `value`s."""
    value = column("value", type_)
    if dialect == "postgresql":
        array = cast(bindparam(name, type_=ARRAY(type_)), ARRAY(type_))
        return func.unnest(array).table_valued(value, name=f"given_{name}").render_derived()
    return func.json_each(bindparam(name)).table_valued(value, name=f"given_{name}")


def _form(kind: str, title: str | None, text: str, options: str, schema: str | None) -> Form:
    offered = typed.decode(options, list[str]) if options != "[]" else []
    return likeness.form(kind, title, text, offered, None if schema is None else msgspec.json.decode(schema))
