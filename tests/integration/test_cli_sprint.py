"""`gemba sprint` and `gemba usage` at a terminal; with a server and without."""

import json
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.operator import Operator


def made(operator: Operator, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(operator.ok(*words, "--json"))
    return found


def test_a_sprint_is_planned_started_changed_and_closed(operator: Operator) -> None:
    first = made(operator, "item", "add", "Index")["id"]
    second = made(operator, "item", "add", "Query")["id"]

    assert operator.ok("sprint").startswith("There are none. Plan one with: gemba sprint create")
    planned = operator.ok("sprint", "create", "Search", "--budget", "1000", "--item", first[-4:], "--warn", "0.7")
    assert planned == "planned sprint-1: Search\n"
    assert operator.ok("sprint", "add", second, "--sprint", "1") == "sprint-1 has 2 items\n"
    assert operator.ok("sprint", "start", "1", "--ends", "2199-01-01T00:00:00Z").startswith("started sprint-1: 2 items")
    operator.append("GembaUsage", {"input_tokens": 1_000, "output_tokens": 234, "cost_usd": 0.5}, "s-1")

    # A server takes it in by itself.
    retry_until(lambda: made(operator, "sprint", "show")["tokens_used"] == 1_234, timeout=30)
    shown = made(operator, "sprint", "show")
    assert (shown["tokens_used"], shown["level"], shown["held"]) == (1_234, "stop", True)
    assert shown["burn_thresholds"] == {"inform": 0.5, "warn": 0.7, "stop": 1.0}
    listed = operator.ok("sprint", "list")
    assert "held: nothing new is begun" in listed
    assert "raise its budget, or close it" in listed
    in_full = operator.ok("sprint", "show", "sprint-1")
    for words in ("1,234 of 1,000 tokens", "warn 70%", "Index (unstarted)", "2 of 2 items left"):
        assert words in in_full
    said = operator.refused("item", "claim", first)
    assert "nothing new is begun: sprint-1 has used 1,234 of 1,000 tokens" in said
    assert operator.ok("sprint", "edit", "--budget", "5000") == "changed sprint-1: 24 % of 5,000 tokens used\n"
    operator.ok("item", "claim", first)
    assert operator.ok("sprint", "remove", second) == "sprint-1 has 1 item\n"
    assert operator.ok("sprint", "history").endswith("5 changes.\n")
    assert (
        operator.ok("sprint", "close", "--reason", "enough") == "closed sprint-1: 0 of 1 item finished, 1,234 tokens\n"
    )

    assert "s-1" in operator.ok("usage", "--by", "session")
    assert operator.ok("usage", "--by", "session").endswith(f"\nSince {made(operator, 'usage')['since']} (UTC).\n")
    assert "$0.50" in operator.ok("usage", "--by", "sprint")
    assert made(operator, "usage")["rows"][0]["tokens"] == 1_234


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("sprint", "show"), 1, "no sprint runs; give the ID of one"),
        (("sprint", "show", "7"), 1, "no sprint has the id sprint-7"),
        (("sprint", "show", "a b"), 1, "'a b' is not an id"),
        (("sprint", "create", "x"), 2, "--budget"),
        (("sprint", "create", "x", "--budget", "0"), 2, "is no number of tokens"),
        (("sprint", "create", "x", "--budget", "5", "--warn", "0.1"), 1, "gemba: burn_thresholds.warn is 0.1"),
        (("sprint", "create", "x", "--budget", "5", "--item", "none"), 1, "no work item has an id"),
        (("sprint", "create", "x", "--budget", "5", "--ends", "soon"), 1, "gemba: ends_at is 'soon'"),
        (("usage", "--by", "week"), 2, "'week' is not one of"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(operator: Operator, words: tuple[str, ...], code: int, said: str) -> None:
    done = operator.run(*words)

    assert (done.returncode, said in done.stderr) == (code, True), done


def test_no_turn_told_anything_yet(operator: Operator) -> None:
    assert operator.ok("usage") == "No turn has told what it took yet.\n"
