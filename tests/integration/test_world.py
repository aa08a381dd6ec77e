"""A COMPLETE is compared with real repositories, files and processes; what an agent only claims is found out."""

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import git
from gemba.handoff import snapshot as snapshots
from gemba.handoff.snapshot import LARGEST_FILE, MOST_FILES, FileState
from gemba.handoff.world import (
    Check,
    GatePolicy,
    Snapshot,
    ToolUse,
    check_world,
    refusals,
    take_snapshot,
    tool_use_of,
)

CHECKS = GatePolicy.__struct_fields__
STRICT = msgspec.convert(dict.fromkeys(CHECKS, "require"), GatePolicy)
SOME_WORK = [ToolUse("Read", "pre")]


def run_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> None:
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", "some work")


def only(*names: str, need: str = "require") -> GatePolicy:
    return msgspec.convert({name: need if name in names else "off" for name in CHECKS}, GatePolicy)


def envelope(commands: Any = None, **verification: Any) -> dict[str, Any]:
    evidence = {"commands_run": commands, "verification": {"result": "pass", **verification}}
    return {"agent_status": {"plan_status": "COMPLETE"}, "evidence_report": evidence}


def ran(command: str, code: int) -> list[ToolUse]:
    payload = {"tool_name": "Bash", "tool_input": {"command": command}, "phase": "post"}
    return [tool_use_of({**payload, "phase": "pre"}), tool_use_of({**payload, "tool_response": {"exit_code": code}})]


def modified(folder: Path, before: Snapshot, *items: Any) -> list[Check]:
    policy = only("files_modified", "line_counts")
    return check_world(envelope(files_modified=list(items)), before, SOME_WORK, policy, folder)


