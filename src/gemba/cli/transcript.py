"""The last words of an agent, from the transcript that its client keeps: for clients whose hooks do not say them.

Never raises, reads the end of the file only, and takes nothing from before the last prompt: what an agent said in an
earlier turn is not how this one ended. Called by the gate.
"""

import os

from gemba.cli.hook_input import parse_object

_TAIL = 8 * 1024 * 1024


def last_words(path: str, *, sidechain: bool = False) -> str:
    """The text of the last message, "" when there is none to find. `sidechain`: that of a subagent, in its parent's."""
    words: list[str] = []
    message_id: object = None
    for line in reversed(_tail(path)):
        entry = parse_object(line.decode("utf-8", "replace"))
        if entry is None or (sidechain and entry.get("isSidechain") is not True):
            continue
        message = entry.get("message")
        if not isinstance(message, dict):
            continue
        if entry.get("type") == "user" and not _has_tool_result(message):
            break
        if entry.get("type") != "assistant":
            continue
        # A client may write each part of a message on a line of its own, all with the message's id.
        if words and message.get("id") != message_id:
            break
        if text := _text_of(message):
            words.append(text)
            message_id = message.get("id")
            if message_id is None:
                break
    return "\n".join(reversed(words))


def _tail(path: str) -> list[bytes]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            size = os.fstat(fd).st_size
            data = os.pread(fd, _TAIL, max(0, size - _TAIL))
        finally:
            os.close(fd)
    except (OSError, ValueError):  # a path may hold what no path can
        return []
    lines = data.split(b"\n")
    return lines if size <= _TAIL else lines[1:]


def _has_tool_result(message: dict[str, object]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def _text_of(message: dict[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
