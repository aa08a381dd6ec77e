"""The engine: what is wanted runs once and to its end, whatever stops it in between. In-process, on both databases."""

import asyncio
import base64
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
import time_machine
from dbos import DBOS
from sqlalchemy import Connection, select, text
from structlog.testing import capture_logs

from gemba import clock
from gemba.event import Draft, Filter
from gemba.flows import engine as engine_module
from gemba.flows import launch as launch_module
from gemba.flows import wanted
from gemba.flows.engine import Engine, Flow
from gemba.flows.launch import FlowFunction
from gemba.flows.wanted import Call, flows
from gemba.store import events
from gemba.store.database import Database, Transaction
from gemba.store.hub import Hub
from gemba.store.migrate import open_database
from gemba.testing import retry_until

NEWS = Filter(frozenset({"turn_ended"}))
_PATIENCE = 30.0

T = TypeVar("T")


def note(tx: Transaction, ref: str, word: str) -> None:
    """Something that a flow does, which everybody can see: an event."""
    tx.emit(Draft("subagent_stopped", {"word": word}, None, ref))


def is_let_go(connection: Connection, ref: str) -> bool:
    found = events.read_after(connection, 0, 10_000)
    return any(event.name == "tool_use" and event.ref == ref for event in found)


class Table:
    """Flows that note what they do, and wait to be let go."""

    def __init__(self) -> None:
        self.troubles: list[BaseException] = []
        self.said = 0
        self.tidying = threading.Lock()

    @property
    def flows(self) -> Mapping[str, FlowFunction]:
        return {"work": self.work, "wait": self.wait, "follow": self.follow, "tidy": self.tidy}

    async def work(self, flow: Flow, ref: str) -> None:
        await flow.change(note, ref, "begun")
        if self.troubles:
            raise self.troubles.pop()
        await flow.change(note, ref, "done")

    async def wait(self, flow: Flow, ref: str, since: int = 0, due: int | None = None) -> None:
        await flow.change(note, ref, "begun")
        let_go = await flow.until(ref, is_let_go, ref, since=since, due=due)
        await flow.change(note, ref, "let go" if let_go else "too late")

    async def follow(self, flow: Flow, ref: str, since: int = 0, due: int | None = None) -> None:
        said = await flow.follow(ref, is_let_go, self.say, ref, since=since, due=due)
        await flow.change(note, ref, said)

    async def tidy(self, flow: Flow, ref: str) -> None:
        await flow.change(note, ref, await flow.tidy(self.tidied, ref))

    def tidied(self, _ref: str) -> str:
        alone = self.tidying.acquire(blocking=False)
        time.sleep(0.05)
        if alone:
            self.tidying.release()
        return "alone" if alone else "beside another"

    def say(self, _ref: str, in_time: bool) -> str:
        self.said += 1
        return "let go" if in_time else "too late"


