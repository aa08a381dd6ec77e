"""A snapshot of a folder in which a database of this process lies leaves that database its locks."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from gemba.handoff.snapshot import take_snapshot
from gemba.store.database import Database, connect

# Another process that wants to write and does not wait.
_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    connection.execute("begin immediate")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (made := tmp_path / "folder").mkdir()
    return made


@pytest.fixture
def database(folder: Path) -> Iterator[Database]:
    with closing(connect(f"sqlite:///{folder / 'gemba.db'}")) as opened:
        with opened.engine.connect().execution_options(gemba_writes=True) as connection, connection.begin():
            connection.execute(text("create table counters (name text primary key, value integer)"))
        yield opened


def told_to_another(file: Path) -> str:
    done = subprocess.run([sys.executable, "-c", _WRITER, file], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_snapshot_does_not_let_another_process_write_in_the_middle_of_a_transaction(
    folder: Path, database: Database
) -> None:
    (folder / "notes.txt").write_text("one\n")
    (folder / "linked.txt").hardlink_to(folder / "gemba.db")
    with database.engine.connect().execution_options(gemba_writes=True) as connection, connection.begin():
        connection.execute(text("insert into counters values ('one', 1)"))
        assert told_to_another(folder / "gemba.db") == "database is locked"

        found = take_snapshot(folder).files

        assert told_to_another(folder / "gemba.db") == "database is locked"
    states = {name: None if state is None else state.sha256 is not None for name, state in found.items()}
    assert states == {
        "notes.txt": True,
        "gemba.db": False,
        "gemba.db-wal": False,
        "gemba.db-shm": False,
        "linked.txt": False,
    }


def test_a_database_that_is_opened_twice_in_a_process_keeps_the_locks_of_the_first(
    folder: Path, database: Database
) -> None:
    with database.engine.connect().execution_options(gemba_writes=True) as connection, connection.begin():
        connection.execute(text("insert into counters values ('one', 1)"))

        with closing(connect(f"sqlite:///{folder / 'gemba.db'}")):
            assert told_to_another(folder / "gemba.db") == "database is locked"

    with closing(sqlite3.connect(folder / "gemba.db")) as later:
        assert later.execute("select value from counters").fetchall() == [(1,)]
