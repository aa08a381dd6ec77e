"""A COMPLETE is compared with the world before it is believed, as a durable flow on both databases."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemba import clock, wire
from gemba.actions import ACTIONS
from gemba.app import App
from gemba.escalations import handing_over
from gemba.escalations.handoff_flows import Elsewhere, HandoffFlows, left_of
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import get_locked
from gemba.handoff.dispatches import Dispatch
from gemba.handoff.dispatches import get as get_dispatch
from gemba.handoff.dispatches import view as view_dispatch
from gemba.handoff.handoffs import Handoff, get, view
from tests.fixtures.flowing import FlowFloor
from tests.fixtures.handed import claiming, envelope, strict, wish
from tests.fixtures.operator import Operator

OpenFloor = Callable[..., FlowFloor]


def act(floor: FlowFloor, path: str, body: dict[str, Any], **ids: str) -> Any:
    (action,) = (action for action in ACTIONS if action.path == path)
    given: Any = msgspec.convert(body, action.body)
    if action.prepare is not None:
        given = action.prepare(floor.app.database.surroundings, given)
    with floor.app.database.transaction() as tx:
        return action.verb(tx, given, **ids)


def give(floor: FlowFloor, *checks: str, **changes: Any) -> dict[str, Any]:
    made: Dispatch = act(floor, "/api/dispatches", wish(gate=strict(*checks), **changes))
    return {"id": made.id, "agent_id": made.agent_id, "folder": made.folder}


def submit(floor: FlowFloor, dispatch: dict[str, Any], document: dict[str, Any]) -> Handoff:
    made: Handoff = act(floor, "/api/handoffs", {"envelope": document, "dispatch_id": dispatch["id"]})
    return made


def one(floor: FlowFloor, id: str) -> Handoff:
    with floor.app.database.read() as connection:
        return view(get(connection, id))


def now(floor: FlowFloor, dispatch: dict[str, Any]) -> Dispatch:
    with floor.app.database.read() as connection:
        return view_dispatch(get_dispatch(connection, dispatch["id"]))


def concluded(floor: FlowFloor, made: Handoff) -> Handoff:
    assert made.state == "checking"
    floor.commits.until(lambda: one(floor, made.id).state != "checking")
    floor.until_nothing_is_wanted()
    return one(floor, made.id)


def run(floor: FlowFloor, command: str, code: int = 0, session: str = "s1") -> None:
    """A tool call of the agent, as its client records it."""
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command}
    floor.say("PreToolUse", call, session)
    hook = "PostToolUse" if code == 0 else "PostToolUseFailure"
    ended = {**call, "error": f"Exit code {code}"} if code else {**call, "tool_response": {"stdout": ""}}
    floor.say(hook, ended, session)


def stop(floor: FlowFloor, dispatch: dict[str, Any], document: dict[str, Any], session: str = "s1") -> None:
    """The frame of a client's hook at the end of a turn."""
    ids = {"dispatch_id": dispatch["id"], "agent_id": dispatch["agent_id"], "event": "Stop"}
    floor.say("GembaHandoff", {**ids, "envelope": document}, session)


@pytest.fixture
def floor(open_floor: OpenFloor, workspace: Path) -> FlowFloor:
    (workspace / "old.txt").write_text("old\n")
    (workspace / ".gitignore").write_text(".gemba/\n")
    subprocess.run(["git", "add", "old.txt", ".gitignore"], cwd=workspace, check=True)
    subprocess.run(["git", "commit", "--quiet", "-m", "old"], cwd=workspace, check=True)
    opened = open_floor()
    opened.start()
    return opened


# ---- agents that say what is not so ---------------------------------------------------------------------------------


def test_a_file_that_was_not_changed_is_refused_with_what_was_claimed_and_found(floor: FlowFloor) -> None:
    dispatch = give(floor, "files_modified")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, files_modified=[{"path": "old.txt"}])))

    assert (ended.state, ended.refused_by, ended.verdict.action) == ("refused", "world", "repair")
    (check,) = ended.checks
    assert (check.name, check.claimed, check.verdict) == ("files_modified", "old.txt", "failed")
    assert f"claimed old.txt; found {check.found}" in ended.told
    assert ended.refusal is not None
    assert ended.refusal.code == "WORLD:files_modified"
    after = now(floor, dispatch)
    assert (after.status, after.completed_at, after.repairs) == (None, None, [["WORLD:files_modified"]])


