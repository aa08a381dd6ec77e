"""Rules: made from an escalation, used on the next ask of the same wording, seen and revoked, on both databases."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from gemba import wire
from gemba.action import Nothing
from gemba.errors import Conflict
from gemba.escalations import projection, rules
from gemba.escalations.policy import Policies, Policy, Verify
from gemba.escalations.store import escalations
from gemba.event import Draft
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs
from tests.fixtures.operator import Operator, suffix


def one(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/escalations/{id}")
    return found


def make(api: Api, id: str, **answer: Any) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/api/rules", {"escalation_id": id, **answer})
    return made


def listed(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/api/rules")["rules"]
    return found


def test_a_rule_answers_the_next_ask_of_the_same_wording_at_once(api: Api) -> None:
    first = api.ask("Which port should I use?", "s-1")
    rule = make(api, first, text="8080")
    later = api.ask("what port should we use, please", "s-2")

    found = one(api, later)
    assert found["state"] == "resolved"
    assert found["resolution"] == {
        "outcome": "answered",
        "text": "8080",
        "option": None,
        "value": None,
        "decision": None,
        "action": None,
        "by": "rule",
        "who": "operator",
        "confirmed_by": None,
        "rule_id": rule["id"],
        "late": False,
        "walk_id": None,
        "at": found["resolution"]["at"],
    }
    api.app.write_replies()
    reply = json.loads(Path(wire.reply_path(str(api.home), later)).read_bytes())
    assert (reply["outcome"], reply["text"]) == ("answered", "8080")
    assert one(api, first)["state"] == "open"


def test_a_rule_is_listed_with_what_it_was_made_from_and_its_uses(api: Api) -> None:
    first = api.ask("Which port?", "s-1", options=["80", "81"])
    made = make(api, first, option=2)
    assert made["waiting"] == 1
    for number in range(3):
        api.ask("Which port?", f"s-{number}", options=["80", "81"])

    (rule,) = listed(api)
    assert rule == {
        "id": made["id"],
        "made_at": made["made_at"],
        "made_by": "operator",
        "kind": "question",
        "text": "Which port?",
        "options": ["80", "81"],
        "schema": None,
        "answer": {"text": "81", "option": 2, "value": None},
        "source": first,
        "uses": 3,
        "last_used_at": rule["last_used_at"],
        "revoked_at": None,
        "revoked_by": None,
    }
    assert rule["last_used_at"] >= rule["made_at"]


def test_events_tell_of_a_rule(api: Api, logs: Logs) -> None:
    rule = make(api, api.ask(), text="8080")
    api.post(f"/api/rules/{rule['id']}/revoke", {})

    made, revoked = logs.told("rule.made", "rule.revoked")
    assert (made.name, made.ref, revoked.name, revoked.ref) == ("rule.made", rule["id"], "rule.revoked", rule["id"])
    assert msgspec.json.decode(made.payload)["waiting"] == 1
    assert msgspec.json.decode(revoked.payload)["rule"]["revoked_by"] == "operator"


def test_the_option_is_found_by_its_words_whatever_its_number(api: Api) -> None:
    make(api, api.ask("Which store?", options=["Redis", "memory"]), option=1)
    later = api.ask("Which store?", options=["Memory", "redis"])

    assert one(api, later)["resolution"]["option"] == 2
    assert one(api, later)["resolution"]["text"] == "redis"


def test_a_typed_answer_is_given_as_the_value_it_is(api: Api) -> None:
    schema = {"type": "object", "properties": {"port": {"type": "integer", "maximum": 65535}}, "required": ["port"]}
    first = api.ask("Which port?", "s-1", schema=schema)
    refused = api.request("POST", "/api/rules", {"escalation_id": first, "value": {"port": 70000}})
    assert (refused.status, refused.json["code"]) == (422, "does_not_fit")

    make(api, first, value={"port": 8080})
    later, narrower = (
        api.ask("Which port?", "s-2", schema=dict(reversed(schema.items()))),
        api.ask("Which port?", "s-3", schema={**schema, "minProperties": 2}),
    )

    assert one(api, later)["resolution"]["value"] == {"port": 8080}
    assert one(api, later)["resolution"]["text"] == '{"port":8080}'
    assert one(api, narrower)["state"] == "open"
    assert listed(api)[0]["answer"] == {"text": '{"port":8080}', "option": None, "value": {"port": 8080}}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Should I delete src/a.py?", {"text": "Should I delete src/b.py?"}),
        ("Should I delete src/a.py?", {"text": "Should I not delete src/a.py?"}),
        ("Which port?", {"kind": "blocker", "text": "Which port?"}),
        ("Which port?", {"text": "Which port?", "options": ["80", "81"]}),
        ("Which database should I use?", {"text": "Which databse should I use?"}),
    ],
)
def test_a_rule_answers_nothing_but_its_wording(api: Api, text: str, other: dict[str, Any]) -> None:
    make(api, api.ask(text), text="yes")

    assert one(api, api.ask(**other))["state"] == "open"
    assert listed(api)[0]["uses"] == 0


def test_rules_are_for_what_agents_ask(api: Api) -> None:
    answer = api.request("POST", "/api/rules", {"escalation_id": api.permission(), "text": "yes"})

    assert (answer.status, answer.json["code"]) == (409, "no_rule_for_this")
    assert "permission_prompt" in answer.json["detail"]


def test_a_rule_can_be_made_of_what_is_answered_and_a_blocker_has_rules_too(api: Api) -> None:
    answered = api.ask("May I merge?", kind="blocker")
    api.post(f"/api/escalations/{answered}/respond", {"text": "yes"})
    assert make(api, answered, text="yes, always")["waiting"] == 0

    assert one(api, api.ask("May I merge?", kind="blocker"))["resolution"]["text"] == "yes, always"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": ""}, 422, "missing_field"),
        ({}, 422, "missing_field"),
        ({"option": 3}, 422, "invalid_value"),
        ({"option": 1, "text": "80"}, 422, "unexpected_field"),
        ({"text": "x" * (wire.MAX_TEXT + 1)}, 422, "too_long"),
        ({"escalation_id": "nobody", "text": "80"}, 404, "not_found"),
        ({"hold": 5, "text": "80"}, 422, "unknown_field"),
    ],
)
def test_a_rule_whose_answer_does_not_fit_is_not_made(api: Api, body: dict[str, Any], status: int, code: str) -> None:
    id = api.ask("Which port?", options=["80", "81"])
    answer = api.request("POST", "/api/rules", {"escalation_id": id, **body})

    assert (answer.status, answer.json["code"]) == (status, code)
    assert listed(api) == []


def test_an_answer_outside_the_options_makes_no_rule(api: Api) -> None:
    id = api.ask("Which port?", options=["80", "81"])
    answer = api.request("POST", "/api/rules", {"escalation_id": id, "text": "82"})

    assert (answer.status, answer.json["code"]) == (422, "does_not_fit")


def test_a_second_rule_for_the_same_wording_is_refused_and_shows_the_first(api: Api) -> None:
    asked_before = api.ask("What port?", "s-2")
    first = make(api, api.ask("Which port?", "s-1"), text="8080")
    again = api.request("POST", "/api/rules", {"escalation_id": asked_before, "text": "9090"})

    assert (again.status, again.json["code"]) == (409, "rule_exists")
    assert again.json["rule"]["id"] == first["id"]
    assert "8080" in again.json["detail"]


def test_a_revoked_rule_answers_nothing_more_and_stays_listed_behind_the_live_ones(api: Api) -> None:
    rule = make(api, api.ask("Which port?", "s-1"), text="8080")
    used = api.ask("Which port?", "s-2")
    revoked = api.post(f"/api/rules/{rule['id']}/revoke", {})
    assert revoked["revoked_by"] == "operator"
    assert revoked["revoked_at"] is not None

    after = api.ask("Which port?", "s-3")
    assert (one(api, used)["state"], one(api, after)["state"]) == ("resolved", "open")
    again = api.request("POST", f"/api/rules/{rule['id']}/revoke", {})
    assert (again.status, again.json["code"]) == (409, "already_revoked")
    assert api.request("POST", "/api/rules/nobody/revoke", {}).status == 404

    live = make(api, after, text="9090")
    assert [row["id"] for row in listed(api)] == [live["id"], rule["id"]]
    assert one(api, api.ask("Which port?", "s-4"))["resolution"]["text"] == "9090"


def test_what_a_rule_answered_is_no_precedent(api: Api) -> None:
    rule = make(api, api.ask("Which port?", "s-1"), text="8080")
    api.ask("Which port?", "s-2")
    api.post(f"/api/rules/{rule['id']}/revoke", {})

    assert one(api, api.ask("Which port?", "s-3"))["precedent"] is None


def test_asks_of_one_batch_are_all_answered_and_counted(api: Api, logs: Logs) -> None:
    make(api, api.ask("Which port?"), text="8080")
    logs.take(*(logs.ask("Which port?") for _ in range(25)), logs.ask("Which host?"))

    with api.app.database.read() as connection:
        by = list(connection.execute(select(escalations.c.resolved_by)).scalars())
    assert by.count("rule") == 25
    assert by.count(None) == 2
    assert listed(api)[0]["uses"] == 25


def test_where_a_policy_wants_answers_verified_no_rule_answers(api: Api) -> None:
    make(api, api.ask("Which port?"), text="8080")
    draft = ask_draft("Which port?")
    verified = Policies((Policy(name="strict", verify=Verify(person=True)),))
    with api.app.database.transaction() as tx:
        projection.project(tx, [draft], api.app.origin, verified)

    assert one(api, str(draft.ref))["state"] == "open"


# ---- at once -------------------------------------------------------------------------------------------------------


def ask_draft(text: str) -> Draft:
    """What the translator makes of an ask."""
    payload: dict[str, Any] = {
        **dict.fromkeys(("title", "bead_id", "cwd", "commit", "branch", "worktree", "schema")),
        "agent_type": "test",
        "kind": "question",
        "channel": "tool_call",
        "urgency": "advisory",
        "role": "coach",
        "mode": "balanced",
        "text": text,
        "options": [],
        "waiting": False,
        "asked_at": wire.timestamp(),
    }
    return Draft("escalation_opened", payload, "s", wire.new_event_id())


def run_all(*works: Any) -> None:
    at_once = threading.Barrier(len(works))

    def begin(work: Any) -> None:
        at_once.wait()
        work()

    threads = [threading.Thread(target=begin, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_of_two_rules_made_at_once_one_is_made(api: Api) -> None:
    id = api.ask("Which port?")
    outcomes: list[str] = []

    def make_one() -> None:
        try:
            with api.app.database.transaction() as tx:
                rules.make(tx, rules.MakeRule(id, text="8080"))
            outcomes.append("made")
        except Conflict as conflict:
            outcomes.append(conflict.code)

    for _ in range(5):
        run_all(make_one, make_one)
        (live,) = [rule for rule in listed(api) if rule["revoked_at"] is None]
        api.post(f"/api/rules/{live['id']}/revoke", {})

    assert sorted(outcomes) == ["made"] * 5 + ["rule_exists"] * 5


def test_a_rule_revoked_while_asks_come_in_answers_nothing_after_that(api: Api) -> None:
    """Whoever has seen the revocation sees no later answer; uses are counted exactly; nobody waits for ever."""
    rule = make(api, api.ask("Which port?"), text="8080")
    begun, revoked = threading.Event(), threading.Event()
    asked: list[int] = []
    answered: list[int] = []

    def ingest() -> None:
        after_that = 0
        while after_that < 3:
            after_that += revoked.is_set()
            with api.app.database.transaction() as tx:
                projection.project(tx, [ask_draft("Which port?") for _ in range(3)], api.app.origin, Policies(()))
            asked.append(3)
            begun.set()

    def revoke() -> None:
        begun.wait()
        with api.app.database.transaction() as tx:
            rules.revoke(tx, Nothing(), id=rule["id"])
        answered.append(answered_by_rule(api))
        revoked.set()

    run_all(ingest, ingest, revoke)

    assert answered_by_rule(api) == answered[0] == listed(api)[0]["uses"]
    assert 0 < answered[0] <= sum(asked) - 6
    with api.app.database.read() as connection:
        assert len(connection.execute(select(escalations.c.id)).all()) == sum(asked) + 1


def answered_by_rule(api: Api) -> int:
    with api.app.database.read() as connection:
        return len(connection.execute(select(escalations.c.id).where(escalations.c.resolved_by == "rule")).all())


# ---- at the terminal -----------------------------------------------------------------------------------------------


def test_a_rule_is_made_seen_and_revoked_at_the_terminal(operator: Operator) -> None:
    assert operator.ok("rules") == "There are no rules. Make one with: gemba rules add ESCALATION TEXT\n"
    first = operator.ask(text="Which port?")

    made = operator.ok("rules", "add", suffix(first), "8080")
    id = json.loads(operator.ok("rules", "list", "--json"))["rules"][0]["id"]
    assert made.splitlines() == [
        f"rule {id}: every like question is answered: 8080",
        "1 waits already, which it does not answer: gemba answer ID TEXT --group",
    ]
    later = operator.ask("worker-2", text="What port, please?")
    assert json.loads(operator.ok("inbox", later, "--json"))["resolution"]["rule_id"] == id
    assert "→ answered by the rule: 8080" in operator.ok("inbox", later)

    lines = re.sub(r"\b\d+s ago", "now", operator.ok("rules")).splitlines()
    assert lines == [
        f"rule  {suffix(id)}  question · by operator · now · used once, last now",
        "    asked: Which port?",
        "    answered: 8080",
        "",
        "1 in all. Take one back with: gemba rules revoke ID",
    ]
    assert operator.ok("rules", "revoke", suffix(id)) == f"revoked {id}, used once\n"
    assert operator.ok("rules").startswith(f"revoked  {suffix(id)}")
    assert "has revoked it already" in operator.refused("rules", "revoke", suffix(id))


def test_a_rule_that_makes_no_sense_is_refused_at_the_terminal(operator: Operator) -> None:
    id = operator.ask(text="Which port?", options=["80", "81"])

    assert "what is the answer?" in operator.refused("rules", "add", id, code=2)
    assert "no JSON" in operator.refused("rules", "add", id, "--value", "{", code=2)
    assert "option is 3" in operator.refused("rules", "add", id, "--option", "3")
    assert "no escalation has an id" in operator.refused("rules", "add", "zzzzzz", "80")
    assert "no rule has an id" in operator.refused("rules", "revoke", "zzzzzz")
    assert "--json goes behind list" in operator.refused("rules", "--json", "list", code=2)
    operator.ok("rules", "add", id, "--option", "2")
    assert "there is a rule for this already: 81" in operator.refused("rules", "add", id, "--option", "1")


def test_a_list_of_rules_goes_on_over_its_pages(api: Api) -> None:
    made = [make(api, api.ask(f"Which port {number}?"), text="this")["id"] for number in range(5)]
    api.post(f"/api/rules/{made[3]}/revoke", {})
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"/api/rules?limit=2{cursor and f'&cursor={cursor}'}")
        found += [rule["id"] for rule in page["rules"]]
        assert page["total"] == 5
        cursor = page["next_cursor"]

    assert found == [made[4], made[2], made[1], made[0], made[3]]
    assert api.request("GET", "/api/rules?cursor=zzz").status == 422
