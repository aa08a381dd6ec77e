"""What can be wrong around Gemba: disks, folders, ports, files, signals. Each: a clear line, and nothing is lost."""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.cluster import Cluster
from tests.fixtures.disks import Disk, LimitedDisk, may_mount
from tests.fixtures.servers import BIN, RunningServer, Stream

QUESTION = ("--kind", "question", "--role", "coach", "--text", "Which port?")
BOUND = (sys.executable, "-P", str(Path(__file__).parents[1] / "fixtures/bound.py"))


def make_workspace(folder: Path) -> Path:
    (folder / ".gemba").mkdir(parents=True)
    return folder


@contextlib.contextmanager
def running(workspace: Path, home: Path, database_url: str = "") -> Iterator[RunningServer]:
    server = RunningServer(workspace, home, database_url)
    try:
        yield server
    finally:
        server.stop()


def gemba(workspace: Path, *arguments: str, command: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*command, str(BIN / "gemba"), *arguments], cwd=workspace, capture_output=True, text=True, timeout=30
    )


def refused(found: "subprocess.CompletedProcess[str]", *parts: str) -> bool:
    """One line that holds these parts, and exit 1; on stderr, or as the finding of `gemba doctor`."""
    is_finding = "doctor" in found.args
    told, silent = (found.stdout, found.stderr) if is_finding else (found.stderr, found.stdout)
    assert (found.returncode, silent) == (1, ""), found
    line, *hint = told.splitlines()
    assert not hint or is_finding  # what can be done about it stands below a finding
    assert line.startswith("FAIL  " if is_finding else "gemba: ")
    for part in parts:
        assert part in line
    return True


def check(server: RunningServer, id: str) -> dict[str, Any]:
    checks: list[dict[str, Any]] = server.get("/api/doctor")["checks"]
    return next(check for check in checks if check["id"] == id)


def ask(server: RunningServer, *arguments: str) -> str:
    printed, errors = server.ask(*QUESTION, *arguments).communicate(timeout=30)
    assert printed, errors
    return printed.split()[0]


Wait = Callable[[RunningServer], tuple["subprocess.Popen[str]", str]]


@pytest.fixture
def wait() -> Iterator[Wait]:
    """Asks and waits: the asker, and the event id that it told first."""
    askers: list[subprocess.Popen[str]] = []

    def begin(server: RunningServer) -> tuple["subprocess.Popen[str]", str]:
        askers.append(server.ask(*QUESTION, "--wait"))
        stderr = askers[-1].stderr
        assert stderr is not None
        return askers[-1], stderr.readline().split()[0]

    yield begin
    for asker in askers:
        asker.kill()
        asker.communicate()


# ---- no room ----------------------------------------------------------------------------------------------------


def test_with_a_full_disk_under_the_database_asks_wait_and_are_taken_in_when_there_is_room(
    disk: Disk, home: Path, wait: Wait
) -> None:
    with running(make_workspace(disk.folder / "workspace"), home) as server:
        stream = server.events()
        first = ask(server)
        stream.until("escalation_opened")
        disk.fill(server)
        asker, second = wait(server)

        found = retry_until(lambda: (found := check(server, "ingest"))["status"] == "fail" and found)
        assert "frames wait in their logs: " in found["detail"]
        assert server.gemba("doctor").returncode == 1
        answer = server.request("POST", f"/api/escalations/{first}/respond", {"text": "8080"})
        assert (answer.status, answer.json["code"]) == (503, "database")
        assert server.get(f"/api/escalations/{first}")["state"] == "open"

        disk.free(server)
        assert stream.until("escalation_opened")["data"]["ref"] == second
        assert retry_until(lambda: check(server, "ingest")["status"] == "ok")
        server.post(f"/api/escalations/{first}/respond", {"text": "8080"})
        server.post(f"/api/escalations/{second}/respond", {"text": "8081"})
        assert asker.communicate(timeout=30)[0] == "8081\n"
        code, errors = server.stop()
    assert code == 0
    assert "Traceback" not in errors
    assert errors.count("frames wait in their logs") == 1


