"""`gemba team` at a terminal: real runs of command tasks, with a server and without one."""

import json
import re
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

import click
import pytest

from gemba.cli.team import COMMANDS, command
from gemba.testing import retry_until
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN

_WORDS = (
    "# What was found about {id}",
    "",
    "## Findings",
    "",
    "The file README.md was read from its first line to its last one: it has a heading, a short introduction and",
    "nothing else, so that {id} could be done as it was asked for, without a further question to anybody here.",
    "",
    "- README.md says what the project is about, in 1 paragraph.",
    "",
    "## Next",
    "",
    "Nothing of {id} is left open; whoever builds on it finds all that there is in this file.",
)
Document = dict[str, Any]


def writes(id: str, *before: str, words: Sequence[str] = _WORDS) -> str:
    """A line that writes a task's artifact."""
    text = " ".join(f"'{line.format(id=id)}'" for line in words)
    return "; ".join([*before, "mkdir -p .gemba/artifacts", f"printf '%s\\n' {text} > .gemba/artifacts/{id}-report.md"])


def task(id: str, owner: str, run: str | None = None, after: Sequence[str] = (), **options: Any) -> Document:
    done = {"command": {"run": run or writes(id), "artifact": "report.md"}, **options}
    return {"id": id, "owner": owner, "goal": f"Do {id} as asked", "blocked_by": list(after), "options": done}


def plan_of(*tasks: Document) -> Document:
    prefixes = {each["owner"]: each["id"].partition("-")[0] for each in tasks}
    roles = [{"name": name, "prefix": prefix} for name, prefix in prefixes.items()]
    return {"roles": roles, "tasks": list(tasks)}


RESEARCH = task("RESEARCH-001", "researcher")
IMPL = task("IMPL-001", "developer", writes("IMPL-001", "echo hello > hello.txt"), ["RESEARCH-001"])
TEST = task("TEST-001", "tester", after=["IMPL-001"])
CRITERIA = ["the form validates passwords", "cookies expire"]
POOR = task("IMPL-001", "developer", writes("IMPL-001", words=("TODO see src/nowhere.py",)), acceptance=CRITERIA)
SLOW = "sleep 300"


def written(operator: Operator, *tasks: Document) -> str:
    """The name of a file with such a plan."""
    path = operator.home.parent / "plan.json"
    path.write_text(json.dumps(plan_of(*tasks)))
    return str(path)


def told(operator: Operator, *words: str) -> Document:
    found: Document = json.loads(operator.ok("team", *words, "--json"))
    return found


def started(operator: Operator, *tasks: Document, more: Sequence[str] = ()) -> str:
    id: str = told(operator, "start", "Do it", "--plan", written(operator, *tasks), *more)["id"]
    return id


def state_of(operator: Operator, run: str, id: str) -> str:
    return next(str(each["state"]) for each in told(operator, "status", run)["all_tasks"] if each["id"] == id)


# ---- a run ------------------------------------------------------------------------------------------------------


