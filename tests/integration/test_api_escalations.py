"""Over HTTP: the inbox and what an operator does with an escalation, on both databases."""

import json
import threading
from typing import Any

import pytest
import time_machine
from sqlalchemy import update

from gemba import clock, wire
from gemba.escalations.store import escalations
from gemba.event import Filter
from gemba.store import events
from tests.fixtures.api import Api
from tests.fixtures.servers import Answer

DAY = 86_400


def ids(api: Api, query: str = "") -> list[str]:
    return [row["id"] for row in api.get(f"/api/escalations{query}")["escalations"]]


def act(api: Api, id: str, verb: str, body: Any = None) -> Answer:
    return api.request("POST", f"/api/escalations/{id}/{verb}", {} if body is None else body)


def system_card(api: Api, *actions: str) -> str:
    """A card of the system's, which no part raises by itself yet."""
    id = api.ask(options=list(actions))
    with api.app.database.transaction() as tx:
        tx.connection.execute(
            update(escalations).where(escalations.c.id == id).values(channel="system", kind="gate_failure")
        )
    return id


# ---- the list ------------------------------------------------------------------------------------------------------


def test_blocking_comes_first_and_the_oldest_first_within(api: Api) -> None:
    advisory = [api.ask("a"), api.ask("b")]
    blocking = [api.ask("c", kind="blocker"), api.ask("d", mode="cautious")]

    assert ids(api) == blocking + advisory


def test_age_is_when_it_was_asked_not_when_it_was_taken_in(api: Api) -> None:
    late = api.take("GembaAsk", {"kind": "question", "role": "coach", "text": "b"}, ts="2026-01-02T00:00:00Z")
    early = api.take("GembaAsk", {"kind": "question", "role": "coach", "text": "a"}, ts="2026-01-01T00:00:00Z")

    assert ids(api) == [early, late]


def test_filters_choose_by_state_kind_urgency_session_and_work_item(api: Api) -> None:
    question = api.ask(session="s-1", bead_id="gm-1")
    blocker = api.ask(session="s-2", kind="blocker", bead_id="gm-2")
    permission = api.permission(session="s-2")
    answered = api.ask(session="s-1", bead_id="gm-1")
    act(api, answered, "respond", {"text": "yes"})
    act(api, question, "ack")

    assert ids(api, "?state=open") == [blocker, permission]
    assert ids(api, "?state=acknowledged,resolved") == [question, answered]
    assert ids(api, "?state=unresolved") == [blocker, permission, question]
    assert ids(api, "?state=unresolved,resolved") == [blocker, permission, question, answered]
    assert ids(api, "?kind=permission_prompt") == [permission]
    assert ids(api, "?urgency=advisory") == [question, answered]
    assert ids(api, "?session=s-2") == [blocker, permission]
    assert ids(api, "?work_item=gm-1") == [question, answered]
    assert ids(api, "?work_item=gm-1&state=unresolved&urgency=advisory&session=s-1&kind=question") == [question]
    assert ids(api, "?session=nobody") == []
    assert len(ids(api)) == 4


MISFIT_QUERIES = [
    ("state=asleep", "/state", "invalid_value"),
    ("state=open,", "/state", "invalid_value"),
    ("urgency=high", "/urgency", "invalid_value"),
    ("limit=0", "/limit", "invalid_value"),
    ("limit=501", "/limit", "invalid_value"),
    ("limit=many", "/limit", "wrong_type"),
    ("cursor=nonsense", "/cursor", "invalid_value"),
    ("cursor=WzEsMl0=", "/cursor", "invalid_value"),
    ("colour=red", "/colour", "unknown_field"),
    ("kind=a&kind=b", "/kind", "repeated_parameter"),
    ("session=%00", "/session", "invalid_value"),
]


def test_a_query_that_does_not_fit_is_refused_with_its_place(api: Api) -> None:
    refused = [api.request("GET", f"/api/escalations?{query}") for query, _, _ in MISFIT_QUERIES]

    assert {answer.status for answer in refused} == {422}
    told = [
        (query, answer.json["pointer"], answer.json["code"])
        for (query, *_), answer in zip(MISFIT_QUERIES, refused, strict=True)
    ]
    assert told == MISFIT_QUERIES


def test_a_refused_query_says_what_is_allowed(api: Api) -> None:
    assert api.request("GET", "/api/escalations?limit=501").json["allowed"] == "a whole number from 1 to 500"
    assert api.request("GET", "/api/escalations?urgency=high").json["allowed"] == ["blocking", "advisory"]
    assert "unresolved" in api.request("GET", "/api/escalations?state=asleep").json["allowed"]


