"""Approvals on both databases: requested once, decided once with their escalation, used once, by exactly one call."""

import json
import threading
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, update

from gemba import clock
from gemba.actions import ACTIONS
from gemba.errors import Conflict
from gemba.escalations.policy import Policies, Policy, Verify
from gemba.handoff import approvals, audit, grants, requests
from gemba.handoff.approval import GRANT, REQUEST, GrantState, RequestState
from gemba.handoff.approvals import Call
from gemba.handoff.seal import seal_hash
from gemba.store.database import Transaction
from gemba.text import letters_in_line
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs

CALL = {"command": "rm -rf build  # 'Quoted'\n", "cwd": "/srv/shop", "tool": "Bash", "requester": "dispatch-1"}
OTHER_CALLS = {
    "case": {"command": "rm -Rf build  # 'Quoted'\n"},
    "flag": {"command": "rm -rfv build  # 'Quoted'\n"},
    "redirect": {"command": "rm -rf build  # 'Quoted'\n > log"},
    "quoting": {"command": 'rm -rf build  # "Quoted"\n'},
    "white space": {"command": "rm -rf build # 'Quoted'\n"},
    "trailing newline": {"command": "rm -rf build  # 'Quoted'"},
    "unicode form": {"command": "rm -rf build  # 'Quoted\u0301'\n"},
    "folder": {"cwd": "/srv/shop/"},
    "requester": {"requester": "dispatch-2"},
    "tool": {"tool": "Monitor"},
}
DECISIONS: dict[str, dict[str, Any]] = {
    "approve": {},
    "edit": {"command": "rm -rf build/cache"},
    "refuse": {"reason": "not on a Friday"},
    "withdraw": {},
}
ENDS = {"approve": "approved", "edit": "superseded", "refuse": "refused", "withdraw": "withdrawn"}


def ask(api: Api, **changes: Any) -> dict[str, Any]:
    body = {**CALL, "session_id": "session-1", "risk": "T3", "reason": "it deletes files", **changes}
    made: dict[str, Any] = api.post("/api/approvals", body)
    return made


