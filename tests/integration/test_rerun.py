"""The commands of an envelope, run again: whatever they do, they end, and their exit code is what counts."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemba import shell
from gemba.errors import Unusable
from gemba.handoff.world import Check, GatePolicy, Limits, Snapshot, check_world
from gemba.testing import retry_until

NOTHING = Snapshot(repository=False)


def only(*names: str) -> GatePolicy:
    chosen = {name: "require" if name in names else "off" for name in GatePolicy.__struct_fields__}
    return msgspec.convert(chosen, GatePolicy)


def envelope(commands: Any = None, **verification: Any) -> dict[str, Any]:
    evidence = {"commands_run": commands, "verification": {"result": "pass", **verification}}
    return {"agent_status": {"plan_status": "COMPLETE"}, "evidence_report": evidence}


def found(checks: list[Check]) -> list[tuple[str, str]]:
    return [(check.verdict, check.found) for check in checks]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "a folder"
    inside.mkdir()
    (inside / "app.py").write_text("one\n")
    return inside


def rerun(folder: Path, command: str, **verification: Any) -> Check:
    limits = verification.pop("limits", Limits(seconds=1.5))
    may_run = verification.pop("may_run", None)
    claimed = envelope(command=command, **verification)
    policy = only("rerun_verification")
    (check,) = check_world(claimed, NOTHING, [], policy, folder, limits=limits, may_run=may_run)
    return check


def ends_soon(act: Callable[[], Check], seconds: float = 20.0) -> Check:
    began = time.monotonic()
    check = act()
    assert time.monotonic() - began < seconds
    return check


@pytest.mark.parametrize(
    ("command", "verdict", "found"),
    [
        ("true", "ok", "exit code 0"),
        ("false", "failed", "exit code 1"),
        ("pwd; test -f app.py", "ok", "exit code 0"),
        ("no-such-program-at-all", "failed", "exit code 127"),
        ("kill -9 $$", "failed", "exit code 137"),
        ("-x", "failed", "exit code 127"),
        ("cat; read line; echo unread", "ok", "exit code 0"),
        ("sleep 100 & sleep 100 & echo begun", "ok", "exit code 0"),
        ("yes & true", "ok", "exit code 0"),
        ("sleep 100", "failed", "it had not ended after 1.5 s"),
        ("trap '' TERM INT HUP; while :; do sleep 1; done", "failed", "it had not ended after 1.5 s"),
        ("yes", "failed", "it had not ended after 1.5 s"),
        ("exec 1>&- 2>&-; sleep 100", "failed", "it had not ended after 1.5 s"),
        ("x" * 200_000, "failed", "it cannot be run"),
        ("echo a\0b", "failed", "it cannot be run"),
        ("echo \ud800", "failed", "it cannot be run"),
    ],
)
def test_a_command_that_is_run_again_ends_and_its_exit_code_is_compared(
    folder: Path, command: str, verdict: str, found: str
) -> None:
    check = ends_soon(lambda: rerun(folder, command))

    assert (check.verdict, check.found) == (verdict, found)
    assert len(check.claimed) <= 500
    assert check.claimed.endswith(" → exit code 0")


def test_a_command_that_prints_without_end_takes_no_memory(folder: Path) -> None:
    command = f"{sys.executable} -c \"import os; [os.write(1, b'x' * 1000000) for _ in range(100)]\" && echo end >&2"

    check = ends_soon(lambda: rerun(folder, command, limits=Limits(seconds=60)))

    assert (check.verdict, check.found) == ("ok", "exit code 0")
    assert len(check.note) <= 200


def test_children_that_a_command_leaves_behind_are_gone(folder: Path) -> None:
    rerun(folder, "(trap '' TERM HUP; echo $BASHPID > left; exec sleep 100) & while [ ! -s left ]; do :; done")
    left = int((folder / "left").read_text())

    retry_until(lambda: not _runs(left), timeout=10)


def _runs(process: int) -> bool:
    """A killed child of nobody may be a zombie for a moment."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_command_runs_in_the_folder_without_gembas_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SECRET", "x")
    monkeypatch.setenv("OTHER", "y")

    check = rerun(folder, 'echo "$PWD ${GEMBA_SECRET-none} $OTHER"')

    assert check.note == f"{folder} none y"


