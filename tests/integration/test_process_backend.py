"""Agents on pipes and on terminals of their own: started, reached, read, stopped, and known again after a restart."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from gemba.errors import Conflict, Invalid, Unusable
from gemba.sessions.backends.backend import EndedBy, Observation, Seen, Start, literal, run_folder
from gemba.sessions.backends.process import ProcessBackend
from gemba.sessions.backends.run_folder import read_keeper
from gemba.sessions.keeper.process_tree import marked, start_time
from gemba.testing import retry_until
from tests.fixtures.runs import StartRun, start_for

# Shows every byte that it reads, of a terminal that hides nothing from it; ends at the letter q.
BYTES = """
import os, sys, tty
asks = len(sys.argv) > 1
if os.isatty(0):
    tty.setraw(0)
os.write(1, b"\\x1b[?2004h" * asks + b"up\\n")
while data := os.read(0, 65536):
    os.write(1, repr(data).encode() + b"\\n")
    if data == b"q":
        break
"""


# -- starting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "cwd", "reason", "code"),
    [
        (("no-such-agent",), ".", "no-such-agent: No such file or directory", 127),
        (("./agent",), ".", "./agent: Permission denied", 126),
        (("sh",), "gone", "gone: No such file or directory", 127),
        (("a\0b",), ".", "embedded null character", 126),
    ],
)
def test_an_agent_that_cannot_be_run_is_refused_with_the_reason(
    home: Path, command: tuple[str, ...], cwd: str, reason: str, code: int
) -> None:
    (home / "agent").write_text("#!/bin/sh\n")
    start = start_for(home, "s1", command, cwd=str(home / cwd))

    with pytest.raises(Unusable, match=reason) as refused:
        ProcessBackend().start(start)

    assert refused.value.code == "agent_not_started"
    seen = ProcessBackend().observe([run_folder(home, "", "s1")])["s1"]
    assert seen == Observation(Seen.EXITED, code, None, EndedBy.START)


def test_a_folder_that_cannot_be_used_is_told(home: Path) -> None:
    (home / "runs").write_text("a file where the folder should be")

    with pytest.raises(Unusable, match=r"session s1 cannot be started: .*runs.*: (Not a directory|File exists)"):
        ProcessBackend().start(start_for(home, "s1", ("true",)))


def test_what_an_agent_is_given_lies_in_its_folder_as_texts_and_links(home: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    folder = run_folder(home, "", "s1").path
    (folder / "deep" / "made").mkdir(parents=True)  # by an earlier run of the client
    files: dict[str, str | Path] = {"text": "ours", "deep/text": "ours", "deep/link": tmp_path / "theirs"}
    start = start_for(home, "s1", ("true",))._replace(files={**files, "deep/made": tmp_path / "theirs"})

    for number in range(2):
        ProcessBackend().start(start._replace(run_id=f"{start.run_id}-{number}"))
        ProcessBackend().stop(run_folder(home, "", "s1"), 5)

    assert {(folder / name).read_text() for name in ("text", "deep/text")} == {"ours"}
    assert (folder / "text").stat().st_mode & 0o777 == 0o600
    assert (folder / "deep" / "link").readlink() == tmp_path / "theirs"
    assert (folder / "deep" / "made").is_dir()
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_an_agent_that_exits_at_once_was_started(start_run: StartRun) -> None:
    run = start_run("false")

    assert run.ended() == Observation(Seen.EXITED, 1, None, EndedBy.AGENT)
    with pytest.raises(Conflict, match="session agent does not run"):
        run.backend.send(run.folder, "anybody?")
    run.backend.stop(run.folder, 5)


def test_a_session_may_be_started_again_once_it_has_ended_but_not_before(start_run: StartRun) -> None:
    first = start_run("sh", "-c", "echo first; cat", keep_stdin=True)
    first.shows("first")
    with pytest.raises(Conflict, match="session agent runs already"):
        first.backend.start(first.start._replace(run_id="another"))
    first.backend.stop(first.folder, 5)

    second = start_run("sh", "-c", "echo second")

    assert second.ended().code == 0
    assert second.shown() == "second"


def test_of_two_starts_at_once_one_wins(home: Path) -> None:
    count = 6
    together = Barrier(count)

    def start(number: int) -> str:
        given = start_for(home, "s1", ("sleep", "1000"), run_id=f"run-{os.getpid()}-{number}")
        together.wait()
        try:
            ProcessBackend().start(given)
        except Conflict as conflict:
            return conflict.code
        return given.run_id

    with ThreadPoolExecutor(count) as pool:
        told = list(pool.map(start, range(count)))

    run = run_folder(home, "", "s1")
    keeper = read_keeper(run)
    ProcessBackend().stop(run, 5)
    refused = [code for code in told if code in ("run_starting", "run_lives")]
    assert len(refused) == count - 1
    assert keeper is not None
    assert keeper.run_id in told


def test_a_run_goes_on_when_whoever_started_it_is_killed(home: Path) -> None:
    run = run_folder(home, "", "s1")
    run_id = f"outlives-{os.getpid()}"
    program = """
