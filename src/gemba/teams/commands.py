"""What an operator says to a run: pause, resume, cancel, retry, skip, revise, accept, feedback, improve. Actions.

Each looks at what there is and says what is allowed instead. What is at work and is to begin anew, or never, is stopped
by its session; the claim it had is worth nothing from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from sqlalchemy import Row

from gemba import wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.flows import wanted
from gemba.handoff import audit
from gemba.sessions import inputs, starting
from gemba.sessions import runs as session_runs
from gemba.store.database import Transaction
from gemba.teams import attempts, bus, epics, finishing, gaps, graph, store
from gemba.teams.affected import affected_by, lowest
from gemba.teams.archive import Archived, ArchiveRun, archive, bring_back
from gemba.teams.claiming import BRING_IN
from gemba.teams.deciding import settle_card, withdraw_card
from gemba.teams.gates import Dimension
from gemba.teams.publishing import add_wisdom
from gemba.teams.report import report_of
from gemba.teams.run import COORDINATOR, RunState, RunView
from gemba.teams.standing import typable
from gemba.teams.surveyed import taken
from gemba.teams.tables import runs
from gemba.teams.task import ENDED, TaskState, events_from
from gemba.teams.view import view_run
from gemba.text import one_line, storable

S = TaskState

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_TEXT)]
MaybeWords = Annotated[str, msgspec.Meta(max_length=wire.MAX_TEXT)]


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be otherwise."""

    text: Words


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why, for the record."""

    text: MaybeWords = ""


class Improve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which dimension; the one with the lowest score unless it is said."""

    dimension: Dimension | None = None


# ---- the run ---------------------------------------------------------------------------------------------------------


def pause(tx: Transaction, body: Reason, *, id: str) -> RunView:
    """What is at work comes to its end; nothing new begins."""
    run = store.lock_run(tx, id)
    if run.state != RunState.PAUSED:
        store.move_run(tx, run, "paused", trouble=_reason(body, f"paused by {tx.actor}"))
        _record(tx, id, "paused", body.text)
    return view_run(tx.connection, id)


def resume(tx: Transaction, _body: Nothing, *, id: str) -> RunView:
    run = store.lock_run(tx, id)
    if run.state != RunState.RUNNING:
        store.move_run(tx, run, "resumed", trouble=None)
        _record(tx, id, "resumed")
    return view_run(tx.connection, id)


def cancel(tx: Transaction, body: Reason, *, id: str) -> RunView:
    """Everything that has not ended is cancelled, and every session of it stopped. What was done stays."""
    run = store.lock_run(tx, id)
    if run.state == RunState.CANCELLED:
        return view_run(tx.connection, id)
    reason = _reason(body, f"cancelled by {tx.actor}")
    many = 0
    for row in store.all_tasks(tx.connection, id):
        if S(row.state) not in ENDED:
            _stop(tx, row)
            withdraw_card(tx, row, reason)
            store.move_task(tx, row, "cancelled", reason=reason, ended_at=tx.now, executor=None)
            many += 1
    gaps.withdraw_cards(tx, id, reason)
    store.change_run(tx, id, unended=runs.c.unended - many)
    if run.epic_id is not None:
        epics.hand_in(tx, run.epic_id, id, done=False)
    store.move_run(
        tx, run, "cancelled", trouble=reason, ended_at=tx.now, report=report_of(tx.connection, run, "cancelled")
    )
    tx.emit(Draft("team.finished", {"state": RunState.CANCELLED, "tasks": run.tasks}, ref=id))
    _record(tx, id, "cancelled", body.text)
    return view_run(tx.connection, id)


def feedback(tx: Transaction, body: Said, *, id: str) -> RunView:
    """It goes to the tasks that it is about and that are not done, and to the decisions that all others read."""
    run = store.lock_run(tx, id)
    _refuse_over(run)
    text = storable(body.text).strip()
    rows = store.all_tasks(tx.connection, id)
    ids = affected_by(text, rows)
    for row in rows:
        if row.id in ids:
            say(tx, row, f"{tx.actor}: {text}")
    add_wisdom(tx, id, "decisions", text, author=tx.actor)
    words = one_line(f"feedback: {text}", 200)
    bus.post(tx, id, COORDINATOR, "progress", words, {"tasks": sorted(ids), "text": text[:4_000]}, recipient="all")
    store.change_run(tx, id)
    tx.emit(Draft("team.changed", {"state": run.state, "by": tx.actor, "feedback": sorted(ids)}, ref=id))
    _record(tx, id, "feedback", text)
    return view_run(tx.connection, id)


