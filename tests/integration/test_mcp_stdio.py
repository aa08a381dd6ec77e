"""`gemba-mcp` as a client starts it: a real process, the official SDK's client, with a server and without one."""

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemba.speaker import NO_SESSION
from gemba.testing import retry_until
from tests.fixtures.envelopes import good
from tests.fixtures.handed import claiming, strict, wish
from tests.fixtures.hooks import frames, handoffs
from tests.fixtures.mcp import SESSION, Waiting, facts, over_stdio, words
from tests.fixtures.servers import BIN, RunningServer
from tests.integration.test_ask_command import imported

PIPE = str(BIN / "gemba-mcp")
NAMES = ["ask_question", "raise_blocker", "report_state", "emit_skill_output", "submit_handoff", "get_context"]
NAMES += ["list_work", "claim_work", "team_msg"]


def payload(home: Path) -> Any:
    return frames(home, SESSION)[-1].payload


# ---- without a server ------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_without_a_server_every_tool_answers_and_what_is_said_is_in_the_log(home: Path, workspace: Path) -> None:
    async with over_stdio(home, workspace, GEMBA_AGENT_TYPE="codex") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES

        asked = await client.call_tool("ask_question", {"text": "Which database?", "options": ["SQLite", "Postgres"]})
        assert words(asked).endswith("advisory: go on")
        assert payload(home)["options"] == ["SQLite", "Postgres"]
        assert payload(home)["branch"] == "main"

        assert "blocking" in words(await client.call_tool("raise_blocker", {"text": "No key."}))
        await client.call_tool("report_state", {"state": "working", "bead_id": "shop-12", "note": "tests"})
        assert payload(home) == {"state": "working", "bead_id": "shop-12", "note": "tests"}
        await client.call_tool("emit_skill_output", {"skill_id": "pm.x", "lines": [{"type": "summary"}]})
        assert payload(home) == {"skill_id": "pm.x", "lines": [{"type": "summary"}]}
        assert facts(await client.call_tool("submit_handoff", {"envelope": good()}))["judged"] == "shape"
        assert handoffs(home, SESSION) == [{"envelope": good()}]

        context = await client.call_tool("get_context", {})
        assert context.is_error
        assert "no server runs for" in words(context)
    written = frames(home, SESSION)
    assert [frame.hook for frame in written] == [
        *("GembaAsk", "GembaAsk", "GembaState", "GembaSkillOutput", "GembaHandoff")
    ]
    assert {(frame.session_id, frame.workspace, frame.agent_type) for frame in written} == {
        (SESSION, str(workspace), "codex")
    }


@pytest.mark.anyio
async def test_what_a_command_refuses_a_tool_refuses_in_the_same_words(home: Path, workspace: Path) -> None:
    async with over_stdio(home, workspace, GEMBA_ROLE="coach", GEMBA_INTERACTION_MODE="cautious") as client:
        refused = await client.call_tool("raise_blocker", {"text": "No key."})
        said = "a coach never raises a blocker: use --kind question, or leave the blocker to a manager"
        assert (refused.is_error, words(refused)) == (True, f"{said}; here: ask_question")
        refused = await client.call_tool("ask_question", {"text": "Which?", "options": ["A", "A"]})
        assert (refused.is_error, words(refused)) == (True, "options: 'A' is given twice; allowed: each answer once")
    async with over_stdio(home, workspace, GEMBA_SESSION_ID="") as client:
        refused = await client.call_tool("report_state", {"state": "ready"})
        assert words(refused) == NO_SESSION
    assert frames(home, SESSION) == []


def ask_by_command(home: Path, workspace: Path) -> None:
    (workspace / "schema.json").write_text('{"type": "integer"}')
    flags = ["--text", "Which port?", "--title", "Port", "--bead", "shop-1", "--schema", "schema.json"]
    subprocess.run(
        [BIN / "gemba-ask", "--kind", "question", "--role", "manager", *flags],
        cwd=workspace,
        env={"GEMBA_HOME": str(home), "GEMBA_SESSION_ID": SESSION, "GEMBA_INTERACTION_MODE": "balanced"},
        check=True,
        capture_output=True,
    )


