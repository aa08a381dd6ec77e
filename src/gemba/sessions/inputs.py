"""What is typed to agents that Gemba runs: written down first, typed in order, and known to be read once their client
says so.

A text is marked as being typed before it is, so that a kill in between never has it typed twice; whether it arrived is
then told by the client alone. While a dialog of the client is open nothing is typed: the words could decide it. An
interrupt waits for nothing. The last thing that is typed to an agent is its close: once that is written down, nothing
else is taken for it. Called by the actions of sessions, by whoever keeps the runs, and by the correlator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Row,
    Table,
    Text,
    and_,
    bindparam,
    case,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from gemba import clock, wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.sessions import runs
from gemba.sessions.backends.backend import literal
from gemba.sessions.session import ReportedState
from gemba.sessions.store import sessions
from gemba.store.database import Transaction
from gemba.store.schema import metadata

inputs = Table(
    "session_inputs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("ref", Text),  # the escalation whose reply it is
    Column("state", Text, nullable=False),
    Column("trouble", Text),
    Column("at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Index("session_inputs_by_state", "session_id", "state", "at", "id"),
    Index("session_inputs_by_ref", "ref", "at"),
)

_LONGEST_IN_LIST = 2_000

Kind = Literal["text", "interrupt", "close", "key"]

IsAwaited = Callable[[Connection, str], bool]  # whether a person is asked something for this session

# By client: what makes a command of a prompt that begins with it.
_COMMANDS: dict[str, tuple[str, ...]] = {"claude": ("!", "/", "#", "&", "?"), "gemini": ("/",)}


class InputState(StrEnum):
    WAITING = "waiting"
    TYPING = "typing"
    TYPED = "typed"  # its client has not said that it read it, or never says so
    READ = "read"
    NOT_TYPED = "not_typed"


class SessionInput(msgspec.Struct, frozen=True):
    """Something that is typed to an agent, and how far it got; `trouble` is why it did not."""

    id: str
    session_id: str
    kind: Kind
    text: str
    by: str
    ref: str | None
    state: InputState
    trouble: str | None
    at: str
    text_cut: bool = False


class Send(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_TEXT)]


def send(tx: Transaction, body: Send, *, id: str) -> SessionInput:
    """The text becomes the agent's next prompt."""
    text = literal(body.text).strip()
    if not text:
        raise Invalid("the text is empty; allowed: words", code="missing_field", pointer="/text")
    run = _living(tx, id)
    agent = runs.agent_of(run)
    if agent.headless:
        words = f"{id} is a session of {agent.name}, which takes one prompt and ends: nobody can type to it"
        raise Conflict(f"{words}; allowed: start another one", code="headless", found=agent.name)
    return _add(tx, id, "text", text)


def interrupt(tx: Transaction, _body: Nothing, *, id: str) -> SessionInput:
    """What ^C does in a terminal."""
    _living(tx, id)
    return _add(tx, id, "interrupt", "")


ACTIONS = (
    Action("/api/sessions/{id}/send", send, Send, SessionInput, "Type a prompt to an agent"),
    Action("/api/sessions/{id}/interrupt", interrupt, Nothing, SessionInput, "Interrupt an agent"),
)


def on_hand(connection: Connection, origin: str, workspace: str) -> Sequence[Row[Any]]:
    """What waits, or is being typed, for the agents that run here, the eldest first; each with its agent, and with the
    dialogs that its session has open."""
    return connection.execute(_on_hand, {"origin": origin, "workspace": workspace}).all()


# Made once: it is asked after every move of a session, and takes longer to make than to run.
_on_hand = (
    select(inputs, sessions.c.prompts, runs.runs.c.agent)
    .join(runs.runs, runs.runs.c.session_id == inputs.c.session_id)
    .join(sessions, sessions.c.id == inputs.c.session_id)
    .where(
        *runs.running_here(bindparam("origin"), bindparam("workspace")),
        inputs.c.state.in_((InputState.WAITING, InputState.TYPING)),
    )
    .order_by(inputs.c.at, inputs.c.id)
)