def improve(tx: Transaction, body: Improve, *, id: str) -> RunView:
    """The task whose stored score is the lowest is revised for that dimension."""
    store.lock_run(tx, id)
    found = lowest(store.all_tasks(tx.connection, id), body.dimension)
    if found is None:
        raise Conflict("no task of this run has a score below 100 to improve", code="nothing_to_improve", found=id)
    text = f"Improve its {found.dimension}, which has {found.score:g} of 100: {found.reason}."
    return revise(tx, Said(text), id=id, task=found.task_id)


# ---- a task ----------------------------------------------------------------------------------------------------------


def retry(tx: Transaction, body: Reason, *, id: str, task: str) -> RunView:
    """Once more as it is, with all its tries anew."""
    words = [] if not body.text.strip() else [f"{tx.actor}: {storable(body.text).strip()}"]
    row = _open(tx, id, task, "retried", body.text)
    anew(tx, row, "retried", words)
    _record(tx, id, "retried", body.text, task)
    return view_run(tx.connection, id)


def revise(tx: Transaction, body: Said, *, id: str, task: str) -> RunView:
    """A new version, to be done otherwise; what was built on it is done anew behind it, and old versions stay."""
    row = _open(tx, id, task, "revised", body.text)
    anew(tx, row, "revised", [f"{tx.actor}: {storable(body.text).strip()}"])
    _record(tx, id, "revised", body.text, task)
    return view_run(tx.connection, id)


def skip(tx: Transaction, body: Reason, *, id: str, task: str) -> RunView:
    """It is left out, and all that depends on it."""
    row = _open(tx, id, task, "skipped", body.text)
    leave_out(tx, row, _reason(body, f"skipped by {tx.actor}"))
    _record(tx, id, "skipped", body.text, task)
    return view_run(tx.connection, id)


def accept(tx: Transaction, body: Reason, *, id: str, task: str) -> RunView:
    """What was not good enough, or only surveyed, is taken as it is, with a warning."""
    row = _open(tx, id, task, "accepted", body.text)
    reason = _reason(body, f"accepted by {tx.actor}")
    if S(row.state) is S.COMPLETED_WITH_WARNINGS:
        store.move_task(tx, row, "accepted", None, reason=reason, **taken(row))
        finishing.tell_anew(tx, id)
    else:
        take_as_it_is(tx, row, reason)
    _record(tx, id, "accepted", body.text, task)
    return view_run(tx.connection, id)


def anew(tx: Transaction, row: Row[Any], event: str, words: Sequence[str]) -> None:
    """Begin a task anew, and all behind it; the run goes on if it was over. The run is locked."""
    run = store.get_run(tx.connection, row.run_id)
    if run.archived_at is not None:
        bring_back(tx, run.id)
    if RunState(run.state) in (RunState.COMPLETED, RunState.COMPLETED_WITH_WARNINGS, RunState.FAILED):
        run = store.move_run(tx, run, "reopened", ended_at=None, report=None, trouble=None)
    said = [*store.words_of(row), *words]
    fresh: dict[str, Any] = {
        "accepted": None,
        "words": msgspec.json.encode(said).decode(),
        "errors": 0,
        "judged": 0,
        "attempt": 0,
    }
    fresh["version"] = row.version + (1 if event == "revised" else 0)
    for each in graph.begin_anew(tx, row, event, **fresh):
        attempts.leave(tx, each, event if each.id == row.id else "outdated")
        _stop(tx, each)
        withdraw_card(tx, each, f"{row.id} begins anew")
    graph.put_chain(tx, row, 0, stopped=False)


def leave_out(tx: Transaction, row: Row[Any], reason: str) -> None:
    was_open = S(row.state) not in ENDED
    _stop(tx, row)
    withdraw_card(tx, row, reason)
    gaps.withdraw_cards(tx, row.run_id, reason, row.id)
    if was_open:
        graph.end(tx, row, "skipped", reason=reason, executor=None)
        graph.put_chain(tx, row, 0, stopped=False)
        finishing.finish_if_over(tx, row.run_id)
    else:
        store.move_task(tx, row, "skipped", reason=reason)


