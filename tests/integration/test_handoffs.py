"""Handoffs on both databases: judged, kept once, decided one after the other; what they bring comes with acceptance."""

import json
import threading
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import update

from gemba.escalations import store
from gemba.escalations.escalation import Reply
from gemba.handoff.approvals import approvals
from gemba.handoff.status import MACHINE, NEXT_TURN, PlanStatus
from tests.fixtures.api import Api
from tests.fixtures.envelopes import block
from tests.fixtures.handed import envelope, strict, wish

SECTIONS = '[section.db]\npaths = ["db/**"]\nwriters = ["builder"]\n'


def give(api: Api, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/api/dispatches", wish(**changes))
    return made


def submit(api: Api, dispatch: dict[str, Any] | None, document: Any, **more: Any) -> dict[str, Any]:
    body = {"envelope": document, **({} if dispatch is None else {"dispatch_id": dispatch["id"]}), **more}
    found: dict[str, Any] = api.post("/api/handoffs", body)
    return found


def now(api: Api, dispatch: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/dispatches/{dispatch['id']}")
    return found


def asked(api: Api, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/api/escalations?kind={kind}&state=unresolved")["escalations"]
    return found


def turns(api: Api, session: str) -> list[dict[str, Any]]:
    """What lies on disk as a session's next turns."""
    api.app.write_replies()
    found = [json.loads(file.read_text()) for file in (api.app.home / "turns").glob("*/*.json")]
    return [turn for turn in found if turn["session_id"] == session]


# ---- judging and keeping --------------------------------------------------------------------------------------------


def test_a_good_envelope_is_accepted_and_its_dispatch_is_complete(api: Api) -> None:
    dispatch = give(api)
    assert now(api, dispatch)["completed_at"] is None

    made = submit(api, dispatch, envelope(dispatch, user_facing_summary="It is so."))

    assert (made["state"], made["plan_status"], made["verdict"]["action"]) == ("accepted", "COMPLETE", "accept")
    assert (made["summary"], made["source"], made["turn"]) == ("It is so.", "api", 1)
    after = now(api, dispatch)
    assert (after["status"], after["accepted_id"]) == ("COMPLETE", made["id"])
    assert after["completed_at"] is not None
    assert api.get(f"/api/handoffs/{made['id']}") == made


def test_the_text_of_a_turn_is_judged_as_the_envelope_in_it(api: Api) -> None:
    dispatch = give(api)
    document = envelope(dispatch)

    by_text = api.post("/api/handoffs", {"text": block(document), "dispatch_id": dispatch["id"]})
    assert by_text["state"] == "accepted"
    assert submit(api, dispatch, document)["id"] == by_text["id"]


def test_what_is_refused_changes_nothing_and_says_what_to_mend(api: Api) -> None:
    dispatch = give(api)
    bad = envelope(dispatch)
    del bad["agent_status"]["pending_steps"]

    made = submit(api, dispatch, bad)

    assert (made["state"], made["refused_by"], made["verdict"]["action"]) == ("refused", "verdict", "repair")
    assert made["verdict"]["missing"] == ["PENDING_STEPS"]
    assert "pending_steps" in made["told"]
    after = now(api, dispatch)
    assert (after["status"], after["accepted_id"], after["completed_at"]) == (None, None, None)
    assert after["repairs"] == [["PENDING_STEPS"]]
    assert asked(api, "blocked") == []


def test_a_turn_without_a_block_is_refused_and_never_complete(api: Api) -> None:
    dispatch = give(api)
    made = api.post("/api/handoffs", {"text": "All done!", "dispatch_id": dispatch["id"]})

    assert (made["state"], made["document"], made["verdict"]["missing"]) == ("refused", None, ["AGENT_STATUS"])
    assert f'"agent_id": "{dispatch["agent_id"]}"' in made["told"]
    assert now(api, dispatch)["completed_at"] is None


def test_the_envelope_of_another_agent_is_refused(api: Api) -> None:
    dispatch, other = give(api), give(api)
    made = submit(api, dispatch, envelope(other))

    assert made["verdict"]["invalid"] == [f"AGENT_ID:{other['agent_id']}"]
    assert now(api, dispatch)["status"] is None


def test_repairs_are_spent_after_two_and_then_a_person_is_asked_once(api: Api) -> None:
    dispatch = give(api)
    made: list[dict[str, Any]] = []
    for missing in ("pending_steps", "next_action", "agent_id", "plan_status"):
        bad = envelope(dispatch)
        del bad["agent_status"][missing]
        made.append(submit(api, dispatch, bad))

    assert [one["verdict"]["action"] for one in made] == ["repair", "repair", "escalate", "escalate"]
    assert [one["refused_by"] for one in made] == ["verdict", "verdict", "repairs_spent", "repairs_spent"]
    (waiting,) = asked(api, "blocked")
    assert [one["escalation_id"] for one in made] == [None, None, waiting["id"], waiting["id"]]
    assert (waiting["channel"], waiting["cwd"]) == ("handoff", dispatch["folder"])
    assert now(api, dispatch)["status"] is None


def test_the_same_refused_envelope_again_is_a_repetition_and_no_repair(api: Api) -> None:
    dispatch = give(api)
    bad = envelope(dispatch)
    del bad["agent_status"]["next_action"]
    first = submit(api, dispatch, bad)
    again = submit(api, dispatch, bad)

    assert (again["id"], again["verdict"]["action"]) == (first["id"], "escalate")
    assert len(asked(api, "blocked")) == 1


def test_a_submission_repeated_for_want_of_a_response_gets_the_first_ones_and_nothing_else_happens(api: Api) -> None:
    dispatch = give(api)
    bad = envelope(dispatch)
    del bad["agent_status"]["next_action"]
    body = {"envelope": bad, "dispatch_id": dispatch["id"]}
    first, again = (api.request("POST", "/api/handoffs", body, X_GEMBA_Confirm="one") for _ in range(2))

    assert (first.status, first.json["verdict"]["action"]) == (200, "repair")
    assert again.json == first.json
    assert asked(api, "blocked") == []


def test_the_same_envelope_again_is_the_handoff_that_there_is(api: Api) -> None:
    dispatch = give(api)
    document = envelope(dispatch, "IN_PROGRESS")
    first = submit(api, dispatch, document)
    reordered = dict(reversed(list(document.items())))

    assert submit(api, dispatch, reordered) == first
    assert now(api, dispatch)["in_progress"] == 1
    assert api.get("/api/handoffs")["total"] == 1


@pytest.mark.parametrize("body", [{}, {"text": "x", "envelope": {}}, {"text": "x", "source": "hook"}])
def test_a_body_that_is_none_changes_nothing(api: Api, body: dict[str, Any]) -> None:
    assert api.request("POST", "/api/handoffs", body).status == 422
    assert api.get("/api/handoffs")["total"] == 0


def test_an_unknown_dispatch_is_told(api: Api) -> None:
    answer = api.request("POST", "/api/handoffs", {"text": "x", "dispatch_id": "nobody"})
    assert (answer.status, answer.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("document", [None, [], "text", 7, {"agent_status": []}, {"x": "\x00"}, {"n": 10**400}])
def test_whatever_is_sent_as_an_envelope_gets_a_verdict(api: Api, document: Any) -> None:
    dispatch = give(api)
    answer = api.request("POST", "/api/handoffs", {"envelope": document, "dispatch_id": dispatch["id"]})

    assert answer.status in (200, 400, 422), answer
    if answer.status == 200:
        assert answer.json["state"] == "refused"
    assert now(api, dispatch)["status"] is None


def test_handoffs_are_listed_by_dispatch_session_state_and_status(api: Api) -> None:
    first, second = give(api, session_id="s1"), give(api, session_id="s2")
    ids = [submit(api, one, envelope(one, "IN_PROGRESS"))["id"] for one in (first, second)]
    ids.append(submit(api, first, {})["id"])

    def listed(query: str) -> list[str]:
        return [one["id"] for one in api.get(f"/api/handoffs?{query}")["handoffs"]]

    assert listed("") == ids[::-1]
    assert listed(f"dispatch={first['id']}") == [ids[2], ids[0]]
    assert listed("session=s2") == [ids[1]]
    assert listed("state=refused") == [ids[2]]
    assert listed("plan_status=IN_PROGRESS&state=accepted,checking") == [ids[1], ids[0]]
    page = api.get("/api/handoffs?limit=2")
    assert page["total"] == 3
    assert listed(f"limit=2&cursor={page['next_cursor']}") == [ids[0]]
    assert api.request("GET", "/api/handoffs?state=done").status == 422


def test_the_schema_is_served_bare(api: Api) -> None:
    schema = api.get("/api/handoff/schema.json")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(schema["required"]) == {"agent_status", "evidence_report"}


# ---- one after the other --------------------------------------------------------------------------------------------


def at_once(api: Api, bodies: list[dict[str, Any]]) -> list[Any]:
    answers: list[Any] = [None] * len(bodies)
    ready = threading.Barrier(len(bodies))

    def send(place: int) -> None:
        ready.wait()
        answers[place] = api.request("POST", "/api/handoffs", bodies[place])

    threads = [threading.Thread(target=send, args=(place,)) for place in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_of_fifty_envelopes_of_one_dispatch_at_once_one_wins(api: Api) -> None:
    dispatch = give(api)
    bodies = [{"envelope": envelope(dispatch, words=f"{n}"), "dispatch_id": dispatch["id"]} for n in range(50)]
    answers = at_once(api, bodies)

    assert Counter(answer.json["state"] for answer in answers) == {"accepted": 1, "refused": 49}
    (won,) = [answer.json for answer in answers if answer.json["state"] == "accepted"]
    assert now(api, dispatch)["accepted_id"] == won["id"]
    for answer in answers:
        if answer.json["state"] == "refused":
            assert answer.json["refused_by"] == "status"
            assert answer.json["refusal"]["allowed"] == ["IN_PROGRESS"]


def test_the_same_envelope_fifty_times_at_once_is_one_handoff(api: Api) -> None:
    dispatch = give(api)
    document = {**envelope(dispatch), "memory_suggestions": ["Ports are in ports.toml"]}
    answers = at_once(api, [{"envelope": document, "dispatch_id": dispatch["id"]}] * 50)

    assert {answer.json["id"] for answer in answers} == {answers[0].json["id"]}
    assert {answer.json["state"] for answer in answers} == {"accepted"}
    assert api.get("/api/memories")["total"] == 1


def test_while_one_is_checked_the_others_are_told_of_it(api: Api) -> None:
    dispatch = give(api, gate=strict("tool_calls"))
    bodies = [{"envelope": envelope(dispatch, words=f"{n}"), "dispatch_id": dispatch["id"]} for n in range(50)]
    answers = at_once(api, bodies)

    assert Counter(answer.status for answer in answers) == {200: 1, 409: 49}
    (won,) = [answer.json for answer in answers if answer.status == 200]
    assert won["state"] == "checking"
    assert {answer.json["found"] for answer in answers if answer.status == 409} == {won["id"]}
    assert now(api, dispatch)["completed_at"] is None


# ---- statuses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [None, *PlanStatus])
@pytest.mark.parametrize("sent", [*PlanStatus])
def test_every_pair_of_statuses_is_taken_or_refused_with_what_is_allowed(
    api: Api, before: PlanStatus | None, sent: PlanStatus
) -> None:
    dispatch = give(api)
    if before is not None:
        assert submit(api, dispatch, envelope(dispatch, before, "before"))["state"] == "accepted"

    made = submit(api, dispatch, envelope(dispatch, sent, "after"))

    if before is None or MACHINE.allows(before, sent):
        assert (made["state"], now(api, dispatch)["status"]) == ("accepted", sent)
    else:
        assert (made["state"], made["refused_by"], made["refusal"]["code"]) == ("refused", "status", "illegal_move")
        assert made["refusal"]["allowed"] == [e for e in MACHINE.events_from(before) if e != NEXT_TURN]
        assert now(api, dispatch)["status"] == before


def test_too_many_in_progress_are_refused_and_raise_one_escalation(api: Api) -> None:
    dispatch = give(api)
    states = [submit(api, dispatch, envelope(dispatch, "IN_PROGRESS", f"{n}"))["state"] for n in range(5)]

    assert states == ["accepted"] * 3 + ["refused"] * 2
    (waiting,) = asked(api, "blocked")
    api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "split it"})
    assert submit(api, dispatch, envelope(dispatch, "IN_PROGRESS", "again"))["state"] == "accepted"


def test_an_envelope_that_came_at_the_wrong_time_is_judged_anew(api: Api) -> None:
    dispatch = give(api)
    submit(api, dispatch, envelope(dispatch, "BLOCKED"))
    done = envelope(dispatch)
    refused = submit(api, dispatch, done)
    assert refused["refused_by"] == "status"
    submit(api, dispatch, envelope(dispatch, "IN_PROGRESS"))

    again = submit(api, dispatch, done)
    assert (again["id"], again["state"], again["refused_by"], again["told"]) == (refused["id"], "accepted", None, "")


# ---- people ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "words"), [("NEEDS_INPUT", "needs_input", "A or B?"), ("BLOCKED", "blocked", "no access")]
)
def test_an_answer_starts_the_next_turn_in_which_the_work_may_be_complete(
    api: Api, status: str, kind: str, words: str
) -> None:
    dispatch = give(api, session_id="s1", role="builder")
    made = submit(api, dispatch, envelope(dispatch, status, "A or B?"))
    (waiting,) = asked(api, kind)
    assert (waiting["id"], waiting["session_id"]) == (made["escalation_id"], "s1")
    assert words in waiting["text"]

    answered = api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "A", "hold": 30})

    assert (answered["delivery"], answered["turn_session"], answered["held_until"]) == ("pending", "s1", None)
    after = now(api, dispatch)
    assert (after["status"], after["turn"], after["in_progress"]) == ("IN_PROGRESS", 2, 0)
    done = submit(api, dispatch, envelope(dispatch))
    assert (done["state"], done["turn"]) == ("accepted", 2)


