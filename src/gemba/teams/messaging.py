"""What people and agents may do on the bus of a run, as actions: log, broadcast, acknowledge.

Nobody but the engine speaks as the coordinator. Who speaks for a session that works on tasks of the run has the name
of their role, or of one of them, and reports the state of no other task; who speaks for another session says who it
is; and who speaks for none is the operator, unless it is said. Called by the API, the command line and MCP.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from gemba.action import Action, Id
from gemba.errors import Conflict, Invalid
from gemba.store.database import Transaction
from gemba.teams import gaps, reviewing
from gemba.teams.bus import acknowledge, post_many
from gemba.teams.bus_reads import Number, RecipientStatus
from gemba.teams.message import ALL, MOST_AT_ONCE, STATE_UPDATE, Message, checked, find_type, placed
from gemba.teams.publishing import take_message
from gemba.teams.run import COORDINATOR, check_id
from gemba.teams.tables import tasks
from gemba.teams.task import TaskState

_AT_WORK = frozenset({TaskState.CLAIMED, TaskState.RUNNING, TaskState.VERIFYING, TaskState.WAITING})

_Text = Annotated[str, msgspec.Meta(max_length=100_000)]


class NewMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """From whom, to whom, what it is, in a line, and the data that its type has."""

    type: _Text
    summary: _Text
    from_: _Text | None = None
    to: _Text = COORDINATOR
    data: dict[str, Any] | None = None


class LogMessages(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """One message, or `messages`: all of them or none. `session_id` is the session of the agent that speaks."""

    type: _Text | None = None
    summary: _Text | None = None
    from_: _Text | None = None
    to: _Text = COORDINATOR
    data: dict[str, Any] | None = None
    messages: Annotated[list[NewMessage], msgspec.Meta(min_length=1, max_length=MOST_AT_ONCE)] | None = None
    session_id: Id | None = None


class BroadcastMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """To everybody in the run."""

    type: _Text
    summary: _Text
    from_: _Text | None = None
    data: dict[str, Any] | None = None
    session_id: Id | None = None


class AcknowledgeMessages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who has read, and up to which message; you, and up to the last one, unless it is said."""

    recipient: _Text | None = None
    up_to: Number | None = None
    session_id: Id | None = None


class Posted(msgspec.Struct, frozen=True):
    """The numbers that the messages have; and those of their types that have no schema."""

    run_id: str
    first: int
    last: int
    unknown_types: list[str]


class _Speaker(NamedTuple):
    """Whom a session is in a run: the role of its tasks, and which of them it works on now."""

    role: str
    tasks: frozenset[str]
    current: str | None


def log_messages(tx: Transaction, body: LogMessages, *, id: str) -> Posted:
    check_id(id)
    if body.messages is None:
        return _post(tx, id, [_single(body)], body.session_id, "")
    if body.type is not None or body.summary is not None or body.from_ is not None or body.data is not None:
        raise Invalid(
            "a message stands in messages, or in the body itself; allowed: one of them",
            code="invalid_value",
            pointer="/messages",
        )
    return _post(tx, id, body.messages, body.session_id, "/messages/{}")


def _single(body: LogMessages) -> NewMessage:
    if body.type is None or body.summary is None:
        missing = "type" if body.type is None else "summary"
        raise Invalid(f"/{missing} is missing; allowed: text", code="missing_field", pointer=f"/{missing}")
    return NewMessage(body.type, body.summary, body.from_, body.to, body.data)


def broadcast_message(tx: Transaction, body: BroadcastMessage, *, id: str) -> Posted:
    check_id(id)
    return _post(tx, id, [NewMessage(body.type, body.summary, body.from_, ALL, body.data)], body.session_id, "")


def acknowledge_messages(tx: Transaction, body: AcknowledgeMessages, *, id: str) -> RecipientStatus:
    check_id(id)
    speaker = _speaker(tx.connection, id, body.session_id)
    name = _name(tx, body.recipient, speaker, body.session_id, "/recipient")
    return acknowledge(tx, id, name, body.up_to)


ACTIONS = (
    Action(
        "/api/teams/{id}/messages",
        log_messages,
        LogMessages,
        Posted,
        f"Post messages on the bus of a team run: one, or up to {MOST_AT_ONCE} at once",
    ),
    Action(
        "/api/teams/{id}/messages/broadcast",
        broadcast_message,
        BroadcastMessage,
        Posted,
        "Post a message that goes to everybody in a team run",
    ),
    Action(
        "/api/teams/{id}/messages/ack",
        acknowledge_messages,
        AcknowledgeMessages,
        RecipientStatus,
        "Say how far somebody has read the messages of a team run",
    ),
)


def _post(tx: Transaction, run_id: str, given: list[NewMessage], session_id: str | None, place: str) -> Posted:
    speaker = _speaker(tx.connection, run_id, session_id)
    found: list[Message] = []
    for at, each in enumerate(given):
        try:
            found.append(_message(tx, each, speaker, session_id))
        except Invalid as error:
            raise placed(error, place.format(at)) if place else error from None
    numbers = post_many(tx, run_id, found, session_id)
    for message in found:
        reviewing.take(tx, run_id, message, session_id)
        gaps.take(tx, run_id, message, session_id)
        take_message(tx, run_id, message.type, message.summary, message.data, author=message.sender)
    unknown = sorted({each.type for each in found if not each.known})
    return Posted(run_id, numbers[0], numbers[-1], unknown)


def _message(tx: Transaction, given: NewMessage, speaker: _Speaker | None, session_id: str | None) -> Message:
    sender = _name(tx, given.from_, speaker, session_id, "/from")
    data = given.data
    kind = find_type(given.type)
    if speaker is not None and speaker.current and kind is not None and kind.has_task:
        data = {"task_id": speaker.current, **(data or {})}
    message = checked(sender, given.type, given.summary, data, given.to)
    if speaker is not None and message.type == STATE_UPDATE and message.bound_to not in speaker.tasks:
        raise Conflict(
            f"{message.bound_to} is not this session's task, and its state is another's to report",
            code="not_its_task",
            found=message.bound_to,
            allowed=sorted(speaker.tasks),
        )
    return message


def _name(tx: Transaction, given: str | None, speaker: _Speaker | None, session_id: str | None, pointer: str) -> str:
    name = given or (speaker.role if speaker else session_id or tx.actor)
    allowed = None if speaker is None else sorted({speaker.role, *speaker.tasks})
    is_the_engine = name == COORDINATOR and (pointer == "/from" or session_id is not None)
    if is_the_engine or (allowed is not None and name not in allowed):
        raise Invalid(
            f"{pointer[1:]} is {name[:80]!r}; allowed: {', '.join(allowed or ['your own name'])}",
            code="not_yours",
            pointer=pointer,
            found=name[:80],
            allowed=allowed,
        )
    return name


def _speaker(connection: Connection, run_id: str, session_id: str | None) -> _Speaker | None:
    """Whom a session is by the run's tasks; None where it works on none of them."""
    if session_id is None:
        return None
    query = select(tasks.c.id, tasks.c.owner, tasks.c.state).order_by(tasks.c.place)
    found = connection.execute(query.where(tasks.c.run_id == run_id, tasks.c.session_id == session_id)).all()
    if not found:
        return None
    current = [row for row in found if row.state in _AT_WORK] or found[-1:]
    return _Speaker(current[-1].owner, frozenset(row.id for row in found), current[-1].id)
