"""What of a run was only surveyed: tasks that are done with a survey in the place of what was asked for, and that no
person has taken as it is. The fact is in the gate of each; here it is read for a whole run, and put into words.

Called by the views and the report of a run, and where it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import typed
from gemba.teams.gates import Gate
from gemba.teams.tables import tasks
from gemba.teams.task import DONE, TaskState

NEEDS = "needs a model or a person"
_SAYS_SO = '%"surveyed":%'  # as it is kept where it is said, and nowhere else: see `Gate`
_MOST_NAMED = 5
_gate = typed.decoder(Gate)


def surveyed_in(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[str]]:
    """By run the ids of its tasks, in graph order."""
    said = (tasks.c.run_id.in_(run_ids), tasks.c.state.in_(DONE), tasks.c.gate.like(_SAYS_SO))
    found: dict[str, list[str]] = {}
    for row in connection.execute(select(tasks.c.run_id, tasks.c.id).where(*said).order_by(tasks.c.place)):
        found.setdefault(row.run_id, []).append(row.id)
    return found


def surveyed_by(row: Row[Any]) -> str | None:
    """Why a task that is done did not do what was asked for; None where it did, or somebody took it as it is."""
    if row.gate is None or TaskState(row.state) not in DONE:
        return None
    return _gate.decode(row.gate).surveyed or None


def left_in_words(surveyed: Sequence[str], done: int) -> str | None:
    """The first thing to know of a run: `done` of its tasks are, and so many of these only surveyed."""
    if not surveyed:
        return None
    if len(surveyed) >= done:
        return f"Surveyed only: what was asked for {NEEDS}."
    more = f" and {len(surveyed) - _MOST_NAMED:,} more" if len(surveyed) > _MOST_NAMED else ""
    return f"Not all of it was done: {', '.join(surveyed[:_MOST_NAMED])}{more} only surveyed what was asked for."


def taken(row: Row[Any]) -> dict[str, Any]:
    """A task's gate when somebody takes its work as it is: what was made counts as done from then on. Its attempt keeps
    the verdict as it was."""
    if row.gate is None:
        return {}
    return {"gate": msgspec.json.encode(msgspec.structs.replace(_gate.decode(row.gate), surveyed="")).decode()}