def test_a_person_who_declines_to_answer_starts_the_next_turn_too(api: Api) -> None:
    dispatch = give(api)
    made = submit(api, dispatch, envelope(dispatch, "NEEDS_INPUT"))
    declined = api.post(f"/api/escalations/{made['escalation_id']}/dismiss", {"text": "decide yourself"})

    assert declined["turn_session"] == dispatch["agent_id"]  # which nobody has told the session of
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)


def test_what_was_asked_is_withdrawn_when_the_work_is_complete(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    made = submit(api, dispatch, envelope(dispatch, "NEEDS_INPUT"))
    submit(api, dispatch, envelope(dispatch, "IN_PROGRESS"))
    assert len(asked(api, "needs_input")) == 1  # it may still want to know
    submit(api, dispatch, envelope(dispatch))
    before = now(api, dispatch)

    assert api.get(f"/api/escalations/{made['escalation_id']}")["state"] == "withdrawn"
    assert api.request("POST", f"/api/escalations/{made['escalation_id']}/respond", {"text": "B"}).status == 409
    assert (now(api, dispatch), turns(api, "s1")) == (before, [])


def test_what_was_asked_for_a_refusal_is_withdrawn_when_it_is_mended_and_asked_anew_after_that(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    bad = envelope(dispatch)
    del bad["agent_status"]["next_action"]
    refused = [submit(api, dispatch, bad) for _ in range(2)][-1]
    assert refused["escalation_id"] == asked(api, "blocked")[0]["id"]

    assert submit(api, dispatch, envelope(dispatch, "IN_PROGRESS"))["state"] == "accepted"
    assert asked(api, "blocked") == []
    again = [submit(api, dispatch, bad) for _ in range(2)][-1]
    assert [one["id"] for one in asked(api, "blocked")] == [again["escalation_id"]]
    assert again["escalation_id"] != refused["escalation_id"]


def test_work_is_completed_while_an_answer_is_being_given_which_is_nobodys_next_turn_then(api: Api) -> None:
    if api.app.database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    dispatch = give(api, session_id="s1")
    made = submit(api, dispatch, envelope(dispatch, "NEEDS_INPUT"))
    submit(api, dispatch, envelope(dispatch, "IN_PROGRESS"))

    with api.app.database.transaction() as tx:
        row = store.get_locked(tx, made["escalation_id"])
        assert submit(api, dispatch, envelope(dispatch))["state"] == "accepted"  # it did not wait for the answer
        answered = store.answer(tx, row, Reply("answered", "B", "operator"))

    assert (answered.state, answered.delivery) == ("resolved", "none")
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("COMPLETE", 1)
    assert turns(api, "s1") == []


def test_an_approval_request_seals_the_exact_command_and_its_grant_starts_the_next_turn(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    made = submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST"))
    (request,) = api.get("/api/approvals")["approvals"]

    assert (request["command"], request["cwd"], request["tool"]) == ("git push", dispatch["folder"], "Bash")
    assert (request["requester"], request["risk"], request["escalation_id"]) == (
        dispatch["id"],
        "T3",
        made["escalation_id"],
    )
    api.post(f"/api/approvals/{request['id']}/approve", {})
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)
    assert submit(api, dispatch, envelope(dispatch))["state"] == "accepted"


def test_a_grant_that_is_there_before_it_is_asked_for_is_told_as_the_next_turn(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    call = {"command": "git push", "cwd": dispatch["folder"], "tool": "Bash", "requester": dispatch["id"]}
    request = api.post("/api/approvals", {**call, "session_id": "s1", "risk": "T3"})
    api.post(f"/api/approvals/{request['id']}/approve", {})
    assert turns(api, "s1") == []

    made = submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST"))

    assert (made["state"], made["escalation_id"]) == ("accepted", request["escalation_id"])
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)
    told = api.get(f"/api/escalations/{request['escalation_id']}")
    assert (told["delivery"], told["turn_session"]) == ("pending", "s1")
    (turn,) = turns(api, "s1")
    assert (turn["event_id"], turn["outcome"], turn["text"]) == (request["escalation_id"], "answered", "yes")
    api.take("GembaReplyRead", {"event_id": turn["event_id"], "at": turn["at"]}, "s1")
    assert api.get(f"/api/escalations/{request['escalation_id']}")["delivery"] == "delivered"
    assert turns(api, "s1") == []


def test_a_grant_starts_the_turn_after_the_last_one_that_asks_for_it(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST", "one"))
    api.post(f"/api/dispatches/{dispatch['id']}/turn", {})
    submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST", "two"))
    (request,) = api.get("/api/approvals")["approvals"]
    api.post(f"/api/approvals/{request['id']}/approve", {})

    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 3)
    assert submit(api, dispatch, envelope(dispatch))["state"] == "accepted"


def test_a_request_whose_time_ran_out_is_asked_anew_without_a_turn_of_the_old_one(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST", "one"))
    submit(api, dispatch, envelope(dispatch, "IN_PROGRESS"))
    with api.app.database.transaction() as tx:
        tx.connection.execute(update(approvals).values(expires_at=tx.now - 1))
    submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST", "two"))

    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("APPROVAL_REQUEST", 1)
    assert Counter(one["state"] for one in api.get("/api/approvals")["approvals"]) == {"pending": 1, "expired": 1}
    (request,) = api.get("/api/approvals?state=pending")["approvals"]
    api.post(f"/api/approvals/{request['id']}/approve", {})
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)


def test_an_approval_request_without_an_exact_command_asks_a_person(api: Api) -> None:
    dispatch = give(api)
    document = envelope(dispatch, "APPROVAL_REQUEST")
    del document["approval_request"]["exact_content"]
    submit(api, dispatch, document)

    (waiting,) = asked(api, "needs_input")
    assert "git revert HEAD" in waiting["text"]


# ---- what it brings -------------------------------------------------------------------------------------------------


def test_contracts_and_memories_come_with_acceptance_and_not_before(api: Api) -> None:
    (api.workspace / ".gemba/context.toml").write_text(SECTIONS)
    dispatch = give(api, role="builder")
    brings: dict[str, Any] = {
        "update_contracts": [
            {"contract": "db", "payload": {"engine": "postgres"}},
            {"contract": "secrets", "payload": {"x": 1}},
        ],
        "memory_suggestions": ["Ports are in ports.toml"],
    }
    bad = envelope(dispatch, **brings)
    del bad["agent_status"]["next_action"]
    submit(api, dispatch, bad)
    assert api.get("/api/memories")["total"] == 0
    assert api.get("/api/context")["sections"][0]["revision"] == 0

    made = submit(api, dispatch, envelope(dispatch, **brings))

    assert made["applied"]["contracts"] == [{"contract": "db", "revision": 1}]
    (memory,) = api.get("/api/memories")["memories"]
    assert made["applied"]["memory"] == [memory["id"]]
    assert memory["source"] == made["id"]
    assert made["verdict"]["warnings"] == ["UPDATE_CONTRACTS_NOT_WRITABLE:secrets"]
    kinds = [entry["kind"] for entry in api.get("/api/audit")["entries"]]
    assert {"context.applied", "handoff.accepted"} <= set(kinds)


def test_updates_that_a_section_refuses_are_told_and_the_work_is_accepted(api: Api) -> None:
    (api.workspace / ".gemba/context.toml").write_text(SECTIONS + "strict = true\n")
    dispatch = give(api, role="builder")
    made = submit(
        api,
        dispatch,
        envelope(dispatch, update_contracts=[{"contract": "db", "payload": {"host": "10.1.2.3"}}]),
    )

    assert (made["state"], made["applied"]["contracts"]) == ("accepted", [])
    assert "no update was applied" in made["applied"]["warnings"][0]["message"]


@pytest.mark.parametrize("trouble", ["unreadable", "no TOML"])
def test_where_nobody_knows_the_sections_no_update_is_applied_and_the_work_is_accepted(api: Api, trouble: str) -> None:
    file = api.workspace / ".gemba/context.toml"
    file.write_text(SECTIONS)
    dispatch = give(api, role="builder")
    file.unlink()
    file.mkdir() if trouble == "unreadable" else file.write_text("[section")
    made = submit(api, dispatch, envelope(dispatch, update_contracts=[{"contract": "db", "payload": {"port": 1}}]))

    assert (made["state"], made["applied"]["contracts"]) == ("accepted", [])
    assert "no update was applied" in made["applied"]["warnings"][0]["message"]


def test_an_error_inside_accepts_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    (api.workspace / ".gemba/context.toml").write_text(SECTIONS)
    dispatch = give(api, role="builder")

    def broken() -> None:
        raise RuntimeError("no sections today")

    monkeypatch.setitem(api.app.database.surroundings, "sections", broken)
    document = envelope(dispatch, update_contracts=[{"contract": "db", "payload": {"engine": "x"}}])
    answer = api.request("POST", "/api/handoffs", {"envelope": document, "dispatch_id": dispatch["id"]})

    assert answer.status == 500
    assert api.get("/api/handoffs")["total"] == 0
    assert (now(api, dispatch)["status"], now(api, dispatch)["completed_at"]) == (None, None)


# ---- frames ---------------------------------------------------------------------------------------------------------


def frame(api: Api, dispatch: dict[str, Any] | None, document: Any, **more: Any) -> dict[str, Any]:
    """What the stop hook keeps; the handoff that came of it."""
    ids = {"dispatch_id": "", "agent_id": ""}
    if dispatch is not None:
        ids = {"dispatch_id": dispatch["id"], "agent_id": dispatch["agent_id"]}
    api.take("GembaHandoff", {**ids, "event": "Stop", "envelope": document, **more}, "s9")
    found: dict[str, Any] = api.get("/api/handoffs")["handoffs"][0]
    return found


def test_a_frame_is_handed_over_as_from_anybody_else(api: Api) -> None:
    dispatch = give(api)
    made = frame(api, dispatch, envelope(dispatch))

    assert (made["state"], made["source"], made["event"], made["session_id"]) == ("accepted", "hook", "Stop", "s9")
    assert now(api, dispatch)["session_id"] == "s9"
    assert submit(api, dispatch, envelope(dispatch))["id"] == made["id"]


def test_a_frame_that_the_hook_let_pass_is_judged_again_and_a_refusal_is_a_persons(api: Api) -> None:
    dispatch = give(api)
    made = frame(api, dispatch, {"agent_status": {}})

    assert (made["state"], made["refused_by"], made["verdict"]["action"]) == ("refused", "verdict", "escalate")
    assert now(api, dispatch)["status"] is None
    (waiting,) = asked(api, "blocked")
    assert (waiting["id"], waiting["text"]) == (made["escalation_id"], made["told"])


def test_a_frame_with_a_status_that_is_refused_is_a_persons(api: Api) -> None:
    dispatch = give(api)
    submit(api, dispatch, envelope(dispatch, "BLOCKED"))
    submit(api, dispatch, envelope(dispatch, words="and now it works"))
    made = frame(api, dispatch, envelope(dispatch, words="and now it works"))  # which its agent ends with all the same

    assert (made["refused_by"], made["verdict"]["action"], made["source"]) == ("status", "escalate", "hook")
    waiting = api.get(f"/api/escalations/{made['escalation_id']}")
    assert (waiting["kind"], waiting["text"]) == ("blocked", made["told"])
    api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "send it again"})
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)
    assert submit(api, dispatch, envelope(dispatch, words="and now it works"))["state"] == "accepted"


