"""Agents in real panes of a private tmux server: what is typed arrives, and what became of each is told apart."""

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gemba.errors import Conflict, Invalid, Unusable
from gemba.sessions.backends.backend import EndedBy, Observation, RunFolder, Seen, Start, run_folder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.sessions.backends.tmux import TmuxBackend
from gemba.sessions.backends.tmux_server import TmuxServer
from gemba.sessions.keeper import transcript
from gemba.sessions.keeper.process_tree import start_time
from gemba.testing import retry_until

PYTHON = (sys.executable, "-I", "-S", "-u", "-c")
# Each keeps what it reads in a file, which is there once it listens. `raw` has the keys as they come, and may ask for
# bracketed paste; `cooked` has the lines that a terminal makes of them.
RAW = """
import os, sys, tty
tty.setraw(0)
os.write(1, sys.argv[2].encode() + b"ready")
with open(sys.argv[1], "wb", 0) as file:
    while data := os.read(0, 65536):
        file.write(data)
"""
COOKED = """
import os, sys
with open(sys.argv[1], "wb", 0) as file:
    while data := os.read(0, 65536):
        file.write(data)
"""
ASKS_FOR_PASTES = "\x1b[?2004h"
IGNORES_ENDINGS = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
open(f"{sys.argv[1]}-{os.getpid()}", "w").close()
while True:
    time.sleep(60)
"""


class Floor:
    """Agents of one home, all gone at the end, as is the server."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.backend = TmuxBackend(home)
        self.runs: list[RunFolder] = []

    def start(
        self, *command: str, session_id: str = "session", env: dict[str, str] | None = None, limit: int = 1 << 20
    ) -> RunFolder:
        run = run_folder(self.home, "", session_id)
        self.runs.append(run)
        given = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(env or {})}
        folder, run_id = str(run.path), uuid.uuid4().hex
        self.backend.start(Start(session_id, run_id, folder, command, given, str(self.home), output_limit=limit))
        return run

    def listen(self, program: str, *given: str, session_id: str = "session") -> tuple[RunFolder, Path]:
        """An agent that keeps what it reads, and where it does so."""
        kept = self.home / f"kept-{len(self.runs)}"
        run = self.start(*PYTHON, program, str(kept), *given, session_id=session_id)
        retry_until(kept.exists)
        return run, kept

    def seen(self, run: RunFolder) -> Observation:
        return self.backend.observe([run])[run.session_id]

    def ended(self, run: RunFolder) -> Observation:
        retry_until(lambda: self.seen(run).seen != Seen.RUNNING, timeout=15)
        return self.seen(run)

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.home / "tmux/socket"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def server(self) -> int:
        return int(self.tmux("display-message", "-p", "#{pid}"))

    def close(self) -> None:
        for run in self.runs:
            self.backend.stop(run, 0)
        if (self.home / "tmux/socket").exists():
            subprocess.run(["tmux", "-S", str(self.home / "tmux/socket"), "kill-server"], capture_output=True)


@pytest.fixture
def open_floor_of(home: Path) -> Iterator[Callable[[Path], Floor]]:
    floors: list[Floor] = []

    def make(folder: Path) -> Floor:
        floors.append(Floor(folder))
        return floors[-1]

    yield make
    for floor in floors:
        floor.close()


@pytest.fixture
def floor(home: Path, open_floor_of: Callable[[Path], Floor]) -> Floor:
    return open_floor_of(home)


def read_as(kept: Path, expected: bytes) -> None:
    """Wait for as much as was sent; then it has to be that."""
    retry_until(lambda: kept.stat().st_size >= len(expected), timeout=10)
    assert kept.read_bytes() == expected


def is_ready(run: RunFolder) -> bool:
    return transcript.read_end(str(run.path), 100).endswith(b"ready")


def agent_of(run: RunFolder) -> int:
    return int(json.loads(run.keeper.read_text())["agent"]["pid"])


# -- typing ------------------------------------------------------------------------------------------------------------

