"""Where the demo happens: one temporary folder with a git repository, a worktree for each branch, and a GEMBA_HOME.

Without git it is the same folder without commits. Nothing of the user's own git settings has a say in it: no hooks, no
signing, no identity. Called by `gemba demo`, and by its agents when they commit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gemba.demo.story import Approval, Assumption, Commit, Story
from gemba.errors import Unusable

_HOUR = 3600


class Floor(msgspec.Struct, frozen=True):
    """The demo's folder and the places in it."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "kettle"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def place_of(self, story: Story) -> Path:
        """The worktree of the agent's branch."""
        worktree = self.folder / f"kettle-{story.branch}"
        return worktree if worktree.exists() else self.workspace


def make_floor(floor: Floor, commits: Iterable[Commit], stories: Iterable[Story]) -> None:
    floor.home.mkdir(mode=0o700, parents=True)
    floor.workspace.mkdir()
    floor.scratch.mkdir()
    if shutil.which("git"):
        _git(floor.workspace, "init", "--template=", "--initial-branch=main")
    for commit in commits:
        when = time.time() - commit.hours_ago * _HOUR
        commit_files(floor.workspace, commit.files, commit.message, commit.author, when)
    if shutil.which("git"):
        for branch in sorted({story.branch for story in stories} - {"main"}):
            _git(floor.workspace, "worktree", "add", "-b", branch, str(floor.folder / f"kettle-{branch}"))


def commit_files(place: Path, files: Mapping[str, str], message: str, author: str, when: float | None = None) -> None:
    """Write the files and commit them, as of a moment (seconds since 1970) or of now."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    if (place / ".git").exists():
        _git(place, "add", "--", *files)
        _git(place, "commit", "-m", message, "--", *files, author=author, when=when)


def commit_change(place: Path, turn: Assumption | Approval, author: str, when: float | None = None) -> None:
    """The change that belongs to a turn, unless it was made before."""
    file = place / turn.file
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if turn.adds not in before:
        commit_files(place, {turn.file: before + turn.adds}, turn.message, author, when)


def _git(place: Path, *arguments: str, author: str = "Kettle", when: float | None = None) -> None:
    identity = {
        "NAME": author,
        "EMAIL": f"{author.lower()}@kettle.example",
        "DATE": f"@{int(when or time.time())} +0000",
    }
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in identity.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    # Otherwise git might tidy up in a process of its own, which nobody would wait for.
    command = ["git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", *arguments]
    result = subprocess.run(
        command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if result.returncode != 0:
        reason = " ".join(result.stderr.decode("utf-8", "replace").split())
        raise Unusable(f"git {arguments[0]} failed: {reason}", code="program_failed")
