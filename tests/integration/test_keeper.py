"""A keeper owns its agent's processes, from its start to the end of the last process in it, and tells how it ended."""

import contextlib
import os
import random
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba.errors import Conflict, Unusable
from gemba.sessions.backends import run_folder
from gemba.sessions.backends.backend import EndedBy, Observation, RunFolder, Seen
from gemba.sessions.backends.process import ProcessBackend
from gemba.sessions.backends.run_folder import (
    Ending,
    ask_keeper,
    keeper_command,
    own_program,
    read_ending,
    starting,
    stop_kept,
    wait_started,
)
from gemba.sessions.backends.sweep import sweep
from gemba.sessions.keeper import transcript
from gemba.sessions.keeper.process_tree import marked, send_signal, start_time
from gemba.testing import effort, retry_until, seeds
from tests.fixtures.runs import Run, StartRun, start_for

# Processes that want to stay: in sessions of their own, orphaned, deaf to SIGTERM, and deeper ones below those.
STAYING = """
setsid sleep 1000 &
( setsid sh -c 'trap "" TERM HUP; sleep 1000 & while :; do sleep 1000; done' & )
( ( setsid -f sleep 1000 ) )
echo they are there
"""


def test_an_end_is_told_with_its_code_and_nothing_secret_stays_on_disk(start_run: StartRun) -> None:
    run = start_run("sh", "-c", "echo $TOKEN | tr a-z A-Z; exit 3", env={**os.environ, "TOKEN": "hidden-value"})

    assert run.ended() == Observation(Seen.EXITED, 3, None, EndedBy.AGENT)
    assert run.shown() == "HIDDEN-VALUE"
    assert (run.ending.cut, run.ending.left, run.ending.at[-1]) == (False, 0, "Z")
    files = sorted(run.folder.path.iterdir())
    assert [file.name for file in files] == ["exit.json", "keeper.json", "lock", "transcript"]
    assert not [file for file in files if b"hidden-value" in file.read_bytes()]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert run.folder.path.stat().st_mode & 0o777 == 0o700


_OF_THE_C_LIBRARY = 0b11 << 31  # signals 32 and 33, which no program can set


def test_an_agent_begins_as_a_shell_would_have_started_it(start_run: StartRun) -> None:
    mask = os.umask(0o027)
    try:
        run = start_run(
            "sh", "-c", "grep -E 'Sig(Blk|Ign)|PPid' /proc/self/status; umask; ls /proc/self/fd; ps -o sid= $$"
        )
    finally:
        os.umask(mask)

    run.ended()
    lines = run.shown().split()
    blocked, ignored = (int(lines[at], 16) & ~_OF_THE_C_LIBRARY for at in (3, 5))
    assert (blocked, ignored) == (0, 0)
    assert lines[6:11] == ["0027", "0", "1", "2", "3"]  # the last one is of ls itself
    assert int(lines[-1]) not in (os.getsid(0), run.keeper.process[0])


def test_bytes_that_are_no_text_reach_the_agent_as_they_are(start_run: StartRun) -> None:
    odd = os.fsdecode(b"\xff\xfe")

    run = start_run("sh", "-c", 'printf %s%s "$ODD" "$1"', "sh", odd, env={**os.environ, "ODD": odd})

    run.ended()
    assert run.folder.transcript.read_bytes() == b"\xff\xfe" * 2


def test_what_an_agent_leaves_behind_ends_with_it(start_run: StartRun) -> None:
    run = start_run("sh", "-c", STAYING)

    assert run.ended() == Observation(Seen.EXITED, 0, None, EndedBy.AGENT)
    assert run.ending.left >= 3
    assert run.processes() == []


def test_a_stop_ends_everything_also_what_ignores_it(start_run: StartRun) -> None:
    run = start_run("sh", "-c", STAYING + "trap '' TERM HUP; while :; do sleep 1000; done")
    run.shows("they are there")
    retry_until(lambda: len(run.processes()) >= 5)

    run.backend.stop(run.folder, 0.2)

    assert run.processes() == []
    assert run.observed() == Observation(Seen.KILLED, None, signal.SIGKILL, EndedBy.STOP)
    assert run.ending.left == 0


def test_a_stop_lets_whoever_listens_end_in_its_own_way(start_run: StartRun) -> None:
    run = start_run("sh", "-c", "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done")
    run.shows("up")

    run.backend.stop(run.folder, 30)

    assert run.observed() == Observation(Seen.EXITED, 7, None, EndedBy.STOP)
    assert run.shown().endswith("bye")


@pytest.mark.parametrize(("number", "ended_by"), [(signal.SIGTERM, EndedBy.SIGNAL), (signal.SIGHUP, EndedBy.HANGUP)])
def test_a_signal_to_the_keeper_means_stop(start_run: StartRun, number: int, ended_by: EndedBy) -> None:
    run = start_run("sleep", "1000")

    send_signal(run.keeper.process, number)

    assert run.ended() == Observation(Seen.KILLED, None, signal.SIGTERM, ended_by)


