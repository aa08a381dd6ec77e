"""The chat completions of OpenAI, which most providers have, and which OpenCode speaks to them."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.dialects import Turn, new_id
from tests.clients.script import Say, Step, parts

ADDRESS = "/chat/completions"


def turns(request: dict[str, Any]) -> list[Turn]:
    said = [message for message in request["messages"] if message["role"] != "system"]
    return [Turn(message["role"] == "assistant", _text(message.get("content"))) for message in said]


def answer(step: Step, request: dict[str, Any]) -> str:
    whole = {"id": new_id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    events = "".join(f"data: {json.dumps({**whole, **event})}\n\n" for event in _events(step))
    return f"{events}data: [DONE]\n\n"


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())


def _events(step: Step) -> Iterator[dict[str, Any]]:
    yield {"choices": [{"index": 0, "delta": {"role": "assistant", **_said(step)}, "finish_reason": None}]}
    reason = "stop" if isinstance(step, Say) else "tool_calls"
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def _said(step: Step) -> dict[str, Any]:
    if isinstance(step, Say):
        return {"content": step.text}
    calls = []
    for index, part in enumerate(parts(step)):
        assert not isinstance(part, Say)
        function = {"name": part.tool, "arguments": json.dumps(part.input)}
        calls.append({"index": index, "id": new_id("call"), "type": "function", "function": function})
    return {"tool_calls": calls}
