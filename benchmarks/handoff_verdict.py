"""What a verdict costs: against `json.loads` of the envelope's body alone, which no verdict can do without.

An envelope of 2 KB in a turn's text is judged as an agent sends it, with its dispatch known as in a gate, with a fault
to be told, and decoded already; each in turn with `json.loads` of the same body, and the ratio of medians is judged. A
gate's verdict reads the input envelope too, and one with a fault is written for a person: they have no limit, and
stand there to show what they cost. A large envelope shows megabytes a second.

Exits 1 past a limit. What else the machine does can only make it slower, so a round past the limit is measured again,
at most twice. Run as `python -m benchmarks.handoff_verdict [CALLS]`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from gemba.handoff.verdict import judge, judge_object

CALLS = 500  # of one measurement
TURNS = 31
ROUNDS = 3
LIMIT, AIM = 3.0, 1.5  # times json.loads
SLOWEST = 10.0  # megabytes a second
_LARGE = 4_000_000

AGENT = "a0123456789abcdef"
ENVELOPE: dict[str, Any] = {
    "agent_status": {
        "plan_status": "COMPLETE",
        "agent_id": AGENT,
        "pending_steps": [],
        "next_action": "Review the change and merge it when the pipeline is green.",
    },
    "evidence_report": {
        "patterns_checked": ["settings are read in one place", "every option has a line in the manual"],
        "files_checked": ["src/app/settings.py", "src/app/server.py", "docs/settings.md", "tests/test_settings.py"],
        "commands_run": [
            {"command": "git status --short", "result": "M src/app/settings.py"},
            {"command": "pytest -q tests/test_settings.py", "result": "14 passed"},
            "ruff check src",
        ],
        "key_outputs": [
            "The port is an option now: `--port`, else APP_PORT, else 8000.",
            "A port that is taken is told with the name of the process that has it, and the program ends with 3.",
        ],
        "verbatim_outputs": ["14 passed in 0.42s", "usage: app [--port PORT]\n  --port PORT  where to listen (8000)"],
        "cross_layer_impacts": [
            "The compose file passes APP_PORT to the container; its default stays 8000.",
            "The health check of the proxy asks the port from the same variable, so that nothing else has to change.",
        ],
        "open_gaps": [],
        "verification": {
            "result": "pass",
            "verification_method": "test",
            "command": "pytest -q",
            "exit_code": 0,
            "files_produced": ["docs/port.md"],
            "files_modified": [{"path": "src/app/settings.py", "lines_before": 118, "lines_after": 131}],
            "artifacts_written": ["docs/port.md"],
            "details": "All of the suite ran, 214 passed; the new tests fail without the change.",
        },
    },
    "user_facing_summary": "The port can be set with --port or APP_PORT; a port that is taken is told by name.",
}
GIVEN = {
    "metadata": {"agent_id": AGENT, "task_id": "t-1"},
    "surface_routing": {"surfaces": ["api"], "multi_surface": False},
    "agent_contract_handoff": {"consolidation_required": False, "cross_check_required": False},
    "write_permissions": {"writable_sections": ["services"]},
}


class Case(NamedTuple):
    what: str
    work: Callable[[], Any]
    limit: float | None


def main(calls: int) -> int:
    body = json.dumps(ENVELOPE, indent=2)
    text = f"The port is an option now.\n\n```agent_contract_handoff\n{body}\n```\n"
    wrong = text.replace('"COMPLETE"', '"DONE"')
    assert judge(text).action == judge(text, GIVEN).action == judge_object(ENVELOPE).action == "accept"
    assert judge(text).findings == []
    assert judge(wrong).invalid == ["PLAN_STATUS:DONE"]
    cases = [
        Case("json.loads", lambda: json.loads(body), None),
        Case("verdict", lambda: judge(text), LIMIT),
        Case("dispatch known", lambda: judge(text, GIVEN), None),
        Case("with a fault", lambda: judge(wrong), None),
        Case("decoded already", lambda: judge_object(ENVELOPE), None),
    ]
    print(f"an envelope of {len(body):,} bytes, medians of {TURNS} turns of {calls:,} calls")
    print(f"{'what':<20}{'µs':>10}{'ratio':>9}{'limit':>9}  verdict")
    verdicts = [compare(cases, calls), is_quick_enough()]
    return 0 if all(verdicts) else 1


def compare(cases: list[Case], calls: int) -> bool:
    """Print the lines of the table; is everything within its limit?"""
    medians, is_within, rounds = [0.0], False, 0
    while not is_within and rounds < ROUNDS:
        medians, rounds = in_turn([case.work for case in cases], calls), rounds + 1
        pairs = zip(cases, medians, strict=True)
        is_within = all(case.limit is None or median <= case.limit * medians[0] for case, median in pairs)
    for case, median in zip(cases, medians, strict=True):
        ratio = median / medians[0]
        print(f"{case.what:<20}{1e6 * median:>10.2f}{ratio:>9.2f}{told(case, ratio)}")
    return is_within


def in_turn(works: list[Callable[[], Any]], calls: int) -> list[float]:
    """The median seconds of a call of each, measured in turn, so that a busy machine slows all of them alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(TURNS):
        for work, taken in zip(works, times, strict=True):
            begun = time.perf_counter()
            for _ in range(calls):
                work()
            taken.append((time.perf_counter() - begun) / calls)
    return [statistics.median(taken) for taken in times]


def told(case: Case, ratio: float) -> str:
    if case.limit is None:
        return ""
    verdict = "as aimed" if ratio <= AIM else "within" if ratio <= case.limit else "TOO SLOW"
    return f"{case.limit:>9.2f}  {verdict} (aim {AIM:.2f})"


def is_quick_enough() -> bool:
    """A large envelope: every list is long, and all of it is judged."""
    line = {"command": "pytest -q tests/test_settings.py", "result": "14 passed"}
    report = {**ENVELOPE["evidence_report"], "commands_run": [line] * (_LARGE // len(json.dumps(line)))}
    text = f"```agent_contract_handoff\n{json.dumps({**ENVELOPE, 'evidence_report': report})}\n```"
    assert judge(text).valid
    seconds = min(in_turn([lambda: judge(text)], 1)[0] for _ in range(ROUNDS))
    speed = len(text) / seconds / 1e6
    verdict = "within" if speed >= SLOWEST else "TOO SLOW"
    print(f"{f'{len(text) / 1e6:.1f} MB':<20}{speed:>10.1f} MB/s; limit {SLOWEST:.0f}  {verdict}")
    return speed >= SLOWEST


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS))