@pytest.mark.anyio
async def test_an_ask_is_the_frame_that_the_command_would_write(home: Path, workspace: Path) -> None:
    async with over_stdio(home, workspace) as client:
        given = {"text": "Which port?", "title": "Port", "bead_id": "shop-1", "schema": {"type": "integer"}}
        await client.call_tool("ask_question", given)
    await asyncio.to_thread(ask_by_command, home, workspace)
    tool, command = frames(home, SESSION)
    assert tool.payload == command.payload


# ---- the conversation ------------------------------------------------------------------------------------------------


class Conversation:
    """Lines with a `gemba-mcp`, as they are."""

    def __init__(self, home: Path, workspace: Path, stdout: int = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [PIPE],
            cwd=workspace,
            env={"GEMBA_HOME": str(home), "GEMBA_SESSION_ID": SESSION},
            stdin=subprocess.PIPE,
            stdout=stdout,
        )

    def say(self, line: bytes | dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        heard: dict[str, Any] = json.loads(self.process.stdout.readline())
        return heard

    def call(self, id: object, **given: Any) -> None:
        params = {"name": "ask_question", "arguments": given, "_meta": {"progressToken": f"p{id}"}}
        self.say({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    def end(self) -> tuple[int, bytes]:
        """Its exit code, and what it still said."""
        rest, _ = self.process.communicate(timeout=30)
        return self.process.returncode, rest


@pytest.fixture
def talk(home: Path, workspace: Path) -> Iterator[Conversation]:
    conversation = Conversation(home, workspace)
    yield conversation
    conversation.process.kill()
    conversation.process.communicate()


def test_nothing_that_a_client_says_ends_the_conversation_but_its_end(talk: Conversation) -> None:
    for line, code in (
        (b"nonsense\n", -32700),
        (b"\n   \n[]\n", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]\n', -32600),
        (b'{"jsonrpc": "2.0", "id": 0, "method": "server/discover"}\n', -32601),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "\\ud800"}\n', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["report_state"]}\n', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}\n', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}\n', -32602),
        (b"x" * (33 * 1024 * 1024), -32700),  # told while it still comes
    ):
        talk.say(line)
        assert talk.hear()["error"]["code"] == code
    talk.say(b"the end of it\n")
    wrong: list[Any] = [[], "ready", {"state": {}}]
    for given in wrong:
        params = {"name": "report_state", "arguments": given}
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        assert talk.hear()["result"]["isError"]
    for id in ([1], None, True, "never asked"):
        talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    talk.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n{"id": 1, "result": {}}\n')
    for half in (b'{"jsonrpc": "2.0", "id": "x", "me', b'thod": "ping"}\r\n'):
        talk.say(half)
    assert talk.hear() == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert talk.end() == (0, b"")


def test_a_wait_lets_other_messages_pass_and_a_cancel_ends_it_alone(
    talk: Conversation, home: Path, workspace: Path
) -> None:
    talk.call(1, text="Which port?", wait=True)
    told = talk.hear()["params"]
    assert (told["progressToken"], told["message"][36:]) == ("p1", " advisory: waiting for the reply")
    talk.call(2, text="And now?", wait_seconds=0.1)
    assert talk.hear()["params"]["progressToken"] == "p2"
    late = talk.hear()
    assert (late["id"], late["result"]["isError"]) == (2, True)
    assert late["result"]["content"][0]["text"].startswith("nobody has answered yet; the question stays open")

    talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    talk.say({"jsonrpc": "2.0", "id": 3, "method": "ping"})
    assert talk.hear()["id"] == 3
    assert [frame.hook for frame in frames(home, SESSION)] == ["GembaAsk", "GembaAsk"]
    assert talk.end() == (0, b"")


def test_a_client_that_goes_ends_it_and_leaves_what_was_asked(talk: Conversation, home: Path) -> None:
    talk.call(1, text="Which port?", wait=True)
    talk.hear()
    assert talk.end() == (0, b"")
    assert payload(home)["text"] == "Which port?"


