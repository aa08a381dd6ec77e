"""The event log in the database: one gapless sequence, together with the change it tells of, kept as long as asked."""

import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import msgspec
import pytest
import time_machine
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import DBAPIError

from gemba import clock
from gemba.errors import Unusable
from gemba.event import Draft, Filter
from gemba.store import events
from gemba.store.database import Database, Transaction, connect, parse_url
from gemba.store.migrate import open_database
from gemba.store.schema import confirmations


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(open_database(database_url)) as opened:
        yield opened


def emit(database: Database, *names: str) -> None:
    with database.transaction() as tx:
        for name in names:
            tx.emit(Draft(name, {"n": 1}))


def read(
    database: Database, after: int = 0, limit: int = 10_000, wanted: Filter | None = None
) -> list[tuple[int, str]]:
    with database.read() as connection:
        return [(event.id, event.name) for event in events.read_after(connection, after, limit, wanted or Filter())]


def bounds(database: Database) -> tuple[int, int]:
    with database.read() as connection:
        return events.floor(connection), events.last_id(connection)


def change(tx: Transaction, id: str) -> None:
    row = {"id": id, "request": "", "status": 0, "answer": "", "at": tx.now}
    tx.connection.execute(insert(confirmations), [row])


def changes(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(confirmations)).scalar_one()


# ---- the sequence ----------------------------------------------------------------------------------------------------


def test_events_are_numbered_from_one_in_the_order_they_were_told(database: Database) -> None:
    emit(database, "a", "b")
    emit(database)
    emit(database, "c")

    assert read(database) == [(1, "a"), (2, "b"), (3, "c")]
    assert read(database, after=1, limit=1) == [(2, "b")]
    assert bounds(database) == (0, 3)


def test_an_event_keeps_all_that_was_told(database: Database) -> None:
    payload = {"text": "ü\u2028\x07\U0001f600", "deep": [{"a": None}], "n": 2**53, "f": 0.5}
    with time_machine.travel("2030-01-01T00:00:00.123456Z", tick=False), database.transaction() as tx:
        tx.emit(Draft("thing.happened", payload, "s-1", "r-1"))

    with database.read() as connection:
        (event,) = events.read_after(connection, 0, 10)
    assert (event.at, event.name, event.session_id, event.ref) == (
        "2030-01-01T00:00:00.123456Z",
        "thing.happened",
        "s-1",
        "r-1",
    )
    assert msgspec.json.decode(event.payload) == payload


def test_a_part_that_fails_takes_with_it_all_that_it_did_and_nothing_else(database: Database) -> None:
    done: list[str] = []
    row = {"request": "", "status": 200, "answer": "", "at": 1}

    def do(tx: Transaction, name: str) -> None:
        tx.connection.execute(insert(confirmations), {**row, "id": name})
        tx.emit(Draft(name, {}))
        tx.at_end.append(lambda: done.append(f"{name} at the end"))
        tx.committed.append(lambda: done.append(f"{name} committed"))

    with database.transaction() as tx:
        do(tx, "before")
        with suppress(ZeroDivisionError), tx.part():
            do(tx, "failed")
            raise ZeroDivisionError
        with tx.part():
            do(tx, "after")

    assert [name for _, name in read(database)] == ["before", "after"]
    assert done == ["before at the end", "after at the end", "before committed", "after committed"]
    with database.read() as connection:
        assert set(connection.execute(select(confirmations.c.id)).scalars()) == {"before", "after"}


def test_filters_choose_in_the_database(database: Database) -> None:
    with database.transaction() as tx:
        for name, session, ref in (
            ("a", "s", "r"),
            ("b", "s", "r"),
            ("a", "t", "r"),
            ("a", "s", None),
            ("a", None, None),
        ):
            tx.emit(Draft(name, {}, session, ref))

    assert [id for id, _ in read(database, wanted=Filter(frozenset({"a", "x"})))] == [1, 3, 4, 5]
    assert [id for id, _ in read(database, wanted=Filter(session_id="s"))] == [1, 2, 4]
    assert [id for id, _ in read(database, wanted=Filter(frozenset({"a"}), "s", "r"))] == [1]


