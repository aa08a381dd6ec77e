"""What came of a run, in words that a person reads first: what was done and how well, what was not, what it took.

Composed from the rows alone, so the same run has the same report. Called when a run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.teams import store
from gemba.teams.tables import artifacts
from gemba.teams.task import DONE, TaskState
from gemba.text import one_line

_EVENTS = {
    "completed": "Everything was done.",
    "completed_with_warnings": "It was done; something of it deserves a look.",
    "failed": "Not everything was done.",
    "cancelled": "It was cancelled.",
}
_LONGEST = 160


def report_of(connection: Connection, run: Row[Any], event: str) -> str:
    rows = store.all_tasks(connection, run.id)
    done = [row for row in rows if TaskState(row.state) in DONE]
    parts = [
        f"# {one_line(run.text, _LONGEST)}",
        f"{_EVENTS[event]} {len(done)} of {len(rows)} tasks are done{_took(run, rows)}.",
        _table(connection, run, rows),
        _not_done(rows),
        _branch(run, rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _took(run: Row[Any], rows: Sequence[Row[Any]]) -> str:
    ended = max((row.ended_at for row in rows if row.ended_at is not None), default=None)
    if ended is None or run.started_at is None:
        return ""
    seconds = max(0, (ended - run.started_at) // clock.SECOND)
    return f", after {seconds // 60} min {seconds % 60} s" if seconds >= 60 else f", after {seconds} s"


def _table(connection: Connection, run: Row[Any], rows: Sequence[Row[Any]]) -> str:
    lines = ["| task | by | state | score | artifacts |", "|---|---|---|---|---|"]
    written = _artifacts(connection, run.id)
    for row in rows:
        score = "" if row.score is None else f"{row.score:g}"
        names = ", ".join(written.get((row.id, row.version), ()))
        lines.append(f"| {row.id} | {row.owner} | {row.state} | {score} | {names} |")
    return "\n".join(lines)


def _artifacts(connection: Connection, run_id: str) -> dict[tuple[str, int], list[str]]:
    columns = (artifacts.c.task_id, artifacts.c.version, artifacts.c.name)
    found: dict[tuple[str, int], list[str]] = {}
    for row in connection.execute(select(*columns).where(artifacts.c.run_id == run_id).order_by(artifacts.c.name)):
        found.setdefault((row.task_id, row.version), []).append(row.name)
    return found


def _not_done(rows: Sequence[Row[Any]]) -> str:
    left = [row for row in rows if TaskState(row.state) not in DONE]
    lines = [
        f"- {row.id} is {row.state}" + (f": {one_line(row.reason, _LONGEST)}" if row.reason else "") for row in left
    ]
    return "\n".join(["What was not done:", *lines]) if lines else ""


def _branch(run: Row[Any], rows: Sequence[Row[Any]]) -> str:
    merged = [row for row in rows if row.merged is not None]
    if run.branch is None or not merged:
        return ""
    return f"What was changed lies in the branch `{run.branch}`; see it with `git diff {run.base[:12]}...{run.branch}`."
