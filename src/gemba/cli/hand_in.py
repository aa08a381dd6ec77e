"""A turn handed in to the server before it ends, so that its agent hears what the server finds and can still mend it.

A server that is not there, refuses the request itself or needs too long says nothing: the frame of the turn is then
what it learns of it from, and it decides alone. The same handoff is taken once, however often it comes.

Called by the gate.
"""

from gemba.cli.hook_input import Payload
from gemba.cli.hook_server import Declined, HookServer, Unanswered, segment
from gemba.wire import Refused

_CONCLUDED = "handoff.accepted,handoff.refused"


def refusal_of(workspace: str, handoff: Payload, until: float) -> Payload | None:
    """The handoff as the server refuses it; None when it is accepted, or nobody has said otherwise by then."""
    server = HookServer(workspace, until)
    try:
        made = server.post("/api/handoffs", {**handoff, "source": "gate"})
        if made.get("state") == "checking":
            made = server.wait(segment(made.get("id")), _CONCLUDED, lambda: _concluded(server, made)) or made
    except (Unanswered, Declined, Refused, ValueError):  # the client may be gone, or what it sent no JSON for a server
        return None
    return made if made.get("state") == "refused" else None


def _concluded(server: HookServer, made: Payload) -> Payload | None:
    found = server.get(f"/api/handoffs/{segment(made.get('id'))}")
    return found if found.get("state") != "checking" else None
