"""The MCP tools themselves: the table, what arguments are taken, the rules of the commands, and JSON-RPC on a line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from gemba import wire
from gemba.mcp import arguments, rpc, tools
from gemba.mcp.headers import session_of
from gemba.mcp.tool import Answer, NoServer
from gemba.sessions.session import Facts
from gemba.sessions.translator import translate
from gemba.speaker import Session
from gemba.wire import Refused
from tests.fixtures.envelopes import good
from tests.fixtures.handed import envelope
from tests.fixtures.hooks import frames

NAMES = (
    *("ask_question", "raise_blocker", "report_state", "emit_skill_output", "submit_handoff", "get_context"),
    *("list_work", "claim_work", "team_msg"),
)


class Away:
    """No server."""

    def hand_in(self, handoff: dict[str, Any]) -> dict[str, Any]:
        raise NoServer("no server runs")

    def handoff(self, id: str) -> dict[str, Any]:
        raise NoServer("no server runs")

    def sections(self) -> list[dict[str, Any]]:
        raise NoServer("no server runs")

    def ready_work(self, limit: int) -> dict[str, Any]:
        raise NoServer("no server runs")

    def claim_work(self, id: str, owner: str, seconds: int) -> dict[str, Any]:
        raise NoServer("no server runs")

    def post_to_team(self, run: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        raise NoServer("no server runs")

    def read_of_team(self, run: str, what: str, query: dict[str, Any]) -> dict[str, Any]:
        raise NoServer("no server runs")


class Agent:
    """A session that calls tools, and the frames that it leaves."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self.home = home
        self.session = Session("team/one", home=str(home), workspace=str(workspace), cwd=str(workspace))
        self.session.role, self.session.mode = "manager", "balanced"

    def call(self, name: str, **given: Any) -> Answer:
        found = tools.call(name, given, self.session, Away())
        assert isinstance(found, Answer)
        return found

    def refusal(self, name: str, given: object) -> str:
        """Why a call is refused; it has left nothing."""
        before = len(frames(self.home))
        with pytest.raises(Refused) as refused:
            tools.call(name, given, self.session, Away())
        assert len(frames(self.home)) == before
        return str(refused.value)

    def last(self) -> Any:
        return frames(self.home)[-1].payload


@pytest.fixture
def agent(home: Path, workspace: Path) -> Agent:
    return Agent(home, workspace)


# ---- the table -------------------------------------------------------------------------------------------------------


def test_the_table_has_these_tools_and_no_other() -> None:
    assert tuple(tools.BY_NAME) == NAMES


