"""Consults on a running server: answered, timed out and recorded by themselves, also across a kill."""

import json
from typing import Any

from gemba.testing import retry_until
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import RunningServer

SCRIBE = '[agent.scribe]\ncommand = ["sleep", "60"]\nprompt = "stdin"\n'


def begun(server: RunningServer, raw_input: dict[str, Any], **more: Any) -> str:
    body = {"persona_id": "project-manager", "skill_id": "epic_order", "raw_input": raw_input, **more}
    answer = server.request("POST", "/api/consults", body)
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def ended(server: RunningServer, id: str) -> dict[str, Any]:
    def over() -> dict[str, Any] | None:
        found: dict[str, Any] = server.get(f"/api/consults/{id}")
        return None if found["status"] == "running" else found

    found = retry_until(over, timeout=60, every=0.2)
    assert found is not None
    return found


def record_of(server: RunningServer, found: dict[str, Any]) -> dict[str, Any]:
    path = server.home / "persona" / "consults" / found["started_at"][:10] / f"{found['id']}.json"
    retry_until(path.exists, timeout=60, every=0.2)
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def test_a_consult_that_was_acknowledged_is_answered_although_the_server_is_killed(
    sqlite_server: RunningServer,
) -> None:
    given = order_input(epic("e1"), epic("e2", depends_on_epics=["e1"]))
    ids = [begun(sqlite_server, given) for _ in range(3)]
    sqlite_server.kill()
    sqlite_server.start()

    for id in ids:
        found = ended(sqlite_server, id)
        assert (found["status"], found["line_errors"], found["order_errors"]) == ("completed", [], [])
        ranked = [line["epic_id"] for line in found["validated_lines"] if line["type"] == "recommendation"]
        assert ranked == ["e1", "e2"]
        assert record_of(sqlite_server, found) == found


def test_an_agent_that_says_nothing_is_stopped_when_its_time_is_over(sqlite_server: RunningServer) -> None:
    (sqlite_server.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    constraints = {"max_latency_seconds": 3}
    id = begun(sqlite_server, order_input(epic("e1"), constraints=constraints), agent_type="scribe")

    found = ended(sqlite_server, id)

    assert (found["status"], found["error"]) == ("timed_out", "no summary came within 3 seconds")
    session = retry_until(lambda: _over(sqlite_server, id), timeout=60, every=0.2)
    assert session is not None
    assert session["lifecycle"] in ("stopped", "failed")


def _over(server: RunningServer, id: str) -> dict[str, Any] | None:
    session: dict[str, Any] = server.get(f"/api/sessions/{id}")
    return None if session["lifecycle"] in ("starting", "running") else session
