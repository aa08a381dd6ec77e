"""A client that takes one prompt and ends, driven: turn after turn in one conversation, held to its contract.

The client here is a program that speaks Codex's stream and does what its prompt says; the real ones are driven in
`make test-clients`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gemba.app import App
from gemba.errors import Conflict
from gemba.escalations.store import escalations
from gemba.testing import retry_until
from tests.fixtures.envelopes import block, changed, good
from tests.fixtures.floor import Floor, git_init, stop_runs
from tests.fixtures.hooks import frames

# Each call is written down; then the client does what the last line of its prompt says.
CLIENT = """
import json, os, subprocess, sys, time

def tell(**event):
    print(json.dumps(event), flush=True)

calls, words, prompt = sys.argv[1], sys.argv[2:], sys.stdin.read()
with open(calls, "a") as file:
    file.write(json.dumps({"words": words, "prompt": prompt}) + "\\n")
tell(type="thread.started", thread_id="thread-1")
print("not JSON")
what, _, more = prompt.strip().splitlines()[-1].partition(": ")
if what == "ask":
    done = subprocess.run(["gemba-ask", "--kind", "question", "--role", "manager", "--text", more], capture_output=True)
    ran = {"type": "command_execution", "command": "gemba-ask", "aggregated_output": "", "exit_code": done.returncode}
    tell(type="item.completed", item={**ran, "status": "completed"})
if what == "fail":
    tell(type="error", message="the model is out")
    tell(type="turn.failed", error={"message": "the model is out"})
    sys.exit(3)
if what == "hang":
    subprocess.Popen(["sleep", "600"])
    tell(type="item.completed", item={"type": "agent_message", "text": "I hang."})
    time.sleep(600)
if "was not accepted" in prompt:
    what, more = "say", open(calls + ".mended").read()
said = json.loads(more) if what == "say" else "I heard \\x1b[31m" + what
tell(type="item.completed", item={"type": "agent_message", "text": said})
tell(type="turn.completed", usage={"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 7})
"""


class Client:
    """The calls of the client, the eldest first."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "client.py"
        self.file = folder / "calls.jsonl"
        self.program.write_text(CLIENT)

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


@pytest.fixture
def floor(app: App, workspace: Path, client: Client) -> Iterator[Floor]:
    words = [sys.executable, str(client.program), str(client.file)]
    table = {"command": [*words, "first"], "resume": [*words, "resume", "{conversation}"]}
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    (workspace / ".gemba" / "agents.toml").write_text(
        "\n".join(["[agent.driven]", 'hooks = "codex"', 'terminal = "pty"', *lines])
    )
    git_init(workspace)
    yield Floor(app)
    stop_runs(app.home)


def questions(floor: Floor, count: int = 1) -> list[Any]:
    def look() -> list[Any] | None:
        floor.app.ingest.drain()
        floor.app.keeping.keep()
        with floor.app.database.read() as connection:
            found = connection.execute(select(escalations).order_by(escalations.c.opened_at)).all()
        return list(found) if len(found) >= count else None

    return retry_until(look, timeout=60) or []


def hooks_of(floor: Floor, id: str) -> list[str]:
    return [frame.hook for frame in frames(floor.app.home, id) if frame.hook != "GembaState"]


def test_a_turn_is_told_of_and_a_session_without_anything_open_is_closed(floor: Floor, client: Client) -> None:
    id = floor.start("hello", "driven")

    ended = floor.ended(id)

    (call,) = client.calls()
    assert call["words"] == ["first"]
    assert call["prompt"].endswith("\nhello")
    assert ended.run is not None
    assert (ended.lifecycle, ended.close_reason, ended.run.code) == ("completed", "provider_exit", 0)
    shown = floor.app.keeping.transcript(id, 100).text
    assert "not JSON\nI heard [31mhello" in shown.replace("\r", "")
    assert hooks_of(floor, id) == ["SessionStart", "UserPromptSubmit", "GembaUsage", "Stop", "SessionEnd"]
    assert not (floor.app.home / "runs" / id / "driver.json").exists()
    with pytest.raises(Conflict, match="is over"):
        floor.send(id, "more")


def test_an_answer_is_the_next_prompt_of_the_same_conversation(floor: Floor, client: Client) -> None:
    id = floor.start("ask: Which port?", "driven", role="manager")
    (question,) = questions(floor)
    retry_until(lambda: hooks_of(floor, id)[-1:] == ["Stop"], timeout=60)
    floor.until(id, "running")  # it waits for its answer

    floor.act("/api/escalations/{id}/respond", {"text": "Take 8080.\nAnd no other."}, id=question.id)
    floor.until(id, "completed")

    _, second = client.calls()
    assert (second["words"], second["prompt"]) == (["resume", "thread-1"], "Take 8080.\nAnd no other.")
    (settled,) = questions(floor)
    assert (settled.state, settled.delivery) == ("resolved", "delivered")
    used = [frame.payload for frame in frames(floor.app.home, id) if frame.hook == "GembaUsage"]
    assert used == [{"input_tokens": 100, "output_tokens": 7}, {}]  # it tells sums
    assert hooks_of(floor, id) == [
        *("SessionStart", "UserPromptSubmit", "GembaAsk", "PostToolUse", "GembaUsage", "Stop"),
        *("UserPromptSubmit", "GembaUsage", "Stop", "SessionEnd"),
    ]


def test_a_bad_handoff_is_sent_back_in_its_own_conversation(floor: Floor, client: Client) -> None:
    bad = block(changed(good(), "/agent_status/plan_status", "DONE"))
    Path(f"{client.file}.mended").write_text(json.dumps(block(good())))
    id = floor.start(f"say: {json.dumps(bad)}", "driven")

    floor.until(id, "completed")

    _, sent_back = client.calls()
    assert sent_back["words"] == ["resume", "thread-1"]
    assert 'agent_status.plan_status is "DONE"; allowed:' in sent_back["prompt"]
    assert hooks_of(floor, id) == [
        *("SessionStart", "UserPromptSubmit", "GembaUsage", "Stop", "GembaUsage", "Stop", "GembaHandoff", "SessionEnd"),
    ]


def test_a_client_that_fails_fails_its_session_with_its_exit_code(floor: Floor) -> None:
    id = floor.start("fail: now", "driven")

    ended = floor.until(id, "failed")

    assert ended.run is not None
    assert (ended.close_reason, ended.run.code) == ("provider_exit", 3)
    assert floor.app.keeping.transcript(id, 100).text.count("! the model is out") == 1


def test_an_interrupt_ends_the_turn_and_not_the_session(floor: Floor, client: Client) -> None:
    id = floor.start("hang: on", "driven")
    floor.until(id, "running")
    floor.hears(id, "I hang.")

    floor.act("/api/sessions/{id}/interrupt", {}, id=id)
    floor.hears(id, "Interrupted.")
    floor.until(id, "completed")

    assert len(client.calls()) == 1
    assert hooks_of(floor, id) == ["SessionStart", "UserPromptSubmit", "SessionEnd"]
