"""Frames, names, rules and the log: what every writer and reader of the wire relies on."""

import contextlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemba import wire
from gemba.testing import retry_until, seeds

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=10,
)
BLOCKING = ["permission_prompt", "hitl_approval", "approval", "needs_input", "blocked", "gate_failure", "budget_stop"]
ADVISORY = ["purview_violation", "stalled", "budget_warn"]


def frame(**fields: object) -> bytes:
    return wire.encode_frame("GembaState", fields, session_id="s")


def open_files() -> list[str]:
    """What this process has open, by path."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            found.append(str(link.readlink()))
    return sorted(found)


def lines_of(home: Path, session_id: str = "s") -> list[bytes]:
    return Path(wire.log_path(str(home), session_id)).read_bytes().split(b"\n")


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "question", "blocker"),
    [
        ("dangerous", None, None),
        ("balanced", "advisory", "blocking"),
        ("cautious", "blocking", "blocking"),
        ("reckless", "advisory", "blocking"),
        ("", "advisory", "blocking"),
    ],
)
def test_the_mode_decides_whether_an_ask_blocks(mode: str, question: str | None, blocker: str | None) -> None:
    assert wire.urgency_of("question", mode) == question
    assert wire.urgency_of("blocker", mode) == blocker


@pytest.mark.parametrize("mode", [*wire.MODES, "reckless"])
def test_other_kinds_have_one_urgency_in_every_mode(mode: str) -> None:
    assert {kind: wire.urgency_of(kind, mode) for kind in BLOCKING} == dict.fromkeys(BLOCKING, "blocking")
    assert {kind: wire.urgency_of(kind, mode) for kind in ADVISORY} == dict.fromkeys(ADVISORY, "advisory")
    assert wire.urgency_of("assumption", mode) is None
    assert wire.urgency_of("gossip", mode) is None


@pytest.mark.parametrize("mode", [*wire.MODES, "reckless"])
@pytest.mark.parametrize("role", wire.ROLES)
@pytest.mark.parametrize("kind", [*wire.ASK_KINDS, *BLOCKING, *ADVISORY])
def test_refused_is_a_coachs_blocker_and_every_ask_in_dangerous_mode(kind: str, role: str, mode: str) -> None:
    reason = wire.refusal(kind, role, mode)
    if kind == "blocker" and role == "coach":
        assert reason is not None
        assert "coach" in reason
    elif kind in ("question", "blocker") and mode == "dangerous":
        assert reason is not None
        assert "--kind assumption" in reason
    else:
        assert reason is None


# -- names -------------------------------------------------------------------------------------------------------------


@given(ANY_TEXT)
@example("..")
@example("")
@example("../../etc/passwd")
@example("a" * 5000)
def test_a_safe_id_names_a_file_in_its_folder(session_id: str) -> None:
    name = wire.safe_id(session_id)
    assert 1 <= len(name) <= 200
    assert set(name) <= wire._SAFE
    assert name.strip(".")
    path = Path(wire.log_path("/h", session_id))
    assert path.parent == Path("/h/sessions")
    assert path == Path(os.path.normpath(path))


@given(st.text(st.sampled_from(sorted(wire._SAFE)), min_size=1, max_size=200).filter(lambda text: text.strip(".")))
def test_a_safe_id_of_a_safe_id_is_the_same(session_id: str) -> None:
    assert wire.safe_id(session_id) == session_id


def test_what_is_not_safe_becomes_an_underscore() -> None:
    assert wire.safe_id("team/é task:1") == "team___task_1"


@pytest.mark.parametrize("event_id", ["a", "0190-a.b_C", "x" * 128, ".a", "a.."])
def test_an_event_id_names_its_reply(event_id: str) -> None:
    assert wire.valid_event_id(event_id)
    assert wire.reply_path("/h", event_id) == f"/h/replies/{event_id}.json"


@pytest.mark.parametrize("event_id", ["", ".", "..", "a/b", "../a", "a\n", "a b", "é", "x" * 129, "a\0", "\ud800"])
def test_an_id_that_could_name_another_file_is_refused(event_id: str) -> None:
    assert not wire.valid_event_id(event_id)
    with pytest.raises(wire.Refused, match="no event id"):
        wire.reply_path("/h", event_id)


def test_event_ids_are_version_7_and_sort_by_when_they_were_made() -> None:
    before = time.time_ns() // 1_000_000
    ids = [wire.new_event_id() for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    parsed = [uuid.UUID(event_id) for event_id in ids]
    assert len(set(ids)) == 1000
    assert {(value.version, value.variant) for value in parsed} == {(7, uuid.RFC_4122)}
    assert all(before <= value.int >> 80 <= after for value in parsed)
    assert all(map(wire.valid_event_id, ids))
    assert [event_id[:18] for event_id in ids] == sorted(event_id[:18] for event_id in ids)


@given(st.integers(0, 253_402_300_799_999_999_999))
def test_a_timestamp_is_utc_with_microseconds(ns: int) -> None:
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ns // 1000)
    text = wire.timestamp(ns)
    assert datetime.fromisoformat(text) == expected
    assert len(text) == len("2026-01-01T00:00:00.000000Z")


def test_home_is_absolute_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert wire.home() == f"{tmp_path}/.gemba"
    for value, expected in {"": ".gemba", "rel": "rel", "~/x": "x", str(tmp_path / "y"): "y"}.items():
        monkeypatch.setenv("GEMBA_HOME", value)
        assert wire.home() == f"{tmp_path}/{expected}"
    monkeypatch.setenv("GEMBA_HOME", "~nobody-of-that-name/x")
    with pytest.raises(wire.Refused, match="GEMBA_HOME"):
        wire.home()


# -- the workspace -----------------------------------------------------------------------------------------------------


def test_the_workspace_is_the_nearest_folder_with_a_gemba_folder(home: Path, tmp_path: Path) -> None:
    (tmp_path / "outer/.gemba").mkdir(parents=True)
    (tmp_path / "outer/inner/.gemba").mkdir(parents=True)
    (tmp_path / "outer/inner/deep/er").mkdir(parents=True)
    (tmp_path / "outer/file").mkdir()
    (tmp_path / "outer/file/.gemba").write_text("not a folder")
    assert wire.find_workspace(str(tmp_path / "outer/inner/deep/er")) == str(tmp_path / "outer/inner")
    assert wire.find_workspace(str(tmp_path / "outer/file")) == str(tmp_path / "outer")
    assert wire.find_workspace(str(tmp_path)) == ""
    assert wire.find_workspace("") == ""


def test_a_workspace_has_one_name_even_behind_a_symlink(home: Path, tmp_path: Path) -> None:
    (tmp_path / "real/.gemba").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert wire.find_workspace(str(tmp_path / "link")) == str(tmp_path / "real")


def test_the_environment_names_the_workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "other/.gemba").mkdir(parents=True)
    monkeypatch.setenv("GEMBA_WORKSPACE", str(tmp_path / "spawned"))
    assert wire.find_workspace(str(tmp_path / "other")) == str(tmp_path / "spawned")
    monkeypatch.setenv("GEMBA_WORKSPACE", "sub")
    assert wire.find_workspace(str(tmp_path / "other")) == str(tmp_path / "other/sub")


def test_the_home_of_the_logs_is_a_workspace_only_when_it_is_set_up_as_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gemba/sessions").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    assert wire.find_workspace(str(tmp_path / "project")) == ""
    (tmp_path / ".gemba/workspace.toml").touch()
    assert wire.find_workspace(str(tmp_path / "project")) == str(tmp_path)


# -- git ---------------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_the_head_is_found_from_below(workspace: Path) -> None:
    (workspace / "a/b").mkdir(parents=True)
    assert wire.git_head(str(workspace / "a/b")) == (git(workspace, "rev-parse", "HEAD"), "main")


def test_the_head_on_a_branch_with_slashes_loose_and_packed(workspace: Path) -> None:
    git(workspace, "switch", "-qc", "feature/ünï/x")
    git(workspace, "commit", "-q", "--allow-empty", "-m", "two")
    expected = (git(workspace, "rev-parse", "HEAD"), "feature/ünï/x")
    assert wire.git_head(str(workspace)) == expected
    git(workspace, "tag", "-am", "one", "one")
    git(workspace, "pack-refs", "--all")
    assert not (workspace / ".git/refs/heads/feature/ünï/x").exists()
    assert wire.git_head(str(workspace)) == expected


def test_a_detached_head_has_a_commit_and_no_branch(workspace: Path) -> None:
    git(workspace, "checkout", "-q", "--detach")
    assert wire.git_head(str(workspace)) == (git(workspace, "rev-parse", "HEAD"), None)


def test_an_unborn_branch_has_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "fresh")
    assert wire.git_head(str(tmp_path)) == (None, "fresh")


def test_an_empty_folder_of_gits_name_is_no_repository(workspace: Path) -> None:
    below = workspace / "below"
    (below / ".git").mkdir(parents=True)

    assert wire.git_place(str(below)) == wire.git_place(str(workspace))


def test_a_worktree_has_its_own_head(workspace: Path, tmp_path: Path) -> None:
    git(workspace, "worktree", "add", "-qb", "side", str(tmp_path / "side"))
    git(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "aside")
    expected = (git(tmp_path / "side", "rev-parse", "HEAD"), "side")
    assert wire.git_head(str(tmp_path / "side")) == expected
    git(workspace, "pack-refs", "--all")
    assert wire.git_head(str(tmp_path / "side")) == expected
    assert wire.git_head(str(workspace)) == (git(workspace, "rev-parse", "HEAD"), "main")


def test_a_submodule_has_its_own_head(workspace: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "trunk", "library")
    git(tmp_path / "library", "commit", "-q", "--allow-empty", "-m", "one")
    git(workspace, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    assert wire.git_head(str(workspace / "sub")) == (git(tmp_path / "library", "rev-parse", "HEAD"), "trunk")


def test_a_repository_of_sha256_has_longer_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main", "--object-format=sha256")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit, branch = wire.git_head(str(tmp_path))
    assert (commit, branch) == (git(tmp_path, "rev-parse", "HEAD"), "main")
    assert commit is not None
    assert len(commit) == 64


def test_a_symbolic_branch_is_followed(workspace: Path) -> None:
    git(workspace, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(workspace, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert wire.git_head(str(workspace)) == (git(workspace, "rev-parse", "HEAD"), "alias")


def test_the_worktree_is_found_with_the_head(workspace: Path, tmp_path: Path) -> None:
    (workspace / "a/b").mkdir(parents=True)
    assert wire.git_place(str(workspace / "a/b")) == (*wire.git_head(str(workspace)), str(workspace))
    git(workspace, "worktree", "add", "-qb", "side", str(tmp_path / "side"))
    assert wire.git_place(str(tmp_path / "side"))[1:] == ("side", str(tmp_path / "side"))
    (tmp_path / "link").symlink_to(workspace / "a")
    assert wire.git_place(str(tmp_path / "link"))[2] == str(workspace)
    assert wire.git_place(str(tmp_path)) == (None, None, None)
    assert wire.git_place("") == (None, None, None)


def test_a_repository_that_cannot_be_read_is_a_worktree_all_the_same(workspace: Path) -> None:
    (workspace / ".git/HEAD").unlink()
    assert wire.git_place(str(workspace)) == (None, None, str(workspace))


def test_outside_a_repository_there_is_no_head(tmp_path: Path) -> None:
    assert wire.git_head(str(tmp_path)) == (None, None)
    assert wire.git_head("") == (None, None)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"ref: ",
        b"ref: ../../../outside",
        b"ref: refs/../../outside",
        b"ref: refs/heads/.invalid",  # what a reftable repository keeps here
        b"ref: refs//x",
        b"ref: refs/heads/\0",
        b"deadbeef",
        b"\xff" * 40,
        b"A" * 40,
        b"0" * 70000,
    ],
)
def test_a_broken_head_is_no_head(workspace: Path, head: bytes) -> None:
    (workspace / "outside").write_text("0" * 40)
    (workspace / ".git/HEAD").write_bytes(head)
    assert wire.git_head(str(workspace))[0] is None


def test_git_files_that_are_no_files_are_no_head(workspace: Path, tmp_path: Path) -> None:
    (workspace / ".git/HEAD").unlink()
    os.mkfifo(workspace / ".git/HEAD")
    assert wire.git_head(str(workspace)) == (None, None)
    (workspace / ".git/HEAD").unlink()
    (workspace / ".git/HEAD").symlink_to("HEAD")
    assert wire.git_head(str(workspace)) == (None, None)
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop/.git").symlink_to(".git")
    assert wire.git_head(str(tmp_path / "loop")) == (None, None)
    (tmp_path / "circle").mkdir()
    git(tmp_path / "circle", "init", "-qb", "a")
    (tmp_path / "circle/.git/refs/heads/a").write_text("ref: refs/heads/a\n")
    assert wire.git_head(str(tmp_path / "circle")) == (None, "a")


@given(st.sampled_from(["HEAD", "commondir", "packed-refs", "refs/heads/main", "../file/.git"]), st.binary(max_size=90))
def test_no_content_of_gits_files_raises(tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "broken"
    for part in ("file", "repository/refs/heads"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "repository/HEAD").write_bytes(b"ref: refs/heads/main\n")
    (folder / "repository" / name).write_bytes(content)
    (folder / "link").mkdir(exist_ok=True)
    (folder / "link/.git").write_text("gitdir: ../repository\n")
    for place in ("link", "file"):
        commit, branch = wire.git_head(str(folder / place))
        assert commit is None or len(commit) in (40, 64)
        assert branch is None or wire.valid_unicode(branch) == branch


# -- frames ------------------------------------------------------------------------------------------------------------


def same_in_unicode(value: object) -> object:
    """What a reader gets: the value with valid text, and with one entry a key."""
    if isinstance(value, str):
        return wire.valid_unicode(value)
    if isinstance(value, list):
        return [same_in_unicode(item) for item in value]
    if isinstance(value, dict):
        return {wire.valid_unicode(key): same_in_unicode(item) for key, item in value.items()}
    return value


@given(st.dictionaries(ANY_TEXT, JSON_VALUES, max_size=5), ANY_TEXT, ANY_TEXT)
def test_a_frame_survives_the_round_trip_whatever_it_holds(
    payload: dict[str, object], session_id: str, agent_type: str
) -> None:
    line = wire.encode_frame("Hook", payload, session_id=session_id, agent_type=agent_type, payload_raw=session_id)
    assert line.endswith(b"\n")
    assert len(line.decode().splitlines()) == 1
    decoded = json.loads(line)
    assert decoded["payload"] == same_in_unicode(payload)
    assert decoded["session_id"] == decoded["payload_raw"] == wire.valid_unicode(session_id)
    assert decoded["agent_type"] == wire.valid_unicode(agent_type)


@given(ANY_TEXT)
@example("\0\x1b[31m\x7f\x9b\u2028\r\n\t\"\\'</script>\U0001f600")
@example("\udcff")
def test_a_line_holds_no_control_character_and_strict_readers_take_it(text: str) -> None:
    line = wire.encode_frame("Hook", {"text": text}, session_id="s")
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in line[:-1].decode())
    assert msgspec.json.decode(line)["payload"]["text"] == wire.valid_unicode(text)


def test_undecodable_bytes_become_replacement_characters() -> None:
    assert wire.valid_unicode(os.fsdecode(b"caf\xe9 ok")) == "caf\ufffd ok"


def test_a_frame_has_the_fields_of_the_contract() -> None:
    before = wire.timestamp()
    decoded = json.loads(frame(state="ready"))
    assert list(decoded) == ["ts", "session_id", "workspace", "agent_type", "hook", "event_id", "payload"]
    assert before <= decoded["ts"] <= wire.timestamp()
    assert wire.valid_event_id(decoded["event_id"])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1, 2}, object()])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no place in JSON"):
        frame(value=value)


def test_a_frame_that_no_reader_would_take_is_not_made() -> None:
    with pytest.raises(wire.Refused, match="at most 4194304"):
        frame(text="x" * wire.MAX_LINE)


# -- the log -----------------------------------------------------------------------------------------------------------


def test_folders_and_logs_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        wire.append_frame(str(tmp_path / "a/home"), "s", frame())
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE((tmp_path / "a/home" / path).stat().st_mode) for path in ("", "sessions")}
    assert set(modes.values()) == {0o700}
    assert stat.S_IMODE((tmp_path / "a/home/sessions/s.jsonl").stat().st_mode) == 0o600


def test_frames_follow_each_other(home: Path) -> None:
    lines = [frame(number=number) for number in range(3)]
    for line in lines:
        wire.append_frame(str(home), "s", line)
    assert lines_of(home) == [*(line[:-1] for line in lines), b""]


@given(torn=st.binary(min_size=1, max_size=50).filter(lambda data: not data.endswith(b"\n")))
def test_a_torn_line_is_ended_before_the_next_frame(home: Path, torn: bytes) -> None:
    log = Path(wire.log_path(str(home), "s"))
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(torn)
    line = frame()
    wire.append_frame(str(home), "s", line)
    assert log.read_bytes() == torn + b"\n" + line


@pytest.mark.parametrize("line", [b"", b"\n", b"{}", b"{}\n{}\n", b"{}\n\n", b"x" * wire.MAX_LINE + b"\n"])
def test_what_is_not_one_line_is_not_appended(home: Path, line: bytes) -> None:
    with pytest.raises(wire.Refused, match="one line"):
        wire.append_frame(str(home), "s", line)
    assert not (home / "sessions").exists()


def test_the_longest_frame_fits(home: Path) -> None:
    line = b"x" * (wire.MAX_LINE - 1) + b"\n"
    wire.append_frame(str(home), "s", line)
    assert Path(wire.log_path(str(home), "s")).read_bytes() == line


def test_a_log_that_is_no_regular_file_is_refused(home: Path) -> None:
    log = Path(wire.log_path(str(home), "s"))
    log.parent.mkdir()
    os.mkfifo(log)
    with pytest.raises(OSError, match="not a regular file"):
        wire.append_frame(str(home), "s", frame())
    log.unlink()
    victim = home / "victim"
    victim.write_text("mine")
    log.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        wire.append_frame(str(home), "s", frame())
    assert victim.read_text() == "mine"
    log.unlink()
    log.mkdir()
    with pytest.raises(IsADirectoryError):
        wire.append_frame(str(home), "s", frame())


def test_a_frame_goes_to_the_new_log_when_the_old_one_is_rotated_while_its_writer_waits(home: Path) -> None:
    wire.append_frame(str(home), "s", frame(turn=1))
    log = Path(wire.log_path(str(home), "s"))
    line = frame(turn=2)
    holder = wire.open_locked(str(log))
    writer = threading.Thread(target=wire.append_frame, args=(str(home), "s", line))
    try:
        writer.start()
        # The writer has the log open once it waits for the lock.
        retry_until(lambda: open_files().count(str(log)) == 2)
        log.rename(f"{log}.1")
    finally:
        os.close(holder)
        writer.join()
    assert log.read_bytes() == line
    assert Path(f"{log}.1").read_bytes().count(b"\n") == 1


WRITER = """
import os, sys
from gemba import wire
home, writer, frames, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for number in range(frames):
    line = wire.encode_frame("GembaState", {"writer": writer, "number": number, "fill": writer * size}, session_id="s")
    wire.append_frame(home, "s", line)
    os.write(1, f"{number}\\n".encode())
