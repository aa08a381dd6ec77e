"""`gemba memory`: what agents want remembered, decided at a terminal; with a server and without."""

import json
from typing import Any

import pytest

from tests.fixtures.operator import Operator
from tests.fixtures.remembered import SOURCE, suggest_in

PORT = {"description": "The proxy's port", "body": "8000 is taken by the proxy", "rationale": "it cost an hour"}


def suggest(operator: Operator, *entries: dict[str, Any] | str, surfaces: tuple[str, ...] = ()) -> list[str]:
    return suggest_in(operator.workspace, operator.home, *entries, surfaces=surfaces)


def listed(operator: Operator, state: str = "all") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(operator.ok("memory", "list", "--state", state, "--json"))["memories"]
    return found


def test_what_waits_is_listed_decided_and_not_offered_again(operator: Operator) -> None:
    first, second = suggest(operator, PORT, "always use UTC", surfaces=("api",))

    shown = operator.ok("memory")
    for words in (
        first[-6:],
        second[-6:],
        "thread · atom · the-proxys-port · api",
        "The proxy's port",
        "always use UTC",
    ):
        assert words in shown
    assert shown.count("always use UTC") == 1
    assert shown.endswith("2 waiting. Decide with: gemba memory accept ID, or reject ID\n")

    accepted = f"accepted {first}: remembered as the-proxys-port (thread)\n"
    assert operator.ok("memory", "accept", first[-6:]) == accepted
    assert operator.ok("memory", "reject", second[-6:], "we do not") == f"rejected {second}: it is not offered again\n"

    assert suggest(operator, PORT, "always use UTC") == []
    assert operator.ok("memory", "list").startswith("Nothing waits.")
    assert operator.ok("memory", "list", "--state", "accepted").endswith(
        "1 remembered. Take one back with: gemba memory reopen ID\n"
    )
    assert [found["decision_reason"] for found in listed(operator, "rejected")] == ["we do not"]


def test_one_is_shown_with_where_it_came_from_and_what_was_decided(operator: Operator) -> None:
    (id,) = suggest(operator, {**PORT, "class": "forever"}, surfaces=("api", "web"))
    operator.ok("memory", "reject", id, "moved since")

    shown = operator.ok("memory", "show", id[-6:])

    for words in (
        f"rejected  {id}",
        "warning: class is 'forever'",
        "why: it cost an hour",
        "surfaces: api, web",
        f"from: handoff {SOURCE}",
        "decided: rejected by operator at",
        ": moved since",
    ):
        assert words in shown
    assert json.loads(operator.ok("memory", "show", id, "--json"))["decided_by"] == "operator"


def test_what_is_edited_on_the_way_is_remembered_as_edited(served: Operator) -> None:
    (id,) = suggest(served, PORT)
    options = ("--slug", "proxy", "--type", "decision", "--class", "anchor", "--surface", "api", "--surface", "web")

    done = json.loads(served.ok("memory", "accept", id, *options, "--body", "-", "--json", stdin="8000: the proxy\n"))

    assert (done["slug"], done["type"], done["class"]) == ("proxy", "decision", "anchor")
    assert (done["body"], done["surfaces"]) == ("8000: the proxy", ["api", "web"])
    served.ok("memory", "reopen", id)
    assert json.loads(served.ok("memory", "accept", id, "--surface", "", "--json"))["surfaces"] == []


def test_a_decision_can_be_taken_back(operator: Operator) -> None:
    (id,) = suggest(operator, PORT)
    operator.ok("memory", "accept", id)

    assert operator.ok("memory", "reopen", id[-6:]) == f"reopened {id}: it waits again\n"
    assert [found["state"] for found in listed(operator)] == ["suggested"]


def test_a_second_decision_is_refused_in_one_line(operator: Operator) -> None:
    (id,) = suggest(operator, PORT)
    operator.ok("memory", "accept", id)

    assert "the memory is accepted: it cannot be rejected" in operator.refused("memory", "reject", id)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["accept", "{id}", "--slug", "Not Safe"], 1, "small letters and digits"),
        (["accept", "{id}", "--class", "forever"], 2, "'forever' is not one of"),
        (["accept", "{id}", "--body", " "], 1, "body has 0 characters"),
        (["accept", "000000"], 1, "no memory has an id that begins or ends with 000000"),
        (["list", "--state", "gone"], 2, "'gone' is not one of"),
        (["accept"], 2, "Missing argument 'ID'"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(
    served: Operator, words: list[str], code: int, message: str
) -> None:
    (id,) = suggest(served, PORT)

    assert message in served.refused("memory", *(word.format(id=id) for word in words), code=code)
    assert [found["state"] for found in listed(served)] == ["suggested"]


def test_agents_text_cannot_drive_the_terminal(served: Operator) -> None:
    hostile = "\x1b]0;gone\x07\u202e evil"
    (id,) = suggest(served, {"description": hostile, "body": hostile + " body", "class": hostile, "rationale": hostile})

    outputs = [served.ok("memory"), served.ok("memory", "show", id), served.ok("memory", "show", id, "--json")]
    outputs.append(served.ok("memory", "accept", id))

    assert not any(mark in shown for shown in outputs for mark in "\x1b\x07\u202e")


def test_a_long_body_is_cut_in_the_list_and_whole_in_show(served: Operator) -> None:
    (id,) = suggest(served, {**PORT, "body": "\n".join(f"line {number}" for number in range(50))})

    assert "line 49" not in served.ok("memory")
    assert "line 49" in served.ok("memory", "show", id)


def test_ids_of_memories_are_completed_with_their_first_words(served: Operator) -> None:
    (id,) = suggest(served, PORT)

    shown = served.run(_GEMBA_COMPLETE="zsh_complete", COMP_WORDS="gemba memory accept ", COMP_CWORD="3").stdout

    assert id[-6:] in shown
    assert "The proxy's port" in shown
