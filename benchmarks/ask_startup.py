"""What an agent pays for a call: `gemba-ask` and `gemba-state` against a bare interpreter of the same environment.

Runs are interleaved, so that a busy machine slows all of them alike, and the ratio of medians is judged. Exits 1 past
the limit. Run as `python benchmarks/ask_startup.py [RUNS]`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 100
LIMIT = 1.8
AIM = 1.2


def main(runs: int) -> int:
    commands = Path(sys.executable).parent
    bare = [sys.executable, "-I", "-c", "pass"]
    measured = {
        "gemba-ask": [str(commands / "gemba-ask"), "--kind=question", "--role=coach", "--text=Which port?"],
        "gemba-state": [str(commands / "gemba-state"), "working"],
    }
    with tempfile.TemporaryDirectory() as home:
        # Without PYTHON…: the bare interpreter ignores them, and one of them would forbid cached bytecode.
        (Path(home) / "workspace/.gemba").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GEMBA_"))}
        environment |= {"GEMBA_HOME": home, "GEMBA_SESSION_ID": "benchmark", "GEMBA_INTERACTION_MODE": "balanced"}
        environment["GEMBA_WORKSPACE"] = f"{home}/workspace"
        everything = {"python -I -c pass": bare, **measured}
        times: dict[str, list[float]] = {name: [] for name in everything}
        for run in range(-3, runs):
            for name, command in everything.items():
                begun = time.perf_counter()
                subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
                if run >= 0:
                    times[name].append(time.perf_counter() - begun)
        frames = (Path(home) / "sessions" / "benchmark.jsonl").read_bytes().count(b"\n")
        assert frames == (runs + 3) * len(measured), f"{frames} frames were written"

    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians["python -I -c pass"]
    print(f"{'what':<20}{'median ms':>12}{'ratio':>9}{'limit':>9}  verdict")
    print(f"{'python -I -c pass':<20}{base * 1000:>12.2f}{1:>9.2f}{'':>9}")
    verdicts = []
    for name in measured:
        ratio = medians[name] / base
        verdicts.append(ratio <= LIMIT)
        verdict = "as aimed" if ratio <= AIM else "within" if ratio <= LIMIT else "TOO SLOW"
        print(f"{name:<20}{medians[name] * 1000:>12.2f}{ratio:>9.2f}{LIMIT:>9.2f}  {verdict} (aim {AIM:.2f})")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
