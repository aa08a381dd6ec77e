"""Setting up and looking after a workspace from the command line: init, open, doctor, -C, and many commands at once."""

import json
import os
import pty
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gemba.config import Workspace, read_settings
from gemba.doctor import Diagnosis
from gemba.handoff.risk_rules import read_rules
from tests.fixtures import processes
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN, RunningServer

FILES = [
    *("agents.toml", "approvals.toml", "context.toml", ".gitignore", "interaction_profile.md"),
    *("personas/README.md", "skills/README.md", "team.toml", "workspace.toml"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "a repository"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


# ---- init -------------------------------------------------------------------------------------------------------


def test_init_makes_a_repository_a_workspace(repository: Path, home: Path) -> None:
    told = json.loads(Operator(repository, home).ok("init", "--json"))

    assert (told["workspace"], told["written"]) == (str(repository), FILES)
    assert sorted(str(path.relative_to(repository / ".gemba")) for path in repository.rglob(".gemba/**/*.*")) == sorted(
        FILES
    )
    assert read_settings(Workspace(repository)).server.port == 4680
    assert read_rules(repository / ".gemba/approvals.toml") == ()


def test_init_makes_files_that_people_can_read_and_git_ignores_what_is_theirs_alone(
    repository: Path, home: Path
) -> None:
    operator = Operator(repository, home)
    operator.ok("init")
    operator.ok("inbox")
    for name in ("token", "server.json", "gemba.sock", "open.html", "serve.lock"):
        (repository / ".gemba" / name).touch()

    shown = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert sorted(line.removeprefix("?? .gemba/") for line in shown.splitlines()) == sorted(FILES)


def test_init_below_the_top_makes_the_whole_repository_a_workspace(repository: Path, home: Path) -> None:
    below = repository / "a" / "b"
    below.mkdir(parents=True)

    told = Operator(below, home).ok("init")

    assert told.startswith(f"{repository}/.gemba: wrote agents.toml, ")
    assert told.endswith("\nNext: gemba serve\n")


def test_init_in_a_worktree_makes_that_one_a_workspace(repository: Path, home: Path, tmp_path: Path) -> None:
    for command in (["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(tmp_path / "tree")]):
        subprocess.run(["git", *command], cwd=repository, check=True)

    told = json.loads(Operator(tmp_path / "tree", home).ok("init", "--json"))

    assert told["workspace"] == str(tmp_path / "tree")


def test_init_again_changes_nothing_and_says_so(repository: Path, home: Path) -> None:
    operator = Operator(repository, home)
    operator.ok("init")
    (repository / ".gemba" / "workspace.toml").write_text("# mine\n")
    (repository / ".gemba" / "agents.toml").unlink()

    assert json.loads(operator.ok("init", "--json"))["written"] == ["agents.toml"]
    assert operator.ok("init").startswith(f"{repository}/.gemba: everything is there already\n")
    assert (repository / ".gemba" / "workspace.toml").read_text() == "# mine\n"


def test_init_without_git_makes_the_folder_itself_a_workspace(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()

    Operator(folder, home).ok("init")

    assert (folder / ".gemba" / "workspace.toml").is_file()


def test_init_in_another_folder(repository: Path, home: Path, tmp_path: Path) -> None:
    operator = Operator(tmp_path, home)

    assert json.loads(operator.ok("-C", str(repository), "init", "--json"))["workspace"] == str(repository)
    assert operator.refused("-C", str(tmp_path / "none"), "init") == f"gemba: {tmp_path}/none is not a folder"


def test_init_where_nothing_can_be_written_says_so(home: Path, tmp_path: Path) -> None:
    """/sys takes no files, from nobody."""
    line = Operator(tmp_path, home).refused("-C", "/sys", "init")

    assert line.startswith("gemba: /sys/.gemba: ")


def test_init_where_a_file_is_in_the_way_says_so(repository: Path, home: Path) -> None:
    (repository / ".gemba").write_text("a file")

    assert Operator(repository, home).refused("init") == f"gemba: {repository}/.gemba: File exists"


def test_a_workspace_just_made_works_at_once(repository: Path, home: Path) -> None:
    operator = Operator(repository, home)
    operator.ok("init")

    operator.ask()

    assert "1 waits for you." in operator.ok("inbox")


# ---- which workspace --------------------------------------------------------------------------------------------


def test_a_command_works_in_the_workspace_of_another_folder(operator: Operator, tmp_path: Path) -> None:
    id = operator.ask()
    below = operator.workspace / "src"
    below.mkdir()
    (tmp_path / "other" / ".gemba").mkdir(parents=True)

    for folder in (str(operator.workspace), str(below), os.path.relpath(below, tmp_path)):
        page = json.loads(operator.ok("-C", folder, "inbox", "--json", cwd=tmp_path, GEMBA_WORKSPACE="/nowhere"))
        assert [row["id"] for row in page["escalations"]] == [id]
    assert operator.ok("-C", str(tmp_path / "other"), "inbox", cwd=below) == "Nobody waits for you.\n"


def test_a_folder_that_is_none_is_refused(alone: Operator) -> None:
    assert alone.refused("-C", "/nowhere", "inbox") == "gemba: /nowhere is not a folder"


def test_gemba_workspace_names_the_workspace(operator: Operator, tmp_path: Path) -> None:
    operator.ask()

    assert "1 waits" in operator.ok("inbox", cwd=tmp_path, GEMBA_WORKSPACE=str(operator.workspace))


# ---- open -------------------------------------------------------------------------------------------------------


def test_open_prints_the_address_of_the_running_server(sqlite_server: RunningServer) -> None:
    operator = Operator(sqlite_server.workspace, sqlite_server.home)

    assert operator.ok("open", "--print") == f"{sqlite_server.address}\n"
    assert json.loads(operator.ok("open", "--json")) == {"address": sqlite_server.address, "url": sqlite_server.url}
    # Into a pipe it prints and opens nothing: there is nobody at the screen.
    assert operator.ok("open", BROWSER="/bin/false") == f"{sqlite_server.address}\n"


@pytest.mark.parametrize("arguments", [["open"], ["open", "--print"], ["open", "--json"]])
def test_open_without_a_server_says_how_to_start_one(alone: Operator, arguments: list[str]) -> None:
    assert alone.refused(*arguments) == "gemba: no server runs for this workspace; `gemba serve` starts one"


def test_open_after_the_server_was_killed_says_the_same(sqlite_server: RunningServer) -> None:
    sqlite_server.kill()

    line = Operator(sqlite_server.workspace, sqlite_server.home).refused("open")

    assert line == "gemba: no server runs for this workspace; `gemba serve` starts one"


def test_open_gives_the_browser_the_page_and_keeps_the_token_out_of_its_arguments(
    sqlite_server: RunningServer, tmp_path: Path
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/opened"\n')
    browser.chmod(0o700)
    terminal, side = pty.openpty()

    done = subprocess.run(
        [BIN / "gemba", "open"],
        cwd=sqlite_server.workspace,
        env={**sqlite_server.environment, "BROWSER": f"{browser} %s"},
        stdin=side,
        stdout=side,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(side)
    os.close(terminal)

    assert (done.returncode, done.stderr) == (0, b"")
    opened = (tmp_path / "opened").read_text().strip()
    assert sqlite_server.token not in opened
    file = Path(opened.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sqlite_server.address in file.read_text()


# ---- doctor -----------------------------------------------------------------------------------------------------


def test_doctor_finds_a_healthy_workspace_healthy(operator: Operator) -> None:
    operator.ask(kind="blocker")

    found = json.loads(operator.ok("doctor", "--json"))
    lines = operator.ok("doctor").splitlines()

    assert found.keys() == set(Diagnosis.__struct_fields__)
    assert found["status"] == "ok"
    assert (found["started_at"] is not None) == (operator.server is not None)
    assert found["counters"].items() >= {"escalations_blocking": 1, "frames_ingested": 1}.items()
    running = "running" if operator.server else "not running: `gemba serve` starts it"
    assert lines[0] == f"  ok  Server: {running}"
    assert len([line for line in lines if line.startswith("  ok  ")]) == 1 + len(found["checks"])


def test_doctor_warns_with_a_hint_and_exits_0(operator: Operator) -> None:
    operator.append("GembaAsk", {}, "worker-1", workspace="/nowhere")
    operator.say("GembaAsk", {"kind": "blocker", "role": "coach", "text": "x"})

    found = json.loads(operator.ok("doctor", "--json"))
    shown = operator.ok("doctor")

    assert found["status"] == "warn"
    assert {check["id"] for check in found["checks"] if check["status"] == "warn"} == {"frames", "strays"}
    assert "warn  Frames: " in shown
    assert "1 refused" in shown
    assert "      → set GEMBA_WORKSPACE for that agent" in shown


def test_doctor_exits_1_when_something_is_broken(alone: Operator) -> None:
    (alone.workspace / ".gemba" / "gemba.db").write_bytes(b"no database" * 1000)

    shown, as_json = alone.run("doctor"), alone.run("doctor", "--json")

    assert (shown.returncode, as_json.returncode) == (1, 1)
    assert shown.stdout.startswith("FAIL  Workspace: ")
    assert json.loads(as_json.stdout).keys() == set(Diagnosis.__struct_fields__)
    assert shown.stderr + as_json.stderr == ""


def test_doctor_says_so_outside_a_workspace(alone: Operator, tmp_path: Path) -> None:
    done = alone.run("doctor", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("FAIL  Workspace: no workspace: ")


# ---- many at once -----------------------------------------------------------------------------------------------


@pytest.mark.chaos
def test_twenty_commands_at_once_make_one_database(alone: Operator, database_url: str) -> None:
    ids = [alone.ask() for _ in range(5)]
    environment = {**alone.environment, "GEMBA_DATABASE_URL": database_url}

    words = [str(BIN / "gemba"), "inbox", "--json"]
    started = [processes.start(words, cwd=alone.workspace, env=environment) for _ in range(20)]
    ended = [(process.communicate(timeout=110), process.returncode) for process in started]

    assert [(errors, code) for (_, errors), code in ended] == [(b"", 0)] * 20
    for (out, _), _ in ended:
        assert sorted(row["id"] for row in json.loads(out)["escalations"]) == sorted(ids)


def test_a_server_and_commands_started_together_agree(
    alone: Operator, start_server: Callable[..., RunningServer]
) -> None:
    id = alone.ask()
    early = [alone.watch("inbox", "--json") for _ in range(3)]

    server = start_server()

    for process in early:
        assert [row["id"] for row in json.loads(process.line())["escalations"]] == [id]
    assert server.get("/api/escalations")["total"] == 1
