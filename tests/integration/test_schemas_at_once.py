"""Asks whose schemas would take long to judge are opened all the same, on both databases."""

from typing import Any

from sqlalchemy import select

from gemba.escalations.store import escalations
from tests.fixtures.logs import Logs


def ask(logs: Logs, text: str, schema: dict[str, Any]) -> bytes:
    payload = {"kind": "question", "role": "coach", "mode": "balanced", "text": text, "schema": schema}
    return logs.frame("GembaAsk", payload)


def test_no_question_is_lost_for_schemas_that_are_too_much_at_once(logs: Logs) -> None:
    large = [{"allOf": [{"pattern": rf"(\w{{30}}){{30}}{number}"}] * 40} for number in range(60)]
    usual = {"type": "integer"}
    logs.take(
        ask(logs, "Usual, before?", usual),
        *(ask(logs, f"Part {number}?", schema) for number, schema in enumerate(large)),
        ask(logs, "Usual, after?", usual),
        ask(logs, "Another?", {"type": "string"}),
    )

    with logs.app.database.read() as connection:
        rows = connection.execute(select(escalations).order_by(escalations.c.opened_at, escalations.c.id)).all()
    assert len(rows) == 63
    without = [row for row in rows if row.schema is None]
    assert 20 < len(without) < 60
    assert all(
        "Its schema for the answer could not be used: too many schemas came at once" in row.text for row in without
    )
    by_text = {row.text.partition("?")[0]: row for row in rows}
    assert by_text["Part 0"].schema is not None
    assert by_text["Usual, after"].schema == by_text["Usual, before"].schema == '{"type":"integer"}'
    assert by_text["Another"].schema is None

    logs.take(ask(logs, "Another, later?", {"type": "string"}))
    with logs.app.database.read() as connection:
        later = connection.execute(select(escalations).where(escalations.c.text == "Another, later?")).one()
    assert later.schema == '{"type":"string"}'
