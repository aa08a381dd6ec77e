"""The escalations table and every move of an escalation. A move is `UPDATE … WHERE state = <as read>` and its event.

Of two that move the same escalation at once, one wins; the other gets a Conflict that shows what won.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    or_,
    select,
    update,
)

from gemba import clock, wire
from gemba.action import Action, Nothing
from gemba.errors import Conflict, Invalid, NotFound
from gemba.escalations import reply
from gemba.escalations.escalation import (
    MACHINE,
    UNRESOLVED,
    Channel,
    Delivery,
    Escalation,
    Reply,
    Resolution,
    Respond,
    Stale,
    State,
    Urgency,
    checked_text,
    judge,
)
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.store.schema import metadata

escalations = Table(
    "escalations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("agent_type", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("urgency", Text, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("resolved", Boolean, nullable=False),
    Column("delivery", Text, nullable=False),
    Column("delivery_note", Text),
    Column("role", Text),
    Column("mode", Text, nullable=False),
    Column("title", Text),
    Column("text", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("bead_id", Text),
    Column("waiting", Boolean, nullable=False),
    Column("cwd", Text),
    Column("commit_hash", Text),
    Column("branch", Text),
    Column("opened_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("snoozed_until", BigInteger),
    Column("outcome", Text),
    Column("reply_text", Text),
    Column("reply_option", Integer),
    Column("decision", Text),
    Column("action", Text),
    Column("resolved_by", Text),
    Column("resolved_at", BigInteger),
    Column("origin", Text, nullable=False),  # the home that its session writes to
    Index("escalations_inbox", "resolved", "rank", "opened_at", "id"),
    Index("escalations_by_change", "resolved", "changed_at", "id"),
    Index("escalations_by_rank", "rank", "opened_at", "id"),
    Index("escalations_by_session", "session_id", "resolved", "opened_at"),
    Index("escalations_by_bead", "bead_id", "rank", "opened_at"),
    Index("escalations_by_snooze", "snoozed_until"),
    Index("escalations_by_delivery", "delivery", "resolved_at"),
)

_LONGEST_SNOOZE = 30 * clock.DAY
_NO_ROUTE = "Gemba has no way into this agent's window yet: give the answer there"
_UNREAD = "nobody has read it yet: the agent does not wait for it"
_SESSION_OVER = "the session ended before the reply was read"


class Dismiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decline to answer; the asker is told so, with the reason if there is one."""

    text: str = ""


