"""`kill -9` between a request for approval, its decision and its use: nothing is lost, and nothing is used twice."""

from pathlib import Path

import pytest

from gemba import wire
from gemba.testing import some
from tests.chaos.floor import Mortal
from tests.fixtures.servers import Answer, RunningServer

CALL = {"command": "rm -rf build", "cwd": "/srv/shop", "tool": "Bash", "requester": "dispatch-1", "session_id": "s"}
# Where it dies, and the how manyth time it gets there: the request is the first, the decision, the use.
DEATHS = [
    ("insert approvals", 1),
    ("update approvals", 1),
    ("update approvals", 2),
    *((point, passage) for point in ("insert audit", "audit committed", "anchor kept") for passage in (1, 2, 3)),
]


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("point", "passage"),
    some(DEATHS, 4),
    ids=lambda part: str(part).replace(" ", "-"),
)
def test_an_approval_survives_a_server_that_is_killed(
    server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    mortal = Mortal(server, tmp_path / "died-at")

    def post(path: str, body: dict[str, str]) -> Answer:
        return mortal.request("POST", path, body, confirm=wire.new_event_id())

    def story() -> tuple[str, list[int]]:
        made = post("/api/approvals", CALL)
        path = f"/api/approvals/{made.json['id']}"
        answers = [made, post(f"{path}/approve", {}), post(f"{path}/use", CALL)]
        return made.json["id"], [answer.status for answer in answers]

    id, statuses = mortal.die_during(point, passage, story)
    assert mortal.died_at() == [point]
    assert statuses == [200, 200, 200]

    assert server.get("/api/approvals")["total"] == 1
    found = server.get(f"/api/approvals/{id}")
    assert (found["state"], found["grant_state"]) == ("approved", "consumed")
    assert server.get(f"/api/escalations/{found['escalation_id']}")["state"] == "resolved"
    again = server.request("POST", f"/api/approvals/{id}/use", CALL)
    assert (again.status, again.json["code"]) == (409, "already_used")
    kinds = [entry["kind"] for entry in server.get("/api/audit")["entries"]]
    assert kinds == ["approval.requested", "approval.decided", "approval.used"]
    assert server.get("/api/audit/verdict")["ok"]
    assert server.stop()[0] == 0
