"""The verb of `submit_handoff`: the end of a turn, handed to the server, or judged by its shape where none runs.

What the server refuses is told to the agent, which mends it and hands it in again. What it accepts, and what has the
right shape while no server runs, becomes a `GembaHandoff` frame: the log has every turn that ended well, and a server
that comes later judges it in full. The same handoff is taken once. Standard library only.
"""

import time

from gemba.mcp.asking import append
from gemba.mcp.tool import Answer, NoServer
from gemba.speaker import Session
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server, Waiting

AGAIN = "Mend it, and call submit_handoff again with the whole envelope."

_CHECK_SECONDS = 50.0  # most clients give a call a minute
_PAUSE_SECONDS = 0.25
_TOLD = ("id", "state", "plan_status", "refused_by", "verdict", "checks", "told", "escalation_id")


def submit_handoff(session: Session, given: "Document", server: "Server") -> "Answer | Waiting":
    envelope = given["envelope"]
    handoff = {"envelope": envelope, "session_id": session.id, "source": "mcp"}
    if session.dispatch_id:
        handoff["dispatch_id"] = session.dispatch_id
    try:
        made = server.hand_in(handoff)
    except NoServer as reason:
        return _judged_here(session, envelope, str(reason))
    if made["state"] == "checking":
        return HandoffWait(session, envelope, server, made)
    return _concluded(session, envelope, made)


class HandoffWait:
    """The wait for what the server finds in the world. It concludes by itself when nobody waits any more."""

    reply_to = ""
    pause = _PAUSE_SECONDS

    def __init__(self, session: Session, envelope: "Document", server: "Server", made: "Document") -> None:
        self.message = f"{made['id']}: what it claims is compared with the world"
        self._session = session
        self._envelope = envelope
        self._server = server
        self._made = made
        self._until = time.monotonic() + _CHECK_SECONDS

    def look(self) -> Answer | None:
        try:  # noqa: SIM105  contextlib is slow to load
            self._made = self._server.handoff(self._made["id"])
        except (NoServer, Refused):  # it may start anew, or its database; neither is a verdict
            pass
        if self._made["state"] != "checking":
            return _concluded(self._session, self._envelope, self._made)
        if time.monotonic() < self._until:
            return None
        id = self._made["id"]
        return Answer(f"{id} is still being checked; gemba handoff show {id} tells what came of it", _facts(self._made))


def _concluded(session: Session, envelope: "Document", made: "Document") -> Answer:
    if made["state"] != "accepted":
        return Answer(f"{made['told']}\n{AGAIN}", _facts(made), is_error=True)
    try:  # noqa: SIM105  the same
        _keep(session, envelope)
    except (Refused, OSError):  # the server has it
        pass
    warnings = [f"warning: {each['message']}" for each in made["verdict"]["findings"]]
    return Answer("\n".join([f"{made['id']} accepted: {made['plan_status']}", *warnings]), _facts(made))


def _facts(made: "Document") -> "Document":
    return {name: made[name] for name in _TOLD if made.get(name) is not None}


def _judged_here(session: Session, envelope: "Document", reason: str) -> Answer:
    from gemba.handoff.given_file import dispatched_agent, input_envelope
    from gemba.handoff.repair import repair_text
    from gemba.handoff.verdict import judge_object, to_dict

    given = input_envelope(session.home, session.dispatch_id)
    verdict = judge_object(envelope, given)
    facts = {"judged": "shape", "reason": reason, "verdict": to_dict(verdict)}
    if not verdict.valid:
        said = f"{repair_text(verdict, dispatched_agent(given))}\n{AGAIN}"
        return Answer(f"{said}\n(Judged by its shape alone: {reason}.)", facts, is_error=True)
    event_id = _keep(session, envelope)
    said = f"{event_id} recorded: {verdict.plan_status}, by its shape alone: {reason}. A server will judge it in full."
    return Answer(said, {**facts, "event_id": event_id})


def _keep(session: Session, envelope: "Document") -> str:
    from gemba.handoff.given_file import dispatched_agent, input_envelope

    agent_id = dispatched_agent(input_envelope(session.home, session.dispatch_id))
    ids = {"dispatch_id": session.dispatch_id, "agent_id": agent_id}
    return append(session, "GembaHandoff", {**ids, "envelope": envelope})