def test_with_no_room_for_replies_an_answer_is_kept_and_delivered_when_there_is(
    disk: Disk, workspace: Path, postgresql_url: str, wait: Wait
) -> None:
    with running(workspace, disk.folder / "home", postgresql_url) as server:
        stream = server.events()
        asker, id = wait(server)
        stream.until("escalation_opened")
        disk.fill(server)
        server.post(f"/api/escalations/{id}/respond", {"text": "8080"})

        undelivered = stream.until("escalation.undelivered")["data"]["payload"]["note"]
        assert undelivered == f"the reply could not be written: {disk.reason}"
        found = check(server, "replies")
        assert (found["status"], found["detail"]) == ("fail", undelivered)
        assert asker.poll() is None
        assert list((server.home / "replies").iterdir()) == []

        disk.free(server)
        assert asker.communicate(timeout=30)[0] == "8080\n"
        stream.until("escalation.delivered")
        assert check(server, "replies")["status"] == "ok"
        assert server.get(f"/api/escalations/{id}")["delivery_note"] is None
        code, errors = server.stop()
    assert code == 0
    assert errors.count("replies wait to be written") == 1


def test_a_reply_that_cannot_be_written_is_in_nobodys_way(sqlite_server: RunningServer) -> None:
    stream = sqlite_server.events()
    blocked, free = ask(sqlite_server), ask(sqlite_server)
    for _ in range(2):
        stream.until("escalation_opened")
    (sqlite_server.home / f"replies/{blocked}.json").mkdir(parents=True)
    sqlite_server.post(f"/api/escalations/{blocked}/respond", {"text": "one"})
    assert stream.until("escalation.undelivered")["data"]["ref"] == blocked
    sqlite_server.post(f"/api/escalations/{free}/respond", {"text": "two"})
    assert sqlite_server.ask("--resume", free).communicate(timeout=30)[0] == "two\n"

    (sqlite_server.home / f"replies/{blocked}.json").rmdir()
    assert sqlite_server.ask("--resume", blocked).communicate(timeout=30)[0] == "one\n"
    code, errors = sqlite_server.stop()
    assert (code, errors.count("replies wait to be written")) == (0, 1)


def no_room(folder: Path) -> "subprocess.CompletedProcess[str]":
    """`gemba serve` where no file may grow."""
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from gemba.cli.main import main; sys.argv = ['gemba', 'serve', '--port', '0']; main()"
    )
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=30)


def test_on_a_full_disk_a_server_does_not_start_and_says_why(workspace: Path, home: Path) -> None:
    assert refused(no_room(workspace), "disk")
    with running(workspace, home) as server:
        ask(server)
        server.events(after=0).until("escalation_opened")
    assert refused(no_room(workspace))


# ---- a database that goes away ----------------------------------------------------------------------------------


def test_while_the_database_is_down_asks_wait_and_answers_are_refused(
    durable_postgres: Cluster, workspace: Path, home: Path, wait: Wait
) -> None:
    with running(workspace, home, durable_postgres.url()) as server:
        stream = server.events()
        first = ask(server)
        stream.until("escalation_opened")
        durable_postgres.stop("immediate")
        asker, second = wait(server)
        answer = server.request("POST", f"/api/escalations/{first}/respond", {"text": "8080"})
        assert (answer.status, answer.json["code"]) == (503, "database")
        assert server.get("/api/health")["status"]

        durable_postgres.start()
        assert stream.until("escalation_opened")["data"]["ref"] == second
        server.post(f"/api/escalations/{first}/respond", {"text": "8080"})
        server.post(f"/api/escalations/{second}/respond", {"text": "8081"})
        assert asker.communicate(timeout=30)[0] == "8081\n"
        code, errors = server.stop()
    assert code == 0
    assert "Traceback" not in errors


