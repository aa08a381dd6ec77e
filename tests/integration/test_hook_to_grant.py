"""From a client's hook to the operator and back: real hook processes beside a real server."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.hooks import BRIDGE, SESSION, answer, hook
from tests.fixtures.servers import RunningServer

COMMAND = "rm -rf build  # 'Quoted'"
CALL = {"tool_name": "Bash", "tool_input": {"command": COMMAND}, "cwd": "/srv/shop"}


@pytest.fixture(autouse=True)
def _session(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.chdir(workspace)


@contextmanager
def waiting() -> Iterator["subprocess.Popen[bytes]"]:
    """A hook that asks about the call and waits for the answer."""
    command = [*BRIDGE, "hook", "PreToolUse", "--approvals"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(CALL).encode())
        process.stdin.close()
        process.stdin = None
        yield process


def told(process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    printed, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    return decision(json.loads(printed))


def decision(document: Any) -> tuple[str, str]:
    found = document["hookSpecificOutput"]
    return found["permissionDecision"], found["permissionDecisionReason"]


def asked(server: RunningServer) -> dict[str, Any]:
    (found,) = retry_until(lambda: server.get("/api/approvals?state=pending")["approvals"], timeout=60)
    return dict(found)


def test_a_command_waits_runs_after_approval_and_its_end_is_recorded(sqlite_server: RunningServer) -> None:
    with waiting() as process:
        made = asked(sqlite_server)
        assert (made["command"], made["cwd"], made["risk"]) == (COMMAND, "/srv/shop", "T3")
        sqlite_server.post(f"/api/escalations/{made['escalation_id']}/respond", {"decision": "yes"})
        assert told(process)[0] == "allow"

    path = f"/api/approvals/{made['id']}"
    assert sqlite_server.get(path)["grant_state"] == "consumed"
    hook("PostToolUse", CALL)
    retry_until(lambda: sqlite_server.get(path)["grant_state"] == "succeeded", timeout=60)


@pytest.mark.parametrize("name", ["caf\u00e9", "\u65e5\u672c \U0001f680", "a\u200bb\u202ec"])
def test_a_command_in_any_script_is_asked_about_to_the_letter(sqlite_server: RunningServer, name: str) -> None:
    sent = {**CALL, "tool_input": {"command": f"rm {name}"}}
    assert decision(answer(hook("PreToolUse", sent, "--approvals", "--deadline", "5")))[0] == "deny"
    made = asked(sqlite_server)
    assert made["command"] == f"rm {name}"
    sqlite_server.post(f"/api/approvals/{made['id']}/approve", {})
    assert decision(answer(hook("PreToolUse", sent, "--approvals")))[0] == "allow"


def test_a_dialog_of_the_client_is_one_item_in_the_inbox(sqlite_server: RunningServer) -> None:
    """PermissionRequest asks for the approval; the Notification of the same dialog, seconds later, asks for nothing."""
    command = [*BRIDGE, "hook", "PermissionRequest", "--approvals"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(CALL).encode())
        process.stdin.close()
        process.stdin = None
        made = asked(sqlite_server)
        hook("Notification", {"notification_type": "permission_prompt", "message": "Claude needs your permission"})
        kept = sqlite_server.events("?name=notification_kept", after=0)
        assert [kept.next()["data"]["payload"].get("tool_name") for _ in range(2)] == ["Bash", None]
        (shown,) = sqlite_server.get("/api/escalations?state=unresolved")["escalations"]
        assert shown["id"] == made["escalation_id"]
        sqlite_server.post(f"/api/approvals/{made['id']}/approve", {})
        printed, _ = process.communicate(timeout=60)
    assert json.loads(printed)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def test_a_grant_for_a_command_is_none_for_the_same_outside_of_the_sandbox(sqlite_server: RunningServer) -> None:
    assert decision(answer(hook("PreToolUse", CALL, "--approvals", "--deadline", "5")))[0] == "deny"
    sqlite_server.post(f"/api/approvals/{asked(sqlite_server)['id']}/approve", {})

    freed = {**CALL, "tool_input": {"command": COMMAND, "dangerouslyDisableSandbox": True}}
    assert "waits for the operator" in decision(answer(hook("PreToolUse", freed, "--approvals", "--deadline", "5")))[1]
    made = asked(sqlite_server)
    assert made["tool"] == "Bash (dangerouslyDisableSandbox=true)"
    sqlite_server.post(f"/api/approvals/{made['id']}/approve", {})
    assert decision(answer(hook("PreToolUse", freed, "--approvals")))[0] == "allow"
    hook("PostToolUse", freed)
    path = f"/api/approvals/{made['id']}"
    retry_until(lambda: sqlite_server.get(path)["grant_state"] == "succeeded", timeout=60)


def test_a_refusal_is_told_with_its_reason(sqlite_server: RunningServer) -> None:
    with waiting() as process:
        path = f"/api/approvals/{asked(sqlite_server)['id']}"
        sqlite_server.post(f"{path}/refuse", {"reason": "not on a Friday"})
        assert told(process) == ("deny", "Gemba: the operator refused it: not on a Friday")


def test_a_hook_whose_client_is_gone_ends_and_uses_up_no_grant(sqlite_server: RunningServer) -> None:
    with waiting() as process:
        made = asked(sqlite_server)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        assert process.wait(timeout=60) == 2
        assert b"the client is gone" in process.communicate()[1]

    path = f"/api/approvals/{made['id']}"
    sqlite_server.post(f"{path}/approve", {})
    assert sqlite_server.get(path)["grant_state"] == "unused"


def test_an_edited_command_is_told_and_runs_without_being_asked_about_again(sqlite_server: RunningServer) -> None:
    with waiting() as process:
        path = f"/api/approvals/{asked(sqlite_server)['id']}"
        sqlite_server.post(f"{path}/edit", {"command": "rm -rf build/cache"})
        verdict, reason = told(process)
    assert verdict == "deny"
    assert reason.endswith("run exactly this instead: rm -rf build/cache")

    other = {**CALL, "tool_input": {"command": "rm -rf build/cache"}}
    assert decision(answer(hook("PreToolUse", other, "--approvals")))[0] == "allow"
