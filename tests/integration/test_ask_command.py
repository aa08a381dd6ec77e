"""`gemba-ask` as an agent runs it: a real process, its output, its exit code and the frame it leaves."""

import contextlib
import json
import os
import random
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba import wire
from gemba.testing import retry_until, seeds

ASK = str(Path(sys.executable).parent / "gemba-ask")
SESSION = "team/one"
QUESTION = ("--kind", "question", "--role", "manager", "--text", "Which port?")
UNKNOWN = "01900000-0000-7000-8000-000000000000"
# Becomes the command, after something was done to the process that it will run in.
BEFORE = "import os, resource, signal, sys; {}; os.execv(sys.argv[1], sys.argv[1:])"


@pytest.fixture(autouse=True)
def _session(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gemba").mkdir()  # a workspace around the folder that the tests run in
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", "balanced")


def run(*arguments: str | bytes, stdin: bytes = b"", before: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", BEFORE.format(before), ASK] if before else [ASK]
    found = subprocess.run([*command, *arguments], input=stdin, capture_output=True)
    return subprocess.CompletedProcess(found.args, found.returncode, found.stdout.decode(), found.stderr.decode())


def frames(home: Path) -> list[dict[str, object]]:
    log = Path(wire.log_path(str(home), SESSION))
    return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


def payload(home: Path) -> dict[str, object]:
    """That of the only frame."""
    (frame,) = frames(home)
    assert isinstance(frame["payload"], dict)
    return frame["payload"]


def ask(*arguments: str) -> str:
    """The event id of an ask."""
    found = run(*(arguments or QUESTION))
    assert found.returncode == 0, found.stderr
    return found.stdout.split()[0]


def answer(
    home: Path, event_id: str, outcome: str = "answered", text: str = "8080", **more: object
) -> dict[str, object]:
    """Put a reply where the server puts it, in one step."""
    reply = {"event_id": event_id, "outcome": outcome, "text": text, **more, "at": "2026-01-01T00:00:00.000000Z"}
    (home / "replies").mkdir(mode=0o700, exist_ok=True)
    (home / "replies/.new").write_text(json.dumps(reply))
    (home / "replies/.new").rename(home / "replies" / f"{event_id}.json")
    return reply


class Waiting:
    """A command that asks and waits, once it has said what it waits for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.process = process
        self.line = process.stderr.readline()
        self.event_id = self.line.split()[0]

    def end(self) -> tuple[int, str, str]:
        stdout, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stdout, stderr


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command that would outlive a failing test, and ends it."""
    with contextlib.ExitStack() as started:

        def start(*command: str) -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield start


@pytest.fixture
def ask_and_wait(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., Waiting]:
    return lambda *more: Waiting(start(ASK, *QUESTION, "--wait", *more))


def refused(found: subprocess.CompletedProcess[str], *parts: str) -> bool:
    """Exit 1, nothing on stdout, one line on stderr that has these parts."""
    assert (found.returncode, found.stdout) == (1, ""), found
    assert found.stderr.startswith("gemba-ask: ")
    assert found.stderr.count("\n") == 1
    assert found.stderr.endswith("\n")
    for part in parts:
        assert part in found.stderr
    return True


def catches(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


# -- asking ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "kind", "follows"),
    [
        ("balanced", "question", "advisory: go on"),
        ("balanced", "blocker", "blocking: stop and wait for the reply"),
        ("cautious", "question", "blocking: stop and wait for the reply"),
        ("cautious", "blocker", "blocking: stop and wait for the reply"),
    ],
)
def test_an_ask_is_one_frame_and_one_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, mode: str, kind: str, follows: str
) -> None:
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", mode)
    monkeypatch.setenv("GEMBA_AGENT_TYPE", "claude")
    found = run("--kind", kind, "--role", "manager", "--text", "Which port?")
    (frame,) = frames(home)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"{frame['event_id']} {follows}\n", "")
    assert frame["hook"] == "GembaAsk"
    assert frame["session_id"] == SESSION
    assert frame["agent_type"] == "claude"
    assert frame["workspace"] == str(home.parent.resolve())
    assert frame["payload"] == {
        "kind": kind,
        "role": "manager",
        "text": "Which port?",
        "mode": mode,
        "cwd": str(Path.cwd()),
    }
    assert [path.name for path in home.rglob("*")] == ["sessions", "team_one.jsonl"]