# ---- folders ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    for folder in folders:
        folder.chmod(0o500)
    try:
        yield
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
def test_a_workspace_that_may_not_be_written_is_told_in_one_line(workspace: Path, home: Path, used: bool) -> None:
    folder = workspace / ".gemba"
    if used:
        with running(workspace, home):
            pass
    before = sorted(path.name for path in folder.iterdir())
    files = list(folder.rglob("*")) if used else []
    with read_only(folder):
        for file in files:
            file.chmod(0o500 if file.is_dir() else 0o400)
        for command in (("serve", "--port", "0"), ("inbox",), ("doctor",)):
            assert refused(gemba(workspace, *command, command=BOUND), ".gemba")

    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_home_that_may_not_be_written_is_told_in_one_line(workspace: Path, home: Path) -> None:
    with read_only(home):
        assert refused(gemba(workspace, "serve", "--port", "0", command=BOUND), str(home), "Permission denied")
        assert refused(gemba(workspace, "inbox", command=BOUND), str(home), "Permission denied")


def test_a_home_that_becomes_read_only_keeps_answers_until_it_can_be_written(
    workspace: Path, home: Path, wait: Wait
) -> None:
    server = RunningServer(workspace, home, "", running=False)
    server.start((*BOUND, str(BIN / "gemba")))
    try:
        stream = server.events()
        asker, id = wait(server)
        stream.until("escalation_opened")
        with read_only(home / "replies"):
            server.post(f"/api/escalations/{id}/respond", {"text": "8080"})
            assert "Permission denied" in stream.until("escalation.undelivered")["data"]["payload"]["note"]
        assert asker.communicate(timeout=30)[0] == "8080\n"
    finally:
        assert server.stop()[0] == 0


def test_a_log_that_may_not_be_read_is_named_and_the_others_are_taken_in(workspace: Path, home: Path) -> None:
    server = RunningServer(workspace, home, "", running=False)
    payload = {"kind": "question", "role": "coach", "mode": "balanced"}
    server.append("GembaAsk", {**payload, "text": "hidden"}, "closed")
    (home / "sessions/closed.jsonl").chmod(0)
    server.start((*BOUND, str(BIN / "gemba")))
    try:
        stream = server.events(after=0)
        server.append("GembaAsk", {**payload, "text": "shown"}, "open")
        assert stream.until("escalation_opened")["data"]["payload"]["text"] == "shown"
        assert "closed.jsonl: Permission denied" in check(server, "ingest")["detail"]
        (home / "sessions/closed.jsonl").chmod(0o600)
        server.append("GembaState", {"state": "working"}, "closed")
        assert stream.until("escalation_opened")["data"]["payload"]["text"] == "hidden"
        assert check(server, "ingest")["status"] == "ok"
    finally:
        assert server.stop()[0] == 0


if may_mount():

    def test_on_a_file_system_that_is_read_only_every_command_says_so_in_one_line(mounted: Path, home: Path) -> None:
        folder = make_workspace(mounted / "workspace")
        with running(folder, home):
            pass
        subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)

        for command in (("serve", "--port", "0"), ("inbox",), ("init",)):
            assert refused(gemba(folder, *command), ".gemba")


@pytest.mark.parametrize(
    "name",
    [
        "with spaces and 'quotes'",
        "größer ☃ \N{DROMEDARY CAMEL}",
        "%20?#&=;",
        "/".join(["a-long-name-of-a-folder"] * 14),
        "new\nline",
    ],
    ids=["spaces", "unicode", "url", "long", "newline"],
)
def test_a_workspace_may_lie_anywhere(tmp_path: Path, home: Path, name: str, wait: Wait) -> None:
    with running(make_workspace(tmp_path / name), home) as server:
        stream = server.events()
        asker, id = wait(server)
        stream.until("escalation_opened")
        inbox = server.gemba("inbox", "--json")
        assert [item["id"] for item in json.loads(inbox.stdout)["escalations"]] == [id]
        assert server.gemba("answer", id, "8080").returncode == 0
        assert asker.communicate(timeout=30)[0] == "8080\n"
        assert server.stop() == (0, "")
    assert not list((tmp_path / name / ".gemba").glob("*.sock"))


def test_a_path_that_is_too_long_for_a_database_is_told_in_one_line(tmp_path: Path, home: Path) -> None:
    folder = make_workspace(tmp_path / "/".join(["a-long-name-of-a-folder"] * 30))

    assert refused(gemba(folder, "serve", "--port", "0"), "SQLite takes 504", "PostgreSQL")


