"""The real `gemba`, server or worker, that kills itself with SIGKILL at the n-th passage of a named point.

Run by path in the place of `gemba`, with GEMBA_DOOM={"point": …, "passage": n, "record": file}. The points are put
around the product from outside, so it has no hook for tests in it: every write transaction's begin, statements and
commit, those of the durable engine beside them, the tailer's commit, every system call with which a reply gets to
disk, a notification on its way out, a check of an answer, and each side of a step's record. Before it dies it appends
the point's name to the record, which is how a test knows that it died there and not elsewhere.

With {"trace": file} it does not die: every passage of every point is appended there, with the number of the process.
With neither it only lives faster than the real one: a policy may repeat its reminders every second.
"""

import json
import os
import re
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from functools import wraps
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

# Where the durable flows are at work; the engine has a database, or a schema, of its own.
FLOW_POINTS = (
    "insert flows",  # a flow is wanted
    "update flows",  # it was started
    "delete flows",  # it is over
    "update executors",
    "insert notices",
    "update notices",
    "insert likes",
    "engine insert workflow_status",
    "engine update workflow_status",
    "engine insert operation_outputs",
    "engine commit begins",
    "engine commit done",
    "step begins",
    "step done",  # what it does is done, and the engine has no record of it
    "step recorded",
    "notice sending",
    "notice sent",  # it is out, and nothing here says so
)
CHECK_POINTS = ("check begins", "check running", "check done")
RULE_POINTS = ("insert rules", "update rules")
APPROVAL_POINTS = (
    "insert approvals",
    "update approvals",
    "insert audit",
    "audit committed",  # and its head is not anchored
    "anchor kept",
)
HANDOFF_POINTS = (
    "insert dispatches",
    "update dispatches",
    "insert handoffs",
    "update handoffs",
    "insert memories",
    "world asking",  # what a COMPLETE claims is about to be compared
    "world asked",
)
# Where a line of a consult is applied: its place, the effect, what is recorded of both.
CONSULT_POINTS = ("insert consult_applied", "update work_items", "insert work_changes", "update consult_applied")
AUTO_POINTS = (
    "insert auto_switches",
    "insert auto_starts",  # an item is claimed, and its start written down
    "update auto_starts",
    "update work_items",
    "insert runs",
    "update runs",
)
TEAM_POINTS = ("update team_runs", "insert team_messages", "insert team_states")
# Where a task's turn begins, and what follows on it; most of it is done beside the database.
TASK_POINTS = (
    "update team_tasks",
    "insert team_attempts",
    "update team_attempts",
    "insert team_artifacts",
    "worktree made",
    "turn begun",
    "work saved",
    "work judged",  # and what follows from the verdict is not begun
    "work merged",  # and its task has not ended
    "task ended",  # and its worktree is there
    "worktree gone",
)
WALK_POINTS = ("insert walks", "insert walk_items", "insert walk_transcript", "update walk_items", "update walks")
USAGE_POINTS = ("insert usage_turns", "insert usage_sums", "insert sprint_days", "update sprints")
ALL_POINTS = (
    *(*POINTS, *FLOW_POINTS, *CHECK_POINTS, *RULE_POINTS),
    *(*APPROVAL_POINTS, *HANDOFF_POINTS, *CONSULT_POINTS, *AUTO_POINTS, *USAGE_POINTS, *TEAM_POINTS, *TASK_POINTS),
    *WALK_POINTS,
)

_STATEMENT = re.compile(r"\s*(INSERT INTO|UPDATE|DELETE FROM)\s+(?:\"?(?:gemba_flows|main)\"?\.)?\"?(\w+)")


TRACE = "trace"


class Doom:
    """Counts passages and ends the process at the one that was drawn."""

    def __init__(self, point: str, passage: int, record: Path) -> None:
        self._point = point
        self._passage = passage
        self._record = record
        self._passed: Counter[str] = Counter()
        self._lock = threading.Lock()

    def passes(self, point: str) -> None:
        if self._point == TRACE:
            with self._record.open("a") as record:
                record.write(f"{os.getpid()} {point}\n")
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

    here = threading.local()  # whose is the transaction of this thread, and does it write?

    def begins(connection: Connection) -> None:
        options = connection.get_execution_options()
        here.writes = options.get("gemba_writes", False)
        here.engines = not here.writes and _is_of_the_engine(connection)
        here.engine_wrote = False
        if here.writes and connection.dialect.name == "postgresql":
            doom.passes("begin")  # there it begins with its first statement

    def executed(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        found = _STATEMENT.match(statement)
        what = f"{found[1].split()[0].lower()} {found[2]}" if found else ""
        if getattr(here, "engines", False) and what:
            here.engine_wrote = True
            doom.passes(f"engine {what}")
        if not getattr(here, "writes", False):
            return
        if statement.startswith("BEGIN"):
            doom.passes("begin")
        elif what:
            doom.passes(what)

    event.listen(Engine, "begin", begins)
    event.listen(Engine, "after_cursor_execute", executed)
    commit: Callable[..., None] = DefaultDialect.do_commit

    def do_commit(self: DefaultDialect, dbapi_connection: Any) -> None:
        whose = "" if getattr(here, "writes", False) else "engine " if getattr(here, "engine_wrote", False) else None
        here.engine_wrote = False
        if whose is not None:
            doom.passes(f"{whose}commit begins")
        commit(self, dbapi_connection)
        if whose is not None:
            doom.passes(f"{whose}commit done")

    DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]


