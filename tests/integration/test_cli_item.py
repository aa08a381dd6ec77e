"""`gemba item` and `gemba ready` at a terminal; with a server and without."""

import json
from typing import Any

import pytest

from tests.fixtures.operator import Operator


def add(operator: Operator, *words: str) -> str:
    made: dict[str, Any] = json.loads(operator.ok("item", "add", *words, "--json"))
    return str(made["id"])


def shown(operator: Operator, id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(operator.ok("item", "show", id, "--json"))
    return found


def test_items_are_made_related_explained_and_closed(operator: Operator) -> None:
    epic = add(operator, "Search", "--kind", "epic")
    first = add(operator, "Index", "--parent", epic[-4:], "--priority", "1", "--label", "api")
    second = add(operator, "Query", "--parent", epic, "--blocked-by", first)

    listed = operator.ok("ready")
    assert first in listed
    assert second not in listed
    assert f"blocked by {first} (unstarted: Index)" in operator.ok("ready", "--explain", second[-4:])
    assert f"not ready  {second}" in operator.ok("ready", "--explain")
    assert operator.ok("item", "close", first, "merged") == f"done {first}\n"
    assert second in operator.ok("ready")
    closed = operator.ok("item", "close", second, "--cancel")
    assert closed.splitlines()[1] == f"every part of {epic} (Search) is finished: gemba item close {epic}"
    assert "closed:" in operator.ok("item", "show", first)
    assert operator.ok("item", "reopen", first) == f"open again {first}: unstarted\n"


def test_an_item_is_edited_claimed_and_taken_back_with_its_history(operator: Operator) -> None:
    id = add(operator, "Index", "--label", "api", "--assignee", "ann")

    operator.ok("item", "edit", id, "--label", "", "--assignee", "", "--order", "1", "--ratified", "--version", "1")
    early = operator.refused("item", "edit", id, "--order", "2", "--version", "99")
    assert early == "gemba: version is 2: there is no version 99 yet; look at it and decide again"
    found = shown(operator, id)
    assert (found["labels"], found["assignee"], found["user_order"], found["version"]) == ([], None, 1, 2)
    assert operator.ok("item", "claim", id, "--owner", "worker-1").startswith(f"claimed {id} by worker-1 until ")
    assert operator.ok("ready").endswith("Nothing is ready.\n")
    assert operator.ok("item", "release", id) == f"released {id}\n"
    assert operator.ok("item", "undo", id) == f"undone: {id} is unstarted, version 3\n"
    assert shown(operator, id)["assignee"] == "ann"
    history = operator.ok("item", "history", id)
    assert "assignee: nothing → ann" in history
    assert history.endswith("5 changes.\n")


def test_labels_are_shown_once_and_a_change_made_elsewhere_is_named(operator: Operator) -> None:
    id, other = add(operator, "Index", "--label", "api"), add(operator, "Query")
    operator.ok("item", "dep", other, "blocks", id)

    assert operator.ok("item", "show", id).count("api") == 1
    assert f"({other} blocks {id}) was made at {other}: undo it there" in operator.refused("item", "undo", id)
    assert "'RELATION'" in operator.refused("item", "dep", id, "foo", other, code=2)


def test_what_is_blocked_is_not_claimed_without_a_word(operator: Operator) -> None:
    first = add(operator, "Index")
    second = add(operator, "Query", "--blocked-by", first)

    said = operator.refused("item", "claim", second)
    assert said == f"gemba: {second} cannot be begun: it is blocked by {first} (unstarted: Index)"
    assert operator.ok("item", "claim", second, "--even-blocked").startswith(f"claimed {second} by ")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("item", "show", "none"), 1, "no work item has an id that begins or ends with none"),
        (("item", "edit", "x"), 2, "Nothing is to be changed"),
        (("item", "add", ""), 1, "gemba: title has 0 characters"),
        (("item", "add", "M3 Launch", "--kind", "milestone"), 1, "its title brings none"),
        (("item", "add", "x", "--parent", "none"), 1, "no work item has an id that begins or ends with none"),
        (("item", "list", "--state", "open"), 1, "state is 'open'; allowed: backlog, unstarted"),
        (("ready", "none"), 2, "ID goes with --explain."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    operator: Operator, words: tuple[str, ...], code: int, said: str
) -> None:
    done = operator.run(*words)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_circle_is_refused_at_the_terminal_and_a_relation_can_be_taken_away(operator: Operator) -> None:
    a, b = add(operator, "a"), add(operator, "b")

    assert operator.ok("item", "dep", a, "blocked-by", b) == f"{a} blocked-by {b}\n"
    refused = operator.run("item", "dep", a, "blocks", b)
    assert refused.returncode == 1
    assert f"{a} is blocked by {b}, which would be blocked by {a}" in refused.stderr
    assert operator.ok("item", "dep", a, "blocked-by", b, "--remove") == f"{a} blocked-by {b} no more\n"
    assert operator.ok("ready").endswith("2 ready.\n")


def test_what_drives_a_terminal_is_shown_and_what_no_text_may_have_is_replaced(operator: Operator) -> None:
    id = add(operator, "\x1b[31mred \udc80", "--description", "\x1b]0;gone\x07")

    assert "\x1b[31m" not in operator.ok("item", "show", id)
    assert "\\x1b[31mred" in operator.ok("item", "list")