def test_after_completion_another_complete_bothers_nobody_and_anything_else_is_a_persons(api: Api) -> None:
    dispatch = give(api)
    submit(api, dispatch, envelope(dispatch))
    frame(api, dispatch, envelope(dispatch, words="done again"))
    assert asked(api, "blocked") == []

    made = frame(api, dispatch, envelope(dispatch, "NEEDS_INPUT", "A or B?"))
    (waiting,) = asked(api, "blocked")
    assert waiting["id"] == made["escalation_id"]
    api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "A"})
    assert (now(api, dispatch)["status"], now(api, dispatch)["turn"]) == ("IN_PROGRESS", 2)
    assert [turn["text"] for turn in turns(api, "s9")] == ["A"]


def test_an_answer_goes_to_the_session_that_spoke_last(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    frame(api, dispatch, envelope(dispatch, "NEEDS_INPUT", "A or B?"))

    (waiting,) = asked(api, "needs_input")
    assert waiting["session_id"] == "s9"


def test_a_turn_that_the_hook_let_end_unrepaired_is_blocked(api: Api) -> None:
    dispatch = give(api)
    made = frame(api, dispatch, None, refused=True, codes=["AGENT_STATUS"], text="…I am done")

    assert (made["state"], made["refused_by"]) == ("refused", "repairs_spent")
    (waiting,) = asked(api, "blocked")
    assert waiting["id"] == made["escalation_id"]
    api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "try again"})
    assert now(api, dispatch)["turn"] == 2


