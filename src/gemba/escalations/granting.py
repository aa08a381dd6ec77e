"""What an answer to an `approval` escalation does: it decides the request, or the whole plan, that it asks about.

The request and its escalation are decided in one transaction, the escalation locked first, so that neither is ever
decided without the other. Called wherever such an escalation is answered: by a person, after a check, by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, update

from gemba import clock
from gemba.errors import Conflict, Invalid
from gemba.escalations.answer import checked_text
from gemba.escalations.escalation import Escalation, Reply, Respond
from gemba.escalations.store import already, escalations, settle, unsettle
from gemba.handoff import requests
from gemba.handoff.approvals import Approval, approved_by, of_escalation, of_set, view
from gemba.handoff.requests import Decider
from gemba.store.database import Transaction
from gemba.text import framed, letters_in_line

KIND = "approval"
_DECISIONS = ["yes", "no", "modify"]
_TITLE_WIDTH = 80


def judge(body: Respond) -> Reply:
    """What an answer says: yes, no with a reason, or modify with the command to run instead, kept to the letter."""
    if body.decision is None:
        raise _missing("decision", _DECISIONS)
    for name in ("option", "action"):
        if getattr(body, name) is not None:
            raise _unexpected(name)
    if body.value is not msgspec.UNSET:
        raise _unexpected("value")
    if body.decision == "modify":
        if not (body.text or "").strip():
            raise _missing("text", "the command to run instead, with decision modify")
        return Reply("answered", body.text or "", "operator", decision="modify")
    text = checked_text(body.text)
    if body.decision == "no" and not text:
        raise _missing("text", "why not, with decision no")
    return Reply("answered", text or "yes", "operator", decision=body.decision)


def carry_out(tx: Transaction, row: Row[Any], given: Reply) -> Escalation:
    """Decide what the escalation asks about, and settle it."""
    waiting = of_escalation(tx, row.id)
    if row.resolved or not waiting:
        raise already(row)
    who = Decider(given.who or tx.actor, given.confirmed_by)
    match given.decision:
        case "yes":
            read_seals(waiting, given.seals)
            for one in waiting:
                requests.check(tx, one, "approved")
            for one in waiting:
                requests.approve(tx, one, who, "" if given.text == "yes" else given.text)
        case "modify":
            if waiting[0].set_id is not None:
                message = "it asks about a plan: edit one of its commands by its own id, then approve it"
                raise Invalid(message, code="invalid_value", pointer="/decision", found="modify", allowed=["yes", "no"])
            requests.edit(tx, waiting[0], given.text, who)
        case _:
            for one in waiting:
                requests.refuse(tx, one, who, given.text)
    return settle(tx, row, "resolved", given)


def read_seals(waiting: Sequence[Row[Any]], seen: list[str] | None) -> list[str]:
    """The seals of what waits, which must be those that were read: whoever approves a plan does not approve what
    somebody else has put into it meanwhile. A single request is another one once it is edited, and needs none."""
    now = [one.hash for one in waiting]
    if seen is None and any(one.set_id is not None for one in waiting):
        message = "it is a plan, in which steps can be edited: approve it by one of its requests, with the seals of all"
        raise Invalid(message, code="missing_field", pointer="/seals", allowed="the hashes of its steps, in order")
    if seen is not None and waiting and seen != now:
        is_plan = any(one.set_id is not None for one in waiting)
        why = "a step was edited meanwhile, or these are not its seals" if is_plan else "that is not its seal"
        message = f"what waits is not what was shown: {why}; read it again"
        raise Conflict(message, code="changed_meanwhile", pointer="/seals", found=seen, allowed=now)
    return now


def refuse(tx: Transaction, row: Row[Any], reason: str) -> None:
    """The operator declined to answer: that grants nothing, and whoever waits is told."""
    for one in of_escalation(tx, row.id):
        requests.refuse(tx, one, Decider(tx.actor), reason or "the operator declined to answer")


def take_back(tx: Transaction, row: Row[Any]) -> Escalation:
    """Undo an approval, of which nothing was used: the request, or the whole plan, waits again."""
    for one in approved_by(tx, row.id):
        requests.take_back(tx, one)
    return unsettle(tx, row)


def expire(tx: Transaction, row: Row[Any]) -> None:
    for one in of_escalation(tx, row.id):
        requests.expire(tx, one)
    if not row.resolved:
        settle(tx, row, "expired", Reply("expired", "nobody decided in time", "policy"))


def withdraw(tx: Transaction, row: Row[Any], reason: str) -> None:
    for one in of_escalation(tx, row.id):
        requests.withdraw(tx, one, reason)
    settle(tx, row, "withdrawn", Reply("withdrawn", reason or "withdrawn by the requester", "agent"))


def edit_in_plan(tx: Transaction, row: Row[Any], member: Row[Any], command: str) -> Approval:
    """Another command in its place; the plan still waits, and its escalation shows what would run now."""
    made = requests.edit(tx, member, command, Decider(tx.actor))
    plan = [view(one) for one in of_set(tx.connection, member.set_id)]
    shown = {"text": text_of(plan), "title": title_of(plan), "changed_at": tx.now}
    tx.connection.execute(update(escalations).where(escalations.c.id == row.id).values(shown))
    return made


# ---- what the operator reads ----------------------------------------------------------------------------------------


def title_of(plan: Sequence[Approval]) -> str:
    """Enough to tell it from others in a list; the text says what will run to the letter."""
    what = f"a plan of {len(plan)}: " if plan[0].set_id else ""
    return f"Approve {what}{letters_in_line(plan[0].command, _TITLE_WIDTH)}"


def text_of(plan: Sequence[Approval]) -> str:
    """Exactly what will run, in a frame behind what is known of it: no line of it can pass for one of ours."""
    return "\n\n".join(_words(one) for one in plan)


def _words(one: Approval) -> str:
    number = f"{one.position}. " if one.position is not None else ""
    lines = [f"{number}{one.tool}", f"in: {one.cwd}"]
    lines.append(f"risk: {one.risk}" + (f" ({letters_in_line(one.reason)})" if one.reason else ""))
    lines.append(f"requester: {one.requester}")
    if one.environment:
        lines.append(f"environment: {', '.join(one.environment)}")
    expires = clock.parse(one.expires_at)
    lines.append(f"approval: {one.id}, until {one.expires_at if expires is None else clock.rfc3339(expires)[:16]}Z")
    for name, value in (("rollback", one.rollback), ("verification", one.verification)):
        if value is not None:
            told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            lines += [f"{name}:", *framed(told)]
    return "\n".join([*lines, "command:", *framed(one.command)])


def _missing(name: str, allowed: str | list[str]) -> Invalid:
    words = allowed if isinstance(allowed, str) else ", ".join(allowed)
    return Invalid(f"{name} is missing; allowed: {words}", code="missing_field", pointer=f"/{name}", allowed=allowed)


def _unexpected(name: str) -> Invalid:
    message = f"{name} does not fit here: an approval is answered with a decision"
    return Invalid(message, code="unexpected_field", pointer=f"/{name}", found=name, allowed=["decision", "text"])
