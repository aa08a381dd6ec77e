"""The Messages API, which Claude Code speaks."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.dialects import Turn, new_id
from tests.clients.script import Say, Step, Use, parts

ADDRESS = "/v1/messages"

Block = dict[str, Any]


def turns(request: dict[str, Any]) -> list[Turn]:
    return [Turn(message["role"] == "assistant", _text(message)) for message in request["messages"]]


def answer(step: Step, request: dict[str, Any]) -> str:
    events = _events(step, request["model"])
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _text(message: Block) -> str:
    """All that is said in a message, and in the outcomes of tools in it."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or (_text(part) if "content" in part else "") for part in content)


def _events(step: Step, model: str) -> Iterator[dict[str, Any]]:
    """One message as a stream: it begins, holds its blocks one after another, and ends with the reason why."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": model, "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, part in enumerate(parts(step)):
        block, delta = _block(part)
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "end_turn" if isinstance(step, Say) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _block(part: Say | Use) -> tuple[Block, Block]:
    """A block as it begins, and all that is in it."""
    if isinstance(part, Say):
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": part.text}
    call = {"type": "tool_use", "id": new_id("toolu"), "name": part.tool, "input": {}}
    return call, {"type": "input_json_delta", "partial_json": json.dumps(part.input)}
