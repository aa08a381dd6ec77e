"""`gemba demo`: a newcomer's first minute, with real agents, and nothing left of it afterwards."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.demo.contract import Ending, last_words
from gemba.demo.planned import load_work
from gemba.demo.story import Approval, Ask, Assumption, Permission, Story, load_project, load_stories
from gemba.handoff.risk import classify, read_rules
from gemba.handoff.sections import parse_sections
from gemba.handoff.verdict import judge
from gemba.testing import retry_until
from gemba.work.item import Kind, State
from tests.fixtures.servers import BIN, Client

_PATIENCE = 60
_FAST = ("--port", "0", "--pace", "50")


class Demo(Client):
    """A running demo: what its agents say, line by line, and the operator's side of its API."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [BIN / "gemba", "demo", "--json", *arguments],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._said: list[dict[str, str]] = []  # and not yet asked for
        told = self._line()
        super().__init__(Path(told["workspace"]), Path(told["home"]))
        self.url, _, self.token = told["address"].partition("/#token=")

    def hear(self, name: str, words: str) -> str:
        """The next line of an agent that has these words in it."""
        while True:
            of_agent = [line for line in self._said if line["agent"] == name]
            self._said = [line for line in self._said if line["agent"] != name]
            while of_agent:
                line = of_agent.pop(0)
                if words in line["text"]:
                    self._said += of_agent
                    return line["text"]
            self._said.append(self._line())

    def waiting(self, name: str) -> dict[str, Any]:
        """What an agent has asked and nobody has answered."""
        found = retry_until(lambda: [item for item in self.inbox() if agent_of(item) == name], timeout=_PATIENCE)
        assert len(found) == 1
        return dict(found[0])

    def requested(self, command: str) -> dict[str, Any]:
        """The approval that a command waits for."""

        def found() -> list[dict[str, Any]]:
            waiting = self.get("/api/approvals?state=pending")["approvals"]
            return [one for one in waiting if one["command"] == command]

        (request,) = retry_until(found, timeout=_PATIENCE)
        return dict(request)

    def inbox(self) -> list[dict[str, Any]]:
        return self.listed("state=unresolved")

    def listed(self, query: str) -> list[dict[str, Any]]:
        return list(self.get(f"/api/escalations?{query}")["escalations"])

    def answer(self, item: dict[str, Any], **body: Any) -> None:
        self.post(f"/api/escalations/{item['id']}/respond", body)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """The exit code, and what it still wrote on stdout and stderr."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        stdout, stderr = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, stdout, stderr

    def _line(self) -> dict[str, str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the demo ended: {self.end()}")
        return dict(json.loads(line))


def agent_of(item: dict[str, Any]) -> str:
    """The agent whose session it is."""
    return str(item["session_id"].rpartition("-")[0])


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo makes its folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def start_demo(temporary: Path) -> Iterator[Callable[..., Demo]]:
    """Starts demos; each that still runs afterwards is ended, and must leave nothing behind."""
    started: list[Demo] = []

    def start(*arguments: str, **environment: str) -> Demo:
        started.append(Demo(*(arguments or _FAST), **environment))
        return started[-1]

    yield start
    for demo in started:
        demo.close_streams()
        if demo.process.returncode is None:
            code, _, errors = demo.end()
            assert (code, errors) == (0, "")
    assert list(temporary.iterdir()) == []
    assert processes_in(temporary) == []


def processes_in(folder: Path) -> list[str]:
    """Command lines of the processes that work in a folder, or have it in their environment as Gemba's home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may end while we look
            home = f"GEMBA_HOME={folder}".encode()
            if (entry / "cwd").readlink().is_relative_to(folder) or home in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text().replace("\0", " "))
    return found