def test_an_ask_carries_all_its_flags_and_where_it_stood(
    home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    ask(*QUESTION, "--title=Port", "--bead", "shop-1", "--option=80", "--option", "8080")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=workspace, capture_output=True, text=True, check=True)
    assert frames(home)[0]["workspace"] == str(workspace)
    assert payload(home) == {
        "kind": "question",
        "role": "manager",
        "text": "Which port?",
        "mode": "balanced",
        "bead_id": "shop-1",
        "title": "Port",
        "options": ["80", "8080"],
        "cwd": str(workspace),
        "commit": head.stdout.strip(),
        "branch": "main",
        "worktree": str(workspace),
    }


def test_json_tells_the_same_to_a_program(home: Path) -> None:
    found = run(*QUESTION, "--json")
    assert json.loads(found.stdout) == {"event_id": frames(home)[0]["event_id"], "urgency": "advisory", "next": "go on"}
    assert found.stdout.count("\n") == 1


@pytest.mark.parametrize("mode", wire.MODES)
def test_an_assumption_is_recorded_in_every_mode(home: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", mode)
    arguments = ("--kind", "assumption", "--role", "coach", "--text", "Which port?", "--chose", "8080")
    event_id = ask(*arguments)
    assert payload(home)["chose"] == "8080"
    assert run(*arguments).stdout.endswith(" recorded: go on\n")
    found = json.loads(run(*arguments, "--json").stdout)
    assert {**found, "event_id": event_id} == {"event_id": event_id, "urgency": None, "next": "go on"}


@pytest.mark.parametrize("text", ["--kind is missing", "-x", " - ", "é ✓ \U0001f600", "a\nb\tc\x1b[31m", "'\"\\$HOME"])
def test_any_text_is_taken_literally(home: Path, text: str) -> None:
    ask("--kind=question", "--role=coach", f"--text={text}")
    assert payload(home)["text"] == text


def test_a_value_may_begin_with_dashes_unless_it_is_a_flag(home: Path) -> None:
    ask("--kind", "question", "--role", "coach", "--text", "--force or not?", "--title=--kind")
    assert payload(home)["text"] == "--force or not?"
    assert payload(home)["title"] == "--kind"


def test_arguments_that_are_no_unicode_become_replacement_characters(home: Path) -> None:
    found = run("--kind=question", "--role=coach", "--text", b"caf\xe9 ok")
    assert found.returncode == 0
    assert payload(home)["text"] == "caf\ufffd ok"


def test_text_is_read_from_stdin_without_its_last_line_ends(home: Path) -> None:
    found = run(*QUESTION[:5], "-", stdin="first\n\nlast ✓\0\r\n\n".encode() + b"\xff\n")
    assert found.returncode == 0
    assert payload(home)["text"] == "first\n\nlast ✓\0\r\n\n\ufffd"


@pytest.mark.parametrize("stdin", [b"", b" \n\n", b"x" * 100_001, b"x" * 1_000_000, "é".encode() * 200_000])
def test_an_empty_or_endless_stdin_is_refused(home: Path, stdin: bytes) -> None:
    assert refused(run(*QUESTION[:5], "-", stdin=stdin), "--text on stdin", "up to 100000")
    assert frames(home) == []


def test_the_longest_text_fits_from_stdin(home: Path) -> None:
    assert run(*QUESTION[:5], "-", stdin="\U0001f600".encode() * 100_000 + b"\r\n").returncode == 0
    assert payload(home)["text"] == "\U0001f600" * 100_000


def test_a_deleted_working_folder_does_not_keep_an_agent_from_asking(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ask()
    assert "cwd" not in payload(home)


def test_the_default_home_is_in_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_HOME")
    ask()
    assert (tmp_path / "user/.gemba/sessions/team_one.jsonl").exists()


def test_a_session_id_that_is_a_path_stays_in_the_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", "../../etc/passwd")
    ask()
    assert (home / "sessions/.._.._etc_passwd.jsonl").exists()
    (line,) = (home / "sessions/.._.._etc_passwd.jsonl").read_bytes().splitlines()
    assert json.loads(line)["session_id"] == "../../etc/passwd"


def test_many_commands_at_once_leave_whole_frames(home: Path) -> None:
    processes = [subprocess.Popen([ASK, *QUESTION], stdout=subprocess.PIPE, text=True) for _ in range(40)]
    printed = [process.communicate()[0].split()[0] for process in processes]
    assert sorted(printed) == sorted(str(frame["event_id"]) for frame in frames(home))
    assert len(set(printed)) == 40


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ["--kind is missing", "question, blocker, assumption"]),
        (QUESTION[:2], ["--role is missing", "coach, manager"]),
        (QUESTION[:4], ["--text is missing"]),
        ((*QUESTION, "please"), ["unexpected argument 'please'", "--text"]),
        ((*QUESTION, "-"), ["unexpected argument '-'"]),
        ((*QUESTION, ""), ["unexpected argument ''"]),
        ((*QUESTION, "--"), ["unknown flag '--'"]),
        ((*QUESTION, "--urgent"), ["unknown flag '--urgent'", "--kind", "--withdraw"]),
        ((*QUESTION, "--urgent=yes"), ["unknown flag '--urgent'"]),
        ((*QUESTION, "-k"), ["unknown flag '-k'"]),
        (("--kind", "plea", *QUESTION[2:]), ["--kind 'plea'", "question, blocker, assumption"]),
        (("--kind=Question", *QUESTION[2:]), ["--kind 'Question'"]),
        (("--kind", "a\nb", *QUESTION[2:]), [r"--kind 'a\nb'"]),
        (("--kind", "x" * 5000, *QUESTION[2:]), ["xxx…'"]),
        ((*QUESTION[:3], "boss", *QUESTION[4:]), ["--role 'boss'", "coach, manager"]),
        ((*QUESTION[:5], ""), ["--text is empty"]),
        ((*QUESTION[:5], " \t\n"), ["--text is empty"]),
        ((*QUESTION[:4], "--text="), ["--text is empty"]),
        ((*QUESTION[:5], "x" * 100_001), ["--text has 100001 characters", "100000"]),
        (("--kind", "--role", "coach", "--text", "x"), ["--kind needs a value", "question"]),
        ((*QUESTION, "--title"), ["--title needs a value"]),
        ((*QUESTION, "--title", "--bead=1"), ["--title needs a value"]),
        ((*QUESTION, "--title", ""), ["--title is empty"]),
        ((*QUESTION, "--title", "x" * 501), ["--title has 501 characters", "500"]),
        ((*QUESTION, "--bead", "x" * 257), ["--bead has 257 characters", "256"]),
        ((*QUESTION, "--option", "x", "--option="), ["--option is empty"]),
        ((*QUESTION, *["--option=x"] * 51), ["--option is given 51 times", "50"]),
        (
            (*QUESTION, "--option", "A", "--option", "B", "--option= A"),
            ["--option 'A' is given twice", "each answer once"],
        ),
        ((*QUESTION, "--kind", "blocker"), ["--kind is given twice"]),
        ((*QUESTION, "--json", "--json"), ["--json is given twice"]),
        ((*QUESTION, "--json=yes"), ["--json takes no value", "'yes'"]),
        ((*QUESTION, "--chose", "80"), ["--chose", "assumption"]),
        (("--kind", "assumption", *QUESTION[2:]), ["--chose is missing"]),
        (("--kind", "assumption", *QUESTION[2:], "--chose=80", "--wait"), ["--wait", "assumption"]),
        (("--kind", "assumption", *QUESTION[2:], "--chose=80", "--option=80"), ["--option", "assumption"]),
        ((*QUESTION, "--wait", "soon"), ["--wait 'soon'", "seconds"]),
        ((*QUESTION, "--wait", "\uff12"), ["--wait '\uff12'", "seconds"]),
        ((*QUESTION, "--schema", "/nope"), ["--schema '/nope': No such file"]),
        ((*QUESTION, "--wait", "-1"), ["--wait '-1'", "seconds"]),
        ((*QUESTION, "--wait=nan"), ["--wait 'nan'"]),
        ((*QUESTION, "--wait=inf"), ["--wait 'inf'"]),
        ((*QUESTION, "--wait="), ["--wait is empty"]),
        ((*QUESTION, "--resume", UNKNOWN), ["--kind does not go with --resume", "--wait"]),
        (("--withdraw", UNKNOWN, "--wait"), ["--wait does not go with --withdraw"]),
        (("--resume", UNKNOWN, "--withdraw", UNKNOWN), ["--withdraw does not go with --resume"]),
        (("--resume",), ["--resume needs a value"]),
        (("--resume", "../../etc/passwd"), ["no event id"]),
        (("--withdraw", ".."), ["no event id"]),
        (("--resume", UNKNOWN), [SESSION, f"nothing with the event id {UNKNOWN}"]),
        (("--withdraw", UNKNOWN), [SESSION, f"nothing with the event id {UNKNOWN}"]),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(home: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    assert refused(run(*arguments), *parts)
    assert frames(home) == []


def test_without_a_session_nothing_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", " "):
        monkeypatch.setenv("GEMBA_SESSION_ID", value)
        assert refused(run(*QUESTION), "GEMBA_SESSION_ID is not set", "as in: GEMBA_SESSION_ID=importer-1 ")
    monkeypatch.delenv("GEMBA_SESSION_ID")
    assert refused(run(*QUESTION), "GEMBA_SESSION_ID is not set")
    monkeypatch.setenv("GEMBA_SESSION_ID", "x" * 513)
    assert refused(run(*QUESTION), "GEMBA_SESSION_ID has 513 characters", "512")
    assert list(home.iterdir()) == []


def test_an_ask_that_no_operator_would_see_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_WORKSPACE", "/nowhere")
    found = run(*QUESTION)
    assert found.returncode == 0
    assert found.stderr.startswith("gemba-ask: warning: no workspace here")
    assert frames(home)[0]["workspace"] == "/nowhere"


def test_without_a_mode_it_is_balanced_and_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, ""):
        monkeypatch.delenv("GEMBA_INTERACTION_MODE")
        if value is not None:
            monkeypatch.setenv("GEMBA_INTERACTION_MODE", value)
        found = run(*QUESTION)
        assert found.returncode == 0
        assert found.stderr == "gemba-ask: warning: GEMBA_INTERACTION_MODE is not set, going by balanced\n"
        monkeypatch.setenv("GEMBA_INTERACTION_MODE", "x")
    assert {str(frame["payload"]) for frame in frames(home)} == {str(frames(home)[0]["payload"])}
    assert refused(run(*QUESTION), "GEMBA_INTERACTION_MODE 'x'", "dangerous, balanced, cautious")
    assert len(frames(home)) == 2


def test_a_coach_raises_no_blocker(home: Path) -> None:
    assert refused(run("--kind", "blocker", "--role", "coach", "--text", "x"), "coach")
    assert frames(home) == []


@pytest.mark.parametrize("kind", wire.KINDS)
def test_in_dangerous_mode_nothing_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", "dangerous")
    assert refused(run("--kind", kind, "--role", "manager", "--text", "x"), "dangerous", "--kind assumption")
    assert frames(home) == []


def test_a_session_asks_in_its_own_role_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_ROLE", "coach")
    assert refused(run(*QUESTION), "--role manager", "'coach'")
    ask("--kind", "question", "--role", "coach", "--text", "x")
    assert len(frames(home)) == 1


# -- help --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_needs_nothing_and_shows_an_example(monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    monkeypatch.delenv("GEMBA_SESSION_ID")
    found = run("--kind", "question", flag, "--nonsense")
    assert (found.returncode, found.stderr) == (0, "")
    for part in ("--kind question|blocker|assumption", "--wait [SECONDS]", "Example:", "Exit codes:"):
        assert part in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 120


def test_the_example_of_the_help_works(home: Path) -> None:
    example = run("--help").stdout.partition("Example:\n")[2].splitlines()[0]
    found = subprocess.run(
        ["sh", "-c", example.replace("gemba-ask", shlex.quote(ASK)).replace("--wait", "--wait 0")],
        capture_output=True,
        text=True,
    )
    assert "nobody has answered yet" in found.stderr
    assert payload(home)["options"] == ["SQLite", "PostgreSQL"]


def test_version() -> None:
    from gemba import __version__

    assert run("--version").stdout == f"gemba-ask {__version__}\n"


# -- waiting -----------------------------------------------------------------------------------------------------------


def test_a_waiting_ask_prints_the_reply_alone_and_acknowledges_it(
    home: Path, ask_and_wait: Callable[[], Waiting]
) -> None:
    waiting = ask_and_wait()
    assert waiting.line == f"{waiting.event_id} advisory: go on\n"
    assert payload(home)["wait"] is True
    answer(home, waiting.event_id, text="use 8080\n✓")
    assert waiting.end() == (0, "use 8080\n✓\n", "")
    asked, read = frames(home)
    assert asked["event_id"] == waiting.event_id
    assert (read["hook"], read["payload"]) == (
        "GembaReplyRead",
        {"event_id": waiting.event_id, "at": "2026-01-01T00:00:00.000000Z"},
    )
    assert read["event_id"] != waiting.event_id


@pytest.mark.parametrize(("outcome", "code"), wire.OUTCOME_EXIT.items())
def test_the_exit_code_tells_the_outcome(home: Path, outcome: str, code: int) -> None:
    event_id = ask()
    answer(home, event_id, outcome, "words")
    found = run("--resume", event_id)
    assert (found.returncode, found.stdout) == (code, "words\n")
    assert found.stderr.startswith("" if outcome == "answered" else f"gemba-ask: {event_id} ")
    assert ("declined" in found.stderr) == (outcome == "declined")
    assert [frame["hook"] for frame in frames(home)] == ["GembaAsk", "GembaReplyRead"]


def test_with_json_the_reply_is_the_files_object(home: Path) -> None:
    event_id = ask()
    reply = answer(home, event_id, text="b", option=2)
    found = run("--resume", event_id, "--json")
    assert json.loads(found.stdout) == reply
    assert found.stdout.count("\n") == 1


def test_with_json_a_wait_that_runs_out_tells_the_id_to_go_on_with(home: Path) -> None:
    asked = run(*QUESTION, "--wait", "0", "--json")
    event_id = str(frames(home)[0]["event_id"])
    resumed = run("--resume", event_id, "--wait", "0", "--json")
    for found in (asked, resumed):
        assert json.loads(found.stdout) == {"event_id": event_id, "outcome": "waiting"}
        assert (found.returncode, found.stdout.count("\n")) == (1, 1)
        assert "nobody has answered yet" in found.stderr


def test_with_json_a_wait_that_is_interrupted_tells_the_id_too(
    home: Path, ask_and_wait: Callable[..., Waiting]
) -> None:
    waiting = ask_and_wait("--json")
    waiting.process.send_signal(signal.SIGTERM)
    code, printed, told = waiting.end()
    assert (code, json.loads(printed)) == (1, {"event_id": waiting.event_id, "outcome": "waiting"})
    assert "interrupted; the question stays open" in told


def test_a_wait_outlives_its_process(home: Path, ask_and_wait: Callable[[], Waiting]) -> None:
    waiting = ask_and_wait()
    waiting.process.kill()
    assert waiting.end()[:2] == (-signal.SIGKILL, "")
    answer(home, waiting.event_id)
    found = run("--resume", waiting.event_id)
    assert (found.returncode, found.stdout, found.stderr) == (0, "8080\n", "")
    assert [frame["hook"] for frame in frames(home)] == ["GembaAsk", "GembaReplyRead"]


@pytest.mark.parametrize("suffix", ["", ".1", ".12"])
def test_a_wait_is_taken_up_from_a_rotated_log(home: Path, suffix: str) -> None:
    event_id = ask()
    log = Path(wire.log_path(str(home), SESSION))
    log.rename(f"{log}{suffix}")
    Path(f"{log}.old").mkdir()
    found = run("--resume", event_id, "--wait", "0")
    assert refused(found, "nobody has answered yet", "stays open", f"gemba-ask --resume {event_id}")


def test_a_wait_that_runs_out_is_never_told_as_declined(home: Path) -> None:
    found = run(*QUESTION, "--wait", "0.01")
    event_id = frames(home)[0]["event_id"]
    assert (found.returncode, found.stdout) == (1, "")
    line, reason = found.stderr.splitlines()
    assert line == f"{event_id} advisory: go on"
    assert "nobody has answered yet" in reason
    assert f"gemba-ask --resume {event_id}" in reason
    assert "declined" not in found.stderr
    assert len(frames(home)) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_and_leaves_the_question_open(
    home: Path, ask_and_wait: Callable[[], Waiting], number: int
) -> None:
    waiting = ask_and_wait()
    waiting.process.send_signal(number)
    code, stdout, stderr = waiting.end()
    assert (code, stdout) == (1, "")
    assert "interrupted" in stderr
    assert "stays open" in stderr
    assert f"gemba-ask --resume {waiting.event_id}" in stderr
    assert [frame["hook"] for frame in frames(home)] == ["GembaAsk"]


def test_a_signal_ends_a_resumed_wait_too(home: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    event_id = ask()
    process = start(ASK, "--resume", event_id)
    retry_until(lambda: catches(process.pid, signal.SIGTERM))
    process.terminate()
    stdout, stderr = process.communicate(timeout=60)
    assert refused(subprocess.CompletedProcess([], process.returncode, stdout, stderr), "interrupted", event_id)


def test_a_background_job_keeps_ignoring_what_it_was_told_to_ignore(
    home: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    ignoring = BEFORE.format("signal.signal(signal.SIGINT, signal.SIG_IGN)")
    waiting = Waiting(start(sys.executable, "-I", "-c", ignoring, ASK, *QUESTION, "--wait"))
    waiting.process.send_signal(signal.SIGINT)
    answer(home, waiting.event_id)
    assert waiting.end() == (0, "8080\n", "")


def test_a_reply_arrives_in_a_replies_folder_that_was_made_anew(
    home: Path, ask_and_wait: Callable[[], Waiting]
) -> None:
    waiting = ask_and_wait()
    (home / "replies").rmdir()
    answer(home, waiting.event_id)
    assert waiting.end() == (0, "8080\n", "")


def test_replies_to_others_do_not_end_a_wait(home: Path, ask_and_wait: Callable[[], Waiting]) -> None:
    waiting = ask_and_wait()
    for other in (UNKNOWN, waiting.event_id + "x", waiting.event_id[:-1]):
        answer(home, other, text="not yours")
    answer(home, waiting.event_id, text="yours")
    assert waiting.end() == (0, "yours\n", "")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"event_id": ',
        b"\xff\xfe",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"event_id": "another", "outcome": "answered", "text": "x"}',
        b'{"event_id": "ID", "outcome": "eaten", "text": "x"}',
        b'{"event_id": "ID", "outcome": [], "text": "x"}',
        b'{"event_id": "ID", "outcome": "answered"}',
        b'{"event_id": "ID", "outcome": "answered", "text": null}',
    ],
)
def test_a_broken_reply_is_no_answer(home: Path, content: bytes) -> None:
    event_id = ask()
    (home / "replies").mkdir()
    (home / "replies" / f"{event_id}.json").write_bytes(content.replace(b"ID", event_id.encode()))
    assert refused(run("--resume", event_id, "--wait", "0"), "is no reply", "stays open")
    assert [frame["hook"] for frame in frames(home)] == ["GembaAsk"]


