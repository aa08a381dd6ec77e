"""The real commands that a demo agent calls, each as a process: to ask, to report, to take work, and at its client's
hooks."""

from __future__ import annotations

import json
import subprocess
from typing import Any, NamedTuple

from gemba.demo.session import Session

_INSTEAD = "run exactly this instead: "
_AGAIN = "run exactly the same command again"
_PROTOCOL = "2025-06-18"


class Decision(NamedTuple):
    """Whether a command may run, and what the agent is told otherwise."""

    allowed: bool
    reason: str

    @property
    def instead(self) -> str:
        """The command that the operator wants in the place of another, "" if there is none."""
        return self.reason.partition(_INSTEAD)[2]

    @property
    def is_open(self) -> bool:
        """Nobody has decided yet, or nobody could be asked: the same call finds the answer later."""
        return not self.allowed and _AGAIN in self.reason


def ask(*arguments: str) -> tuple[int, str]:
    """The exit code of `gemba-ask`, and the words that go with it: the reply, or why there is none."""
    result = _run("gemba-ask", *arguments)
    words = result.stderr if result.returncode == 1 else result.stdout
    return result.returncode, words.decode("utf-8", "replace").removesuffix("\n")


def recorded(asked: tuple[int, str]) -> str:
    """The event id of an ask that does not wait."""
    code, line = asked
    if code != 0:
        raise RuntimeError(line)
    return line.split()[0]


def report(*arguments: str) -> None:
    _run("gemba-state", *arguments)


def claim(item: str) -> bool:
    """Takes a work item with the MCP tool for that; False where somebody else was faster."""
    call = {"name": "claim_work", "arguments": {"item_id": item}}
    asked = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": _PROTOCOL, "capabilities": {}}},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **one}) for one in asked]
    said = _run("gemba-mcp", given="\n".join([*lines, ""]).encode()).stdout.splitlines()
    return not json.loads(said[-1])["result"]["isError"]


def may_run(session: Session, command: str) -> Decision:
    """Asks the operator about a command that changes something, and waits for what is decided."""
    call = session.words("PreToolUse", tool_name="Bash", tool_input={"command": command})
    answer = _hook("PreToolUse", call, "--approvals").get("hookSpecificOutput")
    if answer is None:  # nothing to ask about
        return Decision(allowed=True, reason="")
    reason = answer["permissionDecisionReason"].removeprefix("Gemba: ")
    return Decision(answer["permissionDecision"] == "allow", reason)


def may_end(session: Session, words: str) -> str:
    """Ends a turn with these words; "" if it may end so, else what has to be mended."""
    said = session.words("Stop", stop_hook_active=False, last_assistant_message=words)
    reason: str = _hook("Stop", said).get("reason", "")
    return reason


def _hook(event: str, words: dict[str, object], *flags: str) -> dict[str, Any]:
    result = _run("gemba-bridge", "hook", event, *flags, given=json.dumps(words).encode())
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode("utf-8", "replace").strip())
    return dict(json.loads(result.stdout)) if result.stdout.strip() else {}


def _run(*command: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=given, capture_output=True, check=False)