def test_pages_show_every_escalation_once_while_new_ones_arrive(api: Api) -> None:
    before = {api.ask(f"a{n}", kind="blocker" if n % 3 == 0 else "question") for n in range(7)}
    seen: list[str] = []
    cursor, total = "", 0
    while True:
        page = api.get(f"/api/escalations?limit=2{cursor}")
        assert page["total"] == len(before) + total
        seen += [row["id"] for row in page["escalations"]]
        # One that sorts before the cursor, and one that sorts behind it.
        api.ask("new", kind="blocker")
        api.ask("new")
        total += 2
        if page["next_cursor"] is None or len(seen) > 30:
            break
        cursor = f"&cursor={page['next_cursor']}"
        act(api, seen[0], "respond", {"text": "done"})

    assert len(seen) == len(set(seen))
    assert before <= set(seen)


def test_pages_hold_while_asks_of_the_same_moment_are_split(api: Api) -> None:
    same = {
        api.take("GembaAsk", {"kind": "question", "role": "coach", "text": "?"}, ts="2026-01-01T00:00:00Z")
        for _ in range(5)
    }
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"/api/escalations?limit=2{cursor}")
        seen += [row["id"] for row in page["escalations"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"

    assert (len(seen), set(seen)) == (5, same)


def test_total_counts_what_the_filters_choose_and_as_of_is_the_log_s_last_event(api: Api) -> None:
    for _ in range(3):
        api.ask()
    api.ask(session="other")

    page = api.get("/api/escalations?session=session-1&limit=1")

    assert (len(page["escalations"]), page["total"], page["as_of"]) == (1, 3, 4)


def test_an_empty_inbox_is_an_empty_list(api: Api) -> None:
    assert api.get("/api/escalations") == {"escalations": [], "total": 0, "next_cursor": None, "as_of": 0}


# ---- one -----------------------------------------------------------------------------------------------------------


def test_an_escalation_shows_every_field_of_its_ask(api: Api) -> None:
    id = api.ask(
        "Which colour?",
        title="Colour",
        options=["red", "green"],
        bead_id="gm-1",
        mode="cautious",
        wait=True,
        cwd="/nowhere",
    )

    shown = api.get(f"/api/escalations/{id}")

    assert clock.parse(shown.pop("opened_at")) is not None
    assert clock.parse(shown.pop("changed_at")) is not None
    assert clock.parse(shown.pop("received_at")) is not None
    assert shown == {
        "id": id,
        "session_id": "session-1",
        "agent_type": "test",
        "kind": "question",
        "channel": "tool_call",
        "urgency": "blocking",
        "state": "open",
        "delivery": "none",
        "delivery_note": None,
        "role": "manager",
        "mode": "cautious",
        "title": "Colour",
        "text": "Which colour?",
        "text_cut": False,
        "options": ["red", "green"],
        "schema": None,
        "bead_id": "gm-1",
        "waiting": True,
        "waiting_until": None,
        "seen_at": None,
        "snoozed_until": None,
        "cwd": "/nowhere",
        "worktree": None,
        "commit": None,
        "branch": None,
        "stale": None,
        "group_id": id,
        "group_size": 1,
        "precedent": None,
        "policy": None,
        "reminders": 0,
        "expires_at": None,
        "proposal": None,
        "held_until": None,
        "late": False,
        "turn_session": None,
        "attempts": 0,
        "next_attempt_at": None,
        "resolution": None,
    }


def test_a_long_text_is_cut_in_the_list_and_whole_by_its_id(api: Api) -> None:
    text = "word " * 1000
    id = api.ask(text)

    (listed,) = api.get("/api/escalations")["escalations"]
    alone = api.get(f"/api/escalations/{id}")

    assert (len(listed["text"]), listed["text_cut"]) == (2000, True)
    assert (alone["text"], alone["text_cut"]) == (text, False)


def test_an_ask_on_an_older_commit_is_marked_stale(api: Api) -> None:
    commit, branch = wire.git_head(str(api.workspace))
    at_head = api.ask(cwd=str(api.workspace), commit=commit, branch=branch)
    behind = api.ask(cwd=str(api.workspace), commit="0" * 40)

    assert api.get(f"/api/escalations/{at_head}")["stale"] is None
    unknown = dict.fromkeys(("files", "insertions", "deletions"))  # git knows no such commit
    stale = {"commit": "0" * 40, "head": commit, "branch": None, "head_branch": branch, "gone": False, **unknown}
    assert api.get(f"/api/escalations/{behind}")["stale"] == stale
    assert [row["stale"] for row in api.get("/api/escalations")["escalations"]] == [None, stale]


def test_the_recent_order_shows_what_changed_last_first_page_by_page(api: Api) -> None:
    blocking, first, second = api.ask(kind="blocker"), api.ask(), api.ask()
    act(api, first, "ack")
    act(api, blocking, "respond", {"text": "yes"})

    assert ids(api, "?order=recent") == [blocking, first, second]
    page = api.get("/api/escalations?order=recent&limit=2")
    assert ids(api, f"?order=recent&limit=2&cursor={page['next_cursor']}") == [second]
    assert ids(api, "?order=inbox") == [blocking, first, second]


def test_replies_are_chosen_by_where_they_are(api: Api) -> None:
    api.ask()
    pending, delivered = api.ask(session="a"), api.ask(session="b")
    for id in (pending, delivered):
        act(api, id, "respond", {"text": "yes"})
    api.take("GembaReplyRead", {"event_id": delivered}, "b")

    assert ids(api, "?delivery=pending") == [pending]
    assert ids(api, "?delivery=delivered") == [delivered]
    assert ids(api, "?delivery=undelivered") == []


@pytest.mark.parametrize("path", ["/api/escalations/unknown", "/api/escalations/%00", f"/api/escalations/{'x' * 300}"])
def test_an_id_that_names_nothing_is_not_found(api: Api, path: str) -> None:
    missing = api.request("GET", path)

    assert (missing.status, missing.json["code"]) == (404, "not_found")


# ---- answers -------------------------------------------------------------------------------------------------------


def test_a_text_resolves_a_question_and_is_put_on_its_way(api: Api) -> None:
    id = api.ask()

    answered = act(api, id, "respond", {"text": "  use 8080\n"}).json

    assert (answered["state"], answered["delivery"]) == ("resolved", "pending")
    resolution = answered["resolution"]
    assert clock.parse(resolution.pop("at")) is not None
    assert resolution == {
        "outcome": "answered",
        "text": "use 8080",
        "option": None,
        "value": None,
        "decision": None,
        "action": None,
        "by": "operator",
        "who": "operator",
        "confirmed_by": None,
        "rule_id": None,
        "late": False,
        "walk_id": None,
    }
    api.app.write_replies()
    reply = json.loads((api.home / "replies" / f"{id}.json").read_bytes())
    assert (reply["event_id"], reply["outcome"], reply["text"]) == (id, "answered", "use 8080")


def test_an_option_answers_with_its_words(api: Api) -> None:
    id = api.ask(options=["red", "green"])

    resolution = act(api, id, "respond", {"option": 2}).json["resolution"]

    assert (resolution["text"], resolution["option"]) == ("green", 2)


@pytest.mark.parametrize(
    ("body", "text"), [({"decision": "yes"}, "yes"), ({"decision": "modify", "text": "not there"}, "not there")]
)
def test_a_client_s_prompt_is_answered_with_a_decision(api: Api, body: dict[str, str], text: str) -> None:
    answered = act(api, api.permission(), "respond", body).json

    assert answered["state"] == "resolved"
    assert (answered["resolution"]["decision"], answered["resolution"]["text"]) == (body["decision"], text)


def test_a_system_s_card_is_answered_with_one_of_its_actions(api: Api) -> None:
    answered = act(api, system_card(api, "retry", "skip"), "respond", {"action": "skip", "text": "known flake"}).json

    assert (answered["state"], answered["delivery"]) == ("resolved", "none")
    assert (answered["resolution"]["action"], answered["resolution"]["text"]) == ("skip", "known flake")


MISFIT_ANSWERS: list[tuple[str, Any, str, str, Any]] = [
    ("ask", {}, "/text", "missing_field", "a text that is not empty, or an option's number"),
    ("ask", {"text": " \n"}, "/text", "missing_field", "a text that is not empty, or an option's number"),
    ("ask", {"text": "x" * 100_001}, "/text", "too_long", 100_000),
    ("ask", {"option": 3}, "/option", "invalid_value", "1 to 2"),
    ("ask", {"option": 0}, "/option", "invalid_value", "1 to 2"),
    ("ask", {"option": 10**30}, "/option", "invalid_value", "1 to 2"),
    ("ask", {"option": "1"}, "/option", "wrong_type", "a whole number"),
    ("ask", {"option": 1, "text": "both"}, "/text", "unexpected_field", ["option"]),
    ("ask", {"decision": "yes"}, "/decision", "unexpected_field", ["text"]),
    ("ask", {"action": "retry"}, "/action", "unexpected_field", ["text"]),
    ("ask", {"reply": "hi"}, "/reply", "unknown_field", ["text", "option", "value", "decision", "action", "hold"]),
    ("ask", [], "", "wrong_type", "object"),
    ("permission", {"text": "yes"}, "/decision", "missing_field", ["yes", "no", "modify"]),
    ("permission", {"decision": "maybe"}, "/decision", "invalid_value", ["modify", "no", "yes"]),
    ("permission", {"decision": "modify"}, "/text", "missing_field", "what to do instead, with decision modify"),
    ("permission", {"option": 1}, "/option", "unexpected_field", ["decision", "text"]),
    ("system", {"text": "retry"}, "/action", "invalid_value", ["retry", "skip"]),
    ("system", {"action": "explode"}, "/action", "invalid_value", ["retry", "skip"]),
    ("system", {"option": 1}, "/option", "unexpected_field", ["action", "text"]),
]


def test_an_answer_of_the_wrong_shape_is_refused_with_its_place_and_what_is_allowed(api: Api) -> None:
    cards = {
        "ask": api.ask(options=["red", "green"], session="asking"),
        "permission": api.permission(session="permission"),
        "system": system_card(api, "retry", "skip"),
    }

    for channel, body, *expected in MISFIT_ANSWERS:
        refused = act(api, cards[channel], "respond", body)
        told = refused.json
        assert refused.status == 422, (body, told)
        assert [told["pointer"], told["code"], told["allowed"]] == expected, (body, told)
    assert set(ids(api, "?state=open")) == set(cards.values())


def test_characters_that_no_database_takes_are_replaced_in_an_answer(api: Api) -> None:
    answered = act(api, api.ask(), "respond", {"text": "a\0b"}).json

    assert answered["resolution"]["text"] == "a\ufffdb"


# ---- the other verbs -----------------------------------------------------------------------------------------------


def test_acknowledging_tells_once_that_it_was_seen(api: Api) -> None:
    id = api.ask()

    assert act(api, id, "ack").json["state"] == "acknowledged"
    told = api.get("/api/escalations")["as_of"]
    assert act(api, id, "ack").json["state"] == "acknowledged"
    assert api.get("/api/escalations")["as_of"] == told


def test_dismissing_declines_with_a_reason(api: Api) -> None:
    id = api.ask()

    dismissed = act(api, id, "dismiss", {"text": "not now"}).json

    assert dismissed["state"] == "dismissed"
    assert (dismissed["resolution"]["outcome"], dismissed["resolution"]["text"]) == ("declined", "not now")
    api.app.write_replies()
    assert json.loads((api.home / "replies" / f"{id}.json").read_bytes())["outcome"] == "declined"


def test_a_snooze_of_seconds_ends_then_and_the_escalation_comes_back(api: Api) -> None:
    id = api.ask()
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False) as time:
        snoozed = act(api, id, "snooze", {"seconds": 60}).json
        assert (snoozed["state"], snoozed["snoozed_until"]) == ("snoozed", "2030-01-01T00:01:00.000000Z")

        time.shift(59)
        api.app.catch_up()
        assert api.get(f"/api/escalations/{id}")["state"] == "snoozed"

        time.shift(1)
        api.app.catch_up()
        back = api.get(f"/api/escalations/{id}")
        assert (back["state"], back["snoozed_until"]) == ("open", None)


def test_a_snooze_until_a_time_understands_any_zone(api: Api) -> None:
    id = api.ask()
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False):
        snoozed = act(api, id, "snooze", {"until": "2030-01-02T09:00:00+02:00"}).json

    assert snoozed["snoozed_until"] == "2030-01-02T07:00:00.000000Z"