@pytest.mark.parametrize("tool", tools.TOOLS, ids=NAMES)
def test_every_tool_has_a_schema_that_takes_the_examples_of_its_description(tool: Any) -> None:
    judge = validator_for(tool.schema)
    examples = [line.partition("    ")[0] for line in tool.description.splitlines() if line.startswith("{")]
    assert examples
    for example in map(json.loads, examples):
        assert judge.is_valid(example)
        assert arguments.fitting(tool.schema, example) == example


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("report_state", {}, "state is missing; allowed: initializing, ready, working, prompting, stalled, bead-done"),
        ("report_state", {"state": "asleep"}, "state 'asleep' is unknown; allowed: initializing, ready, working, "),
        ("report_state", {"state": 3}, "state is a number; allowed: initializing, "),
        ("report_state", {"state": "ready", "note": "x" * 2001}, "note has 2001 characters; allowed: up to 2000"),
        ("report_state", {"state": "ready", "colour": "red"}, "unknown argument 'colour'; allowed: state, bead_id, "),
        ("report_state", [], "the arguments are a list; allowed: an object"),
        ("ask_question", {}, "text is missing; allowed: a text"),
        ("ask_question", {"text": " "}, "text is empty; allowed: up to 100000 characters"),
        ("ask_question", {"text": "x" * 100_001}, "text has 100001 characters; allowed: up to 100000"),
        ("ask_question", {"text": "?", "wait": "yes"}, "wait is a text; allowed: true or false"),
        ("ask_question", {"text": "?", "wait_seconds": True}, "wait_seconds is true or false; allowed: a number from"),
        ("ask_question", {"text": "?", "wait_seconds": -1}, "wait_seconds is -1; allowed: a number from 0 to 86400"),
        ("ask_question", {"text": "?", "wait_seconds": float("nan")}, "wait_seconds is a number; allowed: a number "),
        ("ask_question", {"text": "?", "options": []}, "options is empty; allowed: up to 50 items"),
        ("ask_question", {"text": "?", "options": ["a"] * 51}, "options has 51 items; allowed: up to 50"),
        ("ask_question", {"text": "?", "options": ["a", ""]}, "options[1] is empty; allowed: up to 2000 characters"),
        ("ask_question", {"text": "?", "options": ["a"], "schema": {"type": "string"}}, "schema does not go with opti"),
        ("ask_question", {"text": "?", "schema": {}}, "schema is empty and takes every answer"),
        ("ask_question", {"text": "?", "schema": {"x": "y" * 70_000}}, "schema has 70008 bytes; allowed: up to 65536"),
        ("ask_question", {"text": "?", "chose": "!", "wait": True}, "wait or wait_seconds does not go with kind assum"),
        ("ask_question", {"resume": "1", "text": "?"}, "text does not go with resume; allowed: resume, wait_seconds"),
        ("ask_question", {"resume": "../x"}, "'../x' is no event id"),
        ("ask_question", {"resume": "nothing"}, "session 'team/one' has asked nothing with the event id nothing"),
        ("raise_blocker", {"text": "?", "chose": "!"}, "unknown argument 'chose'; allowed: text, "),
        ("emit_skill_output", {"skill_id": "pm.x", "lines": "a"}, "lines is a text; allowed: a list"),
        ("emit_skill_output", {"skill_id": "pm.x", "lines": ["a", 3]}, "lines[1] is a number; allowed: an object or "),
        (
            "emit_skill_output",
            {"skill_id": "pm.x", "lines": [{"x": float("inf")}]},
            "the arguments cannot be kept: inf",
        ),
        ("emit_skill_output", {"skill_id": "pm.x", "lines": ["x" * 5_000_000]}, "the frame would take"),
        ("emit_ordering", {"skill_id": "x", "lines": ["a"]}, "unknown argument 'skill_id'; allowed: lines"),
        ("emit_ordering", {}, "lines is missing; allowed: a list"),
        ("submit_handoff", {"envelope": "{}"}, "envelope is a text; allowed: an object"),
        ("get_context", {}, "there is no dispatch (GEMBA_DISPATCH_ID), and what is known of the project cannot be re"),
        ("list_work", {}, "work cannot be listed without the workspace's server: no server runs"),
        ("list_work", {"limit": 0}, "limit is 0; allowed: a number from 1 to 200"),
        ("claim_work", {}, "item_id is missing; allowed: a text"),
        ("claim_work", {"item_id": "shop-1"}, "work cannot be claimed without the workspace's server: no server runs"),
        (
            "team_msg",
            {"session_id": "x"},
            "operation is missing; allowed: log, broadcast, list, read, status, get_state",
        ),
        (
            "team_msg",
            {"operation": "drop", "session_id": "x"},
            "operation 'drop' is unknown; allowed: log, broadcast, ",
        ),
        ("team_msg", {"operation": "list"}, "session_id is missing; allowed: a text"),
        ("team_msg", {"operation": "read", "session_id": "x"}, "id is missing: read wants it"),
        ("team_msg", {"operation": "read", "session_id": "x", "id": 1.5}, "id is 1.5; allowed: a whole number"),
        (
            "team_msg",
            {"operation": "ack", "session_id": "x", "data": {}},
            "data does not go with ack; allowed: recipient",
        ),
        (
            "team_msg",
            {"operation": "status", "session_id": "x", "to": "y"},
            "to does not go with status; allowed: none",
        ),
        (
            "team_msg",
            {"operation": "log", "session_id": "x", "data": {"n": float("inf")}},
            "the arguments cannot be kept",
        ),
        (
            "team_msg",
            {"operation": "log", "session_id": "x", "messages": []},
            "messages is empty; allowed: up to 500 it",
        ),
        (
            "team_msg",
            {"operation": "log", "session_id": "x", "summary": "s" * 100_000},
            "summary has 100000 characters",
        ),
        *(
            ("team_msg", {"session_id": "x", **given}, "messages of a team run need the workspace's server: no server")
            for given in (
                {"operation": "log", "type": "progress", "summary": "half"},
                {"operation": "broadcast", "type": "progress", "summary": "half"},
                {"operation": "list"},
                {"operation": "read", "id": 1},
                {"operation": "status"},
                {"operation": "get_state"},
                {"operation": "ack"},
            )
        ),
        ("get_text", {}, "unknown tool 'get_text'; allowed: ask_question, raise_blocker, "),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place_and_what_is_allowed_and_leaves_nothing(
    agent: Agent, name: str, given: object, words: str
) -> None:
    assert agent.refusal(name, given).startswith(words)


