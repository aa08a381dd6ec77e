"""Blocks in real files: the user's bytes and modes stay, whatever is in the way and whoever writes at the same time."""

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gemba.config import Workspace
from gemba.errors import Conflict, GembaError, Invalid, Unusable
from gemba.sessions.agents import preamble_file
from gemba.sessions.agents.preamble_file import put_block, read_manners, take_out_block, take_out_dead_blocks

BLOCK = b"<!-- gemba:begin "


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "worktree" / "CLAUDE.md"


@pytest.fixture(autouse=True)
def worktree(file: Path) -> Path:
    file.parent.mkdir()
    return file.parent


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("text", [b"", b"# Mine\n", b"\xef\xbb\xbfone\r\ntwo", b"\xff\x00not utf-8"])
def test_a_file_is_as_it_was_when_the_session_ends(file: Path, text: bytes) -> None:
    file.write_bytes(text)
    file.chmod(0o640)

    put_block(file, "s1", "Hello.")
    with_block = file.read_bytes()
    put_block(file, "s1", "Hello.")

    assert BLOCK in with_block
    assert file.read_bytes() == with_block
    assert take_out_block(file, "s1")
    assert file.read_bytes() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not take_out_block(file, "s1")
    assert names(file.parent) == ["CLAUDE.md"]


def test_without_a_file_one_is_made_and_goes_again_unless_somebody_wrote_into_it(file: Path) -> None:
    put_block(file, "s1", "Hello.")
    put_block(file, "s1", "Hello again.")
    assert b"Hello again." in file.read_bytes()
    assert take_out_block(file, "s1")
    assert names(file.parent) == []

    put_block(file, "s1", "Hello.")
    file.write_bytes(b"before\n" + file.read_bytes() + b"after")
    assert take_out_block(file, "s1")
    assert file.read_bytes() == b"before\nafter"


def test_what_is_as_it_should_be_is_not_written_again(file: Path) -> None:
    put_block(file, "s1", "Hello.")
    before = file.stat()

    put_block(file, "s1", "Hello.")
    assert not take_out_block(file, "another")

    assert file.stat() == before


def test_a_block_of_a_live_session_stays_and_those_of_the_dead_go(file: Path) -> None:
    file.write_bytes(b"mine")
    for session in ("dead/1", "live", "dead/2"):
        put_block(file, session, "Hello.")

    assert sorted(take_out_dead_blocks(file, lambda id: id == "live")) == ["dead_1", "dead_2"]
    assert take_out_dead_blocks(file, lambda id: id == "live") == []
    assert file.read_bytes().count(BLOCK) == 1
    assert take_out_block(file, "live")
    assert file.read_bytes() == b"mine"
    assert take_out_dead_blocks(file.with_name("none"), lambda id: False) == []


def test_a_file_that_is_gone_by_the_end_is_no_fault(file: Path) -> None:
    put_block(file, "s1", "Hello.")
    file.unlink()

    assert not take_out_block(file, "s1")


def test_a_block_without_its_end_is_told_with_its_line_and_left(file: Path) -> None:
    file.write_bytes(b"mine\n")
    put_block(file, "s1", "Hello.")
    broken = b"one\n" + file.read_bytes().replace(b"<!-- gemba:end -->", b"")
    file.write_bytes(broken)

    with pytest.raises(Conflict, match=rf"^{file}:2: the session's block has no end") as refused:
        take_out_block(file, "s1")

    assert refused.value.code == "block_broken"
    assert file.read_bytes() == broken


# ---- in the way ---------------------------------------------------------------------------------------------------


def refusal(file: Path) -> GembaError:
    with pytest.raises(GembaError, match=f"^{file}") as refused:
        put_block(file, "s1", "Hello.")
    return refused.value


def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text("somebody's")
    file.symlink_to(elsewhere)

    assert refusal(file).message == f"{file} is a symbolic link; allowed: a plain file, or nothing"
    with pytest.raises(Unusable):
        take_out_block(file, "s1")
    assert elsewhere.read_text() == "somebody's"
    assert file.is_symlink()


def test_what_is_no_plain_file_is_refused(file: Path) -> None:
    file.mkdir()
    assert refusal(file).message == f"{file} is a folder; allowed: a plain file, or nothing"
    file.rmdir()
    os.mkfifo(file)
    assert refusal(file).message == f"{file} is no plain file; allowed: a plain file, or nothing"
    file.unlink()
    file.write_bytes("mine".encode("utf-16"))
    assert refusal(file).message == f"{file} is UTF-16; allowed: UTF-8"
    with file.open("wb") as stream:
        stream.truncate(preamble_file.LONGEST + 1)
    assert refusal(file).code == "instructions_too_long"
    assert refusal(file.parent / "none" / "CLAUDE.md").code == "instructions_unusable"


