"""The real `gemba`, started so that it kills itself with SIGKILL at the n-th passage of a named point.

Run by path in the place of `gemba`, with GEMBA_TEST_DOOM={"point": …, "passage": n, "record": file}. The points are put
around the product from outside, so it has no hook for tests in it: every write transaction's begin, statements and
commit, the tailer's commit, and every system call with which a reply gets to disk. Before it dies it appends the
point's name to the record, which is how a test knows that it died there and not elsewhere.
"""

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

POINTS = (
    "begin",  # a write transaction is open
    "insert counters",  # the statements of a transaction, each killed behind
    "insert frames",
    "insert sessions",
    "insert escalations",
    "insert logs",
    "insert confirmations",
    "insert replies",
    "update escalations",
    "update replies",
    "update confirmations",
    "update counters",
    "insert events",
    "commit begins",  # everything is said, nothing is durable
    "commit done",  # durable, and nobody was told: no answer sent, no reader woken, no reply written
    "frames read",  # the tailer has read lines and not begun to commit them
    "frames committed",  # and has not noted in memory how far it is
    "reply opened",  # its temporary file exists, empty or in part
    "reply synced",
    "reply replaced",  # in its place, not marked as written
    "reply folder synced",
)

_STATEMENT = re.compile(r"\s*(INSERT INTO|UPDATE|DELETE FROM)\s+\"?(\w+)")


class Doom:
    """Counts passages and ends the process at the one that was drawn."""

    def __init__(self, point: str, passage: int, record: Path) -> None:
        self._point = point
        self._passage = passage
        self._record = record
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()

    def passes(self, point: str) -> None:
        if point != self._point:
            return
        with self._lock:
            self._passed[point] += 1
            if self._passed[point] == self._passage:
                self._die()

    def _die(self) -> NoReturn:
        with self._record.open("a") as record:
            record.write(f"{self._point}\n")
        os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit("killed")  # not reached: the signal is delivered before the call returns


def around_transactions(doom: Doom) -> None:
    from sqlalchemy import Connection, Engine, event
    from sqlalchemy.engine.default import DefaultDialect

    here = threading.local()  # is the transaction of this thread one that writes?

    def begins(connection: Connection) -> None:
        here.writes = connection.get_execution_options().get("gemba_writes", False)
        if here.writes and connection.dialect.name == "postgresql":
            doom.passes("begin")  # there it begins with its first statement

    def executed(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if not getattr(here, "writes", False):
            return
        if statement.startswith("BEGIN"):
            doom.passes("begin")
        elif found := _STATEMENT.match(statement):
            doom.passes(f"{found[1].split()[0].lower()} {found[2]}")

    event.listen(Engine, "begin", begins)
    event.listen(Engine, "after_cursor_execute", executed)
    commit: Callable[..., None] = DefaultDialect.do_commit

    def do_commit(self: DefaultDialect, dbapi_connection: Any) -> None:
        writes = getattr(here, "writes", False)
        if writes:
            doom.passes("commit begins")
        commit(self, dbapi_connection)
        if writes:
            doom.passes("commit done")

    DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]


def around_the_tailer(doom: Doom) -> None:
    from gemba.sessions.ingest import Ingest

    commit: Callable[..., Any] = Ingest._commit

    def _commit(*arguments: Any) -> Any:
        doom.passes("frames read")
        result = commit(*arguments)
        doom.passes("frames committed")
        return result

    Ingest._commit = _commit  # type: ignore[method-assign, assignment]


def around_reply_files(doom: Doom) -> None:
    real_open, real_fsync, real_replace = os.open, os.fsync, os.replace

    def passes(point: str, path: str) -> None:
        if "/replies" in path:
            doom.passes(point)

    def open_(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        file = real_open(path, flags, *arguments, **named)
        if flags & os.O_CREAT:
            passes("reply opened", os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else "")
        return file

    def fsync(file: int) -> None:
        path = str(Path(f"/proc/self/fd/{file}").readlink())
        real_fsync(file)
        passes("reply folder synced" if Path(path).is_dir() else "reply synced", path)

    def replace(source: Any, target: Any) -> None:
        real_replace(source, target)
        passes("reply replaced", os.fsdecode(target))

    os.open, os.fsync, os.replace = open_, fsync, replace  # type: ignore[assignment]


def main() -> None:
    drawn = json.loads(os.environ.pop("GEMBA_TEST_DOOM"))
    assert drawn["point"] in POINTS, drawn
    doom = Doom(drawn["point"], drawn["passage"], Path(drawn["record"]))
    around_transactions(doom)
    around_the_tailer(doom)
    around_reply_files(doom)

    from gemba.cli.main import main as gemba

    gemba()


if __name__ == "__main__":
    main()
