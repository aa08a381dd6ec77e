"""The API of Gemini's models, which Gemini CLI speaks."""

import json
from typing import Any

from tests.clients.dialects import Turn
from tests.clients.script import Say, Step, Use, parts

ADDRESS = ":streamGenerateContent"


def turns(request: dict[str, Any]) -> list[Turn]:
    return [
        Turn(content["role"] == "model", "\n".join(map(_text, content["parts"]))) for content in request["contents"]
    ]


def answer(step: Step, request: dict[str, Any]) -> str:
    content = {"role": "model", "parts": [_part(part) for part in parts(step)]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    told = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    return f"data: {json.dumps(told)}\n\n"


def _text(part: dict[str, Any]) -> str:
    """What is said, or what came of a call."""
    response = part.get("functionResponse", {}).get("response", {})
    return str(part.get("text") or response.get("output") or response.get("error") or "")


def _part(part: Say | Use) -> dict[str, Any]:
    return {"text": part.text} if isinstance(part, Say) else {"functionCall": {"name": part.tool, "args": part.input}}
