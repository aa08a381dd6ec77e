"""Whether the audit log is as it was written, in words for the operator; and how a new one is begun when it is not.

To begin anew removes nothing: the entries stay, the anchors stay, and the first entry of the new log says who began it,
why, what was found wrong, and the last entry that was remembered of the log before. Called by the API, and by whoever
checks a workspace.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection

from gemba import clock, wire
from gemba.action import Action
from gemba.errors import Conflict, Invalid
from gemba.event import Draft
from gemba.handoff import audit
from gemba.handoff.anchors import Anchors, Known
from gemba.handoff.chain import Broken
from gemba.store.database import Transaction
from gemba.text import storable

_BEGIN_ANEW = 'gemba audit begin --reason "…"'


class Begin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a new log is begun: it is the first thing that the new one says."""

    reason: str


class Begun(msgspec.Struct, frozen=True):
    """The entry with which a new log began."""

    number: int
    at: str
    by: str
    reason: str


class AuditVerdict(msgspec.Struct, frozen=True):
    """Whether the audit log is as it was written; else its first bad entry, what is wrong there, and what to do.
    `begun`: the log is not the first of this workspace; the `entries` before that one are not vouched for."""

    ok: bool
    entries: int
    anchors: int
    number: int | None = None
    what: str | None = None
    detail: str | None = None
    hint: str | None = None
    begun: Begun | None = None


def judge(connection: Connection, known: Known, anchors: Anchors, *, tail: bool = False) -> AuditVerdict:
    """Of the whole log, or with `tail` of its end. `known` is what the anchors said before the transaction began."""
    broken = audit.check(connection, known, tail=tail)
    many, begun = audit.count(connection), _begun(connection, known)
    if broken is None:
        return AuditVerdict(True, many, len(known.anchors), begun=begun)
    told = (broken.number, broken.what, broken.detail)
    return AuditVerdict(False, many, len(known.anchors), *told, hint=_hint(connection, known, anchors), begun=begun)


def begin(tx: Transaction, body: Begin) -> Begun:
    """Only where there is something wrong: whoever could begin anew at will could shake off a log that is right."""
    reason = storable(body.reason).strip()
    if not reason:
        allowed = "what happened to the log, in words"
        raise Invalid("reason is empty", code="missing_field", pointer="/reason", allowed=allowed)
    if len(reason) > wire.MAX_TEXT:
        raise Invalid(f"reason has {len(reason)} characters; allowed: {wire.MAX_TEXT}", code="too_long")
    audit.lock(tx)
    anchors: Anchors = tx.surroundings["anchors"]
    known = anchors.read()
    broken = audit.check(tx.connection, known)
    if broken is None:
        raise Conflict("the audit log is as it was written: there is no reason to begin another", code="audit_intact")
    number = audit.head(tx.connection).number + 1
    audit.record(tx, "audit.begun", str(number), _told(reason, broken, known), begins=True)
    tx.emit(Draft("audit.begun", {"number": number, "by": tx.actor, "reason": reason}, None, None))
    return Begun(number, clock.rfc3339(tx.now), tx.actor, reason)


ACTIONS = (Action("/api/audit/begin", begin, Begin, Begun, "Begin a new audit log after one that is gone or changed"),)


def _told(reason: str, broken: Broken, known: Known) -> dict[str, object]:
    return {
        "reason": reason,
        "found": broken._asdict(),
        "before": {**known.last._asdict(), "anchors": len(known.anchors)},
    }


def _begun(connection: Connection, known: Known) -> Begun | None:
    entry = None if known.begun is None else audit.find(connection, known.begun.number)
    if entry is None:
        return None
    try:
        reason = str(msgspec.json.decode(entry.body)["reason"])
    except (msgspec.DecodeError, KeyError, TypeError):
        reason = ""
    return Begun(entry.number, clock.rfc3339(entry.at), entry.actor, reason)


def _hint(connection: Connection, known: Known, anchors: Anchors) -> str:
    if known.anchors and not any(_is_there(connection, known, number) for number in _ends(known)):
        return (
            f"nothing is here of the log whose {known.last.number} entries {anchors.file} remembers: .gemba/ or its "
            "database was deleted, replaced, or put back from a copy of something else. If you know how that came, "
            f"begin a new log, which says so; nothing is removed: {_BEGIN_ANEW}"
        )
    return (
        f"keep a copy of the database and of {anchors.file}, and find out who changed the log (`gemba audit export` "
        f"prints what is left). Then begin a new one, which says so; nothing is removed: {_BEGIN_ANEW}"
    )


def _ends(known: Known) -> set[int]:
    return {min(known.anchors).number, known.last.number}


def _is_there(connection: Connection, known: Known, number: int) -> bool:
    entry = audit.find(connection, number)
    return entry is not None and entry.anchor in known.anchors