def test_a_command_that_was_not_run_is_refused(floor: FlowFloor) -> None:
    dispatch = give(floor, "commands_run", session_id="s1")
    run(floor, "ls")
    claimed = [{"command": "ls", "result": "exit code 0"}, {"command": "pytest -q", "result": "12 passed"}]
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, claimed)))

    assert (ended.state, [check.verdict for check in ended.checks]) == ("refused", ["ok", "failed"])
    assert "claimed pytest -q → 12 passed; found not among the 1 recorded commands" in ended.told


def test_an_agent_whose_client_records_nothing_is_not_told_to_do_it_again(floor: FlowFloor) -> None:
    dispatch = give(floor, "commands_run", "tool_calls")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, [{"command": "ls", "result": "exit code 0"}])))

    assert ended.state == "refused"
    assert "found the client records no tool uses" in ended.told
    assert "Do it" not in ended.told
    assert "`gemba install-bridge`" in ended.told
    assert "rerun_verification" in ended.told


def test_a_command_that_failed_and_is_claimed_to_have_passed_is_refused(floor: FlowFloor) -> None:
    dispatch = give(floor, "commands_run", session_id="s1")
    run(floor, "pytest -q", code=1)
    claimed = [{"command": "pytest -q", "result": "12 passed"}]
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, claimed)))

    assert (ended.state, ended.checks[0].found) == ("refused", "exit code 1")


def test_a_test_that_fails_is_refused(floor: FlowFloor) -> None:
    dispatch = give(floor, "rerun_verification")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, command="test -s new.txt", exit_code=0)))

    assert ended.state == "refused"
    assert "claimed test -s new.txt → exit code 0; found exit code 1" in ended.told


def test_a_complete_without_a_single_tool_call_is_refused(floor: FlowFloor) -> None:
    dispatch = give(floor, "tool_calls", session_id="s1")
    floor.say("SessionStart", {})
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch)))

    assert (ended.state, ended.checks[0].found) == ("refused", "0 tool calls")


def test_what_ran_before_the_dispatch_does_not_count(floor: FlowFloor) -> None:
    run(floor, "pytest -q")
    dispatch = give(floor, "commands_run", session_id="s1")
    claimed = [{"command": "pytest -q", "result": "passed"}]

    assert concluded(floor, submit(floor, dispatch, claiming(dispatch, claimed))).state == "refused"


def test_what_ran_after_the_dispatch_counts_whatever_the_clock_was_then(floor: FlowFloor) -> None:
    floor.jump(minutes=10)
    dispatch = give(floor, "commands_run", session_id="s1")
    floor.jump(minutes=-10)
    run(floor, "pytest -q")
    claimed = [{"command": "pytest -q", "result": "exit code 0"}]

    assert concluded(floor, submit(floor, dispatch, claiming(dispatch, claimed))).state == "accepted"


def test_what_lies_in_the_logs_when_it_is_handed_over_counts(open_floor: OpenFloor) -> None:
    floor = open_floor()
    dispatch = give(floor, "commands_run", session_id="s1")
    run(floor, "ls")
    call = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "x"}
    for hook, payload in (("PreToolUse", call), ("PostToolUse", {**call, "tool_response": {"stdout": ""}})):
        frame: dict[str, Any] = {"ts": clock.rfc3339(clock.now()), "session_id": "s1"}
        frame["workspace"] = str(floor.app.workspace.root)
        frame |= {"agent_type": "claude", "hook": hook, "event_id": wire.new_event_id(), "payload": payload}
        wire.append_frame(str(floor.app.home), "s1", msgspec.json.encode(frame) + b"\n")
    made = submit(floor, dispatch, claiming(dispatch, [{"command": "pytest -q", "result": "exit code 0"}]))
    checks = HandoffFlows(floor.app.database, floor.app.origin, Path("none"), floor.app.ingest.drain)

    assert [check["verdict"] for check in checks.compare(made.id)["checks"]] == ["ok"]


def test_whoever_takes_the_work_on_is_checked_with_what_all_of_its_sessions_did(floor: FlowFloor) -> None:
    dispatch = give(floor, "commands_run", "tool_calls")
    run(floor, "make", session="first")
    stop(floor, dispatch, envelope(dispatch, "NEEDS_INPUT", "A or B?"), "first")
    assert now(floor, dispatch).session_id == "first"
    (opened,) = floor.told("escalation_opened")
    floor.act(opened.ref or "", "respond", text="A")
    run(floor, "pytest -q", session="second")
    claimed = [{"command": command, "result": "exit code 0"} for command in ("make", "pytest -q")]
    stop(floor, dispatch, claiming(dispatch, claimed), "second")
    floor.commits.until(lambda: now(floor, dispatch).completed_at)

    after = now(floor, dispatch)
    assert (after.status, after.session_id) == ("COMPLETE", "second")


