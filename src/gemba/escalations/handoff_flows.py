"""What an envelope that says COMPLETE claims is compared with the world, as a durable flow.

It looks, asks the world outside of any transaction, and concludes; whoever concludes first has decided, and a flow that
is taken up again after a crash asks once more. The record of the session's tool uses is read where it is needed, since
it is too large for a flow's own record. Whatever goes wrong, the handoff is not accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from sqlalchemy import Connection, Row

from gemba import clock
from gemba.errors import GembaError
from gemba.escalations.handing_over import FLOW, conclude, is_waiting
from gemba.event import Filter
from gemba.handoff import dispatches, handoffs
from gemba.handoff.check import Check
from gemba.handoff.may_run import allowed_by
from gemba.handoff.risk import read_rules
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


class HandoffFlows:
    """The flow of the handoffs of one workspace. `rules` is the file that classes commands."""

    def __init__(self, database: Database, origin: str, rules: Path) -> None:
        self._database = database
        self._origin = origin
        self._rules = rules

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
        except REFUSALS:
            raise  # a database that does not answer is asked again
        except GembaError as error:
            return {"checks": [], "trouble": f"it could not be checked: {error.message}"}
        except Exception as error:
            log.exception("a handoff could not be checked", id=id)
            return {"checks": [], "trouble": f"it could not be checked: {error.__class__.__name__}"}

    def _checks(self, id: str) -> list[Check]:
        with self._database.read() as connection:
            row = handoffs.get(connection, id)
            dispatch = dispatches.get(connection, row.dispatch_id)
            uses = _tool_uses(connection, row, dispatch)
        if dispatch.origin != self._origin:
            raise GembaError("its folder lies on another machine", code="elsewhere")
        envelope, policy = handoffs.document_of(row) or {}, dispatches.policy_of(dispatch)
        may_run = allowed_by(policy, envelope, read_rules(self._rules))
        snapshot = dispatches.snapshot_of(dispatch)
        return check_world(envelope, snapshot, uses, policy, dispatch.folder, may_run=may_run)


def end(tx: Transaction, id: str, since: int, found: dict[str, Any]) -> None:
    conclude(tx, id, since, msgspec.convert(found["checks"], list[Check]), found["trouble"])


def _waits(connection: Connection, id: str, since: int) -> bool:
    return is_waiting(handoffs.find(connection, id), since)


def _tool_uses(connection: Connection, row: Row[Any], dispatch: Row[Any]) -> list[ToolUse] | None:
    """What the client recorded of the session since the dispatch; None when it records nothing."""
    session_id = dispatch.session_id or row.session_id
    if session_id is None:
        return None
    uses = [
        tool_use_of(msgspec.json.decode(event.payload))
        for event in _events(connection, session_id, _USES)
        if (clock.parse(event.at) or 0) >= dispatch.created_at
    ]
    is_recorded = uses or next(_events(connection, session_id, _OF_CLIENTS), None) is not None
    return uses if is_recorded else None


def _events(connection: Connection, session_id: str, names: frozenset[str]) -> Iterator[Any]:
    """A page at a time: what is kept of each is small, what it holds need not be."""
    after = 0
    while page := events.read_after(connection, after, _PAGE, Filter(names, session_id)):
        yield from page
        after = page[-1].id
