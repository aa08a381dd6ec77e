"""`gemba inbox --watch`: the list, then what comes and what is settled, until Ctrl-C, with a server or without."""

import json

import pytest

from tests.fixtures.operator import Operator, Watching, suffix
from tests.fixtures.servers import RunningServer


def next_json(watching: Watching) -> tuple[str, str]:
    item = json.loads(watching.line())
    return item["id"], item["state"]


def test_watching_shows_what_comes_and_what_is_settled(operator: Operator) -> None:
    first = operator.ask()
    watching = operator.watch("inbox", "--watch")
    watching.until(f"^advisory  {suffix(first)}  ")
    watching.until(r"^1 waits for you\.$")
    watching.until(r"^Watching; Ctrl-C ends it\.$")

    second = operator.ask(kind="blocker")
    watching.until(f"^BLOCKING  {suffix(second)}  ")

    operator.ok("answer", second, "use 8080")
    watching.until(f"^resolved  {suffix(second)}  ")
    watching.until("→ answered by the operator: use 8080")

    assert watching.interrupt()[::2] == (0, "")


def test_watching_with_json_is_one_escalation_a_line(operator: Operator) -> None:
    first = operator.ask()
    watching = operator.watch("inbox", "--watch", "--json")
    assert next_json(watching) == (first, "open")

    second = operator.ask()
    assert next_json(watching) == (second, "open")

    operator.ok("dismiss", first)
    assert next_json(watching) == (first, "dismissed")

    operator.say("UserPromptSubmit", {"prompt": "8080"})
    assert next_json(watching) == (second, "resolved")

    operator.ok("reopen", second)
    assert next_json(watching) == (second, "open")

    operator.say("SessionEnd", {})
    assert next_json(watching) == (second, "withdrawn")

    assert watching.interrupt() == (0, "", "")


def test_watching_an_empty_inbox_says_that_it_watches(operator: Operator) -> None:
    watching = operator.watch("inbox", "-w")

    assert watching.line() == "Nobody waits for you."
    assert watching.line() == "Watching; Ctrl-C ends it."
    assert watching.interrupt()[::2] == (0, "")


def test_watching_one_session_shows_nothing_of_others(operator: Operator) -> None:
    operator.ask("worker-2")
    watching = operator.watch("inbox", "--watch", "--json", "--session", "worker-1")

    operator.ask("worker-2")
    mine = operator.ask("worker-1")

    assert next_json(watching) == (mine, "open")


def test_watching_goes_on_when_the_server_ends_and_nothing_is_missed(
    alone: Operator, sqlite_server: RunningServer
) -> None:
    watching = alone.watch("inbox", "--watch", "--json")
    # Whatever it shows after its list, it has heard from the server.
    first = alone.ask()
    assert next_json(watching) == (first, "open")
    sqlite_server.post(f"/api/escalations/{first}/dismiss", {})
    assert next_json(watching) == (first, "dismissed")

    sqlite_server.stop()
    second = alone.ask()

    assert next_json(watching) == (second, "open")
    code, _, errors = watching.interrupt()
    assert (code, errors) == (0, "gemba: the server has ended; watching without it\n")


def test_watching_without_a_server_does_a_servers_work(alone: Operator) -> None:
    """Replies are written and snoozes end while somebody watches."""
    id = alone.ask()
    watching = alone.watch("inbox", "--watch", "--json")
    assert next_json(watching) == (id, "open")

    alone.ok("snooze", id, "1s")

    assert next_json(watching) == (id, "open")


@pytest.mark.parametrize("arguments", [["inbox", "--watch"], ["inbox", "--watch", "--json"]])
def test_watching_ends_when_its_reader_goes_away(alone: Operator, arguments: list[str]) -> None:
    first = alone.ask()
    watching = alone.watch(*arguments)
    watching.until(first[-6:])

    assert watching.hang_up(alone.ask) == (1, "")
