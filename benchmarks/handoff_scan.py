"""What finding the block costs: against `json.loads` of its body alone, and on texts made to be slow.

The first line is a 2 KB envelope in a turn's text, in turn with `json.loads` of its body, and the ratio of medians is
judged. Then every hostile shape at sizes that double up to 16 MB: megabytes a second at the largest, and how much a
doubling costs, as the mean of all of them: 2 is linear, 4 quadratic. Exits 1 past a limit. Run as
`python -m benchmarks.handoff_scan [ROUNDS]`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

from gemba.handoff.block import find_block

ROUNDS = 3
LIMIT, AIM = 3.0, 1.5  # times json.loads
SLOWEST = 10.0  # megabytes a second
GROWTH = 2.3
_MB = 1_000_000
_SIZES = (1, 2, 4, 8, 16)
_CALLS, _TURNS = 2_000, 15

_OPENER = "```agent_contract_handoff\n"
# (what, how it begins, what is repeated up to the size)
SHAPES = (
    ("one long word", "", "a"),
    ("newlines", _OPENER, "\n"),
    ("backticks", _OPENER, "`"),
    ("spaces behind an opener", _OPENER.strip(), " "),
    ("nearly an opener", "", _OPENER[:-2]),
    ("openers", "", _OPENER),
    ("openers, an open brace", "", _OPENER + "{\n"),
    ("openers, an open string", "", _OPENER + '{"a": "b'),
    ("openers, a faulty object", "", _OPENER + '{"agent_status": {"plan_status": "COMPLETE",}}\n'),
    ("openers, a key twice", "", _OPENER + '{"":0,"":0}x}\n'),
    ("openers, an object", "", _OPENER + "{}\n```\n"),
    ("nested lists", _OPENER, "["),
    ("nested objects", _OPENER, '{"a":'),
    ("shallow lists", _OPENER + '{"a":[', "[],"),
    ("shallow nested lists", _OPENER + '{"a":[', "[[[1]]],"),
    ("small objects", _OPENER + '{"a":[', '{"a":"b"},'),
    ("records", _OPENER + '{"a":[', '{"a":[1],"b":{"c":null}},'),
    ("keys twice", _OPENER + '{"a":[', '{"a":1,"a":2},'),
    ("numbers", _OPENER + '{"a":[', "1,"),
    ("one long number", _OPENER + '{"a":', "1"),
    ("one long fraction", _OPENER + '{"a":0.', "1"),
    ("one long string", _OPENER + '{"a":"', "b"),
    ("escaped quotes", _OPENER + '{"a":"', '\\"'),
    ("quotes", _OPENER + '{"a":[', '"'),
)


def main(rounds: int) -> int:
    verdicts = [compare_with_loads()]
    print(f"\n{'shape':<26}{'at 16 MB: ms':>14}{'MB/s':>10}{'limit':>8}{'a doubling':>13}{'limit':>8}  verdict")
    verdicts += [measure(name, begin, piece, rounds) for name, begin, piece in SHAPES]
    return 0 if all(verdicts) else 1


def compare_with_loads() -> bool:
    """Print the line of a usual envelope; is it within the limit?"""
    body = envelope()
    text = f"The tests pass; the contract follows.\n\n{_OPENER}{body}\n```\n"
    assert find_block(text).body == json.loads(body), "the envelope was not found"
    times: dict[str, list[float]] = {"json.loads": [], "find_block": []}
    for _ in range(_TURNS):
        times["json.loads"].append(seconds(lambda: json.loads(body), _CALLS) / _CALLS)
        times["find_block"].append(seconds(lambda: find_block(text), _CALLS) / _CALLS)
    loads, found = (statistics.median(values) * 1e6 for values in times.values())
    ratio = found / loads
    verdict = "as aimed" if ratio <= AIM else "within" if ratio <= LIMIT else "TOO SLOW"
    print(f"{'what':<26}{'bytes':>8}{'json.loads µs':>16}{'find_block µs':>16}{'ratio':>8}{'limit':>8}  verdict")
    print(
        f"{'an envelope in its text':<26}{len(body):>8,}{loads:>16.2f}{found:>16.2f}{ratio:>8.2f}{LIMIT:>8.2f}"
        f"  {verdict} (aim {AIM:.2f})"
    )
    return ratio <= LIMIT


def measure(name: str, begin: str, piece: str, rounds: int) -> bool:
    """Print one line of the table; is it within both limits?"""
    best = []
    for size in _SIZES:
        text = (begin + piece * (size * _MB // len(piece) + 1))[: size * _MB]
        best.append(min(seconds(lambda text=text: find_block(text)) for _ in range(rounds)))  # type: ignore[misc]
    speed = _SIZES[-1] / best[-1]
    growth = (best[-1] / best[0]) ** (1 / (len(_SIZES) - 1))
    is_within = speed >= SLOWEST and growth <= GROWTH
    print(
        f"{name:<26}{best[-1] * 1000:>14,.1f}{speed:>10,.0f}{SLOWEST:>8.0f}{growth:>13.2f}{GROWTH:>8.2f}"
        f"  {'within' if is_within else 'TOO SLOW'}",
        flush=True,
    )
    return is_within


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Of the processor, so that what else runs on the machine is not counted."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - begun


def envelope() -> str:
    """An output envelope of 2 KB, as agents write it."""
    document = {
        "agent_status": {
            "plan_status": "COMPLETE",
            "agent_id": "a1b2c3d4e5f60718",
            "pending_steps": [],
            "next_action": "Merge the branch once the second reviewer has looked at the migration.",
        },
        "evidence_report": {
            "patterns_checked": ["retry loops without a limit", "timeouts that are passed on unchanged"],
            "files_checked": ["src/shop/payment/client.py", "src/shop/payment/retry.py", "tests/test_payment.py"],
            "commands_run": [
                {"command": "pytest -q tests/test_payment.py", "result": "41 passed in 3.2 s"},
                {"command": "ruff check src/shop/payment", "result": "All checks passed!"},
                {"command": "git diff --stat", "result": "3 files changed, 58 insertions(+), 21 deletions(-)"},
            ],
            "key_outputs": [
                "A payment that times out is tried again three times at most, with the same idempotency key.",
                "The retry's waits are drawn from a seeded source, so that its tests take no time.",
            ],
            "verbatim_outputs": ["tests/test_payment.py ......................................... [100%]\n41 passed"],
            "cross_layer_impacts": ["The order page shows 'still trying' for up to nine seconds."],
            "open_gaps": ["The provider's sandbox answers no request with 409, so that path is read, not run."],
            "verification": {
                "result": "pass",
                "verification_method": "test",
                "command": "pytest -q tests/test_payment.py",
                "exit_code": 0,
                "files_modified": [{"path": "src/shop/payment/retry.py", "lines_before": 64, "lines_after": 101}],
                "artifacts_written": ["src/shop/payment/retry.py", "tests/test_payment.py"],
                "details": "The suite of the payment package, and the two tests that failed before the change.",
            },
        },
        "user_facing_summary": "Payments that time out are tried again, three times at most, and never charged twice.",
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
