"""What is read from a repository's own files is what git itself says; where that is not certain, git is asked."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from gemba import git, git_folder


def output(folder: Path, *command: str) -> str:
    done = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def tree(workspace: Path, tmp_path: Path) -> Path:
    """A worktree of the workspace, on a branch of its own."""
    output(workspace, "worktree", "add", "--quiet", "-b", "beside", str(tmp_path / "tree"))
    return tmp_path / "tree"


def test_the_top_of_a_repository_and_of_its_worktrees_is_known_without_git(workspace: Path, tree: Path) -> None:
    shared = str(workspace / ".git")
    assert git_folder.at_top(str(workspace)) == (shared, shared)
    assert git_folder.at_top(str(tree)) == (f"{shared}/worktrees/tree", shared)


def test_what_is_unusual_is_left_to_git(workspace: Path, tree: Path, tmp_path: Path) -> None:
    (workspace / "deep").mkdir()
    (tmp_path / "empty/.git").mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "link/.git").symlink_to(workspace / ".git")
    output(tmp_path, "init", "--quiet", "moved")
    output(tmp_path / "moved", "config", "core.worktree", str(tmp_path))
    Path(output(tree, "rev-parse", "--git-dir"), "config.worktree").write_text("")

    for folder in (workspace / "deep", tmp_path / "empty", tmp_path / "link", tmp_path / "moved", tree, tmp_path):
        assert git_folder.at_top(str(folder)) is None
    assert git_folder.at_top("") is None
    assert git.prefix_of(str(workspace / "deep")) == "deep/"
    assert git.prefix_of(str(tmp_path / "empty")) is None


def test_a_reference_is_read_as_git_reads_it_loose_packed_and_gone(workspace: Path, tree: Path) -> None:
    found = git_folder.at_top(str(workspace))
    assert found is not None
    first = output(workspace, "rev-parse", "HEAD")
    output(tree, "commit", "--quiet", "--allow-empty", "-m", "second")
    second = output(tree, "rev-parse", "HEAD")

    def told() -> list[str | None]:
        names = ("HEAD", "worktrees/tree/HEAD", "refs/heads/beside", "refs/heads/none", "refs/tags/one", "beside")
        return [git_folder.commit_of(found, name) for name in names]

    assert told() == [first, second, second, "", None, None]
    output(workspace, "pack-refs", "--all")
    assert told() == [first, second, second, "", None, None]
    output(tree, "checkout", "--quiet", "--detach")
    output(workspace, "branch", "--quiet", "-D", "beside")
    assert told() == [first, second, "", "", None, None]


def test_who_has_a_branch_checked_out_is_known_without_git(workspace: Path, tree: Path) -> None:
    found = git_folder.at_top(str(workspace))
    assert found is not None
    assert git_folder.others_on(found, "beside") == [f"{found.shared}/worktrees/tree"]
    assert git_folder.others_on(found, output(workspace, "branch", "--show-current")) == [found.shared]
    assert git_folder.others_on(found, "none") == []
    (workspace / ".git/worktrees/half-made").mkdir()  # as another git is just making it
    assert git_folder.others_on(found, "beside") is None


def test_that_nothing_stands_below_a_folder_of_references_is_certain_or_not_said(workspace: Path) -> None:
    found = git_folder.at_top(str(workspace))
    assert found is not None
    assert git_folder.has_none(found, "refs/remotes")
    output(workspace, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert not git_folder.has_none(found, "refs/remotes")
    output(workspace, "pack-refs", "--all")
    assert not git_folder.has_none(found, "refs/remotes")
    assert not git.has_no_remote(str(workspace))


def test_settings_that_are_written_are_known_at_once_though_they_are_remembered(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = git_folder.at_top(str(workspace))
    assert found is not None
    config = workspace / ".git/config"
    later = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: later() + 3_000_000_000)  # long after they were written
    assert git.filters(str(workspace)) == []
    stamp = git_folder.settings_stamp(found)
    assert stamp is not None

    text, seen = config.read_bytes(), config.stat()
    config.write_bytes(text + b'[filter "made"]\n\tclean = cat\n')
    os.utime(config, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    assert git_folder.settings_stamp(found) != stamp
    assert git.filters(str(workspace)) == ["made"]


def test_settings_that_were_just_written_or_come_otherwise_are_not_remembered(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = git_folder.at_top(str(workspace))
    assert found is not None
    output(workspace, "config", "some.name", "value")
    assert git_folder.settings_stamp(found) is None
    later = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: later() + 3_000_000_000)
    assert git_folder.settings_stamp(found) is not None
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    assert git_folder.settings_stamp(found) is None
    monkeypatch.delenv("GIT_CONFIG_COUNT")

    (workspace / "more").write_text("")
    output(workspace, "config", "include.path", str(workspace / "more"))
    assert git.filters(str(workspace)) == []
    (workspace / "more").write_text('[filter "included"]\n\tclean = cat\n')
    assert git.filters(str(workspace)) == ["included"]