# ---- and those that do not ------------------------------------------------------------------------------------------


def test_what_is_so_is_accepted_and_brings_what_it_brings(floor: FlowFloor, workspace: Path) -> None:
    every = ("files_produced", "files_modified", "commands_run", "verification", "tool_calls", "rerun_verification")
    dispatch = give(floor, *every, session_id="s1")
    (workspace / "old.txt").write_text("new\n")
    (workspace / "new.txt").write_text("here\n")
    run(floor, "test -s new.txt")
    document = claiming(
        dispatch,
        [{"command": "test -s new.txt", "result": "exit code 0"}],
        command="test -s new.txt",
        files_produced=["new.txt"],
        files_modified=[{"path": "old.txt"}],
    )
    document["memory_suggestions"] = ["new.txt is there"]
    made = submit(floor, dispatch, document)
    assert made.applied.memory == []
    ended = concluded(floor, made)

    assert (ended.state, {check.verdict for check in ended.checks}) == ("accepted", {"ok"})
    assert len(ended.applied.memory) == 1
    after = now(floor, dispatch)
    assert (after.status, after.accepted_id) == ("COMPLETE", ended.id)
    assert after.completed_at is not None


def test_a_gate_that_reports_believes_and_tells(floor: FlowFloor) -> None:
    dispatch = give(floor)
    made: Dispatch = act(floor, "/api/dispatches", wish(gate={**strict(), "files_produced": "report"}))
    dispatch = {"id": made.id, "agent_id": made.agent_id}
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, files_produced=["new.txt"])))

    assert (ended.state, ended.checks[0].verdict) == ("accepted", "failed")


def test_the_same_envelope_is_judged_anew_once_the_world_is_as_it_says(floor: FlowFloor, workspace: Path) -> None:
    dispatch = give(floor, "files_produced")
    document = claiming(dispatch, files_produced=["new.txt"])
    refused = concluded(floor, submit(floor, dispatch, document))
    assert refused.state == "refused"
    (workspace / "new.txt").write_text("here\n")
    accepted = concluded(floor, submit(floor, dispatch, document))

    assert (accepted.id, accepted.state, accepted.refused_by, accepted.told) == (refused.id, "accepted", None, "")
    assert now(floor, dispatch).status == "COMPLETE"


def test_who_repeats_what_is_not_so_is_told_to_a_person_once(floor: FlowFloor) -> None:
    dispatch = give(floor, "files_produced", session_id="s1")
    document = claiming(dispatch, files_produced=["new.txt"])
    endings = [concluded(floor, submit(floor, dispatch, document)) for _ in range(3)]
    assert [ended.verdict.action for ended in endings] == ["repair", "escalate", "escalate"]
    assert {ended.state for ended in endings} == {"refused"}
    id = endings[-1].escalation_id
    assert id is not None
    assert len(floor.told("escalation_opened")) == 1
    floor.act(id, "respond", text="write it to new.txt")

    assert (now(floor, dispatch).turn, now(floor, dispatch).repairs) == (2, [])
    turn = floor.commits.until(lambda: floor.turn(id))
    assert turn["text"] == "write it to new.txt"


# ---- commands that are run again ------------------------------------------------------------------------------------


def test_what_changes_state_is_never_run_again(floor: FlowFloor, workspace: Path) -> None:
    dispatch = give(floor, "rerun_verification")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, command="touch ran")))

    assert ended.state == "refused"
    assert "it was not run again: it changes state" in ended.told
    assert not (workspace / "ran").exists()


@pytest.mark.parametrize(("need", "runs"), [("report", False), ("require", True)])
def test_what_nobody_knows_is_run_again_only_where_the_gate_requires_it(
    floor: FlowFloor, workspace: Path, need: str, runs: bool
) -> None:
    script = workspace / "check.sh"
    script.write_text("#!/bin/sh\necho ran > ran\n")
    script.chmod(0o755)
    made: Dispatch = act(floor, "/api/dispatches", wish(gate={**strict(), "rerun_verification": need}))
    dispatch = {"id": made.id, "agent_id": made.agent_id}
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, command="./check.sh")))

    assert (ended.state, (workspace / "ran").exists()) == ("accepted", runs)