def test_a_team_runs_in_ci_without_a_server_and_can_be_revised_afterwards(alone: Operator) -> None:
    plan = written(alone, RESEARCH, IMPL, TEST)

    done = alone.run("team", "start", "Look at it, build it and test it", "--plan", plan, "--wait", "--unattended")

    assert done.returncode == 0, done
    assert re.match(r"started team-[0-9a-f]{12}: 3 tasks for researcher, developer, tester\n", done.stderr)
    assert re.search(r"^[\d:]+  ✓ TEST-001 +completed: [\d.]+ of 100$", done.stderr, re.MULTILINE)
    assert done.stdout.startswith("# Look at it, build it and test it\n\nEverything was done. 3 of 3 tasks are done")
    assert alone.ok("team", "report") == done.stdout
    id: str = told(alone, "list")["runs"][0]["id"]
    folder = alone.workspace / ".gemba" / "teams" / id / "artifacts"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("IMPL-001-report.md", "RESEARCH-001-report.md", "TEST-001-report.md")
    ]
    changed = ["git", "show", f"gemba/{id}:hello.txt"]
    assert subprocess.run(changed, cwd=alone.workspace, capture_output=True, text=True).stdout == "hello\n"

    said = alone.ok("team", "revise", id[5:9], "impl-001", "greet in French")
    assert said.startswith(f"IMPL-001 of {id} has a new version; 1 task follows behind it\nNo server runs: it goes on")
    watched = alone.run("team", "watch", "--json")
    assert (watched.returncode, watched.stderr) == (0, "")
    lines = [json.loads(line) for line in watched.stdout.splitlines()]
    assert (lines[0]["task_id"], lines[0]["state"]) == (None, "running")
    assert {line["task_id"] for line in lines} == {None, "IMPL-001", "TEST-001"}
    assert lines[-1]["event"] == "team.finished"
    shown = told(alone, "show", "IMPL-001")
    assert [(each["version"], each["outcome"]) for each in shown["attempts"]] == [(2, "passed"), (1, "passed")]
    assert shown["words"] == ["operator: greet in French"]
    for version in ("1", "2"):
        assert "What was found about IMPL-001" in alone.ok("team", "artifact", "impl-001", "--version", version)
    assert [each["state"] for each in told(alone, "status", id)["all_tasks"]] == ["completed"] * 3


def test_a_run_that_only_surveys_says_so_first_and_fails_in_ci_until_a_person_takes_it(alone: Operator) -> None:
    done = alone.run("team", "start", "asdf", "--wait", "--unattended")

    assert done.returncode == 1
    first = "Surveyed only: what was asked for needs a model or a person."
    assert done.stdout.startswith(f"# asdf\n\n{first} 1 of 1 tasks have ended")
    assert "Everything was done" not in done.stdout
    assert done.stderr.endswith(f"gemba: {first}\n")
    run = told(alone, "status")["runs"][0]
    assert (run["state"], run["surveyed"], run["left"]) == ("completed_with_warnings", ["TASK-001"], first)
    assert [(each["score"], each["gate"]["lowest"]) for each in run["all_tasks"]] == [(75, "completeness")]
    shown = alone.ok("team")
    assert first in shown
    assert f"gemba team accept {run['id'][5:11]} TASK-001" in shown
    assert first in alone.ok("team", "list")
    assert alone.run("team", "watch").returncode == 1

    alone.ok("team", "accept", "TASK-001", "--reason", "a survey is enough")

    assert "accepted by operator: a survey is enough" in alone.ok("team", "report")
    assert first not in alone.ok("team", "report")
    assert told(alone, "status")["runs"][0]["surveyed"] == []
    assert alone.run("team", "watch").returncode == 0


def test_what_programs_really_do_is_done_and_a_plan_without_a_model_is_not(alone: Operator) -> None:
    (alone.workspace / "prices.py").write_text("def price():\n    return 1\n")
    subprocess.run(["git", "add", "prices.py"], cwd=alone.workspace, check=True)
    subprocess.run(["git", "commit", "-qm", "Prices"], cwd=alone.workspace, check=True)
    surveyed = alone.run("team", "start", "survey where the price is made and write a report", "--wait", "--unattended")
    assert (surveyed.returncode, "Everything was done. 2 of 2" in surveyed.stdout) == (0, True), surveyed

    goal = {"id": "DRAFT-001", "owner": "release-writer", "goal": "Write the notes of release 0.4", "blocked_by": []}
    notes = {**goal, "options": {"acceptance": ["every entry says what a user can do now"]}}
    done = alone.run("team", "start", "--plan", written(alone, notes), "--wait", "--unattended")
    assert (done.returncode, "Surveyed only: " in done.stdout) == (1, True), done
    assert "- DRAFT-001 only surveyed what was asked for: " in done.stdout


