"""One database, two dialects: SQLite in `.gemba/` (WAL, synchronous FULL, one writer) or PostgreSQL (psycopg 3).

`read()` gives a connection that sees one state and can change nothing; `transaction()` gives the only way to change
anything: what it changes and the events it emits commit together or not at all. Commits are announced to `on_commit`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
import structlog
from sqlalchemy import (
    JSON,
    Connection,
    Engine,
    Insert,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.dml import ReturningInsert

from gemba import clock
from gemba.errors import GembaError, Invalid, Unusable
from gemba.event import Draft, Event
from gemba.operators import OPERATOR
from gemba.store import events, open_files

_BUSY_SECONDS = 30
_CLOSING_SECONDS = 2.0
_LOOK_SECONDS = 0.01
_BULK = 5_000  # rows of one statement, where there are very many
_KEPT_CONNECTIONS = 16  # to PostgreSQL, once they were needed: to make one takes longer than what it is made for
_REST_SECONDS = 1.0
_USED = "gemba_used"  # when a connection was given back
_WRITES = "gemba_writes"  # whether a connection is set up to change anything
_MANY = 10  # rows that are worth a statement of their own kind
_DEADLOCK, _DEADLOCKS = "40P01", 3  # the state that PostgreSQL gives it, and how many are borne
_NUL = re.compile(r"cannot contain NUL")

# A database that is gone, locked or full, or has no connection left: it may do the same thing later.
REFUSALS = (DBAPIError, NoConnectionLeft)
# What a PostgreSQL URL says itself goes before. A server whose network went away is noticed within these.
_PATIENCE = {"connect_timeout": "10", "tcp_user_timeout": "30000", "keepalives_idle": "30"}
# Errors are logged, and what agents and operators wrote must not be: no statement's values in their text.
_QUIET: dict[str, Any] = {"hide_parameters": True}
_SQLITE: dict[str, Any] = {"check_same_thread": False, "timeout": _BUSY_SECONDS}
_ONE_STATE: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

_encode = msgspec.json.Encoder().encode

T = TypeVar("T")

log = structlog.get_logger("gemba.store")


class Transaction:
    """An open transaction: one connection, one moment, and the events it will leave behind.

    Events are appended when the transaction ends, after every state change, so that the event sequence is the last
    thing that concurrent writers wait for and no two of them can wait for each other.
    """

    def __init__(
        self, connection: Connection, actor: str = OPERATOR, surroundings: Mapping[str, Any] | None = None
    ) -> None:
        self.connection = connection
        self.actor = actor  # the person on whose behalf it changes something, when there is one
        self.cause: object = None  # what it follows from, where that is not a request of that person's own
        self.surroundings = surroundings or {}  # what the workspace that is open gives to every transaction
        self.now = clock.now()
        self.drafts: list[Draft] = []
        self.at_end: list[Callable[[], None]] = []  # run before the events are appended, in the same transaction
        self.committed: list[Callable[[], None]] = []  # run once it is committed; a crash in between skips them
        self.if_refused: list[Callable[[Transaction], None]] = []  # what a refusal leaves behind: see `refuse`

    def emit(self, draft: Draft) -> None:
        self.drafts.append(draft)

    def refuse(self, error: GembaError, leave: Callable[[Transaction], None]) -> NoReturn:
        """Raise, and have something done although all else is undone: in a transaction that follows, or at the end of
        this one when only a part of it is refused. A crash in between leaves nothing, and nobody was answered yet."""
        self.if_refused.append(leave)
        raise error

    @contextmanager
    def part(self) -> Iterator[None]:
        """Something that may fail alone: what it changed, told and put off is undone with it, and the rest stands."""
        put_off: tuple[list[Any], ...] = (self.drafts, self.at_end, self.committed)
        lengths = [len(each) for each in put_off]
        try:
            with self.connection.begin_nested():
                yield
        except BaseException:
            for each, length in zip(put_off, lengths, strict=True):
                del each[length:]
            raise

    def insert_new(self, table: Table, rows: Sequence[dict[str, Any]], key: str) -> set[Any]:
        """Insert the rows whose key is not there yet, and say which keys those were."""
        if not rows:
            return set()
        dialect, values = self.connection.dialect.name, list(rows)
        if len(rows) >= _MANY and dialect == "postgresql":
            # The driver reads a statement as slowly as it is long, and one with a thousand rows in it is long.
            values = [{"rows": _encode(rows).decode()}]
            statement = _insert_new(dialect, table, key, tuple(rows[0]))
        else:
            statement = _insert_new(dialect, table, key)
        return set(self.connection.execute(statement, values if len(values) > 1 else values[0]).scalars())

    def insert_many(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert new rows, thousands a second: all have the same columns, with values as the driver takes them."""
        dialect = self.connection.dialect.name
        for start in range(0, len(rows), _BULK):
            part = rows[start : start + _BULK]
            if dialect == "postgresql":
                self.connection.execute(_insert_json(table, tuple(part[0])), {"rows": _encode(part).decode()})
            else:
                # As the driver's own words: to bind a row's values by name takes longer than to insert it.
                self.connection.exec_driver_sql(
                    _insert_plain(table, tuple(part[0])), [(*row.values(),) for row in part]
                )

    def put(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert the rows, each whole, in the place of those that have their primary keys."""
        if rows:
            self.connection.execute(_put(self.connection.dialect.name, table, tuple(rows[0])), list(rows))

    def add(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Add the rows' numbers to those of the rows that have their primary keys; where there are none, they begin."""
        if rows:
            self.connection.execute(_add(self.connection.dialect.name, table, tuple(rows[0])), list(rows))


# To make a statement takes longer than to run it, and frames come one by one.


@cache
def _insert_new(dialect: str, table: Table, key: str, as_json: tuple[str, ...] = ()) -> ReturningInsert[Any]:
    statement = _insert(dialect, table)
    if as_json:
        statement = statement.from_select(as_json, _rows_of_json(table, as_json))
    return statement.on_conflict_do_nothing(index_elements=[key]).returning(table.c[key])


@cache
def _insert_json(table: Table, names: tuple[str, ...]) -> Insert:
    return postgresql.insert(table).from_select(names, _rows_of_json(table, names))


@cache
def _insert_plain(table: Table, names: tuple[str, ...]) -> str:
    columns = ", ".join(f'"{table.c[name].name}"' for name in names)
    return f'INSERT INTO "{table.name}" ({columns}) VALUES ({", ".join("?" * len(names))})'  # noqa: S608 - our own names


@cache
def _put(dialect: str, table: Table, names: tuple[str, ...]) -> Insert:
    statement = _insert(dialect, table)
    keys = table.primary_key.columns.keys()
    changed = {name: statement.excluded[name] for name in names if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


@cache
def _add(dialect: str, table: Table, names: tuple[str, ...]) -> Insert:
    statement = _insert(dialect, table)
    keys = table.primary_key.columns.keys()
    changed = {name: table.c[name] + statement.excluded[name] for name in names if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


def _insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _rows_of_json(table: Table, names: Sequence[str]) -> Select[Any]:
    """Rows of the named columns out of one parameter, `rows`, a JSON array of objects. PostgreSQL only."""
    document = cast(bindparam("rows", type_=Text), JSON)
    columns = (column(name, table.c[name].type) for name in names)
    return select(func.json_to_recordset(document).table_valued(*columns, name="given").render_derived(with_types=True))


class Database:
    """A pool of connections and the rule that SQLite has one writer."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.on_commit: list[Callable[[Sequence[Event]], None]] = []  # told of what was committed, in any thread
        self.name = secrets.token_hex(8)  # by which others tell its commits from their own
        self.surroundings: dict[str, Any] = {}
        self._one_writer = threading.Lock() if self.is_sqlite else None
        # SQLite's readers see one state anyway.
        self._reading: dict[str, Any] = {} if self.is_sqlite else _ONE_STATE

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.engine.connect().execution_options(**self._reading) as connection, connection.begin():
            yield connection

    @contextmanager
    def transaction(self, actor: str = OPERATOR) -> Iterator[Transaction]:
        if self._one_writer is None:
            yield from self._write(actor)
        else:
            with self._one_writer:
                yield from self._write(actor)

    def change(self, verb: Callable[[Transaction], T], actor: str = OPERATOR) -> T:
        """One transaction, begun again where PostgreSQL ended it for the sake of another that waited for it."""
        for _ in range(_DEADLOCKS):
            try:
                with self.transaction(actor) as tx:
                    return verb(tx)
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != _DEADLOCK:
                    raise
        with self.transaction(actor) as tx:
            return verb(tx)

    def _write(self, actor: str) -> Iterator[Transaction]:
        left: list[Callable[[Transaction], None]] = []
        try:
            yield from self._write_once(actor, left)
        except GembaError:
            if left:
                with contextmanager(self._write_once)(actor, []) as tx:
                    for leave in left:
                        leave(tx)
            raise

    def _write_once(self, actor: str, left: list[Callable[[Transaction], None]]) -> Iterator[Transaction]:
        """One transaction; what a refusal leaves behind goes into `left` when all of it is refused."""
        with self.engine.connect().execution_options(gemba_writes=True) as connection, connection.begin():
            transaction = Transaction(connection, actor, self.surroundings)
            transaction.if_refused = left
            yield transaction
            for leave in transaction.if_refused:
                leave(transaction)
            for finish in transaction.at_end:
                finish()
            told = events.append(connection, transaction.now, transaction.drafts, self.name)
        for remember in transaction.committed:
            try:
                remember()
            except Exception:
                log.exception("something that follows a commit failed")  # the change itself stands
        if told:
            for tell in self.on_commit:
                tell(told)

    def engine_beside(self, file: Path) -> Engine:
        """An engine for a library that keeps tables of its own: a second SQLite file, or the same PostgreSQL server."""
        if not self.is_sqlite:
            return _pooled_engine(self.engine.url)
        _make_private(str(file))
        engine = create_engine(URL.create("sqlite", database=str(file)), connect_args=_SQLITE, **_QUIET)

        @event.listens_for(engine, "connect")
        def set_up(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
            connection.isolation_level = "IMMEDIATE"
            _set_pragmas(connection)

        return engine

    def close(self) -> None:
        dispose(self.engine)


def dispose(engine: Engine) -> None:
    """Close every connection, after a moment for the threads that are in the middle of something with one."""
    deadline = time.monotonic() + _CLOSING_SECONDS
    while engine.pool.checkedout() and time.monotonic() < deadline:  # type: ignore[attr-defined]  # a QueuePool
        time.sleep(_LOOK_SECONDS)
    engine.dispose()


def connect(url: str) -> Database:
    """A database by URL, its pool set up and nothing touched yet."""
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        return Database(_sqlite_engine(parsed))
    if importlib.util.find_spec("psycopg") is None:
        raise Unusable("PostgreSQL needs the package psycopg: install gemba[postgres]", code="database_driver")
    return Database(_postgresql_engine(parsed))


def parse_url(url: str) -> URL:
    """The URL with the driver we use; another database is refused. The URL is never shown: it may hold a password."""
    if url.startswith("sqlite:///"):  # all of the rest is a path, which may well hold what would be a query in a URL
        return URL.create("sqlite", database=url.removeprefix("sqlite:///"))
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise Unusable("the database URL cannot be read", code="database_url") from None
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg", query={**_PATIENCE, **parsed.query})
    if backend == "sqlite":
        return parsed.set(drivername="sqlite")
    raise Unusable(f"the database is {backend}; sqlite and postgresql are supported", code="database_url")


def reason_of(refusal: SQLAlchemyError) -> str:
    """In the driver's words, without the URL and the statement."""
    return str(refusal.orig if isinstance(refusal, DBAPIError) else refusal).strip()


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn a driver's error into one line for a person, without the URL and the statement."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()
        raise Unusable(f"{what}: {reason[0] if reason else error.__class__.__name__}", code="database") from error


def _pooled_engine(url: URL) -> Engine:
    """Connections to PostgreSQL: the one that was used last is used next, and knows the statements already."""
    # No limit of its own: the number of threads is one already, and a thread that finds no connection would fail.
    engine = create_engine(url, pool_size=_KEPT_CONNECTIONS, max_overflow=-1, pool_use_lifo=True, **_QUIET)

    @event.listens_for(engine, "checkin")
    def note(_connection: object, entry: ConnectionPoolEntry) -> None:
        entry.info[_USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, entry: ConnectionPoolEntry, _out: object) -> None:
        """One that has rested may be of a server that is gone. To ask each time would take as long as a small query."""
        if time.monotonic() - entry.info.get(_USED, math.inf) > _REST_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error:
                raise DisconnectionError from None

    return engine


def _postgresql_engine(url: URL) -> Engine:
    engine = _pooled_engine(url)

    @event.listens_for(engine, "handle_error")
    def explain(context: ExceptionContext) -> None:
        """What is kept is cleaned before; what is looked for may be anything, and the driver refuses to send a NUL."""
        if _NUL.search(str(context.original_exception)):
            words = "a text has a NUL, which no text may have"
            raise Invalid(words, code="invalid_value", found="NUL", allowed="text without it") from None

    return engine


def _sqlite_engine(url: URL) -> Engine:
    if url.database not in (None, "", ":memory:"):
        _make_private(url.database)
    engine = create_engine(url, connect_args=_SQLITE, **_QUIET)

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        # The driver's own transactions would begin deferred and late; ours begin where we say.
        connection.isolation_level = None
        _set_pragmas(connection)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("gemba_writes", False)
        known = connection.connection.info
        if known.get(_WRITES) is not writes:  # of the connection itself, which keeps it
            connection.exec_driver_sql(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
            known[_WRITES] = writes
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_private(file: str) -> None:
    """What agents ask is for this user's eyes; the journals take the file's mode. One that is there is not opened: it
    may be a database of this process already, see `open_files`."""
    open_files.note(file)
    with contextlib.suppress(OSError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _set_pragmas(connection: sqlite3.Connection) -> None:
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Wait for whoever switches a new file at this moment: SQLite itself does not, whatever its timeout is."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_SECONDS)
