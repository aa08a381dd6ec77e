"""What came of a run, in words that a person reads first: how it ended and what it took, what each task found, what a
person decided, what was not done and why, and how to take over what was changed.

Composed from the rows alone, so the same run has the same report. Called when a run ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from gemba import clock
from gemba.teams import store
from gemba.teams.tables import artifacts, attempts, states, wisdom
from gemba.teams.task import DONE, TaskState
from gemba.text import one_line

_EVENTS = {
    "completed": "Everything was done.",
    "completed_with_warnings": "It was done; something of it deserves a look.",
    "failed": "Not everything was done.",
    "cancelled": "It was cancelled.",
}
_LONGEST = 160
_LONGEST_REASON = 300
_MOST_TOLD = 100  # tasks whose findings are told
_MOST_FILES = 10
_MOST_DECISIONS = 20


def report_of(connection: Connection, run: Row[Any], event: str) -> str:
    rows = store.all_tasks(connection, run.id)
    done = [row for row in rows if TaskState(row.state) in DONE]
    written = _artifacts(connection, run.id)
    parts = [
        f"# {one_line(run.text, _LONGEST)}",
        f"{_EVENTS[event]} {len(done)} of {len(rows)} tasks are done{_took(run, rows)}.",
        _not_done(rows),
        _warnings(rows),
        _table(rows, written, _many_attempts(connection, run.id)),
        _found(connection, run, done),
        _decided(connection, run.id, rows),
        _branch(run, rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _took(run: Row[Any], rows: Sequence[Row[Any]]) -> str:
    ended = max((row.ended_at for row in rows if row.ended_at is not None), default=None)
    if ended is None or run.started_at is None:
        return ""
    seconds = max(0, (ended - run.started_at) // clock.SECOND)
    return f", after {seconds // 60} min {seconds % 60} s" if seconds >= 60 else f", after {seconds} s"


def _not_done(rows: Sequence[Row[Any]]) -> str:
    return _section("What was not done", (row for row in rows if TaskState(row.state) not in DONE))


def _warnings(rows: Sequence[Row[Any]]) -> str:
    warned = (row for row in rows if TaskState(row.state) is TaskState.COMPLETED_WITH_WARNINGS)
    return _section("What deserves a look", warned)


def _section(title: str, rows: Iterator[Row[Any]]) -> str:
    lines = [
        f"- {row.id} is {row.state.replace('_', ' ')}"
        + (f": {one_line(row.reason, _LONGEST_REASON)}" if row.reason else "")
        for row in rows
    ]
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _table(rows: Sequence[Row[Any]], written: Mapping[tuple[str, int], Sequence[str]], tries: Mapping[str, int]) -> str:
    lines = ["| task | by | state | score | attempts | artifacts |", "|---|---|---|---|---|---|"]
    for row in rows:
        score = "" if row.score is None else f"{row.score:g}"
        names = ", ".join(written.get((row.id, row.version), ()))
        lines.append(
            f"| {row.id} | {row.owner} | {row.state.replace('_', ' ')} | {score} | {tries.get(row.id, 0)} | {names} |"
        )
    return "\n".join(lines)


def _many_attempts(connection: Connection, run_id: str) -> dict[str, int]:
    many = select(attempts.c.task_id, func.count()).where(attempts.c.run_id == run_id).group_by(attempts.c.task_id)
    return {row[0]: row[1] for row in connection.execute(many)}


def _artifacts(connection: Connection, run_id: str) -> dict[tuple[str, int], list[str]]:
    columns = (artifacts.c.task_id, artifacts.c.version, artifacts.c.name)
    found: dict[tuple[str, int], list[str]] = {}
    for row in connection.execute(select(*columns).where(artifacts.c.run_id == run_id).order_by(artifacts.c.name)):
        found.setdefault((row.task_id, row.version), []).append(row.name)
    return found


# ---- what it is about ------------------------------------------------------------------------------------------------


def _found(connection: Connection, run: Row[Any], done: Sequence[Row[Any]]) -> str:
    """What tasks told of themselves, in graph order."""
    told = connection.execute(select(states.c.task_id, states.c.state).where(states.c.run_id == run.id))
    by_task = {row.task_id: msgspec.json.decode(row.state) for row in told}
    lines: list[str] = []
    for row in done[:_MOST_TOLD]:
        if said := _told(by_task.get(row.id, {})):
            lines += ["", f"**{row.id}**, {row.owner}:", "", *said]
    return "\n".join(["## What was found and done", *lines]) if lines else ""


def _told(state: Mapping[str, Any]) -> list[str]:
    lines = [f"- {one_line(text, _LONGEST)}" for text in _texts(state.get("key_findings"))]
    files = _texts(state.get("files_modified"))
    if files:
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        lines.append(f"- changed: {', '.join(f'`{one_line(each, _LONGEST)}`' for each in files[:_MOST_FILES])}{more}")
    return lines


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _decided(connection: Connection, run_id: str, rows: Sequence[Row[Any]]) -> str:
    """What people said to tasks, and what was decided on the way."""
    said = [f"- {row.id}, {one_line(words, _LONGEST_REASON)}" for row in rows for words in store.words_of(row)]
    mine = select(wisdom).where(wisdom.c.run_id == run_id, wisdom.c.kind == "decisions").order_by(wisdom.c.number)
    kept = [f"- {row.author}: {one_line(row.words, _LONGEST_REASON)}" for row in connection.execute(mine)]
    lines = list(dict.fromkeys([*said, *kept]))[:_MOST_DECISIONS]
    return "\n".join(["## What was decided", "", *lines]) if lines else ""


def _branch(run: Row[Any], rows: Sequence[Row[Any]]) -> str:
    merged = [row for row in rows if row.merged not in (None, run.base)]
    if run.branch is None:
        return "There is no branch, for want of a repository with a commit: the tasks worked in the workspace itself."
    if not merged:
        return "No file of the project was changed."
    return (
        f"## Take it over\n\nWhat was changed lies in the branch `{run.branch}`, and nowhere else yet. See it with\n"
        f"`git diff {run.base[:12]}...{run.branch}`; take it over with `git merge {run.branch}`."
    )
