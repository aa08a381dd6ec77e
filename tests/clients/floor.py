"""Sessions that Gemba starts with real clients: a server on the island, and its agents' surroundings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemba.testing import retry_until
from tests.clients.client import PATIENCE
from tests.clients.island import Island
from tests.fixtures.hooks import frames
from tests.fixtures.servers import RunningServer


class Floor:
    """A server on the island, so that the clients it starts are there too, and the sessions of its workspace."""

    def __init__(self, server: RunningServer, island: Island) -> None:
        self.server = server
        self._island = island

    def get(self, path: str) -> Any:
        return self._island.do(lambda: self.server.get(path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self._island.do(lambda: self.server.request("POST", path, body))
        assert answer.status in (200, 201), answer
        return answer.json

    def happened(self, name: str, until: str) -> list[dict[str, Any]]:
        """What every event of a name tells, from the first on until one of another name."""
        stream = self._island.do(lambda: self.server.events(after=0))
        found = []
        while (event := stream.next())["event"] != until:
            found += [event["data"]["payload"]] if event["event"] == name else []
        return found

    def start(self, agent: str, task: str) -> str:
        done = self.server.gemba("session", "start", "--agent", agent, "--role", "manager", "--json", task)
        assert done.returncode == 0, done
        return str(json.loads(done.stdout)["id"])

    def until(self, id: str, lifecycle: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.get(f"/api/sessions/{id}")
            assert found["lifecycle"] in ("starting", "running", lifecycle), found
            return dict(found) if found["lifecycle"] == lifecycle else None

        return retry_until(look, timeout=PATIENCE) or {}

    def questions(self, id: str, count: int) -> list[dict[str, Any]]:
        """What the session asked, the eldest first, once there is so much of it."""

        def look() -> list[dict[str, Any]] | None:
            session = self.get(f"/api/sessions/{id}")
            assert session["lifecycle"] != "failed", session
            found = [each for each in self.get("/api/escalations")["escalations"] if each["session_id"] == id]
            return sorted(found, key=lambda each: str(each["id"])) if len(found) >= count else None

        return retry_until(look, timeout=PATIENCE) or []

    def stop_all(self) -> None:
        for session in self.get("/api/sessions")["sessions"]:
            if session["lifecycle"] in ("starting", "running"):
                self.post(f"/api/sessions/{session['id']}/stop", {})
                self.until(session["id"], "stopped")


OpenFloor = Callable[[dict[str, dict[str, str]]], Floor]
"""Starts the server, with variables for types of agents; the fixture `open_floor`."""


def write_agents(workspace: Path, environments: dict[str, dict[str, str]]) -> None:
    """Let types of agents have these variables; those of Gemba itself come from where the session is started."""
    tables = []
    for agent, variables in environments.items():
        given = {name: value for name, value in variables.items() if not name.startswith("GEMBA_")}
        lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in given.items()]
        tables.append("\n".join([f"[agent.{agent}.environment]", *lines, ""]))
    (workspace / ".gemba" / "agents.toml").write_text("\n".join(tables))


def hooks_of(home: Path, id: str) -> list[str]:
    """All but what turns took: how often that is told is the client's own business."""
    return [frame.hook for frame in frames(home, id) if frame.hook != "GembaUsage"]
