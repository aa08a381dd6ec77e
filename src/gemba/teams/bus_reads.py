"""What can be read of the bus of a team run: messages, who has read how much, and the states that they add up to.

Called by the surfaces and the engine; what is posted and acknowledged is in `bus.py`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, select

from gemba import clock, typed
from gemba.action import Id
from gemba.errors import Invalid, NotFound
from gemba.store.lists import among
from gemba.teams.message import ALL, Decision, KnownState, Verification
from gemba.teams.run import COORDINATOR
from gemba.teams.store import get_run, get_task
from gemba.teams.tables import cursors, messages, states, tasks

MOST_SHOWN = 500
_BIGGEST = 2**31 - 1

Number = Annotated[int, msgspec.Meta(ge=0, le=_BIGGEST)]


class MessageView(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """A message. `known` is whether its type has a schema."""

    id: int
    ts: str
    from_: str
    to: str
    type: str
    known: bool
    summary: str
    data: dict[str, Any]


class MessageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """Those of a sender, for a recipient (what goes to all is for each), of a type (or several, as a comma list).

    With `since`, the first ones after that message; without it, the latest.
    """

    from_: Id | None = None
    to: Id | None = None
    type: Id | None = None
    since: Number | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SHOWN)] = 50


class MessageList(msgspec.Struct, frozen=True):
    """Messages by their number, the lowest first; `last` is the run's last number. `more` is whether others fit, too:
    after the last of these where `since` was given, else before the first."""

    messages: list[MessageView]
    last: int
    more: bool


class RecipientStatus(msgspec.Struct, frozen=True):
    """`seen` is its cursor: the last message that it has acknowledged."""

    name: str
    unread: int
    seen: int


class SenderStatus(msgspec.Struct, frozen=True):
    name: str
    messages: int
    last: MessageView


class BusStatus(msgspec.Struct, frozen=True):
    """Who has read how much, and what each said last; of very many of a kind the first by name."""

    last: int
    recipients: list[RecipientStatus]
    senders: list[SenderStatus]


class StateQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of one task, or of all: the first ones by their ids, after a task."""

    task_id: Id | None = None
    after: Id | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SHOWN)] = 100


class TaskKnowledge(msgspec.Struct, frozen=True):
    """What was reported of a task, merged; `message_id` and `ts` are of the latest update."""

    task_id: str
    ref: str | None
    key_findings: list[str]
    decisions: list[Decision]
    files_modified: list[str]
    verification: Verification | None
    message_id: int
    ts: str


class StateList(msgspec.Struct, frozen=True):
    states: list[TaskKnowledge]
    more: bool


def list_messages(connection: Connection, run_id: str, query: MessageQuery) -> MessageList:
    last: int = get_run(connection, run_id).messages
    found = connection.execute(_chosen(run_id, query).limit(query.limit + 1)).all()
    page = [view(row) for row in found[: query.limit]]
    return MessageList(page if query.since is not None else page[::-1], last, len(found) > query.limit)


def _chosen(run_id: str, query: MessageQuery) -> Select[Any]:
    chosen = select(messages).where(messages.c.run_id == run_id)
    if query.from_ is not None:
        chosen = chosen.where(messages.c.sender == query.from_)
    if query.to is not None:
        chosen = chosen.where(goes_to(query.to))
    if query.type is not None:
        chosen = chosen.where(messages.c.type.in_([each.strip() for each in query.type.split(",")]))
    if query.since is None:
        return chosen.order_by(messages.c.id.desc())
    return chosen.where(messages.c.id > query.since).order_by(messages.c.id)


def goes_to(name: str) -> ColumnElement[bool]:
    """Whether a message is one of a recipient's."""
    return messages.c.recipient.in_([name, ALL])


def read_message(connection: Connection, run_id: str, number: int) -> MessageView:
    last = get_run(connection, run_id).messages
    if 1 <= number <= last:
        query = select(messages).where(messages.c.run_id == run_id, messages.c.id == number)
        return view(connection.execute(query).one())
    there = f"they are numbered from 1 to {last}" if last else "it has none yet"
    raise NotFound(f"{run_id} has no message {number}; {there}", code="not_found", found=number)


