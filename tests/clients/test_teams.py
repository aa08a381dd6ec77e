"""Teams of real clients. One looks, one builds, one tests; they ask, need an approval, and do not pass at first. Each
session is told by the engine what it has to know, and by nobody else."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import environment_of, path_with, settle
from tests.clients.floor import Floor, OpenFloor, hooks_of
from tests.clients.model import Model
from tests.clients.script import Say, Step, Told, Use
from tests.fixtures.envelopes import block, changed, good
from tests.fixtures.repositories import commit, files, git, merges, text

pytestmark = [pytest.mark.clients, pytest.mark.timeout(300)]

PATIENCE = 60.0  # seconds for what follows on one answer, on a busy machine
TEXT = "Investigate how the kettle greets its guests, implement a polite greeting with a test, and verify it"
GOALS = {
    "RESEARCH-001": "Investigate how the kettle greets its guests",
    "IMPL-001": "Implement a polite greeting in kettle.sh",
    "TEST-001": "Verify the polite greeting of kettle.sh with a test",
}
OWNERS = {"RESEARCH": "researcher", "IMPL": "developer", "TEST": "tester"}
REMOVE = "rm old-kettle.sh"
QUESTION = "Which word greets a guest: Hello or Welcome?"
ANSWER = "Welcome, and nothing else."

BEGINNING = {
    "Makefile": "test:\n\tsh tests/test_kettle.sh\n",
    "kettle.sh": "echo Hey\n",
    "old-kettle.sh": "echo Old\n",
    "tests/test_kettle.sh": 'test "$(sh kettle.sh)" != "Hello"\n',
}
FOUND = """\
# How the kettle greets its guests

The greeting is one line of `kettle.sh`, which prints a word and ends; nothing else in the project reads or changes it.

## Findings

- `kettle.sh` says Hey to all guests, which is not polite.
- `tests/test_kettle.sh` compares what is printed with a word, and `make test` runs it.
- `old-kettle.sh` is a copy that nobody runs any more and that may be removed.

## What follows

A polite greeting needs one changed line, and a test that expects the very word that the operator wants.
"""
BUILT = """\
# A polite greeting in the kettle

`kettle.sh` greets every guest with Welcome, as the operator wants it, and with nothing else.

## What was changed

- `kettle.sh`: the one line that prints the greeting.
- The old copy of the kettle is gone, after the operator approved that.

## Verification

`make test` ended with 0 after the change: what the kettle prints was compared with what it must not print any more.
"""
TESTED = """\
# The polite greeting is verified

The greeting of `kettle.sh` was run and compared with the one word that the operator wants, which is Welcome.

## What was tested

- `tests/test_kettle.sh` expects Welcome to the letter, and nothing else in the line.
- `make test` runs this test, and it ended with 0.

## Result

There are no defects: the greeting is polite, and a test will tell when it is not so any more.
"""


@pytest.fixture
def floor(claude_program: Path, open_floor: OpenFloor, workspace: Path, tmp_path: Path, model: Model) -> Floor:
    """A user who lets clients edit files and run the project's tests, as most do."""
    for name, content in BEGINNING.items():
        commit(workspace, name, content)
    client = tmp_path / "client"
    environment = {**environment_of(client, model.url), "PATH": path_with(claude_program)}
    settle(client, workspace)
    (client / ".claude").mkdir()
    allowed = {"allow": ["Edit", "Write", "Bash(make test)"]}
    (client / ".claude" / "settings.json").write_text(json.dumps({"permissions": allowed}))
    return open_floor({"claude": environment, "claude-headless": environment})


# ---- what the model does ---------------------------------------------------------------------------------------------


def bash(command: str) -> Use:
    return Use("Bash", {"command": command})


def write(path: str, content: str) -> Use:
    return Use("Write", {"file_path": path, "content": content})


def read(path: str) -> Use:
    return Use("Read", {"file_path": path})


def report(task: str) -> str:
    return f".gemba/artifacts/{task}-report.md"


def hand_over(status: str, summary: str, next_action: str = "none", **evidence: Any) -> Told:
    """The end of a turn, in the name that the agent was given."""

    def step(told: str) -> Step:
        names = re.findall(r"Your agent_id is (a[0-9a-f]{16}) ", told)  # the last one is that of this turn
        document = changed(good(status), "/agent_status/agent_id", names[-1])
        document["agent_status"]["next_action"] = next_action
        document["evidence_report"] |= evidence
        return Say(block(document | {"user_facing_summary": summary}))

    return step


