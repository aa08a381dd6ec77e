"""Confirm ids in the database: run once, answer as before, also a refusal, forget after a day."""

import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
import time_machine
from sqlalchemy import func, insert, select

from gemba.errors import Conflict, GembaError, Invalid, Unusable
from gemba.event import Draft
from gemba.store import confirmations, events
from gemba.store.confirmations import Answer
from gemba.store.database import Database, Transaction, connect
from gemba.store.migrate import open_database
from gemba.store.schema import confirmations as table
from gemba.store.schema import counters


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(open_database(database_url)) as opened:
        yield opened


def once(database: Database, id: str, request: str, answer: str = "yes") -> Answer:
    with database.transaction() as tx:
        return confirmations.once(tx, id, request, lambda: Answer(200, answer.encode()), refused)


def refused(error: GembaError) -> Answer:
    return Answer(error.status, error.message.encode())


def stored(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_the_first_runs_and_the_others_get_its_answer(database: Database) -> None:
    assert once(database, "one", "request", "ünï") == Answer(200, "ünï".encode())
    assert once(database, "one", "request", "never run") == Answer(200, "ünï".encode(), replayed=True)
    assert stored(database) == 1


def test_another_request_may_not_have_the_same_id(database: Database) -> None:
    once(database, "one", "request")

    with pytest.raises(Invalid, match="another request") as raised:
        once(database, "one", "other")
    assert raised.value.code == "confirm_reused"


def test_a_refusal_is_an_answer_and_what_was_done_before_it_is_undone(database: Database) -> None:
    def refuse(tx: Transaction) -> Answer:
        tx.emit(Draft("probe", {}))
        tx.connection.execute(insert(counters), {"name": "probe", "value": 1})
        raise Conflict("no", code="no")

    with database.transaction() as tx:
        first = confirmations.once(tx, "one", "request", lambda: refuse(tx), refused)

    assert first == Answer(409, b"no")
    assert once(database, "one", "request", "never run") == Answer(409, b"no", replayed=True)
    with pytest.raises(Invalid, match="another request"):
        once(database, "one", "another request")
    with database.read() as connection:
        assert connection.execute(select(counters).where(counters.c.name == "probe")).all() == []
        assert events.read_after(connection, 0, 10) == []


def test_what_a_refusal_leaves_behind_is_kept_with_it(database: Database) -> None:
    def leave(tx: Transaction) -> None:
        tx.connection.execute(insert(counters), {"name": "left", "value": 1})

    with database.transaction() as tx:
        confirmations.once(tx, "one", "request", lambda: tx.refuse(Conflict("no", code="no"), leave), refused)

    with database.read() as connection:
        assert connection.execute(select(counters.c.value).where(counters.c.name == "left")).scalar_one() == 1


def test_what_fails_for_want_of_something_stores_nothing_and_is_tried_again(database: Database) -> None:
    def fail() -> Answer:
        raise Unusable("no disk", code="no_disk")

    def attempt() -> None:
        with database.transaction() as tx:
            confirmations.once(tx, "one", "request", fail, refused)

    with pytest.raises(Unusable):
        attempt()
    assert stored(database) == 0
    assert once(database, "one", "another request").replayed is False


@pytest.mark.parametrize(("error", "expected"), [(Conflict, 409), (Unusable, 200)])
def test_a_second_one_waits_for_the_first_and_runs_only_if_that_failed(
    database: Database, database_url: str, error: type[GembaError], expected: int
) -> None:
    """Of two processes: the second is at the door while the first is inside."""
    inside, let_go = threading.Event(), threading.Event()
    answers: list[Answer] = []

    def fail() -> Answer:
        inside.set()
        let_go.wait(30)
        raise error("no", code="no")

    def first() -> None:
        with suppress(Unusable), database.transaction() as tx:
            confirmations.once(tx, "one", "request", fail, refused)

    with closing(connect(database_url)) as other:
        threads = [
            threading.Thread(target=first),
            threading.Thread(target=lambda: answers.append(once(other, "one", "request"))),
        ]
        threads[0].start()
        assert inside.wait(30)
        threads[1].start()
        assert answers == []
        let_go.set()
        for thread in threads:
            thread.join()

    assert [(answer.status, answer.replayed) for answer in answers] == [(expected, expected == 409)]


def test_ids_are_forgotten_after_a_day_one_by_one_and_all_together(database: Database) -> None:
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False) as time:
        once(database, "one", "request")
        time.shift(43_200)
        once(database, "two", "request")
        time.shift(43_201)

        assert once(database, "one", "another").replayed is False
        assert once(database, "two", "request").replayed is True
        with database.transaction() as tx:
            assert confirmations.prune(tx, tx.now) == 0
        time.shift(43_200)
        with database.transaction() as tx:
            assert confirmations.prune(tx, tx.now) == 1
    assert stored(database) == 1
