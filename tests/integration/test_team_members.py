"""Agents of a team that are programs: reviewed by another role, and caught when they lie or fall silent."""

import sys
from pathlib import Path

import pytest

from tests.fixtures import team_member
from tests.fixtures.team_floor import TeamFloor, task

AGENT = f"""\
[agent.member]
command = ["{sys.executable}", "-P", "{team_member.__file__}"]
backend = "process"
prompt = "stdin"
"""


@pytest.fixture
def floor(workspace: Path, database_url: str, team_floor: TeamFloor) -> TeamFloor:
    """Whose agents reach the test's database with commands, as a workspace's own setting says where it is."""
    (workspace / ".gemba/agents.toml").write_text(AGENT)
    (workspace / ".gemba/workspace.toml").write_text(f'[store]\nurl = "{database_url}"\n')
    return team_floor


def member(id: str, *blocked_by: str, goal: str) -> dict[str, object]:
    made = task(id, *blocked_by, goal=goal)
    made["options"] = {"agent": "member", "output": "artifact"}
    return made


def test_a_role_that_is_not_the_author_reviews_and_its_points_count(floor: TeamFloor) -> None:
    run_id = floor.begin(
        member("RESEARCH-001", goal="Say what README.md is for"),
        member("TEST-001", "RESEARCH-001", goal="Verify that README.md says it"),
        agent="member",
        settings={"reviewer": "tester"},
    )

    over = floor.until_over(run_id, patience=90)

    (attempt,) = floor.detail(run_id, "RESEARCH-001").attempts
    (own,) = floor.detail(run_id, "TEST-001").attempts
    assert over.state in ("completed", "completed_with_warnings"), over.report
    assert attempt.review is not None
    assert (attempt.review["reviewer"], attempt.review["depth"]) == ("tester", 70)
    assert attempt.gate is not None
    assert attempt.gate["reviewer"] == "tester"
    assert own.gate is not None
    assert own.gate["reviewer"] == "builtin"  # nobody reviews their own work


@pytest.mark.parametrize(
    ("word", "found"),
    [("LIE", "claimed .gemba/artifacts"), ("ANOTHER", "agent_id is"), ("SILENT", "without handing over")],
)
def test_an_agent_that_lies_answers_for_another_or_never_submits_gets_its_tries_and_then_a_person_is_asked(
    floor: TeamFloor, word: str, found: str
) -> None:
    run_id = floor.begin(member("RESEARCH-001", goal=f"{word}: say what README.md is for"), agent="member")

    held = floor.until_task(run_id, "RESEARCH-001", "waiting", patience=110)

    tries = floor.detail(run_id, "RESEARCH-001").attempts
    assert held.waiting_for in ("decision", "blocked")
    assert any(found in (each.trouble or "") for each in tries) or found in (held.reason or "")
    assert all(each.outcome in ("error", "repair", "held") for each in tries)
    assert held.merged is None


def test_an_agent_that_hands_over_twice_is_heard_once(floor: TeamFloor) -> None:
    run_id = floor.begin(member("RESEARCH-001", goal="TWICE: say what README.md is for"), agent="member")

    over = floor.until_over(run_id, patience=90)

    assert over.state in ("completed", "completed_with_warnings"), over.report
    assert [move for move in floor.moves(run_id) if move[1].startswith("passed")] == [
        ("RESEARCH-001", floor.moves(run_id)[-1][1])
    ]
