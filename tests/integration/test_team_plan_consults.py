"""Plans of team runs that a model proposes: judged line by line and as a whole, applied by a person, or replaced."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.app import App
from tests.fixtures.api import Api
from tests.fixtures.servers import BIN, Answer

SCRIBE = '[agent.scribe]\ncommand = ["cat"]\n'
TEXT = "Investigate the parser, then implement a new one and test it"

GOOD: list[dict[str, Any]] = [
    {"type": "strategy", "reasoning": "Two tracks."},
    {"type": "role", "name": "developer", "prefix": "IMPL", "capabilities": ["developer"]},
    {"type": "role", "name": "tester", "prefix": "TEST"},
    {"type": "task", "id": "IMPL-001", "owner": "developer", "goal": "Write src/parser.py", "output": "codebase"},
    {"type": "task", "id": "IMPL-002", "owner": "developer", "goal": "Port the callers", "blocked_by": ["IMPL-001"]},
    {
        "type": "task",
        "id": "TEST-001",
        "owner": "tester",
        "goal": "Test it",
        "blocked_by": ["IMPL-002"],
        "acceptance": ["pytest passes"],
    },
    {"type": "summary", "notes": "Three tasks."},
]


def ask(api: Api, text: str = TEXT, agent: str | None = None, **given: Any) -> str:
    body: dict[str, Any] = {"persona_id": "coordinator", "skill_id": "team_plan", "raw_input": {"text": text, **given}}
    if agent is not None:
        (api.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
        body["agent_type"] = agent
    answer = api.request("POST", "/api/consults", body, X_GEMBA_Confirm=wire.new_event_id())
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def give(api: Api, id: str, *lines: Any) -> None:
    api.take("GembaSkillOutput", {"skill_id": "team_plan", "lines": list(lines)}, id)
    api.take("Stop", {}, id)


def detail(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/consults/{id}")
    return found


def apply(api: Api, id: str, idx: int) -> Answer:
    return api.request("POST", f"/api/consults/{id}/apply/{idx}", {}, X_GEMBA_Confirm=wire.new_event_id())


def test_without_a_model_the_analysis_answers_and_its_summary_plans_a_run(app: App, api: Api) -> None:
    id = ask(api)
    app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["error"], found["line_errors"]) == ("completed", None, [])
    assert [line["type"] for line in found["validated_lines"]] == ["strategy", *["role"] * 3, *["task"] * 3, "summary"]
    assert "researcher: the text has" in found["validated_lines"][0]["reasoning"]

    answer = apply(api, id, len(found["validated_lines"]) - 1)

    assert answer.status == 200, answer
    run = answer.json["outcome"]["answer"]
    assert (run["state"], run["text"]) == ("planned", TEXT)
    assert run["planned_by"] == {"consult_id": id, "agent": None, "note": None}
    by_hand = api.request("POST", "/api/teams", {"text": TEXT, "plan_only": True}).json
    told = [
        [(task["id"], task["owner"], task["goal"], task["blocked_by"]) for task in each["all_tasks"]]
        for each in (run, by_hand)
    ]
    assert told[0] == told[1]
    assert by_hand["planned_by"] is None


def test_the_lines_of_a_model_are_the_plan_and_the_run_says_whose_it_is(app: App, api: Api) -> None:
    id = ask(api, agent="scribe")
    give(api, id, *GOOD)

    found = detail(api, id)
    assert (found["status"], found["line_errors"], found["order_errors"]) == ("completed", [], [])
    run = apply(api, id, 6).json["outcome"]["answer"]

    assert [(task["id"], task["blocked_by"]) for task in run["all_tasks"]] == [
        ("IMPL-001", []),
        ("IMPL-002", ["IMPL-001"]),
        ("TEST-001", ["IMPL-002"]),
    ]
    assert run["planned_by"] == {"consult_id": id, "agent": "scribe", "note": None}
    assert run["all_tasks"][0]["output"] == "codebase"
    assert apply(api, id, 6).status == 409


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"owner": "nobody"}, "/tasks/2/owner", "no role of the plan"),
        ({"blocked_by": ["IMPL-009"]}, "/tasks/2/blocked_by/0", "allowed: tasks of the plan"),
        ({"id": "IMPL-001", "owner": "developer"}, "/tasks/2/id", "is there already"),
        ({"id": "../TEST"}, "/tasks/2/id", "allowed: a prefix"),
    ],
)
def test_a_plan_that_the_validator_refuses_is_told_with_its_place_and_the_analysis_plans_instead(
    app: App, api: Api, change: dict[str, Any], pointer: str, words: str
) -> None:
    id = ask(api, agent="scribe")
    give(api, id, *GOOD[:5], {**GOOD[5], **change}, GOOD[6])
    app.see_to_consults()

    found = detail(api, id)
    assert (found["status"], found["model"]) == ("completed", "gemba-advisor")
    assert pointer in found["error"]
    assert words in found["error"]
    assert {error["rule"] for error in found["line_errors"]} == {"set_aside"}
    run = apply(api, id, len(found["validated_lines"]) - 1).json["outcome"]["answer"]
    assert [task["id"] for task in run["all_tasks"]] == ["RESEARCH-001", "IMPL-001", "TEST-001"]
    assert run["planned_by"]["agent"] is None
    assert pointer in run["planned_by"]["note"]


def test_a_circle_and_a_role_too_many_are_refused_by_name(app: App, api: Api) -> None:
    id = ask(api, agent="scribe", max_roles=1)
    circle = {**GOOD[3], "blocked_by": ["TEST-001"]}
    give(api, id, *GOOD[:3], circle, *GOOD[4:])
    app.see_to_consults()

    found = detail(api, id)
    assert '"tester" is role 2; allowed: 1' in found["error"]
    assert "IMPL-001 → TEST-001 → IMPL-002 → IMPL-001" in found["error"]


def test_where_the_analysis_has_no_plan_either_the_consult_has_failed_and_says_both(app: App, api: Api) -> None:
    id = ask(api, agent="scribe", max_roles=2)
    give(api, id, *GOOD[:4], GOOD[6])
    app.see_to_consults()

    found = detail(api, id)
    assert found["status"] == "failed"
    assert 'role "tester" owns no task' in found["error"]
    assert "fit into no fewer than 3 roles" in found["error"]


def test_a_plan_of_which_a_line_was_refused_is_not_used_in_part(app: App, api: Api) -> None:
    id = ask(api, agent="scribe")
    give(api, id, *GOOD[:5], {**GOOD[5], "acceptance": "all of it"}, GOOD[6])
    app.see_to_consults()

    assert 'task "TEST-001" was not taken, and without it the plan is not whole' in detail(api, id)["error"]


def test_the_same_lines_twice_are_one_plan(app: App, api: Api) -> None:
    id = ask(api, agent="scribe")
    api.take("GembaSkillOutput", {"skill_id": "team_plan", "lines": GOOD}, id)
    give(api, id, *GOOD)

    found = detail(api, id)
    assert (found["status"], found["error"], len(found["validated_lines"])) == ("completed", None, 7)
    assert {error["rule"] for error in found["line_errors"]} == {"order"}


def test_an_action_that_a_model_writes_itself_is_replaced_by_that_of_its_lines(app: App, api: Api) -> None:
    theirs = {"verb": "POST", "path": "/api/teams", "body": {"text": "something else", "plan_only": False}}
    id = ask(api, agent="scribe")
    give(api, id, *GOOD[:6], {**GOOD[6], "suggested_action": theirs})

    action = detail(api, id)["validated_lines"][6]["suggested_action"]
    assert (action["body"]["text"], action["body"]["plan_only"]) == (TEXT, True)
    assert [task["id"] for task in action["body"]["plan"]["tasks"]] == ["IMPL-001", "IMPL-002", "TEST-001"]


def test_a_command_cannot_come_into_a_plan_by_a_models_line(app: App, api: Api) -> None:
    id = ask(api, agent="scribe")
    evil = {**GOOD[3], "options": {"command": {"run": "touch /tmp/owned"}}, "command": "touch /tmp/owned"}
    give(api, id, *GOOD[:3], evil, *GOOD[4:])

    action = detail(api, id)["validated_lines"][6]["suggested_action"]
    assert "owned" not in str(action)


@pytest.mark.parametrize("given", [{"text": ""}, {"text": "x", "max_roles": 6}, {"text": "x", "colour": "red"}, {}])
def test_an_input_that_is_none_is_refused(api: Api, given: dict[str, Any]) -> None:
    body = {"persona_id": "coordinator", "skill_id": "team_plan", "raw_input": given}

    assert api.request("POST", "/api/consults", body, X_GEMBA_Confirm=wire.new_event_id()).status == 400


def test_the_epic_that_a_plan_is_for_is_told_and_goes_into_the_run(app: App, api: Api) -> None:
    epic = api.request("POST", "/api/work-items", {"item": {"title": "The parser", "kind": "epic"}}).json["id"]
    id = ask(api, epic_id=epic)
    app.see_to_consults()

    found = detail(api, id)
    assert "The parser" in found["composed"]["text"]
    run = apply(api, id, len(found["validated_lines"]) - 1).json["outcome"]["answer"]
    assert run["epic_id"] == epic


# ---- at the command line ---------------------------------------------------------------------------------------------


def gemba(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / "gemba"), *words], cwd=folder, capture_output=True, text=True, check=False)


def test_a_plan_is_asked_for_applied_and_begun_by_one_command(workspace: Path, home: Path) -> None:
    shown = gemba(workspace, "team", "start", "--plan-by", "builtin", "--plan-only", "--json", TEXT)

    run = json.loads(shown.stdout)
    assert (run["state"], [task["id"] for task in run["all_tasks"]]) == (
        "planned",
        ["RESEARCH-001", "IMPL-001", "TEST-001"],
    )
    assert run["planned_by"]["agent"] is None


def test_a_plan_cannot_be_given_and_asked_for(workspace: Path, home: Path) -> None:
    shown = gemba(workspace, "team", "start", "--plan-by", "builtin", "--plan", "p.toml", TEXT)

    assert (shown.returncode, "--plan is a plan already" in shown.stderr) == (2, True)


def test_an_agent_that_is_not_there_is_named_and_nothing_is_planned(workspace: Path, home: Path) -> None:
    shown = gemba(workspace, "team", "start", "--plan-by", "nobody", TEXT)

    assert shown.returncode == 1
    assert "no agent type is called" in shown.stderr
    assert json.loads(gemba(workspace, "team", "list", "--json").stdout)["total"] == 0
