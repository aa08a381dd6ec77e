"""The escalations table and every move of an escalation. A move is `UPDATE … WHERE state = <as read>` and its event.

Of two that move the same escalation at once, one wins; the other gets a Conflict that shows what won. What must
happen later, a reminder, an expiry, a delivery, is wanted as a flow in the transaction of the move it follows from.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    false,
    or_,
    select,
    update,
)

from gemba import clock, typed
from gemba.errors import Conflict
from gemba.escalations import next_turn, pressed_replies, reply, search, typed_replies
from gemba.escalations.escalation import (
    MACHINE,
    UNRESOLVED,
    Channel,
    Delivery,
    Escalation,
    Precedent,
    Proposal,
    Reply,
    Resolution,
    Stale,
    State,
    Urgency,
)
from gemba.escalations.policy import Policy
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.wanted import Call
from gemba.sessions import inputs
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata
from gemba.text import one_line
from gemba.work.history import walk_of

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
    Column("waiting", Boolean, nullable=False),  # its asker said that it waits
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
    Column("received_at", BigInteger, nullable=False, server_default="0"),  # when we took it in: policies count from it
    Column("seen_at", BigInteger),
    Column("schema", Text),
    Column("reply_value", Text),
    Column("worktree", Text),
    Column("group_id", Text, nullable=False, server_default=""),  # the first of the like ones that wait together
    Column("like_key", Text, nullable=False, server_default=""),
    Column("policy", Text),  # as it was when the ask came, whole
    Column("reminders", Integer, nullable=False, server_default="0"),
    Column("reminded_at", BigInteger),
    Column("expires_at", BigInteger),
    Column("watched_since", BigInteger),  # since when its policy counts
    Column("proposal", Text),
    Column("resolved_as", Text),
    Column("confirmed_by", Text),  # the second person, where one had to agree
    Column("rule_id", Text),
    Column("late", Boolean, nullable=False, server_default=false()),
    Column("held_until", BigInteger),
    Column("delivery_since", BigInteger),  # tells this delivery of its reply from an earlier one
    Column("turn_session", Text),  # whose next turn the reply is
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_attempt_at", BigInteger),
    Column("walk_id", Text),  # in which it was decided
    Column("waiting_until", BigInteger),  # as it said; none: until it is answered
    Index("escalations_inbox", "resolved", "rank", "opened_at", "id"),
    Index("escalations_by_change", "resolved", "changed_at", "id"),
    Index("escalations_by_rank", "rank", "opened_at", "id"),
    Index("escalations_by_session", "session_id", "resolved", "opened_at"),
    Index("escalations_by_bead", "bead_id", "rank", "opened_at"),
    Index("escalations_by_snooze", "snoozed_until"),
    Index("escalations_by_delivery", "delivery", "resolved_at"),
    Index("escalations_by_group", "group_id", "resolved"),
    Index("escalations_by_likeness", "like_key", "resolved", "resolved_at", "group_id"),
    Index("escalations_by_opening", "opened_at"),
)

# Whoever waits for an answer hears of it by one name, also of one that comes late.
TOLD_AS = {"answered_late": "resolved"}
ON_ITS_WAY = (Delivery.PENDING, Delivery.UNDELIVERED)

_NO_ROUTE = "Gemba presses no key for this in the agent's window: give the answer there"
_SESSION_OVER = "the session ended before the reply was read"
# What an escalation no longer has once it waits again.
_UNANSWERED: dict[str, Any] = {
    **dict.fromkeys(("outcome", "reply_text", "reply_option", "reply_value", "decision", "action", "rule_id")),
    **dict.fromkeys(("resolved_by", "resolved_as", "confirmed_by", "resolved_at", "proposal", "snoozed_until")),
    **dict.fromkeys(("held_until", "delivery_note", "delivery_since", "turn_session", "next_attempt_at", "walk_id")),
    "delivery": Delivery.NONE,
    "attempts": 0,
    "late": False,
}
_REST = clock.SECOND  # which is the shortest time too for which an answer is held back, or is not yet undelivered


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
        raise already(get(tx.connection, row.id))
    moved = view(get(tx.connection, row.id))
    tx.emit(Draft(f"escalation.{TOLD_AS.get(event, event)}", _told(moved), moved.session_id, moved.id))
    return moved


def is_waited_for(row: Row[Any], now: int) -> bool:
    """Whether its asker said that it waits, and the time that it gave itself is not over. Whether it still does nobody
    can tell: its process may be gone."""
    return bool(row.waiting and (row.waiting_until is None or row.waiting_until > now))


def settle(tx: Transaction, row: Row[Any], event: str, answer: Reply, *, hold: int = 0) -> Escalation:
    """End it with a reply, and put that on its way: at once, or after so many seconds in which it can be undone."""
    handoff = next_turn.handoff_of(tx, row)
    key = pressed_replies.key_of(tx, row, answer)
    delivery, note = _route(Channel(row.channel), answer, is_turn=handoff is not None, by_key=key is not None)
    late = event == "answered_late"
    # A late answer takes the place of another one, and a dispatch's turn starts: there is no way back to before.
    can_wait = delivery is Delivery.PENDING and not late and handoff is None and key is None
    held_until = tx.now + hold * clock.SECOND if hold and can_wait else None
    # An asker that does not wait finds it before it goes on; so does one that waited in vain.
    is_turn = late or not is_waited_for(row, tx.now) or handoff is not None
    turn = row.session_id if delivery is Delivery.PENDING and is_turn else None
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
            "reply_value": None if answer.value is msgspec.UNSET else msgspec.json.encode(answer.value).decode(),
            "decision": answer.decision,
            "action": answer.action,
            "resolved_by": answer.by,
            "resolved_as": answer.who,
            "confirmed_by": answer.confirmed_by,
            "rule_id": answer.rule_id,
            "walk_id": walk_of(tx),
            "resolved_at": tx.now,
            "seen_at": row.seen_at or (tx.now if answer.by in ("operator", "pane") else None),
            # What somebody proposed in time can still pass: it is a late answer then.
            "proposal": row.proposal if answer.by == "policy" else None,
            "late": late,
            "held_until": held_until,
            "turn_session": turn,
            "attempts": 0,
            "next_attempt_at": None,
        },
    )
    # Only now: of two that settle it at once, one never gets here.
    if handoff is not None:
        next_turn.start(tx, handoff, answer)
    if row.channel == Channel.TOOL_CALL or handoff is not None:
        is_typed = turn is not None and typed_replies.fits(tx, turn, answer)
        reply.post(tx, row, answer, due_at=held_until or 0, turn=None if is_typed else turn, late=late)
        if is_typed and held_until is None:
            typed_replies.type_out(tx, get(tx.connection, row.id))
    if key is not None:
        inputs.add_key(tx, row.session_id, key, row.id)
    elif delivery is Delivery.PENDING:
        deliver(tx, row.id)
    search.index(tx, get(tx.connection, row.id))
    return settled


def answer(tx: Transaction, row: Row[Any], reply: Reply, *, hold: int = 0) -> Escalation:
    """Give a person's answer: in time, or late to one whose time ran out."""
    return settle(tx, row, "answered_late" if row.resolved else "resolved", reply, hold=hold)


