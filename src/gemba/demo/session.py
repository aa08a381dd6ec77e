"""A demo agent's session log: what the bridge of its client would write there. Its asks go through `gemba-ask`."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from gemba import wire
from gemba.demo.story import Permission, Story, Turn

_MINUTE_NS = 60_000_000_000


class Session(msgspec.Struct, frozen=True):
    """Who writes, where, and from which worktree."""

    id: str
    story: Story
    home: Path
    workspace: Path
    cwd: Path

    def append(self, hook: str, payload: dict[str, object], minutes_ago: float = 0) -> str:
        """One frame, now or with an earlier time; its event id."""
        event_id = wire.new_event_id()
        line = wire.encode_frame(
            hook,
            payload,
            session_id=self.id,
            workspace=str(self.workspace),
            agent_type=self.story.name,
            event_id=event_id,
            ts=wire.timestamp(time.time_ns() - int(minutes_ago * _MINUTE_NS)),
        )
        wire.append_frame(str(self.home), self.id, line)
        return event_id

    def client(self, hook: str, minutes_ago: float = 0, **payload: object) -> str:
        """A frame as the bridge of an agent's client writes it: the client's own JSON."""
        return self.append(hook, self.words(hook, **payload), minutes_ago)

    def words(self, hook: str, **payload: object) -> dict[str, object]:
        """What the client tells a hook."""
        return {"session_id": self.id, "cwd": str(self.cwd), "hook_event_name": hook, **payload}

    def tool(self, hook: str, turn: Turn, minutes_ago: float = 0) -> str:
        """The client's word on the command of a turn: before it, after it, or that a person has to allow it."""
        call: dict[str, object] = {"command": turn.run}
        if isinstance(turn, Permission):
            call["description"] = turn.why
        return self.client(hook, minutes_ago, tool_name="Bash", tool_input=call)

    def command(self, hook: str, command: str) -> str:
        """The same of another command."""
        return self.client(hook, tool_name="Bash", tool_input={"command": command})
