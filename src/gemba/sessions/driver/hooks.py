"""The hooks of a client that has none: the driver calls the bridge where another client would.

Like a client, it is told words for its agent, and whether a turn may end. Unlike one, it fails closed: a gate that
crashes, or says nothing that can be read, has not let the turn end. Called by the driver alone.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SECONDS = 600  # that a gate may take: it may have to run what the agent says that it ran


class Bridge:
    """`program`: the words that run `gemba-bridge`."""

    def __init__(self, program: Sequence[str]) -> None:
        self._program = program

    def tell(self, event: str, **payload: object) -> str:
        """Tell of an event; the words that the bridge has for the agent."""
        answer, _ = self._call(event, payload)
        special = answer.get("hookSpecificOutput")
        words = special.get("additionalContext") if isinstance(special, dict) else None
        return words if isinstance(words, str) else ""

    def end_turn(self, last_words: str) -> tuple[str | None, str]:
        """Why the turn has to go on, as the agent is told, None when it may end; and what a person is told of it."""
        answer, fault = self._call("Stop", {"last_assistant_message": last_words}, "--deadline", str(_SECONDS))
        said = str(answer.get("systemMessage") or "")
        if fault is None and answer.get("decision") == "block":
            fault = str(answer.get("reason") or "The turn may not end yet.")
        return fault, said

    def _call(self, event: str, payload: dict[str, object], *flags: str) -> tuple[dict[str, Any], str | None]:
        """What the bridge answered, and why that is not to be relied on."""
        who = {"session_id": os.environ.get("GEMBA_SESSION_ID"), "cwd": str(Path.cwd()), "hook_event_name": event}
        told = json.dumps({**who, **payload}).encode()
        done = subprocess.run([*self._program, "hook", event, *flags], input=told, capture_output=True, check=False)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            return {}, said or f"The gate failed with exit code {done.returncode}."
        try:
            answer = json.loads(done.stdout or b"{}")
        except ValueError:
            answer = None
        return (answer, None) if isinstance(answer, dict) else ({}, "The gate said nothing that can be read.")
