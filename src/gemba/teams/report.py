"""What came of a run, in words that a person reads first: what was done, what deserves a look and why, what was found,
what it took, where it lies and what to do next.

Composed from the rows alone, so the same run has the same report. All that people and agents wrote stands in it
literally. Called when a run ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import clock, typed
from gemba.teams import store
from gemba.teams.decided import decided_in
from gemba.teams.gates import Gate
from gemba.teams.markdown import literal
from gemba.teams.message import KnownState
from gemba.teams.programs.upstream import section
from gemba.teams.submitted import ARTIFACTS
from gemba.teams.surveyed import left_in_words, surveyed_by
from gemba.teams.tables import artifacts, states
from gemba.teams.task import DONE, TaskState
from gemba.teams.view import Took, planned_by, took_of, total_of

_EVENTS = {
    "completed": "Everything was done.",
    "completed_with_warnings": "It was done; something of it deserves a look.",
    "failed": "Not everything was done.",
    "cancelled": "It was cancelled.",
}
_LONGEST = 160
_REASON = 300
_MOST_TASKS = 200  # in a table, or of a kind in a list; the rest is counted
_MOST_FINDINGS = 5  # of a task
_MOST_FILES = 8
_MOST_QUESTIONS = 10
_OPEN = "Open questions"  # the heading that programs and agents write them under

_gate = typed.decoder(Gate)
_state = typed.decoder(KnownState)


class _Told(NamedTuple):
    """All that a report is made of."""

    run: Row[Any]
    event: str
    rows: Sequence[Row[Any]]
    known: Mapping[str, KnownState]
    written: Mapping[str, list[str]]
    took: Mapping[str, Took]


def report_of(connection: Connection, run: Row[Any], event: str) -> str:
    rows = store.all_tasks(connection, run.id)
    known, written = _known(connection, run.id), _artifacts(connection, run.id, rows)
    told = _Told(run, event, rows, known, written, took_of(connection, run.id))
    parts = [
        f"# {literal(run.text, _LONGEST)}",
        _outcome(told),
        _planner(run),
        _section("What needs a look", _looks(told)),
        _section("What cost points", _costs(told)),
        _section("What was found", _findings(told)),
        _section("What is open", _questions(connection, told)),
        _section("What was decided", decided_in(connection, run.id, rows)),
        f"## Tasks\n\n{_table(told)}",
        _section("Where it lies", _places(told)),
        _section("What to do next", _next(told)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _some(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _MOST_TASKS
    return [*lines[:_MOST_TASKS], *([f"- and {more:,} more"] if more > 0 else [])]


# ---- how it went -----------------------------------------------------------------------------------------------------


def _outcome(told: _Told) -> str:
    done = sum(TaskState(row.state) in DONE for row in told.rows)
    left = left_in_words([row.id for row in told.rows if surveyed_by(row)], done)
    first = _EVENTS[told.event] if left is None or told.event == "cancelled" else left
    ended = max((row.ended_at for row in told.rows if row.ended_at is not None), default=None)
    after = "" if ended is None or told.run.started_at is None else f", after {_span(ended - told.run.started_at)}"
    total = total_of(told.took)
    cost = "" if total.cost_usd is None else f" and ${total.cost_usd:,.2f}"
    used = f" It took {total.tokens:,} tokens{cost}." if total.tokens or cost else ""
    return f"{first} {done} of {len(told.rows)} tasks {_ended_in(told.event, left)}{after}.{used}"


def _ended_in(event: str, left: str | None) -> str:
    """A task that only surveyed has ended; that is not to say that it is done."""
    return "are done" if left is None or event == "cancelled" else "have ended"


def _span(micros: int) -> str:
    seconds = max(0, micros // clock.SECOND)
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min {seconds % 60} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _planner(run: Row[Any]) -> str:
    by = planned_by(msgspec.json.decode(run.analysis))
    if by is None:
        return ""
    who = "by the words of its text" if by.agent is None else f"by {literal(by.agent, 60)}"
    note = "" if by.note is None else f": {literal(by.note, _REASON)}"
    return f"It was planned {who}, in the consult {by.consult_id}{note}."


# ---- what needs a look, what was found -------------------------------------------------------------------------------


def _looks(told: _Told) -> list[str]:
    """What was not done, then what was done with a warning, each with why."""
    lost = [row for row in told.rows if TaskState(row.state) not in DONE]
    warned = [row for row in told.rows if row.state == TaskState.COMPLETED_WITH_WARNINGS]
    lines = [f"- {row.id} is {row.state}{_why(row.reason)}" for row in lost]
    return _some([*lines, *(_warning(row) for row in warned)])


def _costs(told: _Told) -> list[str]:
    """What was completed without a warning, and why not with all points."""
    rows = [row for row in told.rows if row.state == TaskState.COMPLETED and row.score is not None and row.score < 100]
    return _some([f"- {row.id}, {literal(_gate.decode(row.gate).reason, _REASON)}" for row in rows if row.gate])


def _questions(connection: Connection, told: _Told) -> list[str]:
    """Questions that stand in what was written, each once."""
    columns = (artifacts.c.task_id, artifacts.c.name, artifacts.c.content)
    mine = select(*columns).where(artifacts.c.run_id == told.run.id).order_by(artifacts.c.version, artifacts.c.name)
    latest = {row.name: row for row in connection.execute(mine)}
    found: dict[str, str] = {}
    for row in latest.values():
        if row.name in told.written.get(row.task_id, ()):
            lines = section(row.content, _OPEN).splitlines()
            for line in (line[2:] for line in lines if line.startswith("- ") and "?" in line):
                found.setdefault(line, f"- {row.task_id}: {literal(line.replace('`', ''), _REASON)}")
    return list(found.values())[:_MOST_QUESTIONS]


def _why(reason: str | None) -> str:
    return f": {literal(reason, _REASON)}" if reason else ""


def _warning(row: Row[Any]) -> str:
    """With the dimension that is the lowest, which is what to improve first."""
    if surveyed := surveyed_by(row):
        return f"- {row.id} only surveyed what was asked for: {literal(surveyed, _REASON)}"
    score = "" if row.score is None else f" with {row.score:g} of 100"
    if row.reason and row.gate is not None and row.reason == _gate.decode(row.gate).reason:
        return f"- {row.id} is done{_why(row.reason)}"  # which says it all
    head = f"- {row.id} is done{score}{_why(row.reason)}"
    low = _lowest(row)
    return (
        head
        if low is None
        else f"{head}; its {low.dimension} is the lowest, {low.score:g}: {literal(low.reason, _REASON)}"
    )


def _lowest(row: Row[Any]) -> Any:
    if row.gate is None:
        return None
    gate = _gate.decode(row.gate)
    return next((each for each in gate.dimensions if each.dimension == gate.lowest and each.score < 100), None)


def _findings(told: _Told) -> list[str]:
    lines = []
    for row in told.rows:
        known = told.known.get(row.id)
        if known is None or not (known.key_findings or known.decisions):
            continue
        lines.append(f"- {row.id}, {literal(row.owner, 60)}:")
        lines += [
            f"  - {literal(_where_it_lies(each, told.run.id), _LONGEST)}"
            for each in known.key_findings[-_MOST_FINDINGS:]
        ]
        lines += [
            f"  - decided: {literal(each.decision, _LONGEST)}, since {literal(each.reason, _LONGEST)}"
            for each in known.decisions[-_MOST_FINDINGS:]
        ]
    return _some(lines)


def _where_it_lies(words: str, run_id: str) -> str:
    """A path as it is outside of the worktree that its task worked in."""
    return words.replace(f"{ARTIFACTS}/", f".gemba/teams/{run_id}/artifacts/")


# ---- what it took, where it lies -------------------------------------------------------------------------------------


def _table(told: _Told) -> str:
    lines = ["| task | by | state | score | tokens | time | artifacts |", "|---|---|---|---|---|---|---|"]
    for row in told.rows[:_MOST_TASKS]:
        took = told.took.get(store.ref_of(told.run.id, row.id), Took())
        score = "" if row.score is None else f"{row.score:g}"
        time = "" if row.started_at is None or row.ended_at is None else _span(row.ended_at - row.started_at)
        names = ", ".join(literal(name, _LONGEST) for name in told.written.get(row.id, ()))
        cells = (
            row.id,
            literal(row.owner, 60),
            row.state,
            score,
            f"{took.tokens:,}" if took.tokens else "",
            time,
            names,
        )
        lines.append(f"| {' | '.join(cells)} |")
    more = len(told.rows) - _MOST_TASKS
    return "\n".join(lines) + (f"\n\nAnd {more:,} more tasks." if more > 0 else "")


def _places(told: _Told) -> list[str]:
    run, lines = told.run, []
    if _has_changes(told):
        lines.append(f"- what was changed: the branch `{run.branch}`, from `{run.base[:12]}`")
        files = sorted({each for known in told.known.values() for each in known.files_modified})
        more = f" and {len(files) - _MOST_FILES:,} more" if len(files) > _MOST_FILES else ""
        if files:
            lines.append(f"- files: {', '.join(literal(each, _LONGEST) for each in files[:_MOST_FILES])}{more}")
    if run.branch is None:
        lines.append(
            "- what was changed: the workspace itself; without a repository that has a commit there is no branch"
        )
    many = sum(map(len, told.written.values()))
    if many:
        lines.append(f"- {many:,} artifact{'' if many == 1 else 's'}: `.gemba/teams/{run.id}/artifacts/`")
    if run.archived_at is None:
        lines.append(f"- everything else of the run, readable: `.gemba/teams/{run.id}/`")
    return lines


def _has_changes(told: _Told) -> bool:
    """By what is merged, and by what versions before brought in: a task that begins anew takes nothing back."""
    merged = any(row.merged not in (None, told.run.base) for row in told.rows)
    return told.run.branch is not None and (merged or any(known.files_modified for known in told.known.values()))


def _next(told: _Told) -> list[str]:
    """The commands that somebody would want now."""
    run = told.run
    lines = [f"- do it once more: `gemba team retry {run.id} {row.id}`" for row in told.rows if row.state == "failed"][
        :5
    ]
    surveyed = [row.id for row in told.rows if surveyed_by(row)]
    if told.event != "cancelled" and surveyed:
        lines.append("- have it done by a model: the same with `--agent NAME`; `gemba agents` shows who can run here")
        lines += [f"- take a survey for enough: `gemba team accept {run.id} {id}`" for id in surveyed[:5]]
    elif told.event != "cancelled" and any(row.state == TaskState.COMPLETED_WITH_WARNINGS for row in told.rows):
        lines.append(f"- have the weakest part improved: `gemba team improve {run.id}`")
    if _has_changes(told):
        lines.append(f"- see what was changed: `git diff {run.base[:12]}...{run.branch}`")
        if store.settings_of(run).on_complete != "merge":
            lines.append(f"- take it: `git merge {run.branch}`")
    if told.written:
        first = next(names[0] for names in told.written.values())
        lines.append(f"- read what was written down: `gemba team artifact {run.id} {first}`")
    done = [row for row in told.rows if TaskState(row.state) in DONE]
    if run.epic_id is not None and told.event in ("completed", "completed_with_warnings") and len(surveyed) < len(done):
        lines.append(f"- close what it was for, once you have looked: {literal(run.epic_id, _LONGEST)} waits in review")
    return lines


# ---- rows ------------------------------------------------------------------------------------------------------------


def _known(connection: Connection, run_id: str) -> dict[str, KnownState]:
    mine = select(states.c.task_id, states.c.state).where(states.c.run_id == run_id)
    return {row.task_id: _state.decode(row.state) for row in connection.execute(mine)}


def _artifacts(connection: Connection, run_id: str, rows: Sequence[Row[Any]]) -> dict[str, list[str]]:
    """By task, in graph order, what its latest version wrote."""
    columns = (artifacts.c.task_id, artifacts.c.version, artifacts.c.name)
    found: dict[tuple[str, int], list[str]] = {}
    for row in connection.execute(select(*columns).where(artifacts.c.run_id == run_id).order_by(artifacts.c.name)):
        found.setdefault((row.task_id, row.version), []).append(row.name)
    return {row.id: found[row.id, row.version] for row in rows if (row.id, row.version) in found}
