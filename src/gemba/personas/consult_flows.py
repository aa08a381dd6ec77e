"""The durable part of consults: the built-in advisor's answer, the end of one whose session has ended or that takes too
long.

Each step looks first and may run again after a crash. `catch_up` does the same for a command that works without a
server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Connection, select

from gemba import clock
from gemba.errors import GembaError
from gemba.event import Filter
from gemba.flows import wanted
from gemba.flows.wanted import flows
from gemba.personas import acting, consult_lines, consults
from gemba.personas.consult import ConsultStatus
from gemba.personas.consulting import WATCH
from gemba.personas.expert import experts_in
from gemba.sessions.session import Lifecycle
from gemba.sessions.store import sessions
from gemba.store.database import Database

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which one of these may have become necessary; lines are set aside when a model has failed.
NEWS = Filter(frozenset({"consult.started", "consult.lines", "consult.finished", "session_transition"}))


class ConsultFlows:
    """`take_in` takes in every frame that lies in a log: an agent that ends at once spoke a moment before."""

    def __init__(self, database: Database, take_in: Callable[[], object]) -> None:
        self._database = database
        self._take_in = take_in

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        own = {consult_lines.ADVISE: self.advise, consult_lines.END: self.end, consult_lines.ACT: self.act}
        return {WATCH: self.watch, **own}

    async def watch(self, flow: Flow, id: str, since: int, due: int) -> None:
        if not await flow.until(id, is_over, id, since=since, due=due):
            await flow.change(consult_lines.time_out, id)

    async def advise(self, flow: Flow, id: str) -> None:
        await flow.call(self.answer, id)

    async def end(self, flow: Flow, id: str) -> None:
        await flow.call(self.hear_all)
        await flow.change(consult_lines.session_over, id)

    async def act(self, flow: Flow, id: str) -> None:
        for place in await flow.look(acting.lines_to_apply, id):
            await flow.change(acting.apply_own_line, id, place)

    def hear_all(self) -> None:
        self._take_in()

    def answer(self, id: str) -> bool:
        """Thought out outside of any transaction; whether the consult was answered by this."""
        with self._database.read() as connection:
            row = consults.find(connection, id)
        if row is None or row.status != ConsultStatus.RUNNING or not row.by_advisor:
            return False
        expert = experts_in(self._database.surroundings)[row.skill_id]
        try:
            lines = msgspec.to_builtins(list(expert.advise(consults.given_of(row), row.persona_id)))
        except GembaError as error:
            why = error.message
            return self._database.change(lambda tx: consult_lines.no_advice(tx, id, why))
        return self._database.change(lambda tx: consult_lines.give_advice(tx, id, lines))

    def catch_up(self) -> None:
        """End what has no session any more or is overdue, answer what waits for the built-in advisor, and apply what
        managers may apply by themselves."""
        self._end_those_without_session()
        table = consults.consults
        running = select(table.c.id, table.c.by_advisor, table.c.due_at).where(table.c.status == ConsultStatus.RUNNING)
        with self._database.read() as connection:
            found = connection.execute(running).all()
        for row in found:
            if row.by_advisor:
                self.answer(row.id)
            elif row.due_at <= clock.now():
                self._database.change(partial(consult_lines.time_out, id=row.id))
        self._act_for_managers()

    def _act_for_managers(self) -> None:
        waiting = select(flows.c.id, flows.c.args).where(flows.c.name == consult_lines.ACT, ~flows.c.started)
        with self._database.read() as connection:
            found = [(row.id, msgspec.json.decode(row.args)["id"]) for row in connection.execute(waiting)]
            places = {id: acting.lines_to_apply(connection, id) for _, id in found}
        for flow_id, id in found:
            for place in places[id]:
                self._database.change(partial(acting.apply_own_line, id=id, place=place))
            self._database.change(partial(wanted.finish, id=flow_id))

    def _end_those_without_session(self) -> None:
        table = consults.consults
        waiting = (table.c.status == ConsultStatus.RUNNING, ~table.c.by_advisor)
        dead = (*waiting, sessions.c.lifecycle.not_in((Lifecycle.STARTING, Lifecycle.RUNNING)))
        query = select(table.c.id).join(sessions, sessions.c.id == table.c.id).where(*dead)
        with self._database.read() as connection:
            ids = connection.execute(query).scalars().all()
        if ids:
            self._take_in()
        for id in ids:
            self._database.change(partial(consult_lines.session_over, id=id))


def is_over(connection: Connection, id: str) -> bool:
    row = consults.find(connection, id)
    return row is None or row.status != ConsultStatus.RUNNING