def unsettle(tx: Transaction, row: Row[Any]) -> Escalation:
    """Take an answer back that nobody has got: it waits again, and its policy counts anew."""
    reopened = move(tx, row, "reopened", _UNANSWERED)
    reply.retract(tx, row.id)
    typed_replies.take_back(tx, row.id)
    search.remove(tx, row.id)
    watched = counted(None if row.policy is None else policy_of(row), tx.now)
    anew = {**watched, "reminders": 0, "reminded_at": None}
    tx.connection.execute(update(escalations).where(escalations.c.id == row.id).values(anew))
    if watched["watched_since"] is not None:
        watch(tx, [row.id])
    return reopened


def counted(policy: Policy | None, since: int) -> dict[str, int | None]:
    """From when on its policy counts, and when it ends; nothing for one that reminds of nothing and ends nothing."""
    if policy is None or policy.plan(since) is None:
        return {"watched_since": None, "expires_at": None}
    return {"watched_since": since, "expires_at": policy.expires_at(since)}


def watch(tx: Transaction, ids: Sequence[str]) -> None:
    """Have the reminders and the expiry happen that their policies want, counted from now."""
    wanted.want(tx, "watch", [Call(f"watch/{id}/{tx.now}", {"id": id, "since": tx.now}) for id in ids])