def test_a_reply_that_stays_broken_ends_a_wait_for_ever(home: Path) -> None:
    event_id = ask()
    (home / "replies" / f"{event_id}.json").mkdir(parents=True)
    assert refused(run("--resume", event_id), "is no reply", "not a regular file")


def test_a_reply_that_is_repaired_in_time_is_an_answer(home: Path, ask_and_wait: Callable[[], Waiting]) -> None:
    waiting = ask_and_wait()
    (home / "replies" / f"{waiting.event_id}.json").write_text('{"event_id": ')
    answer(home, waiting.event_id)
    assert waiting.end() == (0, "8080\n", "")


@pytest.mark.parametrize("close", ["stdout", "full"])
def test_a_reply_that_could_not_be_printed_is_not_acknowledged(home: Path, close: str) -> None:
    event_id = ask()
    answer(home, event_id)
    redirect = ">&-" if close == "stdout" else ">/dev/full"
    found = subprocess.run(["sh", "-c", f'exec "$@" {redirect}', "sh", ASK, "--resume", event_id], capture_output=True)
    assert found.returncode == 1
    assert b"did not take the reply" in found.stderr
    assert (b"stdout is closed" if close == "stdout" else b"No space left") in found.stderr
    assert [frame["hook"] for frame in frames(home)] == ["GembaAsk"]


