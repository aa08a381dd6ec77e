"""Over HTTP: sessions, where they work, the types of agents, and the checks of the Health screen."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import time_machine

import gemba
from gemba.store import events
from gemba.testing import retry_until
from tests.fixtures.api import Api


def test_a_session_is_listed_with_what_its_frames_said(api: Api) -> None:
    api.take("SessionStart", {}, "s-1", agent_type="claude")
    api.take("GembaState", {"state": "working", "bead_id": "gm-7", "note": "tests first"}, "s-1", agent_type="claude")

    listed = api.get("/api/sessions")

    (session,) = listed["sessions"]
    assert session["first_seen_at"] <= session["last_frame_at"]
    times = ("first_seen_at", "last_frame_at")
    assert {name: value for name, value in session.items() if name not in times} == {
        "id": "s-1",
        "agent_type": "claude",
        "mode": "balanced",
        "role": None,
        "lifecycle": "running",
        "reported_state": "working",
        "note": "tests first",
        "bead_id": "gm-7",
        "needs_you": False,
        "waiting": 0,
        "usage": None,
        "close_reason": None,
        "run": None,
    }
    assert listed["as_of"] == 2
    assert api.get("/api/sessions/s-1") == session
    assert api.get("/api/sessions/s-1/worktree") == {"session_id": "s-1", "worktree": None}


def test_what_a_session_took_is_added_up_once_a_frame_and_unknown_parts_stay_unknown(api: Api) -> None:
    api.take("SessionStart", {})
    first = api.take("GembaUsage", {"input_tokens": 1_000, "output_tokens": 20})
    # Two of one batch, and one that is read a second time.
    api.append("GembaUsage", {"input_tokens": 500, "output_tokens": 7})
    api.append("GembaUsage", {"input_tokens": 500, "output_tokens": 7}, event_id=first)
    api.take("GembaUsage", {"output_tokens": 3})

    assert api.get("/api/sessions/session-1")["usage"] == {
        "tokens_in": 1_500,
        "tokens_out": 30,
        "cost_usd_micros": None,
    }

    api.take("GembaUsage", {"cost_usd": 0.1234567})
    api.take("GembaUsage", {"cost_usd": 1})
    assert api.get("/api/sessions")["sessions"][0]["usage"]["cost_usd_micros"] == 1_123_457


def test_a_session_needs_you_while_it_prompts_or_a_blocking_escalation_is_unresolved(api: Api) -> None:
    def needing() -> set[str]:
        return {session["id"] for session in api.get("/api/sessions")["sessions"] if session["needs_you"]}

    api.ask(session="advised")
    blocked = api.ask(session="blocked", kind="blocker")
    api.take("GembaState", {"state": "prompting"}, "prompting")
    assert needing() == {"blocked", "prompting"}
    waiting = {session["id"]: session["waiting"] for session in api.get("/api/sessions")["sessions"]}
    assert waiting == {"advised": 1, "blocked": 1, "prompting": 0}

    api.post(f"/api/escalations/{blocked}/respond", {"text": "go"})
    api.take("UserPromptSubmit", {"prompt": "go on"}, "prompting")
    assert needing() == set()


def test_the_session_heard_of_last_is_listed_first_and_a_limit_cuts_the_rest(api: Api) -> None:
    for session in ("first", "second", "third"):
        api.take("SessionStart", {}, session)
    api.take("Stop", {}, "first")

    assert [session["id"] for session in api.get("/api/sessions?limit=2")["sessions"]] == ["first", "third"]


def test_a_session_that_somebody_else_named_is_found_by_any_name(api: Api) -> None:
    for id in ("team/é task:1", "a%2Fb", "x" * 512, "//"):
        api.take("SessionStart", {}, id)
        path = f"/api/sessions/{quote(id, safe='')}"

        assert api.get(path)["id"] == id
        assert api.get(f"{path}/inputs")["inputs"] == []
        refused = api.request("POST", f"{path}/stop", {})
        assert (refused.status, refused.json["detail"]) == (404, f"no session that Gemba started has the id {id}")


def test_a_session_that_ended_is_completed(api: Api) -> None:
    api.take("SessionStart", {})
    api.take("SessionEnd", {})

    assert api.get("/api/sessions")["sessions"][0]["lifecycle"] == "completed"


def ended(api: Api, agent: str, task: str) -> dict[str, Any]:
    """A session that Gemba started, once it is over."""
    id = api.post("/api/sessions", {"agent": agent, "task": task})["id"]

    def over() -> dict[str, Any] | None:
        api.app.ingest.drain()
        api.app.keeping.keep()
        session: dict[str, Any] = api.get(f"/api/sessions/{id}")
        return session if session["run"]["ended_at"] else None

    found = retry_until(over, timeout=60)
    assert found is not None
    return found


def test_the_worktree_of_a_session_is_told_with_what_is_only_there(api: Api, workspace: Path) -> None:
    task = "run: git commit --quiet --allow-empty -m 'A step'\nrun: touch left.txt"

    session = ended(api, "builtin", task)

    found = api.get(f"/api/sessions/{session['id']}/worktree")["worktree"]
    assert found["commits"][0].endswith(" A step"), found
    assert len(found["seal"]) == 16
    assert {name: found[name] for name in found if name not in ("commits", "seal")} == {
        "path": str(workspace / ".gemba/worktrees" / session["id"]),
        "branch": f"gemba/{session['id']}",
        "base_branch": "main",
        "is_there": True,
        "dirty": 1,
        "files": ["left.txt"],
        "ahead": 1,
        "unmerged": 1,
        "unpushed": None,
        "locked": None,
    }
    assert session["run"]["headless"] is True
    # Its client told of its end before it was gone; both are told.
    with api.app.database.read() as connection:
        told = [event.name for event in events.read_after(connection, 0, 1_000) if event.session_id == session["id"]]
    assert told.count("run.ended") == told.count("session.wanted") == 1, told
    assert "left.txt" in api.get(f"/api/sessions/{session['id']}/transcript?lines=50")["text"]
    for nothing in ("/api/sessions/unknown/worktree", "/api/sessions/unknown"):
        assert api.request("GET", nothing).status == 404


def test_types_of_agents_are_told_with_why_they_cannot_be_started_and_no_variable(api: Api, workspace: Path) -> None:
    file = workspace / ".gemba/agents.toml"
    file.write_text('[agent.mine]\ncommand = ["no-such-program"]\nterminal = "pty"\nenvironment = { KEY = "secret" }\n')

    answer = api.request("GET", "/api/agents")

    agents = {agent["name"]: agent for agent in answer.json["agents"]}
    assert (agents["builtin"]["usable"], agents["builtin"]["why_not"], agents["builtin"]["origin"]) == (
        *(True, None),
        "shipped",
    )
    assert agents["mine"] == {
        "name": "mine",
        "description": "",
        "backend": "process",
        "interaction_mode": "balanced",
        "headless": False,
        "takes_task": True,
        "usable": False,
        "why_not": "no-such-program is not on PATH",
        "origin": "workspace",
    }
    assert b"secret" not in answer.body


def test_a_type_with_a_fault_is_told_with_it_and_the_others_start(api: Api, workspace: Path) -> None:
    (workspace / ".gemba/agents.toml").write_text("[agent.mine]\ncolour = 1\n")

    agents = {agent["name"]: agent for agent in api.get("/api/agents")["agents"]}

    assert (agents["builtin"]["usable"], agents["mine"]["usable"]) == (True, False)
    assert ".gemba/agents.toml:2: agent" in agents["mine"]["why_not"]
    refused = api.request("POST", "/api/sessions", {"agent": "mine", "task": "x"})
    assert (refused.status, refused.json["code"]) == (422, "agents_invalid")
    assert ".gemba/agents.toml:2: agent" in refused.json["detail"]
    assert ended(api, "builtin", "run: true")["lifecycle"] == "completed"


def test_doctor_counts_what_waits_and_says_what_is_wrong(api: Api) -> None:
    healthy = api.get("/api/doctor")
    assert (healthy["status"], healthy["version"]) == ("ok", gemba.__version__), healthy
    assert all(check["status"] == "ok" and check["hint"] is None for check in healthy["checks"])

    api.ask()
    api.ask(kind="blocker")
    api.take("GembaAsk", {"kind": "blocker", "role": "coach", "text": "a coach never blocks"})
    api.take("GembaState", {"state": "working"}, workspace="/nowhere")
    sick = api.get("/api/doctor")

    assert sick["status"] == "warn"
    warned = {check["id"] for check in sick["checks"] if check["status"] == "warn"}
    assert warned == {"frames", "strays"}
    assert all(check["hint"] for check in sick["checks"] if check["status"] == "warn")
    counters = sick["counters"]
    assert (counters["escalations_unresolved"], counters["escalations_blocking"]) == (2, 1)
    assert (counters["frames_ingested"], counters["frames_dropped"]) == (3, 1)
    assert counters["sessions_running"] == 1
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=2)):
        assert api.get("/api/doctor")["counters"]["sessions_running"] == 0, "nobody knows whether it still runs"


@pytest.mark.parametrize("path", ["/api/health", "/api/version", "/api/openapi.json"])
def test_what_says_nothing_of_the_workspace_is_readable_without_a_token(api: Api, path: str) -> None:
    assert api.request("GET", path, Authorization="").status == 200


def test_health_and_version_say_so(api: Api) -> None:
    assert api.get("/api/health") == {"status": "ok"}
    assert api.get("/api/version") == {"version": gemba.__version__}
