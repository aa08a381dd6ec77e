"""`gemba install-bridge` on real files: settings of others are kept to the byte, and nothing outside is written."""

import fcntl
import json
import os
import shlex
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gemba.cli.install_bridge import command
from gemba.errors import Invalid, Unusable
from gemba.sessions.agents.claude_hooks import EVENTS, GATES
from gemba.testing import retry_until

THEIRS = '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which the command is run."""
    folder = tmp_path / "a project"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str, folder: Path | None = None) -> Result:
    result = CliRunner().invoke(command, arguments, obj=None if folder is None else str(folder))
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def ok(*arguments: str, folder: Path | None = None) -> str:
    result = run(*arguments, folder=folder)
    assert result.exit_code == 0, result.output
    return result.output


def told(*arguments: str) -> Any:
    return json.loads(ok(*arguments, "--json"))


def settings(project: Path, text: str | bytes = THEIRS, name: str = "settings.json") -> Path:
    file = project / ".claude" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def commands(file: Path) -> dict[str, str]:
    """What is run at each event, by the last hook there."""
    found = json.loads(file.read_bytes())["hooks"]
    return {event: groups[-1]["hooks"][-1]["command"] for event, groups in found.items()}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- in and out --------------------------------------------------------------------------------------------------------


def test_hooks_are_put_in_once_and_come_out_to_the_byte(project: Path) -> None:
    file = settings(project)
    said = ok()
    once = file.read_bytes()

    assert said.startswith(f"{file}: put in hooks at SessionStart, ")
    assert list(commands(file)) == ["Stop", *(event for event in EVENTS if event != "Stop")]
    assert ok() == f"{file}: has the hooks already; nothing was changed\n"
    assert file.read_bytes() == once
    assert ok("--remove") == f"{file}: took out the hooks of Gemba\n"
    assert file.read_text() == THEIRS
    assert ok("--remove") == f"{file}: has no hooks of Gemba; nothing was changed\n"
    assert files(file.parent) == ["settings.json"]


def test_settings_that_were_not_there_are_not_there_again(project: Path) -> None:
    file = project / ".claude/settings.json"

    ok()
    assert set(commands(file)) == set(EVENTS)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~_umask()
    ok("--remove")
    assert files(file.parent) == []


def test_nothing_is_made_where_there_is_nothing_to_take_out(project: Path) -> None:
    assert told("--remove") == {
        "settings": str(project / ".claude/settings.json"),
        "scope": "project",
        "did": "remove",
        "changed": False,
        "events": [],
    }
    assert files(project) == [".git"]


def test_json_tells_the_same_to_a_program(project: Path) -> None:
    file = settings(project)
    common = {"settings": str(file), "scope": "project", "events": list(EVENTS)}

    assert told() == {**common, "did": "install", "changed": True}
    assert told() == {**common, "did": "install", "changed": False}
    removed = told("--remove")
    assert {**removed, "events": sorted(removed["events"])} == {
        **common,
        "events": sorted(EVENTS),
        "did": "remove",
        "changed": True,
    }


def test_other_flags_change_the_hooks_that_are_there(project: Path) -> None:
    file = settings(project)
    ok()
    ok("--require", "--approvals")
    found = commands(file)

    assert [event for event in found if " --require " in found[event]] == [event for event in found if event in GATES]
    assert {event for event in found if " --approvals " in found[event]} == {"PreToolUse", "PermissionRequest"}
    ok("--remove")
    assert file.read_text() == THEIRS


def test_the_command_in_the_settings_runs_with_a_plain_shell(project: Path, home: Path) -> None:
    ok()
    for event, line in commands(project / ".claude/settings.json").items():
        words = shlex.split(line)
        assert Path(words[0]).is_absolute()
        payload = json.dumps({"session_id": "s", "hook_event_name": event}).encode()
        ran = subprocess.run(["/bin/sh", "-c", line], input=payload, cwd="/", capture_output=True)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    frames = [json.loads(line) for line in (home / "sessions/s.jsonl").read_bytes().splitlines()]
    assert [frame["hook"] for frame in frames] == list(EVENTS)


def test_remove_goes_with_no_other_flag(project: Path) -> None:
    result = run("--remove", "--require")

    assert result.exit_code == 2
    assert "--remove takes everything out" in result.output


def test_it_says_when_the_settings_let_no_hook_run(project: Path) -> None:
    settings(project, '{"disableAllHooks": true}')

    assert "disableAllHooks is true" in ok()


# -- where -------------------------------------------------------------------------------------------------------------