@pytest.mark.parametrize(
    ("exit_code", "verdict"),
    [(3, "ok"), ("3", "ok"), (0, "failed"), (None, "failed"), (True, "failed"), ([], "failed")],
)
def test_a_claimed_exit_code_is_compared_and_0_where_none_is(folder: Path, exit_code: object, verdict: str) -> None:
    assert rerun(folder, "exit 3", exit_code=exit_code).verdict == verdict


def test_a_command_that_may_not_be_run_again_is_not(folder: Path) -> None:
    def refuse(command: str) -> str | None:
        return f"{command.split()[0]} changes state" if command.startswith("touch") else None

    claimed = envelope(
        [{"command": "touch ran", "result": "ok"}, {"command": "ls", "result": "ok"}], command="touch ran"
    )
    policy = only("rerun_verification", "rerun_commands")
    checks = check_world(claimed, NOTHING, [], policy, folder, may_run=refuse)

    assert [(check.name, check.verdict, check.found) for check in checks] == [
        ("rerun_verification", "failed", "it was not run again: touch changes state"),
        ("rerun_commands", "unknown", "it was not run again: touch changes state"),
        ("rerun_commands", "ok", "exit code 0"),
    ]
    assert not (folder / "ran").exists()


def test_every_command_is_run_once_and_those_without_a_result_not_at_all(folder: Path) -> None:
    command = "echo x >> runs"
    commands = [{"command": command, "result": "ok"}, {"command": command, "result": "failed"}, "echo y >> runs"]
    claimed = envelope([*commands, {"command": "echo z >> runs", "result": "see above"}], command=command)

    checks = check_world(claimed, NOTHING, [], only("rerun_verification", "rerun_commands"), folder)

    assert [check.verdict for check in checks] == ["ok", "ok", "failed"]
    assert (folder / "runs").read_text() == "x\n"


def test_no_more_is_run_again_than_the_limits_allow(folder: Path) -> None:
    commands = [{"command": f"touch ran{number}", "result": "ok"} for number in range(3)]
    policy = only("rerun_commands")

    few = check_world(envelope(commands), NOTHING, [], policy, folder, limits=Limits(commands=2))
    none = check_world(envelope(commands), NOTHING, [], policy, folder, limits=Limits(total_seconds=0))

    assert [check.verdict for check in few] == ["ok", "ok", "failed"]
    assert few[2].found == "it was not run again: 2 commands and 600 s are allowed"
    assert [check.verdict for check in none] == ["failed"] * 3
    assert not (folder / "ran2").exists()


def test_a_verification_without_a_command_cannot_be_run_again(folder: Path) -> None:
    policy = only("rerun_verification", "verification")

    assert found(check_world(envelope(verification_method="read"), NOTHING, [], policy, folder)) == [
        ("failed", "0 tool calls"),
        ("failed", "nothing that could be run again"),
    ]
    assert found(check_world(envelope(command=["ls"]), NOTHING, [], policy, folder)) == [
        ("failed", "it names no command"),
        ("failed", "it names no command"),
    ]


# ---- programs --------------------------------------------------------------------------------------------------------


def test_what_a_program_is_given_may_be_larger_than_a_pipe() -> None:
    given_bytes = b"\xff\n" * 1_000_000

    assert shell.run(["wc", "-c"], given=given_bytes).stdout.strip() == "2000000"
    assert shell.run(["true"], given=given_bytes).code == 0
    echoed = shell.run(["cat"], given=given_bytes, limit=3_000_000, errors="surrogateescape")
    assert echoed.stdout.encode("utf-8", "surrogateescape") == given_bytes
    assert (shell.run(["cat"], given=given_bytes).cut, echoed.cut) == (True, False)


def test_what_a_program_printed_last_is_not_lost_when_its_children_go_on() -> None:
    found = shell.run(["sh", "-c", "sleep 100 & printf '%065000d' 0; echo error >&2; exit 5"])

    assert (found.code, len(found.stdout), found.stderr) == (5, 65_000, "error\n")


def test_a_program_that_cannot_be_started_or_does_not_end_is_unusable(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="no-such cannot be run: No such file") as missing:
        shell.run(["no-such"])
    with pytest.raises(Unusable, match="true cannot be run: no program can be given"):
        shell.run(["true", "a\0b"])
    with pytest.raises(Unusable, match=r"sleep took longer than 0\.2 s") as slow:
        shell.run(["sleep", "100"], timeout=0.2)
    assert (missing.value.code, slow.value.code) == ("program_missing", "program_slow")
