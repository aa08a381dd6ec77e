"""The built-in agent on tasks of a team: a process in a git worktree, with a dispatch, and a gate that judges it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.handoff.check import Check, GatePolicy
from gemba.handoff.snapshot import Snapshot, take_snapshot
from gemba.handoff.verdict import judge_object
from gemba.handoff.world import check_world
from gemba.teams.analysis import analyse
from gemba.teams.command_tasks import prompt_of, with_programs
from gemba.teams.gates import judge
from gemba.teams.looking import Task, look
from gemba.teams.measuring import measure
from gemba.teams.plan import CommandTask, PlanTask, TaskOptions
from gemba.teams.planning import plan_from
from gemba.teams.reviewer import review
from tests.fixtures.runs import Run, StartRun

AGENT = (sys.executable, "-m", "gemba.sessions.builtin")
AGENT_ID = "a0123456789abcdef"
TEXT = "Investigate how prices are applied, plan and design a stock check, report, review the orders and test them."
FILES = {
    "README.md": "# Kettle\n\nOrders and prices of a small tea shop. [How](docs/how.md) to import orders.\n",
    "docs/how.md": "# How\n\nStock is not counted yet.\n",
    "Makefile": "test:\n\t@echo '3 passed in 0.1s'\n",
    "kettle/prices.py": "def price_of(tea):\n    return 1\n",
    "kettle/orders.py": "from kettle.prices import price_of\n\n\ndef total(lines):\n    return price_of(lines)\n",
    "tests/test_prices.py": "from kettle.prices import price_of\n\n\ndef test_it():\n    assert price_of('x') == 1\n",
}


class Worktree:
    """A git worktree in which built-in sessions work on tasks."""

    def __init__(self, home: Path, folder: Path, start_run: StartRun) -> None:
        self.home, self.folder, self._start_run = home, folder, start_run
        self.base = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    def run(self, prompt: str, task_id: str = "IMPL-001", consolidates: bool = False) -> dict[str, Any]:
        """The envelope with which a turn ended, which the verdict accepts."""
        dispatch = f"d-{len(list(self.home.glob('envelopes/*.json')))}"
        given = {
            "metadata": {"agent_id": AGENT_ID, "task_id": task_id, "dispatch_id": dispatch},
            "agent_contract_handoff": {"goal": "it", "consolidation_required": consolidates},
        }
        (self.home / "envelopes").mkdir(exist_ok=True)
        (self.home / f"envelopes/{dispatch}.json").write_text(json.dumps(given))
        names = {"GEMBA_HOME": str(self.home), "GEMBA_ROLE": "worker", "GEMBA_DISPATCH_ID": dispatch}
        env = {**os.environ, **names, "GEMBA_AGENT_TYPE": "builtin", "GEMBA_INTERACTION_MODE": "balanced"}
        run: Run = self._start_run(*AGENT, name=f"agent-{dispatch}", env=env, cwd=str(self.folder), stdin=prompt)
        assert run.ended(60).code == 0, run.shown()
        log = Path(wire.log_path(str(self.home), f"agent-{dispatch}"))
        frames = [json.loads(line) for line in log.read_bytes().splitlines()]
        [handoff] = [frame["payload"] for frame in frames if frame["hook"] == "GembaHandoff"]
        envelope: dict[str, Any] = handoff["envelope"]
        verdict = judge_object(envelope, given)
        assert (verdict.valid, verdict.findings) == (True, []), verdict
        return envelope

    def artifact(self, name: str) -> str:
        return (self.folder / ".gemba/artifacts" / name).read_text()


@pytest.fixture
def worktree(home: Path, workspace: Path, start_run: StartRun, tmp_path: Path) -> Worktree:
    for name, content in FILES.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(content)
    for words in (["add", "."], ["commit", "-qm", "A shop"], ["worktree", "add", "-q", str(tmp_path / "tree")]):
        subprocess.run(["git", *words], cwd=workspace, check=True)
    return Worktree(home, tmp_path / "tree", start_run)


def task(command: CommandTask | None, **options: Any) -> PlanTask:
    return PlanTask(
        "IMPL-001", "developer", "Build it.", (), "IMPL-001", False, TaskOptions(command=command, **options)
    )


def test_a_run_without_a_model_does_what_programs_do_and_says_what_it_only_surveyed(worktree: Worktree) -> None:
    plan = with_programs(plan_from(analyse(TEXT + " Build it.")), {}, "builtin")
    ids = tuple(each.id for each in plan.tasks)
    scores: dict[str, float] = {}
    for each in plan.tasks:
        before = take_snapshot(worktree.folder)
        envelope = worktree.run(prompt_of(each, text=TEXT), each.id, consolidates=len(each.blocked_by) > 1)
        if each.options.command is None:
            assert envelope["agent_status"]["plan_status"] == "NEEDS_INPUT"
            assert "`run: COMMAND`" in envelope["agent_status"]["next_action"]
            continue
        assert envelope["agent_status"]["plan_status"] == "COMPLETE", envelope
        assert envelope["evidence_report"]["verification"]["verification_method"] == "read"
        looked = Task(
            id=each.id,
            owner=each.owner,
            goal=each.goal,
            output="artifact",
            envelope=envelope,
            text=TEXT,
            world=tuple(world_of(worktree, envelope, before)),
            tasks=ids,
            names=tuple(path.name for path in (worktree.folder / ".gemba/artifacts").iterdir()),
        )
        work = look(looked, worktree.folder, worktree.base)
        gate = judge(measure(work), review(work), author=each.owner, attempt=1)
        scores[each.id] = gate.score
        surveyed = envelope["evidence_report"]["verification"].get("details", {}).get("surveyed")
        assert gate.outcome == ("passed_with_warnings" if surveyed else "passed"), (each.id, gate)
        assert [check for check in looked.world if check.verdict != "ok"] == []
    # The plan of a text is in its clauses; the shape of a thing is not.
    assert {id for id, score in scores.items() if score != 100} == {"DESIGN-001"}
    assert (scores["DESIGN-001"], len(scores)) == (75, 6)


def world_of(worktree: Worktree, envelope: dict[str, Any], before: Snapshot) -> list[Check]:
    """What is claimed of files, and what commands do when they are run once more, without what only a session has."""
    wanted = ("files_produced", "artifacts_written", "files_modified", "line_counts", "rerun_verification")
    policy = GatePolicy(**{name: "require" if name in wanted else "off" for name in GatePolicy.__struct_fields__})
    return check_world(envelope, before, None, policy, worktree.folder)


def test_a_declared_command_leaves_an_artifact_and_tells_what_it_changed(worktree: Worktree) -> None:
    command = "echo building; echo 'x = 1' > new.py; printf 'a\\nb' > README.md; rm docs/how.md; touch empty"
    made = task(CommandTask(command, "build.md", "test -f new.py"), acceptance=("There is a new.py",))
    before = take_snapshot(worktree.folder)

    envelope = worktree.run(prompt_of(made))

    assert envelope["evidence_report"]["verification"] == {
        "result": "pass",
        "verification_method": "test",
        "command": "test -f new.py",
        "exit_code": 0,
        "artifacts_written": [".gemba/artifacts/IMPL-001-build.md"],
        "files_produced": ["new.py"],
        "files_modified": [
            {"path": "README.md", "lines_before": 3, "lines_after": 2},
            {"path": "docs/how.md", "lines_before": 3, "lines_after": 0},
        ],
    }
    assert {each.verdict for each in world_of(worktree, envelope, before)} == {"ok"}
    page = worktree.artifact("IMPL-001-build.md")
    assert page.startswith("# IMPL-001: Build it.\n")
    assert "building" in page
    assert "There is a new.py" in page
    assert "IMPL-001" in envelope["user_facing_summary"]


def test_a_command_finds_its_task_in_its_environment_to_the_letter(worktree: Worktree) -> None:
    goal = "Say 'it' \"twice\"\n$(touch broken) `touch broken` => x; rm -rf . | & \u2028run: touch broken"
    show = f"{sys.executable} -c 'import os, json; print(json.dumps(dict(os.environ)))' > \"$GEMBA_ARTIFACT\""
    made = task(CommandTask(show, "env.md"), acceptance=("a\nb", "c"))
    made = PlanTask(made.id, made.owner, goal, (), made.id, False, made.options)

    worktree.run(prompt_of(made, text="text\n" * 3))

    told = json.loads(worktree.artifact("IMPL-001-env.md"))
    assert (told["GEMBA_TASK_GOAL"], told["GEMBA_TASK_TEXT"]) == (goal, "text\n" * 3)
    assert (told["GEMBA_TASK_ID"], told["GEMBA_TASK_ACCEPTANCE"]) == ("IMPL-001", "a b\nc")
    assert not (worktree.folder / "broken").exists()
    assert not Path(told["GEMBA_EVIDENCE"]).parent.exists()


def test_a_command_that_fails_blocks_and_what_it_printed_is_kept(worktree: Worktree) -> None:
    envelope = worktree.run(prompt_of(task(CommandTask("echo E501 line too long; exit 1", "lint.md"))))

    assert envelope["agent_status"]["plan_status"] == "BLOCKED"
    assert envelope["evidence_report"]["open_gaps"] == ["echo E501 line too long; exit 1: exit code 1"]
    page = worktree.artifact("IMPL-001-lint.md")
    assert "Something did not go well." in page
    assert "E501 line too long\n```" in page


def test_an_artifact_of_an_earlier_turn_does_not_pass_for_one_of_this(worktree: Worktree) -> None:
    folder = worktree.folder / ".gemba/artifacts"
    folder.mkdir(parents=True)
    (folder / "IMPL-001-build.md").write_text("# of the first attempt\n")

    worktree.run(prompt_of(task(CommandTask("echo second", "build.md"))))

    assert "of the first attempt" not in worktree.artifact("IMPL-001-build.md")


def test_what_an_operator_answers_is_the_next_turn(worktree: Worktree) -> None:
    first = worktree.run(prompt_of(task(None)))
    assert first["agent_status"]["plan_status"] == "NEEDS_INPUT"
    assert "team.toml" in first["evidence_report"]["open_gaps"][0]

    second = worktree.run(prompt_of(task(None), answer="run: echo made > out.txt => out.txt"))

    assert second["agent_status"]["plan_status"] == "COMPLETE"
    written = second["evidence_report"]["verification"]["artifacts_written"]
    assert written == ["out.txt", ".gemba/artifacts/IMPL-001-report.md"]
    assert "echo made" in worktree.artifact("IMPL-001-report.md")


@pytest.mark.parametrize(
    "told",
    ["no JSON", "[]", '{"files_checked": 3, "severity": {"x": "y"}, "key_outputs": [1, "\\u0007 ok"]}', "x" * 300_000],
)
def test_what_a_program_tells_of_itself_is_taken_for_text_or_not_at_all(told: str, worktree: Worktree) -> None:
    (worktree.folder / "told").write_text(told)

    envelope = worktree.run(prompt_of(task(CommandTask("cp told $GEMBA_EVIDENCE", "a.md"))))

    assert envelope["evidence_report"]["key_outputs"] in ([], ["ok"])
    assert "details" not in envelope["evidence_report"]["verification"]


def test_in_no_repository_nothing_is_said_of_changes(home: Path, tmp_path: Path, start_run: StartRun) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)
    plain = Worktree(home, folder, start_run)
    subprocess.run(["rm", "-rf", ".git"], cwd=folder, check=True)

    envelope = plain.run(prompt_of(task(CommandTask("echo x > y", "a.md"))))

    assert "files_produced" not in envelope["evidence_report"]["verification"]
