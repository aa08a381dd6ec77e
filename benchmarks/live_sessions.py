"""What 200 live sessions cost the server that keeps them: memory each, and a share of a core while nothing happens.

The server starts them: the built-in agent on a terminal of its own, waiting for a prompt. Of the server's memory all
counts that it has more than before the first of them. What the sessions cost by themselves, a keeper and an agent each,
stands beside it (PSS: what processes share is counted once), and how long it took to start and to stop them all.

Exits 1 past a limit. Run as `python -m benchmarks.live_sessions [SECONDS]`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks._floor import DATABASES, living, running_server, start_agents
from benchmarks.idle_server import usage
from gemba import wire
from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer

SECONDS = 20
SESSIONS = 200
LIMIT_MB = 1.0  # of the server's memory, for each
LIMIT_CPU = 0.03
AGENTS = """
[agent.waiting]
command = ["{python}", "-m", "gemba.sessions.builtin"]
prompt = "none"
terminal = "pty"
max_parallel = 500

[agent.waiting.limits]
runs_per_hour = 0
"""
_SETTLE_SECONDS = 3.0
_PATIENCE = 300.0


def main(seconds: int) -> int:
    print(
        f"{SESSIONS} sessions, idle for {seconds} s; MB of the server in all and for each; CPU as a share of one core"
    )
    print(
        f"{'database':<12}{'MB':>7}{'MB each':>9}{'limit':>7}{'CPU':>8}{'limit':>7}{'processes':>11}"
        f"{'keeper MB':>11}{'agent MB':>10}{'their CPU':>11}{'start s':>9}{'stop s':>8}  verdict"
    )
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            verdicts.append(measured_within(server, database, seconds))
    return 0 if all(verdicts) else 1


def measured_within(server: RunningServer, database: str, seconds: int) -> bool:
    """Measure and print one line of the table; is it within the limits?"""
    (server.workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    pid = server.process.pid
    time.sleep(_SETTLE_SECONDS)
    empty, begun = resident_mb(pid), time.monotonic()
    sessions = start_agents(server, "waiting", SESSIONS)
    retry_until(lambda: are_at_their_prompts(server, sessions), timeout=_PATIENCE, every=0.2)
    started = time.monotonic() - begun

    time.sleep(_SETTLE_SECONDS)
    keepers = [keeper_of(server, session) for session in sessions]
    agents = [child for keeper in keepers for child in children_of(keeper)]
    assert len(agents) == SESSIONS, agents
    before, theirs, begun = usage(pid), processor_seconds([*keepers, *agents]), time.monotonic()
    time.sleep(seconds)
    after, passed = usage(pid), time.monotonic() - begun
    share = (after.cpu - before.cpu) / passed
    their_share = (processor_seconds([*keepers, *agents]) - theirs) / passed
    some_started = after.child_faults != before.child_faults or after.children > 0
    full = resident_mb(pid)
    each = (full - empty) / SESSIONS
    keeper_mb, agent_mb = (proportional_mb(some) / SESSIONS for some in (keepers, agents))

    begun = time.monotonic()
    for session in sessions:
        server.post(f"/api/sessions/{session}/stop", {})
    retry_until(lambda: not living(server), timeout=_PATIENCE, every=0.1)
    stopped = time.monotonic() - begun
    within = each < LIMIT_MB and share < LIMIT_CPU and not some_started
    print(
        f"{database:<12}{full:>7.0f}{each:>9.3f}{LIMIT_MB:>7.1f}{share:>8.2%}{LIMIT_CPU:>7.0%}"
        f"{'some' if some_started else 'none':>11}{keeper_mb:>11.2f}{agent_mb:>10.2f}{their_share:>11.2%}"
        f"{started:>9.1f}{stopped:>8.1f}  {'within' if within else 'TOO MUCH'}",
        flush=True,
    )
    return within


def are_at_their_prompts(server: RunningServer, sessions: list[str]) -> bool:
    """An agent's log begins when it can be typed to."""
    if not all(Path(wire.log_path(str(server.home), session)).exists() for session in sessions):
        return False
    running = {one["id"] for one in living(server) if one["lifecycle"] == "running"}
    return running == set(sessions)


def keeper_of(server: RunningServer, session: str) -> int:
    keeper = read_keeper(run_folder(server.home, server.workspace, session))
    assert keeper is not None
    return keeper.process[0]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processor_seconds(pids: Iterable[int]) -> float:
    return sum(usage(pid).cpu for pid in pids)


def resident_mb(pid: int) -> float:
    """What it has, shared or not: what others share with it later must not look like a gain."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmRSS") / 1024


def proportional_mb(pids: Iterable[int]) -> float:
    """Of all together; what they share is counted once."""
    return sum(_kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss") for pid in pids) / 1024


def _kilobytes(file: Path, name: str) -> int:
    (found,) = (line for line in file.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(found.split()[1])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