def test_what_was_only_planned_hides_no_run_that_has_begun(alone: Operator) -> None:
    alone.ok("team", "start", "Do it", "--plan", written(alone, RESEARCH), "--plan-only")
    alone.ok("team", "start", "Something else", "--plan", written(alone, RESEARCH), "--plan-only")
    begun = alone.run("team", "start", "Do it", "--plan", written(alone, RESEARCH), "--wait", "--json")
    id = json.loads(begun.stdout)["id"]

    # The plan of the same text went with it; the other is told of, and in nobody's way.
    states = {each["text"]: each["state"] for each in told(alone, "list")["runs"][1:]}
    assert states == {"Do it": "cancelled", "Something else": "planned"}
    assert [each["id"] for each in told(alone, "status")["runs"]] == [id]
    assert alone.ok("team").endswith("\n1 only planned: gemba team list --state planned\n")
    assert alone.ok("team", "report").startswith("# Do it\n")
    assert "What was found about RESEARCH-001" in alone.ok("team", "artifact", "RESEARCH-001")
    assert alone.ok("team", "revise", "RESEARCH-001", "once more").startswith(f"RESEARCH-001 of {id}")
    alone.ok("team", "cancel", id)
    assert alone.ok("team", "cancel").startswith("cancelled team-")
    assert told(alone, "list", "--state", "planned")["total"] == 0


def test_a_plan_that_is_made_again_takes_the_place_of_the_first(alone: Operator) -> None:
    for _ in range(3):
        alone.ok("team", "start", "investigate it", "--plan-only")

    assert told(alone, "list", "--state", "planned")["total"] == 1
    assert [each["state"] for each in told(alone, "status")["runs"]] == ["planned"]


def test_what_fails_its_gate_waits_for_a_decision_with_the_commands_that_answer_it(served: Operator) -> None:
    plan = written(served, POOR, task("TEST-001", "tester", after=["IMPL-001"]))

    done = served.run("team", "start", "Do it", "--plan", plan, "--wait", "--unattended")

    assert (done.returncode, done.stdout) == (1, "")
    assert "waits for a person; see gemba team status" in done.stderr
    shown = served.ok("team", COLUMNS="80")
    short = told(served, "list")["runs"][0]["id"][5:11]
    for verb, rest in (("accept", ""), ("retry", ""), ("revise", ' "…"'), ("skip", "")):
        assert f"        gemba team {verb} {short} IMPL-001{rest}" in shown
    assert "of 100 after 3 attempts, 60 are needed" in shown
    assert "○ TEST-001  after IMPL-001" in shown
    assert max(map(len, shown.splitlines())) <= 80
    detail = served.ok("team", "show", "impl-001", COLUMNS="80")
    assert max(map(len, detail.splitlines())) <= 80
    for words in ("attempt 3  given up", "attempt 1  sent back", "depth: ", "failed no placeholders (consistency): "):
        assert words in detail
    assert json.loads(served.ok("inbox", "--json"))["escalations"][0]["kind"] == "gate_failure"

    said = served.ok("team", "accept", "IMPL-001", "--reason", "for now")
    assert said.startswith("IMPL-001 of team-")
    assert served.run("team", "watch").returncode == 0
    assert served.ok("inbox") == "Nobody waits for you.\n"
    assert "accepted by operator: for now" in served.ok("team")
    found = told(served, "status")["runs"][0]
    assert (found["state"], found["waits_for_you"]) == ("completed_with_warnings", 0)
    improved = served.ok("team", "improve", "depth")
    assert re.match(r"IMPL-001 of team-\w+ has a new version, for its depth; 1 task follows behind it\n$", improved)
    served.ok("team", "cancel")


def test_what_an_agent_cannot_do_waits_for_an_answer_and_goes_on_with_it(alone: Operator) -> None:
    plan = written(alone, task("IMPL-001", "developer", "exit 3"))

    done = alone.run("team", "start", "Do it", "--plan", plan, "--wait", "--unattended")

    assert (done.returncode, done.stdout) == (1, "")
    card = json.loads(alone.ok("inbox", "--json"))["escalations"][0]["id"]
    assert f'        gemba answer {card[-6:]} "…"' in alone.ok("team")
    assert "it cannot be accepted; allowed: retry, revise, skip" in alone.refused("team", "accept", "impl-001")
    # The built-in worker follows the lines of an answer in place of the task's own command.
    alone.ok("answer", card, f"run: {writes('IMPL-001')} => .gemba/artifacts/IMPL-001-report.md")
    assert "IMPL-001  answered; it goes on as soon as somebody takes it up" in alone.ok("team")
    assert alone.run("team", "watch", "--unattended").returncode == 0


