"""`kill -9` at every point between a choice and the review of what was started: claimed, given and done once."""

from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.testing import retry_until, some
from tests.chaos.floor import PATIENCE, Mortal
from tests.fixtures.floor import git_init
from tests.fixtures.servers import RunningServer

# Where it dies, and the how manyth time it gets there: the claim, the gift, the session, the end.
DEATHS = [
    ("insert auto_starts", 1),
    ("update auto_starts", 1),
    ("insert dispatches", 1),
    ("insert runs", 1),
    ("update auto_starts", 2),
    ("update work_items", 1),
    ("update work_items", 2),
    ("update work_items", 3),
    ("update work_items", 4),
    ("update runs", 1),
    ("update runs", 2),
    ("insert auto_switches", 1),
    ("insert handoffs", 1),
    *((point, passage) for point in ("insert audit", "audit committed", "anchor kept") for passage in (2, 3, 4)),
]


@pytest.mark.chaos
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("point", "passage"), some(DEATHS, 3), ids=lambda part: str(part).replace(" ", "-"))
def test_what_is_chosen_is_started_once_whenever_the_server_is_killed(
    server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    git_init(server.workspace)
    mortal = Mortal(server, tmp_path / "died-at")

    def post(path: str, body: dict[str, Any]) -> Any:
        answer = mortal.request("POST", path, body, confirm=wire.new_event_id())
        assert answer.status in (200, 201), answer
        return answer.json

    def story() -> str:
        item = post("/api/work-items", {"item": {"title": "Make it", "description": "run: echo made >> made.txt"}})
        post("/api/auto/switch", {"on": True, "agent_type": "builtin"})
        post("/api/auto/switch", {"on": True})

        def reviewed() -> bool:
            starts = mortal.request("GET", "/api/auto/starts").json["starts"]
            assert len(starts) <= 1
            state = mortal.request("GET", f"/api/work-items/{item['id']}").json["state"]
            return bool(state == "review" and starts[0]["state"] == "done")

        retry_until(reviewed, timeout=PATIENCE)
        id: str = item["id"]
        return id

    item = mortal.die_during(point, passage, story)
    assert mortal.died_at() == [point]

    (start,) = server.get("/api/auto/starts")["starts"]
    assert (start["item_id"], start["state"], start["trouble"]) == (item, "done", None)
    assert [one["id"] for one in server.get("/api/sessions")["sessions"]] == [start["session_id"]]
    assert [one["id"] for one in server.get("/api/dispatches")["dispatches"]] == [start["dispatch_id"]]
    made = server.workspace / ".gemba" / "worktrees" / start["session_id"] / "made.txt"
    assert made.read_text() == "made\n"
    kinds = [entry["kind"] for entry in server.get("/api/audit?limit=500")["entries"]]
    assert [kinds.count(f"auto.{what}") for what in ("claimed", "started", "ended", "refused")] == [1, 1, 1, 0]
    assert server.get("/api/audit/verdict")["ok"]
    code, errors = server.stop()
    assert (code, "Traceback" in errors) == (0, False), errors
