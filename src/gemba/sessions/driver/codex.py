"""What Codex tells in the stream of `codex exec --json`."""

from typing import Any

from gemba.sessions.driver.heard import Conversation, Heard, Ran, Said, Trouble, Used


def heard(event: dict[str, Any]) -> list[Heard]:
    match event:
        case {"type": "thread.started", "thread_id": str(id)}:
            return [Conversation(id)]
        case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
            return [Said(text)]
        case {"type": "item.completed", "item": {"type": "command_execution", "command": str(line), **more}}:
            return [
                Ran("Bash", {"command": line}, str(more.get("aggregated_output") or ""), more.get("exit_code") == 0)
            ]
        case {"type": "turn.completed", "usage": {"input_tokens": int(taken), "output_tokens": int(made)}}:
            return [Used(taken, made)]
        case {"type": "turn.failed", "error": {"message": str(text)}} | {"type": "error", "message": str(text)}:
            return [Trouble(text)]
    return []