def _is_of_the_engine(connection: Any) -> bool:
    """Ours say that they write, or on PostgreSQL that they only read; the engine's say nothing."""
    if connection.dialect.name == "sqlite":
        return str(connection.engine.url.database).endswith("flows.db")
    return "postgresql_readonly" not in connection.get_execution_options()


def around_the_tailer(doom: Doom) -> None:
    from gemba.sessions.ingest import Ingest

    commit: Callable[..., Any] = Ingest._commit

    def _commit(*arguments: Any) -> Any:
        doom.passes("frames read")
        result = commit(*arguments)
        doom.passes("frames committed")
        return result

    Ingest._commit = _commit  # type: ignore[method-assign, assignment]


def around_anchors(doom: Doom) -> None:
    from gemba.handoff.anchors import Anchors

    keep: Callable[..., None] = Anchors.keep

    def kept(*arguments: Any) -> None:
        doom.passes("audit committed")
        keep(*arguments)
        doom.passes("anchor kept")

    Anchors.keep = kept  # type: ignore[method-assign, assignment]


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


def around_steps(doom: Doom) -> None:
    from gemba.flows import steps

    def in_thread(work: Callable[[], Any]) -> Callable[[], Any]:
        def observed() -> Any:
            doom.passes("step begins")
            result = work()
            doom.passes("step done")
            return result

        return observed

    def on_the_loop(work: Callable[[], Any]) -> Callable[[], Any]:
        async def observed() -> Any:
            doom.passes("step begins")
            result = await work()
            doom.passes("step done")
            return result

        return observed

    def put(name: str, around: Callable[[Callable[[], Any]], Callable[[], Any]]) -> None:
        step: Callable[..., Any] = getattr(steps, name)

        async def stepping(named: str, work: Callable[[], Any], *more: Any) -> Any:
            result = await step(named, around(work), *more)
            doom.passes("step recorded")
            return result

        setattr(steps, name, stepping)

    put("in_thread", in_thread)
    put("patiently", in_thread)
    put("on_the_loop", on_the_loop)


def around_notifications(doom: Doom) -> None:
    from gemba.escalations.flows import EscalationFlows

    send: Callable[..., Any] = EscalationFlows._send

    def sending(*arguments: Any) -> Any:
        doom.passes("notice sending")
        sent = send(*arguments)
        doom.passes("notice sent")
        return sent

    EscalationFlows._send = sending  # type: ignore[method-assign, assignment]


def allow_fast_repetition() -> None:
    from gemba import clock
    from gemba.escalations import policy_check

    policy_check.FASTEST_REPETITION = clock.SECOND


def around_checks(doom: Doom) -> None:
    from gemba.escalations.flows import EscalationFlows

    here = threading.local()
    check: Callable[..., Any] = EscalationFlows._check
    communicate: Callable[..., Any] = subprocess.Popen.communicate

    def checking(*arguments: Any) -> Any:
        doom.passes("check begins")
        here.checks = True
        try:
            refusal = check(*arguments)
        finally:
            here.checks = False
        doom.passes("check done")
        return refusal

    def communicating(*arguments: Any, **named: Any) -> Any:
        if getattr(here, "checks", False):
            doom.passes("check running")
        return communicate(*arguments, **named)

    EscalationFlows._check = checking  # type: ignore[method-assign, assignment]
    subprocess.Popen.communicate = communicating  # type: ignore[method-assign]


def around_the_world(doom: Doom) -> None:
    from gemba.escalations.handoff_flows import HandoffFlows

    compare: Callable[..., Any] = HandoffFlows.compare

    @wraps(compare)  # by whose name the engine knows the step, in a life without doom too
    def comparing(*arguments: Any) -> Any:
        doom.passes("world asking")
        found = compare(*arguments)
        doom.passes("world asked")
        return found

    HandoffFlows.compare = comparing  # type: ignore[method-assign, assignment]


def around_teams(doom: Doom) -> None:
    from gemba.teams import branches
    from gemba.teams.bringing_in import BringingIn
    from gemba.teams.turns import Turns
    from gemba.teams.verifying import Verifying

    def put(owner: Any, name: str, before: str = "", behind: str = "") -> None:
        work: Callable[..., Any] = getattr(owner, name)

        @wraps(work)
        def observed(*arguments: Any, **named: Any) -> Any:
            if before:
                doom.passes(before)
            result = work(*arguments, **named)
            if behind:
                doom.passes(behind)
            return result

        setattr(owner, name, observed)

    put(Turns, "_worktree", behind="worktree made")
    put(Turns, "_start", behind="turn begun")
    put(Verifying, "_judge", behind="work judged")
    put(BringingIn, "_merge_and", behind="task ended")
    put(branches, "let_go", behind="worktree gone")
    put(branches, "save_work", behind="work saved")
    put(branches, "merge", behind="work merged")


def main() -> None:
    drawn = json.loads(os.environ.pop("GEMBA_DOOM", "{}"))
    if "point" in drawn:
        assert drawn["point"] in ALL_POINTS, drawn
        doom = Doom(drawn["point"], drawn["passage"], Path(drawn["record"]))
    else:
        doom = Doom(TRACE if TRACE in drawn else "never", 0, Path(drawn.get(TRACE, os.devnull)))
    allow_fast_repetition()
    around_transactions(doom)
    around_the_tailer(doom)
    around_anchors(doom)
    around_reply_files(doom)
    around_steps(doom)
    around_notifications(doom)
    around_checks(doom)
    around_the_world(doom)
    around_teams(doom)

    from gemba.cli.main import main as gemba

    gemba()


if __name__ == "__main__":
    main()