def test_a_printed_reply_counts_even_when_it_cannot_be_acknowledged(home: Path) -> None:
    event_id = ask()
    answer(home, event_id, "declined", "no")
    found = run("--resume", event_id, before="resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))")
    assert (found.returncode, found.stdout) == (12, "no\n")
    assert "could not be acknowledged" in found.stderr
    assert len(frames(home)) == 1


def test_a_reply_is_printed_in_utf8_whatever_the_locale(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    event_id = ask()
    answer(home, event_id, text="✓ \ud800")
    assert run("--resume", event_id).stdout == "✓ \ufffd\n"


def test_an_ask_of_another_session_is_not_ours_to_resume(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event_id = ask()
    monkeypatch.setenv("GEMBA_SESSION_ID", "team_one")  # the same log
    assert refused(run("--resume", event_id), "nothing with the event id")
    assert refused(run("--withdraw", event_id), "nothing with the event id")


def test_only_an_ask_can_be_resumed(home: Path) -> None:
    event_id = ask()
    answer(home, event_id)
    run("--resume", event_id)
    acknowledgement = str(frames(home)[1]["event_id"])
    assert refused(run("--resume", acknowledgement), "nothing with the event id")


# -- withdrawing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
def test_an_ask_is_withdrawn_by_a_frame(home: Path, as_json: bool) -> None:
    event_id = ask()
    found = run("--withdraw", event_id, *(["--json"] if as_json else []))
    assert (found.returncode, found.stderr) == (0, "")
    if as_json:
        assert json.loads(found.stdout) == {"event_id": event_id, "withdrawn": True}
    else:
        assert found.stdout == f"{event_id} withdrawn\n"
    _, frame = frames(home)
    assert (frame["hook"], frame["payload"]) == ("GembaWithdraw", {"event_id": event_id})


def test_what_has_its_reply_is_not_withdrawn(home: Path) -> None:
    event_id = ask()
    answer(home, event_id)
    assert refused(run("--withdraw", event_id), "has its reply already", f"gemba-ask --resume {event_id}")
    assert len(frames(home)) == 1


def test_what_is_withdrawn_may_be_withdrawn_again(home: Path) -> None:
    event_id = ask()
    answer(home, event_id, "withdrawn", "")
    assert run("--withdraw", event_id).stdout == f"{event_id} withdrawn\n"
    assert len(frames(home)) == 1


def test_an_assumption_cannot_be_withdrawn(home: Path) -> None:
    event_id = ask("--kind", "assumption", "--role", "coach", "--text", "Which port?", "--chose", "8080")
    assert refused(run("--withdraw", event_id), "assumption")


# -- a machine that does not play along --------------------------------------------------------------------------------


def file_for_home(home: Path) -> None:
    home.rmdir()
    home.write_text("mine")


def loop_for_sessions(home: Path) -> None:
    (home / "sessions").symlink_to("sessions")


def file_for_sessions(home: Path) -> None:
    (home / "sessions").write_text("mine")


def link_for_log(home: Path) -> None:
    (home / "sessions").mkdir()
    (home / "victim").write_text("mine")
    (home / "sessions/team_one.jsonl").symlink_to(home / "victim")


def pipe_for_log(home: Path) -> None:
    (home / "sessions").mkdir()
    os.mkfifo(home / "sessions/team_one.jsonl")


@pytest.mark.parametrize("waits", [(), ("--wait",)])
@pytest.mark.parametrize(
    ("break_home", "reason"),
    [
        (file_for_home, "Not a directory"),
        (loop_for_sessions, "Too many levels of symbolic links"),
        (file_for_sessions, "Not a directory"),
        (link_for_log, "Too many levels of symbolic links"),
        (pipe_for_log, "not a regular file"),
    ],
)
def test_a_home_that_cannot_be_used_is_told_in_one_line(
    home: Path, break_home: Callable[[Path], None], reason: str, waits: tuple[str, ...]
) -> None:
    break_home(home)
    assert refused(run(*QUESTION, *waits), str(home))
    assert refused(run(*QUESTION), str(home), reason)
    for kept in (home, home / "sessions", home / "victim"):
        if kept.is_file():
            assert kept.read_text() == "mine"


# Root writes everywhere: after everything is loaded, be somebody who does not.
READ_ONLY = """
import os, sys
from gemba.cli import ask
if os.geteuid() == 0:
    os.seteuid(65534)
sys.exit(ask.main(sys.argv[1:]))
"""


def test_a_home_that_may_not_be_written_is_told_in_one_line(home: Path) -> None:
    home.chmod(0o500)
    found = subprocess.run([sys.executable, "-I", "-c", READ_ONLY, *QUESTION], capture_output=True, text=True)
    home.chmod(0o700)
    assert refused(found, str(home), "Permission denied")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("room", [0, 100])
def test_a_full_disk_is_told_in_one_line_and_leaves_nothing_torn(home: Path, room: int) -> None:
    ask()
    log = Path(wire.log_path(str(home), SESSION))
    before = log.read_bytes()
    room += len(before)
    found = run(*QUESTION, before=f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))")
    assert refused(found, str(log), "bytes fit" if room > len(before) else "File too large")
    assert log.read_bytes() == before


def test_a_recorded_ask_says_so_when_stdout_is_gone(home: Path) -> None:
    for redirect in (">&-", ">/dev/full"):
        found = subprocess.run(["sh", "-c", f'exec "$@" {redirect}', "sh", ASK, *QUESTION], capture_output=True)
        event_id = str(frames(home)[-1]["event_id"])
        assert found.returncode == 1
        assert f"{event_id} is recorded" in found.stderr.decode()
    assert len(frames(home)) == 2


def test_a_closed_stderr_takes_no_warning_into_the_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_INTERACTION_MODE")
    found = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", ASK, *QUESTION], capture_output=True)
    assert found.returncode == 0
    assert len(frames(home)) == 1


@pytest.mark.chaos
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_commands_killed_at_any_moment_leave_the_others_frames_whole(home: Path, seed: int) -> None:
    chance = random.Random(seed)
    killed: list[subprocess.Popen[str]] = []
    kept: list[subprocess.Popen[str]] = []
    for _ in range(30):
        process = subprocess.Popen([ASK, *QUESTION], stdout=subprocess.PIPE, text=True)
        (killed if chance.random() < 0.5 else kept).append(process)
    for process in killed:
        process.kill()
        process.communicate()
    printed = {process.communicate()[0].split()[0] for process in kept}
    last = ask()
    log = Path(wire.log_path(str(home), SESSION)).read_bytes()
    whole = []
    for line in log.splitlines():
        try:
            whole.append(json.loads(line)["event_id"])
        except ValueError:
            continue
    assert printed | {last} <= set(whole)
    assert len(whole) == len(set(whole))


# -- what a call costs -------------------------------------------------------------------------------------------------


def imported(*command: str) -> set[str]:
    found = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", *command], capture_output=True, text=True, check=True
    )
    lines = [line for line in found.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_a_plain_ask_imports_these_modules_and_no_other() -> None:
    assert imported(ASK, *QUESTION) - imported("-c", "pass") == {
        "gemba",
        "gemba.cli",
        "gemba.cli.agent",
        "gemba.cli.ask",
        "gemba.speaker",
        "gemba.wire",
        "errno",
        "fcntl",
    }