@pytest.mark.parametrize("what", ["file", "link to nowhere"])
def test_a_home_that_is_no_folder_is_told_in_one_line(workspace: Path, home: Path, what: str) -> None:
    home.rmdir()
    if what == "file":
        home.write_text("")
    else:
        home.symlink_to(home.parent / "nowhere" / "at" / "all")

    assert refused(gemba(workspace, "serve", "--port", "0"), str(home))


# ---- one server a workspace -------------------------------------------------------------------------------------


def test_a_second_server_is_refused_and_the_first_goes_on(sqlite_server: RunningServer) -> None:
    stream = sqlite_server.events()
    second = gemba(sqlite_server.workspace, "serve", "--port", "0")

    assert refused(second, "runs already", sqlite_server.url, str(sqlite_server.process.pid))
    id = ask(sqlite_server)
    assert stream.until("escalation_opened")["data"]["ref"] == id
    assert sqlite_server.gemba("answer", id, "8080").returncode == 0


def test_a_server_starts_though_the_copy_of_a_killed_one_has_its_lock_for_a_moment(
    sqlite_server: RunningServer,
) -> None:
    """A process that is killed while it starts a program leaves one that has all its files open until it has become
    that program."""
    told = sqlite_server.workspace / ".gemba/server.json"
    before = told.read_bytes()
    sqlite_server.kill()
    assert told.read_bytes() == before
    copy = subprocess.Popen(["flock", sqlite_server.workspace / ".gemba/serve.lock", "sleep", "0.5"])
    retry_until(lambda: Path(f"/proc/{copy.pid}/task/{copy.pid}/children").read_text(), timeout=10)

    sqlite_server.start()

    assert copy.wait() == 0
    assert sqlite_server.get("/api/sessions")["sessions"] == []


def test_a_second_server_touches_nothing_before_it_has_the_lock(sqlite_server: RunningServer) -> None:
    """It may be a newer program, whose schema the first one does not know."""
    database = sqlite_server.workspace / ".gemba/gemba.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("update alembic_version set version_num = '0000'")
        connection.commit()

    assert refused(gemba(sqlite_server.workspace, "serve", "--port", "0"), "runs already")
    assert not (sqlite_server.workspace / ".gemba/backups").exists()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("update alembic_version set version_num = '0001'")
        connection.commit()


def test_after_a_crash_nothing_that_was_left_stands_in_the_way(server: RunningServer, wait: Wait) -> None:
    folder = server.workspace / ".gemba"
    asker, id = wait(server)
    server.events(after=0).until("escalation_opened")
    server.kill()
    assert (folder / "server.json").exists()
    assert (folder / "gemba.sock").exists()

    # Without a server the commands work on the store, and say so.
    answered = server.gemba("answer", id, "8080")
    assert (answered.returncode, answered.stderr) == (0, "")
    assert asker.communicate(timeout=30)[0] == "8080\n"
    assert "not running" in server.gemba("doctor").stdout

    server.start()
    assert server.get(f"/api/escalations/{id}")["state"] == "resolved"
    assert server.gemba("inbox").returncode == 0
    assert server.stop() == (0, "")
    assert not (folder / "server.json").exists()
    assert not (folder / "gemba.sock").exists()


# ---- ports ------------------------------------------------------------------------------------------------------


@pytest.fixture
def taken_port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        yield other.getsockname()[1]


def test_a_port_that_is_taken_is_told_in_one_line(workspace: Path, home: Path, taken_port: int) -> None:
    found = gemba(workspace, "serve", "--port", str(taken_port))

    assert refused(found, f"port {taken_port}", "address already in use", "--port")


def test_a_port_of_the_settings_that_is_taken_is_told_in_one_line(workspace: Path, home: Path, taken_port: int) -> None:
    (workspace / ".gemba/workspace.toml").write_text(f"[server]\nport = {taken_port}\n")

    assert refused(gemba(workspace, "serve"), f"port {taken_port}", "address already in use")