def complete(task: str, summary: str, ran: str = "", **verification: Any) -> Told:
    by = {"command": ran, "exit_code": 0} if ran else {}
    return hand_over(
        "COMPLETE",
        summary,
        files_checked=["kettle.sh", "old-kettle.sh", "tests/test_kettle.sh"],
        commands_run=[{"command": ran, "result": "pass"}] if ran else [],
        key_outputs=[summary],
        verification={
            "result": "pass",
            "artifacts_written": [report(task)],
            "verification_method": "test" if ran else "read",
            **by,
            **verification,
        },
    )


RESEARCH = (
    read("kettle.sh"),
    write(report("RESEARCH-001"), FOUND),
    complete("RESEARCH-001", "kettle.sh says Hey to all guests"),
)
ASK = (read("kettle.sh"), hand_over("NEEDS_INPUT", "The kettle needs a polite word.", QUESTION))
BAD_BUILD = (
    write(report("IMPL-001"), "Done.\n"),
    write("kettle.sh", "echo Hello # TODO: the polite word\n"),
    complete("IMPL-001", "done", files_modified=[{"path": "kettle.sh"}]),
)
GOOD_BUILD = (
    read("kettle.sh"),
    write("kettle.sh", "echo Welcome\n"),
    read(report("IMPL-001")),
    write(report("IMPL-001"), BUILT),
    bash("make test"),
    complete(
        "IMPL-001",
        "kettle.sh greets with Welcome",
        "make test",
        files_modified=[{"path": "kettle.sh", "lines_before": 1, "lines_after": 1}, {"path": "old-kettle.sh"}],
    ),
)
TEST = (
    read(report("IMPL-001")),
    read("tests/test_kettle.sh"),
    write("tests/test_kettle.sh", 'test "$(sh kettle.sh)" = "Welcome"\n'),
    bash("make test"),
    write(report("TEST-001"), TESTED),
    complete(
        "TEST-001",
        "the greeting is verified",
        "make test",
        files_modified=[{"path": "tests/test_kettle.sh", "lines_before": 1, "lines_after": 1}],
    ),
)
# What a prompt has in it that begins a session of its own.
ANSWERED, JUDGED = "\n\nThe answer:\n> ", "> Your work got "


def owner_of(id: str) -> str:
    return OWNERS[id.rpartition("-")[0]]


def task_of(id: str) -> str:
    return f"Your task is {id};"


# ---- what the operator does and sees ---------------------------------------------------------------------------------


