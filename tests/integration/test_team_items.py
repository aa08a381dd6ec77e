"""The work item that a run is for: claimed, handed in, and charged; and the report of a run. Both databases."""

from collections.abc import Callable
from typing import Any

import pytest

from gemba.errors import GembaError
from gemba.event import Draft
from gemba.sprints.usage_view import find_usage
from gemba.teams import bus
from gemba.teams.report import report_of
from gemba.teams.store import get_run
from gemba.work.items import get, is_claimed
from tests.fixtures.sprinting import change, item, running, shown
from tests.fixtures.team_floor import TeamFloor, task


@pytest.fixture
def floor(open_team_floor: Callable[..., TeamFloor]) -> TeamFloor:
    """One where nothing runs by itself."""
    return open_team_floor()


def standing(floor: TeamFloor, id: str) -> tuple[str, str | None]:
    with floor.app.database.transaction() as tx:
        row = get(tx.connection, id)
        return row.state, row.claimed_by if is_claimed(row, tx.now) else None


def used(floor: TeamFloor, by: Any, key: str) -> int:
    with floor.app.database.read() as connection:
        found = find_usage(connection, by, key)
        return 0 if found is None else found.tokens


def take_turn(floor: TeamFloor, run_id: str, task_id: str, tokens: int, cost: float | None = None) -> None:
    session = floor.detail(run_id, task_id).attempts[0].session_id
    told = {"input_tokens": tokens, "output_tokens": 0, "cost_usd": cost, "at": None, "bead_id": None}
    with floor.app.database.transaction() as tx:
        floor.app.ingest.tell(tx, [Draft("usage_reported", told, session, f"{session}/{tokens}")])


# ---- its item --------------------------------------------------------------------------------------------------------


def test_a_run_that_only_surveyed_hands_nothing_in_for_review(team_floor: TeamFloor) -> None:
    epic = item(team_floor.app, "Refunds", kind="epic")
    run_id = team_floor.act("/api/teams", text="asdf qwer", agent="builtin", epic_id=epic).id

    over = team_floor.until_over(run_id)

    assert (over.state, over.surveyed) == ("completed_with_warnings", ["TASK-001"])
    assert standing(team_floor, epic) == ("in_progress", None)
    assert over.report is not None
    assert "waits in review" not in over.report


def test_the_item_of_a_run_is_claimed_and_in_progress_and_in_review_when_it_is_done(team_floor: TeamFloor) -> None:
    epic = item(team_floor.app, "Search", kind="epic")
    run_id = team_floor.begin(task("RESEARCH-001"), epic_id=epic)
    assert standing(team_floor, epic) == ("in_progress", run_id)

    over = team_floor.until_over(run_id)

    assert over.state == "completed", over.report
    assert standing(team_floor, epic) == ("review", None)
    assert over.report is not None
    assert f"{epic} waits in review" in over.report.replace("\\", "")
    assert "git merge" not in over.report  # nothing was changed


def test_a_run_that_is_cancelled_leaves_its_item_free(floor: TeamFloor) -> None:
    epic = item(floor.app, "Search", kind="epic")
    run_id = floor.begin(task("RESEARCH-001"), epic_id=epic)

    floor.command(run_id, "cancel")

    assert standing(floor, epic) == ("in_progress", None)
    assert floor.begin(task("RESEARCH-001"), epic_id=epic)


def test_a_run_whose_every_task_was_left_out_leaves_its_item_free(floor: TeamFloor) -> None:
    epic = item(floor.app, "Search", kind="epic")
    run_id = floor.begin(task("RESEARCH-001"), epic_id=epic)

    floor.command(run_id, "skip", "RESEARCH-001")

    assert floor.run(run_id).state == "failed"
    assert standing(floor, epic) == ("in_progress", None)


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_a_finished_item_has_no_run(floor: TeamFloor, state: str) -> None:
    epic = item(floor.app, "Search", kind="epic")
    change(floor.app, epic, state=state)

    with pytest.raises(GembaError, match=state):
        floor.begin(task("RESEARCH-001"), epic_id=epic)

    with floor.app.database.read() as connection:
        from gemba.teams.view import list_runs

        assert list_runs(connection, str(floor.app.workspace.root), 10, None)[1] == 0


def test_an_item_has_one_run_at_a_time(floor: TeamFloor) -> None:
    epic = item(floor.app, "Search", kind="epic")
    first = floor.begin(task("RESEARCH-001"), epic_id=epic)

    with pytest.raises(GembaError, match="claimed"):
        floor.begin(task("RESEARCH-001"), epic_id=epic)

    assert standing(floor, epic) == ("in_progress", first)


def test_a_plan_leaves_its_item_alone_until_it_begins(floor: TeamFloor) -> None:
    epic = item(floor.app, "Search", kind="epic")
    before = standing(floor, epic)

    run_id = floor.begin(task("RESEARCH-001"), epic_id=epic, plan_only=True)

    assert standing(floor, epic) == before
    floor.command(run_id, "start")
    assert standing(floor, epic) == ("in_progress", run_id)