class Bench:
    """A database, and engines on it, one after the other."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.file = folder / "flows.db"
        self.table = Table()
        self.lease = 60 * clock.SECOND

    @contextmanager
    def running(self, executor: str = "here.0", known: Mapping[str, FlowFunction] | None = None) -> Iterator[Engine]:
        """An engine in a thread of its own: the event loop of one is of no use to the next."""
        origin = executor.split(".")[0]
        engine = Engine(self.database, self.file, executor, known or self.table.flows, NEWS, self.lease, origin=origin)
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        with ThreadPoolExecutor(1) as threads:
            running = threads.submit(asyncio.run, self._run(engine, started))
            loop, ended = started.result(_PATIENCE)
            try:
                yield engine
            finally:
                loop.call_soon_threadsafe(ended.set)
                running.result(_PATIENCE)
                _until_the_engine_is_gone()

    async def _run(self, engine: Engine, started: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
        hub, ended = Hub(self.database), asyncio.Event()
        await hub.start()
        self.database.on_commit.append(hub.tell)
        filling = asyncio.create_task(hub.run())
        try:
            async with engine.running(hub):
                started.set_result((asyncio.get_running_loop(), ended))
                await ended.wait()
        finally:
            self.database.on_commit.remove(hub.tell)
            filling.cancel()

    def want(self, name: str, *refs: str, origin: str | None = None, **args: Any) -> None:
        with self.database.transaction() as tx:
            wanted.want(tx, name, [Call(f"{name}/{ref}", {"ref": ref, **args}) for ref in refs], origin=origin)
            tx.emit(Draft("turn_ended", {}))

    def let_go(self, *refs: str) -> None:
        with self.database.transaction() as tx:
            for ref in refs:
                tx.emit(Draft("tool_use", {}, None, ref))

    def words(self, ref: str) -> list[str]:
        """What the flow of this has noted."""
        with self.database.read() as connection:
            found = events.read_after(connection, 0, 10_000)
        noted = [event for event in found if event.name == "subagent_stopped" and event.ref == ref]
        return [bytes(event.payload).decode().split('"')[3] for event in noted]

    def rows(self) -> dict[str, Any]:
        with self.database.read() as connection:
            return {row.id: row for row in connection.execute(select(flows))}

    def until(self, true: Callable[[], T], patience: float = _PATIENCE) -> T:
        """Asked again now and then: what the engine notes in its own tables is announced by nobody."""
        return retry_until(true, timeout=patience)


def _until_the_engine_is_gone() -> None:
    for thread in threading.enumerate():
        if thread.name == "flows end":
            thread.join()


@pytest.fixture
def bench(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(launch_module, "_POLL_SECONDS", 0.02)
    database = open_database(database_url)
    yield Bench(database, tmp_path)
    database.close()


# ---- wanted, run, over -----------------------------------------------------------------------------------------------


def test_what_is_wanted_runs_once_and_is_over(bench: Bench) -> None:
    with bench.running():
        bench.want("work", "a")
        bench.want("work", "a", "b")

        bench.until(lambda: bench.words("b") and not bench.rows())

    assert (bench.words("a"), bench.words("b")) == (["begun", "done"], ["begun", "done"])


def test_what_was_wanted_while_nobody_ran_runs_when_somebody_does(bench: Bench) -> None:
    bench.want("work", "a")

    with bench.running():
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "done"]


def test_what_was_wanted_in_a_transaction_that_failed_never_runs(bench: Bench) -> None:
    def fail() -> None:
        with bench.database.transaction() as tx:
            wanted.want(tx, "work", [Call("work/a", {"ref": "a"})])
            raise RuntimeError("rolled back")

    with pytest.raises(RuntimeError, match="rolled back"):
        fail()

    with bench.running():
        bench.want("work", "b")
        bench.until(lambda: bench.words("b") and not bench.rows())

    assert (bench.words("a"), bench.words("b")) == ([], ["begun", "done"])


def test_one_that_rests_runs_when_it_is_due_and_keeps_no_other_waiting(bench: Bench) -> None:
    with bench.running():
        bench.want("work", "first")  # what is there when an engine starts is begun then
        bench.until(lambda: bench.words("first"))
        with bench.database.transaction() as tx:
            wanted.want(tx, "work", [Call("work/a", {"ref": "a"})], rest=clock.SECOND)
            wanted.want(tx, "work", [Call("work/long", {"ref": "long"})], rest=wanted.LONGEST_REST)
            due = tx.now + clock.SECOND
            tx.emit(Draft("turn_ended", {}))
        bench.want("work", "b")
        bench.until(lambda: bench.words("b"))
        bench.until(lambda: bench.words("a"))
        began = clock.now()

    assert began >= due
    assert bench.words("long") == []


def test_at_every_moment_one_is_to_be_started_or_said_to_rest(bench: Bench) -> None:
    """In the very moment in which it becomes due, too: nobody would wake whoever missed it."""
    many = 200
    with bench.database.transaction() as tx:
        for number in range(many):
            call = Call(f"work/{number}", {"ref": str(number)})
            wanted.want(tx, "work", [call], rest=clock.SECOND // 5 + number * clock.SECOND // 1_000)

    due: list[wanted.Wanted] = []
    while len(due) < min(many, wanted.PAGE):
        with bench.database.read() as connection:
            due, rest = wanted.to_start(connection, "here")
        assert len(due) >= min(many, wanted.PAGE) or (rest is not None and 0 < rest <= wanted.LONGEST_REST)


def test_one_that_would_rest_for_longer_than_any_does_runs_at_once(bench: Bench) -> None:
    with bench.database.transaction() as tx:  # as after a clock that was ahead
        wanted.want(tx, "work", [Call("work/a", {"ref": "a"})], rest=2 * wanted.LONGEST_REST)

    with bench.running():
        bench.until(lambda: bench.words("a"))


def test_what_nobody_waits_for_is_done_one_after_the_other(bench: Bench) -> None:
    refs = ("a", "b", "c", "d")
    with bench.running():
        bench.want("tidy", *refs)
        bench.until(lambda: all(map(bench.words, refs)))

    assert [bench.words(ref) for ref in refs] == [["alone"]] * 4


@pytest.mark.long
def test_more_than_a_page_of_flows_all_run(bench: Bench) -> None:
    refs = [f"r{number:03}" for number in range(520)]
    bench.want("work", *refs)

    with bench.running():
        bench.until(lambda: not bench.rows(), patience=3 * _PATIENCE)

    assert all(bench.words(ref) == ["begun", "done"] for ref in (refs[0], refs[299], refs[-1]))


# ---- stopped and taken up --------------------------------------------------------------------------------------------


def test_a_step_that_is_done_is_not_done_again_after_a_restart(bench: Bench) -> None:
    bench.want("wait", "a")
    for _ in range(3):
        with bench.running() as engine:
            bench.until(lambda: len(engine.waits) == 1)
    assert bench.words("a") == ["begun"]

    bench.let_go("a")
    with bench.running():
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "let go"]


def test_an_effect_follows_what_was_waited_for_or_its_moment(bench: Bench) -> None:
    now = clock.now()
    with bench.running() as engine:
        bench.want("follow", "a", since=now)
        bench.want("follow", "b", since=now, due=now + clock.SECOND // 10)
        bench.until(lambda: bench.words("b") == ["too late"] and len(engine.waits) == 1)
        bench.let_go("a")
        bench.until(lambda: not bench.rows())

    assert (bench.words("a"), bench.table.said) == (["let go"], 2)


def test_what_waits_for_its_effect_is_carried_on_by_the_next_engine(bench: Bench) -> None:
    bench.want("follow", "a")
    with bench.running() as engine:
        bench.until(lambda: len(engine.waits) == 1)
    bench.let_go("a")

    with bench.running():
        bench.until(lambda: not bench.rows())

    assert (bench.words("a"), bench.table.said) == (["let go"], 1)


def test_a_run_that_was_taken_over_while_it_waited_has_no_effect(bench: Bench) -> None:
    bench.want("follow", "a")
    schema = "" if bench.database.is_sqlite else "gemba_flows."
    with bench.running() as engine:
        bench.until(lambda: len(engine.waits) == 1)
        beside = bench.database.engine_beside(bench.file)
        with beside.begin() as connection:  # as whoever takes it over does
            connection.execute(text(f"update {schema}workflow_status set owner_xid = 'another'"))
        beside.dispose()
        bench.let_go("a")
        bench.until(lambda: len(engine.waits) == 0)
        bench.want("work", "b")
        bench.until(lambda: "work/b" not in bench.rows())

    assert (bench.table.said, bench.words("a")) == (0, [])


def test_a_moment_that_passed_while_nobody_ran_is_noticed_at_once(bench: Bench) -> None:
    with time_machine.travel(datetime.now(UTC), tick=True) as travelling:
        since = clock.now()
        bench.want("wait", "a", since=since, due=since + clock.DAY)
        with bench.running() as engine:
            bench.until(lambda: len(engine.waits) == 1)

        travelling.shift(timedelta(days=1))

        with bench.running():
            bench.until(lambda: not bench.rows())
    assert bench.words("a") == ["begun", "too late"]


def test_an_end_is_quick_however_many_wait_and_leaves_them_all_open(bench: Bench) -> None:
    refs = [f"r{number:03}" for number in range(120)]
    bench.want("wait", *refs)
    with bench.running() as engine:
        bench.until(lambda: len(engine.waits) == len(refs))
        begun = time.monotonic()
    assert time.monotonic() - begun < 1.0
    assert len(bench.rows()) == len(refs)

    bench.let_go(*refs)
    with bench.running():
        bench.until(lambda: not bench.rows())
    assert all(bench.words(ref) == ["begun", "let go"] for ref in (refs[0], refs[60], refs[-1]))


def test_the_runs_of_an_executor_that_stands_still_are_taken_over_within_its_lease(bench: Bench) -> None:
    bench.want("wait", "a", "b")
    with bench.running("there.0") as engine:
        bench.until(lambda: len(engine.waits) == 2)
    bench.let_go("a")
    bench.lease = clock.SECOND // 2

    with capture_logs() as logs, bench.running("here.0") as engine:
        bench.until(lambda: bench.words("a") == ["begun", "let go"] and len(engine.waits) == 1)
        bench.let_go("b")
        bench.until(lambda: not bench.rows())

    assert bench.words("b") == ["begun", "let go"]
    taken = [entry for entry in logs if "taken over" in entry["event"]]
    assert [(entry["executor"], entry["runs"]) for entry in taken] == [("there.0", 2)]
    with bench.database.read() as connection:
        assert connection.execute(text("select id from executors")).scalars().all() == ["here.0"]


def test_what_one_origin_alone_can_run_waits_for_it(bench: Bench) -> None:
    bench.want("work", "theirs", origin="there")
    bench.want("work", "anybody's")
    with bench.running("here.0"):
        bench.until(lambda: bench.words("anybody's") == ["begun", "done"])
        bench.want("work", "ours", origin="here")
        bench.until(lambda: bench.rows().keys() == {"work/theirs"})
    assert bench.words("ours") == ["begun", "done"]
    assert bench.words("theirs") == []

    with bench.running("there.0"):
        bench.until(lambda: not bench.rows())
    assert bench.words("theirs") == ["begun", "done"]


def test_what_one_origin_alone_can_run_is_given_back_by_whoever_takes_over_from_the_dead(bench: Bench) -> None:
    bench.want("wait", "theirs", origin="there")
    with bench.running("there.0") as engine:
        bench.until(lambda: len(engine.waits) == 1)
    bench.lease = clock.SECOND // 2
    with bench.running("here.0"):
        bench.until(lambda: not bench.rows()["wait/theirs"].started)
    assert bench.words("theirs") == ["begun"]
    assert bench.rows()["wait/theirs"].trouble is None
    bench.let_go("theirs")

    with bench.running("there.0"):
        bench.until(lambda: not bench.rows())
    assert bench.words("theirs") == ["begun", "begun", "let go"]


def test_a_run_that_runs_nowhere_is_found_and_taken_up_again(bench: Bench) -> None:
    bench.lease = clock.SECOND // 10
    bench.table.troubles.append(asyncio.CancelledError())

    with capture_logs() as logs, bench.running():
        bench.want("work", "a")
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "done"]
    assert "runs were lost and are taken up again" in [entry["event"] for entry in logs]


# ---- trouble ---------------------------------------------------------------------------------------------------------


def test_a_flow_that_fails_is_told_marked_and_run_again_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "_AGAIN_SECONDS", 0.3)
    bench.table.troubles.extend([ValueError("secret words of an agent"), KeyError("x")])

    with capture_logs() as logs, bench.running():
        bench.want("work", "a")
        row = bench.until(lambda: (row := bench.rows()["work/a"]).trouble and row)
        assert (row.trouble, row.run) == ("KeyError", 2)
        bench.until(lambda: bench.rows()["work/a"].trouble == "ValueError")
        with bench.database.read() as connection:
            assert wanted.troubled(connection) == [("work/a", "ValueError")]
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "begun", "begun", "done"]
    told = [entry for entry in logs if entry["event"] == "a flow failed and will be run again"]
    assert [(entry["flow"], entry["id"], entry["run"]) for entry in told] == [
        ("work", "work/a", 1),
        ("work", "work/a", 2),
    ]


def test_a_flow_that_failed_is_run_again_by_the_next_engine_without_a_pause(bench: Bench) -> None:
    bench.table.troubles.append(ValueError("once"))
    with bench.running():
        bench.want("work", "a")
        bench.until(lambda: bench.rows()["work/a"].trouble)

    with bench.running():
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "begun", "done"]


def test_one_that_was_not_told_that_its_new_run_was_noted_begins_that_run_all_the_same(bench: Bench) -> None:
    """A connection that breaks between a commit and its answer: the change is made, and made again."""
    bench.want("work", "a")
    with bench.database.transaction() as tx:
        first = wanted.run_again(tx, "work/a", 1, "ValueError")
    with bench.database.transaction() as tx:
        assert wanted.run_again(tx, "work/a", 1, "ValueError") == first
        wanted.finish(tx, "work/a")
        assert wanted.run_again(tx, "work/a", 1, "ValueError") is None

    assert first is not None
    assert first.run == 2


def test_a_flow_that_has_no_run_is_begun_also_while_the_engine_is_at_work(bench: Bench) -> None:
    bench.lease = clock.SECOND // 10
    with bench.running():
        with bench.database.transaction() as tx:
            wanted.want(tx, "work", [Call("work/a", {"ref": "a"})])
            wanted.mark_started(tx, ["work/a"])

        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "done"]


def test_one_that_fails_holds_nobody_else_up(bench: Bench) -> None:
    bench.table.troubles.append(ValueError("once"))
    with bench.running():
        bench.want("work", "a")
        bench.until(lambda: bench.rows()["work/a"].trouble)
        bench.want("work", "b")
        bench.until(lambda: bench.words("b") == ["begun", "done"])


def test_a_flow_of_a_name_that_nobody_knows_waits_for_a_program_that_does(bench: Bench) -> None:
    with bench.running(known={"wait": bench.table.wait}):
        bench.want("work", "a")
        bench.until(lambda: bench.rows()["work/a"].trouble == "KeyError")

    with bench.running():
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "done"]


def test_the_engines_tables_may_be_lost(bench: Bench) -> None:
    bench.want("wait", "a")
    with bench.running() as engine:
        bench.until(lambda: len(engine.waits) == 1)
    if bench.database.is_sqlite:
        for part in bench.file.parent.glob("flows.db*"):
            part.unlink()
    else:
        with bench.database.transaction() as tx:
            tx.connection.execute(text("drop schema gemba_flows cascade"))
    bench.let_go("a")

    with bench.running():
        bench.until(lambda: not bench.rows())

    assert bench.words("a") == ["begun", "begun", "let go"]


def test_a_row_that_says_it_is_pickled_is_refused_and_its_flow_run_anew(bench: Bench, tmp_path: Path) -> None:
    bench.want("wait", "a")
    with bench.running() as engine:
        bench.until(lambda: len(engine.waits) == 1)
    made = tmp_path / "made by a pickle"
    _poison(bench, pickle.dumps(_Touch(str(made))))
    bench.let_go("a")
    bench.lease = clock.SECOND // 4

    with capture_logs() as logs, bench.running():
        bench.until(lambda: not bench.rows())

    assert not made.exists()
    assert bench.words("a")[-1] == "let go"
    assert "the engine gave a flow up, it is run again" in [entry["event"] for entry in logs]


class _Touch:
    """Makes a file when it is loaded."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (self._path, "w")


