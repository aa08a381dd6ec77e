"""A command that changes something, in a real client beside a real server: it waits, and runs as often as approved."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.clients.client import PATIENCE, Claude, ended
from tests.clients.model import Model
from tests.clients.script import Say, Together, Use
from tests.fixtures.hooks import logged
from tests.fixtures.servers import RunningServer

pytestmark = pytest.mark.clients

RELEASE = "git commit --quiet --allow-empty -m released"
PUSH = "git push --quiet origin main"


def bash(command: str) -> Use:
    return Use("Bash", {"command": command})


def asked(server: RunningServer, count: int = 1) -> dict[str, Any]:
    """The newest request, once there are so many and it waits for the operator."""

    def look() -> dict[str, Any] | None:
        found: list[dict[str, Any]] = server.get("/api/approvals")["approvals"]
        return found[0] if len(found) == count and found[0]["state"] == "pending" else None

    return retry_until(look, timeout=PATIENCE) or {}


def approve(server: RunningServer, request: dict[str, Any]) -> None:
    server.post(f"/api/escalations/{request['escalation_id']}/respond", {"decision": "yes"})


def grant_of(server: RunningServer, request: dict[str, Any]) -> str | None:
    found: str | None = server.get(f"/api/approvals/{request['id']}")["grant_state"]
    return found


def times_released(claude: Claude) -> int:
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=claude.workspace, capture_output=True, text=True, check=True
    )
    return log.stdout.splitlines().count("released")


@pytest.mark.quick
def test_a_command_runs_once_for_an_approval_and_asks_again_for_the_next(
    claude: Claude, model: Model, sqlite_server: RunningServer
) -> None:
    claude.install("--approvals")
    model.play("a release", bash(RELEASE), bash(RELEASE), Say("One release."))

    with claude.running("Make a release.") as process:
        first = asked(sqlite_server)
        assert (first["command"], first["risk"], times_released(claude)) == (RELEASE, "T3", 0)
        approve(sqlite_server, first)

        second = asked(sqlite_server, 2)
        assert (second["command"], times_released(claude)) == (RELEASE, 1)
        sqlite_server.post(f"/api/approvals/{second['id']}/refuse", {"reason": "one is enough"})
        end = ended(process)

    assert "the operator refused it: one is enough" in model.told("a release")[2]
    assert (end.words, times_released(claude)) == ("One release.", 1)
    retry_until(lambda: grant_of(sqlite_server, first) == "succeeded", timeout=PATIENCE)
    assert grant_of(sqlite_server, second) is None


def test_the_same_command_twice_at_once_is_two_requests(
    claude: Claude, model: Model, sqlite_server: RunningServer
) -> None:
    claude.install("--approvals")
    model.play("a release", Together((bash(RELEASE), bash(RELEASE))), Say("One release."))

    with claude.running("Make a release.") as process:
        approve(sqlite_server, asked(sqlite_server))
        second = asked(sqlite_server, 2)
        sqlite_server.post(f"/api/approvals/{second['id']}/refuse", {"reason": "one is enough"})
        ended(process)

    assert times_released(claude) == 1


def test_a_command_that_the_operator_changed_runs_as_changed(
    claude: Claude, model: Model, sqlite_server: RunningServer
) -> None:
    claude.install("--approvals")
    signed = f"{RELEASE} --no-verify"
    model.play("a release", bash(RELEASE), bash(signed), Say("Done."))

    with claude.running("Make a release.") as process:
        first = asked(sqlite_server)
        edited = sqlite_server.post(f"/api/approvals/{first['id']}/edit", {"command": signed})
        ended(process)

    assert f"run exactly this instead: {signed}" in model.told("a release")[1]
    assert times_released(claude) == 1
    assert len(sqlite_server.get("/api/approvals")["approvals"]) == 2, edited


def test_a_command_that_fails_is_recorded_as_failed(claude: Claude, model: Model, sqlite_server: RunningServer) -> None:
    claude.install("--approvals")
    model.play("a release", bash(PUSH), Say("It has nowhere to go."))

    with claude.running("Make a release.") as process:
        request = asked(sqlite_server)
        approve(sqlite_server, request)
        ended(process)

    retry_until(lambda: grant_of(sqlite_server, request) == "failed", timeout=PATIENCE)


def test_a_command_in_the_background_has_an_unknown_end(
    claude: Claude, model: Model, sqlite_server: RunningServer
) -> None:
    claude.install("--approvals")
    model.play("a release", Use("Bash", {"command": RELEASE, "run_in_background": True}), Say("It runs."))

    with claude.running("Make a release.") as process:
        request = asked(sqlite_server)
        approve(sqlite_server, request)
        ended(process)

    retry_until(lambda: grant_of(sqlite_server, request) == "unknown", timeout=PATIENCE)


def test_a_subagent_waits_for_the_operator_too(claude: Claude, model: Model, sqlite_server: RunningServer) -> None:
    claude.install("--approvals")
    task = {"description": "Release", "prompt": "Do the commit.", "run_in_background": False}
    model.play("a release", Use("Agent", task), Say("Refused."))
    model.play("the commit", bash(RELEASE), Say("I may not."))

    with claude.running("Make a release.") as process:
        request = asked(sqlite_server)
        sqlite_server.post(f"/api/approvals/{request['id']}/refuse", {"reason": "not on a Friday"})
        ended(process)

    assert "the operator refused it: not on a Friday" in model.told("the commit")[1]
    assert times_released(claude) == 0


def test_a_client_that_is_killed_uses_up_no_grant(
    claude: Claude, model: Model, sqlite_server: RunningServer, home: Path
) -> None:
    claude.install("--approvals")
    model.play("a release", bash(RELEASE), Say("Never said."))

    with claude.running("Make a release."):
        request = asked(sqlite_server)
    retry_until(lambda: "the client is gone" in "".join(logged(home)), timeout=PATIENCE)
    approve(sqlite_server, request)

    assert (grant_of(sqlite_server, request), times_released(claude)) == ("unused", 0)


def test_without_a_server_nothing_runs_that_would_have_to_be_asked_about(claude: Claude, model: Model) -> None:
    claude.install("--approvals")
    model.play("a release", bash(RELEASE), bash("git log --format=%s"), Say("Not released."))

    claude.run("Make a release.")

    _, refused, seen = model.told("a release")
    assert "nobody can approve this: start gemba serve" in refused
    assert "begin" in seen
    assert times_released(claude) == 0
