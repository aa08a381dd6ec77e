"""What Gemba reads from a repository that an agent can write to."""

import subprocess
from pathlib import Path

from gemba import git


def output(repository: Path, *command: str, stdin: str | None = None) -> str:
    done = subprocess.run(["git", *command], cwd=repository, input=stdin, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commits_since_one_are_told_newest_first(workspace: Path) -> None:
    begin = output(workspace, "rev-parse", "HEAD")
    for subject in ("second", "third"):
        output(workspace, "commit", "--quiet", "--allow-empty", "-m", subject)

    assert [line.partition(" ")[2] for line in git.commits_since(str(workspace), begin)] == ["third", "second"]


def test_what_cannot_be_told_is_nothing(workspace: Path, tmp_path: Path) -> None:
    begin = output(workspace, "rev-parse", "HEAD")
    assert git.commits_since("", begin) == []
    assert git.commits_since(str(tmp_path / "nowhere"), begin) == []
    assert git.commits_since(str(workspace), "0" * 40) == []
    assert git.commits_since(str(workspace), "--output=x") == []


def test_a_repository_and_its_worktrees_have_one_folder_in_common(workspace: Path, tmp_path: Path) -> None:
    (workspace / "deep").mkdir()
    output(workspace, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    output(tmp_path, "init", "--quiet", "other")

    shared = str(workspace / ".git")
    assert [git.shared_folder(str(folder)) for folder in (workspace, workspace / "deep", tmp_path / "tree")] == [
        shared
    ] * 3
    assert git.shared_folder(str(tmp_path / "other")) == str(tmp_path / "other/.git")
    assert git.shared_folder(str(tmp_path)) is None
    assert git.shared_folder("") is None


def test_where_no_repository_can_be_is_told_without_git(workspace: Path, tmp_path: Path) -> None:
    (workspace / "deep").mkdir()
    plain = tmp_path / "plain" / "deep"
    plain.mkdir(parents=True)
    (tmp_path / "link").symlink_to(workspace / "deep")
    output(tmp_path, "init", "--quiet", "--bare", "bare")
    output(workspace, "worktree", "add", "--quiet", str(tmp_path / "tree"))

    assert git.is_in_none(str(plain))
    inside = (workspace, workspace / "deep", tmp_path / "link", tmp_path / "bare" / "objects", tmp_path / "tree")
    assert not any(git.is_in_none(str(folder)) for folder in inside)
    assert not git.is_in_none("")


def test_no_program_that_a_repository_s_configuration_names_is_run(workspace: Path, tmp_path: Path) -> None:
    begin = output(workspace, "rev-parse", "HEAD")
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o755)
    for name in ("gpg.program", "core.pager", "core.fsmonitor", "core.sshCommand"):
        output(workspace, "config", name, str(program))
    output(workspace, "config", "log.showSignature", "true")
    tree = output(workspace, "rev-parse", "HEAD^{tree}")
    who = "A <a@example.com> 1700000000 +0000"
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    text = f"tree {tree}\nparent {begin}\nauthor {who}\ncommitter {who}\n{signature}\n\nsigned\n"
    signed = output(workspace, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
    output(workspace, "update-ref", "HEAD", signed)
    subprocess.run(["git", "log", "-1"], cwd=workspace, capture_output=True, check=False)
    assert ran.exists(), "the trap does not work"
    ran.unlink()

    found = git.commits_since(str(workspace), begin)

    assert [line.partition(" ")[2] for line in found] == ["signed"]
    assert not ran.exists()