def one(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/approvals/{id}")
    return found


def escalation(api: Api, approval: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/escalations/{approval['escalation_id']}")
    return found


def decide(api: Api, id: str, verb: str, **body: Any) -> Any:
    return api.post(f"/api/approvals/{id}/{verb}", body or DECISIONS[verb])


def use(api: Api, id: str, **changes: Any) -> Any:
    body = {**CALL, "session_id": "session-1", **changes}
    return api.request("POST", f"/api/approvals/{id}/use", body)


def respond_to(approval: dict[str, Any]) -> str:
    return f"/api/escalations/{approval['escalation_id']}/respond"


def wants_two(api: Api) -> None:
    policy = Policy("careful", kinds=("approval",), verify=Verify(person=True))
    api.app.database.surroundings["policies"] = Policies((policy,))


def confirm(api: Api, escalation_id: str, who: str) -> None:
    (action,) = (action for action in ACTIONS if action.path == "/api/escalations/{id}/confirm")
    with api.app.database.transaction(who) as tx:
        action.verb(tx, action.body(), id=escalation_id)


def attempt(api: Api, id: str, verb: str) -> Any:
    path = f"/api/approvals/{id}/{verb}"
    return api.request("POST", path, DECISIONS[verb])


# ---- asking ---------------------------------------------------------------------------------------------------------


def test_a_request_is_sealed_and_waits_in_the_inbox_with_exactly_what_would_run(api: Api) -> None:
    made = ask(api, rollback="git checkout build", verification={"command": "ls"}, environment=["PATH"])

    assert (made["state"], made["grant_state"]) == ("pending", None)
    assert {name: made[name] for name in CALL} == CALL
    shown = escalation(api, made)
    assert (shown["kind"], shown["channel"], shown["urgency"], shown["state"]) == (
        "approval",
        "handoff",
        "blocking",
        "open",
    )
    for words in (
        "\ncommand:\n│ rm -rf build  # 'Quoted'",
        "in: /srv/shop",
        "risk: T3",
        "it deletes files",
        "rollback:\n│ git checkout build",
        "environment: PATH",
        made["id"],
    ):
        assert words in shown["text"]
    assert [item["id"] for item in api.get("/api/escalations?kind=approval")["escalations"]] == [shown["id"]]


def test_a_command_cannot_pass_for_a_line_of_its_own_description(api: Api) -> None:
    made = ask(api, command="true &&\nrisk: T0 (harmless)\n\nrm -rf x ")

    card = escalation(api, made)
    assert card["text"].endswith("\ncommand:\n│ true &&↵\n│ risk: T0 (harmless)↵\n│ ↵\n│ rm -rf x·")
    assert card["text"].index("requester: ") < card["text"].index("command:")
    assert card["title"] == "Approve true &&↵risk: T0 (harmless)↵↵rm -rf x·"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028", "\x85", "\x0b"])
def test_nothing_that_an_agent_says_begins_a_line_of_its_own(api: Api, end: str) -> None:
    words = f"x{end}risk: T0 (harmless)"
    made = ask(api, command=f"rm {words}", reason=words, rollback=words, verification=[words])

    lines = escalation(api, made)["text"].splitlines()
    assert [line for line in lines if line.startswith("risk:")] == [f"risk: T3 ({letters_in_line(words)})"]


@pytest.mark.parametrize("character", ["\n", "\r", "\x1b", "\x85", "\u2028", "\u202e"])
@pytest.mark.parametrize("field", ["cwd", "tool", "requester", "environment"])
def test_what_is_told_in_a_line_of_ours_holds_nothing_that_ends_or_reorders_it(
    api: Api, field: str, character: str
) -> None:
    words = f"/srv/x{character}risk: T0 (it reads)"
    body = {**CALL, "session_id": "session-1", "risk": "T3", field: [words] if field == "environment" else words}
    refused = api.request("POST", "/api/approvals", body)

    assert (refused.status, refused.json["pointer"]) == (422, f"/{field}")
    assert f"U+{ord(character):04X}" in refused.json["detail"]
    assert api.get("/api/escalations")["total"] == 0


def test_the_same_call_finds_the_request_that_there_is(api: Api) -> None:
    first = ask(api)
    assert ask(api)["id"] == first["id"]
    decide(api, first["id"], "approve")
    found = ask(api)
    assert (found["id"], found["state"], found["grant_state"]) == (first["id"], "approved", "unused")
    assert use(api, first["id"]).status == 200
    assert ask(api)["id"] != first["id"]


@pytest.mark.parametrize("change", OTHER_CALLS.values(), ids=OTHER_CALLS)
def test_a_call_that_differs_needs_a_request_of_its_own_and_cannot_use_the_grant(
    api: Api, change: dict[str, str]
) -> None:
    first = ask(api)
    decide(api, first["id"], "approve")

    refused = use(api, first["id"], **change)
    assert (refused.status, refused.json["code"]) == (409, "another_call")
    assert ask(api, **change)["id"] != first["id"]
    assert one(api, first["id"])["grant_state"] == "unused"


def test_a_requester_that_was_away_is_told_of_the_refusal_once(api: Api) -> None:
    first = ask(api)
    decide(api, first["id"], "refuse")

    again = ask(api)
    assert (again["id"], again["state"], again["decision_reason"]) == (first["id"], "refused", "not on a Friday")
    assert ask(api)["id"] != first["id"]


def test_fifty_requests_for_the_same_call_at_once_are_one(api: Api) -> None:
    found = at_once(50, lambda _number: ask(api)["id"])

    assert len(set(found)) == 1
    assert api.get("/api/escalations?kind=approval")["total"] == 1


def test_requests_that_come_and_go_at_once_are_each_answered(api: Api) -> None:
    """One that loses to another which is gone a moment later takes its place."""

    def come_and_go(_number: int) -> list[int]:
        found = []
        for _ in range(5):
            made = api.request("POST", "/api/approvals", {**CALL, "session_id": "session-1"})
            gone = api.request("POST", f"/api/approvals/{made.json['id']}/withdraw", {})
            found += [made.status, gone.status]
        return found

    statuses = [status for found in at_once(6, come_and_go) for status in found]
    assert set(statuses) <= {200, 409}
    assert statuses.count(409) <= len(statuses) // 2


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"command": " \n"}, "/command"),
        ({"command": "a\0b"}, "/command"),
        ({"cwd": "shop"}, "/cwd"),
        ({"risk": "T9"}, "/risk"),
        ({"expires_in": 0}, "/expires_in"),
        ({"requester": ""}, "/requester"),
        ({"rollback": {"a": "\0"}}, "/rollback"),
    ],
)
def test_what_cannot_be_sealed_is_refused(api: Api, change: dict[str, Any], pointer: str) -> None:
    body = {**CALL, "session_id": "session-1", **change}
    refused = api.request("POST", "/api/approvals", body)

    assert (refused.status, refused.json["pointer"]) == (422, pointer)
    assert api.get("/api/approvals")["total"] == 0