def verdicts(checks: list[Check]) -> list[tuple[str, str]]:
    return [(check.verdict, check.found) for check in checks]


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A clean repository with a few files."""
    (workspace / "app.py").write_text("one\ntwo\n")
    (workspace / "web").mkdir()
    (workspace / "web/page.css").write_text("a\nb\nc")
    (workspace / ".gitignore").write_text("*.log\nbuild/\n")
    commit(workspace)
    return workspace


@pytest.fixture
def bare_folder(tmp_path: Path) -> Path:
    """A folder that is in no repository."""
    folder = tmp_path / "bare folder"
    (folder / "web").mkdir(parents=True)
    (folder / "app.py").write_text("one\ntwo\n")
    (folder / "web/page.css").write_text("a\nb\nc")
    return folder


@pytest.fixture(params=["repository", "bare_folder"])
def folder(request: pytest.FixtureRequest) -> Path:
    """The same files, with git and without."""
    found: Path = request.getfixturevalue(request.param)
    return found


# ---- the three lies --------------------------------------------------------------------------------------------------


def test_a_file_that_was_not_changed_is_refused_with_both_values(folder: Path) -> None:
    before = take_snapshot(folder)

    checks = check_world(envelope(files_modified=[{"path": "app.py"}]), before, SOME_WORK, STRICT, folder)

    refused = Check("files_modified", "app.py", "it is as it was when the dispatch began", "failed")
    assert [check for check in refusals(checks, STRICT) if check.name == "files_modified"] == [refused]


def test_a_command_that_was_not_run_is_refused_with_both_values(folder: Path) -> None:
    claimed = envelope([{"command": "make test", "result": "12 passed"}])

    checks = check_world(claimed, take_snapshot(folder), ran("ls", 0), only("commands_run"), folder)

    found = Check("commands_run", "make test → 12 passed", "not among the 1 recorded commands", "failed")
    assert refusals(checks, only("commands_run")) == checks == [found]


def test_a_test_that_fails_is_refused_with_both_values(folder: Path) -> None:
    (folder / "check.sh").write_text("echo '1 failed, 2 passed'; exit 3\n")
    claimed = envelope(verification_method="test", command="sh check.sh", exit_code=0)

    checks = check_world(claimed, take_snapshot(folder), [], only("rerun_verification"), folder)

    found = Check("rerun_verification", "sh check.sh → exit code 0", "exit code 3", "failed", "1 failed, 2 passed")
    assert refusals(checks, only("rerun_verification")) == checks == [found]


def test_a_complete_that_is_true_passes_every_check(repository: Path, tmp_path: Path) -> None:
    run_git(repository, "clone", "--quiet", "--bare", str(repository), str(tmp_path / "remote.git"))
    run_git(repository, "remote", "add", "origin", str(tmp_path / "remote.git"))
    before = take_snapshot(repository)
    (repository / "app.py").write_text("one\ntwo\nthree\n")
    (repository / "new.py").write_text("pass\n")
    commit(repository)
    run_git(repository, "push", "--quiet", "--set-upstream", "origin", "main")
    claimed = envelope(
        [{"command": "grep -c three app.py", "result": "exit 0"}],
        command="grep -c three app.py",
        exit_code=0,
        files_produced=["new.py"],
        artifacts_written=["new.py", str(repository / "app.py")],
        files_modified=[{"path": "app.py", "lines_before": 2, "lines_after": 3}],
    )

    checks = check_world(claimed, before, ran("grep -c three app.py", 0), STRICT, repository)

    assert {check.name: check.verdict for check in checks} == dict.fromkeys(CHECKS, "ok")
    assert refusals(checks, STRICT) == []


# ---- policies --------------------------------------------------------------------------------------------------------


def test_a_failed_check_refuses_only_where_the_gate_requires_it(folder: Path) -> None:
    claimed = envelope(files_produced=["nowhere"], artifacts_written=["nowhere"])
    policy = GatePolicy(files_produced="require", artifacts_written="report", uncommitted="off", unpushed="off")

    checks = check_world(claimed, take_snapshot(folder), SOME_WORK, policy, folder)

    assert [(check.name, check.verdict) for check in checks] == [
        ("files_produced", "failed"),
        ("artifacts_written", "failed"),
        ("tool_calls", "ok"),
    ]
    assert [check.name for check in refusals(checks, policy)] == ["files_produced"]


def test_nothing_is_run_again_unless_a_gate_asks_for_it(folder: Path) -> None:
    claimed = envelope([{"command": "touch ran", "result": "pass"}], command="touch ran")

    check_world(claimed, take_snapshot(folder), [], GatePolicy(), folder)

    assert not (folder / "ran").exists()


@pytest.mark.parametrize("status", ["IN_PROGRESS", "BLOCKED", None, 3, ""])
def test_only_a_complete_is_checked(folder: Path, status: object) -> None:
    claimed = {**envelope(files_produced=["nowhere"], command="touch ran"), "agent_status": {"plan_status": status}}

    assert check_world(claimed, take_snapshot(folder), [], STRICT, folder) == []
    assert not (folder / "ran").exists()


def test_a_status_is_folded_as_the_verdict_folds_it(folder: Path) -> None:
    claimed = {"agent_status": {"plan_status": " complete "}}

    assert check_world(claimed, take_snapshot(folder), [], only("tool_calls"), folder) != []


def test_a_complete_without_any_tool_call_is_a_finding(folder: Path) -> None:
    policy = only("tool_calls")
    before = take_snapshot(folder)

    assert check_world(envelope(), before, [], policy, folder) == [
        Check("tool_calls", "COMPLETE", "0 tool calls", "failed")
    ]


def test_a_client_that_records_nothing_leaves_commands_unknown(folder: Path) -> None:
    claimed = envelope([{"command": "make", "result": "pass"}], command="make")

    policy = only("commands_run", "verification", "tool_calls", need="report")
    checks = check_world(claimed, take_snapshot(folder), None, policy, folder)

    assert verdicts(checks) == [("unknown", "the client records no tool uses")] * 3


def test_a_gate_that_requires_it_believes_no_client_that_records_nothing(folder: Path) -> None:
    claimed = envelope([{"command": "make", "result": "pass"}], command="make")
    policy = only("commands_run", "verification", "tool_calls")
    checks = check_world(claimed, take_snapshot(folder), None, policy, folder)

    assert verdicts(checks) == [("failed", "the client records no tool uses")] * 3
    assert refusals(checks, policy) == checks


@pytest.mark.parametrize(
    ("name", "commands", "claimed", "found"),
    [
        ("commands_run", [], "nothing", "1 tool calls"),
        ("commands_run", None, "nothing", "1 tool calls"),
        ("verification", [], "nothing", "1 tool calls"),
        ("rerun_verification", [], "nothing", "nothing that could be run again"),
        ("rerun_commands", [], "nothing", "nothing that could be run again"),
        ("rerun_commands", ["true"], "no command with its result", "nothing that could be run again"),
    ],
)
def test_what_a_gate_requires_is_not_passed_by_claiming_nothing(
    folder: Path, name: str, commands: Any, claimed: str, found: str
) -> None:
    [line] = check_world(envelope(commands), take_snapshot(folder), SOME_WORK, only(name), folder)

    assert (line.name, line.claimed, line.found, line.verdict) == (name, claimed, found, "failed")
    assert refusals([line], only(name)) == [line]
    told = check_world(envelope(commands), take_snapshot(folder), SOME_WORK, only(name, need="report"), folder)
    assert "failed" not in [check.verdict for check in told]


def test_work_that_changes_no_file_passes_where_what_is_claimed_of_files_must_be_so(folder: Path) -> None:
    policy = only("files_produced", "artifacts_written", "files_modified", "line_counts")

    assert check_world(envelope([]), take_snapshot(folder), SOME_WORK, policy, folder) == []


def test_a_verification_that_was_never_run_is_found_out_without_running_it(bare_folder: Path) -> None:
    policy, before = only("verification"), Snapshot(repository=False)

    def check(uses: list[ToolUse]) -> Check:
        (found,) = check_world(envelope(command="make test", exit_code=0), before, uses, policy, bare_folder)
        return found

    assert check([]) == Check("verification", "make test → pass", "no command was recorded", "failed")
    assert check(ran("make test", 2)) == Check("verification", "make test → pass", "exit code 2", "failed")
    assert check(ran("cd . && make test", 0)).verdict == "ok"


# ---- files that must be there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["files_produced", "artifacts_written"])
def test_a_file_must_be_there_regular_and_not_empty(folder: Path, name: str) -> None:
    (folder / "empty").touch()
    (folder / "binary").write_bytes(bytes(range(256)))
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)
        server.bind("socket")
        paths = ["app.py", "nowhere", "empty", "binary", "web", "pipe", "socket", "app.py/x", ".", "web/"]

        checks = check_world(envelope(**{name: paths}), take_snapshot(folder), SOME_WORK, only(name), folder)

    assert verdicts(checks) == [
        ("ok", "8 bytes"),
        ("failed", "it does not exist"),
        ("failed", "it is empty"),
        ("ok", "256 bytes"),
        ("failed", "it is a folder"),
        ("failed", "it is a pipe"),
        ("failed", "it is a socket"),
        ("failed", "it does not exist"),
        ("failed", "it is a folder"),
        ("failed", "it is a folder"),
    ]
    assert [check.claimed for check in checks] == paths


def test_a_path_that_leaves_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("x")
    (folder / "link").symlink_to(tmp_path / "outside/file")
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to("loop")
    (folder / "inside").symlink_to("app.py")
    beside = folder.with_name(folder.name + "2")
    beside.mkdir()
    (beside / "file").write_text("x")
    leaving = [
        "../outside/file",
        "web/../../outside/file",
        str(tmp_path / "outside/file"),
        "link",
        "out/file",
        "/etc/passwd",
    ]
    leaving.append(str(beside / "file"))
    claimed = envelope(files_produced=[*leaving, "loop", "inside", f"../{folder.name}/app.py"])

    checks = check_world(claimed, take_snapshot(folder), SOME_WORK, only("files_produced"), folder)

    assert verdicts(checks) == [
        *[("failed", "it is outside the folder")] * len(leaving),
        ("failed", "it is no path that can be followed"),
        ("ok", "8 bytes"),
        ("ok", "8 bytes"),
    ]
    changed = modified(folder, take_snapshot(folder), *leaving)
    assert {(check.verdict, check.found) for check in changed} == {("failed", "it is outside the folder")}


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "new\nline",
        "tab\t",
        "ünïcodé 名",
        "-rf",
        ":(top)x",
        "*",
        "[a]",
        '"quoted"',
        "a\\b",
        "$(id)",
        "\udcff",
    ],
)
def test_any_name_that_a_file_can_have_is_compared(folder: Path, name: str) -> None:
    (folder / name).write_text("before\n")
    (folder / "web" / name).write_text("before\n")
    if (folder / ".git").exists():
        commit(folder)
    before = msgspec.json.decode(msgspec.json.encode(take_snapshot(folder)), type=Snapshot)
    assert verdicts(modified(folder, before, name)) == [("failed", "it is as it was when the dispatch began")]
    (folder / name).write_text("after\n")
    (folder / "web" / name).write_text("after\n")

    assert verdicts(modified(folder, before, name, f"web/{name}")) == [("ok", "it was changed")] * 2
    produced = check_world(envelope(files_produced=[name]), before, SOME_WORK, only("files_produced"), folder)
    assert verdicts(produced) == [("ok", "6 bytes")]
    assert msgspec.json.encode(produced)
    if (folder / ".git").exists():
        assert [check.verdict for check in check_world(envelope(), before, [], only("uncommitted"), folder)] == [
            "failed"
        ]


# ---- files that must have changed ------------------------------------------------------------------------------------


def test_what_was_changed_made_or_deleted_is_told_apart_from_what_was_not(folder: Path) -> None:
    before = take_snapshot(folder)
    (folder / "app.py").write_text("one\n2\n")
    (folder / "web/page.css").unlink()
    (folder / "new.py").write_text("x\n")

    checks = modified(folder, before, "app.py", "web/page.css", "new.py", "nowhere", "web")

    assert verdicts(checks) == [
        ("ok", "it was changed"),
        ("ok", "it was deleted"),
        ("ok", "it is new"),
        ("failed", "it does not exist"),
        ("failed", "it is no regular file"),
    ]


def test_a_change_that_was_committed_is_a_change(repository: Path) -> None:
    before = take_snapshot(repository)
    (repository / "app.py").write_text("other\n")
    (repository / "new.py").write_text("x\n")
    commit(repository)

    assert [check.verdict for check in modified(repository, before, "app.py", "new.py")] == ["ok", "ok"]


def test_a_change_that_was_taken_back_is_none(repository: Path) -> None:
    before = take_snapshot(repository)
    (repository / "app.py").write_text("other\n")
    commit(repository)
    run_git(repository, "revert", "--no-edit", "HEAD")

    assert [check.verdict for check in modified(repository, before, "app.py")] == ["failed"]


def test_a_file_that_was_touched_is_not_changed(folder: Path) -> None:
    before = take_snapshot(folder)
    os.utime(folder / "app.py", (1, 1))
    (folder / "web/page.css").write_text("a\nb\nc")

    assert [check.verdict for check in modified(folder, before, "app.py", "web/page.css")] == ["failed", "failed"]


def test_what_was_dirty_already_is_compared_with_what_it_was_then(repository: Path) -> None:
    (repository / "app.py").write_text("dirty\n")
    (repository / "untracked").write_text("u\n")
    (repository / "web/page.css").unlink()
    before = take_snapshot(repository)
    assert {name: state and state.size for name, state in before.files.items()} == {
        "app.py": 6,
        "untracked": 2,
        "web/page.css": None,
    }
    paths = ["app.py", "untracked", "web/page.css"]
    assert [check.verdict for check in modified(repository, before, *paths)] == ["failed"] * 3

    run_git(repository, "checkout", "--quiet", "--", ".")
    (repository / "untracked").write_text("v\n")

    assert verdicts(modified(repository, before, *paths)) == [
        ("ok", "it was changed"),
        ("ok", "it was changed"),
        ("ok", "it is new"),
    ]


def test_a_renamed_file_is_gone_under_its_old_name_and_new_under_the_other(repository: Path) -> None:
    before = take_snapshot(repository)
    run_git(repository, "mv", "app.py", "main.py")

    checks = modified(repository, before, {"path": "app.py"}, {"path": "main.py", "lines_before": 2, "lines_after": 2})

    assert verdicts(checks) == [("ok", "it was deleted"), ("ok", "it is new"), ("unknown", "0 → 2 lines")]


def test_a_file_made_executable_was_changed(folder: Path) -> None:
    before = take_snapshot(folder)
    (folder / "app.py").chmod(0o755)

    assert [check.verdict for check in modified(folder, before, "app.py", "web/page.css")] == ["ok", "failed"]


def test_a_committed_program_is_not_changed_by_being_executable(repository: Path) -> None:
    (repository / "app.py").chmod(0o755)
    commit(repository)
    before = take_snapshot(repository)
    assert before.files == {}
    assert [check.verdict for check in modified(repository, before, "app.py")] == ["failed"]
    run_git(repository, "config", "core.fileMode", "false")
    (repository / "app.py").chmod(0o644)  # as on a file system that has no such mode

    assert [check.verdict for check in modified(repository, before, "app.py")] == ["failed"]


def test_a_link_that_leads_elsewhere_was_changed(folder: Path) -> None:
    (folder / "link").symlink_to("app.py")
    if (folder / ".git").exists():
        commit(folder)
    before = take_snapshot(folder)
    assert [check.verdict for check in modified(folder, before, "link")] == ["failed"]
    (folder / "link").unlink()
    (folder / "link").symlink_to("web/page.css")

    assert verdicts(modified(folder, before, "link")) == [("ok", "it was changed")]


def test_a_binary_file_is_compared_and_has_no_lines(folder: Path) -> None:
    (folder / "image").write_bytes(b"\x89PNG\0\n\n")
    (folder / "same").write_bytes(b"\0")
    if (folder / ".git").exists():
        commit(folder)
    before = take_snapshot(folder)
    (folder / "image").write_bytes(b"\x89PNG\0\n")

    checks = modified(folder, before, {"path": "image", "lines_before": 2, "lines_after": 1}, "same")

    assert [(check.name, check.verdict) for check in checks] == [
        ("files_modified", "ok"),
        ("files_modified", "failed"),
        ("line_counts", "unknown"),
    ]


def test_a_huge_file_is_compared_by_its_size(folder: Path) -> None:
    for name in ("grown", "same"):
        with (folder / name).open("wb") as file:
            file.truncate(LARGEST_FILE + 1)
    before = take_snapshot(folder)
    assert before.files["same"] == FileState("file", LARGEST_FILE + 1, executable=False)
    with (folder / "grown").open("ab") as file:
        file.write(b"x")

    assert [check.verdict for check in modified(folder, before, "grown", "same")] == ["ok", "unknown"]


def test_a_file_committed_with_other_newlines_is_not_changed_by_them(repository: Path) -> None:
    run_git(repository, "config", "core.autocrlf", "true")
    (repository / "app.py").unlink()
    run_git(repository, "checkout", "--quiet", "--", "app.py")
    assert (repository / "app.py").read_bytes() == b"one\r\ntwo\r\n"
    before = take_snapshot(repository)
    assert "app.py" not in before.files

    assert [check.verdict for check in modified(repository, before, "app.py")] == ["failed"]
    (repository / "app.py").write_bytes(b"one\r\n2\r\n")
    assert [check.verdict for check in modified(repository, before, "app.py")] == ["ok"]


def test_a_file_that_git_ignores_cannot_be_compared(repository: Path) -> None:
    (repository / "out.log").write_text("x")
    before = take_snapshot(repository)
    (repository / "out.log").write_text("y")

    checks = modified(repository, before, "out.log", "never.log")

    assert verdicts(checks) == [("unknown", "it is there"), ("failed", "it does not exist")]


def test_a_folder_that_its_repository_ignores_counts_as_one_without(repository: Path) -> None:
    folder = repository / "build"
    folder.mkdir()
    (folder / "a").write_text("x")

    before = take_snapshot(folder)

    assert (before.repository, [*before.files]) == (False, ["a"])
    assert [check.verdict for check in modified(folder, before, "a")] == ["failed"]


def test_a_folder_inside_a_repository_is_compared_by_its_own_paths(repository: Path) -> None:
    (repository / "app.py").write_text("dirty\n")
    (repository / "web/dirty").write_text("x")
    before = take_snapshot(repository / "web")
    assert [*before.files] == ["dirty"]
    (repository / "web/page.css").write_text("other")

    checks = modified(repository / "web", before, "page.css", "dirty", "../app.py")

    assert [check.verdict for check in checks] == ["ok", "failed", "failed"]


def test_a_linked_worktree_is_compared_by_itself(repository: Path, tmp_path: Path) -> None:
    run_git(repository, "worktree", "add", "--quiet", "-b", "task", str(tmp_path / "tree"))
    before = take_snapshot(tmp_path / "tree")
    (repository / "app.py").write_text("in the other one\n")

    assert (before.branch, before.commit) == ("task", run_git(repository, "rev-parse", "HEAD"))
    assert [check.verdict for check in modified(tmp_path / "tree", before, "app.py")] == ["failed"]


def test_a_repository_without_a_commit_is_compared_by_hashes(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet", "fresh")
    (tmp_path / "fresh/a").write_text("x")
    before = take_snapshot(tmp_path / "fresh")
    assert (before.repository, before.commit, [*before.files]) == (True, None, ["a"])
    (tmp_path / "fresh/b").write_text("x")

    assert [check.verdict for check in modified(tmp_path / "fresh", before, "a", "b")] == ["failed", "ok"]


def test_a_repository_that_was_taken_away_is_noticed(repository: Path) -> None:
    before = take_snapshot(repository)
    (repository / ".git").rename(repository / "hidden")

    checks = check_world(
        envelope(files_modified=["app.py"]), before, [], only("files_modified", "uncommitted", "unpushed"), repository
    )

    assert verdicts(checks) == [
        ("unknown", "it is there"),
        ("failed", "the repository cannot be read any more"),
        ("failed", "the repository cannot be read any more"),
    ]


def test_a_folder_with_more_files_than_a_snapshot_lists_says_so(
    bare_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MOST_FILES", 1)
    before = take_snapshot(bare_folder)
    assert ([*before.files], before.complete) == (["app.py"], False)

    checks = modified(bare_folder, before, "app.py", "web/page.css")

    assert [check.verdict for check in checks] == ["failed", "unknown"]


def test_folders_that_hold_other_peoples_files_are_passed_over(bare_folder: Path) -> None:
    (bare_folder / "node_modules/x").mkdir(parents=True)
    (bare_folder / "node_modules/x/index.js").write_text("x")

    before = take_snapshot(bare_folder)

    assert set(before.files) == {"app.py", "web/page.css"}
    assert [check.verdict for check in modified(bare_folder, before, "node_modules/x/index.js")] == ["unknown"]


def test_a_folder_that_is_not_there_is_an_empty_snapshot(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    before = take_snapshot(nowhere)

    assert before == Snapshot(repository=False)
    claimed = envelope([{"command": "ls", "result": "ok"}], command="ls", files_produced=["a"], files_modified=["a"])
    checks = check_world(claimed, before, [], STRICT, nowhere)
    assert {check.name for check in refusals(checks, STRICT)} >= {
        "files_produced",
        "files_modified",
        "rerun_verification",
    }


# ---- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "before", "after", "verdict", "found"),
    [
        ("app.py", 2, 3, "ok", "2 → 3 lines"),
        ("app.py", "2", 3.0, "ok", "2 → 3 lines"),
        ("app.py", 2, None, "ok", "2 → null lines"),
        ("app.py", 1, 3, "failed", "2 → 3 lines"),
        ("app.py", 2, 30, "failed", "2 → 3 lines"),
        ("app.py", "two", 3, "unknown", "2 → 3 lines"),
        ("app.py", True, 3, "unknown", "2 → 3 lines"),
        ("web/page.css", 2, 0, "ok", "2 → 0 lines"),  # a last line that does not end counts, or not
        ("web/page.css", 3, 0, "ok", "3 → 0 lines"),
        ("web/page.css", 3, 7, "failed", "3 → 0 lines"),
        ("new.py", 0, 1, "ok", "0 → 1 lines"),
        ("new.py", 5, 1, "unknown", "0 → 1 lines"),
    ],
)
def test_lines_are_counted(folder: Path, path: str, before: object, after: object, verdict: str, found: str) -> None:
    start = take_snapshot(folder)
    (folder / "app.py").write_text("one\ntwo\nthree\n")
    (folder / "web/page.css").unlink()
    (folder / "new.py").write_text("x")

    checks = modified(folder, start, {"path": path, "lines_before": before, "lines_after": after})

    assert [(check.verdict, check.found) for check in checks if check.name == "line_counts"] == [(verdict, found)]


# ---- the tree --------------------------------------------------------------------------------------------------------


def tree(folder: Path, before: Snapshot) -> list[tuple[str, str]]:
    return verdicts(check_world(envelope(), before, SOME_WORK, only("uncommitted", "unpushed"), folder))


def test_what_is_left_uncommitted_is_told_but_not_what_was_so_before(repository: Path) -> None:
    (repository / "old").write_text("x")
    (repository / "edited").write_text("x")
    before = take_snapshot(repository)
    assert tree(repository, before)[0] == ("ok", "0 uncommitted files")

    (repository / "edited").write_text("y")
    (repository / "new").write_text("x")
    (repository / "app.py").unlink()

    assert tree(repository, before)[0] == ("failed", "3 uncommitted files: app.py, edited, new")


def test_many_uncommitted_files_are_counted_and_a_few_named(repository: Path) -> None:
    before = take_snapshot(repository)
    for number in range(7):
        (repository / f"f{number}").write_text("x")

    assert tree(repository, before)[0] == ("failed", "7 uncommitted files: f0, f1, f2, f3, f4, …")


def test_what_is_not_pushed_is_told(repository: Path, tmp_path: Path) -> None:
    before = take_snapshot(repository)
    assert tree(repository, before)[1] == ("unknown", "no remote is known")
    run_git(repository, "clone", "--quiet", "--bare", str(repository), str(tmp_path / "remote.git"))
    run_git(repository, "remote", "add", "origin", str(tmp_path / "remote.git"))
    run_git(repository, "fetch", "--quiet", "origin")
    assert tree(repository, before)[1] == ("ok", "0 unpushed commits")
    (repository / "new").write_text("x")
    commit(repository)
    assert tree(repository, before)[1] == ("failed", "1 unpushed commits")  # no upstream: no remote has it
    run_git(repository, "branch", "--set-upstream-to=origin/main")
    assert tree(repository, before)[1] == ("failed", "1 unpushed commits")
    run_git(repository, "push", "--quiet", "origin", "main")
    assert tree(repository, before)[1] == ("ok", "0 unpushed commits")


def test_without_a_repository_the_tree_is_unknown(bare_folder: Path) -> None:
    assert tree(bare_folder, take_snapshot(bare_folder)) == [("unknown", "no repository")] * 2


# ---- what a repository's configuration names -------------------------------------------------------------------------


def test_no_filter_hook_or_monitor_that_a_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{trap}'\ncat\n")
    program.chmod(0o755)
    (repository / "data.bin").write_text("x\n")
    (repository / "more.dat").write_text("x\n")
    (repository / ".gitattributes").write_text("*.bin filter=evil\n*.dat filter=a=b.c\n*.py diff=evil\n")
    commit(repository)
    for name in ("filter.evil.clean", "filter.evil.process", "filter.evil.smudge", "filter.a=b.c.clean"):
        run_git(repository, "config", name, str(program))
    for name in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"):
        run_git(repository, "config", name, str(program))
    run_git(repository, "config", "filter.evil.required", "true")
    hook = repository / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(program.read_text())
    hook.chmod(0o755)
    (repository / "data.bin").write_text("y\n")
    (repository / "more.dat").write_text("y\n")
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert trap.exists(), "the trap does not work"
    trap.unlink()
    os.utime(repository / "data.bin", (1, 1))
    os.utime(repository / "more.dat", (1, 1))

    before = take_snapshot(repository)
    (repository / "data.bin").write_text("z\n")
    (repository / "app.py").write_text("z\n")
    claimed = envelope(files_modified=["data.bin", "more.dat", "app.py"], files_produced=["data.bin"])
    checks = check_world(claimed, before, SOME_WORK, GatePolicy(), repository)

    assert not trap.exists()
    assert [check.verdict for check in checks if check.name == "files_modified"] == ["ok", "failed", "ok"]


def test_a_file_that_a_filter_made_is_compared_with_itself(repository: Path) -> None:
    """As large files are kept: what is committed is something else than what lies in the folder."""
    run_git(repository, "config", "filter.upper.clean", "tr a-z A-Z")
    (repository / ".gitattributes").write_text("*.big filter=upper\n")
    (repository / "one.big").write_text("content\n")
    (repository / "two.big").write_text("content\n")
    for name in ("one.big", "two.big"):
        os.utime(repository / name, (1, 1))  # git takes a file of this moment for one that may have changed
    commit(repository)
    assert run_git(repository, "show", "HEAD:one.big") == "CONTENT"
    before = take_snapshot(repository)
    (repository / "two.big").write_text("changed\n")

    assert [check.verdict for check in modified(repository, before, "one.big", "two.big")] == ["failed", "ok"]


def test_a_repository_with_very_many_changes_is_read_in_bounds(repository: Path) -> None:
    for number in range(MOST_FILES + 10):
        (repository / f"f{number}").touch()

    before = take_snapshot(repository)

    assert (len(before.files), before.complete) == (MOST_FILES, False)
    assert len(msgspec.json.encode(before)) < 1_500_000


def test_what_a_commit_has_is_read_whole(repository: Path) -> None:
    contents = {"empty": b"", "newlines": b"\n\n", "binary": bytes(range(256)), "header": b"x blob 3\nabc\n"}
    for name, content in contents.items():
        (repository / name).write_bytes(content)
    commit(repository)
    head = run_git(repository, "rev-parse", "HEAD")

    blobs = git.committed_files(str(repository), head, [*contents, "nowhere", "web"])

    assert blobs is not None
    assert {name: blob.size for name, blob in blobs.items()} == {name: len(data) for name, data in contents.items()}
    read = git.contents(str(repository), blobs.values())
    assert {name: read[blob.hash] for name, blob in blobs.items()} == contents
    assert git.committed_files(str(repository), "0" * 40, ["app.py"]) is None
    assert git.committed_files(str(repository), "--output=x", ["app.py"]) is None


# ---- any envelope ----------------------------------------------------------------------------------------------------


def test_more_claims_than_are_checked_are_not_believed(bare_folder: Path) -> None:
    claimed = envelope(["ls"] * 1_001, files_produced=["app.py"] * 1_001, files_modified=["app.py"] * 1_001)
    policy = only("files_produced", "files_modified", "commands_run")

    checks = check_world(claimed, take_snapshot(bare_folder), ran("ls", 0), policy, bare_folder)

    beyond = [check for check in checks if check.claimed == "1,001 of them"]
    assert {check.name: check.found for check in beyond} == dict.fromkeys(
        ("files_produced", "files_modified", "commands_run"), "1,000 were checked"
    )
    assert len(refusals(beyond, policy)) == 3


@pytest.mark.parametrize(
    "path", [None, 3, [], {}, {"path": 3}, "", " ", "\0", "a\0b", "\ud800", "x" * 5_000, "x/" * 2_000, "n" * 300]
)
def test_what_is_no_path_is_not_believed(folder: Path, path: object) -> None:
    claimed = envelope(files_produced=[path], artifacts_written=[path], files_modified=[path])

    checks = check_world(
        claimed, take_snapshot(folder), [], only("files_produced", "artifacts_written", "files_modified"), folder
    )

    assert [check.verdict for check in checks] == ["failed"] * 3
    assert msgspec.json.encode(checks)


@pytest.mark.parametrize("value", ["app.py", 3, True, {"path": "app.py"}, float("nan")])
def test_a_list_of_another_type_is_one_path_or_not_believed(folder: Path, value: object) -> None:
    checks = check_world(envelope(files_produced=value), take_snapshot(folder), [], only("files_produced"), folder)

    assert [check.verdict for check in checks] == ["ok" if value == "app.py" else "failed"]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


_json: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["app.py", "true", "..", "/"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(["path", "command", "x"]), inside),
    max_leaves=8,
)
_items = _json | st.lists(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("path", "lines_before", "lines_after", "result", "exit_code"), _json)
    )
)
_verification = _json | st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("files_produced", "artifacts_written", "files_modified", "command", "exit_code"), _items),
)
_evidence = _json | st.fixed_dictionaries({"verification": _verification}, optional={"commands_run": _items})
_envelope = _json | st.fixed_dictionaries(
    {"agent_status": _json | st.just({"plan_status": "COMPLETE"}), "evidence_report": _evidence}
)


@given(claimed=_envelope)
def test_no_envelope_can_raise(bare_folder: Path, claimed: Any) -> None:
    policy = GatePolicy(rerun_verification="off", rerun_commands="require", uncommitted="off", unpushed="off")

    checks = check_world(
        claimed, Snapshot(repository=False), [], policy, bare_folder, may_run=lambda _: "nothing is run here"
    )

    assert msgspec.json.decode(msgspec.json.encode(checks), type=list[Check]) == checks
    assert all(len(text) <= 500 for check in checks for text in (check.claimed, check.found, check.note))


@pytest.mark.parametrize(
    "make",
    [
        lambda: nested(400),
        lambda: nested(3_000),
        lambda: [nested(3_000)] * 3,
        lambda: ["x" * 1_000_000],
        lambda: [10**5_000],
        lambda: 10**5_000,
    ],
)
def test_deep_and_large_values_are_shown_in_bounds(folder: Path, make: Callable[[], Any]) -> None:
    value = make()
    claimed = envelope(value, files_produced=value, files_modified=value, command=value)

    checks = check_world(claimed, take_snapshot(folder), [], STRICT, folder)

    assert refusals(checks, STRICT)
    assert all(len(check.claimed) <= 500 for check in checks)
    assert len(msgspec.json.encode(checks)) < 20_000
