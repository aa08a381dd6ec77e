"""Lists that are answered from memory: never older than what their reader may know of."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event, text

from gemba.api.routes import READS
from gemba.testing import retry_until
from tests.fixtures.api import Api
from tests.fixtures.servers import RunningServer
from tests.integration.test_events_stream import OTHER_PROCESS

LISTS = ("/api/escalations", "/api/escalations?limit=1", "/api/assumptions", "/api/sessions")


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """What is asked of the database meanwhile."""
    seen: list[str] = []

    def note(*arguments: object) -> None:
        seen.append(str(arguments[2]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_no_list_that_depends_on_who_asks_is_kept_for_others() -> None:
    assert [read.path for read in READS if read.cached and read.personal] == []


def test_a_list_is_read_once_while_nothing_happens(api: Api) -> None:
    api.ask("Which port?")
    api.ask("Which host?")
    api.assume()

    def read_again() -> bool:
        """Within one second, that is: a busy machine may take longer for all of it."""
        first = [api.request("GET", path).body for path in LISTS]
        with statements(api.app.database.engine) as asked:
            again = [api.request("GET", path).body for path in LISTS]
        assert again == first
        return not asked

    assert retry_until(read_again)
    assert len({api.request("GET", path).body for path in LISTS}) == len(LISTS)


def test_whoever_was_answered_sees_it_in_the_next_list(api: Api) -> None:
    """While others keep the list in memory all the time."""
    ids = [api.ask(f"Question {n}") for n in range(40)]
    ended = threading.Event()

    def keep_asking() -> None:
        while not ended.is_set():
            api.get("/api/escalations?state=open&limit=500")

    others = [threading.Thread(target=keep_asking) for _ in range(2)]
    for other in others:
        other.start()
    left = set(ids)
    try:
        for id in ids:
            api.post(f"/api/escalations/{id}/respond", {"text": "yes"})
            left.discard(id)
            listed = api.get("/api/escalations?state=open&limit=500")
            assert {row["id"] for row in listed["escalations"]} == left
            assert listed["total"] == len(left)
    finally:
        ended.set()
        for other in others:
            other.join()


def test_whoever_heard_of_an_event_sees_it_in_the_next_list(server: RunningServer) -> None:
    stream = server.events("?name=escalation_opened")
    asked: set[str] = set()
    for n in range(20):
        server.get("/api/escalations")
        asked.add(server.append("GembaAsk", {"kind": "question", "role": "coach", "text": f"Question {n}"}))
        stream.next()
        assert {row["id"] for row in server.get("/api/escalations")["escalations"]} == asked


def test_what_another_process_changed_is_in_the_list(server: RunningServer) -> None:
    stream = server.events("?name=escalation_opened,escalation.resolved")
    ref = server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "?"})
    stream.next()
    assert server.get("/api/escalations?state=open")["total"] == 1

    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, server.workspace, ref], env=server.environment, check=True, timeout=60
    )
    stream.next()

    assert server.get("/api/escalations?state=open")["total"] == 0


def test_that_the_code_moved_is_seen_without_any_event(api: Api) -> None:
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=api.workspace, text=True).strip()
    api.ask(cwd=str(api.workspace), commit=head)

    def stale() -> object:
        return api.get("/api/escalations")["escalations"][0]["stale"]

    assert stale() is None
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", "on"], cwd=api.workspace, check=True)

    assert retry_until(stale)


def test_a_failure_is_not_kept(api: Api) -> None:
    api.ask()
    rename(api, "escalations", "away")
    assert api.request("GET", "/api/escalations").status >= 500
    rename(api, "away", "escalations")

    assert api.get("/api/escalations")["total"] == 1
    for _ in range(2):
        assert api.request("GET", "/api/escalations?limit=0").status == 422


def rename(api: Api, table: str, name: str) -> None:
    with api.app.database.transaction() as tx:
        tx.connection.execute(text(f"alter table {table} rename to {name}"))
