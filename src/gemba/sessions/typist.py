"""Types to the agents of one home and workspace what is written down for them (`inputs`), in order, several at a time.

What is about to be typed is marked first, so that a kill in between never has it typed twice; what was typed is written
down together with the next marks, one transaction for as many as there are. Nothing here waits for the start or the
stop of a session, nor for an agent that cannot be reached: the others go on. Blocking, one call at a time: called by
`app.py` in a thread of its own, and by commands without a server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import structlog
from sqlalchemy import Row

from gemba.errors import GembaError
from gemba.event import Draft
from gemba.sessions import dialog_keys, inputs
from gemba.sessions.backends.backend import Backend, RunFolder
from gemba.sessions.inputs import InputState
from gemba.store.database import Database, Transaction

_AT_ONCE = 16
_PATIENCE = 0.2  # seconds for an agent, before those that come after it are looked at
_UNSURE = "Gemba was killed while it typed this: whether it arrived is not known"
_FAILED = "Gemba failed while it typed this: whether it arrived is not known"

log = structlog.get_logger("gemba.sessions")

Reach = Callable[[Row[Any]], tuple[Backend, RunFolder]]
Tell = Callable[[Transaction, Sequence[Draft]], None]


class Result(NamedTuple):
    """What became of something that was to be typed."""

    state: InputState
    trouble: str | None = None


class Typist:
    """`reach` says how the agent is reached for which something is written down; `tell` emits events."""

    def __init__(self, database: Database, origin: str, workspace: str, reach: Reach, tell: Tell) -> None:
        self._database = database
        self._origin = origin
        self._workspace = workspace
        self._reach = reach
        self._tell = tell
        self._pool: ThreadPoolExecutor | None = None
        self._typing: dict[Future[Result], Row[Any]] = {}

    def type_all(self) -> None:
        while self.type_waiting():
            pass

    def type_waiting(self) -> bool:
        """Until nothing is left that can be typed; True when somebody could not be reached yet."""
        while True:
            for row in self._write_down():
                self._pool = self._pool or ThreadPoolExecutor(_AT_ONCE, "typing")
                self._typing[self._pool.submit(self._type, row)] = row
            if not self._typing:
                return False
            if not wait(self._typing, _PATIENCE, FIRST_COMPLETED).done:
                return True

    def _write_down(self) -> list[Row[Any]]:
        """What was typed is written down, and what comes next is marked; that is returned."""
        ended = [(row, future.result()) for future, row in self._typing.items() if future.done()]
        unsure, due = self._look()
        ended += [(row, _of_nobody(row)) for row in unsure]
        for row, result in ended:
            if row.kind == "key":
                self._end_key(row, result)
        typed = [(row, result) for row, result in ended if row.kind != "key"]
        if not (typed or due):
            return []
        with self._database.transaction() as tx:
            free = inputs.lock_free(tx, [row.id for row in (*due, *(row for row, _ in typed))])
            for row, result in typed:
                if row.id in free:
                    inputs.move(tx, row, *result, was=InputState.TYPING)
            marked = [row for row in due if row.id in free and inputs.move(tx, row, InputState.TYPING)]
        self._forget({row.id for row, _ in typed} & free)
        return marked

    def _end_key(self, row: Row[Any], result: Result) -> None:
        """By itself: what follows from it concerns what others change with other inputs."""
        with self._database.transaction() as tx:
            if inputs.move(tx, row, *result, was=InputState.TYPING):
                self._tell(tx, dialog_keys.told(row, result.trouble))
        self._forget({row.id})

    def _forget(self, ids: set[str]) -> None:
        self._typing = {future: row for future, row in self._typing.items() if row.id not in ids}

    def _look(self) -> tuple[list[Row[Any]], list[Row[Any]]]:
        """What is marked though nobody types it any more, and what can be typed next."""
        ours = {row.id for row in self._typing.values()}
        busy = {row.session_id for future, row in self._typing.items() if not future.done()}
        with self._database.read() as connection:
            rows = [row for row in inputs.on_hand(connection, self._origin, self._workspace) if row.id not in ours]
        unsure = [row for row in rows if row.state == InputState.TYPING]
        due = inputs.next_of([row for row in rows if row.state == InputState.WAITING])
        free = [row for row in due if row.kind == "interrupt" or row.session_id not in busy]
        return unsure, free[: _AT_ONCE - len(busy)]

    def _type(self, row: Row[Any]) -> Result:
        try:
            self._reach_out(row)
        except GembaError as error:
            return Result(InputState.NOT_TYPED, error.message)
        except Exception:
            log.warning("an agent could not be typed to", session_id=row.session_id, exc_info=True)
            return Result(InputState.TYPED, _FAILED)
        return Result(InputState.TYPED)

    def _reach_out(self, row: Row[Any]) -> None:
        backend, folder = self._reach(row)
        match row.kind:
            case "interrupt":
                backend.interrupt(folder)
            case "close":
                backend.press(folder, ["C-d"])
            case "key":
                dialog_keys.press(self._database, backend, folder, row)
            case _:
                backend.send(folder, row.text)


def _of_nobody(row: Row[Any]) -> Result:
    """What was marked by somebody who was killed. To close twice is as to close once."""
    return Result(InputState.WAITING) if row.kind == "close" else Result(InputState.TYPED, _UNSURE)