MISFIT_SNOOZES: list[tuple[dict[str, Any], str]] = [
    ({}, "/seconds"),
    ({"seconds": 5, "until": "2030-01-01T01:00:00Z"}, "/seconds"),
    ({"seconds": 0}, "/seconds"),
    ({"seconds": -5}, "/seconds"),
    ({"seconds": 30 * DAY + 1}, "/seconds"),
    ({"seconds": 10**40}, "/seconds"),
    ({"until": "2029-12-31T23:59:59Z"}, "/until"),
    ({"until": "2030-01-31T00:00:01Z"}, "/until"),
    ({"until": "2030-01-01T01:00:00"}, "/until"),
    ({"until": "tomorrow"}, "/until"),
    ({"until": ""}, "/until"),
]


def test_a_snooze_lies_in_the_future_and_within_thirty_days(api: Api) -> None:
    id = api.ask()
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False):
        refused = [act(api, id, "snooze", body) for body, _ in MISFIT_SNOOZES]

    assert {answer.status for answer in refused} == {422}
    assert [answer.json["pointer"] for answer in refused] == [pointer for _, pointer in MISFIT_SNOOZES]
    assert api.get(f"/api/escalations/{id}")["state"] == "open"


def test_the_longest_snooze_is_thirty_days(api: Api) -> None:
    assert act(api, api.ask(), "snooze", {"seconds": 30 * DAY}).status == 200