class Shown:
    """A demo as a person starts it: text, on a pipe."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []

    def until(self, words: str) -> str:
        """The next line that has these words in it."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.lines.append(line)
            if words in line:
                return line
        raise AssertionError(f"the demo ended: {self.lines}")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """The exit code, and all that was ever shown."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, "".join([*self.lines, rest])


@pytest.fixture
def shown(temporary: Path) -> Iterator[Shown]:
    with subprocess.Popen([BIN / "gemba", "demo", *_FAST], stdout=subprocess.PIPE, text=True) as process:
        yield Shown(process)
        process.terminate()


def test_it_says_where_it_is_once_and_shows_what_agents_say(shown: Shown, temporary: Path) -> None:
    shown.until("importer │ Waiting for your answer")

    code, everything = shown.end(signal.SIGINT)

    assert code == 0
    assert everything.count("#token=") == 1
    assert everything.count(everything.partition("#token=")[2].split()[0]) == 1
    assert f"export GEMBA_HOME={temporary}/gemba-demo-" in everything
    assert "Traceback" not in everything


def test_a_newcomer_finds_several_kinds_of_items_with_an_age(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo("--port", "0", "--no-agents")

    retry_until(lambda: len(demo.inbox()) >= 7)
    inbox = demo.inbox()

    assert {(item["kind"], item["urgency"]) for item in inbox} == {
        ("question", "blocking"),
        ("question", "advisory"),
        ("blocker", "blocking"),
        ("permission_prompt", "blocking"),
        ("approval", "blocking"),
    }
    now = wire.timestamp()
    assert all(item["opened_at"] < now[:16] for item in inbox)
    assert {item["branch"] for item in inbox if item["channel"] == "tool_call"} == {"main", "import-orders"}
    assert [item["agent_type"] for item in inbox if item["stale"]] == ["reviewer"]
    assumptions = demo.get("/api/assumptions")["assumptions"]
    assert len(assumptions) == 2
    assert all(assumption["commit"] for assumption in assumptions)
    checks = {check["id"]: check["status"] for check in demo.get("/api/doctor")["checks"]}
    assert checks["frames"] == checks["strays"] == checks["ingest"] == "ok"


def test_an_agent_goes_on_with_exactly_what_was_answered(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    reports = demo.events("?name=session_state_reported&session=importer-1")

    demo.answer(demo.waiting("importer"), text="both, behind a flag")

    assert demo.hear("importer", "Using").startswith("Using Both, behind a flag as you said")
    while not reports.next()["data"]["payload"]["note"].startswith("Using Both, behind a flag as you said"):
        pass
    demo.hear("importer", "Asking you")
    assert demo.waiting("importer")["title"] == "What about orders without an e-mail?"


@pytest.mark.long
def test_each_way_of_asking_gets_its_answer(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()

    blocker, dialog, advisory = demo.waiting("release"), demo.waiting("tester"), demo.waiting("docs")
    demo.answer(blocker, option=2)
    demo.hear("release", "Migration 0007: Allow orders without an e-mail.")
    demo.answer(dialog, decision="modify", text="use kettle_test2")
    demo.hear("tester", "You said use kettle_test2")
    demo.answer(advisory, text="Developers")
    demo.hear("docs", "The importing page is for: Developers.")
    answered = {item["id"] for item in (blocker, dialog, advisory)}
    retry_until(lambda: answered <= {item["id"] for item in demo.listed("delivery=delivered")})


@pytest.mark.long
def test_a_dismissed_question_is_taken_as_declined(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()

    demo.post(f"/api/escalations/{demo.waiting('reviewer')['id']}/dismiss", {})

    demo.hear("reviewer", "marking it as an open point")


def test_a_permission_that_is_declined_is_delivered_when_the_agent_acts_on_it(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    asked = retry_until(
        lambda: next((item for item in demo.inbox() if item["kind"] == "permission_prompt"), None), timeout=_PATIENCE
    )
    assert asked is not None

    demo.post(f"/api/escalations/{asked['id']}/dismiss", {"text": "not today"})

    def delivery() -> str:
        return str(demo.get(f"/api/escalations/{asked['id']}")["delivery"])

    retry_until(lambda: delivery() == "delivered", timeout=_PATIENCE)


MIGRATION = "psql staging -f migrations/0008_stock.sql"
PUSH = "git push origin stock-counts"


def test_an_approved_command_runs_and_its_turn_ends_in_a_handoff(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    item = demo.waiting("stock")
    assert item["kind"] == "approval"
    assert MIGRATION in item["text"]

    demo.answer(item, decision="yes")

    demo.hear("stock", "Migration 0008 is on the staging copy")
    demo.hear("stock", "Handed off, IN_PROGRESS")
    (request,) = (one for one in demo.get("/api/approvals")["approvals"] if one["command"] == MIGRATION)
    retry_until(lambda: demo.get(f"/api/approvals/{request['id']}")["grant_state"] == "succeeded", timeout=_PATIENCE)
    (dispatch,) = (one for one in demo.get("/api/dispatches")["dispatches"] if one["task_id"] == "kettle-21")
    (handoff,) = retry_until(lambda: demo.get(f"/api/handoffs?dispatch={dispatch['id']}")["handoffs"][-1:])
    assert (handoff["state"], handoff["plan_status"], handoff["source"]) == ("accepted", "IN_PROGRESS", "gate")
    assert handoff["applied"]["contracts"] == [{"contract": "stock", "revision": 1}]


@pytest.mark.long
def test_a_refused_command_does_not_run_and_the_agent_says_why(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    request = demo.requested(MIGRATION)

    demo.post(f"/api/approvals/{request['id']}/refuse", {"reason": "staging is in use until Monday"})

    told = demo.hear("stock", "stays a file for now")
    assert told.endswith("the operator refused it: staging is in use until Monday")
    demo.hear("stock", "Handed off, IN_PROGRESS")
    (handoff,) = retry_until(lambda: demo.get("/api/handoffs?session=stock-1")["handoffs"][-1:])
    document = demo.get(f"/api/handoffs/{handoff['id']}")["document"]
    assert handoff["state"] == "accepted"
    assert handoff["applied"]["contracts"] == document["evidence_report"]["commands_run"] == []
    assert demo.get(f"/api/approvals/{request['id']}")["grant_state"] is None


@pytest.mark.long
def test_a_dispatch_goes_on_to_its_end_with_what_a_person_decides(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    demo.answer(demo.waiting("stock"), decision="yes")

    demo.hear("stock", "Waiting for your choice")
    choice = demo.waiting("stock")
    assert (choice["kind"], choice["bead_id"]) == ("needs_input", "kettle-21")
    demo.answer(choice, text="B, and tell the customer")
    demo.hear("stock", "Orders beyond the stock: B, and tell the customer.")
    retry_until(lambda: choice["id"] in {item["id"] for item in demo.listed("delivery=delivered")}, timeout=_PATIENCE)
    demo.post(f"/api/approvals/{demo.requested(PUSH)['id']}/edit", {"command": f"{PUSH} --dry-run"})
    demo.hear("stock", f"Ran what you wrote: {PUSH} --dry-run")
    demo.hear("stock", "Handed off, COMPLETE")

    (done,) = retry_until(
        lambda: demo.get("/api/handoffs?plan_status=COMPLETE&session=stock-1&state=accepted")["handoffs"]
    )
    assert {check["verdict"] for check in done["checks"] if check["name"] != "unpushed"} == {"ok"}
    assert done["turn"] == 3
    suggested = demo.get("/api/memories?state=suggested")["memories"]
    assert [memory["slug"] for memory in suggested] == ["stock-in-packets"]


@pytest.mark.long
def test_a_handoff_that_is_sent_back_is_mended(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()

    demo.answer(demo.waiting("importer"), option=2)

    assert '"DONE"; allowed: one of IN_PROGRESS' in demo.hear("importer", "Handoff sent back")
    demo.hear("importer", "Handed off, IN_PROGRESS")
    (handoff,) = retry_until(lambda: demo.get("/api/handoffs?session=importer-1")["handoffs"])
    assert (handoff["state"], handoff["plan_status"]) == ("accepted", "IN_PROGRESS")
    assert handoff["summary"].startswith("Orders go into PostgreSQL")


@pytest.mark.long
def test_a_request_is_found_again_by_the_next_life_of_its_agent(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    request = demo.requested(MIGRATION)
    demo.hear("stock", "Waiting for your approval")

    os.kill(pid_of("gemba.demo.agent stock", demo.workspace.parent), signal.SIGKILL)
    demo.hear("stock", "starting it again")
    demo.hear("stock", f"Waiting for your approval: {MIGRATION}")
    demo.answer(demo.waiting("stock"), decision="yes")

    demo.hear("stock", "Migration 0008 is on the staging copy")
    demo.hear("stock", "Handed off, IN_PROGRESS")
    assert demo.get(f"/api/approvals/{request['id']}")["state"] == "approved"
    assert demo.get("/api/approvals")["total"] == 1


@pytest.mark.long
def test_a_choice_is_found_again_by_the_next_life_of_its_agent(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    demo.answer(demo.waiting("stock"), decision="no", text="not now")
    demo.hear("stock", "Waiting for your choice")
    choice = demo.waiting("stock")

    os.kill(pid_of("gemba.demo.agent stock", demo.workspace.parent), signal.SIGKILL)
    demo.hear("stock", "starting it again")
    demo.hear("stock", "Waiting for your choice")
    assert demo.waiting("stock")["id"] == choice["id"]
    demo.answer(choice, text="A")

    demo.hear("stock", "Orders beyond the stock: A.")
    assert demo.requested(PUSH)["session_id"] == "stock-2"


@pytest.mark.long
def test_an_overturned_assumption_reaches_the_agent_that_took_it(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    oldest = retry_until(lambda: demo.get("/api/assumptions")["assumptions"])[-1]

    demo.post(f"/api/assumptions/{oldest['id']}/overturn", {"text": "3.12 at least"})

    demo.hear("tidy", "Overturned: 3.12 at least")


@pytest.mark.long
def test_an_inbox_that_nobody_looks_at_does_not_fill(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()

    # Agents that wait stand still, and the one that does not has long gone through all its turns.
    demo.hear("tidy", "Nothing is left to decide")

    by_agent = Counter(agent_of(item) for item in demo.inbox() if item["kind"] != "gate_failure")
    assert len(by_agent) == 7
    assert set(by_agent.values()) == {1}


def test_a_newcomer_finds_work_in_every_state_some_ready_and_some_that_waits(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo("--port", "0", "--no-agents")

    items = demo.get("/api/work-items?limit=500")["items"]
    ready = demo.get("/api/work-items/ready")["items"]

    assert {item["state"] for item in items} == set(map(str, State))
    assert {item["kind"] for item in items} == set(map(str, Kind))
    assert any(item["blockers"] for item in items)
    assert any("auth" in item["labels"] for item in items)
    assert {item["id"] for item in ready} == {item["id"] for item in items if item["ready"]}
    assert len([item for item in ready if item["kind"] not in ("milestone", "epic")]) >= 5
    assert {item["claim"]["owner"] for item in items if item["claim"]} == {
        f"{name}-1" for name, story in load_stories().items() if story.role == "manager"
    }
    given = retry_until(lambda: order_input_with_tokens(demo), timeout=_PATIENCE)
    assert len(given["recent_completions"]) >= 3
    assert any(epic.get("depends_on_epics") for epic in given["candidate_epics"])


def order_input_with_tokens(demo: Demo) -> dict[str, Any]:
    """The board as a plan gets it, once the sessions of the past are taken in; {} before."""
    given = demo.get("/api/skills/epic_order/input")
    return given if all(one.get("tokens_consumed") for one in given["recent_completions"]) else {}


def test_a_newcomer_asks_for_an_order_sees_why_and_applies_it(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo("--port", "0", "--no-agents")
    raw_input = demo.get("/api/skills/epic_order/input")
    wanted = {"persona_id": "project-manager", "skill_id": "epic_order", "workspace": ".", "raw_input": raw_input}
    made = demo.request("POST", "/api/consults", wanted, X_GEMBA_Confirm="order")
    assert made.status == 201

    def finished() -> dict[str, Any]:
        consult = demo.get(f"/api/consults/{made.json['id']}")
        return dict(consult) if consult["status"] == "completed" else {}

    lines = retry_until(finished, timeout=_PATIENCE)["validated_lines"]
    ranked = [(idx, line) for idx, line in enumerate(lines) if line["type"] == "recommendation"]
    assert [line["rank"] for _, line in ranked] == [*range(1, len(ranked) + 1)]
    assert len(ranked) >= 5
    assert all(line["rationale"] for _, line in ranked)
    for idx, _ in ranked:
        demo.post(f"/api/consults/{made.json['id']}/apply/{idx}", {})

    placed = {line["epic_id"]: line["rank"] for _, line in ranked}
    assert {id: demo.get(f"/api/work-items/{id}")["user_order"] for id in placed} == placed


def test_an_agent_hands_its_item_in_and_takes_the_next_that_is_ready(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()

    demo.hear("tidy", "Handed in kettle-20")
    demo.hear("tidy", "Took kettle-22")

    retry_until(lambda: demo.get("/api/work-items/kettle-20")["state"] == "review", timeout=_PATIENCE)
    taken = demo.get("/api/work-items/kettle-22")
    assert taken["claim"]["owner"] == "tidy-1"
    assert taken["state"] in ("in_progress", "review")


def test_what_an_agent_decided_alone_it_does_not_decide_again(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    alone = [turn for turn in load_stories()["tidy"].turn if isinstance(turn, Assumption)]

    demo.hear("tidy", "Nothing is left to decide")

    def texts() -> list[str]:
        return sorted(
            one["text"]
            for one in demo.get("/api/assumptions?limit=100")["assumptions"]
            if one["session_id"] == "tidy-1"
        )

    retry_until(lambda: texts() == sorted(turn.text for turn in alone), timeout=_PATIENCE)


def test_an_agent_with_nothing_left_is_not_told_as_stuck_and_asks_nothing_twice(
    start_demo: Callable[..., Demo],
) -> None:
    demo = start_demo()

    demo.hear("tidy", "Nothing is left to decide")

    retry_until(lambda: demo.get("/api/sessions/tidy-1")["reported_state"] == "ready", timeout=_PATIENCE)


def missed_gate(demo: Demo) -> tuple[str, dict[str, Any]]:
    """The demo's team run, as soon as it waits for a person, and the card that asks."""
    (run,) = demo.get("/api/teams")["runs"]

    def asked() -> list[dict[str, Any]]:
        return [one for one in demo.inbox() if one["kind"] == "gate_failure"]

    (card,) = retry_until(asked, timeout=_PATIENCE, every=0.2)
    return run["id"], card


