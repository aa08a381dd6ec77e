"""Looks at what a task hands in: its worktree, its artifacts, what the project's commands say. It only reports.

All of it is bounded. A link that leaves the worktree is not followed; a command ends with its whole process group when
its time is over; what cannot be looked at is told as trouble. Called by the engine before a task's gate, off the loop.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gemba import git, shell
from gemba.errors import Unusable
from gemba.handoff.check import Check
from gemba.handoff.snapshot import Snapshot, key_of, snapshot_together
from gemba.teams.changes import changes_since, read_bytes, read_text
from gemba.teams.gates import Dimension
from gemba.teams.page import Page
from gemba.teams.plan import Output
from gemba.teams.run import ProjectCommand
from gemba.teams.said import Said
from gemba.teams.seen import is_of_gemba
from gemba.teams.submitted import ARTIFACTS, Artifact, CommandResult, KnownFile, Outside, Submitted, Upstream
from gemba.text import showable, storable

MOST_ARTIFACTS = 200
LONGEST_ARTIFACT = 512 * 1024  # bytes that are kept of one
_LARGEST_COMPARED = 64 * 1024 * 1024  # bytes of one that are compared with what was given
MOST_NAMED = 2_000  # files that are looked for because the work names them
_LARGEST_COUNTED = 4 * 1024 * 1024  # bytes of a file whose lines are counted
_OUTPUT = 1_000_000  # bytes that are kept of what a command prints
_TAIL = 4_000
_MOST_OUTSIDE = 200


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine knows of the task whose work is looked at. `upstream`: by name, the digest (`digest_of`) with
    which an artifact of another task was laid into its worktree. `tasks` and `names`: the ids of all tasks of the run,
    the names of all its artifacts. `told`: files that its earlier turns said they wrote, in the same worktree."""

    id: str
    owner: str
    goal: str
    output: Output
    envelope: dict[str, Any]
    text: str = ""
    acceptance: tuple[str, ...] = ()
    world: tuple[Check, ...] = ()
    upstream: Mapping[str, str] = {}
    tasks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def look(
    task: Task,
    folder: Path,
    base: str | None,
    commands: Sequence[ProjectCommand] = (),
    *,
    failed_before: Collection[str] = (),
    workspace: Path | None = None,
    before: Snapshot | None = None,
    saved: str | None = None,
) -> Submitted:
    """A task's worktree as it is, or was `saved` (without what Gemba put there), compared with the commit `base` at
    which the task began.

    Commands are run where something changed, or where nobody can tell; those named in `failed_before` failed when the
    run began. With a workspace and how it was `before` (`take_snapshot` of it), what changed in it meanwhile is told.
    """
    changes = changes_since(folder, base, saved)
    artifacts = _artifacts(folder, task)
    said = Said(task.envelope)
    own = [each for each in artifacts if each.name.startswith(f"{task.id}-")]
    return Submitted(
        task_id=task.id,
        owner=task.owner,
        goal=task.goal,
        output=task.output,
        envelope=task.envelope,
        text=task.text,
        acceptance=task.acceptance,
        world=task.world,
        artifacts=tuple(own),
        changed=tuple(changes.files),
        upstream=_upstream(task.upstream, artifacts),
        commands=run_commands(folder, commands, failed_before) if changes.files or not changes.compared else (),
        known=tuple(_known(folder, own, said)),
        outside=_outside(workspace, before, own, said) if workspace is not None and before is not None else (),
        tasks=task.tasks,
        names=task.names,
        told=task.told,
        compared=changes.compared,
        trouble=tuple(changes.trouble),
    )


# ---- artifacts -------------------------------------------------------------------------------------------------------


def _artifacts(folder: Path, task: Task) -> list[Artifact]:
    """The task's own, and those that were laid down for it; what else lies there is nobody's."""
    place = _inside(folder, ARTIFACTS)
    try:
        names = sorted(path.name for path in place.iterdir()) if place is not None else []
    except OSError:
        return []
    wanted = [name for name in names if name.startswith(f"{task.id}-")][:MOST_ARTIFACTS]
    wanted += [name for name in names if name in task.upstream and name not in wanted]
    found = (_artifact(place / name) for name in wanted) if place is not None else ()
    return [each for each in found if each is not None]


def _artifact(path: Path) -> Artifact | None:
    content = read_bytes(path, _LARGEST_COMPARED)
    if content is None:
        return None
    text = storable(content[:LONGEST_ARTIFACT].decode("utf-8", "replace"))
    cut = len(content) > LONGEST_ARTIFACT
    return Artifact(storable(key_of(path.name)), text, digest_of(content), len(content), cut)


