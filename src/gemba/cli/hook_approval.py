"""A command that changes something waits for the operator: a tool call becomes a sealed request, the answer a decision.

Only the tools that run command lines are asked about, and of those lines only the ones that change state or are
unknown. Nothing is let through without a grant that the server has just consumed for these very bytes; without a
server, or with an answer that is not understood, the call is denied with a reason that the agent can read. A request
that nobody answered in time stays open: the same call, made again, finds its answer. Once the client is gone nothing
is waited for and no grant is used up: nobody would run the command.

Called by `gemba.cli.bridge` for PreToolUse and PermissionRequest with --approvals.
"""

import json
import os

from gemba import wire
from gemba.cli.hook_input import HookInput, HookSession, Payload
from gemba.cli.hook_server import Declined, HookServer, Unanswered, require_client, segment

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.handoff.risk import Risk

# Tools that run what one of their inputs says. What others do is the client's own affair: it reads, or edits files.
COMMAND_TOOLS = {"Bash": "command", "PowerShell": "command", "Monitor": "command"}
# Inputs of these that are not part of what is approved: said elsewhere, or without effect on what runs.
_BESIDE = frozenset(("command", "description", "timeout", "timeout_ms"))
_ARE_OFF = ("run_in_background", "dangerouslyDisableSandbox")  # said to be false they are as not said
ASKED_ABOUT = ("T3", "unknown")
ASKED_HERE = "GembaPermission"  # the frame of a PermissionRequest that becomes a request of ours

_PART_OF_NO_LINE = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Denied(Exception):
    """The command must not run; the message says to the agent why."""


def approve(event: str, given: HookInput, session: HookSession, until: float) -> Payload | None:
    """What to tell the client; None where there is nothing to ask about. Waits for an answer until then.

    The frame is kept before the wait, and as what it is: a dialog that is answered here asks the operator once.
    """
    workspace, is_ours = _workspace(session), True
    try:
        question = _question(given, workspace)
        is_ours = question is not None
    except Denied as denied:
        return _decision(event, "deny", f"Gemba: {denied}")
    finally:
        session.keep(ASKED_HERE if is_ours and event == "PermissionRequest" else event, given)
    if question is None:
        return None
    try:
        _obtain_grant(ApprovalDoor(workspace, until), *question, given, session)
    except (Denied, Declined) as denied:
        return _decision(event, "deny", f"Gemba: {denied}")
    except Unanswered as error:
        again = f"so nobody can approve this: {error.remedy}, then run exactly the same command again"
        return _decision(event, "deny", f"Gemba: {error}, {again}")
    return _decision(event, "allow", "Gemba: the operator has approved exactly this command")


def _question(given: HookInput, workspace: str) -> "tuple[str, str, Risk] | None":
    """The command that somebody has to approve, the tool with its other inputs, and the risk; None where it is the
    client's own affair."""
    tool = given.word("tool_name")
    if given.payload is not None and tool not in COMMAND_TOOLS:
        return None
    command = _readable("the command", _command(given, tool))
    risk = _risk_of(command, workspace)
    if risk.level not in ASKED_ABOUT:
        return None
    _in_one_line("its folder", _readable("its folder", given.word("cwd")))
    return command, _tool_of(given, tool), risk


def _command(given: HookInput, tool: str) -> str:
    inputs = (given.payload or {}).get("tool_input")
    command = inputs.get(COMMAND_TOOLS[tool]) if isinstance(inputs, dict) and tool in COMMAND_TOOLS else None
    if not isinstance(command, str):
        raise Denied("the call names no command, so nobody can approve it")
    return command


def _tool_of(given: HookInput, tool: str) -> str:
    """The tool with every input that changes how the command runs: `Bash (run_in_background=true)`. As a part of the
    name it is shown and sealed, so that a grant for the one is none for the other."""
    inputs = (given.payload or {}).get("tool_input")
    others = {
        name: value
        for name, value in (inputs.items() if isinstance(inputs, dict) else ())
        if name not in _BESIDE and not (name in _ARE_OFF and value is False)
    }
    if not others:
        return tool
    told = ", ".join(f"{_name(name)}={json.dumps(others[name], sort_keys=True)}" for name in sorted(others))
    if len(tool) + len(told) + 3 > wire.MAX_ID:
        raise Denied(f"the call has more inputs than can be shown ({told[:80]}…): make it without them")
    return f"{tool} ({told})"


