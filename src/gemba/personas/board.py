"""The board as epic_order is given it, from one state of the database: work, escalations, what sessions took, and the
sprint that runs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, select

from gemba import typed
from gemba.config import Workspace
from gemba.escalations.store import escalations
from gemba.git import Commit
from gemba.sessions.at_work import tokens_of
from gemba.skills.consult.board_input import Asked, input_of
from gemba.skills.consult.order_input import EpicOrderInput, SprintContext
from gemba.sprints.context import running_context
from gemba.work.board import read_board
from gemba.work.signals import touched_by

MOST_ASKED = 500  # escalations, the oldest


def read_order_input(
    connection: Connection, workspace: Workspace, now: int, commits: Sequence[Commit] = ()
) -> EpicOrderInput:
    """The workspace's epics that are to be done; a Conflict where there is none. Commits that name an item tell of the
    files that it is about."""
    asked = _asked(connection)
    board = read_board(connection, tokens_of, [one.item for one in asked if one.item is not None])
    board = board._replace(touched=touched_by(commits, board.items))
    made = input_of(board, asked, str(workspace.root), workspace.root.name, now)
    sprint = running_context(connection)
    if sprint is None:
        return made
    return msgspec.structs.replace(made, sprint_context=typed.convert(sprint, SprintContext))


def _asked(connection: Connection) -> list[Asked]:
    query = select(escalations).where(~escalations.c.resolved)
    rows = connection.execute(query.order_by(escalations.c.opened_at, escalations.c.id).limit(MOST_ASKED))
    return [Asked(row.id, row.kind, row.urgency, row.title or row.text, row.bead_id, row.opened_at) for row in rows]