def test_a_run_is_paused_skipped_cancelled_and_its_sessions_end(served: Operator) -> None:
    id = started(served, task("IMPL-001", "developer", SLOW), task("IMPL-002", "developer", SLOW))
    retry_until(lambda: told(served, "status")["runs"][0]["states"] == {"running": 2}, timeout=30)
    sessions = [each["session_id"] for each in told(served, "status", id)["all_tasks"]]

    assert served.ok("team", "pause", "--reason", "lunch") == f"paused {id}: what is at work comes to its end\n"
    assert "because: paused by operator: lunch" in served.ok("team", "status", id[-6:])
    assert served.ok("team", "resume", id[:9]) == f"{id} goes on\n"
    assert served.ok("team", "skip", "impl-002", "--reason", "no") == f"IMPL-002 of {id} is left out\n"
    assert served.ok("team", "cancel", id) == f"cancelled {id}; what was done stays\n"

    def ended() -> bool:
        found = (json.loads(served.ok("session", "show", each, "--json")) for each in sessions)
        return all(each["lifecycle"] == "stopped" for each in found)

    retry_until(ended, timeout=30)
    assert served.run("team", "watch", id).returncode == 1
    assert served.ok("team", "report").startswith("# Do it\n\nIt was cancelled. 0 of 2 tasks are done")
    assert "planned 2 tasks" in served.ok("team", "msg", "list", id[5:9])
    assert served.ok("team", "archive", id) == f"archived {id}; see .gemba/teams/{id}\n"
    retry_until(lambda: (served.workspace / ".gemba/teams" / id / "manifest.json").exists(), timeout=30)