TEXTS = (
    "plain",
    "",
    'it\'s "quoted" `ticked` \\ back\\slashed\\',
    "ends like a tmux command;",
    ";",
    "\\;",
    "$(id) ${HOME} $HOME ~ * ? | & > /dev/null # not a comment",
    "#{pid} #(id) %H %% #[fg=red]",
    "-t -l --help",
    "Enter",
    "C-c",
    "ünï 漢字 👩‍👩‍👧 e\u0301 \u202eright to left",
    "tabs\tand\t\tmore\t",
    "one line\nand another\n\n  indented\n",
    "with\r\nforeign\rline ends",
    "0123456789abcde " * 6250,
)
# What would end the paste, leave the program or drive it, were it typed.
CONTROLS = "a\x1b[201~b\x03c\x04d\x1ae\x1cf\x7fg\x9b201~h\x00i\x1b[Aj\x15k\x17l\x02m"
PRINTED_CONTROLS = "a[201~bcdefg201~hi[Ajklm"


@pytest.mark.parametrize("asks", [True, False], ids=["bracketed", "plain"])
def test_text_arrives_as_it_was_typed_and_never_presses_a_key(floor: Floor, asks: bool) -> None:
    run, kept = floor.listen(RAW, ASKS_FOR_PASTES if asks else "")
    retry_until(lambda: "ready" in floor.backend.read(run, 5))
    begin, end = (b"\x1b[200~", b"\x1b[201~") if asks else (b"", b"")
    expected = b""
    for text in (*TEXTS, CONTROLS):
        floor.backend.send(run, text)
        typed = PRINTED_CONTROLS if text == CONTROLS else text.replace("\r\n", "\n").replace("\r", "\n")
        keys = typed.replace("\n", "\r").encode()
        expected += (begin + keys + end if keys else b"") + b"\r"

    read_as(kept, expected)
    assert floor.tmux("list-buffers") == "", "what was pasted stays in nobody's clipboard"
    assert floor.seen(run).seen == Seen.RUNNING


def test_a_program_that_reads_lines_gets_lines(floor: Floor) -> None:
    run, kept = floor.listen(COOKED)
    long = "\n".join(["0123456789" * 100] * 100)
    for text in ("first", "two\nlines", CONTROLS, "tab\there", long):
        floor.backend.send(run, text)

    read_as(kept, f"first\ntwo\nlines\n{PRINTED_CONTROLS}\ntab\there\n{long}\n".encode())


def test_whatever_a_person_does_in_the_window_the_text_reaches_the_agent(floor: Floor) -> None:
    run, kept = floor.listen(RAW, "")
    other, other_kept = floor.listen(RAW, "", session_id="other")
    pane = floor.tmux("list-panes", "-t", f"{target(floor, 'session')}:", "-F", "#{pane_id}")
    floor.tmux("copy-mode", "-t", pane)
    floor.backend.send(run, "scrolled")
    floor.tmux("split-window", "-b", "-t", pane, "cat")
    floor.tmux("rename-session", "-t", target(floor, "session"), "mine")
    floor.backend.send(run, "split")
    floor.tmux("copy-mode", "-t", pane)
    floor.backend.press(run, ["1", "Up", "Enter"])

    read_as(kept, b"scrolled\rsplit\r1\x1b[A\r")
    floor.backend.send(other, "other")
    read_as(other_kept, b"other\r")
    with pytest.raises(Invalid, match="'C-x' is no key; allowed: Enter, Escape") as refused:
        floor.backend.press(run, ["Enter", "C-x"])
    assert refused.value.code == "unknown_key"
    floor.tmux("kill-session", "-t", "=mine")


def test_an_interrupt_is_what_ctrl_c_is(floor: Floor) -> None:
    raw, kept = floor.listen(RAW, "", session_id="raw")
    floor.backend.interrupt(raw)
    read_as(kept, b"\x03")
    assert floor.seen(raw).seen == Seen.RUNNING

    cooked, _ = floor.listen(COOKED, session_id="cooked")
    floor.backend.interrupt(cooked)
    assert floor.ended(cooked) == (Seen.KILLED, None, signal.SIGINT, EndedBy.AGENT)


