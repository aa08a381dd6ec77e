"""The operator's own commands, on the command line: the same with a server and without one."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemba import wire
from gemba.testing import retry_until
from tests.fixtures.operator import Operator, suffix
from tests.fixtures.servers import RunningServer


def shown(operator: Operator, id: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(operator.ok("inbox", id, "--json"))
    return document


def reply(operator: Operator, id: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(wire.reply_path(str(operator.home), id)).read_bytes())
    return document


# ---- the list ---------------------------------------------------------------------------------------------------


def test_an_empty_inbox_says_so(operator: Operator) -> None:
    assert operator.ok("inbox") == "Nobody waits for you.\n"
    assert operator.ok("inbox", "--all") == "Nothing was asked yet.\n"
    assert operator.ok("assumptions") == "No agent has decided anything alone.\n"
    assert json.loads(operator.ok("inbox", "--json")) == {
        "escalations": [],
        "total": 0,
        "next_cursor": None,
        "as_of": 0,
    }


def test_the_inbox_shows_what_waits_blocking_first(operator: Operator) -> None:
    advisory = operator.ask(options=["80", "81"], bead_id="shop-12", wait=True)
    blocking = operator.ask("worker-2", kind="blocker", title="Build", text="It is\nbroken.")

    lines = re.sub(r"\b\d+s ago", "now", operator.ok("inbox")).splitlines()

    assert lines == [
        f"BLOCKING  {suffix(blocking)}  blocker · test · worker-2 · now",
        "    Build",
        "    It is",
        "    broken.",
        f"    answer: gemba answer {suffix(blocking)} TEXT",
        "",
        f"advisory  {suffix(advisory)}  question · test · worker-1 · shop-12 · now · said to wait",
        "    Which port?",
        "      1) 80",
        "      2) 81",
        f"    answer: gemba answer {suffix(advisory)} --option N",
        "",
        "2 wait for you.",
    ]


def test_the_inbox_can_be_narrowed_and_cut(served: Operator) -> None:
    first, other = served.ask(), served.ask("worker-2")

    assert [row["id"] for row in json.loads(served.ok("inbox", "--json"))["escalations"]] == [first, other]
    assert suffix(first) not in served.ok("inbox", "--session", "worker-2")
    assert "2 wait for you, 1 of them shown." in served.ok("inbox", "--limit", "1")
    assert served.ok("inbox", "--session", "nobody") == "Nobody waits for you in session nobody.\n"


def test_a_long_text_is_cut_in_the_list_and_whole_by_its_id(served: Operator) -> None:
    id = served.ask(text="\n".join(f"line {number}" for number in range(50)))

    listed = served.ok("inbox")
    assert "line 1\n" in listed
    assert "line 2 …" in listed
    assert "line 3" not in listed

    whole = served.ok("inbox", suffix(id))
    assert "line 49" in whole
    assert id in whole
    assert whole.endswith("\nAnswer with: gemba answer ID TEXT\n")


def test_a_clients_own_prompt_says_how_it_is_answered(served: Operator) -> None:
    id = served.say("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}})

    assert "gemba answer ID --decision yes|no|modify" in served.ok("inbox")
    assert served.refused("answer", id, "yes").startswith("gemba: decision is missing")

    answered = served.ok("answer", id, "--decision", "yes")

    assert answered.startswith(f"answered {id}: yes\nIt is not delivered: ")
    assert shown(served, id)["resolution"]["decision"] == "yes"


def test_what_is_settled_is_shown_with_how_it_ended(served: Operator) -> None:
    answered, dismissed, typed = served.ask(), served.ask(), served.ask("worker-2")
    served.ok("answer", answered, "use 8080")
    served.ok("dismiss", dismissed, "not now")
    served.say("UserPromptSubmit", {"prompt": "9090"}, "worker-2")

    listed = served.ok("inbox", "--all")

    assert f"resolved  {suffix(answered)}" in listed
    assert "→ answered by the operator: use 8080" in listed
    assert "→ declined by the operator: not now" in listed
    assert f"resolved  {suffix(typed)}" in listed
    assert "→ answered in the pane: 9090" in listed
    assert "3 in all." in listed
    assert served.ok("inbox") == "Nobody waits for you.\n"


def test_all_has_what_waits_first_and_behind_it_what_was_settled_last(served: Operator) -> None:
    first, second, waits = served.ask(), served.ask(), served.ask("worker-2")
    served.ok("answer", second, "two")
    served.ok("answer", first, "one")

    page = json.loads(served.ok("inbox", "--all", "--json"))
    short = json.loads(served.ok("inbox", "--all", "--limit", "2", "--json"))

    assert [item["id"] for item in page["escalations"]] == [waits, first, second]
    assert ([item["id"] for item in short["escalations"]], short["total"]) == ([waits, first], 3)
    assert "3 in all, 1 of them shown." in served.ok("inbox", "--all", "--limit", "1")


def test_where_cards_are_answered_in_different_ways_each_says_in_which(served: Operator) -> None:
    free, choice = served.ask(), served.ask("worker-2", options=["left", "right"])

    listed = served.ok("inbox")

    assert f"answer: gemba answer {suffix(free)} TEXT" in listed
    assert f"answer: gemba answer {suffix(choice)} --option N" in listed
    assert listed.endswith("2 wait for you.\n")
    assert "--search is empty" in served.refused("inbox", "--search", " ", code=2)


# ---- the actions ------------------------------------------------------------------------------------------------


def test_an_answer_reaches_the_agents_file(operator: Operator) -> None:
    id = operator.ask()

    told = operator.ok("answer", suffix(id), "use 8080")

    assert told == f"answered {id}: use 8080\nThe agent has not read it yet.\n"
    item = shown(operator, id)
    assert (item["state"], item["delivery"], item["resolution"]["text"]) == ("resolved", "pending", "use 8080")
    if operator.server is not None:
        retry_until(lambda: Path(wire.reply_path(str(operator.home), id)).exists())
    assert reply(operator, id).items() >= {"event_id": id, "outcome": "answered", "text": "use 8080"}.items()


def test_an_option_is_chosen_by_its_number(served: Operator) -> None:
    id = served.ask(options=["80", "81"])

    answered = json.loads(served.ok("answer", suffix(id), "-o", "2", "--json"))

    assert (answered["resolution"]["option"], answered["resolution"]["text"]) == (2, "81")


def test_an_answer_is_read_from_standard_input(served: Operator) -> None:
    id = served.ask()

    served.ok("answer", id, "-", stdin="first line\nsecond é line\n")

    assert shown(served, id)["resolution"]["text"] == "first line\nsecond é line"


def test_words_that_are_not_unicode_are_taken_as_far_as_they_are(served: Operator) -> None:
    given, piped = served.ask(), served.ask()

    served.ok("answer", given, "a\udcffb")
    served.ok("answer", piped, "-", stdin="a\udcffb")

    assert shown(served, given)["resolution"]["text"] == "a\ufffdb"
    assert shown(served, piped)["resolution"]["text"] == "a\ufffdb"


def test_an_escalation_is_answered_once_and_the_second_hears_the_first(operator: Operator) -> None:
    id = operator.ask()
    operator.ok("answer", suffix(id), "use 8080")

    for arguments in (["answer", suffix(id), "use 9090"], ["dismiss", suffix(id)], ["snooze", suffix(id)]):
        assert operator.refused(*arguments) == "gemba: it is resolved already: use 8080"


def test_an_answer_that_does_not_fit_is_refused_with_what_does(served: Operator) -> None:
    id = served.ask(options=["80", "81"])

    assert served.refused("answer", id, "--option", "3") == "gemba: option is 3; allowed: 1 to 2"
    assert served.refused("answer", id, " ").startswith("gemba: text is missing; allowed: ")
    assert served.refused("answer", id, "--decision", "yes").startswith("gemba: decision does not fit here")
    assert shown(served, id)["state"] == "open"


def test_dismissing_declines(operator: Operator) -> None:
    id = operator.ask()

    assert operator.ok("dismiss", suffix(id), "not now").startswith(f"dismissed {id}")

    item = shown(operator, id)
    assert (item["state"], item["resolution"]["outcome"], item["resolution"]["text"]) == (
        *("dismissed", "declined"),
        "not now",
    )


def test_snoozing_puts_away_for_a_while(operator: Operator) -> None:
    id = operator.ask()

    assert re.match(rf"snoozed {id} until (\d{{4}}-\d\d-\d\d )?\d\d:\d\d", operator.ok("snooze", suffix(id)))
    assert re.match(rf"snoozed {id} until \d{{4}}-\d\d-\d\d \d\d:\d\d\n", operator.ok("snooze", suffix(id), "20d"))

    assert shown(operator, id)["state"] == "snoozed"
    assert "· snoozed until " in operator.ok("inbox")


def test_a_snooze_that_is_over_is_noticed_without_a_server(alone: Operator) -> None:
    id = alone.ask()
    alone.ok("snooze", id, "1s")

    retry_until(lambda: shown(alone, id)["state"] == "open", timeout=30)


def test_a_snooze_of_no_time_or_too_much_is_refused(served: Operator) -> None:
    id = served.ask()

    for time in ("0", "31d", "9999999d"):
        assert "at most 30 days" in served.refused("snooze", id, time)


def test_what_typing_resolved_is_opened_again(operator: Operator) -> None:
    id = operator.ask()
    operator.say("UserPromptSubmit", {"prompt": "something else"})

    assert operator.ok("reopen", suffix(id)) == f"open again: {id}\n"

    assert shown(operator, id)["state"] == "open"
    assert "cannot be reopened" in operator.refused("reopen", suffix(id))


def test_an_assumption_is_shown_and_overturned(operator: Operator) -> None:
    id = operator.ask(kind="assumption", chose="8080", bead_id="shop-12")

    listed = operator.ok("assumptions")
    assert re.match(rf"{suffix(id)}  test · worker-1 · shop-12 · \d+s ago\n", listed)
    assert "asked itself: Which port?\n    chose: 8080\n" in listed

    assert operator.ok("overturn", suffix(id), "use 9090").startswith(f"overturned {id}")
    assert "overturned: use 9090" in operator.ok("assumptions", "--session", "worker-1")
    assert operator.refused("overturn", suffix(id), "use 7070") == "gemba: it was overturned already"


# ---- ids --------------------------------------------------------------------------------------------------------


def test_an_id_may_be_given_by_its_beginning_or_its_end(served: Operator) -> None:
    served.say("GembaAsk", {"kind": "question", "role": "manager", "text": "x"}, event_id="another-one")
    id = served.ask()

    for part in (id, id[-6:], id[-20:], id[:18]):
        assert shown(served, part)["id"] == id


def test_an_id_that_fits_several_is_refused(served: Operator) -> None:
    for id in ("one-abcd", "two-abcd", "abcd-three", "four"):
        served.say("GembaAsk", {"kind": "question", "role": "manager", "text": "x"}, event_id=id)

    for command in (["answer", "abcd", "x"], ["dismiss", "abcd"], ["snooze", "abcd"], ["inbox", "abcd"]):
        assert served.refused(*command) == "gemba: abcd fits 3 escalations: give more of the id"
    assert shown(served, "four")["id"] == "four"


def test_one_that_is_meant_goes_before_those_that_are_settled(served: Operator) -> None:
    for id in ("one-abcd", "two-abcd"):
        served.say("GembaAsk", {"kind": "question", "role": "manager", "text": "x"}, event_id=id)
    served.ok("answer", "one-abcd", "x")

    assert served.ok("answer", "abcd", "y").startswith("answered two-abcd: y")


def test_an_id_that_nothing_has_is_refused(operator: Operator) -> None:
    id = operator.ask()

    assert operator.refused("answer", "abcd", "x") == "gemba: no escalation has an id that begins or ends with abcd"
    assert operator.refused("overturn", "abcd", "x") == "gemba: no assumption has an id that begins or ends with abcd"
    too_little = f"gemba: {id[:2]} is too little of an id; allowed: at least 4 characters of it"
    assert operator.refused("answer", id[:2], "x") == too_little


def test_what_can_be_no_id_is_refused(served: Operator) -> None:
    for id in ("../x", "a b", "", "a/b", "é", "x" * 129):
        assert served.refused("answer", id, "x") == f"gemba: {id!r} is not an id"


def test_short_ids_are_as_long_as_they_must_be(served: Operator) -> None:
    for id in ("one-abcdefg", "two-xbcdefg"):
        served.say("GembaAsk", {"kind": "question", "role": "manager", "text": "x"}, event_id=id)

    listed = served.ok("inbox")

    assert "advisory  abcdefg  " in listed
    assert "advisory  xbcdefg  " in listed


# ---- both doors -------------------------------------------------------------------------------------------------


def test_a_server_makes_no_difference_to_what_is_printed(
    alone: Operator, start_server: Callable[..., RunningServer]
) -> None:
    blocking = alone.ask(kind="blocker", options=["a", "b"], title="T", text="x" * 3000)
    alone.ask(kind="assumption", chose="8080")
    settled = alone.ask()
    alone.ok("answer", settled, "8080")
    commands = [
        ["inbox", "--all"],
        ["inbox", "--all", "--json", "--limit", "1"],
        ["inbox", blocking],
        ["assumptions", "--json"],
        ["answer", settled, "again"],
        ["answer", blocking, "--option", "7"],
        ["reopen", settled],
    ]

    def outcome(arguments: list[str]) -> tuple[int, str, str]:
        done = alone.run(*arguments)
        return done.returncode, re.sub(r"\b\d+[sm] ago", "ago", done.stdout), done.stderr

    without = [outcome(arguments) for arguments in commands]
    start_server()

    assert [outcome(arguments) for arguments in commands] == without


def test_a_server_that_was_killed_leaves_the_commands_working(sqlite_server: RunningServer) -> None:
    id = sqlite_server.append("GembaAsk", {"kind": "question", "role": "manager", "text": "x"})
    sqlite_server.kill()
    assert (sqlite_server.workspace / ".gemba" / "server.json").exists()
    operator = Operator(sqlite_server.workspace, sqlite_server.home)

    operator.ok("answer", id, "8080")

    assert reply(operator, id)["text"] == "8080"


def test_what_is_done_without_a_server_is_seen_by_the_one_that_starts_next(
    alone: Operator, start_server: Callable[..., RunningServer]
) -> None:
    id = alone.ask()
    alone.ok("answer", id, "8080")

    server = start_server()

    assert server.get(f"/api/escalations/{id}")["resolution"]["text"] == "8080"
