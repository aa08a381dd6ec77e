"""A task that says that a skill is missing: somebody does it, or a person is asked. Both databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gemba.errors import Conflict
from gemba.escalations.store import escalations
from gemba.teams.run import RunView
from tests.fixtures.team_floor import TeamFloor, task


@pytest.fixture
def floor(open_team_floor: Callable[..., TeamFloor]) -> TeamFloor:
    """One where nothing runs by itself."""
    return open_team_floor()


def begun(floor: TeamFloor, **more: Any) -> str:
    plain = [task("IMPL-001"), task("DRAFT-001", "IMPL-001")]
    for each in plain:
        each["options"] = {"agent": "builtin"}
    return floor.begin(*plain, **more)


def say(floor: TeamFloor, run_id: str, capability: str, task_id: str | None = "IMPL-001", **more: Any) -> None:
    data = {"capability": capability, **({} if task_id is None else {"task_id": task_id})}
    floor.act(f"/api/teams/{run_id}/messages", type="capability_gap", summary="I cannot do this", data=data, **more)


def cards(floor: TeamFloor) -> list[Any]:
    with floor.app.database.read() as connection:
        return list(connection.execute(select(escalations).order_by(escalations.c.opened_at)).all())


def ids(run: RunView) -> list[str]:
    return [each.id for each in run.all_tasks]


def test_a_role_is_added_and_its_task_stands_before_what_waits_for_the_one_that_said_so(floor: TeamFloor) -> None:
    run_id = begun(floor)

    say(floor, run_id, "tester")

    run = floor.run(run_id)
    assert ids(run) == ["IMPL-001", "TEST-001", "DRAFT-001"]
    added, waits = run.all_tasks[1], run.all_tasks[2]
    assert (added.owner, added.blocked_by, added.open_blockers, added.chain) == ("tester", [], 0, "TEST-001")
    assert added.goal.startswith("IMPL-001 misses tester: I cannot do this")
    assert (waits.blocked_by, waits.open_blockers) == (["IMPL-001", "TEST-001"], 2)
    (role,) = [each for each in run.roles if each["name"] == "tester"]
    assert (role["prefix"], "Prefix: TEST-*" in role["spec"]) == ("TEST", True)
    assert (run.tasks, cards(floor)) == (3, [])


def test_a_role_that_is_there_gets_one_more_task(floor: TeamFloor) -> None:
    run_id = begun(floor)

    say(floor, run_id, "writer")

    run = floor.run(run_id)
    assert [(each.id, each.owner) for each in run.all_tasks] == [
        ("IMPL-001", "developer"),
        ("DRAFT-002", "writer"),
        ("DRAFT-001", "writer"),
    ]
    assert len(run.roles) == 2
    assert run.all_tasks[2].blocked_by == ["IMPL-001", "DRAFT-002"]


def test_the_same_gap_twice_does_nothing_twice(floor: TeamFloor) -> None:
    run_id = begun(floor)

    for words in ("tester", "Tester", "juggling", "juggling", "  JUGGLING "):
        say(floor, run_id, words)

    assert ids(floor.run(run_id)) == ["IMPL-001", "TEST-001", "DRAFT-001"]
    assert len(cards(floor)) == 1


def test_without_room_a_person_is_asked_and_the_task_goes_on(floor: TeamFloor) -> None:
    run_id = begun(floor, max_roles=2)

    say(floor, run_id, "tester")

    (card,) = cards(floor)
    assert card.title == "IMPL-001 misses tester"
    assert "with 2 roles the limit is reached" in card.text
    assert ids(floor.run(run_id)) == ["IMPL-001", "DRAFT-001"]
    floor.answer(card.id, action="go on", text="use the script in tools/")
    assert floor.detail(run_id, "IMPL-001").words == ["operator: use the script in tools/"]
    assert floor.states(run_id) == {"IMPL-001": "pending", "DRAFT-001": "pending"}
    say(floor, run_id, "tester")
    assert len(cards(floor)) == 1


def test_a_task_that_cannot_be_done_without_it_is_left_out_by_a_person(floor: TeamFloor) -> None:
    run_id = begun(floor)
    say(floor, run_id, "juggling")
    (card,) = cards(floor)

    floor.answer(card.id, action="skip")

    assert floor.states(run_id) == {"IMPL-001": "skipped", "DRAFT-001": "skipped"}


def test_many_unknown_skills_of_a_task_are_one_card(floor: TeamFloor) -> None:
    run_id = begun(floor)

    for number in range(20):
        say(floor, run_id, f"skill number {number}")

    assert len(cards(floor)) == 1


def test_a_task_that_was_added_for_a_gap_adds_no_other(floor: TeamFloor) -> None:
    run_id = begun(floor)
    say(floor, run_id, "tester")

    say(floor, run_id, "researcher", "TEST-001")

    assert ids(floor.run(run_id)) == ["IMPL-001", "TEST-001", "DRAFT-001"]
    assert "itself added" in cards(floor)[0].text


def test_cards_are_taken_back_when_the_run_is_cancelled(floor: TeamFloor) -> None:
    run_id = begun(floor)
    say(floor, run_id, "juggling")

    floor.command(run_id, "cancel")

    assert [card.state for card in cards(floor)] == ["withdrawn"]
    say(floor, run_id, "tester")
    assert ids(floor.run(run_id)) == ["IMPL-001", "DRAFT-001"]


def test_a_gap_of_no_task_stays_a_message(floor: TeamFloor) -> None:
    run_id = begun(floor)

    say(floor, run_id, "tester", None)

    assert ids(floor.run(run_id)) == ["IMPL-001", "DRAFT-001"]
    assert cards(floor) == []


def test_a_session_says_only_what_its_own_task_misses(team_floor: TeamFloor, tmp_path: Path) -> None:
    hold = f"while ! test -e {tmp_path / 'go'}; do sleep 0.05; done"
    run_id = team_floor.begin(
        task("IMPL-001", first=hold), task("RESEARCH-001"), task("DRAFT-001", "IMPL-001", "RESEARCH-001")
    )
    at_work = team_floor.until_task(run_id, "IMPL-001", "running")

    with pytest.raises(Conflict, match="not this session's task"):
        say(team_floor, run_id, "tester", "RESEARCH-001", session_id=at_work.session_id)
    say(team_floor, run_id, "tester", None, session_id=at_work.session_id)

    assert "TEST-001" in ids(team_floor.run(run_id))
    assert team_floor.task(run_id, "DRAFT-001").blocked_by == ["IMPL-001", "RESEARCH-001", "TEST-001"]
    (tmp_path / "go").touch()
    over = team_floor.until_over(run_id)
    assert {each.id: each.state for each in over.all_tasks}["DRAFT-001"] in ("completed", "completed_with_warnings")
    order = [id for id, event in team_floor.moves(run_id) if event.startswith("passed")]
    assert order[-1] == "DRAFT-001"
