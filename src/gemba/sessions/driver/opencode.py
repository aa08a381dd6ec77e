"""What OpenCode 1.18 tells in the stream of `opencode run --format json`. Pure; the driver reads it.

What was used is told after each step of a turn. A tool that was not permitted is one that has failed.
"""

from typing import Any

from gemba.sessions.driver.heard import Conversation, Heard, Ran, Read, Said, Trouble, Used


def reader() -> Read:
    return heard


def heard(event: dict[str, Any]) -> list[Heard]:
    match event:
        case {"type": "step_start", "sessionID": str(id)}:
            return [Conversation(id)]
        case {"type": "text", "part": {"text": str(text)}}:
            return [Said(text)]
        case {"type": "tool_use", "part": {"tool": str(tool), "state": dict(state)}}:
            return [_ran(tool, state)]
        case {"type": "step_finish", "part": {"tokens": dict(tokens), **part}}:
            return [_used(tokens, part.get("cost"))]
        case {"type": "error", "error": {"data": {"message": str(text)}}} | {
            "type": "error",
            "error": {"name": str(text)},
        }:
            return [Trouble(text)]
    return []


def _ran(tool: str, state: dict[str, Any]) -> Ran:
    ok, given, output = state.get("status") == "completed", _object(state.get("input")), state.get("output")
    if not ok:
        output = state.get("error")
    if tool == "bash":
        ok = ok and _object(state.get("metadata")).get("exit") == 0
        tool, given = "Bash", {"command": str(given.get("command", ""))}
    return Ran(tool, given, output if isinstance(output, str) else "", ok)


def _used(tokens: dict[str, Any], cost: object) -> Used:
    """Neither what came from a cache nor what was thought is part of the two numbers that it tells first."""
    cached = _object(tokens.get("cache"))
    taken = (tokens.get("input"), cached.get("read"), cached.get("write"))
    made = (tokens.get("output"), tokens.get("reasoning"))
    # What it has no price for costs nothing, in its words.
    price = float(cost) if isinstance(cost, int | float) and cost > 0 else None
    return Used(sum(map(_number, taken)), sum(map(_number, made)), price)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