def _name(text: str) -> str:
    return text if text.isascii() and text.isidentifier() else json.dumps(text)


def _in_one_line(what: str, text: str) -> str:
    """The text, if it can be shown in a line of its own: what breaks or reorders lines could pass for other lines."""
    for char in text:
        if char < " " or "\x7f" <= char <= "\x9f" or char in _PART_OF_NO_LINE:
            raise Denied(f"{what} holds U+{ord(char):04X}, which nobody can read or approve: work in another one")
    return text


def _readable(what: str, text: str) -> str:
    """The text, if it can be kept and shown as it is: what is approved is what runs."""
    kept = wire.valid_unicode(text).replace("\0", "\ufffd")
    if kept == text:
        return text
    found = next(char for char, same in zip(text, kept, strict=True) if char != same)
    raise Denied(f"{what} holds U+{ord(found):04X}, which nobody can read or approve: write it without")


def _workspace(session: HookSession) -> str:
    """That of the project in which the client was started: an agent that changes its folder gets no other rules."""
    project = os.environ.get("CLAUDE_PROJECT_DIR")
    return (wire.find_workspace(project) if project else "") or session.workspace


def _risk_of(command: str, workspace: str) -> "Risk":
    from gemba.handoff.risk import classify, workspace_rules

    return classify(command, workspace_rules(workspace) if workspace else ())


def _obtain_grant(
    door: "ApprovalDoor", command: str, tool: str, risk: "Risk", given: HookInput, session: HookSession
) -> None:
    """Returns once a grant for this call is consumed."""
    seal: Payload = {
        "command": command,
        "cwd": given.word("cwd") or session.cwd,
        "tool": tool,
        "session_id": session.id,
        "requester": session.dispatch_id or session.id,
    }
    request = door.ask({**seal, "risk": risk.level, "reason": risk.reason})
    id = str(request.get("id", ""))
    if request.get("state") == "pending":
        request = door.wait(id) or request
    state = request.get("state")
    if state == "pending":
        raise Denied(f"this waits for the operator as {id}: run exactly the same command again later")
    if state == "superseded":
        raise Denied(f"the operator changed it; run exactly this instead: {door.successor(request)}")
    if state == "refused":
        raise Denied(f"the operator refused it: {request.get('decision_reason') or 'no reason was given'}")
    if state != "approved":
        raise Denied(f"the request {id} is {state}: run the command again to ask anew")
    require_client()
    door.use(id, seal)


def _decision(event: str, behavior: str, reason: str) -> Payload:
    if event == "PermissionRequest":
        decision = {"behavior": behavior} if behavior == "allow" else {"behavior": behavior, "message": reason}
        return {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}
    answer = {"hookEventName": event, "permissionDecision": behavior, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": answer}


class ApprovalDoor:
    """The server's side of approvals."""

    def __init__(self, workspace: str, until: float) -> None:
        self._server = HookServer(workspace, until)

    def ask(self, request: Payload) -> Payload:
        """Make a request, or find the one that there is for the same call."""
        return self._server.post("/api/approvals", request)

    def wait(self, id: str) -> Payload | None:
        """The request once it is decided, None if it is not in time."""
        return self._server.wait(id, "approval.decided", lambda: self._decided(id))

    def use(self, id: str, seal: Payload) -> None:
        """Consume the grant; Declined when it is for another call, used already or too old."""
        self._server.post(f"/api/approvals/{segment(id)}/use", seal)

    def successor(self, request: Payload) -> str:
        """The command that the operator wrote in the place of another."""
        return str(self._server.get(f"/api/approvals/{segment(request.get('superseded_by'))}").get("command", ""))

    def _decided(self, id: str) -> Payload | None:
        found = self._server.get(f"/api/approvals/{segment(id)}")
        return found if found.get("state") != "pending" else None