def number_of(text: str) -> int:
    """The number of a message as it stands in a path."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        rule = "a whole number from 1"
        raise Invalid(f"{text[:80]!r} is no number of a message; allowed: {rule}", code="invalid_id", pointer="/number")
    return int(text)


def bus_status(connection: Connection, run_id: str) -> BusStatus:
    last: int = get_run(connection, run_id).messages
    return BusStatus(last, _recipients(connection, run_id), _senders(connection, run_id))


def _recipients(connection: Connection, run_id: str) -> list[RecipientStatus]:
    of_run = select(cursors.c.recipient, cursors.c.seen).where(cursors.c.run_id == run_id)
    seen: dict[str, int] = {row.recipient: row.seen for row in connection.execute(of_run)}
    mine = and_(cursors.c.run_id == messages.c.run_id, cursors.c.recipient == messages.c.recipient)
    unread = func.count().filter(messages.c.id > func.coalesce(cursors.c.seen, 0)).label("many")
    direct = select(messages.c.recipient, unread).join_from(messages, cursors, mine, isouter=True)
    direct = direct.where(messages.c.run_id == run_id).group_by(messages.c.recipient)
    waiting: dict[str, int] = {row.recipient: row.many for row in connection.execute(direct)}
    broadcasts = waiting.pop(ALL, 0)
    later = and_(messages.c.run_id == cursors.c.run_id, messages.c.recipient == ALL, messages.c.id > cursors.c.seen)
    to_all = select(cursors.c.recipient, func.count().label("many")).join_from(cursors, messages, later)
    to_all = to_all.where(cursors.c.run_id == run_id).group_by(cursors.c.recipient)
    unseen: dict[str, int] = {row.recipient: row.many for row in connection.execute(to_all)}
    owners = connection.execute(select(tasks.c.owner).where(tasks.c.run_id == run_id).distinct()).scalars()
    own = {COORDINATOR, *owners}
    names = [*sorted(own), *sorted({*seen, *waiting} - own)][:MOST_SHOWN]
    return [
        RecipientStatus(
            name,
            waiting.get(name, 0) + (unseen.get(name, 0) if name in seen else broadcasts),
            seen.get(name, 0),
        )
        for name in names
    ]


def _senders(connection: Connection, run_id: str) -> list[SenderStatus]:
    of_run = select(messages.c.sender, func.count().label("many"), func.max(messages.c.id).label("last"))
    of_run = of_run.where(messages.c.run_id == run_id).group_by(messages.c.sender)
    found = connection.execute(of_run.order_by(messages.c.sender).limit(MOST_SHOWN)).all()
    latest = among(connection, messages.c.id, [row.last for row in found])
    said = connection.execute(select(messages).where(messages.c.run_id == run_id, latest))
    views = {row.id: view(row) for row in said}
    return [SenderStatus(row.sender, row.many, views[row.last]) for row in found]


def get_state(connection: Connection, run_id: str, task_id: str) -> TaskKnowledge | None:
    """What is known of a task by its updates; None where there was none yet."""
    found = list_states(connection, run_id, StateQuery(task_id=task_id)).states
    return found[0] if found else None


def list_states(connection: Connection, run_id: str, query: StateQuery) -> StateList:
    get_run(connection, run_id)
    chosen = select(states).where(states.c.run_id == run_id).order_by(states.c.task_id).limit(query.limit + 1)
    if query.task_id is not None:
        get_task(connection, run_id, query.task_id)
        chosen = chosen.where(states.c.task_id == query.task_id)
    if query.after is not None:
        chosen = chosen.where(states.c.task_id > query.after)
    found = connection.execute(chosen).all()
    return StateList([_knowledge(row) for row in found[: query.limit]], len(found) > query.limit)


def _knowledge(row: Row[Any]) -> TaskKnowledge:
    known = decoded_state(row.state)
    return TaskKnowledge(
        row.task_id,
        known.ref,
        known.key_findings,
        known.decisions,
        known.files_modified,
        known.verification,
        row.message_id,
        clock.rfc3339(row.at),
    )


def view(row: Row[Any]) -> MessageView:
    data = msgspec.json.decode(row.data)
    return MessageView(
        row.id, clock.rfc3339(row.at), row.sender, row.recipient, row.type, bool(row.known), row.summary, data
    )


def decoded_state(state: str | None) -> KnownState:
    return KnownState() if state is None else typed.decode(state, KnownState)
