"""Team runs, end to end: real worktrees, real processes, both databases."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gemba.errors import Conflict, Invalid
from gemba.escalations.escalation import Escalation
from gemba.escalations.store import get, view
from gemba.sessions import runs as session_runs
from gemba.sessions.store import get_session
from gemba.teams import store
from gemba.teams.analysis import analyse
from gemba.teams.attempts import sessions_of
from gemba.teams.run import RunView, TaskView
from gemba.teams.task import TaskState
from gemba.teams.view import list_runs
from gemba.testing import retry_until
from tests.fixtures.team_floor import TeamFloor, report, task


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_run_ends_with_artifacts_scores_a_branch_and_a_report(team_floor: TeamFloor, workspace: Path) -> None:
    run_id = team_floor.begin(
        task("RESEARCH-001"),
        task("IMPL-001", "RESEARCH-001", first="echo new > made.txt"),
        task("TEST-001", "IMPL-001", first="test -s made.txt"),
    )

    over = team_floor.until_over(run_id)

    assert over.state == "completed", over.report
    assert [each.state for each in over.all_tasks] == ["completed"] * 3
    assert all(each.score is not None and each.score >= 80 for each in over.all_tasks)
    assert git(workspace, "show", f"{over.branch}:made.txt") == "new\n"
    assert not (workspace / "made.txt").exists()
    assert over.report is not None
    assert "3 of 3 tasks are done" in over.report
    assert git(workspace, "status", "--porcelain", "--", ".", ":!.gemba") == ""


def test_two_ready_tasks_of_one_role_are_two_claims(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("IMPL-001", first="echo 1 > one.txt"), task("IMPL-002", first="echo 2 > two.txt"))

    team_floor.until_over(run_id)

    claims = [moved for moved in team_floor.moves(run_id) if moved[1] == "claimed"]
    sessions = {team_floor.detail(run_id, id).attempts[0].session_id for id in ("IMPL-001", "IMPL-002")}
    assert sorted(claims) == [("IMPL-001", "claimed"), ("IMPL-002", "claimed")]
    assert len(sessions) == 2


def test_a_task_that_is_blocked_holds_what_waits_for_it(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001", run="false"), task("IMPL-001", "RESEARCH-001"))

    waits = team_floor.until_task(run_id, "RESEARCH-001", "waiting")

    assert waits.waiting_for == "blocked"
    assert team_floor.task(run_id, "IMPL-001").state == "pending"


def test_a_gate_that_is_missed_three_times_asks_and_what_is_accepted_goes_on_with_a_warning(
    team_floor: TeamFloor,
) -> None:
    run_id = team_floor.begin(task("IMPL-001", output="codebase"), task("TEST-001", "IMPL-001"))

    given_up = team_floor.until_task(run_id, "IMPL-001", "partial_completion")

    assert [each.outcome for each in team_floor.detail(run_id, "IMPL-001").attempts] == [
        "given_up",
        "sent_back",
        "sent_back",
    ]
    assert team_floor.task(run_id, "TEST-001").state == "pending"
    assert given_up.escalation_id is not None
    team_floor.answer(given_up.escalation_id, action="accept", text="good enough")
    over = team_floor.until_over(run_id)
    assert (over.state, over.all_tasks[0].state) == ("completed_with_warnings", "completed_with_warnings")
    assert "good enough" in (over.all_tasks[0].reason or "")


def view_card(floor: TeamFloor, id: str) -> Escalation:
    with floor.app.database.read() as connection:
        return view(get(connection, id))


@pytest.mark.parametrize(("verb", "words"), [("accept", "good enough"), ("revise", "use another name"), ("skip", "")])
def test_a_gate_that_is_decided_on_the_run_itself_is_answered_on_its_card_with_who_and_the_words(
    team_floor: TeamFloor, verb: str, words: str
) -> None:
    run_id = team_floor.begin(task("IMPL-001", output="codebase"), task("TEST-001", "IMPL-001"))
    card = team_floor.until_task(run_id, "IMPL-001", "partial_completion").escalation_id
    assert card is not None

    team_floor.command(run_id, verb, "IMPL-001", text=words)

    shown = view_card(team_floor, card)
    assert (shown.state, shown.delivery) == ("resolved", "none")
    assert shown.resolution is not None
    assert (shown.resolution.outcome, shown.resolution.by) == ("answered", "operator")
    assert (shown.resolution.action, shown.resolution.text, shown.resolution.who) == (verb, words or verb, "operator")


def test_a_revise_makes_a_new_version_and_what_was_built_on_it_is_done_anew(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"), task("TEST-001", "IMPL-001"))
    team_floor.until_over(run_id)

    team_floor.command(run_id, "revise", "IMPL-001", text="use another name")
    over = team_floor.until_over(run_id)

    shown = {each.id: each for each in over.all_tasks}
    assert over.state == "completed"
    assert (shown["RESEARCH-001"].version, shown["IMPL-001"].version) == (1, 2)
    assert {each.version for each in team_floor.detail(run_id, "IMPL-001").attempts} == {1, 2}
    assert len(team_floor.detail(run_id, "RESEARCH-001").attempts) == 1
    assert len(team_floor.detail(run_id, "TEST-001").attempts) == 2
    order = [id for id, event in team_floor.moves(run_id) if event == "passed"]
    assert order == ["RESEARCH-001", "IMPL-001", "TEST-001", "IMPL-001", "TEST-001"]


def test_a_skipped_task_skips_what_depends_on_it_with_the_reason(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(
        task("RESEARCH-001", run="false"),
        task("IMPL-001", "RESEARCH-001"),
        task("TEST-001", "IMPL-001"),
        task("DRAFT-001"),
    )
    team_floor.until_task(run_id, "RESEARCH-001", "waiting")
    team_floor.until_task(run_id, "DRAFT-001", "completed")

    team_floor.command(run_id, "skip", "RESEARCH-001", text="nobody needs it")

    over = team_floor.until_over(run_id)
    assert team_floor.states(run_id) == {
        "RESEARCH-001": "skipped",
        "IMPL-001": "skipped",
        "TEST-001": "skipped",
        "DRAFT-001": "completed",
    }
    reasons = {each.id: each.reason for each in over.all_tasks}
    assert "depends on RESEARCH-001" in (reasons["IMPL-001"] or "")
    assert "since RESEARCH-001 was skipped" in (reasons["TEST-001"] or "")


def test_an_answer_continues_the_task_that_asked(team_floor: TeamFloor, workspace: Path) -> None:
    """A developer without a program asks the operator for one, and runs it as the next turn."""
    nothing = task("IMPL-001")
    nothing["options"] = {"agent": "builtin"}
    run_id = team_floor.begin(nothing)

    asks = team_floor.until_task(run_id, "IMPL-001", "waiting")

    assert asks.waiting_for == "input"
    assert asks.escalation_id is not None
    team_floor.answer(
        asks.escalation_id, text=f"run: echo answered > made.txt && {report('IMPL-001').replace(chr(10), ' ')}"
    )
    over = team_floor.until_over(run_id)
    assert over.state in ("completed", "completed_with_warnings"), over.report
    assert git(workspace, "show", f"{over.branch}:made.txt") == "answered\n"


def test_an_answer_is_told_to_every_session_after_it_and_is_no_longer_on_its_way(team_floor: TeamFloor) -> None:
    nothing = task("IMPL-001")
    nothing["options"] = {"agent": "builtin", "output": "codebase"}
    run_id = team_floor.begin(nothing)
    asks = team_floor.until_task(run_id, "IMPL-001", "waiting")
    assert asks.escalation_id is not None

    team_floor.answer(asks.escalation_id, text=f"run: {report('IMPL-001').replace(chr(10), ' ')}")

    team_floor.until_task(run_id, "IMPL-001", "partial_completion")  # it changes nothing, however often it is done
    outcomes = [each.outcome for each in team_floor.detail(run_id, "IMPL-001").attempts]
    assert outcomes == ["given_up", "sent_back", "sent_back", "held"]
    with team_floor.app.database.read() as connection:
        assert get(connection, asks.escalation_id).delivery == "delivered"


def test_sessions_end_by_themselves_and_worktrees_go_when_their_tasks_are_done(
    team_floor: TeamFloor, workspace: Path
) -> None:
    run_id = team_floor.begin(
        task("RESEARCH-001"),
        task("IMPL-001", "RESEARCH-001", first="echo new > made.txt"),
        task("IMPL-002", "IMPL-001", first="echo more > more.txt"),
    )
    over = team_floor.until_over(run_id)

    retry_until(lambda: is_cleared(workspace, over), timeout=45.0)

    with team_floor.app.database.read() as connection:
        ends = {get_session(connection, id).close_reason for id in sessions_of(connection, run_id)}
    assert ends == {"provider_exit"}


def test_what_one_process_left_of_a_done_task_the_next_one_clears_away(
    open_team_floor: Callable[..., TeamFloor], workspace: Path
) -> None:
    floor = open_team_floor().start()
    run_id = floor.begin(task("IMPL-001", first="echo new > made.txt"))
    over = floor.until_over(run_id)
    floor.close()

    open_team_floor().start()

    retry_until(lambda: is_cleared(workspace, over), timeout=45.0)


def is_cleared(workspace: Path, over: RunView) -> bool:
    """No worktree is there beside the workspace, and no branch but the run's."""
    branches = git(workspace, "branch", "--format=%(refname:short)").split()
    return branches == [over.branch, "main"] and git(workspace, "worktree", "list").count("\n") == 1