import os, signal, sys
from gemba.sessions.backends.backend import Start
from gemba.sessions.backends.process import ProcessBackend
ProcessBackend().start(Start("s1", sys.argv[1], sys.argv[2], ("cat",), dict(os.environ), "/", keep_stdin=True))
os.killpg(os.getpgrp(), signal.SIGKILL)
"""
    starter = subprocess.run(
        [sys.executable, "-c", program, run_id, str(run.path)], start_new_session=True, check=False
    )
    assert starter.returncode == -signal.SIGKILL

    backend = ProcessBackend()
    assert backend.observe([run]) == {"s1": Observation(Seen.RUNNING)}
    backend.send(run, "still there")
    retry_until(lambda: backend.read(run, 1) == "still there")
    backend.stop(run, 5)
    assert marked(f"GEMBA_RUN_ID={run_id}") == []


def test_another_process_with_a_dead_keepers_id_is_not_taken_for_it(home: Path) -> None:
    run = run_folder(home, "", "s1")
    run.path.mkdir(parents=True)
    mine = start_time(os.getpid())
    assert mine is not None
    backend = ProcessBackend()

    run.keeper.write_text(json.dumps({"pid": os.getpid(), "started": mine, "run_id": "old", "agent": {}}))
    assert backend.observe([run])["s1"].seen is Seen.RUNNING
    run.keeper.write_text(json.dumps({"pid": os.getpid(), "started": mine - 1, "run_id": "old", "agent": {}}))
    assert backend.observe([run])["s1"] == Observation(Seen.KILLED)

    backend.stop(run, 0)  # ends nobody, or there would be no next line
    backend.start(start_for(home, "s1", ("true",)))


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"pid": "x"}', '{"code": 1}', "\x00"])
def test_files_that_say_nothing_are_a_run_without_a_keeper(home: Path, content: str) -> None:
    run = run_folder(home, "", "s1")
    run.path.mkdir(parents=True)
    run.keeper.write_text(content)
    run.exit.write_text(content)

    assert ProcessBackend().observe([run]) == {"s1": Observation(Seen.KILLED)}
    ProcessBackend().stop(run, 0)
    ProcessBackend().start(start_for(home, "s1", ("true",)))


def test_a_home_with_a_long_path_is_like_any_other(home: Path, start_run: StartRun) -> None:
    deep = home / ("d" * 120) / ("e" * 120)
    start = start_for(home, "s1", ("cat",), folder=str(deep), keep_stdin=True)
    run = run_folder(home, "", "s1")._replace(path=deep)

    backend = ProcessBackend()
    backend.start(start)
    backend.send(run, "far down")

    retry_until(lambda: backend.read(run, 1) == "far down")
    backend.stop(run, 5)


# -- what goes in -----------------------------------------------------------------------------------------------------


def test_a_prompt_stands_on_stdin_which_then_ends(start_run: StartRun) -> None:
    prompt = "line one\nline two ✓\n" + "x" * 300_000

    run = start_run("sh", "-c", "wc -c; echo over", stdin=prompt)

    assert run.ended().code == 0
    assert run.shown().split() == [str(len(prompt.encode())), "over"]
    with pytest.raises(Conflict):
        run.backend.send(run.folder, "more")


def test_an_agent_whose_input_has_ended_takes_no_more(start_run: StartRun) -> None:
    run = start_run("sh", "-c", "cat; sleep 1000", stdin="all there is")
    run.shows("all there is")

    with pytest.raises(Conflict, match="session agent: the agent takes no input"):
        run.backend.send(run.folder, "more")


def test_what_is_sent_on_a_pipe_is_a_line_without_control_characters(start_run: StartRun) -> None:
    run = start_run(sys.executable, "-c", BYTES, keep_stdin=True)
    run.shows("up")

    run.backend.send(run.folder, "yes\x03\x1b[A\r\nand\tno\x9b")

    run.shows(repr(b"yes[A\nand\tno\n"))


def test_a_reply_of_100_kb_arrives_whole(start_run: StartRun) -> None:
    reply = "".join(f"{number:06} a line of a long reply\n" for number in range(3_600))
    assert len(reply) > 100_000
    run = start_run("sh", "-c", f"head -c {len(reply) + 1} | md5sum", keep_stdin=True)

    run.backend.send(run.folder, reply)

    assert run.ended().code == 0
    whole = subprocess.run(["md5sum"], input=reply.encode() + b"\n", capture_output=True, check=True).stdout
    assert run.shown() == whole.decode().strip()


def test_an_agent_that_never_reads_is_not_sent_more_than_it_may(start_run: StartRun) -> None:
    run = start_run("sleep", "1000", keep_stdin=True)

    for _ in range(2):
        run.backend.send(run.folder, "x" * 2_000_000)

    with pytest.raises(Conflict, match="the agent does not read what was sent before"):
        run.backend.send(run.folder, "x" * 2_000_000)
    assert run.observed().seen is Seen.RUNNING


@pytest.mark.parametrize(("asks", "marks"), [(True, ("\x1b[200~", "\x1b[201~")), (False, ("", ""))])
def test_a_terminal_gets_a_paste_where_it_asks_for_it_then_enter(
    start_run: StartRun, asks: bool, marks: tuple[str, str]
) -> None:
    run = start_run(sys.executable, "-c", BYTES, *["asks"] * asks, terminal="pty")
    run.shows("up")

    run.backend.send(run.folder, "two\nlines\x1b[201~")

    begin, end = marks
    run.shows(repr(f"{begin}two\rlines[201~{end}\r".encode()))


def test_keys_are_pressed_as_a_terminal_sends_them_and_no_others(start_run: StartRun) -> None:
    run = start_run(sys.executable, "-c", BYTES, "asks", terminal="pty")
    run.shows("up")

    with pytest.raises(Invalid, match="'C-c' is no key; allowed: Enter, Escape, Up"):
        run.backend.press(run.folder, ["y", "C-c"])
    run.backend.press(run.folder, ["Up", "Down", "Escape", "2", "Enter"])

    run.shows(repr(b"\x1b[A\x1b[B\x1b2\r"))
    assert repr(b"y") not in run.shown()


@pytest.mark.parametrize("terminal", ["pipe", "pty"])
def test_an_interrupt_is_what_ctrl_c_would_be(start_run: StartRun, terminal: str) -> None:
    run = start_run(
        "sh", "-c", "trap 'echo stopped; exit 9' INT; echo up; while :; do sleep 0.05; done", terminal=terminal
    )
    run.shows("up")

    run.backend.interrupt(run.folder)

    assert run.ended() == Observation(Seen.EXITED, 9, None, EndedBy.AGENT)
    assert run.shown().endswith("stopped")


def test_a_shell_on_a_terminal_is_driven_and_stopped_quickly(start_run: StartRun) -> None:
    run = start_run("bash", "--norc", "-i", terminal="pty", rows=33, columns=77)

    run.backend.send(run.folder, "stty size; echo $((40 + 2))")

    run.shows("33 77\n42\n")
    run.backend.stop(run.folder, 60)  # would take the test's whole time if it waited for SIGKILL
    assert run.observed().ended_by is EndedBy.STOP


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_what_it_shows_is_read_without_escape_sequences(start_run: StartRun) -> None:
    printed = r"\033]0;a title\007\033[1;31mred\033[0m\n10%%\r100%%\nab\bc\n\033[2J\xffend\n"

    run = start_run("printf", printed)

    run.ended()
    assert run.shown() == "red\n100%\nac\n\ufffdend"
    assert run.backend.read(run.folder, 2) == "ac\n\ufffdend"
    assert b"\x1b[1;31mred" in run.folder.transcript.read_bytes()


def test_nothing_is_shown_of_a_run_that_never_was(home: Path) -> None:
    assert ProcessBackend().read(run_folder(home, "", "nobody"), 10) == ""
    assert ProcessBackend().observe([run_folder(home, "", "nobody")])["nobody"] == Observation(Seen.KILLED)


def test_many_are_observed_at_once_each_as_it_is(start_run: StartRun) -> None:
    over, killed = start_run("true", name="over"), start_run("sh", "-c", "kill -9 $$", name="killed")
    runs = [start_run("sleep", "1000", name=f"s{number}") for number in range(5)]
    over.ended()
    killed.ended()

    seen = ProcessBackend().observe([run.folder for run in (over, killed, *runs)])

    assert seen.pop("over") == Observation(Seen.EXITED, 0, None, EndedBy.AGENT)
    assert seen.pop("killed") == Observation(Seen.KILLED, None, signal.SIGKILL, EndedBy.AGENT)
    assert seen == {f"s{number}": Observation(Seen.RUNNING) for number in range(5)}


def test_the_process_backend_is_usable_here() -> None:
    assert ProcessBackend().usable() is None
    assert ProcessBackend().attach(run_folder("/nowhere", "", "s1")) is None


def test_every_process_of_a_run_knows_whose_it_is(home: Path) -> None:
    start = Start("s/1", "r1", str(home), ("true",), {"GEMBA_RUN_ID": "another", "HOME": "/h"}, "/")

    assert start.environment() == {"GEMBA_RUN_ID": "r1", "GEMBA_SESSION_ID": "s/1", "HOME": "/h"}
    assert literal("a\x00b\r\nc\rd\te\x85\ud800") == "ab\nc\nd\te\ufffd"


def test_every_session_of_every_workspace_has_a_folder_of_its_own(home: Path) -> None:
    ids = ("a b", "a_b", "a.b", "..", "@{", "é☃", "__", "x" * 400, "x" * 401, "\ud800")
    paths = [run_folder(home, workspace, id).path for workspace in ("/w1", "/w2") for id in ids]

    assert len(set(paths)) == 2 * len(ids)
    assert {path.parent for path in paths} == {home / "runs"}
    assert all(re.fullmatch("[A-Za-z0-9._-]{18,57}", path.name) for path in paths)
    assert run_folder(home, "/w1", "s/1") == run_folder(home, Path("/w1"), "s/1")


def test_a_run_that_has_ended_is_not_started_a_second_time_by_one_who_comes_late(start_run: StartRun) -> None:
    run = start_run("sh", "-c", "echo once")
    run.ended()

    with pytest.raises(Conflict, match="was started already"):
        run.backend.start(run.start)

    assert run.shown() == "once"