def take_as_it_is(tx: Transaction, row: Row[Any], reason: str) -> None:
    """Its work is brought in by a flow of its own; only then may others build on it."""
    withdraw_card(tx, row, reason)
    store.change_task(tx, row, accepted=reason, reason=reason, escalation_id=None)
    args = {"run_id": row.run_id, "task_id": row.id, "fence": row.fence}
    call = wanted.Call(f"{BRING_IN}/{store.ref_of(row.run_id, row.id)}/{row.fence}/{tx.now}", args)
    wanted.want(tx, BRING_IN, [call], origin=row.origin or store.get_run(tx.connection, row.run_id).origin)
    store.tell(tx, store.get_task(tx.connection, row.run_id, row.id), "accepting")


def _open(tx: Transaction, run_id: str, task_id: str, event: str, said: str) -> Row[Any]:
    """The task for a command, after its run was locked, and what was asked of it is answered by that; a Conflict says
    what is allowed instead."""
    run = store.lock_run(tx, run_id)
    row = store.lock_task(tx, run_id, task_id)
    if RunState(run.state) in (RunState.PLANNED, RunState.CANCELLED):
        raise Conflict(f"the run is {run.state}: nothing of it can be {event}", code="illegal_move", found=run.state)
    allowed = events_from(store.position_of(row))
    if event not in allowed:
        named = [_COMMANDS[each] for each in allowed if each in _COMMANDS]
        raise Conflict(
            f"{row.id} is {row.state}{f' for {row.waiting_for}' if row.waiting_for else ''}: it cannot be {event}; "
            f"allowed: {', '.join(named) or 'nothing'}",
            code="illegal_move",
            found=row.state,
            allowed=named,
        )
    settle_card(tx, row, _COMMANDS[event], said)
    return row


_COMMANDS = {"retried": "retry", "revised": "revise", "skipped": "skip", "accepted": "accept"}


def say(tx: Transaction, row: Row[Any], words: str) -> None:
    """For the next turn of a task, and at once to a session that can be typed to."""
    said = [*store.words_of(row), words][-50:]
    store.change_task(tx, row, words=msgspec.json.encode(said).decode())
    living = typable(tx.connection, row.session_id) if S(row.state) is S.RUNNING else None
    if living is not None:
        inputs.send(tx, inputs.Send(words), id=living)


def _stop(tx: Transaction, row: Row[Any]) -> None:
    if row.session_id is None or S(row.state) not in (*store.AT_WORK, S.WAITING, S.PARTIAL_COMPLETION):
        return
    if session_runs.find(tx.connection, row.session_id) is not None:
        starting.stop_session(tx, Nothing(), id=row.session_id)


def _refuse_over(run: Row[Any]) -> None:
    if RunState(run.state) not in (RunState.PLANNED, RunState.RUNNING, RunState.PAUSED):
        raise Conflict(
            f"the run is {run.state}: nobody would read it; allowed: revise a task of it",
            code="run_over",
            found=run.state,
        )


def _reason(body: Reason, usual: str) -> str:
    text = one_line(storable(body.text), 300)
    return f"{usual}: {text}" if text else usual


def _record(tx: Transaction, id: str, what: str, text: str = "", task: str | None = None) -> None:
    said = {"by": tx.actor, "task": task, "text": storable(text)[:2_000]}
    audit.record(tx, f"team.{what}", id, said)


_RUN = "/api/teams/{id}"
_TASK = "/api/teams/{id}/tasks/{task}"
ACTIONS = (
    Action(
        f"{_RUN}/archive", archive, ArchiveRun, Archived, "Seal a run's folder with a manifest; deletes nothing unasked"
    ),
    Action(f"{_RUN}/pause", pause, Reason, RunView, "Let what runs come to its end, and begin nothing new"),
    Action(f"{_RUN}/resume", resume, Nothing, RunView, "Let a paused run go on"),
    Action(f"{_RUN}/cancel", cancel, Reason, RunView, "End a run and every session of it; what was done stays"),
    Action(f"{_RUN}/feedback", feedback, Said, RunView, "Say something to the tasks that it is about"),
    Action(f"{_RUN}/improve", improve, Improve, RunView, "Revise the task with the lowest score"),
    Action(f"{_TASK}/retry", retry, Reason, RunView, "Do a task once more"),
    Action(f"{_TASK}/revise", revise, Said, RunView, "Make a new version of a task, and redo what was built on it"),
    Action(f"{_TASK}/skip", skip, Reason, RunView, "Leave a task out, and all that depends on it"),
    Action(f"{_TASK}/accept", accept, Reason, RunView, "Take a task's work as it is, with a warning"),
)