def test_each_scope_has_its_file(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told("--scope", "local")["settings"] == str(project / ".claude/settings.local.json")
    assert told("--scope", "user")["settings"] == str(tmp_path / "user/.claude/settings.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "configured"))
    (tmp_path / "configured").mkdir()
    assert told("--scope", "user")["settings"] == str(tmp_path / "configured/settings.json")


def test_below_the_top_of_a_repository_it_is_the_repositorys_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a/b").mkdir(parents=True)
    monkeypatch.chdir(project / "a/b")

    assert told()["settings"] == str(project / ".claude/settings.json")
    (project / "a/b/.claude").mkdir()
    assert told()["settings"] == str(project / "a/b/.claude/settings.json")


def test_another_folder_may_be_named(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    ok(folder=other)

    assert set(commands(other / ".claude/settings.json")) == set(EVENTS)
    with pytest.raises(Unusable, match="none is not a folder"):
        run(folder=tmp_path / "none")


@pytest.mark.parametrize("linked", [".claude", ".claude/settings.json"])
def test_no_link_is_followed_out_of_the_project(project: Path, tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text(THEIRS)
    link = project / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if linked == ".claude" else outside / "settings.json")

    for flag in ("--json", "--remove"):
        with pytest.raises(Unusable, match=r"outside of .*; nothing was changed"):
            run(flag)
    assert (outside / "settings.json").read_text() == THEIRS
    assert files(outside) == ["settings.json"]


def test_a_link_that_leads_to_itself_is_refused(project: Path) -> None:
    (project / ".claude").symlink_to(project / ".claude")

    with pytest.raises(Unusable, match="a link to itself"):
        run()


def test_a_link_inside_the_project_stays_a_link(project: Path) -> None:
    shared = project / "shared.json"
    shared.write_text(THEIRS)
    (project / ".claude").mkdir()
    link = project / ".claude/settings.json"
    link.symlink_to("../shared.json")

    ok()

    assert link.is_symlink()
    assert set(commands(shared)) == set(EVENTS)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{\n  "a": 1,\n}', ":3:1: this is not JSON: "),
        (b"", ":1:1: this is not JSON: "),
        (b'{\n "hooks": []}', ":2:11: hooks must be an object, found a list"),
        (b'{\n "a": "\xff"}', ":2:8: this is not UTF-8"),
        (b"\xff\xfe{\x00}\x00", ":1:1: this is not UTF-8"),
    ],
)
def test_malformed_settings_are_refused_with_their_place_and_left_as_they_are(
    project: Path, text: bytes, message: str
) -> None:
    file = settings(project, text)

    for flag in ("--json", "--remove"):
        with pytest.raises(Invalid, match="nothing was changed") as refused:
            run(flag)
        assert f"{file}{message}" in str(refused.value)
    assert file.read_bytes() == text
    assert files(file.parent) == ["settings.json"]


def test_a_folder_in_the_place_of_settings_is_refused(project: Path) -> None:
    (project / ".claude/settings.json").mkdir(parents=True)

    with pytest.raises(OSError, match="not a regular file"):
        run()


# -- the file ----------------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_stays(project: Path) -> None:
    file = settings(project, "\ufeff" + THEIRS)

    ok()
    assert file.read_text().startswith("\ufeff{")
    ok("--remove")
    assert file.read_text() == "\ufeff" + THEIRS


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_the_file_keeps_its_mode(project: Path, mode: int) -> None:
    file = settings(project)
    file.chmod(mode)

    ok()
    assert stat.S_IMODE(file.stat().st_mode) == mode
    ok("--remove")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_the_file_is_never_half_written(project: Path) -> None:
    """Whoever has it open reads the old settings to their end: the new ones are another file in its place."""
    file = settings(project)
    with file.open() as opened:
        ok()
        assert opened.read() == THEIRS
    assert set(commands(file)) == set(EVENTS)


def test_two_at_once_lose_nothing(project: Path) -> None:
    """The second waits for the folder, and only then reads."""
    file = settings(project)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        script = "from gemba.cli.install_bridge import command; command(['--json'])"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=project) as other:
            ended = threading.Thread(target=other.wait)
            ended.start()
            retry_until(lambda: _waits_for_a_lock(other.pid), timeout=60)
            file.write_text('{"written": "meanwhile"}')
            fcntl.flock(folder, fcntl.LOCK_UN)
            ended.join()
            assert other.returncode == 0
    finally:
        os.close(folder)
    found = json.loads(file.read_text())
    assert found["written"] == "meanwhile"
    assert set(found["hooks"]) == set(EVENTS)


def _waits_for_a_lock(pid: int) -> bool:
    """A lock that is waited for is listed with an arrow, and with who waits."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f" {pid} " in line for line in lines)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