class Team:
    """A run, as its operator sees it over the API."""

    def __init__(self, floor: Floor, agent: str, goals: dict[str, str]) -> None:
        """Each task waits for the one before it."""
        self._floor = floor
        self._goals = goals
        ids = list(goals)
        tasks = [
            {"id": id, "owner": owner_of(id), "goal": goals[id], "blocked_by": ids[at - 1 : at]}
            for at, id in enumerate(ids)
        ]
        prefixes = dict.fromkeys(id.rpartition("-")[0] for id in ids)
        roles = [{"name": OWNERS[prefix], "prefix": prefix} for prefix in prefixes]
        wanted = {"text": TEXT, "agent": agent, "plan": {"roles": roles, "tasks": tasks}}
        self.id = str(floor.post("/api/teams", wanted)["id"])

    def view(self) -> dict[str, Any]:
        return dict(self._floor.get(f"/api/teams/{self.id}"))

    def task(self, id: str) -> dict[str, Any]:
        return next(each for each in self.view()["all_tasks"] if each["id"] == id)

    def detail(self, id: str) -> dict[str, Any]:
        return dict(self._floor.get(f"/api/teams/{self.id}/tasks/{id}"))

    def until(self, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The run, once it is so; a run that asks for something else, or has failed, never will be."""

        def look() -> dict[str, Any] | None:
            run = self.view()
            if fits(run):
                return run
            told = [(each["id"], each["state"], each["waiting_for"], each["reason"]) for each in run["all_tasks"]]
            assert run["state"] == "running", (told, run["report"])
            assert not any(each["errors"] for each in run["all_tasks"]), told
            return None

        return retry_until(look, timeout=PATIENCE) or {}

    def until_task(self, id: str, state: str) -> dict[str, Any]:
        self.until(lambda run: any((each["id"], each["state"]) == (id, state) for each in run["all_tasks"]))
        return self.task(id)

    def asked_for_approval(self) -> dict[str, Any]:
        found = retry_until(
            lambda: [each for each in self._floor.get("/api/approvals")["approvals"] if each["state"] == "pending"],
            timeout=PATIENCE,
        )
        (request,) = found
        return dict(request)

    def answer(self, escalation_id: str, **body: Any) -> None:
        self._floor.post(f"/api/escalations/{escalation_id}/respond", body)

    def artifact(self, name: str) -> str:
        return str(self._floor.get(f"/api/teams/{self.id}/artifacts/{name}")["content"])

    def messages(self) -> list[dict[str, Any]]:
        return list(self._floor.get(f"/api/teams/{self.id}/messages")["messages"])

    def moves(self) -> dict[str, list[tuple[str, str]]]:
        """By task, what happened to it and what it was then, in order."""
        found = self._floor.happened("team.task_changed", until="team.finished")
        return {id: [(each["event"], each["state"]) for each in found if each["task_id"] == id] for id in self._goals}


def test_a_team_of_clients_asks_is_approved_is_sent_back_and_finishes(
    floor: Floor, model: Model, home: Path, workspace: Path
) -> None:
    """Clients without a screen: each turn is a session of its own."""
    model.play(task_of("RESEARCH-001"), *RESEARCH)
    model.play(JUDGED, *GOOD_BUILD)
    model.play(ANSWERED, bash(REMOVE), read("kettle.sh"), *BAD_BUILD)
    model.play(task_of("IMPL-001"), *ASK)
    model.play(task_of("TEST-001"), *TEST)
    team = Team(floor, "claude-headless", GOALS)

    asks = team.until_task("IMPL-001", "waiting")
    question = floor.get(f"/api/escalations/{asks['escalation_id']}")
    assert (asks["waiting_for"], question["kind"], question["state"]) == ("input", "needs_input", "open")
    assert QUESTION in question["text"]
    assert (team.task("RESEARCH-001")["state"], team.task("TEST-001")["state"]) == ("completed", "pending")
    team.answer(asks["escalation_id"], text=ANSWER)

    request = team.asked_for_approval()
    waits = team.task("IMPL-001")
    assert (request["command"], request["risk"]) == (REMOVE, "T3")
    assert (waits["state"], waits["session_id"], waits["attempt"]) == ("running", request["session_id"], 2)
    assert Path(request["cwd"], "old-kettle.sh").exists()
    assert floor.get(f"/api/escalations/{question['id']}")["delivery"] == "delivered"
    team.answer(request["escalation_id"], decision="yes")

    over = team.until(lambda run: run["state"] != "running")
    assert over["state"] == "completed", over["report"]
    begun = [("claimed", "claimed"), ("started", "running")]
    passed = [("submitted", "verifying"), ("passed", "completed")]
    assert team.moves() == {
        "RESEARCH-001": [*begun, *passed],
        "IMPL-001": [
            *begun,
            *[("held", "waiting"), ("released", "pending")],
            *begun,
            *[("submitted", "verifying"), ("sent_back", "running")],
            *passed,
        ],
        "TEST-001": [*begun, *passed],
    }
    check_what_they_were_told(model)
    check_what_they_made(team, workspace, over)
    check_what_it_took(team, over)
    check_what_is_left(floor, home, workspace, over)


def check_what_they_were_told(model: Model) -> None:
    for id, goal in GOALS.items():
        first = model.told(task_of(id))[0]
        assert f"Tag: [{owner_of(id)}] | Prefix: {id.rpartition('-')[0]}-*" in first  # of its role-spec
        assert f"Your task:\n> {goal}\n" in first
        assert f"> {id}: {goal}\n" in first  # of its dispatch
    assert f"artifacts: {report('RESEARCH-001')}" in model.told(task_of("IMPL-001"))[0]
    assert f"artifacts: {report('IMPL-001')}" in model.told(task_of("TEST-001"))[0]
    assert "greets every guest with Welcome" in model.told(task_of("TEST-001"))[1]  # it lies there
    answered, judged = model.told(ANSWERED)[0], model.told(JUDGED)[0]
    for told in (answered, judged):
        assert f"> {QUESTION}\n" in told
        assert f"{ANSWERED}{ANSWER}\n" in told
    assert JUDGED not in answered
    for reason in (
        "command: tests: exit code",
        "no placeholders: left to be filled in: kettle.sh",
        "changes told: changed, and not named in the envelope: old-kettle.sh",
        "builtin says: ",
    ):
        assert reason in judged


def check_what_they_made(team: Team, workspace: Path, over: dict[str, Any]) -> None:
    branch = over["branch"]
    assert [each["score"] >= 80 for each in over["all_tasks"]] == [True] * 3
    attempts = team.detail("IMPL-001")["attempts"]
    assert [each["outcome"] for each in attempts] == ["passed", "sent_back", "held"]
    assert attempts[1]["gate"]["score"] < 60
    assert files(workspace, branch) == ["Makefile", "kettle.sh", "tests/test_kettle.sh"]
    assert text(workspace, branch, "kettle.sh") == "echo Welcome\n"
    assert text(workspace, branch, "tests/test_kettle.sh") == 'test "$(sh kettle.sh)" = "Welcome"\n'
    assert merges(workspace, branch)[:2] == [f"{id}: {GOALS[id]}" for id in ("TEST-001", "IMPL-001")]
    assert [team.artifact(f"{id}-report.md") for id in GOALS] == [FOUND, BUILT, TESTED]
    told = [(each["from"], each["type"]) for each in team.messages()]
    assert told == [
        ("coordinator", "progress"),
        *[("researcher", "state_update"), ("researcher", "research_complete"), ("coordinator", "task_unblocked")],
        ("developer", "blocker"),
        *[("developer", "state_update"), ("developer", "impl_complete"), ("coordinator", "task_unblocked")],
        *[("tester", "state_update"), ("tester", "test_complete")],
        ("coordinator", "progress"),
    ]


def check_what_it_took(team: Team, over: dict[str, Any]) -> None:
    """Each message of the model takes two tokens. What a client writes down late it tells at its end."""
    spoken = {
        "RESEARCH-001": len(RESEARCH),
        "IMPL-001": len(ASK) + 2 + len(BAD_BUILD) + len(GOOD_BUILD),
        "TEST-001": len(TEST),
    }
    expected = {id: 2 * many for id, many in spoken.items()}
    retry_until(lambda: {each["id"]: each["tokens"] for each in team.view()["all_tasks"]} == expected, timeout=PATIENCE)
    assert team.view()["tokens"] == sum(expected.values())


def is_cleared(workspace: Path, branch: str) -> bool:
    """No worktree is there beside the workspace, and no branch but the run's."""
    branches = git(workspace, "branch", "--format=%(refname:short)").splitlines()
    return branches == [branch, "main"] and git(workspace, "worktree", "list").count("\n") == 0


def check_what_is_left(floor: Floor, home: Path, workspace: Path, over: dict[str, Any]) -> None:
    """Every client ended by itself; no worktree stays, and no branch but the run's."""

    def ends() -> dict[str, str] | None:
        found = floor.get("/api/sessions")["sessions"]
        all_over = all(each["lifecycle"] not in ("starting", "running") for each in found)
        return {each["id"]: each["lifecycle"] for each in found} if all_over else None

    ended = retry_until(ends, timeout=PATIENCE)
    sessions = ["RESEARCH-001.1", "IMPL-001.1", "IMPL-001.2", "IMPL-001.3", "TEST-001.1"]
    assert ended == {f"{over['id']}.{name}": "completed" for name in sessions}
    assert all(hooks_of(home, id)[-1] == "SessionEnd" for id in ended)
    retry_until(lambda: is_cleared(workspace, over["branch"]), timeout=PATIENCE)
    assert git(workspace, "status", "--porcelain", "--", ".", ":!.gemba") == ""
    assert [each for each in floor.get("/api/escalations")["escalations"] if each["resolution"] is None] == []


def test_a_client_in_a_terminal_stays_for_the_answer_the_gate_and_the_next_task_of_its_chain(
    floor: Floor, model: Model, home: Path, workspace: Path
) -> None:
    """One session, one conversation: what the engine has to say is its next prompt."""
    note = (
        write("GREETING.md", "# Greeting\n\nThe kettle says Welcome; change the word in kettle.sh.\n"),
        write(report("IMPL-002"), BUILT.replace("`kettle.sh` greets", "`GREETING.md` says how `kettle.sh` greets")),
        bash("make test"),
        complete("IMPL-002", "GREETING.md says how to greet", "make test", files_produced=["GREETING.md"]),
    )
    good_build = (
        *GOOD_BUILD[:-1],
        complete("IMPL-001", "Welcome", "make test", files_modified=[{"path": "kettle.sh"}]),
    )
    model.play(task_of("IMPL-001"), *ASK, *BAD_BUILD, *good_build, *note)
    team = Team(
        floor, "claude", {"IMPL-001": GOALS["IMPL-001"], "IMPL-002": "Say in GREETING.md how the kettle greets"}
    )

    asks = team.until_task("IMPL-001", "waiting")
    team.answer(asks["escalation_id"], text=ANSWER)

    over = team.until(lambda run: run["state"] != "running")
    assert over["state"] == "completed", over["report"]
    told = model.told(task_of("IMPL-001"))
    assert told[len(ASK)].endswith(ANSWER)
    assert "Your work got " in told[len(ASK) + len(BAD_BUILD)]
    assert task_of("IMPL-002") in told[len(ASK) + len(BAD_BUILD) + len(good_build)]
    assert [each["score"] for each in over["all_tasks"]] == [100.0, 100.0]
    (session,) = {each["session_id"] for id in ("IMPL-001", "IMPL-002") for each in team.detail(id)["attempts"]}
    assert files(workspace, over["branch"]) == [*sorted({*BEGINNING, "GREETING.md"}, key=str)]
    assert text(workspace, over["branch"], "kettle.sh") == "echo Welcome\n"
    retry_until(lambda: is_cleared(workspace, over["branch"]), timeout=PATIENCE)
    assert hooks_of(home, session).count("SessionStart") == 1
