"""A task of a team as personas are told of it, by RUN/TASK. Called through `app`, since personas lie below teams."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from gemba.teams.tables import runs, tasks


def read_task(connection: Connection, ref: str) -> dict[str, Any] | None:
    """What it is to do, how it stands and why, and the item that its run is for; None where the id is of none."""
    run_id, _, task_id = ref.partition("/")
    mine = (tasks.c.run_id == run_id, tasks.c.id == task_id)
    columns = (
        tasks.c.goal,
        tasks.c.owner,
        tasks.c.state,
        tasks.c.reason,
        tasks.c.attempt,
        tasks.c.score,
        runs.c.epic_id,
    )
    query = select(*columns).join(runs, runs.c.id == tasks.c.run_id).where(*mine)
    row = connection.execute(query).first()
    if row is None:
        return None
    return {
        "what": "task of a team",
        "id": ref,
        "title": row.goal,
        "owner": row.owner,
        "state": row.state,
        "reason": row.reason,
        "attempt": row.attempt,
        "score": row.score,
        "bead_id": row.epic_id,
    }
