"""The Responses API of OpenAI, which Codex speaks."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.dialects import Turn, new_id
from tests.clients.script import Say, Step, Use, parts

ADDRESS = "/responses"

Item = dict[str, Any]


def turns(request: dict[str, Any]) -> list[Turn]:
    return [Turn(_is_by_model(item), _text(item)) for item in request["input"] if item.get("role") != "developer"]


def answer(step: Step, request: dict[str, Any]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(step))


def _is_by_model(item: Item) -> bool:
    return item.get("role") == "assistant" or item["type"].endswith("_call")


def _text(item: Item) -> str:
    """All that is said in a message, or came of a call."""
    said = item.get("content") or item.get("output") or ""
    return said if isinstance(said, str) else "\n".join(part.get("text", "") for part in said)


def _events(step: Step) -> Iterator[dict[str, Any]]:
    """One response as a stream: it begins, holds its items one after another, and ends with what it cost."""
    response = {"id": new_id("resp")}
    yield {"type": "response.created", "response": response}
    for part in parts(step):
        yield {"type": "response.output_item.done", "item": _item(part)}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


def _item(part: Say | Use) -> Item:
    if isinstance(part, Say):
        content = [{"type": "output_text", "text": part.text}]
        return {"type": "message", "id": new_id("msg"), "role": "assistant", "content": content}
    call = {"type": "function_call", "id": new_id("fc"), "call_id": new_id("call")}
    return {**call, **_name(part.tool), "arguments": json.dumps(part.input)}


def _name(tool: str) -> Item:
    """The tools of an MCP server are a group, whose name comes apart."""
    server, _, name = tool.rpartition("__")
    return {"namespace": server, "name": name} if server else {"name": tool}
