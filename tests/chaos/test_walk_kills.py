"""`kill -9` in the middle of a walk: it stands at the same item with the same transcript, and what was decided reached
its agent once."""

from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.testing import retry_until, some
from tests.chaos.floor import Mortal
from tests.fixtures.past import rows
from tests.fixtures.servers import Answer, RunningServer

# Where it dies, and the how manyth time it gets there: the walk begins, three decisions, a rest, the end.
DEATHS = [
    ("insert walks", 1),
    ("insert walk_items", 1),
    *(("insert walk_transcript", passage) for passage in (1, 2, 5)),
    *(("update walk_items", passage) for passage in (1, 2, 5)),
    *(("update walks", passage) for passage in (1, 3, 9)),
    *(("update escalations", passage) for passage in (1, 2)),
    *(("insert audit", passage) for passage in (1, 2, 4)),
    *(("commit begins", passage) for passage in (3, 5)),
    *(("audit committed", passage) for passage in (1, 3)),
]


# Of taking a decision back alone.
DEATHS_WHILE_TAKING_BACK = [
    *((f"update {table}", 1) for table in ("escalations", "walk_items", "walks")),
    ("insert walk_transcript", 1),
    *(("insert audit", 1), ("audit committed", 1)),
]


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("point", "passage"), some(DEATHS, 4), ids=lambda part: str(part).replace(" ", "-"))
def test_a_walk_goes_on_where_it_stood(server: RunningServer, tmp_path: Path, point: str, passage: int) -> None:
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced", "options": ["left", "right"]}
    asked = [server.append("GembaAsk", {**payload, "text": f"Which way at {n}?"}, f"session-{n}") for n in range(3)]
    retry_until(lambda: rows(server, "select count(*) from escalations") == [(3,)], timeout=60)
    mortal = Mortal(server, tmp_path / "died-at")

    def post(path: str, body: dict[str, str]) -> Answer:
        return mortal.request("POST", path, body, confirm=wire.new_event_id())

    def read(path: str) -> dict[str, Any]:
        found: dict[str, Any] = mortal.request("GET", path).json
        return found

    def story() -> str:
        walk = post("/api/walks", {"label": "In a storm"}).json
        path = f"/api/walks/{walk['id']}"
        for _ in range(2):
            active = read(path)["active_item"]
            decided = post(f"{path}/decide/{active}", {"kind": "ratify"})
            assert decided.status == 200, decided
        before = read(path)
        post(f"{path}/pause", {})
        after = post(f"{path}/resume", {}).json
        assert (after["active_item"], after["transcript"]) == (before["active_item"], before["transcript"])
        post(f"{path}/decide/{after['active_item']}", {"kind": "reject", "rationale": "neither"})
        ended = post(f"{path}/end", {}).json
        assert ended["totals"]["decisions"] == {"ratify": 2, "reject": 1}
        return str(walk["id"])

    id = mortal.die_during(point, passage, story)

    assert mortal.died_at() == [point]
    told = rows(server, "select ref, name from events where name in ('escalation.resolved', 'escalation.dismissed')")
    assert sorted(told) == sorted(
        [(asked[0], "escalation.resolved"), (asked[1], "escalation.resolved"), (asked[2], "escalation.dismissed")]
    )
    assert rows(server, "select count(*) from escalations where walk_id is not null") == [(3,)]
    kinds = [entry["kind"] for entry in server.get("/api/audit")["entries"]]
    assert kinds == ["walk.started", *["walk.decided"] * 3, "walk.ended"]
    assert server.get("/api/audit/verdict")["ok"]
    folder = server.workspace / ".gemba/walks"
    (file,) = retry_until(lambda: list(folder.glob("*.md")), timeout=60)
    assert id in file.read_text()
    assert server.stop()[0] == 0


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("point", "passage"), some(DEATHS_WHILE_TAKING_BACK, 2), ids=lambda part: str(part).replace(" ", "-")
)
def test_a_decision_is_taken_back_once(server: RunningServer, tmp_path: Path, point: str, passage: int) -> None:
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced", "options": ["left", "right"]}
    asked = server.append("GembaAsk", {**payload, "text": "Which way?"}, "session-1")
    retry_until(lambda: rows(server, "select count(*) from escalations") == [(1,)], timeout=60)
    walk = server.request("POST", "/api/walks", {}).json
    path, item = f"/api/walks/{walk['id']}", walk["active_item"]
    server.post(f"{path}/decide/{item}", {"kind": "ratify", "hold": 60})
    mortal = Mortal(server, tmp_path / "died-at")

    def story() -> dict[str, Any]:
        back = mortal.request("POST", f"{path}/take-back/{item}", {}, confirm=wire.new_event_id())
        assert back.status == 200, back
        found: dict[str, Any] = back.json
        return found

    back = mortal.die_during(point, passage, story)

    assert mortal.died_at() == [point]
    assert (back["active_item"], back["agenda"][0]["decision"]) == (item, None)
    assert rows(server, "select state, walk_id from escalations") == [("open", None)]
    assert rows(server, "select ref from events where name = 'escalation.reopened'") == [(asked,)]
    said = [line["text"] for line in server.get(path)["transcript"]]
    assert [text for text in said if text.startswith("Taken back")] == ["Taken back: Ratify: left"]
    assert [entry["kind"] for entry in server.get("/api/audit")["entries"]] == [
        *("walk.started", "walk.decided", "walk.taken_back")
    ]
    assert server.get("/api/audit/verdict")["ok"]
    assert server.stop()[0] == 0
