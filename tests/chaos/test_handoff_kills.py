"""`kill -9` at every point between a COMPLETE and its acceptance: concluded once, by whoever lives, never before."""

from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.testing import retry_until, some
from tests.chaos.floor import PATIENCE, Mortal
from tests.fixtures.handed import claiming, strict, wish
from tests.fixtures.servers import RunningServer

# Where it dies, and the how manyth time it gets there: the dispatch, the envelope, its check, its acceptance.
DEATHS = [
    ("insert dispatches", 1),
    ("insert handoffs", 1),
    ("update handoffs", 1),
    ("update dispatches", 1),
    ("insert memories", 1),
    ("insert flows", 1),
    ("update flows", 1),
    ("delete flows", 1),
    ("world asking", 1),
    ("world asked", 1),
    *((point, passage) for point in ("step begins", "step done", "step recorded") for passage in (1, 2, 3)),
    *((point, 1) for point in ("engine insert operation_outputs", "insert audit", "audit committed", "anchor kept")),
]


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("point", "passage"),
    some(DEATHS, 3),
    ids=lambda part: str(part).replace(" ", "-"),
)
def test_a_complete_is_concluded_once_whenever_the_server_is_killed(
    server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    mortal = Mortal(server, tmp_path / "died-at")
    (server.workspace / "made.txt").write_text("made\n")

    def post(path: str, body: dict[str, Any]) -> Any:
        answer = mortal.request("POST", path, body, confirm=wire.new_event_id())
        assert answer.status == 200, answer
        return answer.json

    def story() -> tuple[dict[str, Any], dict[str, Any]]:
        dispatch = post("/api/dispatches", wish(gate=strict("files_produced", "rerun_verification")))
        document = claiming(dispatch, command="test -s made.txt", files_produced=["made.txt"])
        document["memory_suggestions"] = ["made.txt is made"]
        made = post("/api/handoffs", {"envelope": document, "dispatch_id": dispatch["id"]})

        def concluded() -> dict[str, Any] | None:
            before = mortal.request("GET", f"/api/dispatches/{dispatch['id']}").json
            found: dict[str, Any] = mortal.request("GET", f"/api/handoffs/{made['id']}").json
            assert before["completed_at"] is None or found["state"] == "accepted"
            return None if found["state"] == "checking" else found

        found = retry_until(concluded, timeout=PATIENCE)
        assert found is not None
        return dispatch, found

    dispatch, found = mortal.die_during(point, passage, story)
    assert mortal.died_at() == [point]

    assert (found["state"], [check["verdict"] for check in found["checks"]]) == ("accepted", ["ok", "ok"])
    after = server.get(f"/api/dispatches/{dispatch['id']}")
    assert (after["status"], after["turn"], after["accepted_id"]) == ("COMPLETE", 1, found["id"])
    assert server.get("/api/handoffs")["total"] == 1
    assert [one["id"] for one in server.get("/api/memories")["memories"]] == found["applied"]["memory"]
    kinds = [entry["kind"] for entry in server.get("/api/audit")["entries"]]
    assert kinds.count("handoff.accepted") == 1
    assert server.get("/api/audit/verdict")["ok"]
    code, errors = server.stop()
    assert (code, "a flow failed" in errors) == (0, False)