# ---- deciding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", DECISIONS)
def test_a_decision_settles_the_request_and_its_escalation(api: Api, logs: Logs, verb: str) -> None:
    made = ask(api)
    decide(api, made["id"], verb)

    found = one(api, made["id"])
    assert found["state"] == ENDS[verb]
    assert found["decided_by"] == ("dispatch-1" if verb == "withdraw" else "operator")
    assert escalation(api, made)["state"] == ("withdrawn" if verb == "withdraw" else "resolved")
    told = [event for event in logs.told("approval.decided") if event.ref == made["id"]]
    assert [msgspec.json.decode(event.payload)["state"] for event in told] == [ENDS[verb]]


@pytest.mark.parametrize("first", DECISIONS)
@pytest.mark.parametrize("second", DECISIONS)
def test_a_request_is_decided_once(api: Api, first: str, second: str) -> None:
    made = ask(api)
    decide(api, made["id"], first)

    refused = attempt(api, made["id"], second)
    assert (refused.status, refused.json["code"]) == (409, "illegal_move")
    assert one(api, made["id"])["state"] == ENDS[first]


EVENTS = sorted({event for _state, event in REQUEST.table})


@pytest.mark.parametrize("state", RequestState)
@pytest.mark.parametrize("event", EVENTS)
def test_every_state_and_event_of_a_request(api: Api, state: RequestState, event: str) -> None:
    made = ask(api)
    anna = requests.Decider("anna")
    by = {"edited": ("rm -rf other", anna), "refused": (anna, "no"), "approved": (anna,)}
    verbs = {
        "approved": requests.approve,
        "edited": requests.edit,
        "refused": requests.refuse,
        "expired": requests.expire,
        "withdrawn": requests.withdraw,
        "taken back": requests.take_back,
    }
    grant = GrantState.UNUSED if state is RequestState.APPROVED else None
    with api.app.database.transaction() as tx:
        set_to(tx, made["id"], state=state, grant_state=grant)
    allowed = REQUEST.allows(state, event)

    def move() -> None:
        with api.app.database.transaction() as tx:
            verbs[event](tx, approvals.get(tx.connection, made["id"]), *by.get(event, ()))  # type: ignore[operator]

    if allowed:
        move()
        assert one(api, made["id"])["state"] == REQUEST.table[state, event]
    else:
        with pytest.raises(Conflict) as refused:
            move()
        assert refused.value.code == "illegal_move"
        assert one(api, made["id"])["state"] == state


@pytest.mark.parametrize("state", [None, *GrantState])
@pytest.mark.parametrize("event", ["consumed", "succeeded", "failed", "lost"])
def test_every_state_and_event_of_a_grant(api: Api, state: GrantState | None, event: str) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")
    with api.app.database.transaction() as tx:
        set_to(tx, made["id"], grant_state=state)

    def move() -> None:
        with api.app.database.transaction() as tx:
            if event == "consumed":
                grants.use(tx, made["id"], Call(**CALL))
            else:
                grants.record_outcome(tx, made["id"], event)

    if state is not None and GRANT.allows(state, event):
        move()
        assert one(api, made["id"])["grant_state"] == GRANT.table[state, event]
    else:
        with pytest.raises(Conflict):
            move()
        assert one(api, made["id"])["grant_state"] == state