def test_a_snoozed_escalation_can_be_seen_and_answered(api: Api) -> None:
    seen, answered = api.ask(), api.ask()
    for id in (seen, answered):
        act(api, id, "snooze", {"seconds": 3600})

    assert act(api, seen, "ack").json["snoozed_until"] is None
    assert act(api, answered, "respond", {"text": "now"}).json["snoozed_until"] is None


def test_what_typing_in_the_pane_resolved_can_be_opened_again(api: Api) -> None:
    id = api.ask()
    api.take("UserPromptSubmit", {"prompt": "something else"})
    resolved = api.get(f"/api/escalations/{id}")
    assert (resolved["state"], resolved["resolution"]["by"]) == ("resolved", "pane")

    reopened = act(api, id, "reopen").json

    assert (reopened["state"], reopened["resolution"], reopened["delivery"]) == ("open", None, "none")
    assert act(api, id, "respond", {"text": "8080"}).status == 200


def test_what_the_operator_resolved_cannot_be_opened_again(api: Api) -> None:
    id = api.ask()
    act(api, id, "respond", {"text": "8080"})

    refused = act(api, id, "reopen")

    assert (refused.status, refused.json["code"]) == (409, "not_reopenable")
    assert refused.json["escalation"]["resolution"]["text"] == "8080"
    assert api.get(f"/api/escalations/{id}")["state"] == "resolved"


