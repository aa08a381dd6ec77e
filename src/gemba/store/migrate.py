"""Bring a database up to this program's schema: at start, in one transaction, after a copy of the SQLite file.

A database that a newer program has changed is refused and not touched. Revisions are numbered files, so the
usual case (nothing to do) reads one row and does not load Alembic.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from gemba import clock
from gemba.errors import Unusable
from gemba.store.database import Database, connect, explained, parse_url

_FOLDER = Path(__file__).parent / "migrations"
_BACKUPS_KEPT = 5
_LONGEST_PATH = 504  # bytes of a file that SQLite opens, which adds eight for its journal
_LOCK = 0x67656D62  # "gemb": one migrating program at a time on PostgreSQL


def open_database(url: str, backups: Path | None = None) -> Database:
    """Connect, refuse what is newer than us, migrate what is older."""
    parsed = parse_url(url)
    is_file = parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:")
    file = Path(parsed.database or "").absolute() if is_file else None
    if file is not None and len(os.fsencode(file)) > _LONGEST_PATH:
        raise Unusable(
            f"the path of the database has {len(os.fsencode(file))} bytes and SQLite takes {_LONGEST_PATH}: {file}; "
            "move the workspace, or name a PostgreSQL database in its settings",
            code="database_path",
        )
    if file is not None and file.is_dir():
        raise Unusable(f"{file} is a folder; allowed: a file, which Gemba makes", code="database_path")
    found = _revision_of_file(file) if file is not None and file.exists() else None
    if found is not None:
        _refuse_newer(found)
        if found != head() and backups is not None and file is not None:
            _back_up(file, found, backups)
    database = connect(url)
    try:
        with explained(f"{file or 'the database'} cannot be opened"):
            _migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def head() -> str:
    return revisions()[-1]


def revisions() -> list[str]:
    return sorted(path.name.partition("_")[0] for path in (_FOLDER / "versions").glob("[0-9]*_*.py"))


def _migrate(database: Database) -> None:
    with database.read() as connection:
        found = _revision(connection)
    if found == head():
        return
    _refuse_newer(found)
    with database.transaction() as tx:
        if not database.is_sqlite:
            tx.connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if _revision(tx.connection) != head():
            _upgrade(tx.connection)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow to import, and rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _refuse_newer(found: str | None) -> None:
    if found is not None and found not in revisions():
        raise Unusable(
            f"the database has schema {found}, made by a newer Gemba; this one knows {head()} and has not "
            "touched it: use the newer program",
            code="database_newer",
            found=found,
            allowed=head(),
        )


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("select version_num from alembic_version")).scalar()
    return found


def _revision_of_file(file: Path) -> str | None:
    """Read without a lock, a journal or a changed byte: the file may be of a newer program."""
    try:
        if not Path(f"{file}-wal").exists():
            # Nobody has it open. Should somebody open it right now, the reading fails and is done again with locks.
            with suppress(sqlite3.Error), _open_to_read(file, "&immutable=1") as connection:
                return _revision_in(connection)
        with _open_to_read(file) as connection:
            return _revision_in(connection)
    except sqlite3.Error as error:
        raise Unusable(f"{file}: {error}", code="database") from None


def _open_to_read(file: Path, more: str = "") -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro{more}", uri=True))


def _revision_in(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute("select count(*) from sqlite_master where name = 'alembic_version'")
    if not tables.fetchone()[0]:
        return None
    row = connection.execute("select version_num from alembic_version").fetchone()
    return str(row[0]) if row else None


def _back_up(file: Path, revision: str, backups: Path) -> None:
    """A whole copy under a name of its own, complete or absent; the oldest copies give way."""
    target = backups / f"{file.stem}-{revision}-{clock.rfc3339(clock.now()).replace(':', '')}.db"
    partial = target.with_suffix(".partial")
    try:
        backups.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        with _open_to_read(file) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        partial.replace(target)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise Unusable(
            f"no copy could be made before the migration, so it was not begun: {error}", code="backup"
        ) from None
    for old in sorted(backups.glob(f"{file.stem}-*.db"), key=os.path.getmtime)[:-_BACKUPS_KEPT]:
        old.unlink(missing_ok=True)
