"""Frames that are taken in at the very moment at which the operator decides: one of them is first, and both go on."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from gemba import clock, wire
from gemba.app import App
from gemba.escalations import store, verbs
from gemba.escalations.escalation import Respond
from gemba.escalations.verbs import Snooze
from gemba.testing import retry_until


def write(app: App, hook: str, payload: dict[str, Any], session: str = "s") -> str:
    event_id = wire.new_event_id()
    line = wire.encode_frame(
        hook, payload, session_id=session, workspace=str(app.workspace.root), agent_type="test", event_id=event_id
    )
    wire.append_frame(str(app.home), session, line)
    return event_id


def ask(app: App) -> str:
    id = write(app, "GembaAsk", {"kind": "question", "role": "coach", "text": "Which?", "mode": "balanced"})
    app.ingest.drain()
    return id


def while_the_operator_commits(app: App, decide: Callable[[Any], Any], meanwhile: Callable[[], Any]) -> None:
    """Run `meanwhile` in another thread, up to where the operator's open transaction keeps it waiting."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    other = threading.Thread(target=run)
    with app.database.transaction() as tx:
        decide(tx)
        other.start()
        if not app.database.is_sqlite:  # there it waits for its turn to write and has seen nothing yet
            retry_until(lambda: is_kept_waiting(app))
    other.join()
    if raised:
        raise raised[0]


def is_kept_waiting(app: App) -> bool:
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with app.database.read() as connection:
        return bool(connection.execute(text(waiting)).scalar())


FRAMES: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "withdrawn": lambda id: ("GembaWithdraw", {"event_id": id}),
    "session over": lambda id: ("SessionEnd", {"reason": "exit"}),
    "typed": lambda id: ("UserPromptSubmit", {"prompt": "take the left one"}),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_what_the_operator_answers_at_this_moment_stays_answered(app: App, frame: str) -> None:
    id = ask(app)
    hook, payload = FRAMES[frame](id)
    write(app, hook, payload)

    while_the_operator_commits(
        app, lambda tx: verbs.respond(tx, Respond(text="the right one"), id=id), app.ingest.drain
    )

    with app.database.read() as connection:
        found = store.view(store.get(connection, id))
    assert found.resolution is not None
    assert (found.state, found.resolution.text) == ("resolved", "the right one")


def test_an_alarm_that_rings_at_this_moment_opens_nothing_again(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    id = ask(app)
    with app.database.transaction() as tx:
        verbs.snooze(tx, Snooze(seconds=1), id=id)
    later = clock.now() + 2 * clock.SECOND
    monkeypatch.setattr(clock, "now", lambda: later)

    def ring() -> None:
        with app.database.transaction() as tx:
            store.ring(tx)

    while_the_operator_commits(app, lambda tx: verbs.respond(tx, Respond(text="yes"), id=id), ring)

    with app.database.read() as connection:
        assert store.get(connection, id).state == "resolved"