def test_a_team_run_misses_a_gate_and_is_completed_with_what_the_operator_decides(
    start_demo: Callable[..., Demo],
) -> None:
    demo = start_demo("--port", "0", "--pace", "1")
    run_id, card = missed_gate(demo)
    assert "command: tests: exit code 1: FAILED (failures=1)" in card["text"]
    assert "skip: leave it out, and with it TEST-001" in card["text"]
    tries = demo.get(f"/api/teams/{run_id}/tasks/IMPL-001")["attempts"]
    assert [one["outcome"] for one in tries] == ["given_up", "sent_back", "sent_back"]
    assert {one["gate"]["score"] for one in tries} == {58.75}

    demo.answer(card, action="revise", text="above ten, and keep the test")

    def over() -> dict[str, Any]:
        now = demo.get(f"/api/teams/{run_id}")
        return dict(now) if now["ended_at"] else {}

    done = retry_until(over, timeout=_PATIENCE, every=0.2)
    assert done["state"] == "completed", done["report"]
    assert {task["score"] for task in done["all_tasks"]} == {100}
    assert all(words in done["report"] for words in ("kettle/orders.py", "above ten, and keep the test", "git merge"))
    show = ["git", "show", f"{done['branch']}:kettle/orders.py"]
    assert "packets > 10" in subprocess.run(show, cwd=demo.workspace, capture_output=True, text=True, check=True).stdout


