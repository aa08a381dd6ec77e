"""Consult skills over HTTP, as MCP tools, and `gemba plan order` at the command line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba.api.problem import problem_of
from gemba.mcp import tools
from gemba.skills.consult.reading import InputMisfit
from gemba.skills.consult.registry import SKILLS
from gemba.skills.consult.tool_names import TOOL_NAMES
from tests.fixtures.api import Api
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import BIN


def plan(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "gemba"), "plan", "order", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_every_skill_is_listed_with_its_tool_and_serves_its_schemas(api: Api) -> None:
    rows = api.get("/api/skills")["skills"]

    assert [row["id"] for row in rows] == list(SKILLS) == list(TOOL_NAMES)
    assert rows[0]["output_tool_name"] == "emit_ordering"
    for row in rows:
        shown = api.get(f"/api/skills/{row['id']}")
        assert shown == {**shown, **row}
        assert shown["input_schema"]["$schema"]
        answer = api.request("GET", f"/api/skills/{row['id']}/output_schema.json")
        assert answer.headers["content-type"] == "application/schema+json"
        assert set(answer.json["discriminator"]["mapping"]) >= {"strategy", "summary"}
        assert row["has_output_schema"] is True


def test_a_skill_that_is_not_there_is_not_found(api: Api) -> None:
    for path in ("/api/skills/epic_ordre", "/api/skills/epic_ordre/output_schema.json"):
        answer = api.request("GET", path)
        assert answer.status == 404
        assert "did you mean epic_order" in answer.json["detail"]


def test_the_name_of_every_output_is_a_tool_that_is_taken_and_not_listed() -> None:
    assert set(TOOL_NAMES.values()) == set(tools._OUTPUTS)
    assert not set(TOOL_NAMES.values()) & set(tools.BY_NAME)


@pytest.mark.parametrize("skill", SKILLS.values(), ids=SKILLS)
def test_an_unknown_field_of_an_input_is_a_bad_request_that_names_it(skill: Any) -> None:
    fields = dict.fromkeys(skill.input.__struct_fields__, "x")

    with pytest.raises(InputMisfit) as raised:
        skill.read({"colour": "red"} if len(fields) > 1 else {**fields, "colour": "red"})

    assert problem_of(raised.value).status_code == 400


@pytest.mark.parametrize("skill", [skill for id, skill in SKILLS.items() if id not in ("epic_order", "team_plan")])
def test_lines_of_advice_are_taken_and_an_action_outside_of_the_list_is_not(skill: Any) -> None:
    given = {
        "ask": {"question": "q"},
        "refine": {"item_ids": ["i-1"]},
        "escalation_handoff": {"escalation_id": "i-1"},
        "what_remains": {"epic_id": "i-1"},
        "add_to_backlog": {"text": "t"},
        "change_this": {"item_id": "i-1", "change": "c"},
        "sprint_retro": {"sprint_id": "s"},
        "perspective": {"ref": "r"},
        "walk_summary": {"walk_id": "w"},
    }[skill.id]
    allowed = {
        "ask": ("PATCH", "/api/work-items/i-9", {"title": "t"}),
        "refine": ("PATCH", "/api/work-items/i-1", {"priority": 1}),
        "escalation_handoff": ("POST", "/api/escalations/i-1/respond", {"text": "yes"}),
        "add_to_backlog": ("POST", "/api/work-items", {"item": {"title": "t"}}),
        "change_this": ("PATCH", "/api/work-items/i-1", {"description": "d"}),
        "sprint_retro": ("POST", "/api/work-items", {"item": {"title": "t", "kind": "chore"}}),
    }.get(skill.id)
    refused: list[tuple[str, str, Any]] = [
        ("DELETE", "/api/work-items/i-1", {}),
        ("PATCH", "/api/work-items/../operators", {"title": "t"}),
        ("PATCH", "/api/work-items/i-1", {"assignee": "me"}),
        ("POST", "/api/escalations/i-2/respond", {"text": "yes"}),
        ("POST", "/api/work-items", {"item": {"kind": "milestone", "title": "M4 Out"}}),
        ("POST", "/api/work-items", {"item": {"title": "t"}, "extra": 1}),
    ]

    def proposal(action: tuple[str, str, Any]) -> dict[str, Any]:
        suggested = dict(zip(("verb", "path", "body"), action, strict=True))
        return {"type": "proposal", "title": "t", "rationale": "r", "confidence": 1, "suggested_action": suggested}

    judge = skill.judge(skill.read(given))
    good = [proposal(allowed)] if allowed else []
    judge.receive_all(
        [
            {"type": "strategy", "reasoning": "r"},
            {"type": "finding", "text": "f", "refs": ["i-1"]},
            *good,
            *map(proposal, refused),
            {"type": "summary", "notes": "n"},
        ]
    )

    assert [error.rule for error in judge.line_errors] == ["action"] * len(refused)
    assert len(judge.validated) == 3 + len(good)
    assert judge.finish() == []
    assert len(skill.prompt) > 400


def test_one_of_epic_and_sprint_is_what_remains_is_asked_about() -> None:
    for document in ({}, {"epic_id": "a", "sprint_id": "b"}):
        with pytest.raises(InputMisfit, match="one of the two"):
            SKILLS["what_remains"].read(document)


def test_an_order_is_planned_without_a_workspace(tmp_path: Path) -> None:
    document = json.dumps(order_input(epic("a\x1b[31m", depends_on_epics=["b"]), epic("b", estimated_tokens=1_200)))
    file = tmp_path / "epics.json"
    file.write_text(document)

    lines = [json.loads(line) for line in plan("--input", "-", "--json", stdin=document).stdout.splitlines()]
    shown = plan("--input", str(file))

    assert [line["type"] for line in lines] == ["strategy", "recommendation", "recommendation", "warning", "summary"]
    assert [line["epic_id"] for line in lines[1:3]] == ["b", "a\x1b[31m"]
    assert shown.returncode == 0
    assert "1,200 tokens" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "words"),
    [
        ((), "", 1, "no workspace: neither"),
        (("--input", "nowhere.json"), "", 2, "nowhere.json: No such file"),
        (("--input", "-"), "{", 1, "the input is not JSON"),
        (("--input", "-"), '{"colour": 1}', 1, "/colour"),
        (("--input", "-"), json.dumps(order_input()), 1, "/candidate_epics"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(
    arguments: tuple[str, ...], stdin: str, code: int, words: str
) -> None:
    ended = plan(*arguments, stdin=stdin)

    assert ended.returncode == code
    assert ended.stdout == ""
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
