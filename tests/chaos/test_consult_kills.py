"""`kill -9` at every point at which a line is applied: its effect and its record are both there, once, or neither."""

import json
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.testing import retry_until, some
from tests.chaos.floor import PATIENCE, Mortal
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import Answer, RunningServer

DEATHS = [
    "update work_items",
    "audit committed",  # done, and nobody was told
    "update consult_applied",
    "insert consult_applied",
    "insert work_changes",
    "insert confirmations",
    "update confirmations",
    "insert audit",
]


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize("point", some(DEATHS, 3), ids=lambda point: point.replace(" ", "-"))
def test_a_line_is_applied_once_whenever_the_server_is_killed(
    server: RunningServer, tmp_path: Path, point: str
) -> None:
    mortal = Mortal(server, tmp_path / "died-at")
    made = server.request("POST", "/api/work-items", {"item": {"title": "Base", "kind": "epic"}}).json
    id = begun(server, order_input(epic(made["id"])))
    confirm = wire.new_event_id()

    def apply() -> Answer:
        return mortal.request("POST", f"/api/consults/{id}/apply/1", {}, confirm=confirm)

    answer = mortal.die_during(point, 1, apply)
    assert mortal.died_at() == [point]

    assert (answer.status, answer.json["applied_idx"], answer.json["outcome"]["executed"]) == (200, [1], True)
    again = apply()
    assert (again.body, again.headers["x-gemba-replayed"]) == (answer.body, "true")
    other = mortal.request("POST", f"/api/consults/{id}/apply/1", {}, confirm=wire.new_event_id())
    assert (other.status, other.json["code"]) == (409, "already_applied")
    item = server.get(f"/api/work-items/{made['id']}")
    assert (item["user_order"], item["version"]) == (1, made["version"] + 1)
    assert server.get(f"/api/work-items/{made['id']}/history")["total"] == 2
    kinds = [entry["kind"] for entry in server.get("/api/audit")["entries"]]
    assert kinds.count("consult.applied") == 1
    assert server.get("/api/audit/verdict")["ok"]
    found = server.get(f"/api/consults/{id}")
    record = server.home / "persona" / "consults" / found["started_at"][:10] / f"{id}.json"
    retry_until(lambda: json.loads(record.read_text()) == found, timeout=PATIENCE)


def begun(server: RunningServer, raw_input: dict[str, Any]) -> str:
    body = {"persona_id": "project-manager", "skill_id": "epic_order", "raw_input": raw_input}
    id: str = server.request("POST", "/api/consults", body).json["id"]
    retry_until(lambda: server.get(f"/api/consults/{id}")["status"] == "completed", timeout=PATIENCE)
    return id
