"""How long an answer takes to reach its agent: from the transaction that accepts it until the agent has the words.

50 agents live, started by the server, each with a question open: some wait in `gemba-ask --wait`, others sit at a
prompt, on a terminal of their own or in a pane of tmux, where the answer is typed. Each tells itself when it has the
words, in a frame with its time, on the clock that all processes of a machine share: `gemba-ask` once they are on its
stdout, the others once they are read at the prompt. The operator answers one at a time, then all as quickly as the
server takes them. Every answer has to arrive once.

Exits 1 when the slowest hundredth takes longer than the limit. What else the machine does can only make it slower, so a
round past the limit is measured again, at most twice. Run as `python -m benchmarks.reply_latency [TIMES]`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._floor import DATABASES, ask_frame, question, running_server, start_agents
from benchmarks.event_latency import percentile
from gemba import clock, wire
from gemba.testing import retry_until
from tests.fixtures.servers import RunningServer

TIMES = 3  # that each agent is answered in a round
ROUNDS = 3
LIMIT_MS = 200.0
AGENTS = """
[agent.prompt]
command = ["{python}", "-m", "gemba.sessions.builtin"]
prompt = "argument"
terminal = "pty"
max_parallel = 100

[agent.pane]
command = ["{python}", "-m", "gemba.sessions.builtin"]
prompt = "argument"
backend = "tmux"
max_parallel = 100
"""
CROWD = {"builtin": 20, "prompt": 20, "pane": 10}  # by type; the built-in one of pipes waits
_PATIENCE = 120.0


class Ask(NamedTuple):
    """A question that is open, and the words that will answer it: the same for all that are asked at once."""

    id: str
    session: str
    answer: str


class Crowd:
    """The agents, and what their logs tell."""

    def __init__(self, server: RunningServer, asks: int) -> None:
        self._server = server
        (server.workspace / ".gemba" / "agents.toml").write_text(AGENTS)
        tasks = {"builtin": "\n".join(f"ask: {question()}" for _ in range(asks))}
        self._types = {
            session: agent
            for agent, many in CROWD.items()
            for session in start_agents(server, agent, many, tasks.get(agent, ""))
        }
        self._answers = 0
        retry_until(lambda: all(self._frames(one, "SessionStart") for one in self._types), timeout=_PATIENCE, every=0.2)

    def ask(self) -> list[Ask]:
        """Everybody has a question open: those that wait have asked themselves."""
        for session, agent in self._types.items():
            if agent != "builtin":
                frame = ask_frame(self._server.workspace, session, options=[])
                wire.append_frame(str(self._server.home), session, frame)
        retry_until(lambda: self._asked().keys() == self._types.keys(), timeout=_PATIENCE, every=0.1)
        self._answers += 1
        return [Ask(id, session, f"answer {self._answers}") for session, id in self._asked().items()]

    def type_of(self, ask: Ask) -> str:
        return self._types[ask.session]

    def heard(self, ask: Ask) -> int | None:
        """When its agent had the answer, in microseconds; None when it has not yet."""
        if self.type_of(ask) == "builtin":
            found = [one for one in self._frames(ask.session, "GembaReplyRead") if one["payload"]["event_id"] == ask.id]
        else:
            prompts = self._frames(ask.session, "UserPromptSubmit")
            found = [one for one in prompts if one["payload"]["prompt"] == ask.answer]
        assert len(found) <= 1, f"{ask.answer} arrived {len(found)} times"
        return clock.parse(found[0]["ts"]) if found else None

    def _asked(self) -> dict[str, str]:
        """What is open, by session."""
        listed = self._server.get("/api/escalations?state=unresolved&kind=question&limit=200")["escalations"]
        return {one["session_id"]: one["id"] for one in listed}

    def _frames(self, session: str, hook: str) -> list[dict[str, Any]]:
        try:
            lines = Path(wire.log_path(str(self._server.home), session)).read_bytes().splitlines()
        except FileNotFoundError:
            return []
        mark = f'"{hook}"'.encode()
        return [frame for line in lines if mark in line and (frame := json.loads(line))["hook"] == hook]


Answer = Callable[[RunningServer, Crowd, list[Ask]], dict[str, int]]


def one_at_a_time(server: RunningServer, crowd: Crowd, asks: list[Ask]) -> dict[str, int]:
    accepted: dict[str, int] = {}
    for ask in asks:
        accepted |= as_a_burst(server, crowd, [ask])
        wait_heard(crowd, [ask], every=0.01)
    return accepted


def as_a_burst(server: RunningServer, _crowd: Crowd, asks: list[Ask]) -> dict[str, int]:
    return {ask.id: moment(server.post(f"/api/escalations/{ask.id}/respond", {"text": ask.answer})) for ask in asks}


def moment(answered: dict[str, Any]) -> int:
    """When the transaction began that accepted the answer."""
    found = clock.parse(answered["resolution"]["at"])
    assert found is not None
    return found


WAYS: dict[str, Answer] = {"one at a time": one_at_a_time, "a burst": as_a_burst}


def main(times: int) -> int:
    told = ", ".join(f"{many} {agent}" for agent, many in CROWD.items())
    print(
        f"{sum(CROWD.values())} agents ({told}), each answered {times} times a round; p99 in ms of each type and of all"
    )
    print(
        f"{'database':<12}{'answered':<15}{'answers':>8}"
        + "".join(f"{agent:>10}" for agent in CROWD)
        + f"{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'limit':>7}{'of limit':>10}  verdict"
    )
    verdicts = []
    for database in DATABASES:
        with running_server(database) as server:
            crowd = Crowd(server, len(WAYS) * ROUNDS * times)
            verdicts += [measured_at_last(server, crowd, database, name, times) for name in WAYS]
    return 0 if all(verdicts) else 1


def measured_at_last(server: RunningServer, crowd: Crowd, database: str, name: str, times: int) -> bool:
    return any(measured_within(server, crowd, database, name, times) for _ in range(ROUNDS))


def measured_within(server: RunningServer, crowd: Crowd, database: str, name: str, times: int) -> bool:
    """Measure one round and print its line; was it within the limit?"""
    taken: dict[str, list[float]] = {agent: [] for agent in CROWD}
    for _ in range(times):
        asks = crowd.ask()
        accepted = WAYS[name](server, crowd, asks)
        wait_heard(crowd, asks, every=0.1)
        for ask in asks:
            taken[crowd.type_of(ask)].append(((crowd.heard(ask) or 0) - accepted[ask.id]) / 1000)
    every = [one for some in taken.values() for one in some]
    p99 = percentile(every, 99)
    within = p99 < LIMIT_MS
    print(
        f"{database:<12}{name:<15}{len(every):>8}"
        + "".join(f"{percentile(some, 99):>10.1f}" for some in taken.values())
        + f"{percentile(every, 50):>9.1f}{p99:>9.1f}{max(every):>9.1f}{LIMIT_MS:>7.0f}{p99 / LIMIT_MS:>10.0%}"
        f"  {'within' if within else 'TOO SLOW'}",
        flush=True,
    )
    return within


def wait_heard(crowd: Crowd, asks: list[Ask], every: float) -> None:
    retry_until(lambda: all(crowd.heard(ask) for ask in asks), timeout=_PATIENCE, every=every)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES))