def test_half_a_line_is_nothing_said(talk: Conversation, home: Path) -> None:
    """What has no end may have been cut: nothing of it is done."""
    params = {"name": "ask_question", "arguments": {"text": "Which port?"}}
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    talk.say(whole[: len(whole) // 2])

    assert talk.end() == (0, b"")
    assert frames(home, SESSION) == []


def test_a_client_that_reads_late_and_lets_nobody_wait_gets_every_answer_whole(home: Path, workspace: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    conversation = Conversation(home, workspace, stdout=writer)
    os.close(writer)
    many = 40  # far more than a pipe holds
    for id in range(many):
        conversation.say({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
    assert conversation.process.stdin
    conversation.process.stdin.close()

    with os.fdopen(reader, "rb") as heard:
        answers = [json.loads(line) for line in heard]

    assert [answer["id"] for answer in answers] == list(range(many))
    assert conversation.process.wait(timeout=30) == 0


def test_a_start_loads_these_modules_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "")
    assert imported(PIPE) - imported("-c", "pass") == {
        "gemba",
        "gemba.cli",
        "gemba.cli.agent",
        "gemba.cli.mcp",
        "gemba.mcp",
        "gemba.mcp.arguments",
        "gemba.mcp.asking",
        "gemba.mcp.context",
        "gemba.mcp.handing_in",
        "gemba.mcp.messaging",
        "gemba.mcp.rpc",
        "gemba.mcp.tool",
        "gemba.mcp.tools",
        "gemba.mcp.working",
        "gemba.skills",
        "gemba.skills.consult",
        "gemba.skills.consult.tool_names",
        "gemba.speaker",
        "gemba.wire",
        "_json",
        "errno",
        "fcntl",
        "select",
    }


# ---- with a server ---------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_an_answer_reaches_the_call_that_waits_also_when_the_server_was_killed_meanwhile(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    async with over_stdio(home, workspace) as client:
        waiting = Waiting(client, "ask_question", text="Which database?", options=["SQLite", "Postgres"], wait=True)
        id = await waiting.event_id()

        def answer() -> None:
            sqlite_server.kill()
            sqlite_server.start()
            retry_until(lambda: sqlite_server.request("GET", f"/api/escalations/{id}").status == 200)
            sqlite_server.post(f"/api/escalations/{id}/respond", {"option": 2})
            retry_until(lambda: sqlite_server.get(f"/api/escalations/{id}")["delivery"] == "delivered")

        await asyncio.to_thread(answer)
        found = await waiting.result
        assert (words(found), facts(found)["option"], found.is_error) == ("Postgres", 2, False)

        again = await client.call_tool("ask_question", {"resume": id})
        assert words(again) == "Postgres"


@pytest.mark.anyio
async def test_what_is_cancelled_stays_in_the_inbox_and_can_be_waited_for_again(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    async with over_stdio(home, workspace) as client:
        waiting = Waiting(client, "raise_blocker", text="May I?", wait=True)
        id = await waiting.event_id()
        await waiting.cancel()

        def answer() -> None:
            shown = retry_until(lambda: sqlite_server.get("/api/escalations")["escalations"])
            assert [(one["id"], one["state"], one["urgency"]) for one in shown] == [(id, "open", "blocking")]
            sqlite_server.post(f"/api/escalations/{id}/dismiss", {})

        resumed = Waiting(client, "ask_question", resume=id)
        assert await resumed.event_id() == id
        await asyncio.to_thread(answer)
        found = await resumed.result
        assert (facts(found)["outcome"], found.is_error) == ("declined", False)
        assert "declined: the operator dismissed it without an answer" in words(found)


@pytest.mark.anyio
async def test_a_handoff_gets_the_servers_verdict_and_is_mended_until_it_is_true(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    dispatch = sqlite_server.post("/api/dispatches", wish(gate=strict("files_produced")))
    async with over_stdio(home, workspace, GEMBA_DISPATCH_ID=dispatch["id"]) as client:
        claimed = claiming(dispatch, files_produced=["made.txt"])
        broken = {**claimed, "evidence_report": {}}
        refused = await client.call_tool("submit_handoff", {"envelope": broken})
        assert (refused.is_error, facts(refused)["refused_by"]) == (True, "verdict")
        refused = await client.call_tool("submit_handoff", {"envelope": claimed})
        assert (refused.is_error, facts(refused)["refused_by"]) == (True, "world")
        assert "claimed made.txt" in words(refused)
        assert "call submit_handoff again" in words(refused)
        assert handoffs(home, SESSION) == []

        (workspace / "made.txt").write_text("made")
        accepted = await client.call_tool("submit_handoff", {"envelope": claimed})
        assert (accepted.is_error, facts(accepted)["state"]) == (False, "accepted")
    assert [one["envelope"] for one in handoffs(home, SESSION)] == [claimed]

    # The frame of a turn that was handed over is that turn, and no other.
    await asyncio.to_thread(retry_until, lambda: sqlite_server.get("/api/sessions")["sessions"])
    listed = sqlite_server.get(f"/api/handoffs?dispatch={dispatch['id']}&state=accepted")["handoffs"]
    assert [(one["source"], one["session_id"]) for one in listed] == [("mcp", SESSION)]


@pytest.mark.anyio
async def test_a_handoff_is_judged_once_when_the_server_is_killed_while_it_is_checked(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    os.mkfifo(workspace / "answer")
    dispatch = sqlite_server.post("/api/dispatches", wish(gate=strict("rerun_verification")))
    async with over_stdio(home, workspace, GEMBA_DISPATCH_ID=dispatch["id"]) as client:
        claimed = claiming(dispatch, command="cat answer", exit_code=0)
        waiting = Waiting(client, "submit_handoff", envelope=claimed)
        id = await waiting.event_id()
        sqlite_server.kill()
        asked = await client.call_tool("ask_question", {"text": "Which port?"})
        assert words(asked).endswith("advisory: go on")
        await asyncio.to_thread(sqlite_server.start)

        def let_it_end() -> bool:
            with contextlib.suppress(OSError):  # nobody reads yet
                os.close(os.open(workspace / "answer", os.O_WRONLY | os.O_NONBLOCK))
            return bool(sqlite_server.get(f"/api/handoffs/{id}")["state"] == "accepted")

        await asyncio.to_thread(retry_until, let_it_end, timeout=45)
        found = await waiting.result
        assert (found.is_error, words(found)) == (False, f"{id} accepted: COMPLETE")

    def taken_in() -> list[str]:
        return [one["text"] for one in sqlite_server.get("/api/escalations")["escalations"]]

    await asyncio.to_thread(retry_until, taken_in)
    assert taken_in() == ["Which port?"]
    listed = sqlite_server.get(f"/api/handoffs?dispatch={dispatch['id']}")["handoffs"]
    assert [(one["id"], one["state"]) for one in listed] == [(id, "accepted")]
    assert [one["envelope"] for one in handoffs(home, SESSION)] == [claimed]


@pytest.mark.anyio
async def test_the_context_is_what_a_dispatch_was_given_or_else_what_is_known_of_the_project(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    (workspace / ".gemba" / "context.toml").write_text('[section.stack]\npaths = ["src/**"]\n')
    sqlite_server.post("/api/context/stack", {"payload": {"language": "Python"}})
    async with over_stdio(home, workspace) as client:
        (section,) = facts(await client.call_tool("get_context", {}))["sections"]
        assert (section["name"], section["value"]) == ("stack", {"language": "Python"})

    dispatch = sqlite_server.post("/api/dispatches", wish())
    async with over_stdio(home, workspace, GEMBA_DISPATCH_ID=dispatch["id"]) as client:
        context = await client.call_tool("get_context", {})
        assert "Make it so" in words(context)
        assert facts(context)["envelope"]["metadata"]["agent_id"] == dispatch["agent_id"]


@pytest.mark.anyio
async def test_work_is_listed_and_claimed_once_through_the_server(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    made = sqlite_server.request("POST", "/api/work-items", {"item": {"title": "Rate limits"}}).json
    async with over_stdio(home, workspace, GEMBA_ROLE="manager") as client:
        assert [row["id"] for row in facts(await client.call_tool("list_work", {}))["items"]] == [made["id"]]
        claimed = await client.call_tool("claim_work", {"item_id": made["id"], "lease_seconds": 60})
        assert facts(claimed)["claim"]["owner"] == SESSION
        again = await client.call_tool("claim_work", {"item_id": made["id"]})
        assert again.is_error
        assert f"is claimed by {SESSION}" in words(again)
        assert words(await client.call_tool("list_work", {})) == "Nothing is ready."
        assert "is not an id" in words(await client.call_tool("claim_work", {"item_id": "../../approvals"}))
        later = {"item": {"title": "Later"}, "relations": [{"kind": "blocks", "source": made["id"]}]}
        blocked = sqlite_server.request("POST", "/api/work-items", later).json
        refused = await client.call_tool("claim_work", {"item_id": blocked["id"]})
        assert refused.is_error
        assert f"it is blocked by {made['id']} (unstarted: Rate limits)" in words(refused)