def next_of(waiting: Sequence[Row[Any]]) -> list[Row[Any]]:
    """What can be typed now: every interrupt and key, and the eldest other one of each session that has no dialog
    open."""
    found: list[Row[Any]] = []
    met: set[str] = set()
    for row in waiting:
        if row.kind in ("interrupt", "key"):  # whoever presses a key looks first what it would decide
            found.append(row)
        elif row.session_id not in met:
            met.add(row.session_id)
            if row.prompts == "[]":
                found.append(row)
    return found


def at_rest(connection: Connection, session_ids: Sequence[str]) -> Sequence[str]:
    """Those that have said that their turn is over."""
    mine = (sessions.c.id.in_(session_ids), sessions.c.reported_state == ReportedState.READY)
    return connection.execute(select(sessions.c.id).where(*mine)).scalars().all()


def close(tx: Transaction, session_id: str, is_awaited: IsAwaited) -> bool:
    """There is nothing left to say to the agent: it is closed when its turn is over and nothing is on its way to it or
    asked of a person. Decided under the lock under which prompts are taken."""
    run = runs.get_locked(tx, session_id)
    session = tx.connection.execute(select(sessions.c.reported_state).where(sessions.c.id == session_id)).first()
    is_over = session is not None and session.reported_state == ReportedState.READY
    if not is_over or run.ended_at is not None or not run.wanted or _is_closed(tx.connection, session_id):
        return False
    on_its_way = inputs.c.state.in_((InputState.WAITING, InputState.TYPING, InputState.TYPED))
    still = select(inputs.c.id).where(inputs.c.session_id == session_id, inputs.c.kind == "text", on_its_way)
    if tx.connection.execute(still.limit(1)).first() is not None or is_awaited(tx.connection, session_id):
        return False
    _add(tx, session_id, "close", "")
    return True


def _is_closed(connection: Connection, session_id: str) -> bool:
    closes = (inputs.c.session_id == session_id, inputs.c.kind == "close")
    return connection.execute(select(inputs.c.id).where(*closes).limit(1)).first() is not None


def list_inputs(
    connection: Connection, session_id: str, limit: int, after: tuple[int, int, str] | None
) -> tuple[list[SessionInput], int, tuple[int, int, str] | None]:
    """What did not arrive, or may not have, then the rest, newest first: (a page, how many in all, where the next page
    starts). Long texts are cut."""
    of_session = inputs.c.session_id == session_id
    rank = case((or_(inputs.c.state == InputState.NOT_TYPED, inputs.c.trouble.is_not(None)), 0), else_=1)
    query = select(inputs, rank.label("rank")).where(of_session)
    if after is not None:
        query = query.where(or_(rank > after[0], and_(rank == after[0], tuple_(inputs.c.at, inputs.c.id) < after[1:])))
    query = query.order_by(rank, inputs.c.at.desc(), inputs.c.id.desc())
    found = connection.execute(query.limit(limit + 1)).all()
    total = connection.execute(select(func.count()).select_from(inputs).where(of_session)).scalar_one()
    page = found[:limit]
    last = (page[-1].rank, page[-1].at, page[-1].id) if len(found) > limit else None
    return [view(row, _LONGEST_IN_LIST) for row in page], total, last


def get(connection: Connection, id: str) -> Row[Any]:
    return connection.execute(select(inputs).where(inputs.c.id == id)).one()


