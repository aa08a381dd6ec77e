"""Opening a database: made, brought up to date after a copy, or refused untouched."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

import gemba.app  # noqa: F401 - every slice's tables
from gemba.errors import Unusable
from gemba.store import migrate
from gemba.store.database import Database, connect
from gemba.store.migrate import open_database
from gemba.store.schema import metadata
from tests.fixtures.servers import BIN

NEXT = """
from alembic import op
import sqlalchemy as sa

revision = "{revision}"
down_revision = "{down_revision}"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("{column}", sa.Text))
    op.execute("update counters set value = value + 1 where name = 'events'")
    {more}
"""


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program's migrations in a folder where a test may add the next ones."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate._FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrate, "_FOLDER", folder)
    return folder / "versions"


def add_next(versions: Path, more: str = "") -> str:
    """One more migration than there are; its number."""
    last = migrate.head()
    revision = f"{int(last) + 1:04}"
    source = NEXT.format(revision=revision, down_revision=last, column=f"extra_{revision}", more=more)
    (versions / f"{revision}_next.py").write_text(source)
    return revision


def revision_of(database: Database) -> str | None:
    with database.read() as connection:
        found: str | None = connection.execute(text("select version_num from alembic_version")).scalar()
        return found


def columns(database: Database) -> set[str]:
    with database.read() as connection:
        return {column["name"] for column in inspect(connection).get_columns("sessions")}


def count_up(database: Database) -> None:
    with database.transaction() as tx:
        tx.connection.execute(text("update counters set value = 41 where name = 'events'"))


def counted(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(text("select value from counters where name = 'events'")).scalar_one())


def digest(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.is_file()}


# ---- made ------------------------------------------------------------------------------------------------------------


def test_what_migrations_make_is_what_the_tables_say(database_url: str) -> None:
    with closing(open_database(database_url)) as database, database.read() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_described})
        assert compare_metadata(context, metadata) == []


def is_described(name: str | None, kind: str, _parents: object) -> bool:
    """The search index is of a kind that tables cannot describe, and brings tables of its own on SQLite."""
    return kind != "table" or not (name or "").startswith("escalation_search")


def test_an_empty_database_is_made_and_needs_no_copy(database_url: str, tmp_path: Path) -> None:
    with closing(open_database(database_url, tmp_path / "backups")) as database:
        assert revision_of(database) == migrate.head()
        assert set(metadata.tables) < set(inspect(database.engine).get_table_names())
    assert not (tmp_path / "backups").exists()


def test_a_database_that_is_up_to_date_is_opened_as_it_is(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_database(database_url)) as database:
        count_up(database)
    monkeypatch.delattr(migrate, "_upgrade")

    with closing(open_database(database_url, tmp_path / "backups")) as database:
        assert counted(database) == 41
    assert not (tmp_path / "backups").exists()


def test_opening_what_is_up_to_date_does_not_load_the_migrations(sqlite_url: str) -> None:
    """Every command pays for it."""
    open_database(sqlite_url).close()
    source = (
        "import sys; from gemba.store.migrate import open_database; "
        f"open_database({sqlite_url!r}).close(); sys.exit('alembic' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", source]).returncode == 0


def test_processes_that_open_a_new_database_at_once_make_it_once(database_url: str, tmp_path: Path) -> None:
    source = (
        "import sys; from pathlib import Path; from gemba.store.migrate import open_database\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        f"open_database({database_url!r}, Path({str(tmp_path / 'backups')!r})).close()\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    results = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=60)
        results.append((process.returncode, errors))

    assert results == [(0, b"")] * 3
    with closing(open_database(database_url)) as database:
        assert revision_of(database) == migrate.head()


# ---- brought up to date ----------------------------------------------------------------------------------------------


def test_an_older_database_is_brought_up_to_date(database_url: str, versions: Path) -> None:
    with closing(open_database(database_url)) as database:
        count_up(database)
    first, second = add_next(versions), add_next(versions)

    with closing(open_database(database_url)) as database:
        assert revision_of(database) == second
        assert {f"extra_{first}", f"extra_{second}"} <= columns(database)
        assert counted(database) == 43


def test_a_copy_is_made_before_an_older_sqlite_file_is_changed(sqlite_url: str, versions: Path, tmp_path: Path) -> None:
    before = migrate.head()
    held = open_database(sqlite_url)
    count_up(held)  # in the journal, not yet in the file itself
    revision = add_next(versions)

    open_database(sqlite_url, tmp_path / "backups").close()

    held.close()
    (copy,) = (tmp_path / "backups").iterdir()
    assert copy.name.startswith(f"gemba-{before}-")
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("select version_num from alembic_version").fetchone() == (before,)
        assert connection.execute("select value from counters where name = 'events'").fetchone() == (41,)
    with closing(open_database(sqlite_url)) as database:
        assert (revision_of(database), counted(database)) == (revision, 42)


def test_the_newest_five_copies_are_kept(sqlite_url: str, versions: Path, tmp_path: Path) -> None:
    open_database(sqlite_url).close()
    made = [migrate.head()]
    for _ in range(7):
        made.append(add_next(versions))
        open_database(sqlite_url, tmp_path / "backups").close()

    kept = sorted(file.name.split("-")[1] for file in (tmp_path / "backups").iterdir())
    assert kept == made[2:7]


def test_without_a_copy_nothing_is_changed(sqlite_url: str, versions: Path, tmp_path: Path) -> None:
    open_database(sqlite_url).close()
    add_next(versions)
    (tmp_path / "backups").write_text("a file where the folder should be")
    before = digest(tmp_path)

    with pytest.raises(Unusable, match="it was not begun"):
        open_database(sqlite_url, tmp_path / "backups")

    assert digest(tmp_path) == before


def test_a_migration_that_fails_leaves_everything_as_it_was(database_url: str, versions: Path) -> None:
    with closing(open_database(database_url)) as database:
        before = revision_of(database)
        count_up(database)
    add_next(versions)
    add_next(versions, more="raise ValueError('this one does not work')")

    with pytest.raises(ValueError, match="does not work"):
        open_database(database_url)

    with closing(connect(database_url)) as database:
        assert (revision_of(database), counted(database)) == (before, 41)
        assert not [name for name in columns(database) if name.startswith("extra_")]


# ---- refused ---------------------------------------------------------------------------------------------------------


def test_a_newer_database_is_refused(database_url: str, versions: Path) -> None:
    newer = add_next(versions)
    open_database(database_url).close()
    (versions / f"{newer}_next.py").unlink()

    with pytest.raises(Unusable, match="newer Gemba") as raised:
        open_database(database_url)

    assert (raised.value.code, raised.value.found, raised.value.allowed) == ("database_newer", newer, migrate.head())
    with closing(connect(database_url)) as database:
        assert revision_of(database) == newer


def test_a_newer_sqlite_file_is_not_touched(sqlite_url: str, versions: Path, tmp_path: Path) -> None:
    newer = add_next(versions)
    open_database(sqlite_url).close()
    (versions / f"{newer}_next.py").unlink()
    before = digest(tmp_path)

    with pytest.raises(Unusable, match="newer Gemba"):
        open_database(sqlite_url, tmp_path / "backups")

    assert digest(tmp_path) == before


def test_a_file_that_is_no_database_is_refused_in_one_line_and_not_touched(workspace: Path, home: Path) -> None:
    file = workspace / ".gemba" / "gemba.db"
    file.write_bytes(b"dear diary, " * 1000)

    for command in (["serve", "--port", "0"], ["inbox"]):
        failed = subprocess.run([BIN / "gemba", *command], cwd=workspace, capture_output=True, text=True, timeout=60)
        assert failed.returncode == 1
        assert len(failed.stderr.splitlines()) == 1
        assert "gemba.db" in failed.stderr
        assert "not a database" in failed.stderr
    assert file.read_bytes() == b"dear diary, " * 1000
    for copies, hint in ((), "nothing to restore in"), (("0009.db",), "backups/0009.db is the newest copy"):
        (workspace / ".gemba/backups").mkdir(exist_ok=True)
        for name in copies:
            (workspace / ".gemba/backups" / name).write_bytes(b"a copy")
        doctor = subprocess.run([BIN / "gemba", "doctor"], cwd=workspace, capture_output=True, text=True, timeout=60)
        assert hint in doctor.stdout
        assert "docs/how-to/back-up.md" in doctor.stdout


def test_a_folder_in_the_place_of_the_database_is_called_one(workspace: Path, home: Path) -> None:
    (workspace / ".gemba/gemba.db").mkdir()

    failed = subprocess.run([BIN / "gemba", "inbox"], cwd=workspace, capture_output=True, text=True, timeout=60)

    assert failed.stderr == f"gemba: {workspace}/.gemba/gemba.db is a folder; allowed: a file, which Gemba makes\n"


def test_a_database_that_cannot_be_reached_is_told_in_one_line_without_its_password(
    workspace: Path, home: Path
) -> None:
    failed = subprocess.run(
        [BIN / "gemba", "inbox"],
        cwd=workspace,
        env={"GEMBA_DATABASE_URL": "postgresql://user:secret@127.0.0.1:1/db", "GEMBA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (failed.returncode, len(failed.stderr.splitlines())) == (1, 1), failed.stderr
    assert "cannot be opened" in failed.stderr
    assert "secret" not in failed.stderr
