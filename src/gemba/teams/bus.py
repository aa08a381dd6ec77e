"""The bus of a team run: messages that are posted, read and acknowledged, and the state that they add up to.

A post takes the numbers of its messages from the run's row, in the transaction in which they are stored: any number of
writers, in any number of processes, leave no number twice and none out, and a writer that is killed leaves none. Who
posts holds that row until it commits, so the state of a task is merged by one at a time. A transaction that does other
things as well posts late.

What is sent to `all` is everybody's. Each recipient has a cursor, the last message that it has acknowledged, which only
moves forward. Called by the engine, and by the surfaces through `messaging.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, Select, and_, bindparam, func, select, update

from gemba import clock
from gemba.action import Id
from gemba.errors import Conflict, Invalid, NotFound
from gemba.event import Draft
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.teams.message import (
    ALL,
    MOST_AT_ONCE,
    Decision,
    KnownState,
    Message,
    StateUpdate,
    Verification,
    checked,
    checked_name,
    merged_all,
)
from gemba.teams.run import COORDINATOR, check_id
from gemba.teams.tables import cursors, messages, runs, states, tasks

MOST_SHOWN = 500
_BIGGEST = 2**31 - 1
_MOST_TOLD = 10  # names of a kind in one event

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


# ---- posting ---------------------------------------------------------------------------------------------------------


def post(
    tx: Transaction,
    run_id: str,
    sender: str,
    type: str,  # noqa: A002 - as a message has it
    summary: str,
    data: dict[str, Any] | None = None,
    recipient: str = COORDINATOR,
) -> int:
    """Post one message; its number."""
    return post_many(tx, run_id, [checked(sender, type, summary, data, recipient)])[0]


def post_many(tx: Transaction, run_id: str, given: Sequence[Message], session_id: str | None = None) -> range:
    """Post messages, all or none; their numbers. `session_id` is the session that they come from, if they do."""
    if not 1 <= len(given) <= MOST_AT_ONCE:
        allowed = f"1 to {MOST_AT_ONCE}"
        raise Invalid(
            f"{len(given):,} messages at once; allowed: {allowed}",
            code="invalid_value",
            pointer="/messages",
            found=len(given),
            allowed=allowed,
        )
    last = _take_numbers(tx, run_id, len(given))
    numbers = range(last - len(given) + 1, last + 1)
    _keep_states(tx, run_id, list(zip(numbers, given, strict=True)))
    tx.insert_many(
        messages,
        [
            {
                "run_id": run_id,
                "id": number,
                "at": tx.now,
                "sender": each.sender,
                "recipient": each.recipient,
                "type": each.type,
                "known": each.known,
                "summary": each.summary,
                "data": msgspec.json.encode(each.data).decode(),
            }
            for number, each in zip(numbers, given, strict=True)
        ],
    )
    told = {
        "first": numbers[0],
        "last": last,
        "from": _some(each.sender for each in given),
        "to": _some(each.recipient for each in given),
        "types": _some(each.type for each in given),
    }
    tx.emit(Draft("team.message", told, session_id=session_id, ref=run_id))
    return numbers


def _some(names: Iterable[str]) -> list[str]:
    return sorted(set(names))[:_MOST_TOLD]


_count_up = (
    update(runs)
    .where(runs.c.id == bindparam("run"), runs.c.archived_at.is_(None))
    .values(messages=runs.c.messages + bindparam("many"), unwritten=True)
    .returning(runs.c.messages)
)


def _take_numbers(tx: Transaction, run_id: str, many: int) -> int:
    """The last of so many new numbers; its run is the caller's until the transaction ends."""
    last: int | None = tx.connection.execute(_count_up, {"run": check_id(run_id), "many": many}).scalar()
    if last is None:
        get_run(tx.connection, run_id)
        raise Conflict(f"{run_id} is archived: nothing more is said in it", code="archived", found=run_id)
    return last


