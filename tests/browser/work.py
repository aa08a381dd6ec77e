"""Work for a browser test: items made over the API, as another operator or an agent would."""

from typing import Any

from playwright.sync_api import Locator

from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer


def make(server: RunningServer, title: str, **item: Any) -> dict[str, Any]:
    answer = server.request("POST", "/api/work-items", {"item": {"title": title, **item}})
    assert answer.status == 201, answer
    made: dict[str, Any] = answer.json
    return made


def change(server: RunningServer, id: str, token: str | None = None, **fields: Any) -> dict[str, Any]:
    """As the workspace's operator, or as the one who has the token."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer = server.request("PATCH", f"/api/work-items/{id}", fields, **headers)
    assert answer.status == 200, answer
    changed: dict[str, Any] = answer.json
    return changed


def relate(server: RunningServer, source: str, kind: str, target: str) -> None:
    server.post(f"/api/work-items/{source}/relations", {"kind": kind, "target": target})


def fill(server: RunningServer, many: int) -> None:
    """So many items at once, unstarted, the first the most urgent."""
    for start in range(0, many, 2_000):
        issues = [
            {
                "id": f"bd-{number}",
                "title": f"Item {number} of a plan that has very many of them",
                "status": "open",
                "priority": number * 5 // many,
                "labels": ["area:board"] if number % 3 else [],
            }
            for number in range(start, min(many, start + 2_000))
        ]
        server.post("/api/work-items/import", {"name": "issues.jsonl", "issues": issues})


def lane(desk: Desk, state: str) -> Locator:
    return desk.page.locator(f".lane[data-state='{state}']")


def card(desk: Desk, id: str) -> Locator:
    return desk.page.locator(f".item-card[data-item-id='{id}']")
