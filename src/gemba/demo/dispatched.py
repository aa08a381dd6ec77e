"""A demo agent's place in its dispatch: which turn it is in, and what an earlier run of the agent left open there."""

from __future__ import annotations

import json
from pathlib import Path

from gemba import wire
from gemba.demo.server import Server


class Dispatched:
    """The dispatch that an agent works for. Its turns are started by the runtime, or by a person's answer."""

    def __init__(self, id: str, home: Path, server: Server) -> None:
        self._id = id
        self._server = server
        # As the client's hook reads it: the server lays it down before any agent starts.
        envelope = json.loads(Path(wire.envelope_path(str(home), id)).read_bytes())
        self.agent_id: str = envelope["metadata"]["agent_id"]
        self._turn: int = server.dispatch(id)["turn"]

    def begin_turn(self) -> None:
        """Go on with the turn that an answer has started, else start one."""
        now: int = self._server.dispatch(self._id)["turn"]
        self._turn = now if now > self._turn else self._server.start_turn(self._id, "the next piece of the work")

    def open_requests(self) -> set[str]:
        return self._server.open_requests(self._id)

    def open_choice(self) -> str | None:
        """The escalation by which an earlier run asked a person to choose."""
        return self.asked_by_handoff() if self._server.dispatch(self._id)["status"] == "NEEDS_INPUT" else None

    def asked_by_handoff(self) -> str | None:
        """Wait until this turn's handoff is concluded: the escalation that came of it, if one did."""
        asked: str | None = self._server.wait_for_handoff(self._id, self._turn).get("escalation_id")
        return asked