def deliver(tx: Transaction, id: str) -> None:
    """Have its reply seen to until it is read. The moment tells this delivery from one before it."""
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(delivery_since=tx.now))
    # Most replies are read within the rest, and need nothing else.
    wanted.want(tx, "deliver", [Call(_delivery(id, tx.now), {"id": id, "since": tx.now})], rest=_REST)


def _delivery(id: str, since: int) -> str:
    return f"deliver/{id}/{since}"


def set_delivery(tx: Transaction, row: Row[Any], delivery: Delivery, note: str | None = None) -> bool:
    """Record where a reply is, as long as nobody has read it; told once, when it changes."""
    is_news = or_(escalations.c.delivery != delivery, escalations.c.delivery_note.is_distinct_from(note))
    statement = (
        update(escalations)
        .where(escalations.c.id == row.id, escalations.c.delivery.in_(ON_ITS_WAY), is_news)
        .values(delivery=delivery, delivery_note=note, next_attempt_at=None)
    )
    if not tx.connection.execute(statement).rowcount:
        return False
    if delivery is Delivery.DELIVERED:
        reply.turn_over(tx, row.id)
        wanted.unwant(tx, _delivery(row.id, row.delivery_since))
    tx.emit(Draft(f"escalation.{delivery}", {"note": note}, row.session_id, row.id))
    return True


def session_over(tx: Transaction, session_id: str) -> None:
    """Its session ended: nobody waits for an answer any more, and replies on their way have no reader."""
    of_session = escalations.c.session_id == session_id
    asked = escalations.c.channel.in_((Channel.TOOL_CALL, Channel.NOTIFICATION))
    for row in locked(tx, of_session, ~escalations.c.resolved, asked):
        settle(tx, row, "withdrawn", Reply("withdrawn", "the session ended", "session"))
    for row in locked(tx, of_session, escalations.c.delivery == Delivery.PENDING):
        set_delivery(tx, row, Delivery.UNDELIVERED, _SESSION_OVER)


def ring(tx: Transaction) -> None:
    """What is due now: snoozed ones come back."""
    for row in locked(tx, escalations.c.snoozed_until <= tx.now):
        move(tx, row, "reopened", {"snoozed_until": None})


def next_ring(connection: Connection) -> int | None:
    """When `ring` has something to do."""
    first = select(escalations.c.snoozed_until).where(escalations.c.snoozed_until.is_not(None))
    woken: int | None = connection.execute(first.order_by(escalations.c.snoozed_until).limit(1)).scalar()
    return woken


# ---- rows -------------------------------------------------------------------------------------------------------


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, escalations, id)


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, escalations, id, "escalation")


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, escalations, id, "escalation")


def locked(tx: Transaction, *conditions: ColumnElement[bool]) -> Sequence[Row[Any]]:
    """For a move that nobody waits for the outcome of: what others settle at this moment is left out, not refused."""
    rows = select(escalations).where(*conditions).order_by(escalations.c.id).with_for_update()
    return tx.connection.execute(rows).all()


