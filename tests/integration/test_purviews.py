"""What a purview holds, on both databases: refused, asked about once, let go by a person's word, and audited."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select

from gemba.app import App
from gemba.errors import Conflict
from gemba.escalations.store import escalations
from gemba.handoff import audit
from gemba.personas.holding import MACHINE, HoldState, guard, guard_item, holds
from gemba.personas.purview import Change
from gemba.store.database import Transaction
from gemba.store.schema import counters, events
from tests.fixtures.api import Api

LOGIN = Change("g-1", "task", "review", "done", labels=("auth",))
DECISION = Change("g-2", "decision", "review", "done")
PAGE = Change("g-3", "task", "review", "done", labels=("docs",))


def attempt(app: App, change: Change = LOGIN) -> Conflict | None:
    """What a change is refused with, or None; what it does to the work stands in a counter."""

    def verb(tx: Transaction) -> None:
        tx.put(counters, [{"name": "work", "value": 1}])
        guard(tx, change, "Sign in")

    try:
        app.database.change(verb)
    except Conflict as error:
        return error
    return None


def was_changed(app: App) -> bool:
    with app.database.read() as connection:
        return connection.execute(select(counters.c.value).where(counters.c.name == "work")).scalar() == 1


def cards(app: App) -> list[Any]:
    with app.database.read() as connection:
        rows = select(escalations).where(escalations.c.kind == "purview_violation").order_by(escalations.c.received_at)
        return list(connection.execute(rows).all())


def states(app: App) -> list[str]:
    with app.database.read() as connection:
        return list(connection.execute(select(holds.c.state).order_by(holds.c.created_at)).scalars())


def set_phase(api: Api, phase: str) -> None:
    api.request("PATCH", "/api/project/phase", {"phase": phase})


def answer(api: Api, id: str, action: str, text: str | None = None) -> Any:
    return api.request("POST", f"/api/escalations/{id}/respond", {"action": action, "text": text})


def test_a_blocking_purview_refuses_the_change_and_leaves_a_blocking_card(app: App, api: Api) -> None:
    error = attempt(app)

    assert error is not None
    assert error.code == "purview_held"
    assert "the label auth belongs to auth, and Security answers for that" in error.message
    (card,) = cards(app)
    assert error.extra["escalations"] == [card.id]
    assert (card.urgency, card.channel, card.bead_id) == ("blocking", "system", "g-1")
    assert msgspec.json.decode(card.options) == ["fixed", "override"]
    assert "g-1 (Sign in) is to become done" in card.text
    assert not was_changed(app)
    (held,) = api.get("/api/purviews")["held"]
    assert (held["id"], held["persona_id"], held["authority"]) == (card.id, "security", "blocking")


def test_the_same_change_again_is_refused_by_the_same_card(app: App) -> None:
    first, second = attempt(app), attempt(app)

    assert first is not None
    assert second is not None
    assert first.extra["escalations"] == second.extra["escalations"]
    assert len(cards(app)) == 1


def test_many_that_try_at_once_leave_one_card(app: App) -> None:
    start = threading.Barrier(8)

    def run(_: int) -> list[str]:
        start.wait()
        error = attempt(app)
        assert error is not None
        found: list[str] = error.extra["escalations"]
        return found

    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(run, range(8)))

    assert [[card.id] for card in cards(app)] * 8 == told


def test_what_is_fixed_goes_through_once(app: App, api: Api) -> None:
    attempt(app)

    answer(api, cards(app)[0].id, "fixed")

    assert attempt(app) is None
    assert was_changed(app)
    assert states(app) == ["used"]
    assert attempt(app) is not None
    assert len(cards(app)) == 2


def test_an_override_needs_a_justification_and_the_audit_log_keeps_it(app: App, api: Api) -> None:
    attempt(app)
    id = cards(app)[0].id

    refused = answer(api, id, "override", "  ")
    assert refused.status == 422
    assert refused.json["pointer"] == "/text"
    assert attempt(app) is not None
    assert answer(api, id, "override", "the customer waits, reviewed by hand").status == 200

    assert attempt(app) is None
    with app.database.read() as connection:
        (entry,) = [each for each in audit.entries(connection) if each.kind == "purview.overridden"]
    body = msgspec.json.decode(entry.body)
    assert (entry.ref, body["item_id"], body["persona_id"]) == (id, "g-1", "security")
    assert body["justification"] == "the customer waits, reviewed by hand"


def test_a_card_that_is_dismissed_lets_nothing_go_and_is_asked_anew(app: App, api: Api) -> None:
    attempt(app)
    api.request("POST", f"/api/escalations/{cards(app)[0].id}/dismiss", {})

    error = attempt(app)

    assert error is not None
    assert len(cards(app)) == 2
    assert error.extra["escalations"] == [cards(app)[1].id]


def test_a_hold_whose_reason_is_gone_is_taken_back_with_its_card(app: App) -> None:
    attempt(app)

    assert attempt(app, LOGIN._replace(labels=())) is None

    assert states(app) == ["lapsed"]
    assert cards(app)[0].state == "withdrawn"


def test_work_that_begins_or_is_given_up_is_not_held(app: App) -> None:
    for state in ("in_progress", "review", "deferred", "cancelled"):
        assert attempt(app, LOGIN._replace(from_state="unstarted", to_state=state)) is None
    assert cards(app) == []


def test_a_strong_purview_asks_and_holds_nothing(app: App, api: Api) -> None:
    set_phase(api, "design")

    assert attempt(app, DECISION) is None
    assert attempt(app, DECISION) is None

    (card,) = cards(app)
    assert (card.urgency, card.state) == ("advisory", "open")
    assert was_changed(app)
    assert answer(api, card.id, "override", "decided in the meeting").status == 200


def test_an_advisory_purview_is_told_and_asks_nobody(app: App, api: Api) -> None:
    set_phase(api, "shipping")

    assert attempt(app, PAGE) is None

    assert cards(app) == []
    with app.database.read() as connection:
        rows = connection.execute(select(events).where(events.c.name == "purview.advised")).all()
    assert [row.ref for row in rows] == ["g-3"]
    told = msgspec.json.decode(rows[0].payload)
    assert told["persona_id"] == "documentarian"
    assert told["reasons"][0] == "the label docs belongs to docs"


def test_two_purviews_each_want_an_answer(app: App, api: Api) -> None:
    set_phase(api, "shipping")
    both = LOGIN._replace(labels=("auth", "qa"))
    error = attempt(app, both)
    assert error is not None
    assert {each["persona_id"] for each in error.extra["purviews"]} == {"security", "qa"}
    first, second = error.extra["escalations"]

    answer(api, first, "fixed")
    left = attempt(app, both)
    assert left is not None
    assert left.extra["escalations"] == [second]
    answer(api, second, "fixed")

    assert attempt(app, both) is None
    assert states(app) == ["used", "used"]


def test_a_part_that_is_refused_leaves_its_card_and_the_rest_stands(app: App) -> None:
    refused: list[str] = []

    def verb(tx: Transaction) -> None:
        tx.put(counters, [{"name": "work", "value": 1}])
        try:
            with tx.part():
                tx.put(counters, [{"name": "work", "value": 2}])
                guard(tx, LOGIN)
        except Conflict as error:
            refused.append(error.code)

    app.database.change(verb)

    assert refused == ["purview_held"]
    assert was_changed(app)
    assert len(cards(app)) == 1


def test_what_a_refusal_leaves_is_only_left_by_a_refusal(app: App) -> None:
    def verb(tx: Transaction) -> None:
        tx.if_refused.append(lambda later: later.put(counters, [{"name": "work", "value": 1}]))
        raise RuntimeError("a fault of our own")

    with pytest.raises(RuntimeError):
        app.database.change(verb)

    assert not was_changed(app)


def test_the_guard_is_given_to_work_and_reads_its_items(app: App) -> None:
    class Login:
        id, title, kind, state, repository = "g-9", "Sign in", "task", "review", None
        labels, concepts, targets = ["auth"], list[str](), list[str]()

    assert guard_item in app.database.surroundings["transition_guards"]
    with pytest.raises(Conflict, match="g-9 cannot become done yet"):
        app.database.change(lambda tx: guard_item(tx, Login(), "done"))
    with app.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(holds)).scalar_one() == 1


@pytest.mark.parametrize("state", list(HoldState))
def test_a_hold_moves_by_its_table_alone(state: HoldState) -> None:
    allowed = {
        "held": ["fixed", "overridden", "lapsed"],
        "fixed": ["used", "lapsed"],
        "overridden": ["used", "lapsed"],
        "used": [],
        "lapsed": [],
    }

    assert MACHINE.events_from(state) == allowed[state]


def test_a_work_item_of_a_held_domain_is_done_only_after_its_card_is_answered(api: Api) -> None:
    made = api.request("POST", "/api/work-items", {"item": {"title": "Sign in", "labels": ["auth"]}}).json
    path = f"/api/work-items/{made['id']}"

    held = api.request("PATCH", path, {"state": "done"})
    assert (held.status, held.json["code"]) == (409, "purview_held")
    assert api.get(path)["state"] == "unstarted"
    (card,) = api.get("/api/escalations?kind=purview_violation")["escalations"]
    assert (card["urgency"], card["bead_id"]) == ("blocking", made["id"])
    assert answer(api, card["id"], "override", "shown to the auditor").status == 200

    assert api.request("PATCH", path, {"state": "done"}).status == 200
    assert api.get(path)["state"] == "done"


@pytest.mark.parametrize("labels", [[], ["auth"]])
def test_a_change_of_the_labels_together_with_the_state_hides_nothing(api: Api, labels: list[str]) -> None:
    made = api.request("POST", "/api/work-items", {"item": {"title": "Sign in", "labels": labels}}).json
    others = ["auth"] if not labels else []

    held = api.request("PATCH", f"/api/work-items/{made['id']}", {"labels": others, "state": "done"})

    assert (held.status, held.json["code"]) == (409, "purview_held")
    assert api.get(f"/api/work-items/{made['id']}")["labels"] == labels