def digest_of(content: bytes) -> str:
    """How artifacts are compared."""
    return hashlib.sha256(content).hexdigest()


def _upstream(given: Mapping[str, str], artifacts: Iterable[Artifact]) -> tuple[Upstream, ...]:
    now = {each.name: each.digest for each in artifacts}
    return tuple(Upstream(name, digest, now.get(name)) for name, digest in sorted(given.items()))


# ---- files that the work names ---------------------------------------------------------------------------------------


def _known(folder: Path, artifacts: Iterable[Artifact], said: Said) -> list[KnownFile]:
    """Those that are there: under that path, beside the artifacts, or at the end of one path of the project alone."""
    wanted = {mention.path for each in artifacts for mention in Page(each.content).files()} | said.claimed
    names = sorted(wanted)[:MOST_NAMED]
    found: dict[str, Path] = {}
    for name in names:
        for way in (name, f"{ARTIFACTS}/{name}"):
            path = _inside(folder, way)
            if name not in found and path is not None and path.exists():
                found[name] = path
    found |= _by_their_ends(folder, [name for name in names if name not in found])
    return [KnownFile(name, _lines(path)) for name, path in sorted(found.items())]


def _by_their_ends(folder: Path, names: Collection[str]) -> dict[str, Path]:
    """Shortened paths: `teams/run.py` for `src/app/teams/run.py`."""
    if not names:
        return {}
    try:
        told = git.run(str(folder), "ls-files", "-zco", "--exclude-standard", seconds=30.0)
    except Unusable:
        return {}
    wanted, found = set(names), dict[str, Path]()
    for path in told.stdout.split("\0"):
        parts = path.split("/")
        for start in range(1, len(parts)):
            end = "/".join(parts[start:])
            if end in wanted and (place := _inside(folder, path)) is not None:
                found.setdefault(end, place)
    return found


def _lines(path: Path) -> int | None:
    content = read_text(path, _LARGEST_COUNTED)
    return None if content is None or len(content) >= _LARGEST_COUNTED else len(content.splitlines())


def _inside(folder: Path, name: str) -> Path | None:
    """Where a name leads, if that is in the folder."""
    try:
        root, path = folder.resolve(), (folder / name).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL, a name that is too long
        return None
    return path if path.is_relative_to(root) else None


# ---- what changed elsewhere ------------------------------------------------------------------------------------------


def _outside(workspace: Path, before: Snapshot, artifacts: Iterable[Artifact], said: Said) -> tuple[Outside, ...]:
    """Files of the workspace that are not as they were, and not by a commit. Whoever works there may have done it: what
    the work itself names by its whole path is told apart."""
    now = snapshot_together(workspace)
    paths = {path for path, state in now.files.items() if path not in before.files or before.files[path] != state}
    if now.commit == before.commit:
        paths |= before.files.keys() - now.files.keys()
    paths = {path for path in paths if not is_of_gemba(path)}
    told = "\n".join([said.words, *said.commands, *said.claimed, *(each.content for each in artifacts)])
    found = sorted(paths)[:_MOST_OUTSIDE]
    return tuple(Outside(storable(path), f"{workspace}/{path}" in told) for path in found)


# ---- the project's commands ------------------------------------------------------------------------------------------


def run_commands(
    folder: Path, commands: Sequence[ProjectCommand], failed_before: Collection[str] = ()
) -> tuple[CommandResult, ...]:
    """How each ends in a folder, one after the other. A program that leaves its process group on purpose, as a daemon
    does, stays."""
    return tuple(_run(folder, each, each.name in failed_before) for each in commands)


def _run(folder: Path, command: ProjectCommand, failed_before: bool) -> CommandResult:
    line = [shutil.which("bash") or "sh", "-c", "--", command.run]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GEMBA_", "GIT_"))}
    dimension = Dimension(command.dimension)
    try:
        result = shell.run(line, cwd=folder, env=env, timeout=command.seconds, limit=_OUTPUT)
    except Unusable as error:
        slow = error.code == "program_slow"
        words = f"it had not ended after {command.seconds} s" if slow else "it cannot be run"
        return CommandResult(command.name, dimension, None, words, "", failed_before)
    code = result.code if result.code >= 0 else 128 - result.code
    words = f"exit code {code}" + (f", it printed more than {_OUTPUT:,} bytes" if result.cut else "")
    tail = storable(showable("\n".join(part for part in (result.stdout, result.stderr) if part)[-_TAIL:]))
    return CommandResult(command.name, dimension, code, words, tail, failed_before)
