"""What an agent's client waits for: `gemba-mcp` from its start to its first answers, against a bare interpreter.

Every agent has a process of it, so it may cost at most three bare starts until it has answered `initialize`, and the
frame of a first call little more. Runs are interleaved, so that a busy machine slows all of them alike, and the ratio
of medians is judged. Exits 1 past the limit. Run as `python benchmarks/mcp_start.py [RUNS]`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 60
LIMIT = 3.0

_SPOKEN = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
_REPORT = {"name": "report_state", "arguments": {"state": "working"}}
MESSAGES = {
    "initialize": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _SPOKEN},
    "tools/list": {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    "report_state": {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": _REPORT},
}


def main(runs: int) -> int:
    script = Path(sys.executable).parent / "gemba-mcp"
    call = [sys.executable, "-c", "from gemba.cli.mcp import main; main()"]
    pipe = [str(script)] if script.exists() else call
    times: dict[str, list[float]] = {name: [] for name in ("bare", *MESSAGES)}
    with tempfile.TemporaryDirectory() as home:
        # Without PYTHON…: the bare interpreter ignores them, and one of them would forbid cached bytecode.
        (Path(home) / "workspace/.gemba").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GEMBA_"))}
        environment |= {"GEMBA_HOME": home, "GEMBA_SESSION_ID": "benchmark", "GEMBA_WORKSPACE": f"{home}/workspace"}
        for run in range(-3, runs):
            seconds = {"bare": _bare(environment), **_answers(pipe, environment)}
            if run >= 0:
                for name, taken in seconds.items():
                    times[name].append(taken)
        frames = (Path(home) / "sessions/benchmark.jsonl").read_bytes().splitlines()
        assert len(frames) == runs + 3, frames
    medians = {name: statistics.median(values) for name, values in times.items()}
    bare = medians["bare"]
    print(f"{'until':<14}{'median ms':>10}{'ratio':>8}{'limit':>8}  verdict")
    for name, median in medians.items():
        judged = f"{LIMIT:>8.2f}  {'within' if median / bare < LIMIT else 'TOO SLOW'}" if name == "initialize" else ""
        print(f"{name:<14}{median * 1000:>10.1f}{median / bare:>8.2f}{judged}")
    return int(medians["initialize"] / bare >= LIMIT)


def _bare(environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], env=environment, check=True)
    return time.perf_counter() - began


def _answers(pipe: list[str], environment: dict[str, str]) -> dict[str, float]:
    """How long after its start each message was answered, one after the other."""
    began = time.perf_counter()
    with subprocess.Popen(pipe, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        taken = {}
        for name, message in MESSAGES.items():
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            taken[name] = time.perf_counter() - began
            assert not answer["result"].get("isError"), answer
        process.stdin.close()
    assert process.returncode == 0
    return taken


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