def test_many_writers_leave_one_sequence_without_gaps_and_no_reader_sees_a_later_one_first(database: Database) -> None:
    writers, many = 6, 25
    begin = threading.Barrier(writers + 1)
    done = threading.Event()

    def write(writer: int) -> None:
        begin.wait()
        for n in range(many):
            try:
                with database.transaction() as tx:
                    change(tx, f"{writer}-{n}")
                    tx.emit(Draft(str(writer), {}))
                    tx.emit(Draft(str(writer), {}))
                    if n % 5 == 4:
                        raise ZeroDivisionError  # it changed its mind
            except ZeroDivisionError:
                pass

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    seen: list[int] = []

    def follow() -> None:
        begin.wait()
        while True:
            ended = done.is_set()
            page = read(database, after=seen[-1] if seen else 0, limit=7)
            seen.extend(id for id, _ in page)
            if ended and not page:
                return

    reader = threading.Thread(target=follow)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    reader.join()

    kept = writers * many * 4 // 5
    assert seen == list(range(1, kept * 2 + 1))
    assert changes(database) == kept
    told = read(database)
    # The events of one transaction stand together.
    assert all(told[n][1] == told[n + 1][1] for n in range(0, len(told), 2))


def test_two_databases_on_the_same_store_share_the_sequence(database: Database, database_url: str) -> None:
    with closing(connect(database_url)) as twin:

        def write(used: Database) -> None:
            for _ in range(20):
                emit(used, "n")

        threads = [threading.Thread(target=write, args=(used,)) for used in (database, twin)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert [id for id, _ in read(database)] == list(range(1, 41))


# ---- all or nothing --------------------------------------------------------------------------------------------------


def test_a_transaction_that_fails_leaves_neither_change_nor_event_and_tells_nobody(database: Database) -> None:
    told: list[str] = []
    database.on_commit.append(lambda events: told.extend(event.name for event in events))

    def change_and_fail() -> None:
        with database.transaction() as tx:
            change(tx, "x")
            tx.emit(Draft("a", {}))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_fail()

    assert (changes(database), read(database), bounds(database), told) == (0, [], (0, 0), [])
    with database.transaction() as tx:
        change(tx, "x")
        tx.emit(Draft("a", {}))
    assert (changes(database), read(database), told) == (1, [(1, "a")], ["a"])


def test_an_event_that_cannot_be_stored_undoes_its_change(database: Database) -> None:
    def change_and_tell() -> None:
        with database.transaction() as tx:
            change(tx, "x")
            tx.emit(Draft("a", {"not JSON": object()}))

    with pytest.raises(TypeError):
        change_and_tell()

    assert (changes(database), read(database)) == (0, [])


def test_what_is_not_committed_is_not_seen(database: Database) -> None:
    with database.transaction() as tx:
        change(tx, "x")
        tx.emit(Draft("a", {}))
        assert (changes(database), read(database)) == (0, [])

    assert (changes(database), read(database)) == (1, [(1, "a")])


def test_a_read_sees_one_state_from_its_first_look_to_its_last(database: Database) -> None:
    emit(database, "a")
    with database.read() as connection:
        before = events.last_id(connection)
        emit(database, "b")
        seen = [event.id for event in events.read_after(connection, 0, 10)]

    assert (before, seen) == (1, [1])
    assert bounds(database) == (0, 2)


def test_a_read_changes_nothing(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"read-?only"), database.read() as connection:
        connection.execute(text("delete from counters"))

    assert bounds(database) == (0, 0)


def test_a_commit_without_events_tells_nobody(database: Database) -> None:
    told: list[str] = []
    database.on_commit.append(lambda events: told.extend(event.name for event in events))
    with database.transaction() as tx:
        change(tx, "x")

    assert told == []


def test_inserting_says_which_keys_were_new(database: Database) -> None:
    def rows(*ids: str) -> list[dict[str, object]]:
        return [{"id": id, "request": "", "status": 0, "answer": "", "at": 0} for id in ids]

    with database.transaction() as tx:
        assert tx.insert_new(confirmations, rows("a", "b"), "id") == {"a", "b"}
        assert tx.insert_new(confirmations, rows("b", "c"), "id") == {"c"}
        assert tx.insert_new(confirmations, [], "id") == set()


# ---- retention -------------------------------------------------------------------------------------------------------


def test_the_oldest_give_way_by_number_and_the_floor_says_how_far(database: Database) -> None:
    emit(database, *"abcdef")
    with database.transaction() as tx:
        assert events.prune(tx.connection, older_than=0, keep_at_most=2) == 4
        assert events.prune(tx.connection, older_than=0, keep_at_most=2) == 0

    assert (read(database), bounds(database)) == ([(5, "e"), (6, "f")], (4, 6))
    emit(database, "g")
    assert read(database, after=5) == [(6, "f"), (7, "g")]


def test_the_oldest_give_way_by_age(database: Database) -> None:
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False) as time:
        emit(database, "a", "b")
        time.shift(86_400)
        emit(database, "c")
        cutoff = clock.now()

    with database.transaction() as tx:
        assert events.prune(tx.connection, older_than=cutoff, keep_at_most=100) == 2
    assert (read(database), bounds(database)) == ([(3, "c")], (2, 3))


