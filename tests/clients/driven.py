"""The story of a session with a client that Gemba drives, the same for every such client: it asks by its shell and by
its tools, hears the answers in its own conversation, and ends in a handoff that was mended.

A step of the model comes only where all the earlier ones are in the client's request: so the conversation is one.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemba.testing import retry_until
from tests.clients.client import PATIENCE
from tests.clients.floor import Floor, hooks_of
from tests.clients.model import Model
from tests.clients.script import Say, Use
from tests.fixtures.envelopes import block, changed, good

ASK = "gemba-ask --kind question --role manager --text 'Which port?'"
BAD = changed(good(), "/agent_status/plan_status", "DONE")

# What tools tell comes and goes with the client, and what it used with the model.
_NOT_COMPARED = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "GembaUsage", "GembaState")


def live_through(
    floor: Floor, model: Model, home: Path, agent: str, shell: Callable[[str], Use], tool: Callable[[str], str]
) -> dict[str, Any]:
    """The session at its end. `shell`: how the model runs a line; `tool`: what it calls a tool of Gemba's."""
    model.play(
        "Build the port",
        shell(ASK),
        Use(tool("ask_question"), {"text": "Which host?"}),
        Say("I wait."),
        Say("Port 8080 it is."),
        Use(tool("report_state"), {"state": "working", "note": "almost there"}),
        Use(tool("submit_handoff"), {"envelope": BAD}),
        Say(block(BAD)),
        Say(block(good())),
    )

    id = floor.start(agent, "Build the port.")
    port, host = floor.questions(id, 2)
    assert (port["text"], host["text"]) == ("Which port?", "Which host?")
    _answer(floor, port, "Take 8080.")
    retry_until(lambda: hooks_of(home, id).count("Stop") == 2, timeout=PATIENCE)
    _answer(floor, host, "Only this one.")
    ended = floor.until(id, "completed")

    told = model.told("Build the port")
    assert "Build the port." in told[0]
    assert told[3].endswith("Take 8080.")
    assert told[4].endswith("Only this one.")
    assert "working" in told[5]
    assert re.search(r"plan_status\W.*DONE", told[6], re.IGNORECASE)  # some are told its words, others its facts
    assert 'agent_status.plan_status is "DONE"; allowed:' in told[7]
    assert [hook for hook in hooks_of(home, id) if hook not in _NOT_COMPARED] == [
        *("SessionStart", "UserPromptSubmit", "GembaAsk", "GembaAsk", "Stop"),
        *("UserPromptSubmit", "Stop"),
        *("UserPromptSubmit", "Stop", "Stop", "GembaHandoff", "SessionEnd"),
    ]
    _check_what_is_left(floor, id, ended)
    return ended


def _answer(floor: Floor, question: dict[str, Any], text: str) -> None:
    asked = f"/api/escalations/{question['id']}"
    floor.post(f"{asked}/respond", {"text": text})
    retry_until(lambda: floor.get(asked)["delivery"] == "delivered", timeout=PATIENCE)


def _check_what_is_left(floor: Floor, id: str, ended: dict[str, Any]) -> None:
    """Its handoff is accepted, and nothing of Gemba's is in the repository."""
    handoffs = floor.get(f"/api/handoffs?session={id}&state=accepted")["handoffs"]
    assert [(each["plan_status"], each["source"]) for each in handoffs] == [("COMPLETE", "hook")]
    changes = ["git", "status", "--porcelain", "--ignored"]
    assert subprocess.run(changes, cwd=ended["run"]["folder"], capture_output=True, check=True).stdout == b""
