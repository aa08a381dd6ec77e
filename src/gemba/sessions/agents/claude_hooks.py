"""The hooks that Claude Code runs for Gemba: at which events, which command, how many seconds it may take.

A gate that fails in any way ends in 2, which blocks. Every command names the programs of this very installation by
their absolute path. Called by `gemba install-bridge` and, for sessions that Gemba starts, by `claude_files`.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from gemba import wire
from gemba.errors import Unusable

# The seconds that the client gives a hook. Ours has to end before, or the client would go on without its answer.
QUICK_TIMEOUT = 10
GATE_TIMEOUT = 30
WAIT_TIMEOUT = 600
MARGIN = 10
GATES = ("SubagentStop", "Stop")
WAITS = ("PreToolUse", "PermissionRequest")
EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest"),
    *("PostToolUse", "PostToolUseFailure", "Notification", "SubagentStop", "Stop", "SessionEnd"),
)


class Hook(NamedTuple):
    """What the client runs at an event, and how many seconds it may take."""

    command: str
    timeout: int


def wanted_hooks(program: str, *, require: bool = False, approvals: bool = False) -> dict[str, Hook]:
    """By event. `program` is quoted for the shell."""
    hooks = {}
    for event in EVENTS:
        words, timeout = f"{program} hook {event}", QUICK_TIMEOUT
        if event in GATES:
            words, timeout = words + (" --require" if require else ""), GATE_TIMEOUT
        elif approvals and event in WAITS:
            words, timeout = f"{words} --approvals", WAIT_TIMEOUT
        gate = f" --deadline {timeout - MARGIN} || exit 2" if timeout > QUICK_TIMEOUT else ""
        hooks[event] = Hook(words + gate, timeout)
    return hooks


def is_ours(hook: object) -> bool:
    """Whether this is a hook that runs `gemba-bridge hook`, from wherever and with whatever flags."""
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str) or "gemba" not in command:
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if words[1:4] == ["-m", "gemba.cli.bridge", "hook"]:
        return True
    return words[1:2] == ["hook"] and words[0].rpartition("/")[2] == "gemba-bridge"


def bridge_program() -> str:
    """How a shell runs the bridge, wherever it stands."""
    return shlex.join(installed_program("gemba-bridge", "gemba.cli.bridge"))


def installed_program(name: str, module: str) -> list[str]:
    """The words that run a program of this installation: the one beside this interpreter, before any on PATH."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    words = [str(Path(found).absolute())] if found else [sys.executable, "-m", module]
    if any(wire.valid_unicode(word) != word for word in words):
        raise Unusable(f"{words[0]!r}: a path that is not Unicode cannot stand in settings", code="program_unusable")
    return words