def test_an_edit_grants_the_new_bytes_and_nothing_else(api: Api) -> None:
    made = ask(api)
    edited = decide(api, made["id"], "edit")

    assert one(api, made["id"])["superseded_by"] == edited["id"]
    assert (edited["command"], edited["state"], edited["grant_state"]) == ("rm -rf build/cache", "approved", "unused")
    assert edited["hash"] != made["hash"]
    assert use(api, made["id"]).json["code"] == "not_granted"
    assert use(api, edited["id"]).json["code"] == "another_call"
    assert ask(api, command="rm -rf build/cache")["id"] == edited["id"]
    assert use(api, edited["id"], command="rm -rf build/cache").status == 200


def test_an_edited_command_is_classed_anew(api: Api) -> None:
    made = ask(api, command="terraform plan", risk="T2", reason="it simulates")
    edited = decide(api, made["id"], "edit", command="terraform apply")
    assert edited["risk"] == "T3"
    assert "terraform apply" in edited["reason"]

    rules = api.workspace / ".gemba/approvals.toml"
    rules.write_text('[[rule]]\nprogram = "./lint"\nclass = "T1"\n')
    assert decide(api, ask(api)["id"], "edit", command="./lint")["risk"] == "T1"
    rules.write_text("broken = [")
    assert decide(api, ask(api, command="rm x")["id"], "edit", command="./lint x")["risk"] == "unknown"


def test_a_refusal_needs_a_reason(api: Api) -> None:
    made = ask(api)
    refused = api.request("POST", f"/api/approvals/{made['id']}/refuse", {"reason": " "})
    assert (refused.status, refused.json["pointer"]) == (422, "/reason")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"decision": "yes"}, "approved"),
        ({"decision": "no", "text": "not now"}, "refused"),
        ({"decision": "modify", "text": " rm -rf other\n"}, "superseded"),
    ],
)
def test_the_inbox_decides_through_the_same_verbs(api: Api, answer: dict[str, str], state: str) -> None:
    made = ask(api)
    api.post(f"/api/escalations/{made['escalation_id']}/respond", answer)

    found = one(api, made["id"])
    assert found["state"] == state
    if found["superseded_by"]:
        assert one(api, found["superseded_by"])["command"] == " rm -rf other\n"


@pytest.mark.parametrize(
    "answer", [{"text": "yes"}, {"option": 1}, {"decision": "no"}, {"decision": "modify"}, {"action": "approve"}]
)
def test_words_alone_approve_nothing(api: Api, answer: dict[str, Any]) -> None:
    made = ask(api)
    path = f"/api/escalations/{made['escalation_id']}/respond"
    refused = api.request("POST", path, answer)

    assert refused.status == 422
    assert one(api, made["id"])["state"] == "pending"


def test_typing_in_the_agents_window_decides_nothing(api: Api) -> None:
    made = ask(api)
    api.take("UserPromptSubmit", {"prompt": "yes"})

    assert one(api, made["id"])["state"] == "pending"


def test_an_escalation_that_is_dismissed_refuses_the_request(api: Api) -> None:
    made = ask(api)
    api.post(f"/api/escalations/{made['escalation_id']}/dismiss", {})

    assert one(api, made["id"])["state"] == "refused"


def test_a_request_whose_row_was_changed_by_hand_is_not_approved(api: Api) -> None:
    made = ask(api)
    with api.app.database.transaction() as tx:
        set_to(tx, made["id"], command="rm -rf /")

    assert attempt(api, made["id"], "approve").json["code"] == "broken_seal"


