"""Over HTTP: X-GEMBA-Confirm, by which a request runs once however often it is sent."""

import threading
from collections.abc import Callable
from contextlib import closing, suppress

import time_machine
from sqlalchemy import update

from gemba.app import App
from gemba.escalations.store import escalations
from gemba.event import Filter
from gemba.store import events
from gemba.store.database import Transaction
from tests.fixtures.api import Api, served
from tests.fixtures.servers import Answer, RunningServer


def respond(api: Api | RunningServer, id: str, text: str, confirm: str) -> Answer:
    return api.request("POST", f"/api/escalations/{id}/respond", {"text": text}, X_GEMBA_Confirm=confirm)


def resolved_events(api: Api) -> int:
    with api.app.database.read() as connection:
        return len(events.read_after(connection, 0, 1000, Filter(frozenset({"escalation.resolved"}))))


def at_once(many: int, do: Callable[[int], Answer]) -> list[Answer]:
    barrier = threading.Barrier(many)
    answers: list[Answer] = []

    def run(n: int) -> None:
        barrier.wait()
        answers.append(do(n))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_every_action_wants_a_confirm_id_and_changes_nothing_without(api: Api) -> None:
    id = api.ask()
    told = api.get("/api/escalations")["as_of"]
    for path, body in (
        (f"/api/escalations/{id}/respond", {"text": "x"}),
        (f"/api/escalations/{id}/ack", {}),
        (f"/api/escalations/{id}/dismiss", {}),
        (f"/api/escalations/{id}/snooze", {"seconds": 60}),
        (f"/api/escalations/{id}/reopen", {}),
        (f"/api/assumptions/{id}/overturn", {"text": "x"}),
        # Asked for first: what would be refused anyway is not judged without it.
        ("/api/escalations/unknown/ack", {"unknown": 1}),
    ):
        refused = api.request("POST", path, body, X_GEMBA_Confirm="")
        assert (refused.status, refused.json["code"]) == (428, "confirm_missing"), path
    assert api.get("/api/escalations")["as_of"] == told


def test_a_confirm_id_is_short_and_plain(api: Api) -> None:
    id = api.ask()
    for confirm in ("a b", "a/b", "x" * 129, "a\x7fb", "ü"):
        refused = respond(api, id, "x", confirm)
        assert (refused.status, refused.json["code"]) == (422, "confirm_invalid"), confirm
    assert respond(api, id, "x", "A-Z.a_z:0-9" + "x" * 117).status == 200


def test_the_same_request_again_gets_the_same_answer_byte_for_byte(api: Api) -> None:
    id = api.ask()
    first = respond(api, id, "8080", "one")
    # What it is now is no part of what it was answered then.
    api.take("GembaReplyRead", {"event_id": id})

    again = respond(api, id, "8080", "one")

    assert (again.status, again.body) == (first.status, first.body)
    assert "x-gemba-replayed" not in first.headers
    assert again.headers["x-gemba-replayed"] == "true"
    assert resolved_events(api) == 1
    assert api.get(f"/api/escalations/{id}")["delivery"] == "delivered"


def test_the_answer_is_kept_when_the_server_is_another(server: RunningServer) -> None:
    stream = server.events()
    server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "Which port?"})
    id = stream.until("escalation_opened")["data"]["ref"]
    first = respond(server, id, "8080", "one")
    server.kill()
    server.start()

    again = respond(server, id, "8080", "one")

    assert (again.status, again.body, again.headers["x-gemba-replayed"]) == (200, first.body, "true")


def test_a_confirm_id_belongs_to_one_request(api: Api) -> None:
    id, other = api.ask(), api.ask()
    respond(api, id, "8080", "one")

    for refused in (
        respond(api, id, "9090", "one"),
        respond(api, other, "8080", "one"),
        api.request("POST", f"/api/escalations/{other}/ack", {}, X_GEMBA_Confirm="one"),
    ):
        assert (refused.status, refused.json["code"], refused.json["found"]) == (422, "confirm_reused", "one")
    assert api.get(f"/api/escalations/{other}")["state"] == "open"


def test_the_same_request_sent_many_times_at_once_runs_once(api: Api) -> None:
    id = api.ask()

    answers = at_once(8, lambda _: respond(api, id, "8080", "one"))

    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert sum("x-gemba-replayed" not in answer.headers for answer in answers) == 1
    assert resolved_events(api) == 1


def test_of_different_requests_with_one_id_at_once_one_runs(api: Api) -> None:
    asked = [api.ask() for _ in range(6)]

    answers = at_once(6, lambda n: respond(api, asked[n], "8080", "one"))

    assert sorted(answer.status for answer in answers) == [200, 422, 422, 422, 422, 422]
    assert resolved_events(api) == 1


def test_a_refused_request_is_answered_the_same_again_though_it_would_be_taken_now(api: Api) -> None:
    item = f"/api/work-items/{api.request('POST', '/api/work-items', {'item': {'title': 'Index'}}).json['id']}"

    def claim(owner: str, confirm: str) -> Answer:
        return api.request("POST", f"{item}/claim", {"owner": owner}, X_GEMBA_Confirm=confirm)

    assert claim("ann", "first").status == 200
    refused = claim("bo", "second")
    assert (refused.status, refused.json["code"]) == (409, "claimed")
    api.post(f"{item}/claim/release", {})

    again = claim("bo", "second")

    assert (again.status, again.body, again.headers["x-gemba-replayed"]) == (409, refused.body, "true")
    assert again.headers["content-type"] == refused.headers["content-type"] == "application/problem+json"
    assert api.get(item)["claim"] is None
    assert claim("bo", "third").status == 200


