"""What was decided in a run, as its report has it: what a person answered, with what was asked; what they said to
tasks, each thing once; and what tasks decided on the way. Composed from the rows alone; called by `report.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from gemba.escalations.store import escalations
from gemba.teams import store
from gemba.teams.attempts import tasks_by_session
from gemba.teams.markdown import literal
from gemba.teams.tables import wisdom

_MOST = 20
_WHO = 60
_LONGEST = 300
_TAKEN_BACK = ("withdrawn", "expired")
_MOST_NAMED = 5


def decided_in(connection: Connection, run_id: str, rows: Sequence[Row[Any]]) -> list[str]:
    said = _said(rows)
    mine = select(wisdom).where(wisdom.c.run_id == run_id, wisdom.c.kind == "decisions").order_by(wisdom.c.number)
    kept = {f"{row.author}: {row.words}": None for row in connection.execute(mine)}
    lines = [*_answers(connection, run_id)]
    lines += [f"- {literal(words, _LONGEST)} (to {_named(ids)})" for words, ids in said.items()]
    lines += [f"- {literal(words, _LONGEST)}" for words in kept if words not in said]
    more = len(lines) - _MOST
    return [*lines[:_MOST], *([f"- and {more:,} more"] if more > 0 else [])]


def _said(rows: Sequence[Row[Any]]) -> dict[str, list[str]]:
    """What people said, with the tasks that it was said to."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for words in store.words_of(row):
            ids = found.setdefault(words, [])
            if row.id not in ids:
                ids.append(row.id)
    return found


def _named(ids: list[str]) -> str:
    return ", ".join(ids[:_MOST_NAMED]) + (f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else "")


def _answers(connection: Connection, run_id: str) -> list[str]:
    """What was asked of a person for a task, and what they said; in the order in which they said it."""
    by_session = tasks_by_session(connection, run_id)
    of = escalations.c.session_id.in_([*by_session, run_id])
    settled = (of, escalations.c.resolved, escalations.c.outcome.is_not(None), ~escalations.c.outcome.in_(_TAKEN_BACK))
    lines = []
    for row in connection.execute(select(escalations).where(*settled).order_by(escalations.c.resolved_at)):
        answer = _answer(row)
        if answer:
            task = by_session.get(row.session_id, run_id)
            asked = literal(row.title or row.text, _LONGEST)
            lines.append(
                f"- {task} asked: {asked} — {literal(row.resolved_as or row.resolved_by or 'somebody', _WHO)}: {answer}"
            )
    return lines


def _answer(row: Row[Any]) -> str:
    parts = [each for each in (row.action or row.decision, row.reply_text) if each]
    return literal(": ".join(dict.fromkeys(parts)), _LONGEST)
