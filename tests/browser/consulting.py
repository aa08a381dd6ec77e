"""What the tests of consults on the page share: items, consults, and an agent whose lines the test gives itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from playwright.sync_api import Locator, Page

from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import stop_kept
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.reading import read_input
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer

PM = "project-manager"
# One that says nothing by itself, and one that ends at once.
AGENTS = """
[agent.scribe]
command = ["sleep", "300"]
prompt = "stdin"

[agent.broken]
command = ["false"]
prompt = "stdin"
"""


@contextmanager
def with_agents(server: RunningServer) -> Iterator[RunningServer]:
    """Whatever was started in it is gone in the end; the server goes first, which may be about to start one."""
    (server.workspace / ".gemba/agents.toml").write_text(AGENTS)
    yield server
    if server.is_running:
        server.stop()
    for folder in (server.home / "runs").glob("*"):
        stop_kept(RunFolder(folder.name, folder), 0)


def make_item(server: RunningServer, title: str, kind: str = "epic", blocked_by: str = "", **more: Any) -> str:
    body: dict[str, Any] = {"item": {"title": title, "kind": kind, **more}}
    if blocked_by:
        body["relations"] = [{"kind": "blocks", "source": blocked_by}]
    answer = server.request("POST", "/api/work-items", body)
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def begin(server: RunningServer, raw_input: dict[str, Any], skill: str = "epic_order", **more: Any) -> str:
    body = {"persona_id": PM, "skill_id": skill, "raw_input": raw_input, **more}
    answer = server.request("POST", "/api/consults", body)
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def emit(server: RunningServer, id: str, *lines: Any, skill: str = "epic_order") -> None:
    server.append("GembaSkillOutput", {"skill_id": skill, "lines": list(lines)}, id)


def lines_for(raw_input: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model would give that is right in everything."""
    found: list[dict[str, Any]] = msgspec.to_builtins(advise(read_input(raw_input, EpicOrderInput)))
    found[0]["model"] = "a-model"
    return found


def detail(server: RunningServer, id: str) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/api/consults/{id}")
    return found


def ended(server: RunningServer, id: str) -> dict[str, Any]:
    retry_until(lambda: detail(server, id)["status"] != "running", timeout=60)
    return detail(server, id)


def order_of(server: RunningServer, id: str) -> int | None:
    place: int | None = server.get(f"/api/work-items/{id}")["user_order"]
    return place


def line(page: Page | Locator, words: str) -> Locator:
    """The line of a consult that shows these words; there is to be one."""
    return page.locator("[data-line]").filter(has_text=words)


def ranked(page: Page | Locator, rank: int) -> Locator:
    """The recommendation of this rank."""
    return page.get_by_role("listitem", name=f"Rank {rank}", exact=True)
