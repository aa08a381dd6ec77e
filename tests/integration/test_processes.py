"""The forked `gemba` of the fixtures is what a `gemba` that the system starts is, and leaves nothing for the next."""

import os
import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import processes
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN, RunningServer

GEMBA = BIN / "gemba"


def command_line(process: processes.Process) -> str:
    return Path(f"/proc/{process.pid}/cmdline").read_text()


def said(operator: Operator, *arguments: str, **more: Any) -> tuple[int, str, str]:
    done = operator.run(*arguments, **more)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (["inbox"], {}),
        ([], {}),
        (["--help"], {"COLUMNS": "40"}),
        (["answer", "abcd", "a\udcff"], {}),
        (["context", "check", "-"], {"stdin": '{"ip": "34.102.136.180"}\r\n'}),
        (["context", "check", "-"], {"stdin": "[" * 200_000}),
        (["inbox"], {"GEMBA_HOME": "~nobody-of-this-name"}),
    ],
)
def test_a_forked_command_says_what_a_cold_one_says(alone: Operator, arguments: list[str], more: Any) -> None:
    forked = said(alone, *arguments, **more)

    assert forked == said(alone, *arguments, **more, GEMBA_TEST_COLD="1")
    assert "".join(forked[1:])


def test_nothing_of_one_command_is_left_for_the_next(alone: Operator, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".gemba").mkdir(parents=True)
    before = alone.run("policy", "check")

    changed = alone.run("policy", "check", cwd=other, GEMBA_HOME="/nowhere", TZ="Asia/Tokyo", GEMBA_WORKSPACE="")

    assert changed.stdout == f"{other}/.gemba/workspace.toml: nothing is wrong\n"
    after = alone.run("policy", "check")
    assert (after.returncode, after.stdout, after.stderr) == (before.returncode, before.stdout, before.stderr)
    assert str(alone.workspace) in after.stdout


def test_what_is_read_as_an_interpreter_starts_starts_one(sqlite_server: RunningServer) -> None:
    assert "tests.fixtures.warm" in command_line(sqlite_server.process)
    sqlite_server.kill()

    sqlite_server.start(LC_ALL="C")

    assert f"{GEMBA}\0serve\0" in command_line(sqlite_server.process)
    warm = processes.Warm()
    assert warm.can_be({**os.environ, "TZ": "UTC"})
    for name in ("PYTHONPATH", "LANG", "LD_PRELOAD", "GEMBA_TEST_CLOCK"):
        assert not warm.can_be({**os.environ, name: "x"})
    warm.end()


def test_a_forked_server_is_killed_stopped_and_waited_for(sqlite_server: RunningServer) -> None:
    process = sqlite_server.process
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    sqlite_server.kill()
    assert (process.returncode, process.wait(), process.poll()) == (-signal.SIGKILL,) * 3

    sqlite_server.start()
    assert sqlite_server.process.pid != process.pid
    assert sqlite_server.get("/api/health") == {"status": "ok"}


def test_a_fork_holds_open_nothing_of_the_process_that_it_comes_from(sqlite_server: RunningServer) -> None:
    pid = sqlite_server.process.pid
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]

    ours, theirs = pipes_and_sockets(str(pid)), pipes_and_sockets(parent)

    assert ours
    assert theirs
    assert not ours & theirs


def pipes_and_sockets(pid: str) -> set[str]:
    links = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    return {link for link in links if re.fullmatch(r"\w+:\[\d+\]", link)}


def test_commands_are_forked_at_once_from_several_threads(alone: Operator) -> None:
    ended: list[str] = []

    def check(number: int) -> None:
        ended.append(alone.ok("context", "check", "-", stdin=f'{{"n": {number}}}'))

    threads = [threading.Thread(target=check, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ended) == 8
    assert {text.partition(" ")[0] for text in ended} == {"Nothing"}


def test_a_file_mode_mask_is_the_tests_own(tmp_path: Path, home: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    mask = os.umask(0o027)
    try:
        assert processes.run([GEMBA, "init"], cwd=tmp_path, env=os.environ, timeout=60).returncode == 0
    finally:
        os.umask(mask)

    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / ".gemba").rglob("*") if path.is_file()}
    assert modes <= {0o640, 0o600}
