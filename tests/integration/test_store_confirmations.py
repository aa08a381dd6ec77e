"""Confirm ids in the database: run once, answer as before, forget after a day."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import time_machine
from sqlalchemy import func, select

from gemba.errors import Conflict, Invalid
from gemba.store import confirmations
from gemba.store.confirmations import Answer
from gemba.store.database import Database, connect
from gemba.store.migrate import open_database
from gemba.store.schema import confirmations as table


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(open_database(database_url)) as opened:
        yield opened


def once(database: Database, id: str, request: str, answer: str = "yes") -> Answer:
    with database.transaction() as tx:
        return confirmations.once(tx, id, request, lambda: Answer(200, answer.encode()))


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


def test_a_request_that_is_refused_stores_nothing(database: Database) -> None:
    def refuse() -> Answer:
        raise Conflict("no", code="no")

    def attempt() -> None:
        with database.transaction() as tx:
            confirmations.once(tx, "one", "request", refuse)

    with pytest.raises(Conflict):
        attempt()
    assert stored(database) == 0
    assert once(database, "one", "another request").replayed is False


def test_a_second_one_waits_for_the_first_and_runs_when_that_fails(database: Database, database_url: str) -> None:
    """Of two processes: the second is at the door while the first is inside."""
    inside, let_go = threading.Event(), threading.Event()
    answers: list[Answer] = []

    def first() -> None:
        def fail() -> Answer:
            inside.set()
            let_go.wait(30)
            raise Conflict("no", code="no")

        with database.transaction() as tx:
            confirmations.once(tx, "one", "request", fail)

    def failing_first() -> None:
        with pytest.raises(Conflict):
            first()

    with closing(connect(database_url)) as other:
        threads = [
            threading.Thread(target=failing_first),
            threading.Thread(target=lambda: answers.append(once(other, "one", "request"))),
        ]
        threads[0].start()
        assert inside.wait(30)
        threads[1].start()
        assert answers == []
        let_go.set()
        for thread in threads:
            thread.join()

    assert answers == [Answer(200, b"yes")]


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
