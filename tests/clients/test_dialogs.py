"""Dialogs of the real client that no hook of ours waits for: what is decided on their cards is given with keys."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import BIN, PATIENCE, environment_of, path_with
from tests.clients.floor import Floor, OpenFloor, hooks_of
from tests.clients.model import Model
from tests.clients.script import Say, Use

pytestmark = pytest.mark.clients

MAKE = Use("Write", {"file_path": "made.txt", "content": "one\n"})
CHANGE = Use("Edit", {"file_path": "made.txt", "old_string": "one", "new_string": "two"})
RUN = Use("Bash", {"command": "mkdir made"})
REMOVE = Use("Bash", {"command": "rm made.txt"})


@pytest.fixture
def floor(claude_program: Path, open_floor: OpenFloor, workspace: Path, tmp_path: Path, model: Model) -> Floor:
    """A client that asks its user before it changes anything."""
    client = tmp_path / "client"
    environment = {**environment_of(client, model.url), "PATH": path_with(claude_program)}
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settled = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(workspace): known}}
    settled |= {"customApiKeyResponses": {"approved": ["dummy"], "rejected": []}}
    (client / ".claude.json").write_text(json.dumps(settled))
    (client / ".claude").mkdir()
    (client / ".claude" / "settings.json").write_text(json.dumps({"permissions": {"defaultMode": "default"}}))
    return open_floor({"claude": environment})


def decided(floor: Floor, id: str, number: int, decision: str) -> dict[str, Any]:
    """The card of a dialog, once the decision on it has arrived."""
    card = floor.questions(id, number)[number - 1]
    assert (card["kind"], card["channel"], card["state"]) == ("permission_prompt", "notification", "open")
    floor.post(f"/api/escalations/{card['id']}/respond", {"decision": decision})

    def arrived() -> dict[str, Any] | None:
        found: dict[str, Any] = floor.get(f"/api/escalations/{card['id']}")
        assert found["delivery"] != "undelivered", found["delivery_note"]
        return found if found["delivery"] == "delivered" else None

    return retry_until(arrived, timeout=PATIENCE) or {}


def test_what_is_allowed_is_done_and_what_is_refused_is_not(
    floor: Floor, model: Model, home: Path, workspace: Path
) -> None:
    """Its user has hooks that wait for nobody, so that the client asks by itself before it runs a command, too."""
    installed = [str(BIN / "gemba"), "install-bridge", "--scope", "local"]
    subprocess.run(installed, cwd=workspace, check=True, capture_output=True)
    model.play("Build the port", MAKE, CHANGE, RUN, REMOVE, Say("Not all of it."))

    id = floor.start("claude", "Build the port.")
    for number, decision in enumerate(["yes", "yes", "yes", "no"], 1):
        decided(floor, id, number, decision)

    folder = Path(floor.get(f"/api/sessions/{id}")["run"]["folder"])
    assert (folder / "made.txt").read_text() == "two\n"
    assert (folder / "made").is_dir()
    assert hooks_of(home, id).count("PermissionRequest") == 4
    assert hooks_of(home, id).count("PostToolUse") == 3