def test_when_the_default_port_is_taken_a_free_one_is_used(workspace: Path, home: Path) -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # taken by somebody else, which is as good
            stack.enter_context(closing(socket.create_server(("127.0.0.1", 4680))))
        process = subprocess.Popen([BIN / "gemba", "serve", "--json"], cwd=workspace, stdout=subprocess.PIPE)
        stack.callback(process.communicate)
        stack.callback(process.terminate)
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        assert not url.endswith(":4680")


# ---- files ------------------------------------------------------------------------------------------------------

TOML: dict[str, tuple[bytes, str]] = {
    "syntax": (b"name = 'x'\n[reply\n", "line 2"),
    "type": (b"[reply]\nundelivered_after_seconds = 'soon'\n", "undelivered_after_seconds"),
    "range": (b"[server]\nport = 70000\n", "port"),
    "unknown": (b"[server]\nprot = 4680\n", "prot"),
    "bytes": (b"\xff\xfe", "not TOML"),
}


@pytest.mark.parametrize("what", TOML)
def test_broken_settings_are_named_and_nothing_is_made(workspace: Path, home: Path, what: str) -> None:
    content, part = TOML[what]
    file = workspace / ".gemba/workspace.toml"
    file.write_bytes(content)

    for command in (("serve", "--port", "0"), ("doctor",)):
        assert refused(gemba(workspace, *command), str(file), part)
    assert list((workspace / ".gemba").iterdir()) == [file]
    assert list(home.iterdir()) == []


DATABASES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda file: file.write_bytes(b"garbage" * 1000),
    "folder": Path.mkdir,
    "link to nowhere": lambda file: file.symlink_to(file.parent / "nowhere" / "at" / "all"),
    "another program's": lambda file: make_database(file, "create table alembic_version (version_num text)", "9999"),
}


def make_database(file: Path, statement: str, revision: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.execute("insert into alembic_version values (?)", [revision])
        connection.commit()


@pytest.mark.parametrize("what", DATABASES)
def test_a_database_that_is_none_of_ours_is_told_in_one_line_and_not_touched(
    workspace: Path, home: Path, what: str
) -> None:
    file = workspace / ".gemba/gemba.db"
    DATABASES[what](file)
    before = file.read_bytes() if file.is_file() else None

    for command in (("serve", "--port", "0"), ("inbox",)):
        assert refused(gemba(workspace, *command))
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_database_that_a_newer_program_made_is_refused_and_not_touched(workspace: Path, home: Path) -> None:
    with running(workspace, home):
        pass
    file = workspace / ".gemba/gemba.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)")
    before = file.read_bytes()

    assert refused(gemba(workspace, "serve", "--port", "0"), "newer", "9999")
    assert file.read_bytes() == before


# ---- signals ----------------------------------------------------------------------------------------------------


def read_to_its_end(stream: Stream) -> None:
    with contextlib.suppress(EOFError):
        while True:
            stream.next()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_whoever_is_connected(
    sqlite_server: RunningServer, number: int, wait: Wait
) -> None:
    askers = [wait(sqlite_server)[0] for _ in range(3)]
    streams = [sqlite_server.events() for _ in range(3)]
    with closing(socket.create_connection(("127.0.0.1", int(sqlite_server.url.rpartition(":")[2])))) as silent:
        silent.sendall(b"GET /api/esc")  # a request that never ends
        began = time.monotonic()
        sqlite_server.process.send_signal(number)
        for stream in streams:
            read_to_its_end(stream)
        code, errors = sqlite_server.stop()
        assert (code, "Traceback" in errors) == (0, False)
        assert time.monotonic() - began < 5
    assert [asker.poll() for asker in askers] == [None] * 3  # they wait on, for the next server
    assert not list((sqlite_server.workspace / ".gemba").glob("server.json"))


def test_a_disk_that_is_limited_binds_the_server_alone(sqlite_server: RunningServer, tmp_path: Path) -> None:
    """The fixture's own promise."""
    limited = LimitedDisk(tmp_path)
    limited.fill(sqlite_server)
    limits = Path(f"/proc/{sqlite_server.process.pid}/limits").read_text()
    assert re.search(r"Max file size +0 ", limits)
    assert os.getpid() != sqlite_server.process.pid
    limited.free(sqlite_server)