# -- what became of it -------------------------------------------------------------------------------------------------


def test_how_a_run_ended_is_told_apart(floor: Floor) -> None:
    exited = floor.start(*PYTHON, "raise SystemExit(3)", session_id="exited")
    killed, _ = floor.listen(COOKED, session_id="killed")
    keeper_killed, _ = floor.listen(COOKED, session_id="keeper-killed")
    closed, _ = floor.listen(COOKED, session_id="closed")
    lasting, kept = floor.listen(COOKED, session_id="lasting")
    os.kill(agent_of(killed), signal.SIGKILL)
    keeper = read_keeper(keeper_killed)
    assert keeper is not None
    os.kill(keeper.process[0], signal.SIGKILL)
    floor.tmux("kill-pane", "-t", f"{target(floor, 'closed')}:")

    assert floor.ended(exited) == (Seen.EXITED, 3, None, EndedBy.AGENT)
    assert floor.ended(killed) == (Seen.KILLED, None, signal.SIGKILL, EndedBy.AGENT)
    assert floor.ended(keeper_killed) == (Seen.KILLED, None, None, None)
    assert floor.ended(closed)[0::3] == (Seen.VANISHED, EndedBy.HANGUP)
    for run in (exited, killed, keeper_killed, closed):
        with pytest.raises(Conflict, match="cannot be reached") as refused:
            floor.backend.send(run, "anybody there?")
        assert refused.value.code == "run_over"
        assert floor.backend.attach(run) is None
    floor.backend.send(lasting, "still here")
    read_as(kept, b"still here\n")


def test_a_server_that_died_is_told_from_the_last_pane_that_was_closed(floor: Floor) -> None:
    last, _ = floor.listen(COOKED, session_id="last")
    floor.tmux("kill-session", "-t", target(floor, "last"))
    assert floor.ended(last).seen == Seen.VANISHED
    first_server = floor.server()

    runs = [floor.listen(COOKED, session_id=name)[0] for name in ("a", "b")]
    agents = [agent_of(run) for run in runs]
    os.kill(first_server, signal.SIGKILL)
    assert [floor.ended(run)[0::3] for run in runs] == [(Seen.SERVER_DIED, EndedBy.HANGUP)] * 2
    assert [start_time(agent) for agent in agents] == [None, None]
    with pytest.raises(Conflict, match="session a cannot be reached"):
        floor.backend.send(runs[0], "anybody there?")

    again, kept = floor.listen(COOKED, session_id="b")
    floor.backend.send(again, "a new server")
    read_as(kept, b"a new server\n")
    assert floor.server() != first_server
    assert floor.seen(runs[0]).seen == Seen.SERVER_DIED
    floor.tmux("kill-server")
    assert floor.ended(again).seen == Seen.SERVER_DIED