def unresolved(tx: Transaction, id: str) -> Row[Any]:
    row = get_locked(tx, id)
    if row.resolved:
        raise already(row)
    return row


def answerable(tx: Transaction, id: str) -> Row[Any]:
    """One that waits, or whose time ran out and that a person has not answered yet."""
    row = get_locked(tx, id)
    if row.resolved and not takes_late_answer(row):
        raise already(row)
    return row


def takes_late_answer(row: Row[Any]) -> bool:
    if row.late or row.channel != Channel.TOOL_CALL:
        return False
    return bool(row.state == State.EXPIRED or (row.state == State.RESOLVED and row.outcome == "default"))


def already(row: Row[Any]) -> Conflict:
    shown = view(row)
    words = f": {one_line(shown.resolution.text, 200)}" if shown.resolution and shown.resolution.text else ""
    return Conflict(
        f"it is {shown.state} already{words}",
        code="already_resolved" if row.resolved else "changed_meanwhile",
        found=str(shown.state),
        allowed=[str(state) for state in UNRESOLVED],
        escalation=shown,
    )


def options_of(row: Row[Any]) -> list[str]:
    return typed.decode(row.options, list[str])


def schema_of(row: Row[Any]) -> Any:
    return None if row.schema is None else msgspec.json.decode(row.schema)


def policy_of(row: Row[Any]) -> Policy:
    return typed.decode(row.policy, Policy)


def view(
    row: Row[Any],
    *,
    longest: int | None = None,
    stale: Stale | None = None,
    precedent: Precedent | None = None,
    group_size: int = 1,
) -> Escalation:
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
        schema=schema_of(row),
        bead_id=row.bead_id,
        waiting=is_waited_for(row, clock.now()),
        waiting_until=clock.told(row.waiting_until),
        opened_at=clock.rfc3339(row.opened_at),
        received_at=clock.rfc3339(row.received_at),
        seen_at=clock.told(row.seen_at),
        changed_at=clock.rfc3339(row.changed_at),
        snoozed_until=clock.told(row.snoozed_until),
        cwd=row.cwd,
        worktree=row.worktree,
        commit=row.commit_hash,
        branch=row.branch,
        stale=stale,
        group_id=row.group_id,
        group_size=group_size,
        precedent=precedent,
        policy=None if row.policy is None else policy_of(row).name,
        reminders=row.reminders,
        expires_at=clock.told(row.expires_at),
        proposal=None if row.proposal is None else typed.decode(row.proposal, Proposal),
        held_until=clock.told(row.held_until),
        late=row.late,
        turn_session=row.turn_session,
        attempts=row.attempts,
        next_attempt_at=clock.told(row.next_attempt_at),
        resolution=_resolution(row),
    )


def _resolution(row: Row[Any]) -> Resolution | None:
    if row.outcome is None:
        return None
    return Resolution(
        outcome=row.outcome,
        text=row.reply_text or "",
        option=row.reply_option,
        value=None if row.reply_value is None else msgspec.json.decode(row.reply_value),
        decision=row.decision,
        action=row.action,
        by=row.resolved_by,
        who=row.resolved_as,
        confirmed_by=row.confirmed_by,
        rule_id=row.rule_id,
        late=row.late,
        walk_id=row.walk_id,
        at=clock.rfc3339(row.resolved_at),
    )


def _route(channel: Channel, answer: Reply, *, is_turn: bool, by_key: bool) -> tuple[Delivery, str | None]:
    """How the reply goes back, as far as it is known when it is given."""
    if answer.outcome == "withdrawn" or (channel in (Channel.HANDOFF, Channel.SYSTEM) and not is_turn):
        return Delivery.NONE, None
    if answer.by == "pane":
        return Delivery.DELIVERED, None
    is_on_its_way = is_turn or by_key or channel is Channel.TOOL_CALL
    return (Delivery.PENDING, None) if is_on_its_way else (Delivery.UNDELIVERED, _NO_ROUTE)


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