def test_ctrl_c_leaves_a_run_as_it_stands_and_says_how_to_go_on(alone: Operator) -> None:
    plan = written(alone, task("IMPL-001", "developer", SLOW))
    waiting = subprocess.Popen(
        [BIN / "gemba", "team", "start", "Do it", "--plan", plan, "--wait"],
        cwd=alone.workspace,
        env=alone.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stderr is not None
    while "running" not in (line := waiting.stderr.readline()):
        assert line

    waiting.send_signal(signal.SIGINT)
    out, errors = waiting.communicate(timeout=60)

    assert (waiting.returncode, out) == (1, "")
    id = told(alone, "list")["runs"][0]["id"]
    assert errors == (
        f"gemba: {id} is left as it stands; it goes on with `gemba team watch {id[5:11]}` or `gemba serve`, "
        f"and ends with `gemba team cancel {id[5:11]}`\n"
    )
    assert state_of(alone, id, "IMPL-001") == "running"
    alone.ok("team", "cancel")


def test_a_plan_is_shown_with_its_reasons_and_begins_when_it_is_told_to(served: Operator) -> None:
    text = (
        "investigate and compare it, plan it, design a schema, write a report, implement and refactor it, review it "
        "and test it"
    )
    shown = served.ok("team", "start", "--plan-only", text, COLUMNS="80")

    for words in (
        'researcher: tier 0; the text has "investigate", "compare"',
        "complexity: high: 7 for the capabilities + 2 for 4 tiers",
        "planner joins researcher: more roles than the limit of 5",
        "researcher: tasks RESEARCH-*, does also planner",
        "\n  RESEARCH-001  ",
        "\n  └─ RESEARCH-002  ",
        "\n        └─ IMPL-001  ",
        "(and after DRAFT-001)",
    ):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= 80
    id = told(served, "list", "--state", "planned")["runs"][0]["id"]
    assert f"Start it with: gemba team start --planned {id[5:11]}" in shown
    assert f"gemba team start --planned {id[5:11]}" in served.ok("team")
    assert "is only planned" in served.refused("team", "watch")
    served.ok("team", "cancel")

    planned = started(served, RESEARCH, more=["--plan-only"])
    done = served.run("team", "start", "--planned", planned, "--wait", "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "completed")
    assert "analysis" in json.loads(done.stdout)


def test_a_text_that_reads_like_a_command_starts_a_run(served: Operator) -> None:
    for text in ("check status", "cancel", "team-3fa9c1d2e4b5"):
        made = told(served, "start", text, "--plan-only")
        assert (made["text"], made["state"]) == (text, "planned")
    assert "3 in all." in served.ok("team", "list")
    line = served.refused("team", "cancel")
    assert line.startswith("gemba: several team runs are open: say which one is meant: team-")


def test_a_run_can_be_for_a_work_item_whose_words_are_its_text(served: Operator) -> None:
    item = json.loads(served.ok("item", "add", "Faster search", "--description", "Investigate the index.", "--json"))
    made = told(
        served, "start", "--epic", item["id"][-4:], "--plan-only", "--reviewer", "person", "--max-parallel", "3"
    )

    assert (made["epic_id"], made["text"]) == (item["id"], "Faster search\n\nInvestigate the index.")
    assert (made["settings"]["reviewer"], made["settings"]["max_parallel"]) == ("person", 3)


# ---- what is refused --------------------------------------------------------------------------------------------

_LOOP = [task("IMPL-001", "developer", after=["IMPL-002"]), task("IMPL-002", "developer", after=["IMPL-001"])]
_SIX = [task(f"{name.upper()}-001", name) for name in ("aa", "bb", "cc", "dd", "ee", "ff")]


_PLANS: list[tuple[list[Document], str]] = [
    (_LOOP, "tasks wait for each other in a circle: IMPL-001 → IMPL-002 → IMPL-001"),
    ([IMPL, IMPL], "task 'IMPL-001' is there already"),
    ([RESEARCH, {**TEST, "blocked_by": ["GONE-001"]}], "'TEST-001' is blocked by 'GONE-001'"),
    (_SIX, "'ff' is role 6; allowed: 5"),
    ([], "the plan has no roles"),
    ([task("IMPL-001", "developer", agent="nobody")], 'no agent type is called "nobody"'),
]


def test_a_plan_that_cannot_be_run_is_refused_in_one_line(served: Operator) -> None:
    for tasks, said in _PLANS:
        line = served.refused("team", "start", "Do it", "--plan", written(served, *tasks))
        assert said.replace("'", '"') in line.replace("'", '"')
    assert told(served, "list")["total"] == 0


def test_a_fault_in_a_plan_of_toml_is_told_with_its_line(served: Operator) -> None:
    path = served.home.parent / "plan.toml"
    path.write_text(
        '[[roles]]\nname = "developer"\nprefix = "IMPL"\n\n[[tasks]]\nid = "IMPL-001"\nowner = "someone"\ngoal = "x"\n'
    )

    assert f"{path}:7: the owner of " in served.refused("team", "start", "Do it", "--plan", str(path))


_COMMAND_LINES: list[tuple[tuple[str, ...], int, str]] = [
    (("start",), 2, "Missing argument 'TEXT': what is to be done; or --epic ID"),
    (("start", ""), 1, "the task's text is empty"),
    (("start", " .. "), 1, "the task's text is empty"),
    (("start", "x", "--agent", "nobody"), 1, 'no agent type is called "nobody"'),
    (("start", "x", "--epic", "none"), 1, "no work item has an id"),
    (("start", "x", "--reviewer", "nobody"), 1, "reviewer is 'nobody'; allowed: builtin, person"),
    (("start", "x", "--max-roles", "6"), 2, "'--max-roles'"),
    (("start", "x", "--max-parallel", "0"), 2, "'--max-parallel'"),
    (("start", "x", "--plan", "nowhere.toml"), 1, "nowhere.toml: No such file or directory"),
    (("start", "x", "--wait", "--plan-only"), 2, "begins nothing that --wait could wait for"),
    (("start", "x", "--unattended"), 2, "--unattended goes with --wait"),
    (("start", "x", "--planned", "3fa9"), 2, "--planned goes with --wait"),
    (("show", "../x"), 1, "'../x' is no id of a team run"),
    (("show", "3fa9"), 1, "no team run has an id that begins or ends with 3fa9"),
    (("show", "team-3fa9c1d2e4b5"), 1, "team-3fa9c1d2e4b5"),
    (("pause",), 1, "there is no team run yet; begin one with: gemba team start"),
    (("retry",), 2, "Missing argument 'TASK'"),
    (("revise", "IMPL-001"), 2, "Missing argument 'TEXT'"),
    (("revise", "a", "b", "c", "d"), 2, "Got unexpected extra argument (d)"),
    (("improve", "3fa9", "beauty"), 2, "'beauty' is no dimension; allowed: completeness, consistency,"),
    (("statuses",), 2, "No such command 'statuses'. Commands: start, status,"),
    (("--json", "list"), 2, "--json goes behind list"),
]


def test_what_cannot_be_is_said_in_one_line(served: Operator) -> None:
    for words, code, said in _COMMAND_LINES:
        assert said in served.refused("team", *words, code=code)


def test_a_long_text_is_taken_and_one_that_is_too_long_is_refused(served: Operator) -> None:
    made = json.loads(served.ok("team", "start", "-", "--plan-only", "--json", stdin="investigate it " * 7_000))
    assert len(made["text"]) == 105_000

    line = served.refused("team", "start", "-", "--plan-only", stdin="investigate it " * 20_000)
    assert "200000" in line.replace(",", "")


def test_a_move_that_is_not_allowed_is_told_with_those_that_are(served: Operator) -> None:
    id = started(served, RESEARCH)
    assert served.run("team", "watch").returncode == 0

    assert served.refused("team", "accept", "research-001").endswith("it cannot be accepted; allowed: revise")
    assert served.refused("team", "resume", id) == "gemba: the run is completed: it cannot be resumed"
    assert "allowed: revise a task of it" in served.refused("team", "feedback", "quicker")
    assert served.refused("team", "retry", "GONE-001") == f"gemba: {id} has no task GONE-001"
    assert "has no artifact" in served.refused("team", "artifact", "../../secret")


# ---- what every command has -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_json(name: str) -> None:
    found = command.get_command(click.Context(command), name)
    assert found is not None

    shown = found.get_help(click.Context(found, info_name=f"gemba team {name}", max_content_width=80))

    assert re.search(rf"^  Example:\n    .*\bgemba team {name}\b", shown, re.MULTILINE), shown
    assert max(map(len, shown.splitlines())) <= 80
    if not isinstance(found, click.Group):
        assert re.search(r"^  --json +Print JSON", shown, re.MULTILINE)
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter
        else:
            for word in re.findall(r"[A-Z]+", parameter.make_metavar(click.Context(found))):
                assert word in (found.help or ""), parameter
    assert re.fullmatch(r"[A-Z].{5,60}\.", COMMANDS[name][1])


def test_the_shell_completes_commands_runs_and_tasks(served: Operator) -> None:
    id = told(served, "start", "investigate it", "--plan-only")["id"]

    def completed(*words: str) -> list[str]:
        environment = {"_GEMBA_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("gemba", "team", *words))}
        done = subprocess.run(
            [BIN / "gemba"],
            cwd=served.workspace,
            env={**served.environment, **environment, "COMP_CWORD": str(len(words) + 1)},
            capture_output=True,
            text=True,
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert completed("re") == ["report", "retry", "revise", "resume"]
    assert completed("show", "team-") == [id]
    assert completed("retry", id, "res") == ["RESEARCH-001"]
    assert completed("retry", "RES") == ["RESEARCH-001"]
    assert completed("improve", id, "de") == ["depth"]
