"""What an envelope that says COMPLETE claims is compared with the world, as a durable flow.

It looks, asks the world outside of any transaction, and concludes; whoever concludes first has decided, and a flow that
is taken up again after a crash asks once more. It runs in the home that dispatched the work, which has its folder:
where several share a database it waits for a server of that one. The record of the sessions' tool uses is read where
it is needed, since it is too large for a flow's own record, and after what lies in their logs was taken in. Whatever
goes wrong, the handoff is not accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import structlog
from sqlalchemy import Connection, Row, select

from gemba import typed
from gemba.errors import GembaError
from gemba.escalations.handing_over import FLOW, conclude, flow_of, is_waiting
from gemba.event import Event, Filter
from gemba.flows import wanted
from gemba.handoff import dispatches, handoffs
from gemba.handoff.check import Check
from gemba.handoff.may_run import allowed_by
from gemba.handoff.risk import workspace_rules
from gemba.handoff.world import ToolUse, check_world, tool_use_of
from gemba.store import events
from gemba.store.database import REFUSALS, Database, Transaction

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which one of these may have become necessary.
NEWS = Filter(frozenset({"handoff.checking"}))

_USES = frozenset({"tool_use"})
# What only a client with hooks tells of its session.
_OF_CLIENTS = frozenset({"tool_use", "turn_ended", "subagent_stopped", "user_message", "session_transition"})
_PAGE = 500

log = structlog.get_logger("gemba.handoff")


class Elsewhere(Exception):
    """The folder of a dispatch is another home's: nothing can be said of it here."""


class HandoffFlows:
    """The flow of the handoffs of one workspace. `root` has the rules that class commands.

    `take_in` takes in every frame that lies in the logs of some sessions: an agent that hands over at once was recorded
    a moment before.
    """

    def __init__(
        self, database: Database, origin: str, root: Path, take_in: Callable[..., object] = lambda *_: None
    ) -> None:
        self._database = database
        self._origin = origin
        self._root = root
        self._take_in = take_in

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {FLOW: self.check}

    async def check(self, flow: Flow, id: str, since: int) -> None:
        if await flow.look(_waits, id, since):
            found = await flow.call(self.compare, id)
            await flow.change(end, id, since, found)

    def compare(self, id: str) -> dict[str, Any]:
        """The checks of a handoff, or the trouble with them. It may run a second time, after a crash."""
        try:
            return {"checks": msgspec.to_builtins(self._checks(id)), "trouble": None}
        except (Elsewhere, *REFUSALS):
            raise  # this home cannot know; a database that does not answer is asked again
        except GembaError as error:
            return {"checks": [], "trouble": f"it could not be checked: {error.message}"}
        except Exception as error:
            log.exception("a handoff could not be checked", id=id)
            return {"checks": [], "trouble": f"it could not be checked: {error.__class__.__name__}"}

    def _checks(self, id: str) -> list[Check]:
        with self._database.read() as connection:
            row = handoffs.get(connection, id)
            dispatch = dispatches.get(connection, row.dispatch_id)
            if dispatch.origin != self._origin:
                raise Elsewhere(f"handoff {id} can only be checked in the home that dispatched the work")
            sessions = sorted(_sessions(connection, row, dispatch))
        self._take_in(*sessions)  # theirs alone: a home may have the logs of hundreds
        with self._database.read() as connection:
            uses = _tool_uses(connection, sessions, dispatch)
        envelope, policy = handoffs.document_of(row) or {}, dispatches.policy_of(dispatch)
        may_run = allowed_by(policy, envelope, workspace_rules(self._root))
        snapshot = dispatches.snapshot_of(dispatch)
        return check_world(envelope, snapshot, uses, policy, dispatch.folder, may_run=may_run)


def end(tx: Transaction, id: str, since: int, found: dict[str, Any]) -> None:
    conclude(tx, id, since, typed.convert(found["checks"], list[Check]), found["trouble"])


def settle(tx: Transaction, id: str, since: int, found: dict[str, Any]) -> bool:
    """The same by whoever waits for it, to whom it is left: the flow, which rests meanwhile, is not needed then.
    Whether it is accepted."""
    wanted.unwant(tx, f"{FLOW}/{id}/{since}")
    return conclude(tx, id, since, typed.convert(found["checks"], list[Check]), found["trouble"])


class Left(NamedTuple):
    """A handoff, as it was judged at a moment."""

    id: str
    since: int


def left_of(connection: Connection, dispatch_id: str) -> Left | None:
    """The handoff of a dispatch whose check is left to whoever waits for it: its flow rests."""
    row = handoffs.checking(connection, dispatch_id)
    return Left(row.id, row.judged_at) if row is not None and wanted.is_resting(connection, flow_of(row)) else None


def _waits(connection: Connection, id: str, since: int) -> bool:
    return is_waiting(handoffs.find(connection, id), since)


def _tool_uses(connection: Connection, sessions: Sequence[str], dispatch: Row[Any]) -> list[ToolUse] | None:
    """What clients recorded since the dispatch of the sessions that worked on it; None when they record nothing."""
    recorded = {
        event.id: tool_use_of(msgspec.json.decode(event.payload))
        for session_id in sessions
        for event in _uses_after(connection, session_id, dispatch.since_event)
    }
    uses = [recorded[id] for id in sorted(recorded)]
    is_recorded = uses or any(_has_client(connection, one) for one in sessions)
    return uses if is_recorded else None


def _sessions(connection: Connection, row: Row[Any], dispatch: Row[Any]) -> set[str]:
    """Those that worked on a dispatch: one that takes the work on from another has a session of its own."""
    of_dispatch = select(handoffs.handoffs.c.session_id).where(handoffs.handoffs.c.dispatch_id == dispatch.id)
    spoke = connection.execute(of_dispatch.distinct()).scalars()
    return {one for one in (*spoke, row.session_id, dispatch.session_id) if one is not None}


def _has_client(connection: Connection, session_id: str) -> bool:
    return bool(events.read_after(connection, 0, 1, Filter(_OF_CLIENTS, session_id)))


def _uses_after(connection: Connection, session_id: str, after: int) -> Iterator[Event]:
    """A page at a time: what is kept of each is small, what it holds need not be."""
    while page := events.read_after(connection, after, _PAGE, Filter(_USES, session_id)):
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].id