def test_the_id_of_a_refused_request_is_its_own_and_of_no_other(api: Api) -> None:
    unknown = "/api/escalations/unknown/ack"
    assert api.request("POST", unknown, {}, X_GEMBA_Confirm="one").status == 404

    reused = api.request("POST", f"/api/escalations/{api.ask()}/ack", {}, X_GEMBA_Confirm="one")

    assert (reused.status, reused.json["code"]) == (422, "confirm_reused")
    assert api.request("POST", unknown, {}, X_GEMBA_Confirm="one").status == 404


def test_what_is_refused_before_anything_is_begun_is_kept_too(api: Api) -> None:
    folder = api.workspace / "not-yet"
    body = {"goal": "Mend it", "folder": str(folder)}
    first = api.request("POST", "/api/dispatches", body, X_GEMBA_Confirm="one")
    assert 400 <= first.status < 500, first
    folder.mkdir()

    again = api.request("POST", "/api/dispatches", body, X_GEMBA_Confirm="one")

    assert (again.status, again.body, again.headers["x-gemba-replayed"]) == (first.status, first.body, "true")
    assert api.request("POST", "/api/dispatches", body, X_GEMBA_Confirm="two").status == 200


def test_what_cannot_be_read_keeps_no_id(api: Api) -> None:
    """The request alone decides that, so the same one gets the same answer without anything being kept."""
    path = f"/api/escalations/{api.ask()}/snooze"
    for _ in range(2):
        refused = api.request("POST", path, {"seconds": "soon"}, X_GEMBA_Confirm="one")
        assert (refused.status, "x-gemba-replayed" in refused.headers) == (422, False)

    assert api.request("POST", path, {"seconds": 60}, X_GEMBA_Confirm="one").status == 200


def test_of_the_same_refused_request_sent_many_times_at_once_one_is_judged(api: Api) -> None:
    id = api.ask()
    respond(api, id, "blue", "first")

    answers = at_once(8, lambda _: respond(api, id, "green", "second"))

    assert {answer.status for answer in answers} == {409}
    assert len({answer.body for answer in answers}) == 1
    assert sum("x-gemba-replayed" not in answer.headers for answer in answers) == 1


def test_a_confirm_id_is_forgotten_after_a_day(api: Api) -> None:
    first, second = api.ask(), api.ask()
    with time_machine.travel("2030-01-01T00:00:00Z", tick=False) as time:
        respond(api, first, "8080", "one")

        time.shift(86_400)
        assert respond(api, second, "8080", "one").status == 422

        time.shift(1)
        assert respond(api, second, "8080", "one").status == 200


def test_two_servers_of_one_database_run_a_request_once(api: Api) -> None:
    id = api.ask()
    with closing(App.open(api.app.workspace, api.app.settings, api.home)) as app, served(app) as twin:
        answers = at_once(6, lambda n: respond((api, twin)[n % 2], id, "8080", "one"))

    assert {answer.status for answer in answers} == {200}
    assert resolved_events(api) == 1


def test_what_was_done_is_answered_again_though_the_world_has_changed_since(api: Api) -> None:
    folder = api.workspace / "here"
    folder.mkdir()
    body = {"goal": "Mend it", "folder": str(folder)}
    first = api.request("POST", "/api/dispatches", body, X_GEMBA_Confirm="same")
    folder.rmdir()
    again = api.request("POST", "/api/dispatches", body, X_GEMBA_Confirm="same")

    assert (first.status, again.status) == (200, 200)
    assert again.json == first.json
    assert again.headers["x-gemba-replayed"] == "true"
    other = api.request("POST", "/api/dispatches", {"goal": "Mend that"}, X_GEMBA_Confirm="same")
    assert (other.status, other.json["code"]) == (422, "confirm_reused")


def test_of_two_changes_that_wait_for_each_other_both_are_made(api: Api) -> None:
    """On PostgreSQL one of them is ended, and begun again; SQLite has one writer."""
    database = api.app.database
    ids = [api.ask(), api.ask()]
    met = threading.Barrier(2)
    tries: list[int] = []

    def change(order: list[str]) -> Callable[[Transaction], None]:
        def run(tx: Transaction) -> None:
            tries.append(1)
            first, second = order
            tx.connection.execute(update(escalations).where(escalations.c.id == first).values(changed_at=1))
            if not database.is_sqlite:
                with suppress(threading.BrokenBarrierError):
                    met.wait(5)
            tx.connection.execute(update(escalations).where(escalations.c.id == second).values(changed_at=2))

        return run

    def both(n: int) -> Answer:
        database.change(change(ids[:: 1 if n else -1]))
        return Answer(200, {}, None)

    assert len(at_once(2, both)) == 2
    assert len(tries) == (2 if database.is_sqlite else 3)
