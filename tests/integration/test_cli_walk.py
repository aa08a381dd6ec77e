"""`gemba walk`: a walk at a terminal by single keys, and each step of it as a command, with a server and without."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from gemba.text import cells
from tests.fixtures.operator import Operator
from tests.fixtures.servers import RunningServer
from tests.fixtures.terminal import Terminal

Open = Callable[..., Terminal]
KEYS = "all keys"  # the end of the line of keys, which is shown last


def shown(operator: Operator, *arguments: str) -> Any:
    return json.loads(operator.ok("walk", *arguments, "--json"))


def escalation(operator: Operator, id: str) -> Any:
    return json.loads(operator.ok("inbox", id, "--json"))


def reply(operator: Operator, id: str) -> tuple[str, str]:
    """How an ask ended, and in which words."""
    found = escalation(operator, id)
    return found["state"], found["resolution"]["text"]


def on_table(walk: Any) -> str:
    return str(next(item["source"]["ref"] for item in walk["agenda"] if item["id"] == walk["active_item"]))


# ---- the commands ----------------------------------------------------------------------------------------------------


def test_a_walk_by_commands_decides_and_the_agents_have_their_answers(operator: Operator) -> None:
    first = operator.ask(text="Which port?", kind="blocker")
    second = operator.ask("worker-2", text="Which zone?", options=["UTC", "local"])
    third = operator.ask("worker-3", text="Which name?")

    started = shown(operator, "start", "--label", "Monday")
    assert (started["label"], started["status"], started["items"]) == ("Monday", "active", 3)
    assert on_table(started) == first
    done = shown(operator, "decide", "now", "modify", "--text", "8080")
    assert (done["item"]["decision"]["kind"], done["next"]["source"]["ref"]) == ("modify", second)
    assert operator.ok("walk", "decide", "2", "ratify", "--action", "2").startswith("ratified: ")
    assert "rejected" in operator.ok("walk", "decide", "now", "reject", "--why", "ask Ann")

    assert reply(operator, first) == ("resolved", "8080")
    assert reply(operator, second) == ("resolved", "local")
    assert reply(operator, third) == ("dismissed", "ask Ann")
    assert "3 of 3 decided" in operator.ok("walk", "show")
    ended = operator.ok("walk", "end")
    assert "# Monday" in ended
    assert operator.ok("walk", "list").startswith("completed  ")
    assert "you have no walk that is open" in operator.refused("walk", "next")


def test_the_agenda_is_the_operators_own_and_a_walk_rests_and_goes_on(operator: Operator) -> None:
    asked = operator.ask()
    shown(operator, "start")
    late = operator.ask("worker-2", kind="blocker", text="Stuck")

    assert operator.ok("walk", "add") == "1 added; 2 of 2 left\n"
    assert operator.ok("walk", "add", "--topic", "who is on call").startswith("1 added")
    assert operator.ok("walk", "add", asked[-6:]).startswith("0 added")
    assert on_table(shown(operator, "next")) == late
    assert on_table(shown(operator, "next", "3")) != late
    assert "I cannot answer a free question here" in operator.ok("walk", "say", "what now?")
    deferred = shown(operator, "decide", "now", "defer", "--until", "2h")
    assert deferred["item"]["status"] == "deferred"
    assert " rests, 3 of 3 left" in operator.ok("walk", "pause")
    assert "resume it first" in operator.refused("walk", "next")
    resumed = shown(operator, "resume")
    assert resumed["synopsis"].startswith(f"Walk {resumed['id']}")
    transcript = operator.ok("walk", "show", "--transcript")
    assert "operator: what now?" in transcript
    assert shown(operator, "end", "--abandon")["status"] == "abandoned"


def test_what_is_wrong_with_a_decision_is_one_line_and_nothing_is_decided(alone: Operator) -> None:
    alone.ask()
    shown(alone, "start")

    assert "rationale" in alone.refused("walk", "decide", "now", "reject")
    assert "edited is missing" in alone.refused("walk", "decide", "now", "modify")
    assert "--edited is no JSON" in alone.refused("walk", "decide", "now", "modify", "--edited", "{", code=2)
    assert "the agenda has no number 9; allowed: 1 to 1" in alone.refused("walk", "decide", "9", "ratify")
    assert "no persona is called" in alone.refused("walk", "decide", "1", "handoff", "--persona", "nobody")
    assert "--json goes behind list" in alone.refused("walk", "--json", "list", code=2)
    assert "walk_open" in alone.refused("walk", "start") or "go on with it" in alone.refused("walk", "start")
    assert shown(alone, "show")["totals"]["decided"] == 0


def test_without_a_terminal_the_state_is_shown(operator: Operator) -> None:
    assert operator.ok("walk") == (
        "Nobody waits for you. You have no walk that is open; gemba walk start begins one.\n"
    )
    operator.ask(kind="blocker", text="Which port?")
    assert operator.ok("walk").startswith("1 waits for you, 1 blocking.")
    started = shown(operator, "start")

    assert shown(operator)["walk"]["id"] == started["id"]
    assert "Which port?" in operator.ok("walk")


def test_everybody_is_asked_for_a_perspective(operator: Operator) -> None:
    asked = operator.ask(text="May the port be public?")
    shown(operator, "start")

    said = operator.ok("walk", "perspectives")

    assert "not coordinator: it does not list the skill perspective" in said
    assert said.count("=>") == 6
    assert (
        "QA: by rule, nothing that is stored of this touches its purview (testing) or its triggers. Nobody with"
        in " ".join(said.split())
    )
    outside = shown(operator, "perspectives", "--ref", asked[-8:])
    assert (outside["ref"], len(outside["consults"])) == (asked, 6)


def test_a_decision_is_taken_back_by_a_command_while_its_effect_can_be(operator: Operator) -> None:
    held, sent = operator.ask(text="Which port?", kind="blocker"), operator.ask("worker-2", text="Which zone?")
    shown(operator, "start")
    shown(operator, "decide", "now", "ratify", "--hold", "60")

    told = operator.ok("walk", "undo")

    assert told.startswith("taken back: ratified: Which port?")
    assert "Which port?" in told.partition("\n")[2]  # it is on the table
    assert escalation(operator, held)["state"] == "open"
    assert on_table(shown(operator, "show")) == held
    shown(operator, "next", "2")
    shown(operator, "decide", "2", "ratify")
    assert "so it cannot be taken back" in operator.refused("walk", "undo", "2")
    assert escalation(operator, sent)["state"] == "resolved"
    assert "nothing was decided of it" in operator.refused("walk", "undo", "1")


# ---- the terminal ----------------------------------------------------------------------------------------------------


def test_a_walk_by_keys_goes_from_decision_to_decision_to_its_end(operator: Operator, open_terminal: Open) -> None:
    first = operator.ask(text="Which zone?", options=["UTC", "local"], kind="blocker")
    second = operator.ask("worker-2", text="Which port?")
    third = operator.ask("worker-3", text="Which name?")
    fourth = operator.ask("worker-4", text="Which colour?")

    terminal = open_terminal(operator, "walk", "--label", "Monday")
    table = terminal.until(KEYS)
    assert "1 of 4 · 4 to go" in table
    assert "Which zone?" in table
    terminal.press("2")
    terminal.until("▸ 2 local")
    terminal.press("r")
    assert "✓ ratified: local" in terminal.until(KEYS)
    terminal.press("m")
    terminal.until("Answer: ")
    terminal.press("\x15use 8080\r")
    assert "✓ changed and done" in terminal.until(KEYS)
    terminal.press("x")
    terminal.until("Why not\\? ")
    terminal.press("ask Ann\r")
    assert "✓ rejected" in terminal.until(KEYS)
    terminal.press("dh")
    terminal.until("✓ deferred")
    assert "3 of 4 decided" in terminal.until("q rest and leave")
    terminal.press("e")
    assert "is completed" in terminal.until("Its summary: gemba walk show")

    assert terminal.ended() == 0
    assert terminal.is_as_before()
    assert reply(operator, first) == ("resolved", "local")
    assert reply(operator, second) == ("resolved", "use 8080")
    assert reply(operator, third) == ("dismissed", "ask Ann")
    assert escalation(operator, fourth)["state"] == "snoozed"


def test_u_takes_the_last_decision_back_and_the_item_is_on_the_table_again(
    served: Operator, open_terminal: Open
) -> None:
    asked = served.ask(text="Which zone?", options=["UTC", "local"], kind="blocker")
    served.ask("worker-2", text="Which port?")
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)
    terminal.press("u")
    terminal.until("Nothing was decided that could be taken back")

    terminal.press("r")
    assert "u takes it back" in terminal.until(KEYS)
    terminal.press("u")
    table = terminal.until(KEYS)

    assert "↶ taken back: ratified: Which zone?" in table
    assert "1 of 2 · 2 to go" in table
    assert escalation(served, asked)["state"] == "open"
    terminal.press("q")
    assert terminal.ended() == 0


def test_ctrl_c_rests_the_walk_and_leaves_the_terminal_as_it_was(operator: Operator, open_terminal: Open) -> None:
    asked = operator.ask()
    terminal = open_terminal(operator, "walk")
    terminal.until(KEYS)

    terminal.press("\x03")

    terminal.until("rests; gemba walk goes on with it")
    assert terminal.ended() == 0
    assert terminal.is_as_before()
    assert shown(operator)["walk"]["status"] == "paused"
    again = open_terminal(operator, "walk")
    table = again.until(KEYS)
    assert "goes on where it stood" in table
    assert "so far: Walk " in table
    again.press("q")
    again.until("rests")
    assert again.ended() == 0
    assert on_table(shown(operator)["walk"]) == asked


def test_a_walk_whose_terminal_was_killed_goes_on_at_the_same_item(served: Operator, open_terminal: Open) -> None:
    for number in range(3):
        served.ask(f"worker-{number}", text=f"Question {number}?")
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)
    terminal.press("r")
    before = terminal.until(KEYS)
    terminal.press("x")
    terminal.until("Why not")
    stood = shown(served)["walk"]

    terminal.kill()

    again = open_terminal(served, "walk")
    after = again.until(KEYS)
    now = shown(served)["walk"]
    assert (now["active_item"], now["transcript"]) == (stood["active_item"], stood["transcript"])
    question = re.search(r"Question \d", before)
    assert question is not None
    assert question[0] in after
    again.press("\x03")
    again.until("rests")
    again.ended()


def test_a_walk_goes_on_when_its_server_is_gone(
    sqlite_server: RunningServer, served: Operator, open_terminal: Open
) -> None:
    first = served.ask(text="Which port?")
    served.ask("worker-2", text="Which zone?")
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)

    sqlite_server.kill()
    terminal.press("r")
    assert "going on without it" in terminal.until(KEYS)
    terminal.press("r")

    assert "✓ ratified" in terminal.until(KEYS)
    terminal.press("q")
    assert terminal.ended() == 0
    served.server = None
    assert escalation(served, first)["state"] == "resolved"


def test_what_was_settled_elsewhere_is_said_and_the_next_one_shown(served: Operator, open_terminal: Open) -> None:
    first = served.ask(text="Which port?", kind="blocker")
    served.ask("worker-2", text="Which zone?")
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)
    served.ok("answer", first, "by hand")

    terminal.press("r")

    told = terminal.until(KEYS)
    assert "settled elsewhere" in told
    assert "Which zone?" in told
    assert reply(served, first) == ("resolved", "by hand")
    terminal.press("q")
    terminal.ended()


def test_perspectives_and_a_hand_off_are_shown_where_they_were_asked_for(served: Operator, open_terminal: Open) -> None:
    served.ask(text="May the port be public?")
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)

    terminal.press("p")
    said = terminal.until(KEYS)
    assert said.count("=>") == 6
    terminal.press("h")
    terminal.until("hand off to")
    terminal.press("3")

    assert "handed off to security" in terminal.until("=> Security: by rule, nothing")
    terminal.until("7 consults, \\$0.00")
    terminal.press("q")
    terminal.ended()
    walk = shown(served)["walk"]
    assert walk["totals"]["consults"] == 7
    assert walk["agenda"][0]["decision"]["persona_id"] == "security"


def test_agents_text_drives_no_terminal_and_lines_fit_80_columns(served: Operator, open_terminal: Open) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\r\n" + "wide 漢字 words that go on and on " * 20
    served.ask(text=hostile, title=hostile[:150], options=[hostile[:200], "no"])
    terminal = open_terminal(served, "walk", NO_COLOR="1")

    terminal.until(KEYS)
    terminal.press("?gq\r")
    terminal.until("Go to number")
    terminal.press("q")

    terminal.until("rests")
    assert terminal.ended() == 0
    for character in ("\x07", "\u202e", "\x1b]0;", "\x1b[2J"):
        assert character not in terminal.raw
    assert max(cells(line) for line in terminal.screen.splitlines()) <= 80


@pytest.mark.parametrize("keys", ["zZ\x1b[A\x1bOPé", "\x7f\t"])
def test_keys_that_stand_for_nothing_do_nothing(served: Operator, open_terminal: Open, keys: str) -> None:
    served.ask()
    terminal = open_terminal(served, "walk")
    terminal.until(KEYS)

    terminal.press(keys + "?")

    terminal.until("with a summary")
    terminal.press("q")
    assert terminal.ended() == 0
    assert shown(served)["walk"]["totals"]["decided"] == 0
