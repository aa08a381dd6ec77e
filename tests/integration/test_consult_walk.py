"""A consult over a real server from the request to the board: an agent of its own process that speaks MCP, its lines as
they arrive over the event stream, and Apply. Then the same with an agent that says what it should not."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update

from gemba import wire
from gemba.app import App
from gemba.personas import consults
from tests.fixtures.api import Api
from tests.fixtures.plans import epic, order_input, tricks
from tests.fixtures.servers import BIN, Answer, RunningServer
from tests.integration.test_consults import apply, asked_of_an_agent, detail, emit, lines_for, make_epic, order_of

# An agent without a model: it finds the input in what it is told, asks the advisor, and gives its lines in two calls.
AGENT = """
import json, subprocess, sys

gemba, mcp = sys.argv[1:]
prompt = sys.stdin.read()
document = json.JSONDecoder().raw_decode(prompt[prompt.rindex('{\\n "'):])[0]
told = subprocess.run([gemba, "plan", "order", "--json", "--input", "-"], input=json.dumps(document).encode(),
                      capture_output=True, check=True).stdout
lines = [json.loads(line) for line in told.splitlines()]
lines[0]["model"] = "a-model"
calls = [("emit_ordering", {"lines": lines[:2]}), ("emit_skill_output", {"skill_id": "epic_order", "lines": lines[2:]})]
said = [{"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}]
said += [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
         for number, (name, given) in enumerate(calls, 1)]
answered = subprocess.run([mcp], input="".join(json.dumps(one) + "\\n" for one in said).encode(),
                          capture_output=True, check=True).stdout
for line in answered.splitlines()[1:]:
    assert not json.loads(line)["result"]["isError"], line
"""


def test_an_agent_that_is_asked_answers_over_mcp_and_apply_changes_the_board(server: RunningServer) -> None:
    script = server.workspace.parent / "agent.py"
    script.write_text(AGENT)
    command = json.dumps([sys.executable, str(script), str(BIN / "gemba"), str(BIN / "gemba-mcp")])
    (server.workspace / ".gemba" / "agents.toml").write_text(f'[agent.scribe]\ncommand = {command}\nprompt = "stdin"\n')
    first, second = new_epic(server, "Base"), new_epic(server, "Roof")
    stream = server.events()
    given = order_input(epic(second, depends_on_epics=[first]), epic(first), epic("late-1"))
    body = {"persona_id": "project-manager", "skill_id": "epic_order", "raw_input": given, "agent_type": "scribe"}

    begun = server.request("POST", "/api/consults", body)

    assert (begun.status, begun.json["status"]) == (201, "running")
    id = begun.json["id"]
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] != "summary":
        told = stream.until("consult.lines")["data"]
        assert (told["ref"], told["payload"]["first_idx"]) == (id, len(seen))
        seen += told["payload"]["lines"]
    assert stream.until("consult.finished")["data"]["payload"]["status"] == "completed"
    found = server.get(f"/api/consults/{id}")
    assert (found["validated_lines"], found["line_errors"], found["order_errors"]) == (seen, [], [])
    assert (found["model"], server.get(f"/api/sessions/{id}")["agent_type"]) == ("a-model", "scribe")
    place = {line["epic_id"]: idx for idx, line in enumerate(seen) if line["type"] == "recommendation"}

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: applied(server, id, place[first]), range(50)))

    assert sorted(answer.status for answer in answers) == [200, *[409] * 49]
    assert stream.until("consult.applied")["data"]["payload"]["idx"] == place[first]
    item = server.get(f"/api/work-items/{first}")
    assert (item["user_order"], item["version"]) == (seen[place[first]]["rank"], 2)
    assert server.get("/api/work-items/ready")["items"][0]["id"] == first
    (change, _) = server.get(f"/api/work-items/{first}/history")["changes"]
    assert (change["actor"], change["after"]) == ("operator", {"user_order": seen[place[first]]["rank"]})

    refused = applied(server, id, place["late-1"], "too-early")
    assert (refused.status, refused.json["code"], refused.json["answer"]["status"]) == (424, "action_refused", 404)
    late = {"id": "late-1", "title": "Late", "status": "open", "issue_type": "epic"}
    server.post("/api/work-items/import", {"name": "issues.jsonl", "issues": [late]})
    assert applied(server, id, place["late-1"], "too-early").status == 424  # the answer of that request, once more
    assert applied(server, id, place["late-1"]).status == 200
    assert server.get("/api/work-items/late-1")["user_order"] == seen[place["late-1"]]["rank"]
    assert server.get(f"/api/consults/{id}")["applied_idx"] == sorted([place[first], place["late-1"]])


def new_epic(server: RunningServer, title: str) -> str:
    id: str = server.request("POST", "/api/work-items", {"item": {"title": title, "kind": "epic"}}).json["id"]
    return id


def applied(server: RunningServer, id: str, idx: int, confirm: str = "") -> Answer:
    confirm = confirm or wire.new_event_id()
    return server.request("POST", f"/api/consults/{id}/apply/{idx}", {}, X_GEMBA_Confirm=confirm)


# ---- lines that should not be ----------------------------------------------------------------------------------------


def test_ten_thousand_lines_that_are_made_up_are_named_and_the_good_ones_among_them_can_be_applied(api: Api) -> None:
    first = make_epic(api, "Base")
    given = order_input(epic(first), epic("e2", depends_on_epics=[first]))
    id = asked_of_an_agent(api, given)
    strategy, one, two, *rest = lines_for(given)
    made_up = [
        {**one, "epic_id": "ghost"},
        {"type": "idea", "text": "<img src=x onerror=alert(1)>"},
        {**two, "rank": 1},
        "so far so good",
    ]

    emit(api, id, strategy)
    for _ in range(5):
        emit(api, id, *(made_up * 500))
    emit(api, id, one, {**two, "rationale": "<script>alert(1)</script>"}, *rest)
    api.take("SessionEnd", {"reason": "exit"}, id)

    found = detail(api, id)
    assert found["status"] == "completed"
    assert [line["type"] for line in found["validated_lines"]][:3] == ["strategy", "recommendation", "recommendation"]
    assert found["validated_lines"][2]["rationale"] == "<script>alert(1)</script>"
    assert found["line_error_count"] == 10_000
    assert {error["rule"] for error in found["line_errors"]} == {"candidate", "type", "dependency", "shape"}
    assert all(error["reason"] for error in found["line_errors"])
    assert apply(api, id, 1).status == 200
    assert order_of(api, first) == 1


@pytest.mark.parametrize("trick", tricks("{id}"))
def test_a_path_that_only_looks_like_the_lines_own_item_is_applied_nowhere(app: App, api: Api, trick: str) -> None:
    first, other = make_epic(api, "Base"), make_epic(api, "Other")
    id = asked_of_an_agent(api, order_input(epic(first)))
    emit(api, id, *lines_for(order_input(epic(first))))
    api.take("SessionEnd", {"reason": "exit"}, id)
    lines = detail(api, id)["validated_lines"]
    path = (
        trick.replace("{id}", first)
        .replace("{ID}", first.upper())
        .replace("%7Bid}", f"%{ord(first[0]):02X}{first[1:]}")
    )
    lines[1]["suggested_action"]["path"] = path.replace("other", other)
    with app.database.transaction() as tx:
        tx.connection.execute(update(consults.consults).values(lines=json.dumps(lines)))

    answer = apply(api, id, 1)

    assert (answer.status, answer.json["code"]) == (403, "action_not_allowed")
    assert (order_of(api, first), order_of(api, other)) == (None, None)
    assert detail(api, id)["applied_idx"] == []


@pytest.mark.parametrize("trick", ["{id}%2Fclaim", "..%2Fwork-items%2F{id}", "{id}?version=9", "{id}/", "{ID}"])
def test_a_skill_that_may_change_any_item_reaches_no_other_route_by_its_path(api: Api, trick: str) -> None:
    first = make_epic(api, "Base")
    path = f"/api/work-items/{trick}".replace("{id}", first).replace("{ID}", first.upper())
    id = asked_of_an_agent(api, {"question": "What now?"}, skill="ask")
    proposal = {"type": "proposal", "title": "Sooner", "rationale": "so", "confidence": 0.5}
    proposal["suggested_action"] = {"verb": "PATCH", "path": path, "body": {"priority": 0}}
    emit(api, id, {"type": "strategy", "reasoning": "so"}, proposal, {"type": "summary", "notes": ""}, skill="ask")
    api.take("SessionEnd", {"reason": "exit"}, id)

    found = detail(api, id)
    answers = [apply(api, id, 1)] if found["line_count"] == 3 else []

    assert all((answer.status, answer.json["code"]) == (424, "action_refused") for answer in answers)
    assert answers or [error["rule"] for error in found["line_errors"]] == ["action"]
    item = api.get(f"/api/work-items/{first}")
    assert (item["version"], item["claim"]) == (1, None)