def test_changes_that_conflict_become_a_task_and_nothing_is_lost(team_floor: TeamFloor, workspace: Path) -> None:
    run_id = team_floor.begin(
        task("IMPL-001", first="echo one > same.txt"),
        task("IMPL-002", first="echo two > same.txt"),
        task("TEST-001", "IMPL-001", "IMPL-002"),
    )

    added = team_floor.until_task(run_id, "IMPL-003")

    loser = team_floor.task(run_id, str(added.revises))
    assert loser.state == "completed_with_warnings"
    assert "same.txt" in (loser.reason or "")
    assert "IMPL-003" in team_floor.task(run_id, "TEST-001").blocked_by
    assert team_floor.task(run_id, "TEST-001").state == "pending"


def test_pause_begins_nothing_new_and_resume_goes_on(team_floor: TeamFloor, tmp_path: Path) -> None:
    gate = tmp_path / "go"
    hold = f"while ! test -e {gate}; do sleep 0.05; done"
    run_id = team_floor.begin(task("RESEARCH-001", first=hold), task("IMPL-001", "RESEARCH-001"))
    team_floor.until_task(run_id, "RESEARCH-001", "running")

    team_floor.command(run_id, "pause")
    gate.touch()
    team_floor.until_task(run_id, "RESEARCH-001", "completed")

    assert team_floor.run(run_id).state == "paused"
    assert team_floor.task(run_id, "IMPL-001").state == "pending"
    team_floor.command(run_id, "resume")
    assert team_floor.until_over(run_id).state == "completed"