def lock_free(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Those of these that nobody else changes at this moment: who changes several waits for none of them."""
    free = select(inputs.c.id).where(inputs.c.id.in_(ids)).with_for_update(skip_locked=True)
    return set(tx.connection.execute(free).scalars())


def move(
    tx: Transaction, row: Row[Any], state: InputState, trouble: str | None = None, was: InputState | None = None
) -> bool:
    """False when it is not any more what it was, in the row or since: somebody else types it, or its client was quicker
    to say so."""
    still = (inputs.c.id == row.id, inputs.c.state == (was or row.state))
    values = {"state": state.value, "trouble": trouble, "changed_at": tx.now}
    if not tx.connection.execute(update(inputs).where(*still).values(values)).rowcount:
        return False
    tx.emit(Draft("input.changed", {"state": state.value, "trouble": trouble}, row.session_id, row.id))
    return True


def acknowledge(tx: Transaction, session_id: str, text: str) -> Row[Any] | None:
    """A prompt that its client reports is the first one of these words that was typed and not read yet, if there is
    one: then that is read, and the prompt says nothing else."""
    on_its_way = inputs.c.state.in_((InputState.TYPING, InputState.TYPED))
    same = (inputs.c.session_id == session_id, on_its_way, inputs.c.kind == "text", inputs.c.text == text)
    row = tx.connection.execute(select(inputs).where(*same).order_by(inputs.c.at, inputs.c.id).limit(1)).first()
    return row if row is not None and move(tx, row, InputState.READ) else None


def can_be_typed(connection: Connection, session_id: str) -> bool:
    """Whether the session's agent runs here, and takes more than one prompt. What a person drives takes none: a shell
    would run an answer as a command."""
    run = runs.find(connection, session_id)
    if run is None or not run.wanted or run.ended_at is not None:
        return False
    agent = runs.agent_of(run)
    return not agent.headless and agent.prompt != "none" and not _is_closed(connection, session_id)


def add_reply(tx: Transaction, session_id: str, text: str, ref: str) -> None:
    run = runs.find(tx.connection, session_id)
    words = literal(text).strip()
    _add(tx, session_id, "text", as_words(words, runs.agent_of(run).hooks) if run else words, ref)


def add_key(tx: Transaction, session_id: str, key: str, ref: str) -> None:
    """Give the answer of an escalation by pressing this key in the dialog that it is about."""
    _add(tx, session_id, "key", key, ref)


def as_words(text: str, client: str) -> str:
    """An answer that its client takes for words: some first characters make it run a command instead, and a backslash
    at the end makes Enter another line in Claude Code."""
    told = f"Reply: {text}" if text.startswith(_COMMANDS.get(client, ())) else text
    return f"{told} ." if client == "claude" and told.endswith("\\") else told


def of_reply(tx: Transaction, ref: str) -> Row[Any] | None:
    """The last attempt to type a reply."""
    known = select(inputs).where(inputs.c.ref == ref).order_by(inputs.c.at.desc(), inputs.c.id.desc())
    return tx.connection.execute(known.limit(1)).first()


def withdraw_reply(tx: Transaction, ref: str, why: str) -> None:
    """It is not typed any more, if it was not yet."""
    row = of_reply(tx, ref)
    if row is not None and row.state == InputState.WAITING:
        move(tx, row, InputState.NOT_TYPED, why)


def session_over(tx: Transaction, session_id: str) -> None:
    """What still waits is typed to nobody."""
    waits = (inputs.c.session_id == session_id, inputs.c.state == InputState.WAITING)
    for row in tx.connection.execute(select(inputs).where(*waits)).all():
        move(tx, row, InputState.NOT_TYPED, "the session was over before it could be typed")


def view(row: Row[Any], longest: int | None = None) -> SessionInput:
    return SessionInput(
        id=row.id,
        session_id=row.session_id,
        kind=row.kind,
        text=row.text[:longest],
        text_cut=longest is not None and len(row.text) > longest,
        by=row.by,
        ref=row.ref,
        state=InputState(row.state),
        trouble=row.trouble,
        at=clock.rfc3339(row.at),
    )


def _living(tx: Transaction, id: str) -> Row[Any]:
    run = runs.get_locked(tx, id)
    if run.ended_at is not None or not run.wanted:
        over = "is over" if run.ended_at is not None else "is being stopped"
        raise Conflict(f"the session {id} {over}", code="session_over", found=id)
    if _is_closed(tx.connection, id):
        raise Conflict(f"the session {id} has nothing left to do and is being closed", code="session_over", found=id)
    return run


def _add(tx: Transaction, session_id: str, kind: Kind, text: str, ref: str | None = None) -> SessionInput:
    id = wire.new_event_id()
    row = {
        "id": id,
        "session_id": session_id,
        "kind": kind,
        "text": text,
        "by": tx.actor,
        "ref": ref,
        "state": InputState.WAITING.value,
        "trouble": None,
        "at": tx.now,
        "changed_at": tx.now,
    }
    tx.connection.execute(insert(inputs).values(row))
    tx.emit(Draft("input.wanted", {"kind": kind}, session_id, id))
    return view(get(tx.connection, id))