def _poison(bench: Bench, pickled: bytes) -> None:
    values = {"inputs": base64.b64encode(pickled).decode(), "how": "py_pickle"}
    connections = bench.database.engine_beside(bench.file)
    table = "workflow_status" if bench.database.is_sqlite else "gemba_flows.workflow_status"
    with connections.begin() as connection:
        statement = text(f"update {table} set inputs = :inputs, serialization = :how")
        assert connection.execute(statement, values).rowcount == 1
    connections.dispose()


# ---- forgotten -------------------------------------------------------------------------------------------------------


def test_runs_that_are_over_are_forgotten_after_a_day_and_those_that_wait_never(bench: Bench) -> None:
    with time_machine.travel(datetime.now(UTC), tick=True) as travelling:
        bench.want("work", "a")
        bench.want("wait", "b")
        with bench.running() as engine:
            bench.until(lambda: len(engine.waits) == 1 and "work/a" not in bench.rows())
            assert _runs() == {"work/a/1", "wait/b/1"}
        travelling.shift(timedelta(hours=23))
        with bench.running() as engine:
            bench.until(lambda: len(engine.waits) == 1)
            assert _runs() == {"work/a/1", "wait/b/1"}

        travelling.shift(timedelta(hours=2))

        with bench.running():
            bench.until(lambda: _runs() == {"wait/b/1"})


def _runs() -> set[str]:
    return {run.workflow_id for run in DBOS.list_workflows()}


def test_an_unreadable_file_is_put_aside_and_everything_wanted_runs(sqlite_url: str, tmp_path: Path) -> None:
    database = open_database(sqlite_url)
    try:
        bench = Bench(database, tmp_path)
        bench.want("work", "a")
        bench.file.write_bytes(b"no database at all, but long enough to be read as one" * 100)

        with bench.running():
            bench.until(lambda: not bench.rows())

        assert bench.words("a") == ["begun", "done"]
        assert [file.read_bytes()[:11] for file in tmp_path.glob("flows.db.unreadable-*")] == [b"no database"]
    finally:
        database.close()