def nested(levels: int) -> Any:
    deep: Any = "x"
    for _ in range(levels):
        deep = {"in": deep}
    return deep


def test_arguments_that_are_nested_beyond_all_use_are_refused(agent: Agent) -> None:
    refused = agent.refusal("emit_skill_output", {"skill_id": "pm.x", "lines": [nested(300)]})
    assert refused.startswith("the arguments are nested")


def test_lines_that_their_event_could_not_hold_are_refused(agent: Agent) -> None:
    deepest = wire.MAX_DEPTH - 3  # above them are the payload and the list, below them is a text
    agent.call("emit_skill_output", skill_id="pm.x", lines=[nested(deepest)])
    (event,) = translate(frames(agent.home)[-1], Facts()).drafts
    assert event.payload["lines"] == [nested(deepest)]

    refused = agent.refusal("emit_skill_output", {"skill_id": "pm.x", "lines": [nested(deepest + 1)]})
    assert refused == "lines is nested too deeply; allowed: 32 levels, the arguments' own included"


# ---- the rules of the commands ---------------------------------------------------------------------------------------


def test_the_role_is_the_sessions_own(agent: Agent) -> None:
    for role, written in (("coach", "coach"), ("manager", "manager"), ("", "coach")):
        agent.session.role = role
        agent.call("ask_question", text="Which port?")
        assert agent.last()["role"] == written

    agent.session.role = "boss"
    assert agent.refusal("ask_question", {"text": "?"}) == "GEMBA_ROLE 'boss' is unknown; allowed: coach, manager"


def test_a_coach_raises_no_blocker_and_a_manager_does(agent: Agent) -> None:
    assert "blocking: stop and wait for the reply" in agent.call("raise_blocker", text="No key.").text
    assert (agent.last()["kind"], agent.last()["role"]) == ("blocker", "manager")

    agent.session.role = "coach"
    refused = agent.refusal("raise_blocker", {"text": "No key."})
    assert refused == f"{wire.refusal('blocker', 'coach', 'balanced')}; here: ask_question"


def test_dangerous_mode_takes_no_question_and_names_the_way_that_is_left(agent: Agent) -> None:
    agent.session.mode = "dangerous"
    for name in ("ask_question", "raise_blocker"):
        assert "in dangerous mode: decide yourself" in agent.refusal(name, {"text": "Which port?"})
        assert agent.refusal(name, {"text": "Which port?"}).endswith("here: ask_question with chose")

    assert agent.call("ask_question", text="Which port?", chose="8080").text.endswith("recorded: go on")
    assert (agent.last()["kind"], agent.last()["chose"]) == ("assumption", "8080")


def test_the_mode_decides_what_an_ask_means_and_an_unknown_one_is_refused(agent: Agent) -> None:
    for mode, urgency in (("balanced", "advisory"), ("cautious", "blocking"), ("", "advisory")):
        agent.session.mode = mode
        answer = agent.call("ask_question", text="Which port?")
        assert answer.facts
        assert answer.facts["urgency"] == urgency
        assert ("GEMBA_INTERACTION_MODE is not set, going by balanced" in answer.text) is (not mode)

    agent.session.mode = "reckless"
    assert agent.refusal("ask_question", {"text": "?"}).startswith("GEMBA_INTERACTION_MODE 'reckless' is unknown")
    assert agent.refusal("report_state", {"state": "ready"}).startswith("GEMBA_INTERACTION_MODE 'reckless' is unknown")


def test_a_skills_lines_are_kept_as_they_are(agent: Agent) -> None:
    lines = [{"type": "strategy", "text": "Smallest first.\u2028"}, "text", {"of": [1.5, True, None, {}]}]
    assert "3 lines" in agent.call("emit_skill_output", skill_id="pm.stage_epics", lines=lines).text
    assert agent.last() == {"skill_id": "pm.stage_epics", "lines": lines}


