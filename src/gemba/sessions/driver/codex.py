"""The stream of `codex exec --json`, as Codex 0.166 prints it. Pure; the driver reads it.

A command stands in it as one text with the shell around it, and what was used since the conversation began. A failure
comes twice: as an error, and as the end of the turn.
"""

import shlex
from typing import Any

from gemba.sessions.driver.heard import Conversation, Heard, Ran, Read, Said, Trouble, Used

_SHELLS = ("bash", "zsh", "sh", "dash", "ksh")
_SHELL_FLAGS = ("-c", "-lc")


def reader() -> Read:
    return heard


def heard(event: dict[str, Any]) -> list[Heard]:
    match event:
        case {"type": "thread.started", "thread_id": str(id)}:
            return [Conversation(id)]
        case {"type": "item.completed", "item": dict(item)}:
            return _done(item)
        case {"type": "turn.completed", "usage": {"input_tokens": int(taken), "output_tokens": int(made)}}:
            return [Used(taken, made, in_all=True)]
        case {"type": "turn.failed", "error": {"message": str(text)}} | {"type": "error", "message": str(text)}:
            return [Trouble(text)]
    return []


def _done(item: dict[str, Any]) -> list[Heard]:
    """Something that the agent has said or done, and that is over."""
    ok = item.get("status") == "completed"
    match item:
        case {"type": "agent_message", "text": str(text)}:
            return [Said(text)]
        case {"type": "command_execution", "command": str(words)}:
            output = item.get("aggregated_output")
            return [Ran("Bash", {"command": _line(words)}, output if isinstance(output, str) else "", ok)]
        case {"type": "mcp_tool_call", "server": str(server), "tool": str(tool)}:
            given = item.get("arguments")
            return [Ran(f"mcp__{server}__{tool}", given if isinstance(given, dict) else {}, _outcome(item), ok)]
        case {"type": "file_change", "changes": list(changes)}:
            return [Ran("apply_patch", {"changes": changes}, ok=ok)]
        case {"type": "web_search", "query": str(query)}:
            return [Ran("web_search", {"query": query})]
        case {"type": "error", "message": str(text)}:
            return [Trouble(text)]
    return []


def _line(command: str) -> str:
    """The line that a shell was given; the whole command where it is no shell's."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    match words:
        case [shell, flag, line] if shell.rpartition("/")[2] in _SHELLS and flag in _SHELL_FLAGS:
            return line
    return command


def _outcome(call: dict[str, Any]) -> str:
    match call:
        case {"error": {"message": str(text)}}:
            return text
        case {"result": {"content": list(parts)}}:
            return "\n".join(part["text"] for part in parts if isinstance(part, dict) and _is_text(part))
    return ""


def _is_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str)