def test_a_refused_turn_that_would_pass_is_refused_all_the_same(api: Api) -> None:
    dispatch = give(api)
    assert frame(api, dispatch, envelope(dispatch), refused=True, codes=["BODY:body_size"])["state"] == "refused"
    assert now(api, dispatch)["status"] is None


def test_a_subagents_handoff_is_kept_and_moves_nothing(api: Api) -> None:
    dispatch = give(api)
    document = {**envelope(dispatch), "memory_suggestions": ["x"]}
    made = frame(api, dispatch, document, event="SubagentStop", agent_id="abcdef99")

    assert (made["state"], made["dispatch_id"], made["agent_id"]) == ("accepted", dispatch["id"], "abcdef99")
    assert (now(api, dispatch)["status"], api.get("/api/memories")["total"]) == (None, 0)
    assert submit(api, dispatch, document)["id"] != made["id"]
    assert now(api, dispatch)["status"] == "COMPLETE"


def test_a_turn_outside_of_a_dispatch_is_kept_with_its_session(api: Api) -> None:
    made = frame(api, None, envelope({"agent_id": "abcdef01"}, "NEEDS_INPUT", "A or B?"))

    assert (made["dispatch_id"], made["session_id"], made["state"]) == (None, "s9", "accepted")
    (waiting,) = asked(api, "needs_input")
    answered = api.post(f"/api/escalations/{waiting['id']}/respond", {"text": "A"})
    assert answered["turn_session"] == "s9"