def test_the_output_of_a_consult_skill_may_go_by_the_skills_own_name_for_it_which_nobody_is_told_of(
    agent: Agent,
) -> None:
    lines = [{"type": "strategy"}, {"type": "summary"}]
    assert "2 lines" in agent.call("emit_ordering", lines=lines).text
    assert agent.last() == {"skill_id": "epic_order", "lines": lines}
    assert "emit_ordering" not in tools.BY_NAME


def test_a_handoff_is_judged_by_its_shape_where_no_server_runs_and_only_a_good_one_becomes_a_frame(
    agent: Agent,
) -> None:
    bad = agent.call("submit_handoff", envelope={"agent_status": {}})
    assert bad.is_error
    assert "evidence_report" in bad.text
    assert "by its shape alone: no server runs" in bad.text
    assert frames(agent.home) == []

    found = agent.call("submit_handoff", envelope=good())
    assert not found.is_error
    assert "by its shape alone: no server runs" in found.text
    assert agent.last() == {"envelope": good()}


class Restarting(Away):
    """A server that takes a handoff, is gone, has no database, and then has concluded."""

    def __init__(self) -> None:
        verdict: dict[str, Any] = {"findings": []}
        self._made = {"id": "h1", "state": "checking", "plan_status": "COMPLETE", "verdict": verdict, "told": ""}
        self._troubles: list[Exception] = [NoServer("no server runs"), Refused("the database is not usable")]

    def hand_in(self, handoff: dict[str, Any]) -> dict[str, Any]:
        return self._made

    def handoff(self, id: str) -> dict[str, Any]:
        if self._troubles:
            raise self._troubles.pop(0)
        return {**self._made, "state": "accepted"}


def test_a_server_that_starts_anew_says_nothing_of_a_handoff_and_the_next_one_does(agent: Agent) -> None:
    waiting = tools.call("submit_handoff", {"envelope": good()}, agent.session, Restarting())
    assert not isinstance(waiting, Answer)

    assert [waiting.look(), waiting.look()] == [None, None]
    assert frames(agent.home) == []
    concluded = waiting.look()
    assert concluded
    assert (concluded.is_error, concluded.text) == (False, "h1 accepted: COMPLETE")
    assert agent.last() == {"envelope": good()}


def test_what_is_given_to_a_dispatch_is_read_from_its_file(agent: Agent) -> None:
    agent.session.dispatch_id = "d1"
    place = Path(wire.envelope_path(str(agent.home), "d1"))
    place.parent.mkdir()
    place.write_text(json.dumps({"metadata": {"agent_id": "a00000000000000b1"}, "goal": "Ümlaut"}))

    assert "Ümlaut" in agent.call("get_context").text
    place.with_suffix(".md").write_text("# Your work")
    answer = agent.call("get_context")
    assert answer.text == "# Your work"
    assert answer.facts
    assert answer.facts["envelope"]["goal"] == "Ümlaut"


def test_a_handoff_of_a_dispatch_has_to_be_from_its_agent(agent: Agent) -> None:
    agent.session.dispatch_id = "d1"
    place = Path(wire.envelope_path(str(agent.home), "d1"))
    place.parent.mkdir()
    dispatched = {"agent_id": "a00000000000000b1"}
    place.write_text(json.dumps({"metadata": dispatched}))

    other = agent.call("submit_handoff", envelope=good())
    assert other.facts
    assert (other.is_error, other.facts["verdict"]["invalid"]) == (
        True,
        [f"AGENT_ID:{good()['agent_status']['agent_id']}"],
    )

    own = envelope(dispatched)
    assert not agent.call("submit_handoff", envelope=own).is_error
    assert agent.last() == {"dispatch_id": "d1", **dispatched, "envelope": own}


# ---- whom an HTTP request speaks for ---------------------------------------------------------------------------------


def headers(**said: str) -> Session:
    given = {name.replace("_", "-"): value for name, value in said.items()}
    return session_of(given, home="/home", workspace="/workspace")