def test_where_a_second_person_must_agree_an_approval_is_proposed_first(api: Api) -> None:
    wants_two(api)
    made = ask(api)
    decide(api, made["id"], "approve")
    assert one(api, made["id"])["state"] == "pending"

    confirm(api, made["escalation_id"], "ben")
    found = one(api, made["id"])
    assert (found["state"], found["grant_state"], found["decided_by"]) == ("approved", "unused", "operator")


# ---- using ----------------------------------------------------------------------------------------------------------


def test_of_fifty_uses_at_once_one_wins(api: Api) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")

    found = at_once(50, lambda _number: use(api, made["id"]))
    assert sorted(answer.status for answer in found) == [200] + [409] * 49
    assert {answer.json["code"] for answer in found if answer.status == 409} == {"already_used"}
    with api.app.database.read() as connection:
        kinds = [entry.kind for entry in audit.entries(connection)]
    assert kinds == ["approval.requested", "approval.decided", "approval.used"]


def test_a_grant_whose_time_ran_out_is_not_used_and_the_call_can_be_asked_about_again(api: Api) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")
    with api.app.database.transaction() as tx:
        set_to(tx, made["id"], expires_at=clock.now() - 1)

    assert use(api, made["id"]).json["code"] == "expired"
    assert ask(api)["id"] != made["id"]


def test_a_request_whose_time_ran_out_is_not_approved_and_makes_room_for_another(api: Api) -> None:
    made = ask(api)
    with api.app.database.transaction() as tx:
        set_to(tx, made["id"], expires_at=clock.now() - 1)

    assert attempt(api, made["id"], "approve").json["code"] == "expired"
    assert ask(api)["id"] != made["id"]
    assert one(api, made["id"])["state"] == "expired"
    assert escalation(api, made)["state"] == "expired"


@pytest.mark.parametrize(
    ("hook", "extra", "expected"),
    [
        ("PostToolUse", {"tool_response": {"stdout": ""}}, ("succeeded", None)),
        ("PostToolUse", {"tool_response": {"interrupted": True}}, ("failed", "interrupted")),
        ("PostToolUseFailure", {"error": "exit code 2"}, ("failed", "exit code 2")),
        ("PostToolUse", {"tool_response": {"backgroundTaskId": "b1"}}, ("unknown", "it went on in the background")),
    ],
)
def test_the_clients_own_frame_records_how_it_ended(
    api: Api, hook: str, extra: dict[str, Any], expected: tuple[str, str | None]
) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")
    ended = {"tool_name": "Bash", "tool_input": {"command": CALL["command"]}, "cwd": "/elsewhere", **extra}
    api.take(hook, ended)
    assert one(api, made["id"])["grant_state"] == "unused"

    assert use(api, made["id"]).status == 200
    api.take(hook, ended, "session-2")
    api.take(hook, {**ended, "tool_input": {"command": "rm -rf other"}})
    assert one(api, made["id"])["grant_state"] == "consumed"
    api.take(hook, ended)
    found = one(api, made["id"])
    assert (found["grant_state"], found["outcome"]) == expected


def test_the_end_of_a_call_with_other_inputs_is_recorded(api: Api) -> None:
    tool = "Bash (dangerouslyDisableSandbox=true)"
    made = ask(api, tool=tool)
    decide(api, made["id"], "approve")
    assert use(api, made["id"]).json["code"] == "another_call"
    assert use(api, made["id"], tool=tool).status == 200
    inputs = {"command": CALL["command"], "dangerouslyDisableSandbox": True}
    api.take("PostToolUse", {"tool_name": "Bash", "tool_input": inputs})

    assert one(api, made["id"])["grant_state"] == "succeeded"


def test_a_session_as_long_as_no_session_is_uses_no_grant(api: Api) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")

    refused = use(api, made["id"], session_id="s" * 1000)
    assert (refused.status, refused.json["pointer"]) == (422, "/session_id")
    assert one(api, made["id"])["grant_state"] == "unused"