def _keep_states(tx: Transaction, run_id: str, numbered: Sequence[tuple[int, Message]]) -> None:
    """Merge the updates among these into the states of their tasks. What is bound to a task wants one of the run's."""
    bound = {task_id for _, each in numbered if (task_id := each.bound_to) is not None}
    if not bound:
        return
    known = _states_of(tx.connection, run_id, sorted(bound))
    if missing := sorted(bound.difference(known)):
        raise _no_task(run_id, missing[0])
    updates: dict[str, list[StateUpdate]] = {}
    latest: dict[str, int] = {}
    for number, each in numbered:
        if isinstance(each.about, StateUpdate):
            updates.setdefault(each.about.task_id, []).append(each.about)
            latest[each.about.task_id] = number
    rows = [
        {
            "run_id": run_id,
            "task_id": task_id,
            "state": msgspec.json.encode(merged_all(known[task_id], given)).decode(),
            "message_id": latest[task_id],
            "at": tx.now,
        }
        for task_id, given in updates.items()
    ]
    tx.put(states, rows)


def _states_of(connection: Connection, run_id: str, task_ids: Sequence[str]) -> dict[str, KnownState]:
    """By task of the run what is known of it; a task of which nothing is has an empty state."""
    beside = and_(states.c.run_id == tasks.c.run_id, states.c.task_id == tasks.c.id)
    query = select(tasks.c.id, states.c.state).join_from(tasks, states, beside, isouter=True)
    found = connection.execute(query.where(tasks.c.run_id == run_id, among(connection, tasks.c.id, task_ids)))
    return {row.id: _decoded(row.state) for row in found}


def _no_task(run_id: str, task_id: str) -> NotFound:
    return NotFound(f"{run_id} has no task {task_id}", code="unknown_task", found=task_id)


def _decoded(state: str | None) -> KnownState:
    return KnownState() if state is None else msgspec.json.decode(state, type=KnownState)


# ---- acknowledging ---------------------------------------------------------------------------------------------------


def acknowledge(tx: Transaction, run_id: str, recipient: str, up_to: int | None = None) -> RecipientStatus:
    """The recipient has read so far: everything, unless it is said. What it has acknowledged before stays so."""
    name = checked_name(recipient, "/recipient")
    if name == ALL:
        raise Invalid(f"{ALL} reads nothing", code="invalid_value", pointer="/recipient", found=ALL)
    last: int = rows.get_locked(tx, runs, check_id(run_id), "team run").messages
    if up_to is not None and not 0 <= up_to <= last:
        raise Invalid(
            f"up_to is {up_to}; allowed: 0 to {last}, the number of the last message",
            code="invalid_value",
            pointer="/up_to",
            found=up_to,
            allowed=f"0 to {last}",
        )
    mine = select(cursors.c.seen).where(cursors.c.run_id == run_id, cursors.c.recipient == name)
    before: int = tx.connection.execute(mine).scalar() or 0
    seen = max(before, last if up_to is None else up_to)
    tx.put(cursors, [{"run_id": run_id, "recipient": name, "seen": seen, "at": tx.now}])
    unread = select(func.count()).where(messages.c.run_id == run_id, messages.c.id > seen, _goes_to(name))
    return RecipientStatus(name, tx.connection.execute(unread).scalar_one(), seen)


# ---- reading ---------------------------------------------------------------------------------------------------------


def get_run(connection: Connection, run_id: str) -> Row[Any]:
    return rows.get(connection, runs, check_id(run_id), "team run")


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
        chosen = chosen.where(_goes_to(query.to))
    if query.type is not None:
        chosen = chosen.where(messages.c.type.in_([each.strip() for each in query.type.split(",")]))
    if query.since is None:
        return chosen.order_by(messages.c.id.desc())
    return chosen.where(messages.c.id > query.since).order_by(messages.c.id)


def _goes_to(name: str) -> Any:
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
        if query.task_id not in _states_of(connection, run_id, [query.task_id]):
            raise _no_task(run_id, query.task_id)
        chosen = chosen.where(states.c.task_id == query.task_id)
    if query.after is not None:
        chosen = chosen.where(states.c.task_id > query.after)
    found = connection.execute(chosen).all()
    return StateList([_knowledge(row) for row in found[: query.limit]], len(found) > query.limit)


def _knowledge(row: Row[Any]) -> TaskKnowledge:
    known = _decoded(row.state)
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
