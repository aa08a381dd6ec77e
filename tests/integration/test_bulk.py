"""One answer for many, and many answers taken back: each is done or told why not, once, in one transaction."""

from typing import Any

from sqlalchemy import select, update

from gemba import wire
from gemba.escalations.store import escalations
from gemba.flows.wanted import flows
from tests.fixtures.api import Api
from tests.fixtures.servers import Answer

NOBODY = "01934d5e-0000-7000-8000-000000000000"


def respond(api: Api, ids: list[str], confirm: str | None = None, **body: Any) -> Answer:
    headers = {} if confirm is None else {"X_GEMBA_Confirm": confirm}
    return api.request("POST", "/api/escalations/respond", {"ids": ids, **body}, **headers)


def reopen(api: Api, ids: list[str]) -> Answer:
    return api.request("POST", "/api/escalations/reopen", {"ids": ids})


def codes(refused: list[dict[str, str]]) -> dict[str, str]:
    assert all(entry["detail"] for entry in refused)
    return {entry["id"]: entry["code"] for entry in refused}


def asks(api: Api, many: int) -> list[str]:
    """Questions of several sessions, taken in together."""
    ids = []
    for number in range(many):
        payload = {"kind": "question", "role": "manager", "mode": "balanced", "text": "Which port?"}
        ids.append(api.append("GembaAsk", payload, f"session-{number % 7}"))
    api.app.ingest.drain()
    return ids


def wanted(api: Api) -> list[str]:
    with api.app.database.read() as connection:
        return list(connection.execute(select(flows.c.id)).scalars())


def test_two_hundred_are_answered_at_once_and_each_reply_is_on_its_way(api: Api) -> None:
    ids = asks(api, 200)

    answered = respond(api, ids, text="8080").json

    assert sorted(entry["id"] for entry in answered["answered"]) == sorted(ids)
    assert {(entry["state"], entry["delivery"]) for entry in answered["answered"]} == {("resolved", "pending")}
    assert answered["refused"] == []
    assert len([id for id in wanted(api) if id.startswith("deliver/")]) == 200
    api.app.write_replies()
    assert {file.stem for file in (api.home / "replies").glob("*.json")} == set(ids)
    assert api.get("/api/escalations?state=unresolved")["total"] == 0


def test_more_than_two_hundred_or_none_are_refused_and_nothing_is_answered(api: Api) -> None:
    ids = asks(api, 2)

    for many in ([], [*ids, *[wire.new_event_id() for _ in range(199)]]):
        answer = respond(api, many, text="8080")
        assert (answer.status, answer.json["pointer"]) == (422, "/ids")

    assert api.get("/api/escalations?state=unresolved")["total"] == 2


def test_those_that_cannot_be_answered_are_named_with_the_reason_and_the_others_are_answered(api: Api) -> None:
    fits = [api.ask("a"), api.ask("b")]
    answered, dismissed = api.ask("c"), api.ask("d")
    api.post(f"/api/escalations/{answered}/respond", {"text": "before"})
    api.post(f"/api/escalations/{dismissed}/dismiss", {})
    choice, number = api.ask("e", options=["red", "green"]), api.ask("f", schema={"type": "integer"})
    dialog = api.permission("another")

    found = respond(api, [dialog, NOBODY, *fits, answered, dismissed, choice, number], text="blue").json

    assert sorted(entry["id"] for entry in found["answered"]) == sorted(fits)
    refused = codes(found["refused"])
    assert refused == {
        answered: "already_resolved",
        dismissed: "already_resolved",
        choice: "does_not_fit",
        number: "does_not_fit",
        NOBODY: "not_found",
        dialog: "missing_field",
    }
    assert api.get(f"/api/escalations/{answered}")["resolution"]["text"] == "before"
    assert api.get(f"/api/escalations/{choice}")["state"] == "open"


def test_an_id_that_is_there_twice_is_answered_once(api: Api) -> None:
    one, other = api.ask("a"), api.ask("b")

    found = respond(api, [one, other, one, one], text="8080").json

    assert (len(found["answered"]), found["refused"]) == (2, [])


def test_an_option_answers_those_that_have_it(api: Api) -> None:
    three = api.ask("a", options=["red", "green", "blue"])
    two = api.ask("b", options=["red", "green"])

    found = respond(api, [three, two], option=3).json

    assert [entry["resolution"]["text"] for entry in found["answered"]] == ["blue"]
    assert list(codes(found["refused"])) == [two]


def test_the_same_confirm_id_gets_the_same_answer_and_answers_nothing_again(api: Api) -> None:
    ids, confirm = asks(api, 3), wire.new_event_id()
    first = respond(api, ids[:2], confirm, text="8080")
    flows_before = wanted(api)

    again = respond(api, ids[:2], confirm, text="8080")

    assert (again.status, again.body) == (first.status, first.body)
    assert wanted(api) == flows_before
    assert respond(api, ids, confirm, text="8080").status == 422
    assert api.get(f"/api/escalations/{ids[2]}")["state"] == "open"


def test_two_operators_who_answer_the_same_ones_share_them(api: Api) -> None:
    ids = asks(api, 20)

    first = respond(api, ids[:15], text="8080").json
    second = respond(api, ids[5:], text="9090").json

    assert (len(first["answered"]), len(second["answered"]), len(second["refused"])) == (15, 5, 10)
    assert set(codes(second["refused"]).values()) == {"already_resolved"}
    assert "8080" in second["refused"][0]["detail"]


# ---- taken back -----------------------------------------------------------------------------------------------------


def test_answers_that_are_held_are_taken_back_together(api: Api) -> None:
    ids = asks(api, 50)
    held = respond(api, ids, text="8080", hold=30).json["answered"]
    assert all(entry["held_until"] for entry in held)

    found = reopen(api, [*ids, ids[0]]).json

    assert (len(found["reopened"]), found["refused"]) == (50, [])
    assert {(entry["state"], entry["delivery"]) for entry in found["reopened"]} == {("open", "none")}
    api.app.write_replies()
    assert list((api.home / "replies").glob("*.json")) == []


def test_those_that_cannot_be_taken_back_are_named_with_the_reason(api: Api) -> None:
    held, sent, still_open, over = api.ask("a"), api.ask("b"), api.ask("c"), api.ask("d")
    respond(api, [held, over], text="8080", hold=30)
    respond(api, [sent], text="8080")
    with api.app.database.transaction() as tx:
        past = update(escalations).where(escalations.c.id == over).values(held_until=tx.now - 1)
        tx.connection.execute(past)

    found = reopen(api, [held, sent, still_open, over, NOBODY]).json

    assert [entry["id"] for entry in found["reopened"]] == [held]
    assert codes(found["refused"]) == {
        sent: "not_reopenable",
        still_open: "not_reopenable",
        over: "not_reopenable",
        NOBODY: "not_found",
    }
