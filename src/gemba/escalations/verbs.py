"""What an operator can do with escalations: each verb a row of ACTIONS, for the page, the API and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from sqlalchemy import update

from gemba import clock
from gemba.action import Action, Id, Nothing
from gemba.errors import Conflict, GembaError, Invalid
from gemba.escalations import approvals, cards, granting, reply, verifier
from gemba.escalations.answer import checked_text, judge
from gemba.escalations.escalation import Channel, Delivery, Escalation, Reply, Respond, State
from gemba.escalations.store import (
    answer,
    answerable,
    deliver,
    escalations,
    get,
    get_locked,
    move,
    options_of,
    policy_of,
    schema_of,
    set_delivery,
    settle,
    unresolved,
    unsettle,
    view,
)
from gemba.event import Draft
from gemba.sessions.store import origin_of_session
from gemba.store.database import Transaction

_LONGEST_SNOOZE = 30 * clock.DAY
_BY_HAND = "told by hand"
_WITH_REPLIES = (Channel.TOOL_CALL, Channel.HANDOFF)  # the others are answered elsewhere, or by nobody

Ids = Annotated[list[Id], msgspec.Meta(min_length=1, max_length=200)]


class Dismiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decline to answer; the asker is told so, with the reason if there is one. For `hold` seconds it is not told, and
    that can be taken back."""

    text: str = ""
    hold: Annotated[int, msgspec.Meta(ge=0, le=60)] = 0