@pytest.mark.parametrize(
    "payload",
    [{}, {"dispatch_id": 7}, {"envelope": [1]}, {"dispatch_id": "x" * 9_999, "refused": True, "codes": [1, None]}],
)
def test_no_frame_fails_its_batch(api: Api, payload: dict[str, Any]) -> None:
    api.append("GembaHandoff", payload)
    api.ask("still here?")

    assert [one["text"] for one in asked(api, "question")] == ["still here?"]
    assert {one["state"] for one in api.get("/api/handoffs")["handoffs"]} <= {"refused"}


def test_a_frame_that_cannot_be_taken_leaves_nothing_and_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    (api.workspace / ".gemba/context.toml").write_text(SECTIONS)
    dispatch = give(api, role="builder")
    monkeypatch.setitem(api.app.database.surroundings, "sections", lambda: 1 / 0)
    document = envelope(dispatch, update_contracts=[{"contract": "db", "payload": {"engine": "x"}}])
    api.append("GembaHandoff", {"dispatch_id": dispatch["id"], "envelope": document, "event": "Stop"})
    api.ask("still here?")

    assert api.get("/api/handoffs")["total"] == 0
    assert api.get("/api/audit")["total"] == 0
    assert now(api, dispatch)["status"] is None
    assert len(asked(api, "question")) == 1


