"""Starting and ending the engine (DBOS) in this process: our settings for it, and what its own tables need.

One process at a time launches it, under a lock: it makes its tables step by step, and one that is killed in the middle
leaves a file that no other can use. Such a file, or a broken one, is put aside and a new one begun: what is wanted is
known without it (`wanted.py`).
"""

from __future__ import annotations

import fcntl
import os
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import structlog
from dbos import DBOS, DBOSConfig
from dbos._error import DBOSException
from dbos._serialization import DBOSPortableJSON, DefaultSerializer
from dbos._sys_db import SystemDatabase
from sqlalchemy import Engine as Connections
from sqlalchemy.exc import DatabaseError, OperationalError, SQLAlchemyError

from gemba import clock
from gemba.store.database import REFUSALS, Database, dispose, reason_of
from gemba.threads import THREADS

# Changed only when runs of before could not be carried on by the program of now.
_VERSION = "1"
_SCHEMA = "gemba_flows"
_POLL_SECONDS = 1.0
_NEVER_SECONDS = 3_600.0
# What a step of making the tables says that was made already, by one that did not come to its end.
_HALF_MADE = ("already exists", "duplicate column name")

# What the engine raises when its database does not let it.
ENGINE_REFUSALS = (*REFUSALS, DBOSException)

FlowFunction = Callable[..., Coroutine[Any, Any, None]]

log = structlog.get_logger("gemba.flows")

_ending: threading.Thread | None = None  # the engine that was there before in this process


class NotNow(Exception):
    """The engine cannot be launched as things are; the reason."""


class Launched:
    """An engine that runs, and the one workflow that it knows; as a context manager it ends the engine."""

    def __init__(self, connections: Connections, workflow: FlowFunction) -> None:
        self._connections = connections
        self.workflow = workflow

    def __enter__(self) -> Launched:
        return self

    def __exit__(self, *_error: object) -> None:
        global _ending
        # Its threads look only now and then whether they should end: nobody waits for them but the next engine.
        _ending = threading.Thread(target=_end, args=(self._connections,), name="flows end", daemon=True)
        _ending.start()


def launch(database: Database, beside: Path, executor: str, run: FlowFunction) -> Launched:
    """An engine under this executor's name; NotNow when its database refuses, or another process launches one."""
    if _ending is not None:
        _ending.join()
    with _alone(beside):
        if database.is_sqlite:
            _put_aside_if_broken(database, beside)
        connections = database.engine_beside(beside)
        try:
            return Launched(connections, _start(connections, executor, run))
        except ENGINE_REFUSALS as error:
            _end(connections)
            reason = reason_of_engine(error)
            if database.is_sqlite and any(words in reason for words in _HALF_MADE):
                _put_aside(beside, reason)
            raise NotNow(reason) from error


def reason_of_engine(refusal: SQLAlchemyError | DBOSException) -> str:
    return str(refusal) if isinstance(refusal, DBOSException) else reason_of(refusal)


def _start(connections: Connections, executor: str, run: FlowFunction) -> FlowFunction:
    DefaultSerializer.deserialize = _refuse_pickled  # type: ignore[method-assign, assignment]
    # One that the engine takes up while it ends stays open for the next engine, and is nothing to warn anybody of.
    warnings.filterwarnings("ignore", "coroutine 'execute_dequeued_workflow", RuntimeWarning)
    config: DBOSConfig = {
        "name": "gemba",
        "system_database_url": connections.url.render_as_string(hide_password=False),
        "system_database_engine": connections,
        "dbos_system_schema": _SCHEMA,
        "application_version": _VERSION,
        "executor_id": executor,
        "serializer": DBOSPortableJSON,
        "notification_listener_polling_interval_sec": _POLL_SECONDS,
        "use_listen_notify": False,
        "max_executor_threads": THREADS,  # which are then those of the whole event loop
        "scheduler_polling_interval_sec": _NEVER_SECONDS,
        "log_level": "CRITICAL",  # what goes wrong reaches us as an error, and is told in our words
    }
    instance = DBOS(config=config)

    async def flow(name: str, id: str, number: int, args: dict[str, Any]) -> None:
        await run(name, id, number, args)

    # A wait of weeks may see any number of restarts: no limit makes it the last one.
    workflow = DBOS.workflow(name="flow", max_recovery_attempts=None)(flow)
    DBOS.launch()
    _calm(instance._sys_db)
    return workflow


def _calm(system: SystemDatabase) -> None:
    # What the database refuses is tried again by us: the engine would wait in a thread that nothing can end.
    system._retry_connection_errors = False
    # No flow of ours is delayed, has a deadline or a queue of its own: each second's look for them finds nothing.
    system.transition_delayed_workflows = lambda: None  # type: ignore[method-assign]
    system.cancel_timed_out_workflows = lambda limit: []  # type: ignore[method-assign]
    system.list_queues = lambda **_owner: []  # type: ignore[method-assign]


def _end(connections: Connections) -> None:
    DBOS.destroy(destroy_registry=True)
    # It does not wait for its workers: what one of them is still in the middle of has a connection out.
    dispose(connections)


@contextmanager
def _alone(beside: Path) -> Iterator[None]:
    file = os.open(beside.with_name("flows.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise NotNow("another process is starting to run flows") from None
    try:
        yield
    finally:
        os.close(file)


def _put_aside_if_broken(database: Database, file: Path) -> None:
    """One that is locked, or full, is not broken."""
    connections = database.engine_beside(file)
    try:
        with connections.connect() as connection:
            (found,) = connection.exec_driver_sql("PRAGMA quick_check(1)").one()
        trouble = None if found == "ok" else str(found)
    except OperationalError:
        trouble = None
    except DatabaseError as error:
        trouble = reason_of(error)
    finally:
        connections.dispose()
    if trouble is not None:
        _put_aside(file, trouble)


def _put_aside(file: Path, reason: str) -> None:
    """Nothing is deleted; the journal belongs to the file and goes with it."""
    aside = file.with_name(f"{file.name}.unreadable-{clock.now()}")
    for end in ("", "-wal", "-shm"):
        part = file.with_name(file.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
    log.warning("the record of the flows was unreadable and begins anew", reason=reason, kept_as=str(aside))


def _refuse_pickled(_serializer: DefaultSerializer, _data: str) -> NoReturn:
    """Whoever can write the database would otherwise run code here."""
    raise ValueError("a row of the flows is pickled: refused")
