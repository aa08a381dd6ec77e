"""What a task hands in, as its gate may look at it: types, no I/O.

Whatever an agent wrote is in here as data and of any shape, the envelope first of all. `looking.py` makes one, with
bounds on all of it; `measuring.py` and `reviewer.py` read it and never raise.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gemba.handoff.check import Check
from gemba.teams.gates import Dimension
from gemba.teams.plan import Output

ARTIFACTS = ".gemba/artifacts"  # of a worktree: where a task's agent lays what it writes


class Artifact(msgspec.Struct, frozen=True):
    """A file of `.gemba/artifacts/`; `cut`: there is more of it than was read."""

    name: str
    content: str
    digest: str
    size: int = 0
    cut: bool = False


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that is not as it was in the commit at which the task began. `lines` are those that were added, `text` is
    what is in it now, each up to a limit; a binary file has neither."""

    path: str
    added: int = 0
    removed: int = 0
    lines: str = ""
    text: str = ""
    binary: bool = False
    gone: bool = False


class Upstream(msgspec.Struct, frozen=True):
    """An artifact of an earlier task: its digest as it was laid down for this task, and as it is now (null: gone)."""

    name: str
    given: str
    now: str | None


class CommandResult(msgspec.Struct, frozen=True):
    """How a command of the project ended in the worktree; without a code it did not, as the words say.
    `failed_before`: it failed when the run began too, so that the task is not blamed for it."""

    name: str
    dimension: Dimension
    code: int | None
    words: str = ""  # how it ended, in one sentence
    tail: str = ""  # the end of what it printed
    failed_before: bool = False

    @property
    def is_to_blame(self) -> bool:
        return self.code != 0 and not self.failed_before


class KnownFile(msgspec.Struct, frozen=True):
    """A file that the work names and that is there, under the name that the work has for it."""

    name: str
    lines: int | None = None  # null: binary, or too large to be counted


class Outside(msgspec.Struct, frozen=True):
    """A file of the workspace that changed while the task worked in its own worktree; `named`: by the work itself."""

    path: str
    named: bool = False


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """All that a gate may look at. `text` is the run's, which a goal is meant beside; `tasks` and `names` are the ids
    of all tasks of the run and the names of all its artifacts; `trouble` says what could not be looked at."""

    task_id: str
    owner: str
    goal: str
    output: Output
    envelope: dict[str, Any]
    text: str = ""
    acceptance: tuple[str, ...] = ()
    world: tuple[Check, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    changed: tuple[ChangedFile, ...] = ()
    upstream: tuple[Upstream, ...] = ()
    commands: tuple[CommandResult, ...] = ()
    known: tuple[KnownFile, ...] = ()
    outside: tuple[Outside, ...] = ()
    tasks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # files that its envelopes before this one said were written
    compared: bool = True  # False: there is no repository, or none that can tell what changed
    trouble: tuple[str, ...] = ()
