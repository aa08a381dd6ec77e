"""`kill -9` at every point of counting a turn: it counts once, and each threshold is told once."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from gemba import wire
from gemba.testing import retry_until, some
from tests.chaos.floor import PATIENCE, Mortal
from tests.fixtures.servers import RunningServer

# Where it dies, and the how manyth time it gets there.
DEATHS = [
    *((point, passage) for point in ("insert usage_turns", "insert usage_sums") for passage in (1, 3)),
    ("insert sprint_days", 2),
    *(("update sprints", passage) for passage in (2, 4)),
    ("insert escalations", 1),
    ("insert escalations", 2),
    ("frames committed", 2),
    ("commit begins", 4),
    ("commit done", 4),
]
TURNS = 12


@pytest.mark.chaos
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("point", "passage"), some(DEATHS, 3), ids=lambda part: str(part).replace(" ", "-"))
def test_a_turn_counts_once_whenever_the_server_is_killed(
    server: RunningServer, tmp_path: Path, point: str, passage: int
) -> None:
    mortal = Mortal(server, tmp_path / "died-at")

    def has_used(sprint: str, tokens: int) -> bool:
        return bool(mortal.request("GET", f"/api/sprints/{sprint}").json["tokens_used"] >= tokens)

    def story() -> str:
        body = {"title": "First", "token_budget": 1_000}
        sprint: str = mortal.request("POST", "/api/sprints", body, confirm=wire.new_event_id()).json["id"]
        begun = mortal.request("POST", f"/api/sprints/{sprint}/start", {}, confirm=wire.new_event_id())
        assert begun.status == 200, begun
        for number in range(TURNS):
            server.append("GembaUsage", {"input_tokens": 100}, f"s-{number % 3}")
            retry_until(partial(has_used, sprint, number * 100), timeout=PATIENCE)
        retry_until(partial(has_used, sprint, TURNS * 100), timeout=PATIENCE)
        return sprint

    sprint = mortal.die_during(point, passage, story)
    assert mortal.died_at() == [point]

    found = server.get(f"/api/sprints/{sprint}")
    assert (found["tokens_used"], found["level"]) == (TURNS * 100, "stop")
    assert {row["key"]: row["tokens"] for row in server.get("/api/usage?by=session")["rows"]} == {
        f"s-{number}": TURNS * 100 // 3 for number in range(3)
    }
    assert sum(row["turns"] for row in server.get("/api/usage?by=day")["rows"]) == TURNS
    assert sum(day["tokens"] for day in found["burn_down"]["days"]) == TURNS * 100
    opened = Counter(one["kind"] for one in server.get("/api/escalations")["escalations"])
    assert opened == {"budget_warn": 1, "budget_stop": 1}