def test_a_rule_of_the_workspace_says_what_may_be_run_again(floor: FlowFloor, workspace: Path) -> None:
    (workspace / ".gemba/approvals.toml").write_text('[[rule]]\nprogram = "./check.sh"\nclass = "T3"\n')
    dispatch = give(floor, "rerun_verification")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, command="./check.sh")))

    assert (ended.state, "a rule of the workspace" in ended.told) == ("refused", True)


# ---- when something goes wrong --------------------------------------------------------------------------------------


def test_what_cannot_be_checked_is_not_accepted(floor: FlowFloor, workspace: Path) -> None:
    (workspace / ".gemba/approvals.toml").write_text("this is no TOML")
    dispatch = give(floor, "files_produced")
    (workspace / "new.txt").write_text("here\n")
    ended = concluded(floor, submit(floor, dispatch, claiming(dispatch, files_produced=["new.txt"])))

    assert (ended.state, ended.refused_by) == ("refused", "world")
    assert "it could not be checked" in ended.told
    assert now(floor, dispatch).completed_at is None


def test_a_folder_that_is_gone_is_no_reason_to_believe(floor: FlowFloor, workspace: Path) -> None:
    folder = workspace / "part"
    folder.mkdir()
    dispatch = give(floor, "files_produced", folder=str(folder))
    folder.rmdir()

    assert concluded(floor, submit(floor, dispatch, claiming(dispatch, files_produced=["x"]))).state == "refused"


def test_what_was_being_checked_when_the_server_ended_is_concluded_by_the_next_one(floor: FlowFloor) -> None:
    dispatch = give(floor, "files_produced")
    floor.stop()
    made = submit(floor, dispatch, claiming(dispatch, files_produced=["old.txt"]))
    assert now(floor, dispatch).completed_at is None
    floor.start()

    assert concluded(floor, made).state == "accepted"
    assert len(floor.told("handoff.accepted", ref=made.id)) == 1


def test_what_is_left_to_somebody_who_does_not_check_it_is_checked_by_its_flow_after_a_rest(
    floor: FlowFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_over, "_REST", 2 * clock.SECOND)
    floor.app.database.surroundings["turn_checkers"] = [lambda _tx, _dispatch: True]
    dispatch = give(floor, "files_produced")
    made = submit(floor, dispatch, claiming(dispatch, files_produced=["old.txt"]))
    with floor.app.database.read() as connection:
        left = left_of(connection, dispatch["id"])

    ended = concluded(floor, made)

    assert left == (made.id, clock.parse(made.created_at))
    assert (ended.state, [check.verdict for check in ended.checks]) == ("accepted", ["ok"])


def test_what_runs_commands_again_is_left_to_nobody(floor: FlowFloor) -> None:
    floor.app.database.surroundings["turn_checkers"] = [lambda _tx, _dispatch: True]
    dispatch = give(floor, "rerun_verification")

    made = submit(floor, dispatch, claiming(dispatch, command="git status"))
    with floor.app.database.read() as connection:
        left = left_of(connection, dispatch["id"])

    assert left is None
    assert concluded(floor, made).state == "accepted"


def test_a_check_that_ends_after_the_next_turn_began_completes_nothing(floor: FlowFloor) -> None:
    dispatch = give(floor, "files_produced")
    floor.stop()
    made = submit(floor, dispatch, claiming(dispatch, files_produced=["old.txt"]))
    act(floor, "/api/dispatches/{id}/turn", {"reason": "another plan"}, id=dispatch["id"])
    floor.start()
    ended = concluded(floor, made)

    assert (ended.state, ended.refused_by, ended.refusal and ended.refusal.code) == ("refused", "status", "turn_over")
    after = now(floor, dispatch)
    assert (after.status, after.turn, after.completed_at) == ("IN_PROGRESS", 2, None)


def test_a_frame_of_the_stop_hook_is_checked_with_what_its_session_did(floor: FlowFloor) -> None:
    dispatch = give(floor, "commands_run", "tool_calls")
    run(floor, "ls")
    document = claiming(dispatch, [{"command": "ls", "result": "exit code 0"}])
    stop(floor, dispatch, document)
    floor.commits.until(lambda: now(floor, dispatch).status)

    after = now(floor, dispatch)
    assert (after.status, after.session_id) == ("COMPLETE", "s1")


# ---- homes that share a database ------------------------------------------------------------------------------------


