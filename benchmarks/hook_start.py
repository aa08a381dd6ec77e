"""What a client waits for at a hook: `gemba-bridge hook` as a process against a bare interpreter.

A client runs it at every tool call and at the end of every turn, so it may cost at most three bare starts: for a short
turn, for one that is judged, and for 100 KB that are a single word, in which a careless scan loses itself. Approvals
may cost five: they read the table of known commands. Runs are interleaved, so that a busy machine slows all of them
alike, and the ratio of medians is judged. Exits 1 past a limit. Run as `python benchmarks/hook_start.py [RUNS]`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

RUNS = 60
LIMIT = 3.0
APPROVAL_LIMIT = 5.0

_WORD = "a" * 100_000
_LISTS = (
    *("patterns_checked", "files_checked", "commands_run", "key_outputs"),
    *("verbatim_outputs", "cross_layer_impacts", "open_gaps"),
)
_STATUS = {"plan_status": "BLOCKED", "agent_id": "a0123456789abcdef", "pending_steps": [], "next_action": "wait"}
_ENVELOPE = {"agent_status": _STATUS, "evidence_report": {name: ["a line of evidence " * 10] for name in _LISTS}}
_HANDOFF = f"Done.\n\n```agent_contract_handoff\n{json.dumps(_ENVELOPE, indent=2)}\n```\n"


class Hook(NamedTuple):
    """A call: its words, what the client sends, and what must come of it."""

    words: list[str]
    payload: dict[str, object]
    prints: bytes = b""

    @property
    def limit(self) -> float:
        return APPROVAL_LIMIT if "--approvals" in self.words else LIMIT


HOOKS = {
    "ordinary turn": Hook(["Stop"], {"last_assistant_message": "The port is 8080."}),
    "accepted handoff": Hook(["SubagentStop", "--require"], {"last_assistant_message": _HANDOFF}),
    "refused turn": Hook(["SubagentStop", "--require"], {"last_assistant_message": "Done."}, b'"decision":"block"'),
    "refused, one word": Hook(["SubagentStop", "--require"], {"last_assistant_message": _WORD}, b'"decision":"block"'),
    "accepted, one word": Hook(["SubagentStop", "--require"], {"last_assistant_message": _WORD + _HANDOFF}),
    "tool call": Hook(["PreToolUse"], {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    "tool call, one word": Hook(["PostToolUse"], {"tool_name": "Bash", "tool_response": {"stdout": _WORD}}),
    "approval, read": Hook(["PreToolUse", "--approvals"], {"tool_name": "Bash", "tool_input": {"command": "ls -l"}}),
    "approval, one word": Hook(
        ["PreToolUse", "--approvals"], {"tool_name": "Bash", "tool_input": {"command": f"echo {_WORD}"}}
    ),
}


def main(runs: int) -> int:
    script = Path(sys.executable).parent / "gemba-bridge"
    call = [sys.executable, "-c", "from gemba.cli.bridge import main; main()"]
    bridge = [str(script)] if script.exists() else call
    times: dict[str, list[float]] = {name: [] for name in ("bare", *HOOKS)}
    with tempfile.TemporaryDirectory() as home:
        # Without PYTHON…: the bare interpreter ignores them, and one of them would forbid cached bytecode.
        (Path(home) / "workspace/.gemba").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GEMBA_"))}
        environment |= {"GEMBA_HOME": home, "GEMBA_SESSION_ID": "benchmark", "GEMBA_WORKSPACE": f"{home}/workspace"}
        for run in range(-3, runs):
            seconds = {"bare": _timed([sys.executable, "-I", "-c", "pass"], {}, environment, b"")}
            for number, (name, hook) in enumerate(HOOKS.items()):
                # Each refusal is the first one of its agent.
                payload = {"agent_id": f"a{number:04x}{run + 3:04x}", **hook.payload}
                seconds[name] = _timed([*bridge, "hook", *hook.words], payload, environment, hook.prints)
            if run >= 0:
                for name, taken in seconds.items():
                    times[name].append(taken)
        lines = (Path(home) / "sessions/benchmark.jsonl").read_bytes().splitlines()
        accepted = sum(b'"hook":"GembaHandoff"' in line for line in lines)
        assert len(lines) - accepted == (runs + 3) * len(HOOKS), f"{len(lines)} frames were written"
        assert accepted == (runs + 3) * 2, f"{accepted} handoffs were accepted"
    return _report({name: statistics.median(taken) for name, taken in times.items()})


def _timed(command: list[str], payload: dict[str, object], environment: dict[str, str], prints: bytes) -> float:
    sent = json.dumps(payload).encode()
    begun = time.perf_counter()
    found = subprocess.run(command, input=sent, env=environment, capture_output=True, check=True)
    taken = time.perf_counter() - begun
    assert prints in found.stdout if prints else not found.stdout, found
    return taken


def _report(medians: dict[str, float]) -> int:
    base = medians["bare"]
    print(f"{'hook':<22}{'median ms':>12}{'ratio':>9}{'limit':>9}  verdict")
    print(f"{'python -I -c pass':<22}{base * 1000:>12.2f}{1:>9.2f}")
    verdicts = []
    for name, hook in HOOKS.items():
        ratio = medians[name] / base
        verdicts.append(ratio <= hook.limit)
        verdict = "within" if verdicts[-1] else "TOO SLOW"
        print(f"{name:<22}{medians[name] * 1000:>12.2f}{ratio:>9.2f}{hook.limit:>9.2f}  {verdict}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
