"""Thirty agents that ask a hundred times each, all at once: three thousand escalations, none twice, none torn."""

import subprocess
import sys
from pathlib import Path

import pytest

from gemba.testing import effort
from tests.chaos.test_kills import every_escalation
from tests.fixtures.servers import RunningServer

CROWD = Path(__file__).with_name("crowd.py")
PROCESSES, ASKS = 30, 100


@pytest.mark.chaos
@pytest.mark.timeout(240)
def test_thirty_processes_ask_a_hundred_times_each_at_once(server: RunningServer) -> None:
    stream = server.events("?name=escalation_opened")
    crowd = [
        subprocess.Popen(
            [sys.executable, "-P", CROWD, f"agent-{number}", str(ASKS), str(effort(3, 50))],
            cwd=server.workspace,
            # Three agents share each session, and so each log.
            env={**server.environment, "GEMBA_SESSION_ID": f"session-{number // 3}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate()[0].splitlines() for process in crowd]
    told = [stream.next()["data"] for _ in range(PROCESSES * ASKS)]
    found = every_escalation(server)

    assert [process.returncode for process in crowd] == [0] * PROCESSES
    asked = {
        line.split()[0]: f"agent-{number} asks {ask}"
        for number, lines in enumerate(printed)
        for ask, line in enumerate(lines)
    }
    assert len(asked) == PROCESSES * ASKS
    assert {id: one["text"] for id, one in found.items()} == asked
    assert sorted(event["ref"] for event in told) == sorted(asked)
    counters = server.get("/api/doctor")["counters"]
    assert counters["frames_ingested"] == PROCESSES * ASKS
    assert counters.get("frames_duplicate", 0) == counters.get("frames_unreadable", 0) == 0
