"""The end of a run: when its last task has ended it has a state, a report, and its work item is handed in.

Called inside the transaction in which the last task ends; what the completion action does beside the database is a flow
of its own, so that it survives a crash.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, func, select

from gemba.event import Draft
from gemba.flows import wanted
from gemba.handoff import audit
from gemba.store.database import Transaction
from gemba.teams import bus, epics, store
from gemba.teams.report import report_of
from gemba.teams.run import COORDINATOR, ending_of
from gemba.teams.surveyed import surveyed_in
from gemba.teams.tables import tasks
from gemba.teams.task import DONE, TaskState

FINISH: Final = "team.finish"


def finish_if_over(tx: Transaction, run_id: str) -> bool:
    """Whether all of its tasks have ended, and it with them. The run is locked by whoever calls."""
    run = store.get_run(tx.connection, run_id)
    if run.unended > 0:
        return False
    states = states_of(tx.connection, run_id)
    event = ending_of(map(TaskState, states))
    done = event != "failed"
    # What was only surveyed is nothing to review.
    surveyed = surveyed_in(tx.connection, [run_id]).get(run_id, [])
    hands_in = done and len(surveyed) < sum(states.get(each, 0) for each in DONE)
    trouble = epics.hand_in(tx, run.epic_id, run.id, done=hands_in) if run.epic_id is not None else None
    report = report_of(tx.connection, run, event)
    ended = store.move_run(tx, run, event, ended_at=tx.now, report=report, trouble=trouble)
    told = {"state": ended.state, "tasks": ended.tasks}
    tx.emit(Draft("team.finished", told, ref=run_id))
    audit.record(tx, "team.finished", run_id, told)
    bus.post(tx, run_id, COORDINATOR, "progress", f"the run is {ended.state}", {}, recipient="all")
    if done and store.settings_of(run).on_complete != "keep":
        args = {"run_id": run_id, "since": tx.now}
        wanted.want(tx, FINISH, [wanted.Call(f"{FINISH}/{run_id}/{tx.now}", args)], origin=run.origin)
    return True


def tell_anew(tx: Transaction, run_id: str) -> None:
    """The report of a run that is over, when somebody has said something of it since."""
    run = store.get_run(tx.connection, run_id)
    if run.report is not None:
        store.change_run(tx, run_id, report=report_of(tx.connection, run, run.state))


def states_of(connection: Connection, run_id: str) -> dict[str, int]:
    """How many tasks of a run are in which state."""
    mine = select(tasks.c.state, func.count()).where(tasks.c.run_id == run_id).group_by(tasks.c.state)
    return {row[0]: row[1] for row in connection.execute(mine)}
