"""The durable part of consults: the built-in advisor's answer, and the end of one that takes too long.

Each step looks first and may run again after a crash. `catch_up` does the same for a command that works without a
server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Connection, select

from gemba import clock
from gemba.event import Filter
from gemba.personas import consult_lines, consults
from gemba.personas.consult import ConsultStatus
from gemba.personas.consulting import WATCH
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.store.database import Database

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which one of these may have become necessary; lines are set aside when a model has failed.
NEWS = Filter(frozenset({"consult.started", "consult.lines"}))


class ConsultFlows:
    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {WATCH: self.watch, consult_lines.ADVISE: self.advise}

    async def watch(self, flow: Flow, id: str, since: int, due: int) -> None:
        if not await flow.until(id, is_over, id, since=since, due=due):
            await flow.change(consult_lines.time_out, id)

    async def advise(self, flow: Flow, id: str) -> None:
        await flow.call(self.answer, id)

    def answer(self, id: str) -> bool:
        """Thought out outside of any transaction; whether the consult was answered by this."""
        with self._database.read() as connection:
            row = consults.find(connection, id)
        if row is None or row.status != ConsultStatus.RUNNING or not row.by_advisor:
            return False
        given = consults.given_of(row)
        if not isinstance(given, EpicOrderInput):
            raise TypeError(f"the built-in advisor has no answer to {row.skill_id}")
        lines = msgspec.to_builtins(advise(given))
        return self._database.change(lambda tx: consult_lines.give_advice(tx, id, lines))

    def catch_up(self) -> None:
        """Answer what waits for the built-in advisor, and end what is overdue."""
        table = consults.consults
        running = select(table.c.id, table.c.by_advisor, table.c.due_at).where(table.c.status == ConsultStatus.RUNNING)
        with self._database.read() as connection:
            found = connection.execute(running).all()
        for row in found:
            if row.by_advisor:
                self.answer(row.id)
            elif row.due_at <= clock.now():
                self._database.change(partial(consult_lines.time_out, id=row.id))


def is_over(connection: Connection, id: str) -> bool:
    row = consults.find(connection, id)
    return row is None or row.status != ConsultStatus.RUNNING