def test_an_agent_that_takes_too_long_is_stopped(start_run: StartRun) -> None:
    run = start_run("sleep", "1000", max_seconds=0.1)

    assert run.ended() == Observation(Seen.KILLED, None, signal.SIGTERM, EndedBy.TIME)


def test_an_agent_dies_with_its_keeper_and_what_it_started_is_swept(start_run: StartRun) -> None:
    run = start_run("sh", "-c", STAYING + "sleep 1000")
    run.shows("they are there")
    retry_until(lambda: len(run.processes()) >= 6)

    send_signal(run.keeper.process, signal.SIGKILL)

    assert run.ended() == Observation(Seen.KILLED)
    left = run.processes()
    assert left
    assert sweep("agent", run.start.run_id) >= 3
    assert all(start_time(pid) != started for pid, started in left)
    assert sweep("agent", run.start.run_id) == 0


def test_what_left_its_parents_and_its_environment_is_swept_too_and_nothing_of_another_run(
    start_run: StartRun, tmp_path: Path
) -> None:
    def away(name: str) -> tuple[Run, int]:
        file = tmp_path / name
        leave = f"cd /; sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > {file}"
        run = start_run("sh", "-c", f"env -i setsid -f /bin/sh -c '{leave}'; sleep 1000", name=name)
        return run, int(retry_until(lambda: file.read_text().strip() if file.exists() else "") or 0)

    (mine, pid), (_, others) = away("mine"), away("others")
    assert start_time(pid)
    assert pid not in [process for process, _ in mine.processes()]  # its environment says nothing

    send_signal(mine.keeper.process, signal.SIGKILL)
    mine.ended()
    mine.backend.stop(mine.folder, 0)

    assert start_time(pid) is None
    assert start_time(others)


def test_the_next_start_ends_what_a_killed_keeper_left(start_run: StartRun) -> None:
    first = start_run("sh", "-c", STAYING + "sleep 1000")
    first.shows("they are there")
    send_signal(first.keeper.process, signal.SIGKILL)
    first.ended()

    second = start_run("sh", "-c", "echo again")

    assert first.processes() == []
    assert second.ended().seen is Seen.EXITED
    assert second.shown() == "again"