def test_headers_name_the_session_and_what_belongs_to_it() -> None:
    found = headers(
        X_GEMBA_Session="ünit".encode().decode("latin-1"),
        X_GEMBA_Role="coach",
        X_GEMBA_Mode="cautious",
        X_GEMBA_Agent_Type="codex",
        X_GEMBA_Dispatch="d1",
        X_GEMBA_Folder="/tree",
    )
    assert vars(found) == {
        "id": "ünit",
        "home": "/home",
        "workspace": "/workspace",
        "cwd": "/tree",
        "agent_type": "codex",
        "role": "coach",
        "mode": "cautious",
        "_started_with": "d1",
    }
    assert found.dispatch_id == "d1"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "the header X-GEMBA-Session is missing: it names the session"),
        ({"X_GEMBA_Session": "x" * 513}, "X-GEMBA-Session has 513 characters; allowed: up to 512"),
        ({"X_GEMBA_Session": "x", "X_GEMBA_Role": "boss"}, "X-GEMBA-Role 'boss' is unknown; allowed: coach, manager"),
        ({"X_GEMBA_Session": "x", "X_GEMBA_Mode": "mad"}, "X-GEMBA-Mode 'mad' is unknown; allowed: dangerous, bal"),
        ({"X_GEMBA_Session": "x", "X_GEMBA_Folder": "a/b"}, "X-GEMBA-Folder 'a/b' is no absolute path; allowed: "),
    ],
)
def test_headers_that_say_what_cannot_be_are_refused(said: dict[str, str], words: str) -> None:
    with pytest.raises(Refused) as refused:
        headers(**said)
    assert str(refused.value).startswith(words)


# ---- JSON-RPC --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", rpc.PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', rpc.PARSE_ERROR),
        (b'{"jsonrpc": "2.0"} {}', rpc.PARSE_ERROR),
        (b'{"id": NaN}', rpc.PARSE_ERROR),
        (b'"\xff"', rpc.PARSE_ERROR),
        (b"[" * 100_000, rpc.PARSE_ERROR),
        (b"1" * 5_000, rpc.PARSE_ERROR),
        (b"[]", rpc.INVALID_REQUEST),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"id": 1, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', rpc.INVALID_PARAMS),
    ],
)
def test_a_message_that_is_no_request_gets_a_protocol_error(line: bytes, code: int) -> None:
    with pytest.raises(rpc.Fault) as fault:
        rpc.read(line)
    assert fault.value.code == code
    assert json.loads(rpc.fault(fault.value))["error"]["code"] == code


def test_an_answer_and_a_spoilt_notification_are_passed_over() -> None:
    assert rpc.read(b'{"jsonrpc": "2.0", "id": 1, "result": {}}') is None
    assert rpc.read(b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 3}') is None


@pytest.mark.parametrize(("wished", "spoken"), [*((one, one) for one in rpc.VERSIONS), ("2031-01-01", rpc.VERSIONS[0])])
def test_a_client_gets_the_version_it_speaks_or_else_the_newest_one(wished: str, spoken: str) -> None:
    said = json.loads(rpc.answer(rpc.Message(1, "initialize", {"protocolVersion": wished})))["result"]
    assert said["protocolVersion"] == spoken
    assert said["capabilities"] == {"tools": {}}


@pytest.mark.parametrize("method", ["server/discover", "resources/list", "tools/run"])
def test_a_method_that_is_not_there_is_said_not_to_be(method: str) -> None:
    with pytest.raises(rpc.Fault) as fault:
        rpc.answer(rpc.Message("x", method, {}))
    assert (fault.value.code, fault.value.id) == (rpc.METHOD_NOT_FOUND, "x")


@given(st.binary(max_size=200))
def test_any_line_is_a_message_or_a_fault(line: bytes) -> None:
    try:
        found = rpc.read(line)
    except rpc.Fault:
        return
    assert found is None or isinstance(found, rpc.Message)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.sampled_from(tools.TOOLS).flatmap(
        lambda tool: st.tuples(
            st.just(tool), st.dictionaries(st.sampled_from([*tool.schema["properties"], "x"]), _JSON) | _JSON
        )
    )
)
def test_any_arguments_fit_as_the_schema_says_or_are_refused(drawn: tuple[Any, object]) -> None:
    tool, given = drawn
    try:
        found = arguments.fitting(tool.schema, given)
    except Refused:
        return
    assert validator_for(tool.schema).is_valid(found)


def test_a_coach_does_not_claim_work(agent: Agent) -> None:
    agent.session.role = "coach"

    assert agent.refusal("claim_work", {"item_id": "shop-1"}) == (
        "a session whose role is 'coach' cannot claim work; allowed: manager"
    )