class Snooze(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Show it again after some seconds, or at a time."""

    seconds: int | None = None
    until: str | None = None


class Reject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a proposed answer must not be given."""

    text: str


class Reroute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a reply goes that did not arrive: once more to its asker, to another session, or nowhere: told by hand."""

    to: Literal["asker", "session", "hand"]
    session_id: str | None = None


class RespondAll(Respond, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The same answer to several."""

    ids: Ids


class ReopenAll(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take several answers back."""

    ids: Ids


class Refusal(msgspec.Struct, frozen=True):
    """One of several for which it could not be done, and why."""

    id: str
    code: str
    detail: str


class Answered(msgspec.Struct, frozen=True):
    answered: list[Escalation]
    refused: list[Refusal]


class Reopened(msgspec.Struct, frozen=True):
    reopened: list[Escalation]
    refused: list[Refusal]


def respond(tx: Transaction, body: Respond, *, id: str) -> Escalation:
    """Answer it; after its time has run out, or after a policy's default, the answer is the agent's next turn."""
    row = answerable(tx, id)
    if row.kind == granting.KIND:
        return approvals.respond(tx, row, body)
    judged = judge(Channel(row.channel), options_of(row), schema_of(row), body)
    given = msgspec.structs.replace(judged, who=tx.actor)
    cards.judge(tx, row, given)
    verify = None if row.policy is None else policy_of(row).verify
    if verify is not None:
        return verifier.propose(tx, row, given, verify, body.hold)
    cards.carry_out(tx, row, given)
    return answer(tx, row, given, hold=body.hold)


def respond_all(tx: Transaction, body: RespondAll) -> Answered:
    """One answer for many, in one transaction: each is answered or told why not."""
    one = Respond(body.text, body.option, body.value, body.decision, body.action, body.hold)
    answered, refused = _each(tx, body.ids, lambda id: respond(tx, one, id=id))
    return Answered(answered, refused)


def acknowledge(tx: Transaction, _body: Nothing, *, id: str) -> Escalation:
    row = unresolved(tx, id)
    if row.state == State.ACKNOWLEDGED:
        return view(row)
    return move(tx, row, "acknowledged", {"snoozed_until": None, "seen_at": row.seen_at or tx.now})


def dismiss(tx: Transaction, body: Dismiss, *, id: str) -> Escalation:
    reason = checked_text(body.text)
    row = unresolved(tx, id)
    if row.kind == granting.KIND:
        granting.refuse(tx, row, reason)
    return settle(tx, row, "dismissed", Reply("declined", reason, "operator", who=tx.actor), hold=body.hold)


def snooze(tx: Transaction, body: Snooze, *, id: str) -> Escalation:
    until = _moment(body, tx.now)
    row = unresolved(tx, id)
    return move(tx, row, "snoozed", {"snoozed_until": until, "seen_at": row.seen_at or tx.now})


def reopen(tx: Transaction, _body: Nothing, *, id: str) -> Escalation:
    """Undo an answer that is still held back, or what the correlator concluded from typing in the pane."""
    row = get_locked(tx, id)
    held = row.held_until is not None and row.held_until > tx.now
    if row.late or (row.resolved_by != "pane" and not held):
        how = f" by the {row.resolved_by}" if row.resolved_by else ""
        raise Conflict(
            f"it is {row.state}{how} and cannot be reopened: only what typing in the pane resolved can, and an answer "
            "that is still held back",
            code="not_reopenable",
            found=row.state,
            escalation=view(row),
        )
    return unsettle(tx, row)


def reopen_all(tx: Transaction, body: ReopenAll) -> Reopened:
    reopened, refused = _each(tx, body.ids, lambda id: reopen(tx, Nothing(), id=id))
    return Reopened(reopened, refused)


def confirm(tx: Transaction, _body: Nothing, *, id: str) -> Escalation:
    """Agree, as a second person, to the answer that somebody proposed: it is given now."""
    return verifier.confirm(tx, answerable(tx, id))


def reject(tx: Transaction, body: Reject, *, id: str) -> Escalation:
    """Refuse the answer that somebody proposed, and say why: it waits for another one."""
    text = checked_text(body.text)
    if not text:
        raise Invalid("text is empty", code="missing_field", pointer="/text", allowed="why it must not be given")
    return verifier.reject(tx, answerable(tx, id), text)


def reroute(tx: Transaction, body: Reroute, *, id: str) -> Escalation:
    """Send a reply that did not arrive another way."""
    row = get_locked(tx, id)
    # Whoever gave the answer in the agent's window says so; there is no other way into it.
    has_way = row.channel in _WITH_REPLIES or body.to == "hand"
    if row.delivery != Delivery.UNDELIVERED or not has_way:
        raise Conflict(
            f"its reply is not undelivered but {row.delivery}"
            if has_way
            else "it is answered in the agent's own window, which Gemba has no way into",
            code="not_reroutable",
            found=row.delivery,
            escalation=view(row),
        )
    if body.to == "hand":
        set_delivery(tx, row, Delivery.DELIVERED, _BY_HAND)
        return view(get(tx.connection, id))
    session_id = row.session_id if body.to == "asker" else _other_session(body)
    reply.lay_down(tx, id, session_id, row.origin if body.to == "asker" else origin_of_session(tx, session_id))
    again = {"delivery": Delivery.PENDING, "delivery_note": None, "attempts": 0, "turn_session": session_id}
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(again))
    tx.emit(Draft("escalation.rerouted", {"to": body.to, "session_id": session_id}, row.session_id, id))
    deliver(tx, id)
    return view(get(tx.connection, id))


ACTIONS = (
    Action("/api/escalations/respond", respond_all, RespondAll, Answered, "Answer several alike"),
    Action("/api/escalations/reopen", reopen_all, ReopenAll, Reopened, "Take several answers back"),
    Action("/api/escalations/{id}/respond", respond, Respond, Escalation, "Answer it; the reply goes to the asker"),
    Action("/api/escalations/{id}/ack", acknowledge, Nothing, Escalation, "Say that it was seen"),
    Action("/api/escalations/{id}/dismiss", dismiss, Dismiss, Escalation, "Decline to answer"),
    Action("/api/escalations/{id}/snooze", snooze, Snooze, Escalation, "Show it again later"),
    Action("/api/escalations/{id}/reopen", reopen, Nothing, Escalation, "Take back an answer that nobody has got yet"),
    Action("/api/escalations/{id}/confirm", confirm, Nothing, Escalation, "Agree to a proposed answer"),
    Action("/api/escalations/{id}/reject", reject, Reject, Escalation, "Refuse a proposed answer"),
    Action("/api/escalations/{id}/reroute", reroute, Reroute, Escalation, "Send an undelivered reply another way"),
)


def _each(tx: Transaction, ids: list[str], act: Callable[[str], Escalation]) -> tuple[list[Escalation], list[Refusal]]:
    """Each id once, in the order of the ids, so that two who do the same at once never wait for each other."""
    done: list[Escalation] = []
    refused: list[Refusal] = []
    for id in sorted(set(ids)):
        try:
            done.append(act(id))
        except GembaError as error:  # raised before anything is changed
            refused.append(Refusal(id, error.code, error.message))
    return done, refused


def _other_session(body: Reroute) -> str:
    if not body.session_id:
        allowed = "the id of the session whose next turn it shall be"
        raise Invalid("session_id is missing", code="missing_field", pointer="/session_id", allowed=allowed)
    return body.session_id


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
