"""Artifacts in a task's worktree: what its agent wrote is collected, what it builds on is laid down.

They lie in `.gemba/artifacts/` of the worktree, as `<task id>-<name>.md`. An agent may leave anything there: no link is
followed, sizes and numbers are bounded, bytes that are no UTF-8 are replaced, and what is not the task's own is told
and not taken. Called by the engine around a turn; neither needs a database.
"""

from __future__ import annotations

import errno
import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from gemba.errors import Unusable
from gemba.teams.explorations import is_stale
from gemba.teams.guarded_folder import GuardedFolder, guarded
from gemba.teams.knowledge import ARTIFACT_RULE, CollectedArtifact, artifact_task, line_of
from gemba.teams.loaded import (
    ROOM_FOR_EXPLORATIONS,
    Loaded,
    LoadedArtifact,
    exploration_entry,
    size_of,
    within,
)
from gemba.text import storable

PLACE = (".gemba", "artifacts")
MOST_ARTIFACTS = 50  # of one task
LARGEST = 1 << 20  # bytes of one
MOST_BYTES = 8 << 20  # of all of a task's
_MOST_ENTRIES = 2_000  # of the folder; what upstream tasks wrote lies there too
_MOST_REMARKS = 100


class Remark(NamedTuple):
    """Something in the folder that was not taken, or is not as it was laid down, and why."""

    name: str
    why: str


class Collected(NamedTuple):
    artifacts: list[CollectedArtifact]
    remarks: list[Remark]


def collect(folder: Path, task_id: str, laid: Mapping[str, str] | None = None) -> Collected:
    """The artifacts of a task, in order of their names. `laid` has the digest of each upstream artifact that was laid
    down before its turn: one that is changed or gone since is told."""
    found = Collected([], [])
    try:
        with guarded(folder, *PLACE) as place:
            names = place.names(_MOST_ENTRIES + 1)
            for name in names[:_MOST_ENTRIES]:
                _look_at(place, name, task_id, laid or {}, found)
            if len(names) > _MOST_ENTRIES:
                found.remarks.append(Remark("", f"there are more than {_MOST_ENTRIES:,} files; the others were left"))
    except FileNotFoundError:
        names = []
    except OSError as error:
        return Collected([], [Remark("", f"the folder of artifacts cannot be read: {_reason(error)}")])
    gone = [Remark(name, "it was laid down for this task and is gone") for name in sorted({*(laid or ())} - {*names})]
    return Collected(found.artifacts, (found.remarks + gone)[:_MOST_REMARKS])


def _look_at(place: GuardedFolder, name: str, task_id: str, laid: Mapping[str, str], found: Collected) -> None:
    owner = artifact_task(name)
    if owner != task_id:
        why = _why_foreign(place, name, owner, laid)
        if why is not None:
            found.remarks.append(Remark(line_of(name, 200), why))
        return
    try:
        artifact = _read(place, name, task_id)
    except OSError as error:
        found.remarks.append(Remark(name, _reason(error)))
        return
    taken = sum(each.size for each in found.artifacts)
    if not artifact.content.strip():
        found.remarks.append(Remark(name, "it is empty"))
    elif len(found.artifacts) >= MOST_ARTIFACTS or taken + artifact.size > MOST_BYTES:
        limit = f"{MOST_ARTIFACTS} artifacts and {MOST_BYTES:,} bytes"
        found.remarks.append(Remark(name, f"the task has more than {limit}"))
    else:
        found.artifacts.append(artifact)


def _why_foreign(place: GuardedFolder, name: str, owner: str | None, laid: Mapping[str, str]) -> str | None:
    if name.startswith(".") and name.endswith(".partial"):
        return None  # what was being laid down when its writer was killed
    if owner is None:
        return f"this is no name of an artifact; allowed: {ARTIFACT_RULE}"
    if name not in laid:
        return f"it is an artifact of {owner}, and was not laid down for this task"
    try:
        same = _read(place, name, owner).digest == laid[name]
    except OSError as error:
        return f"it was laid down for this task and cannot be read: {_reason(error)}"
    return None if same else f"it is an artifact of {owner}, and was changed"


def _read(place: GuardedFolder, name: str, task_id: str) -> CollectedArtifact:
    return made_of(name, task_id, place.read(name, LARGEST))


def made_of(name: str, task_id: str, data: bytes) -> CollectedArtifact:
    content = storable(data.decode("utf-8", "replace"))
    kept = content.encode()
    return CollectedArtifact(
        name, task_id, content, hashlib.sha256(kept).hexdigest(), len(kept), len(content.splitlines())
    )


# ---- before a turn ---------------------------------------------------------------------------------------------------


def lay_down(loaded: Loaded, folder: Path) -> Loaded:
    """Put upstream artifacts into the worktree, for reading alone, and say what reaches the task: of explorations only
    those whose files are still as they were read. To lay down twice changes nothing, also at once: whoever ended the
    task before and whoever took this one over may both begin it."""
    try:
        with guarded(folder, *PLACE, make=True) as place, place.alone():
            for artifact in loaded.artifacts:
                _lay_one(place, artifact)
    except OSError as error:
        raise Unusable(
            f"the artifacts that {loaded.task_id} builds on cannot be laid into its worktree: {_reason(error)}",
            code="artifacts_folder",
            found=_reason(error),
            allowed="a folder .gemba/artifacts that is no link, and can be written",
        ) from error
    fresh = [each for each in loaded.explorations if not is_stale(each, folder)]
    kept, left = within(fresh, ROOM_FOR_EXPLORATIONS, lambda each: size_of(exploration_entry(each)))
    left_out = loaded.left_out | ({"explorations": left} if left else {})
    return msgspec.structs.replace(loaded, explorations=kept, left_out=left_out)


def _lay_one(place: GuardedFolder, artifact: LoadedArtifact) -> None:
    if artifact_task(artifact.name) != artifact.task_id:
        raise OSError(errno.EINVAL, f"{artifact.name[:80]!r} is no name of an artifact of {artifact.task_id}")
    seen = place.look(artifact.name)
    if seen is not None and stat.S_ISREG(seen.st_mode) and seen.st_size == artifact.size:
        data = place.read(artifact.name, artifact.size)
        if hashlib.sha256(data).hexdigest() == artifact.digest and not seen.st_mode & 0o222:
            return
    place.write(artifact.name, [artifact.content.encode()], mode=0o444)


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "it is a link"
    return error.strerror or str(error)
