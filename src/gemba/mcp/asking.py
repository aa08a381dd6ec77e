"""The verbs of the tools that write one frame: asking, reporting a state, giving a skill's output.

Role, mode and limits are those of `gemba-ask` and `gemba-state`, and so are the words. The role is the session's own:
a call cannot claim another. Standard library only.
"""

import os

from gemba import speaker, wire
from gemba.mcp.tool import Answer
from gemba.speaker import Session
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server, Waiting
    from gemba.replies import Reply

_SPELT = {"option": "options", "wait": "wait or wait_seconds"}


def ask_question(session: Session, given: "Document", _server: "Server") -> "Answer | Waiting":
    if "resume" in given:
        return _resume(session, given)
    # Without a role nobody has given it any authority.
    return _ask(session, given, "assumption" if "chose" in given else "question", _role(session, "coach"))


def raise_blocker(session: Session, given: "Document", _server: "Server") -> "Answer | Waiting":
    # Without a role the call itself is the claim, as `--role manager` is.
    return _ask(session, given, "blocker", _role(session, "manager"))


def report_state(session: Session, given: "Document", _server: "Server") -> Answer:
    session.interaction_mode()
    state = given["state"]
    reported = {"state": state, "bead_id": given.get("bead_id"), "note": given.get("note")}
    event_id = append(session, "GembaState", reported)
    return _recorded(session, f"{event_id} reported: {state}", {"event_id": event_id, "state": state})


def emit_skill_output(session: Session, given: "Document", _server: "Server") -> Answer:
    lines = given["lines"]
    if wire.is_deeper(given, wire.MAX_DEPTH):  # the log could hold it, and its event would be cut
        raise Refused(f"lines is nested too deeply; allowed: {wire.MAX_DEPTH} levels, the arguments' own included")
    event_id = append(session, "GembaSkillOutput", {"skill_id": given["skill_id"], "lines": lines})
    said = f"{event_id} emitted: {len(lines)} {'line' if len(lines) == 1 else 'lines'}"
    return _recorded(session, said, {"event_id": event_id, "lines": len(lines)})


def append(session: Session, hook: str, payload: dict[str, object]) -> str:
    """Append a frame; Refused when it holds what no frame can."""
    try:
        return session.append(hook, payload)
    except TypeError as error:  # a number too large for a float
        raise Refused(f"the arguments cannot be kept: {error}") from None


# -- an ask ------------------------------------------------------------------------------------------------------------


def _ask(session: Session, given: "Document", kind: str, role: str) -> "Answer | Waiting":
    if "text" not in given:
        raise Refused("text is missing; allowed: a text")
    seconds = given.get("wait_seconds")
    wait = seconds is not None or given.get("wait") is True
    said = [name for name, is_given in {**given, "option": "options" in given, "wait": wait}.items() if is_given]
    speaker.refuse_misfits(kind, said, lambda name: _SPELT.get(name, name))
    speaker.refuse_repeated(given.get("options", []), "options:")
    schema = given.get("schema")
    if schema is not None:
        _check_schema(schema)
    mode = session.interaction_mode()
    if reason := wire.refusal(kind, role, mode):
        raise Refused(f"{reason}; here: ask_question{' with chose' if mode == 'dangerous' else ''}")
    payload = speaker.ask_payload(
        session,
        kind=kind,
        role=role,
        mode=mode,
        text=given["text"],
        title=given.get("title", ""),
        bead_id=given.get("bead_id", ""),
        options=given.get("options"),
        schema=schema,
        chose=given.get("chose", ""),
        wait=wait,
        wait_seconds=seconds,
    )
    event_id = append(session, "GembaAsk", payload)
    urgency = wire.urgency_of(kind, mode)
    if wait:
        return ReplyWait(session, event_id, seconds, f"{event_id} {urgency}: waiting for the reply")
    facts = {"event_id": event_id, "urgency": urgency, "next": speaker.NEXT[urgency]}
    return _recorded(session, speaker.recorded(event_id, urgency), facts)


def _role(session: Session, unsaid: str) -> str:
    role = session.role or unsaid
    if role not in wire.ROLES:
        raise Refused(f"GEMBA_ROLE {speaker.shown(role)} is unknown; allowed: {', '.join(wire.ROLES)}")
    return role


def _check_schema(schema: dict[str, object]) -> None:
    if not schema:
        raise Refused("schema is empty and takes every answer; leave it out, or say more")
    try:
        size = len(wire.encode_json(schema).encode())
    except TypeError as error:
        raise Refused(f"schema is no JSON: {error}") from None
    if size > wire.MAX_SCHEMA:
        raise Refused(f"schema has {size} bytes; allowed: up to {wire.MAX_SCHEMA}")
    speaker.refuse_schema(schema, "schema")


def _recorded(session: Session, line: str, facts: "Document") -> Answer:
    """A frame that is in the log, and what there is to say beside."""
    notes = []
    if not session.mode:
        notes.append(f"warning: GEMBA_INTERACTION_MODE is not set, going by {wire.DEFAULT_MODE}")
    if not session.has_operator():
        notes.append(f"warning: {speaker.NO_OPERATOR}")
    if count := session.turns():
        notes.append(speaker.told_of_turns(count))
    return Answer("\n".join([line, *notes]), {**facts, "notes": notes} if notes else facts)


# -- waiting for its reply ---------------------------------------------------------------------------------------------


def _resume(session: Session, given: "Document") -> "ReplyWait":
    for name in given:
        if name not in ("resume", "wait", "wait_seconds"):
            raise Refused(f"{name} does not go with resume; allowed: resume, wait_seconds")
    event_id = given["resume"]
    if not os.path.lexists(wire.reply_path(session.home, event_id)):
        from gemba.replies import asked_kind

        asked_kind(session, event_id)
    return ReplyWait(session, event_id, given.get("wait_seconds"), f"{event_id}: waiting for the reply")


class ReplyWait:
    """The wait for a reply. Whoever ends it early ends nothing but the wait: the ask stays open."""

    def __init__(self, session: Session, event_id: str, seconds: float | None, message: str) -> None:
        from gemba.replies import Awaited  # loaded by a call that waits, and by no other

        self.message = message
        self.reply_to = event_id
        self._session = session
        self._awaited = Awaited(session.home, event_id, seconds)

    @property
    def pause(self) -> float:
        return self._awaited.pause

    def look(self) -> Answer | None:
        try:
            found = self._awaited.look()
        except Refused as refused:
            raise Refused(f"{refused}; here: ask_question with resume") from None
        return None if found is None else _replied(self._session, found)


def _replied(session: Session, reply: "Reply") -> Answer:
    """The operator's words, acknowledged once they were handed on."""
    from contextlib import suppress

    from gemba import replies

    def acknowledge() -> None:
        with suppress(OSError):  # it has its reply, and must not ask again
            replies.acknowledge(session, reply)

    text = "\n".join([replies.words(reply), *replies.remarks(reply)]).strip()
    return Answer(text, reply, delivered=acknowledge)
