"""A suggested request in words."""

from typing import Any

import pytest

from gemba.cli.action_text import done_by, effect_of


def action(path: str, body: dict[str, Any], verb: str = "PATCH") -> dict[str, Any]:
    return {"verb": verb, "path": path, "body": body}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"user_order": 1}, "w-1 becomes number 1 of your order"),
        ({"ratified": True}, "w-1 becomes agreed to"),
        (
            {"state": "cancelled", "close_reason": "not agreed to"},
            "w-1 becomes cancelled, closed with “not agreed to”",
        ),
        ({"priority": 0, "version": 3}, "w-1 becomes priority 0"),
        ({"labels": ["a"]}, 'PATCH /api/work-items/w-1 {"labels":["a"]}'),
    ],
)
def test_a_change_of_work_says_what_the_item_becomes_or_is_shown_whole(body: dict[str, Any], words: str) -> None:
    assert effect_of(action("/api/work-items/w-1", body)) == words


def test_what_was_done_names_the_item_by_its_title() -> None:
    ranked = action("/api/work-items/kettle%2D10", {"user_order": 1})

    assert done_by(ranked, "Import the orders") == "kettle-10 (Import the orders) is now number 1 of your order"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/work-items", {"item": {"title": "Find out", "kind": "bug"}}, "a new bug: Find out"),
        ("/api/sessions", {"agent": "claude", "task": "go on"}, "a new session of claude: go on"),
        ("/api/teams/t-1/tasks/IMPL-001/skip", {}, "IMPL-001 is left out"),
        ("/api/memories/m-1/accept", {"class": "anchor"}, "agents are told of it in every turn"),
        ("/api/elsewhere", {}, "POST /api/elsewhere"),
    ],
)
def test_what_makes_or_decides_something_says_what(path: str, body: dict[str, Any], words: str) -> None:
    assert effect_of(action(path, body, "POST")) == words
