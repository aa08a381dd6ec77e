"""What Gemini CLI 0.61 tells in the stream of `gemini --output-format=stream-json`.

A call of a tool and what came of it are two lines, so a reader keeps the calls that have not come back. How a shell
command ended is told only of those that printed nothing. No I/O; the driver reads it.
"""

import re
from typing import Any

from gemba.sessions.driver.heard import Conversation, Heard, Ran, Read, Said, Trouble, Used

_SHELL = "run_shell_command"
# All that is told of a command that printed nothing and did not end well.
_FAILED = re.compile(r"Command (?:exited with code|terminated by signal|failed): ")


def reader() -> Read:
    return _Reader()


class _Reader:
    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}  # by id: the tool and its input

    def __call__(self, event: dict[str, Any]) -> list[Heard]:
        match event:
            case {"type": "init", "session_id": str(id)}:
                return [Conversation(id)]
            case {"type": "message", "role": "assistant", "content": str(text)}:
                return [Said(text, goes_on=event.get("delta") is True)]
            case {"type": "tool_use", "tool_id": str(id), "tool_name": str(tool), "parameters": dict(given)}:
                self._calls[id] = tool, given
            case {"type": "tool_result", "tool_id": str(id)} if id in self._calls:
                return [_ran(*self._calls.pop(id), event)]
            case {"type": "error", "message": str(text)}:
                return [Trouble(text)]
            case {"type": "result"}:
                return [*_used(event.get("stats")), *_trouble(event.get("error"))]
        return []


def _ran(tool: str, given: dict[str, Any], result: dict[str, Any]) -> Ran:
    output, ok = result.get("output"), result.get("status") == "success"
    if tool == _SHELL:
        tool, given = "Bash", {"command": str(given.get("command", ""))}
        return Ran(tool, given, _text(output), _shell_went_well(output) if ok else False)
    return Ran(tool, given, _text(output), ok)


def _shell_went_well(output: object) -> bool | None:
    if output == "":
        return True
    return False if _FAILED.match(_text(output)) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _used(stats: object) -> list[Heard]:
    match stats:
        case {"input_tokens": int(taken), "output_tokens": int(made)}:
            return [Used(taken, made)]
    return []


def _trouble(error: object) -> list[Heard]:
    match error:
        case {"message": str(text)}:
            return [Trouble(text)]
    return []