def test_cancel_ends_every_session_and_keeps_what_was_done(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001", first="sleep 600"))
    at_work = team_floor.until_task(run_id, "IMPL-001", "running")

    team_floor.command(run_id, "cancel", text="not needed")

    assert team_floor.states(run_id) == {"RESEARCH-001": "completed", "IMPL-001": "cancelled"}
    assert team_floor.run(run_id).state == "cancelled"
    session = at_work.session_id

    def is_over() -> bool:
        with team_floor.app.database.read() as connection:
            row = session_runs.find(connection, str(session))
            return row is not None and row.ended_at is not None

    team_floor.commits.until(is_over)


def test_an_agent_that_dies_is_tried_again_and_then_a_person_decides(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("IMPL-001", run="kill -9 $PPID"))

    held = team_floor.until_task(run_id, "IMPL-001", "waiting", patience=90)

    assert held.waiting_for == "decision"
    assert held.errors == 3
    assert [each.outcome for each in team_floor.detail(run_id, "IMPL-001").attempts] == ["error"] * 3


def test_a_turn_that_takes_too_long_is_stopped(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("IMPL-001", first="sleep 600", seconds=1))

    broken = team_floor.until_task(run_id, "IMPL-001", "pending", errors=1)

    assert "time was over" in (broken.reason or "")


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty_text"), ("  \n", "empty_text"), ("x" * 200_001, "text_too_long")]
)
def test_a_text_that_cannot_be_one_is_refused_and_nothing_is_begun(team_floor: TeamFloor, text: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        analyse(text)

    assert refused.value.code == code
    with pytest.raises((Invalid, msgspec.ValidationError)):
        team_floor.act("/api/teams", text=text)
    with team_floor.app.database.read() as connection:
        assert list_runs(connection, str(team_floor.app.workspace.root), 10, None)[1] == 0


def test_a_text_that_reads_like_a_command_begins_a_run(team_floor: TeamFloor) -> None:
    made = team_floor.act("/api/teams", text="check status", plan_only=True)

    assert made.state == "planned"
    assert made.text == "check status"


def test_the_same_text_twice_is_the_same_plan(team_floor: TeamFloor) -> None:
    text = "Investigate the parser, design a new one, implement it, test it and write the report"
    one, other = (team_floor.act("/api/teams", text=text, plan_only=True) for _ in range(2))

    def told(run: RunView) -> list[tuple[object, ...]]:
        return [(each.id, each.owner, each.goal, each.blocked_by) for each in run.all_tasks]

    assert told(one) == told(other)
    assert one.analysis == other.analysis


def test_illegal_commands_say_what_is_allowed(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001"))
    team_floor.until_over(run_id)

    with pytest.raises(Conflict) as refused:
        team_floor.command(run_id, "retry", "RESEARCH-001")

    assert refused.value.code == "illegal_move"
    assert refused.value.allowed == ["revise"]


def test_a_worker_that_stops_leaves_its_task_to_the_next_one_and_work_is_not_doubled(
    open_team_floor: Callable[..., TeamFloor], tmp_path: Path
) -> None:
    count, gate = tmp_path / "count", tmp_path / "go"
    first = open_team_floor().start()
    line = f"echo begun >> {count} && while ! test -e {gate}; do sleep 0.05; done"
    run_id = first.begin(task("IMPL-001", first=line), task("TEST-001", "IMPL-001"))
    first.until_task(run_id, "IMPL-001", "running")
    first.commits.until(count.exists)
    first.close()

    second = open_team_floor().start()
    gate.touch()

    assert second.until_over(run_id).state == "completed"
    assert count.read_text() == "begun\n"
    assert len(second.detail(run_id, "IMPL-001").attempts) == 1


def test_what_waits_survives_a_restart(open_team_floor: Callable[..., TeamFloor]) -> None:
    first = open_team_floor().start()
    nothing = task("IMPL-001")
    nothing["options"] = {"agent": "builtin"}
    run_id = first.begin(nothing)
    asks = first.until_task(run_id, "IMPL-001", "waiting")
    first.close()

    second = open_team_floor()
    second.answer(str(asks.escalation_id), text=f"run: {report('IMPL-001').replace(chr(10), ' ')}")
    second.start()

    assert second.until_over(run_id).state in ("completed", "completed_with_warnings")


def test_states_of_tasks_are_what_the_status_shows_at_every_step(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"))
    team_floor.until_over(run_id)

    with team_floor.app.database.read() as connection:
        rows = store.all_tasks(connection, run_id)
    shown = team_floor.run(run_id)
    assert [(row.id, row.state) for row in rows] == [(each.id, each.state.value) for each in shown.all_tasks]
    assert shown.states == {"completed": 2}
    assert TaskState.COMPLETED in {each.state for each in shown.all_tasks}


def test_what_is_built_on_a_revised_task_sees_its_new_version(team_floor: TeamFloor, workspace: Path) -> None:
    run_id = team_floor.begin(
        task("IMPL-001", first="date +%s%N >> stamp.txt"),
        task("TEST-001", "IMPL-001", first="cp stamp.txt seen.txt"),
    )
    first = team_floor.until_over(run_id)
    before = git(workspace, "show", f"{first.branch}:seen.txt")

    team_floor.command(run_id, "revise", "IMPL-001", text="once more")
    over = team_floor.until_over(run_id)

    assert over.state == "completed", over.report
    seen = git(workspace, "show", f"{over.branch}:seen.txt")
    assert seen == git(workspace, "show", f"{over.branch}:stamp.txt")
    assert seen.startswith(before)
    assert len(seen.splitlines()) == 2


def test_a_person_who_reviews_is_asked_and_their_points_count(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(task("IMPL-001", first="echo 1 > a.txt"), settings={"reviewer": "person"})

    waits = team_floor.until_task(run_id, "IMPL-001", "waiting", waiting_for="decision")
    points = {"completeness": 90, "consistency": 70, "accuracy": 80, "depth": 88}
    team_floor.command(run_id, "review", "IMPL-001", **points, note="the names could be better")

    over = team_floor.until_over(run_id)
    (attempt,) = team_floor.detail(run_id, "IMPL-001").attempts
    assert waits.escalation_id is not None
    assert over.state == "completed"
    assert attempt.gate is not None
    assert (attempt.gate["reviewer"], attempt.gate["lowest"]) == ("person", "consistency")
    assert over.all_tasks[0].score == 82.0


def test_high_holds_the_task_and_no_dependent_starts_before_a_person_decides(team_floor: TeamFloor) -> None:
    run_id = team_floor.begin(
        task("IMPL-001", first="echo 1 > a.txt", reviewers=["person"]), task("TEST-001", "IMPL-001")
    )
    team_floor.until_task(run_id, "IMPL-001", "waiting", waiting_for="decision")
    points = dict.fromkeys(("completeness", "consistency", "accuracy", "depth"), 90)

    team_floor.command(run_id, "review", "IMPL-001", **points, rating=3, critical=True, note="it loses data")

    revision = team_floor.until_task(run_id, "IMPL-002", "completed", "completed_with_warnings")
    assert revision.revises == "IMPL-001"
    assert "it loses data" in revision.goal
    held = team_floor.commits.until(lambda: _held_with_card(team_floor, run_id))
    assert team_floor.task(run_id, "TEST-001").state == "pending"
    team_floor.answer(str(held.escalation_id), action="accept")
    over = team_floor.until_over(run_id)
    assert over.state == "completed_with_warnings"
    assert team_floor.task(run_id, "TEST-001").state == "completed"


def _held_with_card(floor: TeamFloor, run_id: str) -> TaskView | None:
    shown = floor.task(run_id, "IMPL-001")
    return shown if shown.state == "waiting" and shown.escalation_id is not None else None


def test_feedback_goes_to_the_tasks_that_it_names_and_to_the_decisions(team_floor: TeamFloor, tmp_path: Path) -> None:
    hold = f"while ! test -e {tmp_path / 'go'}; do sleep 0.05; done"
    run_id = team_floor.begin(
        task("RESEARCH-001", first=hold), task("IMPL-001", "RESEARCH-001"), task("DRAFT-001", "IMPL-001")
    )
    team_floor.until_task(run_id, "RESEARCH-001", "running")

    team_floor.command(run_id, "feedback", text="IMPL-001 must keep the old name")
    (tmp_path / "go").touch()
    team_floor.until_over(run_id)

    assert team_floor.detail(run_id, "IMPL-001").words == ["operator: IMPL-001 must keep the old name"]
    assert team_floor.detail(run_id, "DRAFT-001").words == []
    decisions = team_floor.app.workspace.root / ".gemba" / "teams" / run_id / "wisdom" / "decisions.md"
    team_floor.commits.until(lambda: decisions.exists() and "must keep the old name" in decisions.read_text())


def test_the_report_has_answers_with_their_questions_feedback_once_and_what_cost_points(team_floor: TeamFloor) -> None:
    nothing = task("IMPL-001")
    nothing["options"] = {"agent": "builtin", "output": "mixed"}
    run_id = team_floor.begin(nothing, task("DRAFT-001", "IMPL-001"))
    asks = team_floor.until_task(run_id, "IMPL-001", "waiting")
    team_floor.command(run_id, "feedback", text="use staging")
    team_floor.answer(str(asks.escalation_id), text="run: echo 'x = 1' > made.py")

    over = team_floor.until_over(run_id)

    assert over.report is not None
    decided = over.report.partition("## What was decided")[2].partition("## Tasks")[0]
    assert decided.count("use staging") == 1
    assert "(to IMPL-001, DRAFT-001)" in decided
    assert re.search(r"- IMPL-001 asked: .* — operator: run: echo", decided), decided
    assert "source was changed, and no test was touched or run" in over.report
    assert ".gemba/artifacts/" not in over.report
    assert "made.py" in over.report.partition("## Where it lies")[2]

    team_floor.command(run_id, "revise", "IMPL-001", text="otherwise")
    team_floor.command(run_id, "cancel")

    report = team_floor.run(run_id).report
    assert report is not None
    assert f"the branch `{over.branch}`" in report
    assert "made.py" in report.partition("## Where it lies")[2]


def test_a_gate_that_is_decided_by_a_command_is_answered_with_its_words(team_floor: TeamFloor) -> None:
    poor = "mkdir -p .gemba/artifacts && echo TODO > .gemba/artifacts/IMPL-001-report.md"
    run_id = team_floor.begin(task("IMPL-001", run=poor, acceptance=["cookies expire", "passwords are long"]))
    card = team_floor.until_task(run_id, "IMPL-001", "partial_completion").escalation_id

    team_floor.command(run_id, "accept", "IMPL-001", text="for the spike")

    over = team_floor.until_over(run_id)
    with team_floor.app.database.read() as connection:
        row = get(connection, str(card))
    assert (row.outcome, row.action, row.reply_text) == ("answered", "accept", "for the spike")
    assert over.report is not None
    assert "IMPL-001 asked: IMPL-001 does not pass its gate — operator: accept: for the spike" in over.report


def test_improve_revises_the_task_with_the_lowest_score(team_floor: TeamFloor) -> None:
    page = ".gemba/artifacts/RESEARCH-001-report.md"
    thin = f"mkdir -p .gemba/artifacts && printf '# Do the work\\n\\nDone.\\n' > {page}"
    run_id = team_floor.begin(task("RESEARCH-001", run=thin), task("DRAFT-001"))
    team_floor.until_over(run_id)

    team_floor.command(run_id, "improve")

    assert team_floor.task(run_id, "RESEARCH-001").version == 2
    assert "Improve its" in team_floor.detail(run_id, "RESEARCH-001").words[-1]
    team_floor.until_over(run_id)


def test_a_run_without_a_repository_works_in_the_workspace_one_at_a_time(
    open_team_floor: Callable[..., TeamFloor], workspace: Path
) -> None:
    shutil.rmtree(workspace / ".git")
    floor = open_team_floor().start()
    run_id = floor.begin(task("IMPL-001", first="echo 1 > a.txt"), task("IMPL-002", first="echo 2 > b.txt"))

    over = floor.until_over(run_id)

    assert over.state in ("completed", "completed_with_warnings"), over.report
    assert over.branch is None
    assert (workspace / "a.txt").read_text() + (workspace / "b.txt").read_text() == "1\n2\n"


def test_a_completed_run_is_merged_home_where_it_was_told_to(team_floor: TeamFloor, workspace: Path) -> None:
    run_id = team_floor.begin(task("IMPL-001", first="echo 1 > a.txt"), settings={"on_complete": "merge"})

    team_floor.until_over(run_id)

    team_floor.commits.until((workspace / "a.txt").exists)
    team_floor.commits.until(lambda: "is merged" in (team_floor.run(run_id).trouble or ""))


@pytest.mark.parametrize("id", ["../x", "team-1", "team-00000000000g", "x" * 500, "team-000000000000/../x"])
def test_an_id_that_is_none_of_a_run_never_becomes_a_path(team_floor: TeamFloor, id: str) -> None:
    with pytest.raises(Invalid) as refused:
        team_floor.run(id)

    assert refused.value.code == "invalid_id"


def test_what_an_agent_asks_in_the_middle_of_its_turn_waits_for_you(team_floor: TeamFloor) -> None:
    asking = task("IMPL-001")
    asking["options"] = {"agent": "builtin"}
    run_id = team_floor.begin(asking)
    first = team_floor.until_task(run_id, "IMPL-001", "waiting")
    team_floor.answer(str(first.escalation_id), text="ask: Which name? [one | two]")

    asks = team_floor.commits.until(lambda: _asks_at_work(team_floor, run_id))

    assert team_floor.run(run_id).waits_for_you == 1
    with team_floor.app.database.read() as connection:
        (listed,), _, _ = list_runs(connection, str(team_floor.app.workspace.root), 10, None)
    assert listed.waits_for_you == 1
    team_floor.answer(str(asks.escalation_id), option=1)
    team_floor.commits.until(lambda: team_floor.task(run_id, "IMPL-001").escalation_id != asks.escalation_id)


def _asks_at_work(floor: TeamFloor, run_id: str) -> TaskView | None:
    shown = floor.task(run_id, "IMPL-001")
    return shown if shown.state == "running" and shown.escalation_id is not None else None