def test_what_another_home_dispatched_is_left_to_a_server_of_that_home(
    floor: FlowFloor, open_floor: OpenFloor, tmp_path: Path
) -> None:
    floor.stop()
    dispatch = give(floor, "files_produced", session_id="s1")
    made = submit(floor, dispatch, claiming(dispatch, files_produced=["old.txt"]))
    other = open_floor(elsewhere=tmp_path / "another machine")
    other.start()
    theirs = give(other, "files_produced")
    ended = submit(other, theirs, claiming(theirs, files_produced=["old.txt"]))
    other.commits.until(lambda: one(other, ended.id).state == "accepted" and len(other.wanted()) == 1)
    other.stop()

    assert (one(floor, made.id).state, now(floor, dispatch).repairs) == ("checking", [])
    floor.start()
    assert concluded(floor, made).state == "accepted"


def test_a_home_concludes_nothing_about_the_folder_of_another(
    floor: FlowFloor, open_floor: OpenFloor, tmp_path: Path
) -> None:
    floor.stop()
    dispatch = give(floor, "files_produced", session_id="s1")
    made = submit(floor, dispatch, claiming(dispatch, files_produced=["old.txt"]))
    other = open_floor(elsewhere=tmp_path / "another machine").app

    with pytest.raises(Elsewhere):
        HandoffFlows(other.database, other.origin, Path("none")).compare(made.id)


def test_an_escalation_is_raised_for_the_home_whose_agent_it_is_about(app: App) -> None:
    with app.database.transaction() as tx:
        ids = [raise_escalation(tx, "blocked", "x", session_id="s1", origin=origin) for origin in ("there", None)]
        assert [get_locked(tx, id).origin for id in ids] == ["there", app.origin]


# ---- at the command line --------------------------------------------------------------------------------------------


def test_the_command_line_waits_for_the_check_and_shows_claimed_and_found(operator: Operator) -> None:
    goal = ("handoff", "dispatch", "Make new.txt", "--gate", "files_produced=require", "--json")
    dispatch = msgspec.json.decode(operator.ok(*goal))
    text = f"Done.\n```agent_contract_handoff\n{_json(claiming(dispatch, files_produced=['new.txt']))}\n```\n"
    submitting = ("handoff", "submit", "-", "--dispatch", dispatch["id"][-8:])

    refused = operator.run(*submitting, stdin=text)
    assert (refused.returncode, refused.stderr) == (1, "")
    assert "failed: files_produced: claimed new.txt; found it does not exist" in refused.stdout
    assert "- files_produced: claimed new.txt; found it does not exist" in refused.stdout
    (operator.workspace / "new.txt").write_text("here\n")
    accepted = operator.run(*submitting, "--json", stdin=text)
    assert accepted.returncode == 0
    document = msgspec.json.decode(accepted.stdout)
    assert (document["state"], document["source"]) == ("accepted", "cli")
    assert "accepted" in operator.ok("handoff", "show", document["id"])
    listed = msgspec.json.decode(operator.ok("handoff", "list", "--dispatch", dispatch["id"], "--json"))
    assert [one["id"] for one in listed["handoffs"]] == [document["id"]]


def test_the_command_line_prints_what_to_repair_and_takes_the_dispatch_of_its_environment(operator: Operator) -> None:
    dispatch = msgspec.json.decode(operator.ok("handoff", "dispatch", "Do it", "--json"))
    refused = operator.run("handoff", "submit", "-", stdin="I am done.\x1b[31m", GEMBA_DISPATCH_ID=dispatch["id"])

    assert refused.returncode == 1
    assert "there is no agent_contract_handoff block" in refused.stdout
    assert "\x1b[31m" not in refused.stdout
    assert "No turn" not in operator.ok("handoff", "list", "--state", "refused")
    operator.refused("handoff", "submit", "nowhere.md", code=2)
    operator.refused("handoff", "submit", "-", "--dispatch", "zzz", stdin="x")


def test_a_long_text_is_handed_over_all_the_same(alone: Operator) -> None:
    dispatch = msgspec.json.decode(alone.ok("handoff", "dispatch", "Do it", "--json"))
    block = f"```agent_contract_handoff\n{_json(envelope(dispatch, 'NEEDS_INPUT'))}\n```\n"
    done = alone.run("handoff", "submit", "-", "--dispatch", dispatch["id"], stdin="word " * 400_000 + block)

    assert done.returncode == 0, done.stderr


def _json(document: dict[str, Any]) -> str:
    return msgspec.json.encode(document).decode()
