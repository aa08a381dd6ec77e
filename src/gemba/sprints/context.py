"""A sprint as those are told of it who plan: the fields of epic_order's sprint_context, and what is in it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from gemba import clock
from gemba.sprints import store
from gemba.sprints.scope import read_scope
from gemba.sprints.store import thresholds_of

MOST_TOLD = 100  # items


def running_context(connection: Connection) -> dict[str, Any] | None:
    """Of the sprint that runs."""
    row = store.find_running(connection)
    return None if row is None else context_of(row)


def context_of(row: Row[Any]) -> dict[str, Any]:
    thresholds = thresholds_of(row)
    return {
        "sprint_id": row.id,
        "started_at": clock.told(row.started_at),
        "ends_at": clock.told(row.ends_at),
        "token_budget": row.token_budget,
        "tokens_used": row.tokens_used,
        "burn_thresholds": {name: getattr(thresholds, name) for name in ("inform", "warn", "stop")},
    }


def told_of(connection: Connection, id: str, now: int) -> dict[str, Any]:
    """One sprint with its items, for a consult that is about it; NotFound where there is none."""
    row = store.get(connection, id)
    scope = read_scope(connection, id, now)
    listed = [
        {
            "id": item.id,
            "title": item.title,
            "state": str(item.state),
            "parts": f"{item.parts_finished} of {item.parts} finished",
            "tokens": item.tokens,
            "estimated_tokens": item.estimated_tokens,
        }
        for item in scope.items[:MOST_TOLD]
    ]
    return {**context_of(row), "title": row.title, "goal": row.goal, "state": row.state, "items": listed}