def test_nothing_else_can_be_opened_again(api: Api) -> None:
    cards = {state: api.ask(session=state) for state in ("open", "acknowledged", "snoozed", "dismissed", "withdrawn")}
    act(api, cards["acknowledged"], "ack")
    act(api, cards["snoozed"], "snooze", {"seconds": 60})
    act(api, cards["dismissed"], "dismiss")
    api.take("SessionEnd", {}, "withdrawn")

    for state, id in cards.items():
        refused = act(api, id, "reopen")
        assert (refused.status, refused.json["code"], refused.json["found"]) == (409, "not_reopenable", state)
        assert api.get(f"/api/escalations/{id}")["state"] == state


# ---- who comes second ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "body"),
    [("respond", {"text": "9090"}), ("dismiss", {}), ("snooze", {"seconds": 60}), ("ack", {})],
)
def test_a_second_decision_is_a_conflict_that_shows_the_first(api: Api, verb: str, body: Any) -> None:
    id = api.ask()
    act(api, id, "respond", {"text": "8080"})

    refused = act(api, id, verb, body)

    assert (refused.status, refused.json["code"]) == (409, "already_resolved")
    assert refused.json["escalation"]["resolution"]["text"] == "8080"
    assert api.get(f"/api/escalations/{id}")["resolution"]["text"] == "8080"


def test_of_operators_who_answer_at_once_one_wins_and_the_others_see_its_answer(api: Api) -> None:
    id = api.ask()
    barrier = threading.Barrier(6)
    answers: list[Answer] = []

    def operate(n: int) -> None:
        barrier.wait()
        answers.append(act(api, id, "respond", {"text": f"answer {n}"}) if n % 2 else act(api, id, "dismiss"))

    threads = [threading.Thread(target=operate, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    (won,) = [answer for answer in answers if answer.status == 200]
    lost = [answer for answer in answers if answer.status == 409]
    assert len(lost) == 5
    assert {answer.json["code"] for answer in lost} == {"already_resolved"}
    assert all(answer.json["escalation"]["resolution"] == won.json["resolution"] for answer in lost)
    assert api.get(f"/api/escalations/{id}")["resolution"] == won.json["resolution"]
    with api.app.database.read() as connection:
        names = [event.name for event in events.read_after(connection, 0, 100, Filter(ref=id))]
    assert len([name for name in names if name in ("escalation.resolved", "escalation.dismissed")]) == 1