class Snooze(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Show it again after some seconds, or at a time."""

    seconds: int | None = None
    until: str | None = None


# ---- verbs ------------------------------------------------------------------------------------------------------


def respond(tx: Transaction, body: Respond, *, id: str) -> Escalation:
    row = _unresolved(tx, id)
    answer = judge(Channel(row.channel), options_of(row), body)
    return settle(tx, row, "resolved", answer)


def acknowledge(tx: Transaction, _body: Nothing, *, id: str) -> Escalation:
    row = _unresolved(tx, id)
    return view(row) if row.state == State.ACKNOWLEDGED else move(tx, row, "acknowledged", {"snoozed_until": None})


def dismiss(tx: Transaction, body: Dismiss, *, id: str) -> Escalation:
    reason = checked_text(body.text)
    return settle(tx, _unresolved(tx, id), "dismissed", Reply("declined", reason, "operator"))


def snooze(tx: Transaction, body: Snooze, *, id: str) -> Escalation:
    until = _moment(body, tx.now)
    return move(tx, _unresolved(tx, id), "snoozed", {"snoozed_until": until})


def reopen(tx: Transaction, _body: Nothing, *, id: str) -> Escalation:
    """Undo what the correlator concluded from typing in the pane: an answer it took for this one."""
    row = _get_locked(tx, id)
    if row.resolved_by != "pane":
        how = f" by the {row.resolved_by}" if row.resolved_by else ""
        raise Conflict(
            f"it is {row.state}{how} and cannot be reopened: only what typing in the pane resolved can",
            code="not_reopenable",
            found=row.state,
            escalation=view(row),
        )
    cleared = ("outcome", "reply_text", "reply_option", "decision", "action", "resolved_by", "resolved_at")
    nothing: dict[str, Any] = dict.fromkeys((*cleared, "snoozed_until", "delivery_note"))
    reopened = move(tx, row, "reopened", {**nothing, "delivery": Delivery.NONE})
    reply.retract(tx, id)
    return reopened


ACTIONS = (
    Action("/api/escalations/{id}/respond", respond, Respond, Escalation, "Answer it; the reply goes to the asker"),
    Action("/api/escalations/{id}/ack", acknowledge, Nothing, Escalation, "Say that it was seen"),
    Action("/api/escalations/{id}/dismiss", dismiss, Dismiss, Escalation, "Decline to answer"),
    Action("/api/escalations/{id}/snooze", snooze, Snooze, Escalation, "Show it again later"),
    Action("/api/escalations/{id}/reopen", reopen, Nothing, Escalation, "Open again what typing in the pane resolved"),
)


# ---- moves ------------------------------------------------------------------------------------------------------


def move(tx: Transaction, row: Row[Any], event: str, changes: dict[str, Any]) -> Escalation:
    """One step of the state table, committed only if the escalation is still in the state it was read in."""
    state = MACHINE.after(State(row.state), event)
    statement = (
        update(escalations)
        .where(escalations.c.id == row.id, escalations.c.state == row.state)
        .values(state=state, resolved=state not in UNRESOLVED, changed_at=tx.now, **changes)
    )
    if tx.connection.execute(statement).rowcount != 1:
        raise _already(get(tx.connection, row.id))
    moved = view(get(tx.connection, row.id))
    tx.emit(Draft(f"escalation.{event}", _told(moved), moved.session_id, moved.id))
    return moved


def settle(tx: Transaction, row: Row[Any], event: str, answer: Reply) -> Escalation:
    """End it with a reply, and put the reply on its way."""
    delivery, note = _route(Channel(row.channel), answer)
    settled = move(
        tx,
        row,
        event,
        {
            "delivery": delivery,
            "delivery_note": note,
            "snoozed_until": None,
            "outcome": answer.outcome,
            "reply_text": answer.text,
            "reply_option": answer.option,
            "decision": answer.decision,
            "action": answer.action,
            "resolved_by": answer.by,
            "resolved_at": tx.now,
        },
    )
    # Only now: of two that settle it at once, one never gets here.
    if row.channel == Channel.TOOL_CALL:
        reply.post(tx, row, answer.outcome, answer.text, answer.option)
    return settled


def set_delivery(tx: Transaction, row: Row[Any], delivery: Delivery, note: str | None = None) -> None:
    """Record where a reply is, as long as nobody has read it; told once, when it changes."""
    on_its_way = escalations.c.delivery.in_((Delivery.PENDING, Delivery.UNDELIVERED))
    is_news = or_(escalations.c.delivery != delivery, escalations.c.delivery_note.is_distinct_from(note))
    statement = (
        update(escalations)
        .where(escalations.c.id == row.id, on_its_way, is_news)
        .values(delivery=delivery, delivery_note=note)
    )
    if tx.connection.execute(statement).rowcount:
        tx.emit(Draft(f"escalation.{delivery}", {"note": note}, row.session_id, row.id))


def reply_written(tx: Transaction, row: Row[Any]) -> None:
    """After it could not be for a while: what is told of it is no longer true."""
    if row.delivery_note is not None and row.delivery_note.startswith(reply.NOT_WRITTEN):
        set_delivery(tx, row, Delivery.UNDELIVERED, _UNREAD)


def session_over(tx: Transaction, session_id: str) -> None:
    """Its session ended: nobody waits for an answer any more, and replies on their way have no reader."""
    of_session = escalations.c.session_id == session_id
    asked = escalations.c.channel.in_((Channel.TOOL_CALL, Channel.NOTIFICATION))
    for row in _locked(tx, of_session, ~escalations.c.resolved, asked):
        settle(tx, row, "withdrawn", Reply("withdrawn", "the session ended", "session"))
    pending = escalations.c.delivery == Delivery.PENDING
    for row in tx.connection.execute(select(escalations).where(of_session, pending)).all():
        set_delivery(tx, row, Delivery.UNDELIVERED, _SESSION_OVER)


def ring(tx: Transaction, undelivered_after: int) -> None:
    """What is due now: snoozed ones come back, replies that nobody reads are shown as undelivered."""
    for row in _locked(tx, escalations.c.snoozed_until <= tx.now):
        move(tx, row, "reopened", {"snoozed_until": None})
    late = escalations.c.resolved_at <= tx.now - undelivered_after
    pending = select(escalations).where(escalations.c.delivery == Delivery.PENDING, late)
    for row in tx.connection.execute(pending).all():
        set_delivery(tx, row, Delivery.UNDELIVERED, _UNREAD)


def next_ring(connection: Connection, undelivered_after: int) -> int | None:
    """When `ring` has something to do."""
    first = select(escalations.c.snoozed_until).where(escalations.c.snoozed_until.is_not(None))
    woken = connection.execute(first.order_by(escalations.c.snoozed_until).limit(1)).scalar()
    pending = select(escalations.c.resolved_at).where(escalations.c.delivery == Delivery.PENDING)
    sent = connection.execute(pending.order_by(escalations.c.resolved_at).limit(1)).scalar()
    moments = [woken, None if sent is None else sent + undelivered_after]
    return min((moment for moment in moments if moment is not None), default=None)


# ---- rows -------------------------------------------------------------------------------------------------------


def get(connection: Connection, id: str) -> Row[Any]:
    row = connection.execute(select(escalations).where(escalations.c.id == id)).first()
    if row is None:
        raise NotFound(f"no escalation has the id {id}", code="not_found", found=id)
    return row


def options_of(row: Row[Any]) -> list[str]:
    return msgspec.json.decode(row.options, type=list[str])


def view(row: Row[Any], *, longest: int | None = None, stale: Stale | None = None) -> Escalation:
    cut = longest is not None and len(row.text) > longest
    return Escalation(
        id=row.id,
        session_id=row.session_id,
        agent_type=row.agent_type,
        kind=row.kind,
        channel=Channel(row.channel),
        urgency=Urgency(row.urgency),
        state=State(row.state),
        delivery=Delivery(row.delivery),
        delivery_note=row.delivery_note,
        role=row.role,
        mode=row.mode,
        title=row.title,
        text=row.text[:longest] if cut else row.text,
        text_cut=cut,
        options=options_of(row),
        bead_id=row.bead_id,
        waiting=row.waiting,
        opened_at=clock.rfc3339(row.opened_at),
        changed_at=clock.rfc3339(row.changed_at),
        snoozed_until=None if row.snoozed_until is None else clock.rfc3339(row.snoozed_until),
        cwd=row.cwd,
        commit=row.commit_hash,
        branch=row.branch,
        stale=stale,
        resolution=_resolution(row),
    )


def _get_locked(tx: Transaction, id: str) -> Row[Any]:
    """Read for a move: on PostgreSQL what others do to it at this moment is done, or waits."""
    row = tx.connection.execute(select(escalations).where(escalations.c.id == id).with_for_update()).first()
    return get(tx.connection, id) if row is None else row


def stale_of(row: Row[Any], head_of: Callable[[str], tuple[str | None, str | None]] = wire.git_head) -> Stale | None:
    """Whether the code moved since the ask, from git's files, as long as the answer matters."""
    if row.resolved or row.commit_hash is None or row.cwd is None:
        return None
    head, _ = head_of(row.cwd)
    return None if head is None or head == row.commit_hash else Stale(row.commit_hash, head)


def _resolution(row: Row[Any]) -> Resolution | None:
    if row.outcome is None:
        return None
    return Resolution(
        outcome=row.outcome,
        text=row.reply_text or "",
        option=row.reply_option,
        decision=row.decision,
        action=row.action,
        by=row.resolved_by,
        at=clock.rfc3339(row.resolved_at),
    )


def _locked(tx: Transaction, *conditions: ColumnElement[bool]) -> Sequence[Row[Any]]:
    """For a move that nobody waits for the outcome of: what others settle at this moment is left out, not refused."""
    rows = select(escalations).where(*conditions).order_by(escalations.c.id).with_for_update()
    return tx.connection.execute(rows).all()


def _unresolved(tx: Transaction, id: str) -> Row[Any]:
    row = _get_locked(tx, id)
    if row.resolved:
        raise _already(row)
    return row


def _already(row: Row[Any]) -> Conflict:
    shown = view(row)
    words = f": {shown.resolution.text}" if shown.resolution and shown.resolution.text else ""
    return Conflict(
        f"it is {shown.state} already{words}",
        code="already_resolved" if row.resolved else "changed_meanwhile",
        found=str(shown.state),
        allowed=[str(state) for state in UNRESOLVED],
        escalation=shown,
    )


def _route(channel: Channel, answer: Reply) -> tuple[Delivery, str | None]:
    """How the reply goes back, as far as it is known when it is given."""
    if answer.outcome == "withdrawn" or channel in (Channel.HANDOFF, Channel.SYSTEM):
        return Delivery.NONE, None
    if answer.by == "pane":
        return Delivery.DELIVERED, None
    return (Delivery.PENDING, None) if channel is Channel.TOOL_CALL else (Delivery.UNDELIVERED, _NO_ROUTE)


def _told(moved: Escalation) -> dict[str, Any]:
    """What an event says of a move: enough to show it without another request."""
    return {
        "state": moved.state,
        "delivery": moved.delivery,
        "kind": moved.kind,
        "urgency": moved.urgency,
        "snoozed_until": moved.snoozed_until,
        "resolution": moved.resolution,
    }


def _moment(body: Snooze, now: int) -> int:
    if (body.seconds is None) == (body.until is None):
        raise Invalid("a snooze needs either seconds or until", code="missing_field", pointer="/seconds")
    if body.seconds is not None:
        until: int | None = now + min(body.seconds, _LONGEST_SNOOZE) * clock.SECOND
        pointer, found = "/seconds", str(body.seconds)
    else:
        until = clock.parse(body.until or "")
        pointer, found = "/until", str(body.until)
    if until is None or not now < until <= now + _LONGEST_SNOOZE:
        raise Invalid(
            f"{pointer[1:]} is {found[:80]!r}; it must lie in the future, at most 30 days from now",
            code="invalid_value",
            pointer=pointer,
            found=found[:80],
            allowed="1 to 2592000 seconds, or an RFC 3339 time with its zone within 30 days",
        )
    return until