def test_the_session_that_uses_a_grant_tells_how_it_ended(api: Api) -> None:
    """A dispatch goes on in another session after its client was started anew."""
    made = ask(api)
    decide(api, made["id"], "approve")
    assert use(api, made["id"], session_id="session-2").status == 200
    api.take("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": CALL["command"]}}, "session-2")

    assert one(api, made["id"])["grant_state"] == "succeeded"


def test_the_card_says_what_kind_of_agent_asks(api: Api) -> None:
    api.take("SessionStart", {}, "session-1")

    assert escalation(api, ask(api))["agent_type"] == api.get("/api/sessions")["sessions"][0]["agent_type"] != ""


def test_the_end_of_a_very_long_command_is_recorded_too(api: Api) -> None:
    long = "echo " + "x" * 20_000
    made = ask(api, command=long)
    decide(api, made["id"], "approve")
    use(api, made["id"], command=long)
    api.take("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": long}})

    assert one(api, made["id"])["grant_state"] == "succeeded"


def test_an_outcome_can_be_told_by_hand_once(api: Api) -> None:
    made = ask(api)
    decide(api, made["id"], "approve")
    use(api, made["id"])
    path = f"/api/approvals/{made['id']}/outcome"
    assert api.post(path, {"outcome": "failed", "text": "exit 1"})["grant_state"] == "failed"
    again = api.request("POST", path, {"outcome": "succeeded"})
    assert again.json["code"] == "illegal_move"


# ---- plans ----------------------------------------------------------------------------------------------------------


def plan(api: Api, *commands: str) -> list[dict[str, Any]]:
    steps = [{"command": command, "cwd": "/srv/shop", "tool": "Bash", "risk": "T3"} for command in commands]
    body = {"steps": steps, "session_id": "session-1", "requester": "dispatch-1"}
    made: list[dict[str, Any]] = api.post("/api/approvals/sets", body)["approvals"]
    return made


def approve_plan(api: Api, steps: list[dict[str, Any]]) -> Any:
    return decide(api, steps[0]["id"], "approve", seals=[step["hash"] for step in steps])


def test_a_plan_is_one_escalation_approved_as_one_and_used_in_order(api: Api) -> None:
    made = plan(api, "make", "make deploy", "make")
    assert len({item["escalation_id"] for item in made}) == 1
    assert [item["id"] for item in plan(api, "make", "make deploy", "make")] == [item["id"] for item in made]
    approve_plan(api, made)
    assert {one(api, item["id"])["state"] for item in made} == {"approved"}

    assert use(api, made[1]["id"], command="make deploy").json["code"] == "out_of_order"
    assert ask(api, command="make")["id"] == made[0]["id"]
    assert use(api, made[2]["id"], command="make").json["code"] == "out_of_order"
    assert use(api, made[0]["id"], command="make").status == 200
    assert use(api, made[1]["id"], command="make deploy").status == 200
    assert ask(api, command="make")["id"] == made[2]["id"]
    assert use(api, made[2]["id"], command="make").status == 200