def test_a_keeper_that_does_not_answer_is_told_and_stopped_all_the_same(
    start_run: StartRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(run_folder, "_END_SECONDS", 0.1)
    run = start_run("sh", "-c", STAYING + "sleep 1000")
    run.shows("they are there")
    send_signal(run.keeper.process, signal.SIGSTOP)

    with pytest.raises(Unusable, match="session agent: its keeper does not answer"):
        run.backend.interrupt(run.folder)
    run.backend.stop(run.folder, 0)

    assert run.observed() == Observation(Seen.KILLED)
    assert run.processes() == []


@pytest.mark.chaos
@pytest.mark.parametrize("seed", seeds(3, 100))
def test_a_keeper_killed_at_any_moment_of_its_start_leaves_nothing_in_the_way(
    home: Path, start_run: StartRun, seed: int
) -> None:
    start = start_for(home, "agent", ("sh", "-c", STAYING + "sleep 1000"))
    with starting(start, "pipe") as run, subprocess.Popen(keeper_command(run, detached=False)) as keeper:
        with contextlib.suppress(subprocess.TimeoutExpired):
            keeper.wait(random.Random(seed).uniform(0, 0.1))
        keeper.kill()
    assert ProcessBackend().observe([run])["agent"] == Observation(Seen.KILLED)

    again = start_run("sh", "-c", "echo up")

    assert marked(f"GEMBA_RUN_ID={start.run_id}") == []
    assert again.ended().code == 0


def test_a_flood_keeps_the_beginning_and_the_end_within_the_limit(start_run: StartRun) -> None:
    line = "0123456789\n"
    size, limit = effort(50, 1000) * 1_000_000 // len(line) * len(line), 400_000
    flood = f"echo first; yes 0123456789 | head -c {size}; echo last"

    run = start_run("sh", "-c", flood, output_limit=limit)

    assert run.ended(300).code == 0
    assert run.ending.cut
    pieces = transcript.read_pieces(str(run.folder.path), 0, 10 * limit)
    assert sum(file.stat().st_size for file in run.folder.path.glob("transcript*")) <= limit
    assert (pieces[0].place, pieces[-1].end) == (0, size + len("first\nlast\n"))
    kept = transcript.joined(pieces)
    assert kept.startswith(b"first\n0123456789\n")
    assert kept.endswith(b"last\n")
    assert kept.count(b"bytes of output are left out here") == 1
    assert run.shown().endswith("0123456789\nlast")


def test_output_that_the_disk_does_not_take_stops_neither_agent_nor_keeper(start_run: StartRun) -> None:
    run = start_run("sh", "-c", "read word; yes | head -c 1000000; exit 5", stdin="", keep_stdin=True)
    resource.prlimit(run.keeper.process[0], resource.RLIMIT_FSIZE, (4096, 4096))

    run.backend.send(run.folder, "go")

    assert run.ended() == Observation(Seen.EXITED, 5, None, EndedBy.AGENT)
    assert run.ending.cut
    assert run.folder.transcript.stat().st_size == 4096


def test_requests_that_are_none_are_refused_and_change_nothing(start_run: StartRun) -> None:
    run = start_run("cat", keep_stdin=True)

    for request in ({}, {"op": "fly"}, {"op": "send"}, {"op": "send", "text": 5}, {"op": "stop", "grace": -1}):
        with pytest.raises(Conflict, match="unknown request; allowed: send"):
            ask_keeper(run.folder, **request)
    for line in (b"no json\n", b"{\n", b'{"op": "status"} {}\n', b"[1]\n", b"[" * 100_000 + b"\n", b"\xff\n"):
        assert b"a request is a JSON object" in _said(run.folder, line)
    assert _said(run.folder, b"x" * 5_000_000) == b""

    assert ask_keeper(run.folder, op="status")["printed"] == 0
    run.backend.send(run.folder, "still here")
    run.shows("still here")


def _said(run: RunFolder, line: bytes) -> bytes:
    """What a client hears that does not know how to speak; nothing when it is shown the door."""
    folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(f"/proc/self/fd/{folder}/input")
        os.close(folder)
        with contextlib.suppress(OSError):
            client.sendall(line)
            return client.recv(1000)
    return b""


def test_a_run_has_one_keeper(home: Path, start_run: StartRun) -> None:
    run = start_run("sleep", "1000")
    spec = run.folder.spec
    spec.write_text('{"run_id": "another", "workspace": ""}')

    second = subprocess.run(keeper_command(run.folder, detached=False), capture_output=True, timeout=20)

    assert (second.returncode, second.stderr) == (1, b"another keeper has this run\n")
    assert run.keeper.run_id == run.start.run_id
    assert run.observed().seen is Seen.RUNNING


@pytest.mark.parametrize("module", ["gemba.sessions.keeper", "gemba.sessions.builtin"])
def test_what_every_start_pays_for_is_not_loaded(module: str) -> None:
    slow = {"asyncio", "collections", "enum", "json", "pathlib", "re", "signal", "socket", "subprocess", "typing"}
    command = own_program(module)
    command[command.index("-c") + 1] = (
        f"import sys; sys.path.append(sys.argv.pop(1)); import {module}; print(*sys.modules)"
    )

    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert module in loaded
    assert slow.isdisjoint(loaded), slow & set(loaded)


# -- in a pane --------------------------------------------------------------------------------------------------------


class Pane:
    """A terminal such as tmux gives to a pane, with a keeper in it."""

    def __init__(self, home: Path, *command: str) -> None:
        self.start = start_for(home, "pane", command)
        self._master, slave = os.openpty()
        with starting(self.start, "pane") as self.run:
            keeper = ["setsid", "--ctty", *keeper_command(self.run, detached=False)]
            self._process = subprocess.Popen(keeper, stdin=slave, stdout=slave, stderr=slave)
            os.close(slave)
            pid = self._process.pid
            wait_started(self.run, self.start.run_id, (pid, start_time(pid) or 0))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def shows(self, text: str) -> None:
        shown = ""
        while text not in shown:
            shown += os.read(self._master, 4096).decode()

    def close(self) -> None:
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def ended(self) -> tuple[int, Ending | None]:
        """The keeper's own exit code, and what it wrote."""
        return self._process.wait(20), read_ending(self.run)


@pytest.fixture
def open_pane(home: Path) -> Iterator[Callable[..., Pane]]:
    panes: list[Pane] = []

    def opened(*command: str) -> Pane:
        panes.append(Pane(home, *command))
        return panes[-1]

    yield opened
    for pane in panes:
        stop_kept(pane.run, 0)
        pane.ended()
        pane.close()


def test_an_agent_in_a_pane_has_the_terminal_and_its_code_is_the_keepers(open_pane: Callable[..., Pane]) -> None:
    pane = open_pane("sh", "-c", 'echo up; read word; echo "got $word"; exit 4')
    pane.shows("up")
    pane.type("\x1a")  # ^Z, after which no shell could continue it

    pane.type("hello\n")

    pane.shows("got hello")
    code, ending = pane.ended()
    assert ending is not None
    assert (code, ending.code, ending.ended_by) == (4, 4, EndedBy.AGENT)
    assert not pane.run.transcript.exists()


def test_an_agent_in_a_pane_is_interrupted_alone(open_pane: Callable[..., Pane]) -> None:
    pane = open_pane("sh", "-c", "trap 'echo stopped; exit 9' INT; echo up; while :; do sleep 0.05; done")
    pane.shows("up")

    ask_keeper(pane.run, op="interrupt")

    pane.shows("stopped")
    assert pane.ended()[0] == 9


def test_a_pane_that_goes_away_ends_what_was_in_it(open_pane: Callable[..., Pane]) -> None:
    pane = open_pane("sh", "-c", "setsid sleep 1000 & echo up; sleep 1000")
    pane.shows("up")

    pane.close()

    code, ending = pane.ended()
    assert ending is not None
    assert ending.signal in (signal.SIGHUP, signal.SIGTERM)  # the terminal's, or the keeper's
    assert (code, ending.ended_by) == (128 + ending.signal, EndedBy.HANGUP)
    assert marked(f"GEMBA_RUN_ID={pane.start.run_id}") == []
