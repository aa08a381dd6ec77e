"""Answers that must pass something before they are given: a command, or a second person. In doubt, not given."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.errors import Conflict, Invalid
from gemba.escalations.escalation import Escalation, Proposal
from gemba.escalations.policy import HOUR, Policy, Verify
from tests.fixtures.flowing import FlowFloor

OpenFloor = Callable[..., FlowFloor]

BY_A_PERSON = Policy("p", verify=Verify(person=True))


def checked_by(program: str, seconds: int = 30) -> Policy:
    """Python code as the check."""
    return Policy("p", verify=Verify(check=(sys.executable, "-c", program), seconds=seconds))


def refused(floor: FlowFloor, id: str) -> Proposal:
    """The proposal, once it was refused; nothing of it has reached the agent."""
    floor.until_told("escalation.refused", ref=id)
    shown = floor.get(id)
    assert (shown.state, shown.delivery, shown.resolution, floor.reply(id)) == ("open", "none", None, None)
    assert shown.proposal is not None
    assert shown.proposal.state == "refused"
    return shown.proposal


def conflict(act: Callable[[], object]) -> Conflict:
    with pytest.raises(Conflict) as error:
        act()
    return error.value


# ---- a check -------------------------------------------------------------------------------------------------------


def test_an_answer_that_passes_its_check_is_given(open_floor: OpenFloor) -> None:
    floor = open_floor(checked_by("raise SystemExit(0)"))
    floor.start()
    id = floor.ask()

    proposed = floor.act(id, "respond", "anna", text="8080")

    assert (proposed.state, proposed.resolution) == ("open", None)
    assert (proposed.proposal.text, proposed.proposal.by, proposed.proposal.state) == ("8080", "anna", "waiting")
    shown = floor.until(id, state="resolved")
    assert shown.resolution is not None
    assert (shown.resolution.text, shown.resolution.who, shown.proposal) == ("8080", "anna", None)
    assert floor.commits.until(lambda: floor.reply(id))["text"] == "8080"
    assert [told["state"] for told in floor.until_told("escalation.proposed")] == ["waiting"]


def test_a_check_is_given_the_question_and_the_answer_as_json_in_the_workspace(
    open_floor: OpenFloor, tmp_path: Path
) -> None:
    note = tmp_path / "given"
    program = f"import os, sys; open({str(note)!r}, 'w').write(os.getcwd() + '\\n' + sys.stdin.read())"
    floor = open_floor(checked_by(program))
    floor.start()
    id = floor.ask("Which port?", schema={"type": "integer"}, title="Port")
    floor.act(id, "respond", "anna", value=8080)

    floor.until(id, state="resolved")

    folder, _, given = note.read_text().partition("\n")
    assert folder == str(floor.app.workspace.root)
    assert json.loads(given) == {
        "id": id,
        "kind": "blocker",
        "session_id": "s1",
        "title": "Port",
        "text": "Which port?",
        "options": [],
        "schema": {"type": "integer"},
        "answer": {"text": "8080", "option": None, "value": 8080, "by": "anna"},
    }
    resolution = floor.get(id).resolution
    assert resolution is not None
    assert (resolution.value, resolution.text) == (8080, "8080")


def crash(number: int) -> str:
    return f"import os; os.kill(os.getpid(), {number})"


@pytest.mark.parametrize(
    ("program", "note"),
    [
        ("print('ports below 1024 are taken'); raise SystemExit(1)", "ports below 1024 are taken"),
        ("import sys; sys.exit('told on stderr')", "told on stderr"),
        ("raise SystemExit(3)", "the check ended with exit code 3"),
        (crash(9), "the check ended with exit code -9"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096); sys.exit(1)", None),
        ("print('x' * 1_000_000); raise SystemExit(1)", None),
        ("print('\\x1b[31mred\\x1b[0m'); raise SystemExit(1)", None),
    ],
)
def test_an_answer_that_does_not_pass_is_refused_with_the_checks_first_line(
    open_floor: OpenFloor, program: str, note: str | None
) -> None:
    floor = open_floor(checked_by(program))
    floor.start()
    id = floor.ask()
    floor.act(id, "respond", text="80")

    refusal = refused(floor, id).note

    assert refusal is not None
    assert note in (None, refusal)
    assert 0 < len(refusal) <= 300
    assert refusal.isprintable()


@pytest.mark.parametrize("trouble", ["missing", "not executable", "a folder", "slow"])
def test_an_answer_is_not_given_when_its_check_cannot_be_made(
    open_floor: OpenFloor, workspace: Path, trouble: str
) -> None:
    (workspace / "plain").write_text("exit 0")
    command = {"missing": "./nothing", "not executable": "./plain", "a folder": "./.gemba", "slow": sys.executable}
    arguments = ("-c", "import time; time.sleep(600)") if trouble == "slow" else ()
    floor = open_floor(Policy("p", verify=Verify(check=(command[trouble], *arguments), seconds=1)))
    floor.start()
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    note = refused(floor, id).note

    assert note is not None
    assert note.startswith(f"the check could not be made: {command[trouble]} ")


def test_a_check_that_does_not_read_what_it_is_given_may_pass(open_floor: OpenFloor) -> None:
    floor = open_floor(checked_by("import os; os.close(0)"))
    floor.start()
    id = floor.ask("w" * 60_000)
    floor.act(id, "respond", text="8080")

    floor.until(id, state="resolved")


def test_what_a_check_prints_does_not_matter_when_it_passes(open_floor: OpenFloor) -> None:
    floor = open_floor(checked_by("import sys; sys.stdout.buffer.write(b'\\xff\\x00' * 500_000)"))
    floor.start()
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    floor.until(id, state="resolved")


def test_a_refused_answer_makes_room_for_the_next_one(open_floor: OpenFloor) -> None:
    program = "import json, sys; sys.exit(json.load(sys.stdin)['answer']['text'] != '8080')"
    floor = open_floor(checked_by(program))
    floor.start()
    id = floor.ask()
    floor.act(id, "respond", text="80")
    assert refused(floor, id).text == "80"

    floor.act(id, "respond", text="8080")

    resolution = floor.until(id, state="resolved").resolution
    assert resolution is not None
    assert resolution.text == "8080"


def test_an_answer_that_does_not_fit_its_ask_is_refused_before_any_check(open_floor: OpenFloor, tmp_path: Path) -> None:
    floor = open_floor(checked_by(f"open({str(tmp_path / 'ran')!r}, 'w')"))
    floor.start()
    id = floor.ask(options=["red", "green"])

    with pytest.raises(Invalid) as error:
        floor.act(id, "respond", text="blue")

    assert error.value.code == "does_not_fit"
    assert (floor.wanted(), (tmp_path / "ran").exists()) == ([], False)


def test_a_check_is_made_although_the_server_was_away_when_the_answer_was_proposed(open_floor: OpenFloor) -> None:
    floor = open_floor(checked_by("pass"))
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    floor.later(hours=1)

    floor.until(id, state="resolved")
    floor.until(id, delivery="pending")


# ---- a second person ------------------------------------------------------------------------------------------------


def proposed(floor: FlowFloor, **ask: Any) -> str:
    id = floor.ask(**ask)
    floor.act(id, "respond", "anna", text="8080")
    return id


def test_an_answer_is_given_once_a_second_person_agrees(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)
    assert (floor.get(id).state, floor.get(id).delivery) == ("open", "none")

    given = floor.act(id, "confirm", "ben")

    assert (given.state, given.resolution.text, given.resolution.who) == ("resolved", "8080", "anna")
    assert conflict(lambda: floor.act(id, "confirm", "ben")).code == "already_resolved"


def test_nobody_agrees_to_their_own_answer(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)

    error = conflict(lambda: floor.act(id, "confirm", "anna"))

    assert (error.code, error.found) == ("same_person", "anna")
    assert floor.get(id).state == "open"


@pytest.mark.parametrize("who", ["ben", "anna"])
def test_a_proposed_answer_is_refused_by_another_person_or_taken_back(open_floor: OpenFloor, who: str) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)

    floor.act(id, "reject", who, text="that port is taken")

    assert refused(floor, id).note == f"{who}: that port is taken"
    assert conflict(lambda: floor.act(id, "confirm", "carl")).code == "not_proposed"
    floor.act(id, "respond", "ben", text="9090")
    resolution = floor.act(id, "confirm", "anna").resolution
    assert (resolution.text, resolution.who) == ("9090", "ben")


def test_a_refusal_says_why(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)

    with pytest.raises(Invalid) as error:
        floor.act(id, "reject", "ben", text="  ")

    assert (error.value.code, error.value.pointer) == ("missing_field", "/text")


def test_there_is_nothing_to_agree_to_before_somebody_proposed(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = floor.ask()

    assert conflict(lambda: floor.act(id, "confirm", "ben")).code == "not_proposed"
    assert conflict(lambda: floor.act(id, "reject", "ben", text="no")).code == "not_proposed"


def test_a_person_cannot_pass_what_a_check_judges(open_floor: OpenFloor) -> None:
    floor = open_floor(checked_by("raise SystemExit(1)"))
    id = proposed(floor)

    assert conflict(lambda: floor.act(id, "confirm", "ben")).code == "not_proposed"


def test_of_two_who_propose_at_once_one_is_told_of_the_other(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = floor.ask()
    outcomes: dict[str, Escalation | Conflict] = {}
    both = threading.Barrier(2)

    def propose(who: str) -> None:
        both.wait()
        try:
            outcomes[who] = floor.act(id, "respond", who, text=f"{who}'s answer")
        except Conflict as error:
            outcomes[who] = error

    threads = [threading.Thread(target=propose, args=(who,)) for who in ("anna", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    (winner,) = (who for who, outcome in outcomes.items() if isinstance(outcome, Escalation))
    (lost,) = (outcome for outcome in outcomes.values() if isinstance(outcome, Conflict))
    assert (lost.code, lost.found) == ("already_proposed", winner)
    proposal = floor.get(id).proposal
    assert proposal is not None
    assert (proposal.by, proposal.text) == (winner, f"{winner}'s answer")


def test_of_two_who_agree_and_refuse_at_once_one_wins(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)
    outcomes: list[str] = []
    both = threading.Barrier(2)

    def decide(who: str, verb: str, **body: str) -> None:
        both.wait()
        try:
            floor.act(id, verb, who, **body)
            outcomes.append(verb)
        except Conflict:
            outcomes.append("refused")

    threads = [
        threading.Thread(target=decide, args=("ben", "confirm")),
        threading.Thread(target=decide, args=("carl", "reject"), kwargs={"text": "no"}),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) in (["confirm", "refused"], ["refused", "reject"])
    assert floor.get(id).state == ("resolved" if "confirm" in outcomes else "open")


# ---- what happens meanwhile ------------------------------------------------------------------------------------------


def test_an_ask_whose_answer_waits_for_a_second_person_expires_and_the_answer_may_still_pass_late(
    open_floor: OpenFloor,
) -> None:
    floor = open_floor(Policy("p", verify=Verify(person=True), expire_after=HOUR))
    id = proposed(floor)

    floor.later(hours=2)

    shown = floor.until(id, state="expired")
    assert shown.resolution is not None
    assert (shown.resolution.outcome, shown.resolution.text) == ("expired", "nobody answered in time")
    assert conflict(lambda: floor.act(id, "confirm", "anna")).code == "same_person"
    late = floor.act(id, "confirm", "ben")
    assert (late.state, late.late, late.resolution.text, late.proposal) == ("resolved", True, "8080", None)
    turn = floor.commits.until(lambda: turn if (turn := floor.turn(id)) and "late" in turn else None)
    assert (turn["text"], turn["late"]) == ("8080", True)


def test_a_late_answer_waits_for_a_second_person_like_any_other(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", verify=Verify(person=True), expire_after=HOUR))
    id = floor.ask()
    floor.later(hours=2)
    floor.until(id, state="expired")

    floor.act(id, "respond", "anna", text="8080")

    assert (floor.get(id).state, floor.get(id).late) == ("expired", False)
    assert conflict(lambda: floor.act(id, "respond", "ben", text="9090")).code == "already_proposed"
    late = floor.act(id, "confirm", "ben")
    assert (late.state, late.late, late.resolution.who) == ("resolved", True, "anna")


def test_a_late_answer_is_checked_like_any_other(open_floor: OpenFloor) -> None:
    floor = open_floor(Policy("p", verify=Verify(("false",)), expire_after=HOUR))
    id = floor.ask()
    floor.later(hours=2)
    floor.until(id, state="expired")

    floor.act(id, "respond", "anna", text="8080")

    floor.until_told("escalation.refused", ref=id)
    assert (floor.get(id).state, floor.get(id).late) == ("expired", False)


def test_a_decision_that_passed_is_the_one_that_was_proposed(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = floor.say("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}})
    floor.act(id, "respond", "anna", decision="no")

    given = floor.act(id, "confirm", "ben")

    assert (given.resolution.decision, given.resolution.who) == ("no", "anna")


def test_an_ask_that_is_withdrawn_meanwhile_takes_no_answer(open_floor: OpenFloor) -> None:
    floor = open_floor(BY_A_PERSON)
    id = proposed(floor)

    floor.say("GembaWithdraw", {"event_id": id})

    assert floor.get(id).state == "withdrawn"
    assert conflict(lambda: floor.act(id, "confirm", "ben")).code == "already_resolved"


def test_an_ask_that_is_withdrawn_while_its_answer_is_checked_takes_no_answer(
    open_floor: OpenFloor, tmp_path: Path
) -> None:
    began, go_on = tmp_path / "began", tmp_path / "go_on"
    program = (
        f"import os, time; open({str(began)!r}, 'w').close()\n"
        f"while not os.path.exists({str(go_on)!r}): time.sleep(0.01)"
    )
    floor = open_floor(checked_by(program))
    floor.start()
    id = floor.ask()
    floor.act(id, "respond", text="8080")
    floor.commits.until(began.exists)

    floor.say("GembaWithdraw", {"event_id": id})
    floor.until(id, state="withdrawn")
    go_on.touch()

    floor.until_nothing_is_wanted()
    shown = floor.get(id)
    assert shown.resolution is not None
    assert (shown.state, shown.resolution.outcome) == ("withdrawn", "withdrawn")
