"""Dialogs of an agent's client that no hook waits for: a decision is given with a key in a real tmux, or not at all."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gemba.app import App
from gemba.escalations.store import escalations
from gemba.sessions.agents.claude_dialogs import is_shown, key_for
from gemba.testing import retry_until
from tests.fixtures.floor import Floor, stop_runs

# Shows a dialog as Claude Code does, and tells which key closed it.
CLIENT = r"""
import os, sys, tty
tty.setraw(0)
choices = "Do you want to create it?\r\n \u276f 1. Yes%s\r\n   2. Yes, and more\r\n   3. No\r\n\r\n Esc to cancel\r\n"
os.write(1, (choices % sys.argv[1]).encode())
while True:
    key = os.read(0, 100)
    os.write(1, b"\x1b[2J\x1b[Hpressed: %r\r\n" % key)
"""
WRITE = {"tool_name": "Write", "tool_input": {"file_path": "made.txt"}}
BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}}


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    types = ""
    for name, more in (("client", ""), ("other", ", and whatever else")):
        command = json.dumps([sys.executable, "-c", CLIENT, more])
        types += f'[agent.{name}]\ncommand = {command}\nprompt = "none"\nbackend = "tmux"\nhooks = "claude"\n'
    (workspace / ".gemba" / "agents.toml").write_text(types)
    yield Floor(app)
    stop_runs(app.home)
    app.keeping.take_over()


def asking(floor: Floor, *calls: dict[str, Any], agent: str = "client") -> str:
    id = floor.start("", agent, worktree=False)
    floor.until(id, "running")
    retry_until(lambda: "Esc to cancel" in shown(floor, id), timeout=30)
    for call in calls:
        floor.say(id, "PermissionRequest", **call)
    return id


def shown(floor: Floor, id: str) -> str:
    return floor.app.keeping.transcript(id, 50).text


def answer(floor: Floor, id: str, **given: Any) -> str:
    """Answer the first of its dialogs; the card's id."""
    with floor.app.database.read() as connection:
        mine = select(escalations.c.id).where(escalations.c.session_id == id).order_by(escalations.c.opened_at)
        card: str = connection.execute(mine.limit(1)).scalar_one()
    floor.act("/api/escalations/{id}/respond", given, id=card)
    return card


def delivery_of(floor: Floor, card: str) -> tuple[str, str | None]:
    with floor.app.database.read() as connection:
        row = connection.execute(select(escalations).where(escalations.c.id == card)).one()
    return row.delivery, row.delivery_note


def test_a_yes_is_pressed_and_delivered_once_the_tool_ran(floor: Floor) -> None:
    id = asking(floor, WRITE)
    card = answer(floor, id, decision="yes")
    assert delivery_of(floor, card) == ("pending", None)

    floor.app.keeping.keep()
    assert "pressed: b'1'" in shown(floor, id)
    floor.app.keeping.keep()
    assert delivery_of(floor, card) == ("pending", None)  # that it was pressed is no proof
    floor.say(id, "PostToolUse", **WRITE)

    assert delivery_of(floor, card)[0] == "delivered"
    assert shown(floor, id).count("pressed") == 1


def test_a_no_is_pressed_and_delivered_once_the_dialog_is_gone(floor: Floor) -> None:
    id = asking(floor, BASH)
    card = answer(floor, id, decision="no")
    sent = floor.send(id, "something else")

    floor.app.keeping.keep()

    assert "pressed: b'\\x1b'" in shown(floor, id)
    assert delivery_of(floor, card)[0] == "delivered"
    floor.app.keeping.keep()
    assert floor.input(sent)[0] == "waiting"  # frames do not say what is open now, so nothing is typed


@pytest.mark.parametrize(
    ("calls", "given"),
    [
        ([WRITE], {"decision": "modify", "text": "call it otherwise"}),
        ([WRITE], {"decision": "no", "text": "call it otherwise"}),
        ([{"tool_name": "ExitPlanMode", "tool_input": {"plan": "all"}}], {"decision": "yes"}),
        ([WRITE, BASH], {"decision": "yes"}),
    ],
    ids=["words instead", "words with it", "a dialog that is not known", "two dialogs at once"],
)
def test_whatever_is_no_key_for_sure_is_decided_in_the_agents_window(
    floor: Floor, calls: list[dict[str, Any]], given: dict[str, Any]
) -> None:
    id = asking(floor, *calls)
    card = answer(floor, id, **given)

    floor.app.keeping.keep()

    state, note = delivery_of(floor, card)
    assert (state, "give the answer there" in (note or "")) == ("undelivered", True)
    assert "pressed" not in shown(floor, id)


def test_a_dialog_that_was_closed_meanwhile_or_looks_otherwise_is_not_touched(floor: Floor) -> None:
    closed, other = asking(floor, WRITE), asking(floor, WRITE, agent="other")
    cards = [answer(floor, id, decision="yes") for id in (closed, other)]
    floor.say(closed, "PermissionRequest", **BASH)  # of two that are open it is not known which one is shown

    floor.app.keeping.keep()

    found = [delivery_of(floor, card) for card in cards]
    assert [state for state, _ in found] == ["undelivered", "undelivered"]
    assert "another one is open" in (found[0][1] or "")
    assert "does not look as Gemba knows it" in (found[1][1] or "")
    assert all("pressed" not in shown(floor, id) for id in (closed, other))


@pytest.mark.parametrize(
    ("tool", "decision", "key"),
    [
        ("Write", "yes", "1"),
        ("Bash", "no", "Escape"),
        ("Bash", "modify", None),
        ("Bash", None, None),
        ("AskUserQuestion", "yes", None),
        (None, "yes", None),
    ],
)
def test_a_key_is_known_for_few_dialogs(tool: str | None, decision: str | None, key: str | None) -> None:
    assert key_for(tool, decision) == key


@pytest.mark.parametrize(
    ("screen", "is_one"),
    [
        (" Proceed?\n > 1. Yes\n   2. Yes, and more\n   3. No\n\n Esc to cancel · Tab to amend\n", True),
        (" Proceed?\n   1. Yes    │ beside it\n > 2. No\n\n Esc to cancel │\n" + "           │\n" * 20, True),
        (" Proceed?\n > 1. Yes, and accept all edits\n   2. No\n\n Esc to cancel\n", False),
        (" > 1. Yes\n   2. No\n", False),
        (" > 1. Yes\n Esc to cancel\n" + "more\n" * 20, False),
        ("", False),
    ],
)
def test_a_dialog_is_known_by_its_list_at_the_bottom_of_the_screen(screen: str, is_one: bool) -> None:
    assert is_shown(screen.replace(">", "\u276f")) is is_one
