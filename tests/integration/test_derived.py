"""Keys, bands and the search index are made anew for a database that another version of the program has written."""

from contextlib import closing
from typing import Any

from sqlalchemy import delete, select, text, update

from gemba.app import App
from gemba.escalations import derived
from gemba.escalations.precedents import likes
from gemba.escalations.rules import rules
from gemba.escalations.store import escalations
from gemba.store.database import Database
from gemba.store.schema import counters
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs


def forget(database: Database) -> None:
    """All that is derived, as if it had never been made."""
    with database.transaction() as tx:
        tx.connection.execute(delete(likes))
        tx.connection.execute(update(escalations).values(like_key=""))
        tx.connection.execute(update(rules).values(like_key="of another version"))
        tx.connection.execute(text("delete from escalation_search"))


def age(database: Database) -> None:
    with database.transaction() as tx:
        tx.connection.execute(delete(counters).where(counters.c.name == "escalations.derived"))


def keys(database: Database) -> set[Any]:
    with database.read() as connection:
        return {tuple(row) for row in connection.execute(select(escalations.c.id, escalations.c.like_key))}


def bands(database: Database) -> set[Any]:
    with database.read() as connection:
        return {tuple(row) for row in connection.execute(select(likes))}


def test_what_was_asked_before_an_upgrade_is_precedent_rule_and_found(api: Api) -> None:
    answered = api.ask("Which database should I use?", "s-1")
    api.post(f"/api/escalations/{answered}/respond", {"text": "PostgreSQL"})
    api.post("/api/rules", {"escalation_id": api.ask("Which port?", "s-1"), "text": "8080"})
    api.permission()
    for number in range(250):  # more than are read at once
        api.append("GembaAsk", {"kind": "question", "role": "coach", "text": f"Which of the {number}?"})
    api.app.ingest.drain()
    before = keys(api.app.database), bands(api.app.database)
    forget(api.app.database)
    age(api.app.database)

    derived.refresh(api.app.database)

    assert (keys(api.app.database), bands(api.app.database)) == before
    assert api.get("/api/escalations?q=postgres")["escalations"][0]["id"] == answered
    later = api.ask("What database should we use?", "s-2")
    assert api.get(f"/api/escalations/{later}")["precedent"]["escalation_id"] == answered
    ruled = api.ask("What port?", "s-2")
    assert api.get(f"/api/escalations/{ruled}")["resolution"]["by"] == "rule"


def test_opening_makes_them_and_only_when_they_are_of_another_version(logs: Logs) -> None:
    logs.take(logs.ask("Which port?"))
    app, made = logs.app, bands(logs.app.database)
    forget(app.database)
    age(app.database)

    with closing(App.open(app.workspace, app.settings, app.home)) as again:
        assert bands(again.database) == made
    forget(app.database)
    with closing(App.open(app.workspace, app.settings, app.home)) as again:
        assert bands(again.database) == set()