def test_a_clock_that_went_back_makes_no_hole(database: Database) -> None:
    """An old stamp behind a new one is kept with it: what is kept is always the end of the sequence."""
    for moment in ("2030-01-02T00:00:00Z", "2030-01-01T00:00:00Z", "2030-01-03T00:00:00Z"):
        with time_machine.travel(moment, tick=False):
            emit(database, "n")
    cutoff = clock.parse("2030-01-01T12:00:00Z") or 0

    with database.transaction() as tx:
        assert events.prune(tx.connection, older_than=cutoff, keep_at_most=100) == 0
    assert [id for id, _ in read(database)] == [1, 2, 3]


def test_an_emptied_log_goes_on_counting(database: Database) -> None:
    emit(database, "a", "b")
    with database.transaction() as tx:
        assert events.prune(tx.connection, older_than=clock.now() + clock.DAY, keep_at_most=1) == 2
    emit(database, "c")

    assert (read(database), bounds(database)) == ([(3, "c")], (2, 3))


def test_the_floor_never_sinks(database: Database) -> None:
    emit(database, *"abcd")
    with database.transaction() as tx:
        events.prune(tx.connection, older_than=0, keep_at_most=1)
        events.prune(tx.connection, older_than=0, keep_at_most=100)

    assert bounds(database) == (3, 4)


# ---- connections -----------------------------------------------------------------------------------------------------


def test_sqlite_is_durable_and_readable_while_it_is_written(sqlite_url: str) -> None:
    with closing(open_database(sqlite_url)) as database, database.read() as connection:
        pragmas = {
            name: connection.execute(text(f"pragma {name}")).scalar() for name in ("journal_mode", "synchronous")
        }
        assert pragmas == {"journal_mode": "wal", "synchronous": 2}


def test_what_was_to_be_stored_stays_out_of_the_text_of_errors(database: Database) -> None:
    with pytest.raises(DBAPIError, match="SQL parameters hidden") as raised, database.transaction() as tx:
        tx.connection.execute(text("insert into nowhere values (:words)"), {"words": "a secret"})

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["mysql://user:secret@host/db", "nonsense with a secret", "oracle://secret"])
def test_another_database_is_refused_without_showing_its_address(url: str) -> None:
    with pytest.raises(Unusable, match="database") as raised:
        parse_url(url)

    assert "secret" not in str(raised.value)