def test_what_is_asked_says_what_the_work_is_about(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    submit(api, dispatch, envelope(dispatch, "NEEDS_INPUT", "A or B?", user_facing_summary="Which colour?"))
    (waiting,) = asked(api, "needs_input")

    assert waiting["title"] == f"An agent needs your input: {dispatch['goal']}"
    assert waiting["text"] == "Which colour?\n\nA or B?"


@pytest.mark.parametrize(
    ("answer", "told"), [({"option": 2}, "blue"), ({"text": " RED"}, "red"), ({"text": "green"}, "green")]
)
def test_options_that_an_agent_lists_are_offered_beside_any_other_words(
    api: Api, answer: dict[str, Any], told: str
) -> None:
    dispatch = give(api, session_id="s1")
    words = "Which colour?\n1. red\n2. blue"
    submit(api, dispatch, envelope(dispatch, "NEEDS_INPUT", words, user_facing_summary="Nearly done."))
    (waiting,) = asked(api, "needs_input")
    assert (waiting["options"], waiting["text"]) == (["red", "blue"], f"Nearly done.\n\n{words}")

    api.post(f"/api/escalations/{waiting['id']}/respond", answer)
    assert now(api, dispatch)["turn"] == 2
    assert [turn["text"] for turn in turns(api, "s1")] == [told]


def test_the_person_who_approves_reads_what_the_agent_says_of_it(api: Api) -> None:
    dispatch = give(api, session_id="s1")
    said = {"operation": "drop a table", "scope": "production", "risk_level": "HIGH"}
    wanted = {"exact_content": "DROP TABLE users;", "rollback": "the backup", "verification": "count rows", **said}
    submit(api, dispatch, envelope(dispatch, "APPROVAL_REQUEST", approval_request=wanted))
    (made,) = api.get("/api/approvals")["approvals"]

    assert made["reason"].endswith("the agent says: operation drop a table, scope production, risk_level HIGH")
