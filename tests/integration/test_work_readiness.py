"""Readiness is kept, not recomputed: whatever is done, it is what a recomputation from nothing would say."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from gemba import clock
from gemba.errors import GembaError
from gemba.store.database import Database, Transaction
from gemba.store.migrate import open_database
from gemba.testing import effort
from gemba.work import batch
from gemba.work.claiming import ClaimItem, ReleaseClaim, claim_item, release_claim
from gemba.work.item import Kind, Relation, State
from gemba.work.readiness import ready_items
from gemba.work.relating import OldRelation, add_relation, remove_relation
from gemba.work.relations import NewRelation
from gemba.work.store import ChangeItem, CreateItem, NewItem, change_item, clean_values, create_item
from gemba.work.tables import changes, items, relations
from gemba.work.undoing import UndoChange, undo_change

MANY = 8
places = st.integers(0, MANY - 1)
OPERATIONS = st.one_of(
    st.tuples(st.just("block"), places, places),
    st.tuples(st.just("unblock"), places, places),
    st.tuples(st.just("parent"), places, st.none() | places),
    st.tuples(st.just("state"), places, st.sampled_from(list(State))),
    st.tuples(st.just("undo"), places),
    st.tuples(st.just("claim"), places),
    st.tuples(st.just("release"), places),
    st.tuples(st.just("create"), st.none() | places),
)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = open_database(database_url)
    opened.surroundings["work_prefix"] = "shop"
    yield opened
    opened.close()


def carry_out(tx: Transaction, ids: list[str], operation: tuple[Any, ...]) -> None:
    name, *given_ = operation
    match name, given_:
        case "block", [source, target]:
            add_relation(tx, NewRelation(Relation.BLOCKS, target=ids[target]), id=ids[source])
        case "unblock", [source, target]:
            remove_relation(tx, OldRelation(Relation.BLOCKS, target=ids[target]), id=ids[source])
        case "parent", [child, parent]:
            change_item(tx, ChangeItem(parent=None if parent is None else ids[parent]), id=ids[child])
        case "state", [place, state]:
            change_item(tx, ChangeItem(state=state), id=ids[place])
        case "undo", [place]:
            undo_change(tx, UndoChange(), id=ids[place])
        case "claim", [place]:
            claim_item(tx, ClaimItem(), id=ids[place])
        case "release", [place]:
            release_claim(tx, ReleaseClaim(), id=ids[place])
        case "create", [parent]:
            made = create_item(tx, CreateItem(NewItem(title="New", parent=None if parent is None else ids[parent])))
            ids.append(made.id)
        case _:
            raise AssertionError(operation)


def naive(rows: dict[str, Any], edges: list[tuple[str, str, str]]) -> set[str]:
    """What is ready, from the facts alone and without anything that is kept."""
    finished = {id for id, row in rows.items() if row.state in ("done", "cancelled")}
    blocked = {target for source, kind, target in edges if kind == "blocks" and source not in finished}

    def line(id: str) -> list[str]:
        found = [id]
        while rows[found[-1]].parent is not None:
            found.append(rows[found[-1]].parent)
            assert len(found) <= len(rows), "a parent lies in its own child"
        return found

    return {
        id
        for id, row in rows.items()
        if row.state in ("unstarted", "staged") and row.claimed_until is None and not blocked & set(line(id))
    }


def compare(tx: Transaction) -> None:
    rows = {row.id: row for row in tx.connection.execute(select(items))}
    edges = [(row.source, row.kind, row.target) for row in tx.connection.execute(select(relations))]
    ready = ready_items(tx.connection, clock.now(), 500)
    assert {row.id for row in ready.rows} == naive(rows, edges)
    assert ready.total == len(ready.rows)
    assert {(parent, child) for parent, kind, child in edges if kind == "parent-child"} == {
        (row.parent, row.id) for row in rows.values() if row.parent is not None
    }


def no_deadlock(tx: Transaction) -> None:
    """Doing what is ready, again and again, finishes everything: nothing waits for itself."""
    rows = {row.id: row for row in tx.connection.execute(select(items))}
    edges = [(row.source, row.kind, row.target) for row in tx.connection.execute(select(relations))]
    left = set(rows)
    while left:
        blocked = {target for source, kind, target in edges if kind == "blocks" and source in left}

        def waits(id: str, blocked: set[str] = blocked) -> bool:
            at: str | None = id
            while at is not None:
                if at in blocked:
                    return True
                at = rows[at].parent
            return False

        free = {id for id in left if not waits(id)}
        assert free, "what is left waits for itself"
        left -= free


@contextmanager
def emptied(database: Database) -> Iterator[None]:
    with database.transaction() as tx:
        for table in (items, relations, changes):
            tx.connection.execute(delete(table))
    yield


@settings(max_examples=effort(40, 2_000))
@given(operations=st.lists(OPERATIONS, max_size=25))
def test_what_is_kept_is_what_a_recomputation_would_say(database: Database, operations: list[tuple[Any, ...]]) -> None:
    with emptied(database), database.transaction() as tx:
        ids = [create_item(tx, CreateItem(NewItem(title=f"Item {n}"))).id for n in range(MANY)]
        for operation in operations:
            try:
                with tx.part():
                    carry_out(tx, ids, operation)
            except GembaError:
                pass
            compare(tx)
        no_deadlock(tx)


EDGES = st.lists(
    st.tuples(places, st.sampled_from([Relation.BLOCKS, Relation.RELATES_TO]), places), max_size=20, unique=True
)


@settings(max_examples=effort(40, 2_000))
@given(
    states=st.lists(st.sampled_from(list(State)), min_size=MANY, max_size=MANY),
    parents=st.lists(st.none() | places, min_size=MANY, max_size=MANY),
    edges=EDGES,
    first=places,
)
def test_a_batch_is_as_ready_as_the_same_items_one_by_one(
    database: Database,
    states: list[State],
    parents: list[int | None],
    edges: list[tuple[int, Relation, int]],
    first: int,
) -> None:
    """In two batches: the first so many items, and the others with all that they are to these."""
    ids = [f"old-{n}" for n in range(MANY)]
    named = [(ids[a], kind, ids[b]) for a, kind, b in edges]
    family = [(ids[parent], Relation.PARENT_CHILD, ids[n]) for n, parent in enumerate(parents) if parent is not None]
    left_out = set(batch.circles([*family, *named]))
    above = {
        child: parent
        for parent, kind, child in family
        if (parent, kind, child) not in left_out and (parent in ids[:first] or child not in ids[:first])
    }
    values = [msgspec.structs.asdict(NewItem(title=id, state=state)) for id, state in zip(ids, states, strict=True)]
    given_ = [
        batch.Given(id, clean_values({**one, "parent": above.get(id)}, ""), {})
        for id, one in zip(ids, values, strict=True)
    ]
    with emptied(database), database.transaction() as tx:
        here = set(ids[:first])
        edges_ = [edge for edge in named if edge not in left_out and edge[0] != edge[2]]
        batch.insert_many(tx, given_[:first], [edge for edge in edges_ if here.issuperset(edge[::2])])
        compare(tx)
        batch.insert_many(tx, given_[first:], [edge for edge in edges_ if not here.issuperset(edge[::2])])
        compare(tx)
        no_deadlock(tx)


def test_an_import_moves_the_counter_of_milestones_past_its_titles(database: Database) -> None:
    milestone = clean_values(msgspec.structs.asdict(NewItem(title="M41 Launch", kind=Kind.MILESTONE)), "")
    with database.transaction() as tx:
        batch.insert_many(tx, [batch.Given("old-1", milestone, {})])
        made = create_item(tx, CreateItem(NewItem(title="Growth", kind=Kind.MILESTONE)))
        kept = tx.connection.execute(select(items.c.title).where(items.c.id == "old-1")).scalar_one()

    assert (kept, made.title) == ("M41 Launch", "M42 Growth")
