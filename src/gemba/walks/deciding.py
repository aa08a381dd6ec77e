"""A decision on an item of a walk: carried out, recorded and told in one transaction, and the next item is taken up.

Ratify and modify run an action by the row of the API that it is for, as the operator; for an escalation that is its
answer. Reject declines an escalation with the reason; defer snoozes it. What the action's own route refuses leaves the
item undecided. Of two that decide an item at once the second gets a Conflict that shows what was decided; a source
that somebody settled elsewhere dismisses the item, and the Conflict says how it was settled.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import msgspec
from sqlalchemy import Row

from gemba import clock
from gemba.action import Action
from gemba.errors import Conflict, GembaError, Invalid
from gemba.escalations.escalation import Channel
from gemba.escalations.store import get as get_escalation
from gemba.handoff import audit
from gemba.personas import applying, consulting
from gemba.personas.consult import NewConsult, refused_by
from gemba.personas.persona import Persona
from gemba.skills.consult.suggested import SuggestedAction
from gemba.store.database import Transaction
from gemba.text import one_line, storable
from gemba.walks import sources, store
from gemba.walks.walk import (
    LONGEST_LABEL,
    UNDECIDED,
    Applied,
    Decide,
    Decided,
    Decision,
    Edited,
    SourceKind,
    WalkAction,
)

BACKLOG = "backlog"
_AN_HOUR = 3_600 * clock.SECOND
_ABOUT_WORK = (SourceKind.FILED, SourceKind.CLOSED, SourceKind.ITEM)
_LONGEST_QUESTION = 20_000
_HELD = re.compile(r"/api/escalations/[^/]+/(?:respond|dismiss)")  # what goes to an agent, and can be held back
_COMMENTS = ("ask", "perspective")  # the skills by which a persona says what it proposes, the better first


def decide(tx: Transaction, body: Decide, *, id: str, item: str) -> Decided:
    walk = store.locked(tx, id)
    row = _waiting(tx, walk, item)
    rationale = storable(body.rationale).strip()
    event, decision = _DECIDE[body.kind](tx, row, body, rationale)
    decided = store.keep_decision(tx, row, event, decision)
    told = {"item": item, "kind": body.kind, "source": {"kind": row.kind, "ref": row.ref}}
    store.say(tx, id, "operator", tx.actor, spoken(decision), item, decision.consult_id)
    store.tell_of_walk(tx, "walk.decided", id, **told)
    audit.record(tx, "walk.decided", id, {**told, "topic": row.topic, "decision": msgspec.to_builtins(decision)})
    following = store.take_up_next(tx, walk, row.place)
    return Decided(
        item=store.view_item(decided),
        next=None if following is None else store.view_item(following),
        totals=store.totals_now(tx.connection, id, tx.now),
    )


def _waiting(tx: Transaction, walk: Row[Any], id: str) -> Row[Any]:
    """The item, as long as nobody has decided, here or elsewhere."""
    row = store.item(tx.connection, walk.id, id)
    if row.status not in UNDECIDED:
        raise Conflict(
            f"the item is {row.status} already", code="already_decided", found=row.status, item=store.view_item(row)
        )
    how = sources.settled(tx.connection, [(row.kind, row.ref)]).get((row.kind, row.ref))
    if how is not None:
        error = Conflict(
            f"it was settled elsewhere meanwhile: {how}", code="settled_elsewhere", found=how, item=store.view_item(row)
        )
        tx.refuse(error, lambda later: _leave(later, walk.id, id))
    return row


def _leave(tx: Transaction, walk_id: str, id: str) -> None:
    """What a refusal leaves behind: the item is dismissed, and the next one is on the table."""
    walk = store.locked(tx, walk_id, active=False)
    row = store.item(tx.connection, walk_id, id)
    store.settle_elsewhere(tx, walk_id, [row])
    store.tell_of_walk(tx, "walk.agenda_changed", walk_id, item=id)
    store.take_up_next(tx, walk, row.place)


# ---- by kind ---------------------------------------------------------------------------------------------------------


def _ratify(tx: Transaction, row: Row[Any], body: Decide, rationale: str) -> tuple[str, Decision]:
    action = _proposed(tx, row, body.action)
    return "decided", _made(tx, row, body, rationale, action=action, applied=_carried_out(tx, row, action, body.hold))


def _modify(tx: Transaction, row: Row[Any], body: Decide, rationale: str) -> tuple[str, Decision]:
    if body.edited is None:
        raise _missing("edited", "the action as you want it: verb, path, body; or text, for a reply in words")
    action = _as_edited(tx, row, _proposed(tx, row, body.action), body.edited)
    return "decided", _made(tx, row, body, rationale, action=action, applied=_carried_out(tx, row, action, body.hold))


def _reject(tx: Transaction, row: Row[Any], body: Decide, rationale: str) -> tuple[str, Decision]:
    """The reason is kept; an escalation is declined with it, and the agent is told; a memory is not offered again."""
    if not rationale:
        raise _missing("rationale", "why it is rejected, in words")
    if row.kind == SourceKind.ESCALATION:
        action = WalkAction("Decline", "POST", _escalation_path(row, "dismiss"), {"text": rationale})
    elif row.kind == SourceKind.MEMORY:
        path = f"/api/memories/{quote(row.ref, safe='')}/reject"
        action = WalkAction("Do not remember it", "POST", path, {"reason": rationale})
    else:
        return "decided", _made(tx, row, body, rationale)
    return "decided", _made(tx, row, body, rationale, action=action, applied=_carried_out(tx, row, action, body.hold))


def _defer(tx: Transaction, row: Row[Any], body: Decide, rationale: str) -> tuple[str, Decision]:
    """An escalation is snoozed; work can be sent to the backlog; all else stays as it is, and on the agenda."""
    if body.until == BACKLOG:
        if row.kind not in _ABOUT_WORK:
            raise Invalid(
                "until is backlog, which is for work; allowed: a time",
                code="invalid_value",
                pointer="/until",
                found=BACKLOG,
                allowed="an RFC 3339 time with its zone",
            )
        path = f"/api/work-items/{quote(row.ref, safe='-._~:@+')}"
        action = WalkAction("Send it to the backlog", "PATCH", path, {"state": BACKLOG})
        applied = _carried_out(tx, row, action, body.hold)
        return "decided", _made(tx, row, body, rationale, action=action, applied=applied, until=BACKLOG)
    until = _moment(body.until, tx.now)
    if row.kind != SourceKind.ESCALATION:
        return "deferred", _made(tx, row, body, rationale, until=until)
    action = WalkAction("Look at it later", "POST", _escalation_path(row, "snooze"), {"until": until})
    return "deferred", _made(
        tx, row, body, rationale, action=action, applied=_carried_out(tx, row, action, body.hold), until=until
    )


def _moment(until: str | None, now: int) -> str:
    if until is None:
        return clock.rfc3339(now + _AN_HOUR)
    found = clock.parse(until)
    if found is None or found <= now:
        raise Invalid(
            f"until is {until[:80]!r}; allowed: an RFC 3339 time with its zone in the future, or backlog for work",
            code="invalid_value",
            pointer="/until",
            found=until[:80],
            allowed="an RFC 3339 time in the future, or backlog",
        )
    return clock.rfc3339(found)


def _hand_off(tx: Transaction, row: Row[Any], body: Decide, rationale: str) -> tuple[str, Decision]:
    """Another persona is asked; what it proposes stands with the item, which can be taken up again."""
    if body.persona is None:
        known = ", ".join(tx.surroundings["personas"].by_id)
        raise _missing("persona", f"the id of a persona: {known}")
    persona: Persona = tx.surroundings["personas"].find(body.persona)
    listed = [each for each in _COMMENTS if each in persona.skills]
    if not listed:
        told = f"{persona.name} lists neither ask nor perspective, so it can propose nothing"
        raise Invalid(told, code="skill_not_listed", pointer="/persona", found=persona.id, allowed=list(_COMMENTS))
    ways = [consulting.prepare(tx.surroundings, _wish(row, persona, skill, rationale)) for skill in listed]
    # What can be answered here goes before what would be said better by a model that is not at hand.
    made = next((each for each in ways if each.trouble is None), ways[0])
    begun = consulting.begin_consult(tx, made)
    store.tell_of_walk(
        tx, "walk.consulted", row.walk_id, consult_id=begun.id, persona_id=persona.id, skill_id=made.skill.id
    )
    return "deferred", _made(tx, row, body, rationale, persona_id=persona.id, consult_id=begun.id)


def _wish(row: Row[Any], persona: Persona, skill: str, rationale: str) -> NewConsult:
    framing = store.framing_of(row)
    asked = f"What do you propose to do about this? {store.spoken(framing) if framing else row.topic}"
    given = {"question": asked[:_LONGEST_QUESTION], "refs": [row.ref]} if skill == "ask" else {"ref": row.ref}
    return NewConsult(persona_id=persona.id, skill_id=skill, raw_input=given, guidance=rationale or None)


_DECIDE = {"ratify": _ratify, "modify": _modify, "reject": _reject, "defer": _defer, "handoff": _hand_off}


# ---- actions ---------------------------------------------------------------------------------------------------------


def _proposed(tx: Transaction, row: Row[Any], number: int) -> WalkAction:
    """One of those that were proposed when the item was taken up: what the operator has read is what is done."""
    framing = store.framing_of(row)
    if framing is None:
        raise Conflict(
            "the item was not taken up yet, so nothing is proposed; allowed: take it up first",
            code="not_taken_up",
            found=str(row.status),
        )
    if number > len(framing.actions):
        allowed = f"1 to {len(framing.actions)}" if framing.actions else "none: nothing is proposed"
        raise Invalid(
            f"action is {number}; allowed: {allowed}",
            code="invalid_value",
            pointer="/action",
            found=number,
            allowed=allowed,
        )
    return framing.actions[number - 1]


def _as_edited(tx: Transaction, row: Row[Any], action: WalkAction, edited: Edited) -> WalkAction:
    if edited.text is not None:
        if row.kind != SourceKind.ESCALATION:
            raise Invalid(
                "text stands for a reply, and this is no escalation; allowed: verb, path, body",
                code="invalid_value",
                pointer="/edited/text",
                allowed=["verb", "path", "body"],
            )
        return _in_words(tx, row, action, edited.text)
    made = WalkAction(
        "As edited",
        edited.verb or action.verb,
        edited.path or action.path,
        action.body if edited.body is None else edited.body,
    )
    if made.path.startswith("/api/walks"):
        raise Invalid(
            "a walk's decision is about something that waits, not about walks",
            code="invalid_value",
            pointer="/edited/path",
            found=made.path[:200],
        )
    return made


def _in_words(tx: Transaction, row: Row[Any], action: WalkAction, text: str) -> WalkAction:
    """A reply in words, as its channel takes them: for a command it is the command to run instead."""
    one = get_escalation(tx.connection, row.ref)
    if one.kind == "approval":
        return WalkAction("Approve as edited", "POST", action.path.replace("/approve", "/edit"), {"command": text})
    body: dict[str, Any] = {"text": text}
    if one.channel == Channel.NOTIFICATION:
        body = {"decision": "modify", "text": text}
    elif one.channel == Channel.SYSTEM and "action" in action.body:
        body = {"action": action.body["action"], "text": text}
    return WalkAction(one_line(text, LONGEST_LABEL), "POST", _escalation_path(row, "respond"), body)


def _escalation_path(row: Row[Any], verb: str) -> str:
    return f"/api/escalations/{quote(row.ref, safe='')}/{verb}"


def _carried_out(tx: Transaction, row: Row[Any], action: WalkAction, hold: int) -> Applied:
    held = {"hold": hold} if hold and _HELD.fullmatch(action.path) else {}
    try:
        outcome = applying.run_action(tx, SuggestedAction(action.verb, action.path, {**action.body, **held}))
    except GembaError as error:
        told = {"item": row.id, "action": msgspec.to_builtins(action), "by": tx.actor, "error": error.message}
        refused = refused_by(error, f"{action.verb} {action.path}")
        tx.refuse(refused, lambda later: audit.record(later, "walk.decide_refused", row.walk_id, told))
    answer = outcome.answer if isinstance(outcome.answer, dict) else {}
    ref, change, until = (answer.get(name) for name in ("id", "changes", "held_until"))
    return Applied(
        outcome.status or 200,
        ref if isinstance(ref, str) else None,
        change if isinstance(change, int) else None,
        until if isinstance(until, str) else None,
    )


def _made(tx: Transaction, row: Row[Any], body: Decide, rationale: str, **known: Any) -> Decision:
    return Decision(kind=body.kind, by=tx.actor, at=clock.rfc3339(tx.now), rationale=rationale, **known)


def spoken(decision: Decision) -> str:
    parts = [decision.kind.capitalize()]
    if decision.action is not None:
        parts.append(f": {decision.action.label}")
    if decision.persona_id is not None:
        parts.append(f" to {decision.persona_id}")
    if decision.until is not None:
        parts.append(f", until {decision.until}")
    if decision.rationale:
        parts.append(f". {decision.rationale}")
    return "".join(parts)


def _missing(name: str, allowed: str) -> Invalid:
    return Invalid(f"{name} is missing; allowed: {allowed}", code="missing_field", pointer=f"/{name}", allowed=allowed)


ACTIONS = (
    Action(
        "/api/walks/{id}/decide/{item}",
        decide,
        Decide,
        Decided,
        "Decide an item: ratify, modify, reject, defer or hand off; the next one is taken up",
    ),
)
