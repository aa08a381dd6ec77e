"""The bus of a team run: its verbs on both databases, crowds of writers, and its surfaces: API, command line, MCP."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from gemba.app import App
from gemba.errors import Conflict, Invalid, NotFound
from gemba.store import events
from gemba.store.database import Database, connect
from gemba.store.migrate import open_database
from gemba.teams import bus, bus_reads
from gemba.teams.bus_reads import MessageQuery, MessageView, StateQuery
from gemba.teams.message import KnownState, StateUpdate, checked, merged_all
from gemba.teams.tables import runs
from gemba.testing import effort
from tests.fixtures import team_writer
from tests.fixtures.api import Api
from tests.fixtures.mcp import facts, over_http, over_stdio, words
from tests.fixtures.operator import Operator
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_writer import reports, write
from tests.fixtures.teams import RUN, TASKS, new_run

ROOT = Path(__file__).parents[2]
OTHER = "team-ffffffffffff"
UNKNOWN = "team-000000000000"
WRITERS = 5
BATCH = 10


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    with closing(open_database(database_url, tmp_path / "backups")) as opened:
        with opened.transaction() as tx:
            new_run(tx)
        yield opened


def post(database: Database, *said: Any, **more: Any) -> int:
    return database.change(lambda tx: bus.post(tx, RUN, *said, **more))


def listed(database: Database, **query: Any) -> list[MessageView]:
    with database.read() as connection:
        return bus_reads.list_messages(connection, RUN, MessageQuery(**query)).messages


def every(database: Database) -> list[MessageView]:
    found: list[MessageView] = []
    while page := listed(database, since=found[-1].id if found else 0, limit=500):
        found += page
    return found


def unread(database: Database) -> dict[str, int]:
    with database.read() as connection:
        return {each.name: each.unread for each in bus_reads.bus_status(connection, RUN).recipients}


# ---- the verbs -------------------------------------------------------------------------------------------------------


def test_a_message_has_the_next_number_of_its_run_and_is_read_as_it_was_posted(database: Database) -> None:
    with database.transaction() as tx:
        new_run(tx, OTHER)
    data = {"task_id": "IMPL-001", "percent": 50}

    assert post(database, "developer", "progress", " half of it ", data) == 1
    assert database.change(lambda tx: bus.post(tx, OTHER, "tester", "hello", "first here")) == 1
    assert post(database, "coordinator", "hello", "and you?", recipient="developer") == 2

    first, second = every(database)
    assert (first.id, first.from_, first.to, first.type) == (1, "developer", "coordinator", "progress")
    assert (first.known, first.summary, first.data) == (True, "half of it", data)
    assert (second.to, second.known, second.data) == ("developer", False, {})
    with database.read() as connection:
        assert bus_reads.read_message(connection, RUN, 2) == second


def test_posts_of_a_transaction_are_told_by_small_events_about_their_run(database: Database) -> None:
    said = [checked("developer", "hello", "x" * 2_000, {"x": "y" * 60_000}, f"r-{number}") for number in range(100)]
    with database.transaction() as tx:
        assert bus.post_many(tx, RUN, said, "session-1") == range(1, 101)

    with database.read() as connection:
        (told,) = events.read_after(connection, 0, 10)
    assert (told.name, told.ref, told.session_id) == ("team.message", RUN, "session-1")
    payload = json.loads(bytes(told.payload))
    assert (payload["first"], payload["last"], payload["types"], len(payload["to"])) == (1, 100, ["hello"], 10)
    assert len(bytes(told.payload)) < 1_000


def test_what_is_refused_takes_no_number(database: Database) -> None:
    bad = [checked("developer", "hello", "said"), checked("developer", "state_update", "said", {"task_id": "TEST-999"})]

    with pytest.raises(NotFound, match=f"{RUN} has no task TEST-999"), database.transaction() as tx:
        bus.post_many(tx, RUN, bad)

    assert post(database, "developer", "hello", "said") == 1


@pytest.mark.parametrize("many", [0, 501])
def test_a_batch_has_one_to_five_hundred_messages(database: Database, many: int) -> None:
    with pytest.raises(Invalid, match="allowed: 1 to 500"), database.transaction() as tx:
        bus.post_many(tx, RUN, [checked("developer", "hello", "said")] * many)


@pytest.mark.parametrize("id", ["../x", "", "team-", f"{RUN}/", f"{RUN}\n", "team-0123456789AB", "x" * 100_000, "\0"])
def test_what_is_no_id_of_a_run_is_refused_before_anything_is_looked_for(database: Database, id: str) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda tx: bus.post(tx, id, "developer", "hello", "said"),
        lambda tx: bus.acknowledge(tx, id, "developer"),
        lambda tx: bus_reads.list_messages(tx.connection, id, MessageQuery()),
        lambda tx: bus_reads.read_message(tx.connection, id, 1),
        lambda tx: bus_reads.bus_status(tx.connection, id),
        lambda tx: bus_reads.list_states(tx.connection, id, StateQuery()),
    ]
    for call in calls:
        with pytest.raises(Invalid, match="is no id of a team run"):
            database.change(call)


def test_a_run_that_is_not_there_or_is_archived_takes_no_message(database: Database) -> None:
    with pytest.raises(NotFound), database.transaction() as tx:
        bus.post(tx, UNKNOWN, "developer", "hello", "said")
    with database.transaction() as tx:
        tx.connection.execute(update(runs).values(archived_at=1))
    with pytest.raises(Conflict, match="is archived"):
        post(database, "developer", "hello", "said")


def test_lists_are_by_sender_recipient_type_and_since_and_say_when_there_is_more(database: Database) -> None:
    for number in range(6):
        sender, to = ("developer", "tester") if number % 2 else ("researcher", "coordinator")
        post(database, sender, ["hello", "progress", "note"][number % 3], f"said {number}", recipient=to)
    post(database, "coordinator", "note", "to all", recipient="all")

    def ids(**query: Any) -> list[int]:
        return [each.id for each in listed(database, **query)]

    assert ids() == [1, 2, 3, 4, 5, 6, 7]
    assert ids(limit=2) == [6, 7]
    assert ids(since=2, limit=2) == [3, 4]
    assert ids(since=7) == []
    assert ids(from_="developer") == [2, 4, 6]
    assert ids(to="tester") == [2, 4, 6, 7]
    assert ids(to="coordinator") == [1, 3, 5, 7]
    assert ids(to="all") == [7]
    assert ids(to="nobody") == [7]
    assert ids(type="hello, progress") == [1, 2, 4, 5]
    assert ids(from_="researcher", to="coordinator", type="note") == [3]
    with database.read() as connection:
        page = bus_reads.list_messages(connection, RUN, MessageQuery(limit=6, since=0))
        assert (page.more, page.last) == (True, 7)
        assert not bus_reads.list_messages(connection, RUN, MessageQuery(limit=7, since=0)).more
        for number in (0, 8, -1):
            with pytest.raises(NotFound, match="numbered from 1 to 7"):
                bus_reads.read_message(connection, RUN, number)


def test_a_broadcast_is_unread_by_everybody_until_each_has_acknowledged_it(database: Database) -> None:
    post(database, "developer", "hello", "for the tester", recipient="tester")
    post(database, "researcher", "notice", "for all", recipient="all")
    post(database, "researcher", "notice", "for the operator", recipient="ann")

    assert unread(database) == {"coordinator": 1, "developer": 1, "researcher": 1, "tester": 2, "ann": 2}

    with database.transaction() as tx:
        acknowledged = bus.acknowledge(tx, RUN, "tester", 1)
        assert (acknowledged.seen, acknowledged.unread) == (1, 1)
        assert bus.acknowledge(tx, RUN, "ann").seen == 3
    assert unread(database) == {"coordinator": 1, "developer": 1, "researcher": 1, "tester": 1, "ann": 0}
    with database.read() as connection:
        found = bus_reads.bus_status(connection, RUN)
    assert {each.name: (each.messages, each.last.id) for each in found.senders} == {
        "developer": (1, 1),
        "researcher": (2, 3),
    }
    assert found.last == 3


def test_a_cursor_only_moves_forward_and_not_beyond_what_was_said(database: Database) -> None:
    for number in range(5):
        post(database, "developer", "hello", f"said {number}", recipient="tester")

    def ack(up_to: int | None) -> int:
        return database.change(lambda tx: bus.acknowledge(tx, RUN, "tester", up_to)).seen

    assert [ack(3), ack(1), ack(0), ack(3), ack(4)] == [3, 3, 3, 3, 4]
    for beyond in (6, -1):
        with pytest.raises(Invalid, match="allowed: 0 to 5"):
            ack(beyond)
    with pytest.raises(Invalid, match="all reads nothing"), database.transaction() as tx:
        bus.acknowledge(tx, RUN, "all")
    assert ack(None) == 5


def test_a_state_is_merged_per_task_whoever_reports_it(database: Database) -> None:
    finding = {"task_id": "IMPL-001", "key_findings": ["tokens expire"], "ref": "a.md", "verification": "tested"}
    post(database, "developer", "state_update", "first", finding)
    post(database, "developer", "state_update", "another task", {"task_id": "TEST-001", "key_findings": ["slow"]})
    more = {"task_id": "IMPL-001", "key_findings": ["keys rotate", "tokens expire"], "files_modified": ["a.py"]}
    post(database, "tester", "state_update", "second", more)

    with database.read() as connection:
        states = bus_reads.list_states(connection, RUN, StateQuery())
        found = bus_reads.get_state(connection, RUN, "IMPL-001")
        assert bus_reads.get_state(connection, RUN, "RESEARCH-001") is None
        assert bus_reads.list_states(connection, RUN, StateQuery(limit=1)).more
        assert [
            each.task_id for each in bus_reads.list_states(connection, RUN, StateQuery(after="IMPL-001")).states
        ] == ["TEST-001"]
        with pytest.raises(NotFound, match="has no task IMPL-9"):
            bus_reads.get_state(connection, RUN, "IMPL-9")
    assert [each.task_id for each in states.states] == ["IMPL-001", "TEST-001"]
    assert found is not None
    assert (found.key_findings, found.ref, found.files_modified) == (["tokens expire", "keys rotate"], "a.md", ["a.py"])
    assert (found.verification, found.message_id) == ("tested", 3)


# ---- a crowd ---------------------------------------------------------------------------------------------------------


def all_are_there_once(database: Database, each: int) -> None:
    found = every(database)
    assert [one.id for one in found] == list(range(1, WRITERS * each + 1))
    for writer in range(WRITERS):
        mine = [one.summary for one in found if one.from_ == f"writer-{writer}"]
        assert mine == [one.summary for one in reports(writer, each)]
    with database.read() as connection:
        kept = {one.task_id: one for one in bus_reads.list_states(connection, RUN, StateQuery()).states}
    for task in TASKS:
        updates = [one for one in found if one.type == "state_update" and one.data["task_id"] == task]
        expected = merged_all(KnownState(), [StateUpdate(**one.data) for one in updates])
        assert kept[task].key_findings == expected.key_findings
        assert len(kept[task].key_findings) == len(updates) > 0
        assert kept[task].message_id == updates[-1].id


@pytest.mark.timeout(300)
@pytest.mark.parametrize("batch", [1, BATCH])
def test_five_writers_in_threads_leave_every_message_once_without_a_gap_and_every_state(
    database: Database, database_url: str, batch: int
) -> None:
    each = effort(60 * batch, 400 * batch)
    threads = [threading.Thread(target=write, args=(database_url, n, each, batch)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    all_are_there_once(database, each)


@pytest.mark.timeout(300)
def test_five_writers_in_processes_leave_every_message_once_without_a_gap_and_every_state(
    database: Database, database_url: str
) -> None:
    each = effort(400, 2_000)

    def start(writer: int) -> subprocess.Popen[bytes]:
        told = json.dumps({"url": database_url, "writer": writer, "many": each, "batch": BATCH})
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen([sys.executable, "-m", team_writer.__name__, told], cwd=ROOT, env=environment)

    writers = [start(number) for number in range(WRITERS)]

    assert [writer.wait() for writer in writers] == [0] * WRITERS
    all_are_there_once(database, each)


# ---- over HTTP -------------------------------------------------------------------------------------------------------


def path(end: str = "", run: str = RUN) -> str:
    return f"/api/teams/{run}/messages{end}"


def run_in(app: App, **more: Any) -> None:
    with app.database.transaction() as tx:
        new_run(tx, **more)


def test_messages_are_posted_read_and_acknowledged_over_http(api: Api) -> None:
    run_in(api.app)
    one = {"from": "developer", "type": "progress", "summary": "half", "data": {"percent": 50}}
    many = [{"from": "tester", "to": "developer", "type": "question", "summary": f"{number}?"} for number in range(500)]

    assert api.post(path(), one) == {"run_id": RUN, "first": 1, "last": 1, "unknown_types": []}
    assert api.post(path(), {"messages": many}) == {
        "run_id": RUN,
        "first": 2,
        "last": 501,
        "unknown_types": ["question"],
    }
    assert api.post(path("/broadcast"), {"type": "notice", "summary": "stop"})["last"] == 502

    page = api.get(path("?to=developer&since=500"))
    assert [(each["id"], each["from"], each["to"]) for each in page["messages"]] == [
        (501, "tester", "developer"),
        (502, "operator", "all"),
    ]
    assert page["last"] == 502
    read = api.get(path("/1"))
    assert {name: read[name] for name in ("id", "from", "to", "type", "known", "summary", "data")} == {
        "id": 1,
        "from": "developer",
        "to": "coordinator",
        "type": "progress",
        "known": True,
        "summary": "half",
        "data": {"percent": 50},
    }
    assert api.post(path("/ack"), {"recipient": "developer", "up_to": 500}) == {
        "name": "developer",
        "unread": 2,
        "seen": 500,
    }
    assert api.post(path("/ack"), {})["name"] == "operator"
    assert {each["name"]: each["unread"] for each in api.get(path("/status"))["recipients"]}["developer"] == 2
    update = {"type": "state_update", "summary": "done", "data": {"task_id": "IMPL-001", "key_findings": ["it works"]}}
    api.post(path(), update)
    (state,) = api.get(path("/state?task_id=IMPL-001"))["states"]
    assert (state["key_findings"], state["message_id"]) == (["it works"], 503)


def test_the_same_confirm_id_posts_once(api: Api) -> None:
    run_in(api.app)
    body = {"type": "notice", "summary": "once"}

    answers = [api.request("POST", path(), body, X_GEMBA_Confirm="the-same") for _ in range(2)]

    assert [answer.json["last"] for answer in answers] == [1, 1]
    assert api.get(path())["last"] == 1


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({}, 422, "/type"),
        ({"type": "notice"}, 422, "/summary"),
        ({"type": "notice", "summary": "x" * 100_001}, 422, "/summary"),
        ({"type": "notice", "summary": "x" * 2_001}, 422, "/summary"),
        ({"type": "notice", "summary": "x", "data": {"x": "y" * 100_000}}, 422, "/data"),
        ({"type": "notice", "summary": "x", "from": "coordinator"}, 422, "/from"),
        ({"type": "notice", "summary": "x", "from": "a\0"}, 422, "/from"),
        ({"type": "notice", "summary": "x", "colour": "red"}, 422, "/colour"),
        ({"messages": []}, 422, "/messages"),
        ({"messages": [{"type": "notice", "summary": "x"}] * 501}, 422, "/messages"),
        ({"messages": [{"type": "notice", "summary": "x"}], "summary": "y"}, 422, "/messages"),
        ({"messages": [{"type": "notice", "summary": "x"}, {"type": "notice"}]}, 422, "/messages/1/summary"),
        ({"messages": [{"type": "a", "summary": "x"}, {"type": "A", "summary": "x"}]}, 422, "/messages/1/type"),
        (
            {"messages": [{"type": "rating", "summary": "x", "data": {"task_id": "IMPL-001", "rating": 9}}]},
            422,
            "/messages/0/data/rating",
        ),
        ({"type": "state_update", "summary": "x", "data": {"task_id": "IMPL-9"}}, 404, None),
        ({"type": "rating", "summary": "x", "data": {"task_id": "IMPL-9", "rating": 3}}, 404, None),
    ],
)
def test_what_cannot_be_posted_is_refused_by_its_place_and_leaves_nothing(
    api: Api, body: dict[str, Any], status: int, pointer: str | None
) -> None:
    run_in(api.app)

    answer = api.request("POST", path(), body, X_GEMBA_Confirm="1")

    assert (answer.status, answer.json.get("pointer")) == (status, pointer)
    assert api.get(path())["last"] == 0


def test_a_run_that_is_none_and_a_message_that_is_none_are_refused(api: Api) -> None:
    run_in(api.app)
    for end in ("", "/status", "/state", "/1"):
        assert api.request("GET", path(end, UNKNOWN)).status == 404
        for id in ("..%2Fx", "x", "team-%00", "%2e%2e"):
            assert api.request("GET", path(end, id)).status in (404, 422)
    for end, status in (
        ("/0", 404),
        ("/1", 404),
        ("/x", 422),
        ("/-1", 422),
        ("/99999999999", 422),
        ("/9999999999", 404),
    ):
        assert api.request("GET", path(end)).status == status
    for query in ("?since=-1", "?limit=0", "?limit=501", "?since=99999999999", "?colour=red", "?to="):
        assert api.request("GET", path(query)).status == 422
    for end in ("", "/broadcast"):
        body = {"type": "notice", "summary": "x"}
        assert api.request("POST", path(end, UNKNOWN), body, X_GEMBA_Confirm=f"2{end[1:]}").status == 404
        assert api.request("POST", path(end, "..%2Fx"), body, X_GEMBA_Confirm=f"3{end[1:]}").status == 422


def test_lone_surrogates_and_nul_over_http_are_kept_as_the_mark_of_what_cannot_be(api: Api) -> None:
    run_in(api.app)

    api.post(path(), {"type": "notice", "summary": "a\0b", "data": {"\0": "\0"}})

    read = api.get(path("/1"))
    assert (read["summary"], read["data"]) == ("a\ufffdb", {"\ufffd": "\ufffd"})


def test_whom_a_session_is_in_a_run_the_run_knows(api: Api) -> None:
    run_in(api.app, sessions={"IMPL-001": "s-1"})

    def said(**body: Any) -> Any:
        given = {"type": "progress", "summary": "x", "session_id": "s-1", **body}
        return api.request("POST", path(), given, X_GEMBA_Confirm=str(len(api.get(path("?limit=500"))["messages"]) + 1))

    def last() -> tuple[str, Any]:
        (message,) = api.get(path("?limit=1"))["messages"]
        return message["from"], message["data"].get("task_id")

    assert said().status == 200
    assert last() == ("developer", "IMPL-001")
    assert said(**{"from": "IMPL-001"}).status == 200
    assert last() == ("IMPL-001", "IMPL-001")
    assert said(type="state_update", data={"key_findings": ["mine"]}).status == 200
    assert last() == ("developer", "IMPL-001")
    assert said(session_id="a stranger").status == 200
    assert last() == ("a stranger", None)
    assert said(session_id="a stranger", **{"from": "helper"}).status == 200
    assert last()[0] == "helper"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"from": "coordinator"}, 422, "not_yours"),
        ({"from": "tester"}, 422, "not_yours"),
        ({"from": "TEST-001"}, 422, "not_yours"),
        ({"from": "coordinator", "session_id": "a stranger"}, 422, "not_yours"),
        ({"type": "state_update", "data": {"task_id": "TEST-001"}}, 409, "not_its_task"),
    ],
)
def test_no_agent_speaks_for_another_or_reports_the_state_of_anothers_task(
    api: Api, body: dict[str, Any], status: int, code: str
) -> None:
    run_in(api.app, sessions={"IMPL-001": "s-1"})

    given = {"type": "progress", "summary": "x", "session_id": "s-1", **body}
    answer = api.request("POST", path(), given, X_GEMBA_Confirm="1")

    assert (answer.status, answer.json["code"]) == (status, code)


def test_an_agent_acknowledges_for_itself_alone(api: Api) -> None:
    run_in(api.app, sessions={"IMPL-001": "s-1"})
    api.post(path("/broadcast"), {"type": "notice", "summary": "x"})

    for confirm, recipient in enumerate(("tester", "coordinator")):
        body = {"session_id": "s-1", "recipient": recipient}
        assert api.request("POST", path("/ack"), body, X_GEMBA_Confirm=f"{confirm}").status == 422
    assert api.post(path("/ack"), {"session_id": "s-1"}) == {"name": "developer", "unread": 0, "seen": 1}


# ---- at a terminal ---------------------------------------------------------------------------------------------------


def begin(operator: Operator, **more: Any) -> None:
    operator.ok("inbox")  # makes the database where no server has
    if operator.server is None:
        begin_at(f"sqlite:///{operator.workspace / '.gemba' / 'gemba.db'}", **more)
    else:
        begin_on(operator.server, **more)


def begin_on(server: RunningServer, **more: Any) -> None:
    url = server.environment["GEMBA_DATABASE_URL"]
    begin_at(url or f"sqlite:///{server.workspace / '.gemba' / 'gemba.db'}", **more)


def begin_at(url: str, **more: Any) -> None:
    with closing(connect(url)) as database, database.transaction() as tx:
        new_run(tx, **more)


def test_the_bus_is_used_at_a_terminal_with_a_server_and_without(operator: Operator) -> None:
    begin(operator)

    def msg(*words: str, **more: Any) -> str:
        return operator.ok("team", "msg", words[0], RUN, *words[1:], **more)

    assert msg("list") == "None yet.\n"
    assert msg("log", "half of it", "--type", "progress", "--from", "developer") == "message 1\n"
    assert msg("log", "hello", "--type", "chat", "--to", "tester") == "message 2 (no schema is known for chat)\n"
    assert msg("broadcast", "stop", "--type", "notice").startswith("message 3")
    lines = "\n".join(json.dumps({"type": "progress", "summary": str(n), "from": "tester"}) for n in range(501))
    assert msg("log", "--lines", "-", stdin=lines) == "501 posted, up to message 504\n"
    data = json.dumps({"task_id": "IMPL-001", "key_findings": ["tokens expire"], "verification": "tested"})
    told = json.loads(msg("log", "it works", "--type", "state_update", "--data", data, "--json"))
    assert told == {"run_id": RUN, "first": 505, "last": 505, "unknown_types": []}

    listed = msg("list", "--to", "tester", "--limit", "5")
    assert "2  chat (unknown type) · operator → tester" in listed
    assert listed.endswith("2 shown; the last message of the run is 505.\n")
    assert len(json.loads(msg("list", "--since", "4", "--from", "tester", "--json"))["messages"]) == 50
    assert '"tokens expire"' in msg("read", "505")
    assert json.loads(msg("read", "1", "--json"))["from"] == "developer"
    assert "found: tokens expire" in msg("get-state", "IMPL-001")
    assert "IMPL-001  tested · message 505" in msg("get-state")
    assert msg("ack", "--as", "tester", "--up-to", "2") == "tester has read up to 2; 1 unread\n"
    assert json.loads(msg("ack", "--json"))["name"] == "operator"
    status = msg("status")
    assert "said last" in status
    assert any(line.split() == ["tester", "1", "2"] for line in status.splitlines())


MISUSES = [
    (("list", "../x"), 1, "'../x' is no id of a team run"),
    (("list", UNKNOWN), 1, f"no team run has the id {UNKNOWN}"),
    (("read", RUN, "7"), 1, "has no message 7"),
    (("log", RUN, "x"), 2, "Missing option --type"),
    (("log", RUN, "--type", "x"), 2, "Missing argument SUMMARY"),
    (("log", RUN, "x", "--type", "X Y"), 1, "type is 'X Y'"),
    (("log", RUN, "x", "--type", "a", "--data", "[1]"), 2, "--data is no JSON object"),
    (("log", RUN, "x", "--type", "a", "--from", "coordinator"), 1, "from is 'coordinator'"),
    (("log", RUN, "--lines", "-"), 1, "there is no message in it"),
    (("log", RUN, "x", "--lines", "-"), 2, "With --lines"),
    (("get-state", RUN, "IMPL-9"), 1, "has no task IMPL-9"),
    (("ack", RUN, "--up-to", "9"), 1, "up_to is 9; allowed: 0 to 0"),
    (("drop", RUN), 2, "No such command 'drop'"),
]


def test_what_a_terminal_cannot_do_is_one_line(served: Operator) -> None:
    begin(served)

    for arguments, code, said in MISUSES:
        assert said in served.refused("team", "msg", *arguments, code=code)


def test_in_an_agents_session_the_command_speaks_for_that(alone: Operator) -> None:
    begin(alone, sessions={"IMPL-001": "s-1"})

    alone.ok("team", "msg", "log", RUN, "x", "--type", "progress", GEMBA_SESSION_ID="s-1")

    assert json.loads(alone.ok("team", "msg", "read", RUN, "1", "--json"))["from"] == "developer"
    refused = alone.run("team", "msg", "log", RUN, "x", "--type", "a", "--from", "tester", GEMBA_SESSION_ID="s-1")
    assert "allowed: IMPL-001, developer" in refused.stderr


# ---- over MCP --------------------------------------------------------------------------------------------------------


async def speaks(client: Any, name: str) -> None:
    """Everything that the tool does, as a session that has IMPL-001."""

    async def call(operation: str, **given: Any) -> Any:
        return await client.call_tool("team_msg", {"operation": operation, "session_id": RUN, **given})

    data = {"key_findings": [f"found over {name}"]}
    assert words(await call("log", type="state_update", summary="done", data=data)) == "posted as message 1"
    many = [{"type": "chat", "summary": f"{number}", "to": "tester"} for number in range(3)]
    assert words(await call("log", messages=many)) == "posted as messages 2 to 4; no schema is known for chat"
    assert facts(await call("broadcast", type="notice", summary="stop"))["last"] == 5
    page = facts(await call("list", to="tester", since=3, limit=10))
    assert [(each["id"], each["from"]) for each in page["messages"]] == [(4, "developer"), (5, "developer")]
    assert facts(await call("read", id=1))["data"] == {"task_id": "IMPL-001", **data}
    assert {each["name"]: each["unread"] for each in facts(await call("status"))["recipients"]} == {
        "coordinator": 2,
        "developer": 1,
        "researcher": 1,
        "tester": 4,
    }
    (state,) = facts(await call("get_state", task_id="IMPL-001"))["states"]
    assert state["key_findings"] == data["key_findings"]
    assert facts(await call("ack", up_to=5)) == {"name": "developer", "unread": 0, "seen": 5}

    for given, said in (
        ({"operation": "log", "type": "a", "summary": "x", "from": "coordinator"}, "from is 'coordinator'"),
        ({"operation": "log", "type": "state_update", "summary": "x", "data": {"task_id": "TEST-001"}}, "is not this"),
        ({"operation": "list", "session_id": "../x"}, "is no id of a team run"),
        ({"operation": "list", "session_id": UNKNOWN}, "no team run has the id"),
        ({"operation": "list", "type": "\0"}, "type"),
        ({"operation": "drop"}, "operation 'drop' is unknown"),
        ({"operation": "read", "id": 99}, "has no message 99"),
        ({"operation": "log", "type": "a", "summary": "x", "data": {"x": "y" * 100_000}}, "data takes"),
    ):
        refused = await client.call_tool("team_msg", {"session_id": RUN, **given})
        assert refused.is_error, given
        assert said in words(refused), given


@pytest.mark.anyio
async def test_an_agent_talks_in_its_run_over_stdio(sqlite_server: RunningServer, home: Path, workspace: Path) -> None:
    begin_on(sqlite_server, sessions={"IMPL-001": "s-1"})
    async with over_stdio(home, workspace, GEMBA_SESSION_ID="s-1") as client:
        await speaks(client, "stdio")


@pytest.mark.anyio
async def test_an_agent_talks_in_its_run_over_http(sqlite_server: RunningServer) -> None:
    begin_on(sqlite_server, sessions={"IMPL-001": "s-1"})
    async with over_http(sqlite_server.url, sqlite_server.token, X_GEMBA_Session="s-1") as client:
        await speaks(client, "HTTP")


@pytest.mark.anyio
async def test_without_a_server_the_tool_says_so(home: Path, workspace: Path) -> None:
    async with over_stdio(home, workspace) as client:
        refused = await client.call_tool("team_msg", {"operation": "list", "session_id": RUN})
        assert refused.is_error
        assert words(refused).startswith("messages of a team run need the workspace's server: no server runs")
