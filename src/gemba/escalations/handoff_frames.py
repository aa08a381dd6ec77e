"""`GembaHandoff` frames: what the stop hooks of an agent's client let end, handed over as from anybody else.

The server judges again itself, whatever the hook found. One that comes while another one of its dispatch is checked is
taken when that is concluded, by a durable flow that finds it in the event log. A frame never fails the batch that it
came in: what cannot be taken is told as `frame_dropped`, and nothing of it is left. Called by the projection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import InterfaceError, OperationalError

from gemba import wire
from gemba.errors import GembaError
from gemba.escalations import refusing
from gemba.escalations.handing_over import Turn, hand_over
from gemba.event import Draft, Filter
from gemba.flows import wanted
from gemba.handoff import dispatches, handoffs
from gemba.handoff.handoffs import HandoffState
from gemba.store.database import Transaction
from gemba.store.schema import events

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which a flow of the handoffs that frames bring may have become necessary.
NEWS = Filter(frozenset({"handoff_received", "escalation.sent"}))

SUBAGENT = "SubagentStop"
_FLOW = "handoff_frame"
_WHILE_CHECKING = "already_checking"
_EVENTS = ("Stop", SUBAGENT)
_MOST_CODES = 100

log = structlog.get_logger("gemba.handoff")


def take(tx: Transaction, draft: Draft) -> None:
    """Hand over what a frame brings, or say why not."""
    checked: str | None = None
    try:
        with tx.part():
            _hand_over(tx, _turn(tx, draft))
        return
    except (OperationalError, InterfaceError):  # the database's, which the whole batch is tried again for
        raise
    except GembaError as error:
        reason = error.message
        checked = str(error.found) if error.code == _WHILE_CHECKING else None
    except Exception as error:
        log.exception("a handoff could not be taken", event_id=draft.ref)
        reason = f"Gemba failed on it: {error.__class__.__name__}"
    if checked is not None:
        _take_later(tx, draft, checked)
    else:
        tx.emit(Draft("frame_dropped", {"hook": "GembaHandoff", "reason": reason}, draft.session_id, draft.ref))


def _hand_over(tx: Transaction, turn: Turn) -> None:
    """A refusal that the agent read before it ended its turn with the same envelope is read by nobody now."""
    row = hand_over(tx, turn)
    if row.source != turn.source and row.state != HandoffState.ACCEPTED:
        row = handoffs.change(tx, row.id, source=turn.source, event=turn.event)
        if row.state == HandoffState.REFUSED:
            refusing.after_the_turn(tx, row, None if turn.aside else turn.dispatch)


# ---- while another one is checked -----------------------------------------------------------------------------------


def _take_later(tx: Transaction, draft: Draft, checked: str) -> None:
    call = wanted.Call(f"{_FLOW}/{draft.ref}/{checked}", {"ref": draft.ref, "checked": checked, "since": tx.now})
    wanted.want(tx, _FLOW, [call])


async def _wait(flow: Flow, ref: str, checked: str, since: int) -> None:
    """Take a frame once the handoff that is checked before it is concluded."""
    await flow.until(checked, is_concluded, checked, since=since, due=None)
    await flow.change(take_again, ref)


TABLE: Mapping[str, FlowFunction] = {_FLOW: _wait}


def is_concluded(connection: Connection, id: str) -> bool:
    row = handoffs.find(connection, id)
    return row is None or row.state != HandoffState.CHECKING


def take_again(tx: Transaction, ref: str) -> None:
    received = select(events).where(events.c.ref == ref, events.c.name == "handoff_received")
    event = tx.connection.execute(received.limit(1)).first()
    if event is not None:
        take(tx, Draft(event.name, msgspec.json.decode(event.payload), event.session_id, event.ref))


# ---- what a frame says ----------------------------------------------------------------------------------------------


def _turn(tx: Transaction, draft: Draft) -> Turn:
    said = draft.payload
    agent_id, event = _word(said, "agent_id"), _word(said, "event")
    dispatch = _dispatch(tx, _word(said, "dispatch_id"))
    envelope, text = said.get("envelope"), said.get("text")
    codes = said.get("codes")
    spent = [code[: wire.MAX_ID] for code in codes if isinstance(code, str)] if isinstance(codes, list) else []
    return Turn(
        words=envelope if envelope is not None or not isinstance(text, str) else text,
        source="hook",
        dispatch=dispatch,
        session_id=draft.session_id,
        agent_id=agent_id,
        event=event if event in _EVENTS else None,
        aside=dispatch is not None and event == SUBAGENT and agent_id != dispatch.agent_id,
        spent=(spent[:_MOST_CODES] or ["REFUSED"]) if said.get("refused") is True else None,
    )


def _dispatch(tx: Transaction, id: str | None) -> Row[Any] | None:
    """The dispatch that a frame names; a turn of one that nobody knows here is a turn outside of any."""
    return None if id is None else dispatches.find_locked(tx, id)


def _word(said: dict[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value[: wire.MAX_ID] if isinstance(value, str) and value else None