@pytest.mark.long
def test_a_change_that_is_accepted_with_a_failing_test_stops_the_tester(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo("--port", "0", "--pace", "1")
    run_id, card = missed_gate(demo)

    demo.answer(card, action="accept")

    def stopped() -> dict[str, Any]:
        tasks = {task["id"]: task for task in demo.get(f"/api/teams/{run_id}")["all_tasks"]}
        return tasks if tasks["TEST-001"]["state"] == "waiting" else {}

    tasks = retry_until(stopped, timeout=_PATIENCE, every=0.2)
    assert tasks["IMPL-001"]["state"] == "completed_with_warnings"
    assert tasks["TEST-001"]["waiting_for"] == "blocked"


def test_the_demos_work_and_its_stories_fit_together() -> None:
    stories, work = load_stories(), {one.id: one for one in load_work().item}

    assert len(work) >= 30
    for one in work.values():
        assert {one.parent, *one.blocked_by} - {None} <= work.keys()
        assert one.by is None or one.by in stories
        assert one.took is None or one.move[-1].state == "done"
        assert all(earlier.days_ago >= later.days_ago for earlier, later in pairwise(one.move))
    for name, story in stories.items():
        mine = work[story.bead]
        assert {story.bead, *story.then} <= work.keys()
        assert mine.move, "it is worked on"
        # A coach's sessions work on nothing themselves.
        assert (mine.by == name) is (story.role == "manager")
        assert not any(turn.finishes for turn in story.turn) or story.role == "manager"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_leaves_nothing(
    start_demo: Callable[..., Demo], temporary: Path, number: signal.Signals
) -> None:
    demo = start_demo()
    for name in load_stories():
        demo.hear(name, "")

    code, rest, errors = demo.end(number)

    assert (code, errors) == (0, "")
    assert "unexpectedly" not in rest
    assert list(temporary.iterdir()) == []
    assert processes_in(temporary) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_it_is_ready_leaves_nothing_either(temporary: Path, number: signal.Signals) -> None:
    demo = subprocess.Popen([BIN / "gemba", "demo", *_FAST], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    retry_until(lambda: list(temporary.iterdir()), timeout=_PATIENCE, every=0.001)

    demo.send_signal(number)
    _, errors = demo.communicate(timeout=_PATIENCE)

    assert (demo.returncode, errors) == (0, "")
    assert list(temporary.iterdir()) == []


def test_no_process_outlives_a_demo_that_was_killed(start_demo: Callable[..., Demo], temporary: Path) -> None:
    demo = start_demo()
    demo.hear("importer", "")

    demo.process.kill()
    demo.process.communicate()

    retry_until(lambda: not processes_in(temporary))
    for folder in temporary.iterdir():
        shutil.rmtree(folder)


def test_it_ends_when_nobody_reads_it_any_more(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    assert demo.process.stdout is not None

    demo.process.stdout.close()
    assert demo.process.wait(_PATIENCE) == 0

    assert demo.process.stderr is not None
    with demo.process.stderr as errors:
        assert errors.read() == ""


@pytest.mark.long
def test_an_agent_that_crashes_is_replaced_and_its_question_withdrawn(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    asked = demo.waiting("importer")
    demo.hear("importer", "Waiting for your answer")

    os.kill(pid_of("gemba.demo.agent importer", demo.workspace.parent), signal.SIGKILL)

    demo.hear("importer", "ended unexpectedly (exit code -9); starting it again")
    demo.hear("importer", "Asking you")
    assert demo.get(f"/api/escalations/{asked['id']}")["state"] == "withdrawn"
    assert demo.waiting("importer")["session_id"] == "importer-2"
    waiting = [line for line in processes_in(demo.workspace.parent) if "--wait" in line or "--resume" in line]
    assert len(waiting) <= 4, "that of the agent which crashed still waits"


def pid_of(words: str, folder: Path) -> int:
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_text().replace("\0", " ")
            if words in command and (entry / "cwd").readlink().is_relative_to(folder):
                return int(entry.name)
    raise AssertionError(f"no process {words}")


@pytest.mark.long
def test_two_demos_run_side_by_side(start_demo: Callable[..., Demo]) -> None:
    first, second = start_demo("--pace", "50"), start_demo("--pace", "50")

    first.answer(first.waiting("importer"), option=1)
    second.answer(second.waiting("importer"), option=2)

    first.hear("importer", "Using SQLite")
    second.hear("importer", "Using PostgreSQL")


@pytest.mark.long
def test_the_users_own_settings_have_no_say(start_demo: Callable[..., Demo], tmp_path: Path) -> None:
    home = tmp_path / "home-of-the-user"
    (tmp_path / "gitconfig").write_text("[commit]\n gpgsign = true\n[core]\n hooksPath = /nowhere\n")
    demo = start_demo(
        *_FAST,
        GEMBA_HOME=str(home),
        GEMBA_DATABASE_URL="postgresql://nobody@nowhere.invalid/x",
        GEMBA_SESSION_ID="mine",
        GEMBA_WORKSPACE=str(tmp_path),
        GIT_CONFIG_GLOBAL=str(tmp_path / "gitconfig"),
        GIT_DIR=str(tmp_path),
    )

    assert demo.waiting("reviewer")["commit"]
    demo.hear("tidy", "Decided alone")
    assert not home.exists()


def test_it_works_without_git(start_demo: Callable[..., Demo], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    demo = start_demo(*_FAST, PATH=str(tmp_path / "bin"))

    item = demo.waiting("reviewer")
    assert (item["commit"], item["branch"]) == (None, None)
    demo.hear("tidy", "Decided alone")


def test_an_answer_from_another_terminal_cannot_drive_this_one(shown: Shown, temporary: Path) -> None:
    shown.until("importer │ Waiting for your answer")
    folder = next(temporary.glob("gemba-demo-*"))
    gemba = [str(BIN / "gemba"), "-C", str(folder / "kettle")]
    environment = {**os.environ, "GEMBA_HOME": str(folder / "home")}
    inbox = subprocess.run([*gemba, "inbox", "--json"], env=environment, capture_output=True, check=True)
    item = next(item for item in json.loads(inbox.stdout)["escalations"] if item["agent_type"] == "docs")

    subprocess.run([*gemba, "answer", item["id"], "\x1b[2Jred\rgreen"], env=environment, check=True)

    line = shown.until("docs │ The importing page is for")
    assert line.startswith("     docs │ The importing page is for: \\x1b[2Jred\\x0dgreen.")
    assert shown.end()[0] == 0


def test_a_port_that_is_taken_is_said_in_one_line(temporary: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run([BIN / "gemba", "demo", "--port", port], capture_output=True, text=True)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"gemba: cannot listen on 127.0.0.1 port {port}")
    assert len(refused.stderr.splitlines()) == 1
    assert list(temporary.iterdir()) == []


def test_it_refuses_a_workspace_that_is_not_its_own(workspace: Path) -> None:
    refused = subprocess.run([BIN / "gemba", "-C", workspace, "demo"], capture_output=True, text=True)

    assert refused.returncode == 2
    assert "leave -C out" in refused.stderr


@pytest.mark.parametrize("name", load_stories())
def test_a_story_is_one_that_the_commands_let_happen(name: str) -> None:
    story = load_stories()[name]

    for turn in story.turn:
        assert "{answer}" in (turn.declined if isinstance(turn, Approval) else turn.answered)
        assert turn.answered.format(answer="yes")
        assert turn.declined or isinstance(turn, Assumption)
        if isinstance(turn, Ask):
            assert wire.refusal(turn.kind, story.role, story.mode) is None
            assert bool(turn.meanwhile) is not story.waits
        if story.mode == "dangerous":
            assert isinstance(turn, Assumption)
        if isinstance(turn, Approval):
            assert risk_of(turn.run) == "T3"
            assert story.assignment, "another life of this agent would not find its request again"
        assert turn.handoff or not story.assignment, "each turn of a dispatch ends in a handoff"
        assert story.waits or not turn.handoff
        assert isinstance(turn, Permission) or story.waits or not story.blocks(turn)
    assert any(turn.minutes_ago is not None for turn in story.turn)
    assert any(turn.minutes_ago is None for turn in story.turn)


def risk_of(command: str) -> str:
    """As the demo's workspace classes it."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as rules:
        rules.write(load_project().settings["approvals.toml"])
        rules.flush()
        return str(classify(command, read_rules(rules.name)).level)


@pytest.mark.parametrize("name", load_stories())
def test_a_handoff_is_accepted_however_its_turn_went(name: str) -> None:
    story = load_stories()[name]

    for turn in story.turn:
        for ran in (turn.run, None, "true"):
            text = last_words(turn, Ending("That was it", "no", ran), "a0123456789abcdef")
            if turn.handoff is None:
                assert text == "That was it"
                continue
            verdict = judge(text, given_to(story))
            assert (verdict.missing, verdict.invalid, verdict.warnings) == ([], [], [])
            assert verdict.plan_status == turn.handoff.status
            slip = last_words(turn, Ending("That was it", "no", ran), "a0123456789abcdef", turn.handoff.slip)
            assert judge(slip, given_to(story)).valid is not bool(turn.handoff.slip)


def given_to(story: Story) -> dict[str, Any]:
    sections = parse_sections(load_project().settings["context.toml"].encode())
    return {
        "metadata": {"agent_id": "a0123456789abcdef", **({"task_id": story.bead} if story.assignment else {})},
        "write_permissions": {"writable_sections": [each.name for each in sections if story.name in each.writers]},
    }