def test_a_full_disk_changes_nothing_and_leaves_nothing(file: Path) -> None:
    file.write_bytes(b"mine\n" * 1000)
    before, limits = file.stat(), resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        refused = refusal(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)

    assert refused.message == f"{file}: File too large"
    assert (file.stat(), names(file.parent)) == (before, ["CLAUDE.md"])


def test_what_a_crash_left_beside_the_file_is_gone_with_the_next_change(file: Path) -> None:
    (file.parent / ".CLAUDE.md.gemba-partial").write_text("half")

    put_block(file, "s1", "Hello.")

    assert names(file.parent) == ["CLAUDE.md"]


# ---- at once ------------------------------------------------------------------------------------------------------


def test_many_sessions_at_once_leave_the_users_text_alone(file: Path) -> None:
    file.write_bytes(b"mine")
    program = (
        "import sys; from pathlib import Path\n"
        "from gemba.sessions.agents.preamble_file import put_block, take_out_block\n"
        "file, session = Path(sys.argv[1]), sys.argv[2]\n"
        "for number in range(20):\n"
        "    put_block(file, session, f'Hello {number}.')\n"
        "    assert take_out_block(file, session)\n"
        "put_block(file, session, 'The end.')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(file), f"s{number}"]) for number in range(3)]

    assert [process.wait(60) for process in running] == [0, 0, 0]

    assert file.read_bytes().count(BLOCK) == 3
    assert file.read_bytes().endswith(b"<!-- gemba:end -->\nmine")
    assert sorted(take_out_dead_blocks(file, lambda id: False)) == ["s0", "s1", "s2"]
    assert file.read_bytes() == b"mine"


def test_a_user_who_saves_at_the_same_moment_loses_nothing(file: Path) -> None:
    """Whether a session lives is asked after the file was read, and before it is replaced."""
    file.write_bytes(b"first")
    put_block(file, "dead", "Hello.")
    saves = iter([b"second", b"third, and last"])

    def save_while_asked(_id: str) -> bool:
        if (saved := next(saves, None)) is not None:
            block, _, _ = file.read_bytes().rpartition(b"\n")
            file.write_bytes(block + b"\n" + saved)
        return False

    assert take_out_dead_blocks(file, save_while_asked) == ["dead"]

    assert file.read_bytes() == b"third, and last"


def test_a_file_that_is_saved_all_the_time_is_left_to_who_saves_it(file: Path) -> None:
    put_block(file, "dead", "Hello.")

    def save_while_asked(_id: str) -> bool:
        file.write_bytes(file.read_bytes() + b"more\n")
        return False

    with pytest.raises(Conflict, match=f"^{file} is written to all the time") as refused:
        take_out_dead_blocks(file, save_while_asked)

    assert refused.value.code == "instructions_busy"
    assert BLOCK in file.read_bytes()
    assert names(file.parent) == ["CLAUDE.md"]
    assert take_out_block(file, "dead")
    assert set(file.read_bytes().split()) == {b"more"}


# ---- the profile --------------------------------------------------------------------------------------------------


def test_the_workspaces_profile_goes_before_the_shipped_one(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.folder.mkdir()
    shipped = read_manners(workspace, "balanced")
    assert "gemba-ask --kind question --role ROLE" in shipped
    assert all("gemba-" in read_manners(workspace, mode) for mode in ("dangerous", "cautious"))

    profile = workspace.folder / "interaction_profile.md"
    profile.write_bytes("\ufeff## cautious\r\nWait.\r\n\r\n## dangerous\r\n".encode())

    assert read_manners(workspace, "cautious") == "Wait."
    assert read_manners(workspace, "dangerous") == ""
    assert read_manners(workspace, "balanced") == shipped


def test_a_profile_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    profile = workspace.folder / "interaction_profile.md"
    profile.mkdir(parents=True)
    with pytest.raises(Unusable, match=f"^{profile}: Is a directory"):
        read_manners(workspace, "balanced")
    profile.rmdir()
    with profile.open("wb") as stream:
        stream.truncate(preamble_file.LONGEST + 1)
    with pytest.raises(Invalid, match="too long"):
        read_manners(workspace, "balanced")