def test_two_hundred_runs_are_observed_with_one_question_to_tmux(
    floor: Floor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {name: floor.listen(COOKED, session_id=name)[0] for name in ("living", "closed")}
    floor.tmux("kill-session", "-t", target(floor, "closed"))
    floor.ended(kinds["closed"])
    copies = [run_folder(floor.home, "", f"{name}-{number}") for number in range(100) for name in kinds]
    for copy in copies:
        shutil.copytree(kinds[copy.session_id.partition("-")[0]].path, copy.path, ignore=_sockets)
    place = copies[1].path / "tmux.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "started": 1}))
    asked = tmp_path / "asked"
    (tmp_path / "tmux").write_text(f'#!/bin/sh\necho >> "{asked}"\nexec {shutil.which("tmux")} "$@"\n')
    (tmp_path / "tmux").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        observed = floor.backend.observe(copies)
        assert asked.read_text() == "\n"
        assert {seen.seen for seen in floor.backend.observe(copies[::2]).values()} == {Seen.RUNNING}
        assert asked.read_text() == "\n", "about living ones nobody is asked"

    assert len(observed) == 200
    assert {observed[copy.session_id].seen for copy in copies[::2]} == {Seen.RUNNING}
    assert {observed[copy.session_id].seen for copy in copies[3::2]} == {Seen.VANISHED}
    assert observed[copies[1].session_id].seen == Seen.SERVER_DIED, "another server got the process id of its own"


def target(floor: Floor, session_id: str) -> str:
    """Its session, by the name that tmux has of it."""
    return f"={run_folder(floor.home, '', session_id).path.name}"


def _sockets(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "input"]


def test_a_stop_ends_the_whole_tree_and_an_empty_server_can_be_closed(floor: Floor) -> None:
    run = floor.start(*PYTHON, IGNORES_ENDINGS, str(floor.home / "process"))
    retry_until(lambda: len([*floor.home.glob("process-*")]) == 2)
    processes = [int(path.name.rpartition("-")[2]) for path in floor.home.glob("process-*")]
    assert all(start_time(pid) for pid in processes)
    server = floor.server()
    floor.backend.close()
    assert floor.seen(run).seen == Seen.RUNNING, "a server that is in use is not closed"

    floor.backend.stop(run, 0.1)

    assert [start_time(pid) for pid in processes] == [None, None]
    assert floor.seen(run)[0::3] == (Seen.KILLED, EndedBy.STOP)
    retry_until(lambda: floor.tmux("list-sessions") == "")
    floor.backend.close()
    retry_until(lambda: start_time(server) is None)
    floor.backend.close()


def test_the_server_ends_with_the_last_run_and_panes_that_were_closed_are_still_told_apart(floor: Floor) -> None:
    closed, _ = floor.listen(COOKED, session_id="closed")
    died, _ = floor.listen(COOKED, session_id="died")
    server = floor.server()
    floor.tmux("kill-session", "-t", target(floor, "closed"))
    floor.backend.close()
    assert start_time(server), "another run has its pane there"
    floor.backend.stop(died, 0)

    def is_closed() -> bool:  # a keeper that was hung up takes its time to end
        floor.backend.close()
        return start_time(server) is None

    retry_until(is_closed, timeout=15)
    assert not (floor.home / "tmux/socket").exists()
    assert floor.seen(closed)[0::3] == (Seen.VANISHED, EndedBy.HANGUP)
    assert floor.seen(died)[0::3] == (Seen.KILLED, EndedBy.STOP)


def test_a_start_at_the_moment_at_which_the_server_ends_works(floor: Floor) -> None:
    over = threading.Event()

    def end_it() -> None:
        while not over.is_set():
            floor.backend.close()

    ender = threading.Thread(target=end_it)
    ender.start()
    servers = set()
    try:
        for number in range(8):
            run = floor.start("sh", "-c", "cat", session_id=f"session-{number}")
            assert floor.seen(run).seen is Seen.RUNNING
            servers.add(floor.server())
            floor.backend.stop(run, 0)
            retry_until(lambda: not (floor.home / "tmux/socket").exists())
    finally:
        over.set()
        ender.join()
    assert len(servers) == 8


def test_what_a_killed_keeper_s_agent_had_started_is_swept_by_the_stop(floor: Floor) -> None:
    run = floor.start(*PYTHON, IGNORES_ENDINGS, str(floor.home / "process"))
    retry_until(lambda: len([*floor.home.glob("process-*")]) == 2)
    processes = [int(path.name.rpartition("-")[2]) for path in floor.home.glob("process-*")]
    keeper = read_keeper(run)
    assert keeper is not None
    os.kill(keeper.process[0], signal.SIGKILL)
    assert floor.ended(run).seen == Seen.KILLED

    floor.backend.stop(run, 0)

    assert [start_time(pid) for pid in processes] == [None, None]


# -- starting ----------------------------------------------------------------------------------------------------------


def test_a_start_is_refused_with_its_reason_and_may_be_tried_again(floor: Floor) -> None:
    with pytest.raises(Unusable, match="session session cannot be started: no-such-agent: No such file") as refused:
        floor.start("no-such-agent")
    assert refused.value.code == "agent_not_started"

    run, _ = floor.listen(COOKED)
    with pytest.raises(Conflict, match="session session runs already"):
        floor.start("cat")
    floor.tmux("split-window", "-d", "-t", f"{target(floor, 'session')}:", "cat")
    floor.backend.stop(run, 0)

    again, kept = floor.listen(RAW, "")
    floor.backend.send(again, "beside what a person left open")
    read_as(kept, b"beside what a person left open\r")
    names = floor.tmux("list-sessions", "-F", "#{session_name}").split()
    assert len(names) == 2
    assert f"={names[0]}" == target(floor, "session")
    assert names[1].startswith(f"{names[0]}-")


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """One in which a socket's path has room for a name."""
    with tempfile.TemporaryDirectory(prefix="g") as folder:
        yield Path(folder)


def test_names_and_folders_may_hold_anything(short_folder: Path, open_floor_of: Callable[[Path], Floor]) -> None:
    floor = open_floor_of(short_folder / "h #{pid}%H;'\"$(x)ü;")
    floor.home.mkdir()
    names = ("a.b", "a_b", "-x", "%1", "$(id):0.1", "=x", "ünï ;#{pid}", "x" * 400, "..", "7")
    agents = [floor.listen(RAW, "", session_id=name) for name in names]
    for (run, _), name in zip(agents, names, strict=True):
        floor.backend.send(run, f"to {name}")

    for (run, kept), name in zip(agents, names, strict=True):
        read_as(kept, f"to {name}\r".encode())
        retry_until(partial(is_ready, run))


def test_an_agent_is_given_its_own_environment_and_none_of_it_on_a_command_line(
    floor: Floor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = ["tmux", "-S", str(tmp_path / "outer"), "-f", os.devnull]
    subprocess.run([*outer, "new-session", "-d", "-s", "theirs", "cat"], check=True)
    try:
        told = subprocess.run([*outer, "display-message", "-p", "#{pid}"], check=True, capture_output=True, text=True)
        around = {"TMUX": f"{tmp_path / 'outer'},{told.stdout.strip()},0", "TMUX_PANE": "%0"}
        for name, value in around.items():
            monkeypatch.setenv(name, value)
        report = "import json, os; print(*os.get_terminal_size(), json.dumps({**os.environ})); input()"
        run = floor.start(*PYTHON, report, env={**around, "SECRET": "s3cret-of-the-agent"})
        retry_until(lambda: b"}" in transcript.read_end(str(run.path), 100))

        printed = transcript.read_end(str(run.path), 100_000).decode()
        assert printed.startswith("200 50 {")
        environment = json.loads(printed.partition("{")[1] + printed.partition("{")[2])
        assert environment["SECRET"] == "s3cret-of-the-agent"
        assert environment["TERM"] == "screen-256color"
        assert environment["GEMBA_SESSION_ID"] == "session"
        assert not {"TMUX", "TMUX_PANE"} & environment.keys()
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.parent.name != "self"]
        assert not any(b"s3cret" in line for line in lines)
        assert "SECRET" not in floor.tmux("show-environment", "-g")
        theirs = subprocess.run([*outer, "list-sessions"], check=True, capture_output=True, text=True).stdout
        assert theirs.count("\n") == 1
    finally:
        subprocess.run([*outer, "kill-server"], check=True)


def test_two_homes_do_not_meet(floor: Floor, tmp_path: Path, open_floor_of: Callable[[Path], Floor]) -> None:
    other = open_floor_of(tmp_path / "other")
    other.home.mkdir()
    run, kept = floor.listen(RAW, "")
    other_run, other_kept = other.listen(RAW, "")
    floor.backend.send(run, "one")
    other.backend.send(other_run, "two")
    read_as(kept, b"one\r")
    read_as(other_kept, b"two\r")

    os.kill(other.server(), signal.SIGKILL)
    assert other.ended(other_run).seen == Seen.SERVER_DIED
    assert floor.seen(run).seen == Seen.RUNNING


def test_a_word_for_tmux_stays_one_whatever_it_ends_in(floor: Floor) -> None:
    server = TmuxServer(floor.home)
    server.ensure()
    words = ("a;", ";", "a\\;", "#")
    assert server.ask(*(["display-message", "-p", word] for word in words)) == "".join(f"{word}\n" for word in words)


# -- looking at it -----------------------------------------------------------------------------------------------------


def test_a_person_attaches_with_the_command_and_sees_what_the_agent_shows(floor: Floor) -> None:
    run, kept = floor.listen(RAW, "")
    command = floor.backend.attach(run)
    assert command is not None
    assert shlex.split(command)[-2:] == ["-t", target(floor, "session")]

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "TMUX": "/tmp/another,1,0", "TMUX_PANE": "%0"}
    shown = bytearray()

    def shows(text: bytes) -> bool:
        try:
            shown.extend(os.read(ours, 65536))
        except BlockingIOError:
            return False
        return text in shown

    with subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ) as person:
        os.close(theirs)
        os.set_blocking(ours, False)
        try:
            retry_until(lambda: shows(b"ready"))
            os.write(ours, b"typed by hand")
            read_as(kept, b"typed by hand")
            floor.tmux("detach-client", "-s", target(floor, "session"))
            retry_until(lambda: shows(b"[detached"))
            assert person.wait(5) == 0
        finally:
            person.kill()
            os.close(ours)
    assert floor.seen(run).seen == Seen.RUNNING


