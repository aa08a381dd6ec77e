"""Nothing is ready, and somebody could work: the project manager is asked for an order, once for each board.

Its lines wait for a person like those of any consult. That it was asked, or why it could not be, is written down with
the consult in one transaction, under the board as it was: the same board is not asked about again, by nobody.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from gemba import clock, git
from gemba.autodispatch.start import ACTOR
from gemba.autodispatch.tables import advice
from gemba.config import Workspace
from gemba.errors import GembaError
from gemba.event import Draft
from gemba.handoff import audit
from gemba.personas import consulting
from gemba.personas.board import read_order_input
from gemba.personas.consult import NewConsult
from gemba.personas.persona import PROJECT_MANAGER
from gemba.skills.consult import epic_order
from gemba.store.database import Database, Transaction
from gemba.work.items import alone
from gemba.work.tables import items


class AutoAdvice(msgspec.Struct, frozen=True):
    """When the project manager was asked last because nothing was ready, or why it could not be."""

    asked_at: str
    consult_id: str | None
    trouble: str | None


def board_of(connection: Connection) -> str:
    """Another one after each change of an item; claims do not count."""
    many, versions, last = connection.execute(
        select(func.count(), func.sum(items.c.version), func.max(items.c.updated_at))
    ).one()
    return f"{many}/{versions or 0}/{last or 0}"


def read_advice(connection: Connection, workspace: str) -> AutoAdvice | None:
    row = _row(connection, workspace)
    return None if row is None else AutoAdvice(clock.rfc3339(row.at), row.consult_id, row.trouble)


def ask_project_manager(database: Database, workspace: Workspace) -> None:
    """Unless it was asked about this very board."""
    root = str(workspace.root)
    with database.read() as connection:
        board, known = board_of(connection), _row(connection, root)
    if known is not None and known.board == board:
        return
    made: consulting.Prepared | GembaError
    try:
        commits = git.recent_commits(root)
        with database.read() as connection:
            given = read_order_input(connection, workspace, clock.now(), commits)
        raw: dict[str, Any] = msgspec.to_builtins(given)
        wanted = NewConsult(persona_id=PROJECT_MANAGER, skill_id=epic_order.SKILL.id, raw_input=raw, workspace=root)
        made = consulting.prepare(database.surroundings, wanted)
    except GembaError as error:
        made = error
    database.change(partial(_ask, workspace=root, board=board, made=made), ACTOR)


def _ask(tx: Transaction, workspace: str, board: str, made: consulting.Prepared | GembaError) -> None:
    alone(tx)
    known = _row(tx.connection, workspace)
    if board_of(tx.connection) != board or (known is not None and known.board == board):
        return  # the board changed, which wakes the next round, or another server was quicker
    consult_id, trouble = None, None
    if isinstance(made, GembaError):
        trouble = made.message
    else:
        try:
            with tx.part():
                consult_id = consulting.begin_consult(tx, made).id
        except GembaError as error:
            trouble = error.message
    told = {"consult_id": consult_id, "trouble": trouble}
    tx.put(advice, [{"workspace": workspace, "board": board, "at": tx.now, **told}])
    tx.emit(Draft("auto.asked", told, ref=consult_id))
    audit.record(tx, "auto.asked", consult_id or "", told)


def _row(connection: Connection, workspace: str) -> Row[Any] | None:
    return connection.execute(select(advice).where(advice.c.workspace == workspace)).first()