"""


def writer(home: Path, name: str, frames: int, size: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-c", WRITER, str(home), name, str(frames), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_thirty_processes_append_a_hundred_frames_each_and_all_are_whole(home: Path) -> None:
    writers = [writer(home, str(number), 100, 20) for number in range(30)]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    *lines, rest = lines_of(home)
    assert rest == b""
    payloads = [json.loads(line)["payload"] for line in lines]
    assert len(lines) == 3000
    assert {(item["writer"], item["number"]) for item in payloads} == {
        (str(number), count) for number in range(30) for count in range(100)
    }
    assert len({json.loads(line)["event_id"] for line in lines}) == 3000


@pytest.mark.chaos
@pytest.mark.parametrize("seed", seeds(2, 50))
def test_writers_killed_while_they_append_hurt_no_neighbour(home: Path, seed: int) -> None:
    chance = random.Random(seed)
    frames = 12
    doomed = [writer(home, str(number), 10_000, 300_000) for number in range(4)]
    others = [writer(home, str(number), frames, 300_000) for number in range(4, 8)]
    acknowledged: set[tuple[str, int]] = set()
    for number, process in enumerate(doomed):
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 5)):
            acknowledged.add((str(number), int(process.stdout.readline())))
        # Somewhere inside a later append: each of them takes most of its writer's time.
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait()
    for number, process in enumerate(others, start=4):
        process.communicate()
        assert process.returncode == 0
        acknowledged |= {(str(number), count) for count in range(frames)}

    wire.append_frame(str(home), "s", frame(writer="last", number=0))
    *lines, rest = lines_of(home)
    assert rest == b""
    whole, torn = [], 0
    for line in lines:
        try:
            payload = json.loads(line)["payload"]
            whole.append((payload["writer"], payload["number"]))
        except ValueError:
            torn += 1
    assert torn <= len(doomed)
    assert len(whole) == len(set(whole))
    assert acknowledged | {("last", 0)} <= set(whole)


FULL_DISK = """
import resource, sys
from gemba import wire
home, room = sys.argv[1], int(sys.argv[2])
wire.append_frame(home, "s", b"first\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    wire.append_frame(home, "s", b"x" * 1000 + b"\\n")
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.parametrize(("room", "reason"), [(6, "File too large"), (500, "only 494 of 1001 bytes fit")])
def test_a_frame_that_does_not_fit_leaves_nothing_of_itself(home: Path, room: int, reason: str) -> None:
    command = [sys.executable, "-I", "-c", FULL_DISK, str(home), str(room)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == f"{wire.log_path(str(home), 's')} {reason}\n"
    assert lines_of(home) == [b"first", b""]
    wire.append_frame(str(home), "s", b"later\n")
    assert lines_of(home) == [b"first", b"later", b""]


def test_an_append_that_is_interrupted_leaves_nothing_of_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wire.append_frame(str(home), "s", b"first\n")

    def interrupted(fd: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            wire.append_frame(str(home), "s", b"second\n")
    assert lines_of(home) == [b"first", b""]


def test_no_file_stays_open(home: Path) -> None:
    before = open_files()
    wire.append_frame(str(home), "s", frame())
    with pytest.raises(OSError, match="larger than 3 bytes"):
        wire.read_file(wire.log_path(str(home), "s"), 3)
    with pytest.raises(OSError, match="regular"):
        wire.read_file(str(home), 3)
    wire.git_head(str(home))
    assert open_files() == before
