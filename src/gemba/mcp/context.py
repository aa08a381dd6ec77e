"""The verb of `get_context`: what a session was given to work with. Standard library only.

The input envelope of its dispatch, where it has one; else what is known of the project, which the server has.
"""

from gemba import wire
from gemba.mcp.tool import Answer, NoServer
from gemba.speaker import Session
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server


def get_context(session: Session, _given: "Document", server: "Server") -> Answer:
    from gemba.handoff.given_file import input_envelope  # loads what no other tool needs

    envelope = input_envelope(session.home, session.dispatch_id)
    if envelope is not None:
        return Answer(_briefing(session, envelope), {"dispatch_id": session.dispatch_id, "envelope": envelope})
    try:
        known = [_section(each) for each in server.sections()]
    except NoServer as reason:
        dispatch = (
            f"dispatch {session.dispatch_id} has no envelope here" if session.dispatch_id else "there is no dispatch"
        )
        raise Refused(
            f"{dispatch} (GEMBA_DISPATCH_ID), and what is known of the project cannot be read: {reason}"
        ) from None
    text = wire.encode_json(known) if known else "Nothing is known of this project yet."
    return Answer(text, {"sections": known})


def _briefing(session: Session, envelope: "Document") -> str:
    """What the agent of a dispatch is told when its session starts."""
    try:
        told = wire.read_file(wire.envelope_path(session.home, session.dispatch_id, ".md"), wire.MAX_TEXT * 4)
    except OSError:
        return wire.encode_json(envelope)
    return told.decode("utf-8", "replace")


def _section(section: "Document") -> "Document":
    return {name: section[name] for name in ("name", "paths", "revision", "value", "changed_at")}