def test_a_plan_ends_where_one_of_its_commands_fails_and_the_rest_may_be_asked_for_anew(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    approve_plan(api, made)
    use(api, made[0]["id"], command="make")
    assert ask(api, command="make deploy")["id"] == made[1]["id"]
    api.post(f"/api/approvals/{made[0]['id']}/outcome", {"outcome": "failed"})

    assert use(api, made[1]["id"], command="make deploy").json["code"] == "out_of_order"
    assert ask(api, command="make deploy")["id"] != made[1]["id"]


def test_a_plan_that_is_used_in_part_may_be_asked_for_again(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    approve_plan(api, made)
    use(api, made[0]["id"], command="make")

    again = plan(api, "make", "make deploy")
    assert not {item["id"] for item in again} & {item["id"] for item in made}
    assert {item["state"] for item in again} == {"pending"}


@pytest.mark.parametrize("approved", [True, False])
def test_a_plan_whose_time_ran_out_unused_makes_room_for_another(api: Api, approved: bool) -> None:
    made = plan(api, "make", "make deploy")
    if approved:
        approve_plan(api, made)
    with api.app.database.transaction() as tx:
        for item in made:
            set_to(tx, item["id"], expires_at=clock.now() - 1)

    again = plan(api, "make", "make deploy")
    assert not {item["id"] for item in again} & {item["id"] for item in made}
    assert one(api, made[0]["id"])["state"] == ("approved" if approved else "expired")
    assert ask(api, command="make")["id"] == again[0]["id"]


def test_who_approves_a_plan_approves_what_was_shown_and_nothing_else(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    seen = [item["hash"] for item in made]
    edited = decide(api, made[1]["id"], "edit", command="make stage")

    path = f"/api/approvals/{made[0]['id']}/approve"
    refused = api.request("POST", path, {"seals": seen})
    assert (refused.status, refused.json["code"]) == (409, "changed_meanwhile")
    assert {one(api, item["id"])["state"] for item in (made[0], edited)} == {"pending"}
    assert api.post(path, {"seals": [seen[0], edited["hash"]]})["state"] == "approved"


def test_a_plan_is_not_approved_by_who_does_not_say_what_they_have_read(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    decide(api, made[1]["id"], "edit", command="rm -rf /")

    attempts = {f"/api/approvals/{made[0]['id']}/approve": {}, respond_to(made[0]): {"decision": "yes"}}
    for path, body in attempts.items():
        refused = api.request("POST", path, body)
        assert (refused.status, refused.json["pointer"]) == (422, "/seals")
        assert "with the seals of all" in refused.json["detail"]
    assert api.get("/api/approvals?state=approved")["total"] == 0


def test_while_the_approval_of_a_plan_waits_for_a_second_person_no_step_of_it_is_edited(api: Api) -> None:
    wants_two(api)
    made = plan(api, "make", "make deploy")
    approve_plan(api, made)

    refused = api.request("POST", f"/api/approvals/{made[1]['id']}/edit", {"command": "rm -rf /"})
    assert (refused.status, refused.json["code"]) == (409, "already_proposed")
    confirm(api, made[0]["escalation_id"], "ben")
    found = [one(api, item["id"]) for item in made]
    assert [(item["command"], item["state"], item["confirmed_by"]) for item in found] == [
        ("make", "approved", "ben"),
        ("make deploy", "approved", "ben"),
    ]


def test_after_the_proposal_is_rejected_a_step_may_be_edited_and_the_plan_proposed_again(api: Api) -> None:
    wants_two(api)
    made = plan(api, "make", "make deploy")
    approve_plan(api, made)
    api.post(f"/api/escalations/{made[0]['escalation_id']}/reject", {"text": "not to production"})
    edited = decide(api, made[1]["id"], "edit", command="make stage")

    path = f"/api/approvals/{made[0]['id']}/approve"
    assert api.request("POST", path, {"seals": [item["hash"] for item in made]}).json["code"] == "changed_meanwhile"
    approve_plan(api, [made[0], edited])
    confirm(api, made[0]["escalation_id"], "ben")
    assert one(api, edited["id"])["grant_state"] == "unused"


@pytest.mark.parametrize("as_plan", [True, False])
def test_a_second_person_confirms_nothing_but_what_the_first_has_read(api: Api, as_plan: bool) -> None:
    """Whatever way a request got into it: the seals stand in the proposal."""
    wants_two(api)
    made = plan(api, "make", "make deploy") if as_plan else [ask(api)]
    approve_plan(api, made)
    with api.app.database.transaction() as tx:
        set_to(tx, made[-1]["id"], expires_at=clock.now() + clock.DAY)

    with pytest.raises(Conflict) as refused:
        confirm(api, made[0]["escalation_id"], "ben")
    assert refused.value.code == "changed_meanwhile"
    assert {one(api, item["id"])["state"] for item in made} == {"pending"}


def test_a_command_of_a_plan_can_be_asked_for_alone_unless_it_is_the_next(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    approve_plan(api, made)

    alone = ask(api, command="make deploy")
    assert (alone["set_id"], alone["state"]) == (None, "pending")
    decide(api, alone["id"], "approve")
    assert use(api, alone["id"], command="make deploy").status == 200
    assert ask(api, command="make")["id"] == made[0]["id"]
    assert use(api, made[0]["id"], command="make").status == 200
    assert ask(api, command="make deploy")["id"] == made[1]["id"]
    assert use(api, made[1]["id"], command="make deploy").status == 200


def test_the_second_person_is_in_the_audit_log(api: Api) -> None:
    made = ask(api)
    with api.app.database.transaction() as tx:
        row = approvals.get(tx.connection, made["id"])
        requests.approve(tx, row, requests.Decider("anna", "ben"))

    entry = api.get("/api/audit")["entries"][-1]
    body = json.loads(entry["body"])
    assert (entry["actor"], body["decided_by"], body["confirmed_by"]) == ("anna", "anna", "ben")


def test_an_edit_in_a_plan_is_shown_and_waits_with_the_others(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    edited = decide(api, made[1]["id"], "edit", command="make stage")

    assert (edited["state"], edited["position"]) == ("pending", 2)
    shown = escalation(api, made[0])
    assert shown["state"] == "open"
    assert "│ make stage" in shown["text"]
    assert "make deploy" not in shown["text"]
    approve_plan(api, [made[0], edited])
    assert use(api, made[0]["id"], command="make").status == 200
    assert use(api, edited["id"], command="make stage").status == 200


@pytest.mark.parametrize("commands", [["make"], ["make", "make deploy"]])
def test_a_plan_is_not_edited_as_a_whole(api: Api, commands: list[str]) -> None:
    made = plan(api, *commands)
    refused = api.request("POST", respond_to(made[0]), {"decision": "modify", "text": "make stage"})

    assert (refused.status, refused.json["pointer"]) == (422, "/decision")
    assert escalation(api, made[0])["state"] == "open"
    assert {one(api, item["id"])["state"] for item in made} == {"pending"}


def test_a_plan_is_refused_as_a_whole(api: Api) -> None:
    made = plan(api, "make", "make deploy")
    decide(api, made[1]["id"], "refuse")

    assert {one(api, item["id"])["state"] for item in made} == {"refused"}


# ---- reading --------------------------------------------------------------------------------------------------------


def test_requests_are_listed_by_state_page_by_page(api: Api) -> None:
    made = [ask(api, command=f"rm {number}") for number in range(3)]
    decide(api, made[0]["id"], "approve")

    page = api.get("/api/approvals?state=pending&limit=1")
    assert (page["total"], page["approvals"][0]["id"]) == (2, made[2]["id"])
    following = api.get(f"/api/approvals?state=pending&limit=1&cursor={page['next_cursor']}")
    assert [item["id"] for item in following["approvals"]] == [made[1]["id"]]
    assert following["next_cursor"] is None
    assert [item["id"] for item in api.get(f"/api/approvals?escalation={made[1]['escalation_id']}")["approvals"]] == [
        made[1]["id"]
    ]
    assert api.get("/api/approvals?escalation=none")["total"] == 0
    assert api.request("GET", "/api/approvals?state=open").status == 422
    assert api.request("GET", "/api/approvals/none").status == 404


def set_to(tx: Transaction, id: str, **values: Any) -> None:
    """By hand; where the seal covers it, sealed again unless it is the seal that is tried."""
    table = approvals.approvals
    tx.connection.execute(update(table).where(table.c.id == id).values(values))
    if "expires_at" in values:
        row = tx.connection.execute(select(table).where(table.c.id == id)).one()
        sealed = seal_hash(approvals.sealed_of(row))
        tx.connection.execute(update(table).where(table.c.id == id).values(hash=sealed))


def at_once(many: int, act: Any) -> list[Any]:
    """What each of so many threads got that all began together."""
    found: list[Any] = []
    start = threading.Barrier(many)

    def run(number: int) -> None:
        start.wait()
        found.append(act(number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == many
    return found