def test_what_somebody_else_made_of_the_item_meanwhile_is_left_to_them(team_floor: TeamFloor) -> None:
    epic = item(team_floor.app, "Search", kind="epic")
    run_id = team_floor.begin(task("RESEARCH-001", first="sleep 0.2"), epic_id=epic)
    change(team_floor.app, epic, state="done")

    assert team_floor.until_over(run_id).state == "completed"
    assert standing(team_floor, epic)[0] == "done"


# ---- what it took ----------------------------------------------------------------------------------------------------


def test_what_a_teams_turns_take_counts_for_the_task_the_epic_and_the_sprint(team_floor: TeamFloor) -> None:
    app = team_floor.app
    epic = item(app, "Search", kind="epic")
    story = item(app, "Index", parent=epic)
    sprint = running(app, 10_000, epic)
    run_id = team_floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"), epic_id=story)
    team_floor.until_over(run_id)

    take_turn(team_floor, run_id, "RESEARCH-001", 700, 0.25)
    take_turn(team_floor, run_id, "IMPL-001", 50)

    assert used(team_floor, "task", f"{run_id}/RESEARCH-001") == 700
    assert used(team_floor, "task", story) == 750
    assert used(team_floor, "epic", epic) == 750
    assert used(team_floor, "sprint", sprint) == 750
    assert shown(app, sprint).tokens_used == 750
    over = team_floor.run(run_id)
    assert (over.tokens, over.cost_usd) == (750, 0.25)


def test_a_run_for_what_is_not_in_the_sprint_takes_nothing_of_its_budget(team_floor: TeamFloor) -> None:
    app = team_floor.app
    inside, outside = item(app, "Search", kind="epic"), item(app, "Orders", kind="epic")
    sprint = running(app, 10_000, inside)
    run_id = team_floor.begin(task("RESEARCH-001"), epic_id=outside)
    team_floor.until_over(run_id)

    take_turn(team_floor, run_id, "RESEARCH-001", 700)

    assert (used(team_floor, "epic", outside), used(team_floor, "sprint", sprint)) == (700, 0)


# ---- its report ------------------------------------------------------------------------------------------------------

HOSTILE = "a | b\n\n# Heading\n| x | y |\n`code` <script>alert(1)</script> [l](javascript:x) \\"


def test_a_report_says_what_was_found_what_it_took_where_it_lies_and_what_is_next(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001", first="echo new > made.txt"))
    team_floor.until_over(run_id)
    take_turn(team_floor, run_id, "IMPL-001", 1_250, 0.5)
    update = {
        "task_id": "RESEARCH-001",
        "key_findings": ["the index is stale", HOSTILE[:60]],
        "decisions": [{"decision": "keep SQLite", "reason": "it is enough"}],
        "files_modified": ["made.txt"],
    }
    with team_floor.app.database.transaction() as tx:
        bus.post(tx, run_id, "researcher", "state_update", "found it", update)

    with team_floor.app.database.read() as connection:
        run = get_run(connection, run_id)
        text = report_of(connection, run, "completed")

    assert "It took 1,250 tokens and $0.50." in text
    assert "## What was found\n\n- RESEARCH-001, researcher:" in text
    assert "  - the index is stale\n" in text
    assert "  - decided: keep SQLite, since it is enough" in text
    assert f"the branch `{run.branch}`" in text
    assert "- files: made.txt" in text
    assert "`git merge " in text
    assert f"gemba team artifact {run_id} RESEARCH-001-report.md" in text
    assert "What needs a look" not in text


def test_a_report_names_warnings_with_their_lowest_dimension_and_what_was_not_done_with_the_reason(
    team_floor: TeamFloor,
) -> None:
    run_id = team_floor.begin(
        task("IMPL-001", output="codebase"), task("DRAFT-001", run="false"), task("TEST-001", "DRAFT-001")
    )
    given_up = team_floor.until_task(run_id, "IMPL-001", "partial_completion")
    team_floor.until_task(run_id, "DRAFT-001", "waiting")
    team_floor.answer(str(given_up.escalation_id), action="accept", text="good enough")
    team_floor.until_task(run_id, "IMPL-001", "completed_with_warnings")
    team_floor.command(run_id, "skip", "DRAFT-001", text=HOSTILE)

    report = team_floor.until_over(run_id).report or ""

    looks = report.partition("## What needs a look\n\n")[2].partition("\n\n## ")[0].splitlines()
    assert [line.split()[1:4] for line in looks] == [
        ["DRAFT-001", "is", "skipped:"],
        ["TEST-001", "is", "skipped:"],
        ["IMPL-001", "is", "done"],
    ]
    assert "is the lowest, " in looks[2]
    assert "good enough" in looks[2]
    assert f"gemba team improve {run_id}" in report


def test_nothing_that_people_or_agents_write_can_break_a_report(floor: TeamFloor) -> None:
    run_id = floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"), text=HOSTILE)
    floor.command(run_id, "cancel", text=HOSTILE)

    report = floor.run(run_id).report or ""

    table = report.partition("## Tasks\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(table) == 4
    bare = [line.replace("\\|", "") for line in table]
    assert {line.count("|") for line in bare} == {8}
    headings = [line for line in report.splitlines() if line.startswith("#")]
    assert len([line for line in headings if line.startswith("# ")]) == 1
    assert "# Heading" in headings[0]  # as words of the one title
    assert "<script" not in report.replace("\\<", "")
    assert "`code`" not in report.replace("\\`", "'")
