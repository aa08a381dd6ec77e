"""What the transcript that an agent's client keeps tells and its hooks do not: the agent's last words, and what its
messages took.

Never raises, and reads the end of the file only. Last words are not taken from before the last prompt: what an agent
said in an earlier turn is not how this one ended. Called by the gate and the bridge.
"""

import os

from gemba.cli.hook_input import parse_object

_TAIL = 8 * 1024 * 1024
_TAKEN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


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


def usage_since(path: str, told: str | None) -> dict[str, object] | None:
    """What the messages took that came after the one that was `told` last; without one, since the last prompt. With the
    last message's id, None when there is none."""
    taken: dict[str, tuple[int, int]] = {}
    for line in reversed(_tail(path)):
        entry = parse_object(line.decode("utf-8", "replace"))
        message = (entry or {}).get("message")
        if entry is None or not isinstance(message, dict):
            continue
        id, usage = message.get("id"), message.get("usage")
        if isinstance(id, str) and id == told:
            break
        if told is None and _is_prompt(entry, message):
            break
        # Of a message that stands on several lines the last one has all that it took.
        if entry.get("type") == "assistant" and isinstance(id, str) and isinstance(usage, dict) and id not in taken:
            taken[id] = sum(_count(usage, name) for name in _TAKEN), _count(usage, "output_tokens")
    if not taken:
        return None
    sums = [sum(each) for each in zip(*taken.values(), strict=True)]
    return {"input_tokens": sums[0], "output_tokens": sums[1], "last_message": next(iter(taken))}


def last_told(log: str, transcript: str) -> str | None:
    """The last message of a transcript whose use a session's log tells of."""
    for line in reversed(_tail(log)):
        if b'"GembaUsage"' in line:
            payload = (parse_object(line.decode("utf-8", "replace")) or {}).get("payload")
            if isinstance(payload, dict) and payload.get("transcript") == transcript:
                told = payload.get("last_message")
                return told if isinstance(told, str) else None
    return None


def _is_prompt(entry: dict[str, object], message: dict[str, object]) -> bool:
    return entry.get("type") == "user" and entry.get("isSidechain") is not True and not _has_tool_result(message)


def _count(usage: dict[str, object], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


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
