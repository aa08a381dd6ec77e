"""Team runs for a browser test: plans of command tasks, which the built-in worker carries out without a model."""

from base64 import b64encode
from typing import Any

from playwright.sync_api import Locator

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

ROLES = {"RESEARCH": "researcher", "IMPL": "developer", "TEST": "tester"}
REPORT = (
    "# Report of {id}\n\n## Findings\n\nI looked at README.md and found that it has one heading. Do {id} was done"
    " as asked, with evidence from the file itself.\n\n- the first thing\n- the second\n\n"
    "## Next\n\nNothing is open.\n{more}"
)
# Every check of consistency fails, nothing is changed, and what was asked for is not there.
_POOR = "# Poor\n\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\nTODO: see ZZZ-999 and TEST-777, <placeholder>\n"


def _written(id: str, text: str) -> str:
    """A program is one line."""
    coded = b64encode(text.encode()).decode()
    return f"mkdir -p .gemba/artifacts; echo {coded} | base64 -d > .gemba/artifacts/{id}-report.md"


def task(id: str, *blocked_by: str, run: str | None = None, goal: str | None = None, more: str = "") -> dict[str, Any]:
    """One that writes a report, or runs what is given."""
    command = run or _written(id, REPORT.format(id=id, more=more))
    options = {"command": {"run": command, "artifact": "report.md"}, "output": "artifact"}
    owner = ROLES[id.rpartition("-")[0]]
    return {"id": id, "owner": owner, "goal": goal or f"Do {id}", "blocked_by": list(blocked_by), "options": options}


def poor_task(id: str, *blocked_by: str) -> dict[str, Any]:
    """One whose gate gives it up after three tries."""
    made = task(id, *blocked_by, run=_written(id, _POOR), goal="Measure the latency of the search under load")
    wanted = {
        "output": "mixed",
        "acceptance": ["p99 latency under 20 milliseconds is shown"],
        "targets": ["src/search.py"],
    }
    return {**made, "options": {**made["options"], **wanted}}


def start(server: RunningServer, *tasks: dict[str, Any], text: str = "Look into the search", **more: Any) -> str:
    """The id of a run of these tasks."""
    prefixes = {one["id"].rpartition("-")[0]: one["owner"] for one in tasks}
    roles = [{"name": owner, "prefix": prefix} for prefix, owner in prefixes.items()]
    body = {"text": text, "agent": "builtin", "plan": {"roles": roles, "tasks": list(tasks)}, **more}
    answer = server.request("POST", "/api/teams", body)
    assert answer.status == 201, answer
    return str(answer.json["id"])


def is_in_state(server: RunningServer, id: str, *states: str) -> None:
    """Waits until it is."""
    retry_until(lambda: server.get(f"/api/teams/{id}")["state"] in states, timeout=60)


def box(desk: Desk, id: str) -> Locator:
    """A task in the picture."""
    return desk.page.locator(f".team-box[data-task='{id}']")


def cell(desk: Desk, name: str) -> Locator:
    """One of the four questions."""
    return desk.page.get_by_role("region", name="At a glance").get_by_role("region", name=name)


def head(desk: Desk) -> Locator:
    return desk.page.locator(".team-head")
