"""`gemba-state` as an agent runs it: a real process, its output, its exit code and the frame it leaves."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gemba import __version__, wire

STATE = str(Path(sys.executable).parent / "gemba-state")


@pytest.fixture(autouse=True)
def _session(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", "s")
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", "balanced")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([STATE, *arguments], capture_output=True, text=True)


def frames(home: Path) -> list[dict[str, object]]:
    log = Path(wire.log_path(str(home), "s"))
    return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


@pytest.mark.parametrize("state", wire.STATES)
def test_a_state_is_one_frame_and_one_line(home: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setenv("GEMBA_AGENT_TYPE", "claude")
    found = run(state)
    (frame,) = frames(home)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"{frame['event_id']} reported: {state}\n", "")
    assert (frame["hook"], frame["session_id"], frame["agent_type"]) == ("GembaState", "s", "claude")
    assert frame["payload"] == {"state": state}


@pytest.mark.parametrize(
    "arguments",
    [
        ("working", "--bead", "shop-1", "--note", "on it ✓"),
        ("--bead=shop-1", "working", "--note=on it ✓"),
        ("--note", "on it ✓", "--bead", "shop-1", "working"),
    ],
)
def test_flags_may_stand_before_and_behind_the_state(home: Path, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 0
    assert [frame["payload"] for frame in frames(home)] == [
        {"state": "working", "bead_id": "shop-1", "note": "on it ✓"}
    ]


def test_a_state_names_its_workspace(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    run("ready")
    assert frames(home)[0]["workspace"] == str(workspace)


def test_json_tells_the_same_to_a_program(home: Path) -> None:
    found = run("ready", "--json")
    assert json.loads(found.stdout) == {"event_id": frames(home)[0]["event_id"], "state": "ready"}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ["no state is given", *wire.STATES]),
        (("done",), ["state 'done' is unknown", *wire.STATES]),
        (("",), ["state '' is unknown", *wire.STATES]),
        (("working", "hard"), ["unexpected argument 'hard'", "--note"]),
        (("working", "--note"), ["--note needs a value"]),
        (("working", "--note", " "), ["--note is empty"]),
        (("working", "--note", "x" * 2001), ["--note has 2001 characters", "2000"]),
        (("working", "--bead="), ["--bead is empty"]),
        (("working", "--bead=1", "--bead=2"), ["--bead is given twice"]),
        (("working", "--wait"), ["unknown flag '--wait'", "--bead --note --json"]),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(home: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    found = run(*arguments)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (1, "", 1)
    assert found.stderr.startswith("gemba-state: ")
    assert [part for part in parts if part not in found.stderr] == []
    assert frames(home) == []


def test_the_environment_is_checked_as_for_an_ask(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_INTERACTION_MODE")
    found = run("ready")
    assert found.returncode == 0
    assert found.stderr == "gemba-state: warning: GEMBA_INTERACTION_MODE is not set, going by balanced\n"
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", "x")
    assert "dangerous, balanced, cautious" in run("ready").stderr
    monkeypatch.delenv("GEMBA_SESSION_ID")
    found = run("ready")
    assert (found.returncode, found.stdout) == (1, "")
    assert "GEMBA_SESSION_ID is not set" in found.stderr
    assert len(frames(home)) == 1


@pytest.mark.parametrize("mode", wire.MODES)
def test_a_state_is_reported_in_every_mode(home: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", mode)
    assert run("prompting").returncode == 0
    assert len(frames(home)) == 1


def test_a_home_that_cannot_be_used_is_told_in_one_line(home: Path) -> None:
    home.rmdir()
    home.write_text("mine")
    found = run("ready")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == f"gemba-state: '{home}/sessions/s.jsonl': Not a directory\n"


def test_help_needs_nothing_and_its_example_works(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert "|".join(wire.STATES) in found.stdout
    example = found.stdout.partition("Example:\n")[2].splitlines()[0]
    subprocess.run(["sh", "-c", example.replace("gemba-state", shlex.quote(STATE))], check=True, capture_output=True)
    assert len(frames(home)) == 1
    monkeypatch.delenv("GEMBA_SESSION_ID")
    assert run("-h").stdout == found.stdout


def test_version() -> None:
    assert run("--version").stdout == f"gemba-state {__version__}\n"
