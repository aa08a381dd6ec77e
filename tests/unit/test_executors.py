"""Executors: who beats lives, who stands still for a lease is dead, whatever the clocks say; names are claimed once."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from gemba import clock
from gemba.flows.executors import Dead, Executors, bury, claimed_name, living
from gemba.store.database import Database
from gemba.store.migrate import open_database

LEASE = 10 * clock.SECOND


class Steady:
    """In the place of the clock that nobody can set."""

    def __init__(self) -> None:
        self.now = 1_000 * clock.SECOND

    def __call__(self) -> int:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += int(seconds * clock.SECOND)


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> Steady:
    running = Steady()
    monkeypatch.setattr(clock, "elapsed", running)
    return running


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(f"sqlite:///{tmp_path / 'gemba.db'}")
    yield opened
    opened.close()


def beat(database: Database, executors: Executors) -> list[str]:
    """The ids of those that it finds dead."""
    with database.transaction() as tx:
        return [dead.id for dead in executors.beat(tx)]


def known(database: Database) -> list[str]:
    with database.read() as connection:
        return [id for id, _, _ in living(connection)]


def test_who_beats_is_listed_with_its_process_and_its_last_beat(database: Database) -> None:
    before = clock.now()
    beat(database, Executors("a.0", LEASE))

    with database.read() as connection:
        ((id, where, at),) = living(connection)

    assert (id, where) == ("a.0", f"{socket.gethostname()} {os.getpid()}")
    assert before <= at <= clock.now()


def test_who_stands_still_for_a_lease_is_dead_and_not_earlier(database: Database, steady: Steady) -> None:
    watcher = Executors("a.0", LEASE)
    beat(database, Executors("b.0", LEASE))

    found = []
    for _ in range(4):
        found.append(beat(database, watcher))
        steady.passes(3.4)

    assert found == [[], [], [], ["b.0"]]


def test_who_beats_in_time_is_never_dead(database: Database, steady: Steady) -> None:
    one, other = Executors("a.0", LEASE), Executors("b.0", LEASE)

    for _ in range(20):
        assert beat(database, one) == beat(database, other) == []
        steady.passes(3.4)


@pytest.mark.parametrize("days", [1, -1])
def test_clocks_that_are_wrong_kill_nobody(database: Database, steady: Steady, days: int) -> None:
    one, other = Executors("a.0", LEASE), Executors("b.0", LEASE)
    for turn in range(10):
        with time_machine.travel(datetime.now(UTC) + timedelta(days=days * (turn % 2)), tick=False):
            assert beat(database, one) == []
        assert beat(database, other) == []
        steady.passes(3.4)


def test_who_did_not_look_itself_for_a_lease_gives_everybody_another_one(database: Database, steady: Steady) -> None:
    """The machine slept, or the database was away: then nobody could beat."""
    watcher = Executors("a.0", LEASE)
    beat(database, Executors("b.0", LEASE))
    beat(database, watcher)
    steady.passes(3_600)

    assert beat(database, watcher) == []
    for _ in range(2):
        steady.passes(3.4)
        assert beat(database, watcher) == []
    steady.passes(3.4)
    assert beat(database, watcher) == ["b.0"]


def test_who_was_found_dead_and_beats_again_is_left_alone(database: Database, steady: Steady) -> None:
    watcher, sleeper = Executors("a.0", LEASE), Executors("b.0", LEASE)
    beat(database, sleeper)
    dead: list[Dead] = []
    while not dead:
        with database.transaction() as tx:
            dead = watcher.beat(tx)
        steady.passes(3.4)
    beat(database, sleeper)

    with database.transaction() as tx:
        bury(tx, dead[0])

    assert known(database) == ["a.0", "b.0"]
    assert beat(database, watcher) == []


def test_who_is_buried_is_forgotten_and_may_come_back(database: Database, steady: Steady) -> None:
    watcher, other = Executors("a.0", LEASE), Executors("b.0", LEASE)
    beat(database, other)
    with database.transaction() as tx:
        bury(tx, Dead("b.0", 1))
    assert known(database) == []
    beat(database, watcher)

    beat(database, other)

    assert known(database) == ["a.0", "b.0"]
    assert beat(database, watcher) == []


# ---- names -----------------------------------------------------------------------------------------------------------


def test_every_process_of_a_folder_has_a_name_of_its_own(tmp_path: Path) -> None:
    with ExitStack() as stack:
        names = [stack.enter_context(claimed_name(tmp_path / "executors", "home")) for _ in range(5)]

    assert names == [f"home.{number}" for number in range(5)]


def test_the_name_of_one_that_is_gone_is_the_next_ones(tmp_path: Path) -> None:
    with claimed_name(tmp_path / "executors", "home"):
        with claimed_name(tmp_path / "executors", "home") as second:
            assert second == "home.1"
        with claimed_name(tmp_path / "executors", "home") as again:
            assert again == "home.1"


def test_a_killed_process_leaves_its_name_to_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "executors"
    claim = "import sys, pathlib; from gemba.flows.executors import claimed_name\n"
    claim += "with claimed_name(pathlib.Path(sys.argv[1]), 'home') as name: print(name, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", claim, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "home.0\n"
        with claimed_name(folder, "home") as meanwhile:
            assert meanwhile == "home.1"
        process.kill()

    with claimed_name(folder, "home") as name:
        assert name == "home.0"


def test_the_folder_of_names_is_private(tmp_path: Path) -> None:
    with claimed_name(tmp_path / "executors", "home"):
        assert (tmp_path / "executors").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "executors" / "0.lock").stat().st_mode & 0o777 == 0o600