def test_the_screen_is_read_with_its_escape_sequences_resolved_and_outlives_its_pane(floor: Floor) -> None:
    drawn = r"print('first\nwrong\r\x1b[31mright\x1b[0m\n\x1b]0;title\x07' + 'x' * 250 + '\n\nlast'); input()"
    run = floor.start(*PYTHON, drawn)
    retry_until(lambda: floor.backend.read(run, 1) == "last")
    assert floor.backend.read(run, 100) == f"first\nright\n{'x' * 250}\n\nlast"
    assert floor.backend.read(run, 3) == f"{'x' * 250}\n\nlast"

    floor.backend.send(run, "")
    floor.ended(run)
    retry_until(lambda: floor.backend.read(run, 3) == f"{'x' * 250}\n\nlast")


def test_a_flood_leaves_its_beginning_and_its_end_also_when_the_server_dies(floor: Floor) -> None:
    limit = 64 * 1024
    flood = "for number in range(100_000): print(f'line {number:06}')\nprint('the end', flush=True)\ninput()"
    run = floor.start(*PYTHON[:3], "-c", flood, limit=limit)
    retry_until(lambda: floor.backend.read(run, 1) == "the end", timeout=30)
    retry_until(lambda: transcript.read_end(str(run.path), 100).endswith(b"the end\r\n"))

    os.kill(floor.server(), signal.SIGKILL)
    assert floor.ended(run).seen == Seen.SERVER_DIED

    whole = transcript.joined(transcript.read_pieces(str(run.path), 0, 10 * limit))
    assert whole.startswith(b"line 000000\r\nline 000001\r\n")
    assert b"bytes of output are left out here" in whole
    assert b"line 099998\r\nline 099999\r\nthe end\r\n" in whole
    assert sum(path.stat().st_size for path in run.path.glob("transcript*")) <= limit
    assert "line 099999\nthe end" in floor.backend.read(run, 10)


# -- where it cannot be used -------------------------------------------------------------------------------------------


def test_a_place_without_a_fitting_tmux_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floor: Floor
) -> None:
    assert floor.backend.usable() is None
    floor.listen(COOKED)
    assert floor.backend.usable() is None
    far = tmp_path / ("x" * 100)
    assert "a socket's path has at most 107" in (TmuxBackend(far).usable() or "")

    programs = tmp_path / "programs"
    programs.mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(programs))
        assert floor.backend.usable() == "tmux is not on PATH"
        program = programs / "tmux"
        program.write_text("#!/bin/sh\necho tmux 2.9a\n")
        program.chmod(0o755)
        assert floor.backend.usable() == "tmux 2.9a is too old; 3.2 or newer is needed"
        program.write_text(
            '#!/bin/sh\n[ "$1" = -V ] && echo tmux next-3.9 && exit\necho "protocol version mismatch" >&2; exit 1\n'
        )
        assert "does not answer: protocol version mismatch" in (floor.backend.usable() or "")
