"""`/mcp` of a running server, spoken to by the official SDK's client: both eras of the protocol, and who may."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError

from gemba.api.server_file import read_server_file
from gemba.app import App
from gemba.config import Workspace
from gemba.mcp.daemon import OwnServer
from gemba.mcp.headers import session_of
from gemba.sessions.store import new_row, sessions
from gemba.store.database import Transaction
from gemba.testing import retry_until
from gemba.wire import Refused
from tests.fixtures.api import Api
from tests.fixtures.envelopes import good
from tests.fixtures.hooks import frames, handoffs
from tests.fixtures.mcp import LEGACY, MODERN, SESSION, Waiting, facts, over_http, over_stdio, words
from tests.fixtures.servers import Answer, RunningServer

_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
GREETING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _CLIENT}
ACCEPT = "application/json, text/event-stream"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """Nothing here depends on the kind of database."""
    return sqlite_url


# ---- who may ---------------------------------------------------------------------------------------------------------


def test_the_token_the_host_and_the_origin_are_judged_as_for_the_api(api: Api) -> None:
    def post(**headers: str) -> Answer:
        return api.request("POST", "/mcp", GREETING, Accept=ACCEPT, **headers)

    def refused(answer: Answer, status: int, code: str) -> bool:
        return (answer.status, answer.json["code"]) == (status, code)

    assert refused(post(Authorization=""), 401, "token_missing")
    assert refused(post(Authorization="Bearer other"), 401, "token_wrong")
    assert refused(post(Host="evil.example"), 421, "host_refused")
    assert refused(post(Origin="http://evil.example"), 403, "origin_refused")
    assert refused(api.request("GET", "/mcp", Authorization=""), 401, "token_missing")
    assert refused(api.request("POST", "/mcp/", GREETING), 405, "method_not_allowed")
    # A client that is not let in looks for a way to sign in, and must not take the page for one.
    assert refused(api.request("GET", "/.well-known/oauth-protected-resource/mcp", Authorization=""), 404, "not_found")
    assert post(Origin=api.url).status == 200
    assert api.request("POST", "/mcp", {"text": "x" * 1_100_000}, Accept=ACCEPT).status == 413


NO_MESSAGES = [
    (b"nonsense", 400, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "meth', 400, -32700),
    (b'"\xff"', 400, -32700),
    (b"[" * 100_000, 400, -32700),
    ([GREETING, GREETING], 400, -32602),  # a batch
    ({**GREETING, "id": True}, 400, -32600),
    ({"id": 1, "method": "ping"}, 400, -32602),
    ({**GREETING, "params": []}, 400, -32602),
    ({**GREETING, "params": {"protocolVersion": 3}}, 200, -32602),
    ({**GREETING, "method": "tools/call"}, 400, -32600),  # of a client that nobody has greeted
]


def test_what_is_no_message_of_the_protocol_gets_its_error(api: Api) -> None:
    for body, status, code in NO_MESSAGES:
        answer = api.request("POST", "/mcp", body, Accept=ACCEPT)
        assert (answer.status, said(answer)["error"]["code"]) == (status, code), answer

    greeted = api.request("POST", "/mcp", GREETING, Accept=ACCEPT)
    known = {"Accept": ACCEPT, "Mcp_Session_Id": greeted.headers["mcp-session-id"]}
    assert api.request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **known).status == 202
    unknown = api.request("POST", "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/run"}, **known)
    assert said(unknown)["error"]["code"] == -32601
    assert api.request("POST", "/mcp", GREETING, **{**known, "Mcp_Session_Id": "other"}).status == 404


def said(answer: Answer) -> Any:
    """The message, alone or as the only event of a stream."""
    if answer.headers["content-type"] == "application/json":
        return answer.json
    return json.loads(answer.body.partition(b"data: ")[2].partition(b"\n")[0].strip())


# ---- what can be done ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def clients(server: RunningServer, *modes: str, **headers: str) -> AsyncIterator[list[Client]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(over_http(server.url, server.token, mode, **headers)) for mode in modes]


def answer(server: RunningServer, id: str, text: str) -> None:
    retry_until(lambda: server.request("GET", f"/api/escalations/{id}").status == 200)
    server.post(f"/api/escalations/{id}/respond", {"text": text})


@pytest.mark.anyio
async def test_clients_of_both_eras_call_every_tool(sqlite_server: RunningServer, home: Path, workspace: Path) -> None:
    async with clients(sqlite_server, LEGACY, MODERN, X_GEMBA_Folder=str(workspace)) as found:
        for client in found:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [
                *(
                    "ask_question",
                    "raise_blocker",
                    "report_state",
                    "emit_skill_output",
                    "submit_handoff",
                    "get_context",
                ),
                *("list_work", "claim_work", "team_msg"),
            ]
            assert "blocking" in words(await client.call_tool("raise_blocker", {"text": "No key."}))
            await client.call_tool("report_state", {"state": "working"})
            await client.call_tool("emit_skill_output", {"skill_id": "pm.x", "lines": ["a"]})
            assert facts(await client.call_tool("get_context", {})) == {"sections": []}

            refused = await client.call_tool("submit_handoff", {"envelope": {}})
            assert (refused.is_error, facts(refused)["state"]) == (True, "refused")
            accepted = await client.call_tool("submit_handoff", {"envelope": good()})
            assert (accepted.is_error, facts(accepted)["state"]) == (False, "accepted")

            unknown = await client.call_tool("drop_table", {})
            assert (unknown.is_error, words(unknown)[:26]) == (True, "unknown tool 'drop_table';")

            waiting = Waiting(client, "ask_question", text="Which port?", wait=True)
            await asyncio.to_thread(answer, sqlite_server, await waiting.event_id(), "8080")
            assert words(await waiting.result) == "8080"
    first, second = ([frame.hook for frame in frames(home, SESSION)][at : at + 6] for at in (0, 6))
    assert (
        first
        == second
        == [*("GembaAsk", "GembaState", "GembaSkillOutput", "GembaHandoff", "GembaAsk", "GembaReplyRead")]
    )
    asked = frames(home, SESSION)[0]
    assert asked.payload
    assert (asked.payload["branch"], asked.workspace) == ("main", str(workspace))
    assert len(handoffs(home, SESSION)) == 2


@pytest.mark.anyio
async def test_a_cancel_ends_the_wait_alone_and_a_server_that_ends_says_how_to_go_on(
    sqlite_server: RunningServer,
) -> None:
    async with clients(sqlite_server, LEGACY, MODERN) as found:
        for client in found:
            waiting = Waiting(client, "raise_blocker", text="May I?", wait=True)
            id = await waiting.event_id()
            await waiting.cancel()
            resumed = Waiting(client, "ask_question", resume=id)
            assert await resumed.event_id() == id
            await asyncio.to_thread(answer, sqlite_server, id, "yes")
            assert words(await resumed.result) == "yes"

        left = [Waiting(client, "ask_question", text="Still there?", wait=True) for client in found]
        ids = [await waiting.event_id() for waiting in left]
        code, errors = await asyncio.to_thread(sqlite_server.stop)
        assert (code, errors) == (0, "")
        for id, waiting in zip(ids, left, strict=True):
            result = await waiting.result
            assert result.is_error
            assert words(result).startswith(
                f"the server ends; the question stays open, wait on with: gemba-ask --resume {id}"
            )


@pytest.mark.anyio
async def test_an_answer_to_a_client_that_has_hung_up_is_not_taken_for_read(
    sqlite_server: RunningServer, home: Path
) -> None:
    """The older era knows no other sign: a call goes on when its connection is gone, for nobody."""
    headers = {"Authorization": f"Bearer {sqlite_server.token}", "Accept": ACCEPT, "X-GEMBA-Session": SESSION}
    async with httpx2.AsyncClient(base_url=sqlite_server.url, headers=headers, timeout=60) as http:
        greeted = await http.post("/mcp", json=GREETING)
        known = {"Mcp-Session-Id": greeted.headers["mcp-session-id"]}
        await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=known)
        given = {"name": "ask_question", "arguments": {"text": "Here?", "wait": True}, "_meta": {"progressToken": 1}}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": given}
        async with http.stream("POST", "/mcp", json=call, headers=known) as response:
            told = await anext(line async for line in response.aiter_lines() if line.startswith("data: {"))
            id = json.loads(told.removeprefix("data: "))["params"]["message"].split()[0]
    await asyncio.to_thread(answer, sqlite_server, id, "yes")
    async with over_http(sqlite_server.url, sqlite_server.token) as client:
        assert words(await client.call_tool("ask_question", {"resume": id})) == "yes"
    assert [frame.hook for frame in frames(home, SESSION)] == ["GembaAsk", "GembaReplyRead"]


@pytest.mark.anyio
async def test_what_was_asked_of_a_server_that_is_killed_can_be_waited_for_at_the_next_one(
    sqlite_server: RunningServer, home: Path
) -> None:
    async with clients(sqlite_server, LEGACY, MODERN) as found:
        left = [Waiting(client, "raise_blocker", text="May I?", wait=True) for client in found]
        ids = [await waiting.event_id() for waiting in left]
        await asyncio.to_thread(sqlite_server.kill)
        for waiting in left:
            with pytest.raises(MCPError):
                await waiting.result
    await asyncio.to_thread(sqlite_server.start)
    async with clients(sqlite_server, LEGACY, MODERN) as found:
        for id, client in zip(ids, found, strict=True):
            resumed = Waiting(client, "ask_question", resume=id)
            assert await resumed.event_id() == id
            await asyncio.to_thread(answer, sqlite_server, id, "yes")
            assert words(await resumed.result) == "yes"
    hooks = [frame.hook for frame in frames(home, SESSION)]
    assert sorted(hooks) == ["GembaAsk", "GembaAsk", "GembaReplyRead", "GembaReplyRead"]


@pytest.mark.anyio
async def test_two_clients_of_one_session_speak_at_once_and_each_hears_what_it_asked_for(
    sqlite_server: RunningServer, home: Path, workspace: Path
) -> None:
    async with (
        over_stdio(home, workspace) as pipe,
        over_http(sqlite_server.url, sqlite_server.token) as web,
    ):
        both = [
            Waiting(pipe, "ask_question", text="Which port?", wait=True),
            Waiting(web, "ask_question", text="Which host?", wait=True),
        ]
        ids = [await waiting.event_id() for waiting in both]
        beside = Waiting(pipe, "ask_question", resume=ids[1])
        assert await beside.event_id() == ids[1]
        states = [client.call_tool("report_state", {"state": "working"}) for client in (pipe, web) for _ in range(20)]
        assert not any(result.is_error for result in await asyncio.gather(*states))
        for id, text in zip(ids, ("8080", "localhost"), strict=True):
            await asyncio.to_thread(answer, sqlite_server, id, text)
        assert [words(await waiting.result) for waiting in (*both, beside)] == ["8080", "localhost", "localhost"]
    hooks = [frame.hook for frame in frames(home, SESSION)]
    assert (hooks.count("GembaAsk"), hooks.count("GembaState"), hooks.count("GembaReplyRead")) == (2, 40, 3)


@pytest.mark.anyio
async def test_each_request_speaks_for_the_session_that_its_headers_name(
    sqlite_server: RunningServer, home: Path
) -> None:
    url, token = sqlite_server.url, sqlite_server.token
    async with (
        over_http(url, token, X_GEMBA_Session="", X_GEMBA_Role="") as nobody,
        over_http(url, token, LEGACY, X_GEMBA_Session="one", X_GEMBA_Role="coach") as coach,
        over_http(url, token, X_GEMBA_Session="two", X_GEMBA_Mode="dangerous") as dangerous,
    ):
        assert (await nobody.list_tools()).tools
        refused = await nobody.call_tool("report_state", {"state": "ready"})
        assert refused.is_error
        assert words(refused).startswith("the header X-GEMBA-Session is missing")
        assert "a coach never raises a blocker" in words(await coach.call_tool("raise_blocker", {"text": "?"}))
        assert "in dangerous mode" in words(await dangerous.call_tool("ask_question", {"text": "?"}))
        await asyncio.gather(
            coach.call_tool("report_state", {"state": "ready"}),
            dangerous.call_tool("ask_question", {"text": "?", "chose": "!"}),
        )
    assert [frame.hook for frame in frames(home, "one")] == ["GembaState"]
    assert [frame.payload and frame.payload["kind"] for frame in frames(home, "two")] == ["assumption"]


def test_the_role_of_a_session_that_gemba_started_is_the_one_on_record(app: App) -> None:
    def start(tx: Transaction) -> None:
        tx.insert_new(sessions, [{**new_row(tx, "kept", "codex", "here", "/elsewhere"), "role": "manager"}], "id")

    app.database.change(start, "operator")
    server = OwnServer(app, "operator")

    def role(id: str, **said: str) -> str:
        session = session_of({"X-GEMBA-Session": id, **said}, home=str(app.home), workspace="")
        server.take_role(session)
        return session.role

    assert (role("kept"), role("kept", **{"X-GEMBA-Role": "manager"})) == ("manager", "manager")
    assert (role("other"), role("other", **{"X-GEMBA-Role": "coach"})) == ("", "coach")
    with pytest.raises(Refused, match="X-GEMBA-Role coach is not this session's role; allowed: manager"):
        role("kept", **{"X-GEMBA-Role": "coach"})


@pytest.mark.anyio
async def test_many_wait_at_once_and_each_gets_its_own_answer_over_the_private_socket_without_a_token(
    sqlite_server: RunningServer, workspace: Path
) -> None:
    told = read_server_file(Workspace(workspace))
    assert told is not None

    def request(number: int) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given = {"name": "ask_question", "arguments": {"text": f"Number {number}?", "wait": True}, "_meta": meta}
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": given}

    transport = httpx2.AsyncHTTPTransport(uds=told.socket, limits=httpx2.Limits(max_connections=None))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:

        async def ask(number: int) -> str:
            headers = {
                "Accept": ACCEPT,
                "MCP-Protocol-Version": MODERN,
                "Mcp-Method": "tools/call",
                "Mcp-Name": "ask_question",
                "X-GEMBA-Session": f"session-{number}",
            }
            response = await http.post("/mcp", json=request(number), headers=headers)
            assert response.status_code == 200, response.text
            return str(json.loads(response.text)["result"]["content"][0]["text"])

        def respond() -> None:
            listing = "/api/escalations?limit=100"
            shown = retry_until(lambda: _all(sqlite_server.get(listing)["escalations"]), timeout=30)
            for one in shown:
                sqlite_server.post(f"/api/escalations/{one['id']}/respond", {"text": one["text"].replace("?", "!")})

        replies, _ = await asyncio.gather(
            asyncio.gather(*(ask(number) for number in range(_MANY))), asyncio.to_thread(respond)
        )
    assert list(replies) == [f"Number {number}!" for number in range(_MANY)]


_MANY = 60  # more than the server has threads


def _all(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return shown if len(shown) == _MANY else []
