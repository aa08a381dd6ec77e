"""A session: one run of one agent, known by the frames it writes.

`Lifecycle` is ours, `ReportedState` is the agent's word. A session that nobody here started is met at its first frame
and is `running` then. Pure: types and the state table.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from gemba import clock, wire
from gemba.machine import Machine

SILENT_AFTER = 3_600 * clock.SECOND  # since then nobody knows of one that somebody else started whether it works


class Lifecycle(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"


class ReportedState(StrEnum):
    INITIALIZING = "initializing"
    READY = "ready"
    WORKING = "working"
    PROMPTING = "prompting"
    STALLED = "stalled"
    BEAD_DONE = "bead-done"


L = Lifecycle
LIFECYCLE = Machine(
    "the session",
    {
        (L.STARTING, "running"): L.RUNNING,
        (L.RUNNING, "running"): L.RUNNING,
        # A client that resumes its session writes to the same log again.
        (L.COMPLETED, "running"): L.RUNNING,
        (L.STOPPED, "running"): L.RUNNING,
        (L.FAILED, "running"): L.RUNNING,
        (L.LOST, "running"): L.RUNNING,
        (L.STARTING, "completed"): L.COMPLETED,
        (L.RUNNING, "completed"): L.COMPLETED,
        (L.STARTING, "stopped"): L.STOPPED,
        (L.RUNNING, "stopped"): L.STOPPED,
        (L.STARTING, "failed"): L.FAILED,
        (L.RUNNING, "failed"): L.FAILED,
        (L.STARTING, "lost"): L.LOST,
        (L.RUNNING, "lost"): L.LOST,
    },
)


class Prompt(msgspec.Struct, frozen=True):
    """A permission dialog of the agent's client: its escalation, and the tool and its call if that is known.

    While it is fresh, another frame about a dialog is about this one.
    """

    ref: str
    call: str | None
    fresh: bool = True
    tool: str | None = None

    def aged(self) -> Prompt:
        return Prompt(self.ref, self.call, fresh=False, tool=self.tool)


class Facts(msgspec.Struct, frozen=True):
    """What the translator must know of a session beyond the frame itself."""

    role: str | None = None
    prompts: tuple[Prompt, ...] = ()
    mode: str = wire.DEFAULT_MODE
    stopping: bool = False  # somebody has stopped it: its end is theirs
    bead_id: str | None = None  # the work item that it says it is at


class Asks(NamedTuple):
    """How much a session wants of the operator."""

    waiting: int
    blocking: int  # of these


class Usage(msgspec.Struct, frozen=True):
    """What a session's turns took, as far as its client says; null is not known. Costs are millionths of a dollar."""

    tokens_in: int | None
    tokens_out: int | None
    cost_usd_micros: int | None


class Unsaved(msgspec.Struct, frozen=True):
    """What was only in a worktree when it was looked at: files that are not committed, commits that are not merged."""

    dirty: int
    unmerged: int
    seen_at: str


class RunView(msgspec.Struct, frozen=True):
    """What Gemba started: where it works, and how it ended. `trouble` is why it could not be started; nobody can type
    to a `headless` one. Once its worktree is released it has no folder, and a branch only if that stayed; `kept_as` is
    the reference that has what was not committed. What it printed is there until it is cleared."""

    title: str
    backend: str
    headless: bool
    folder: str | None
    branch: str | None
    dispatch_id: str | None
    wanted: bool
    started_by: str
    started_at: str | None
    ended_at: str | None
    code: int | None
    signal: int | None
    trouble: str | None
    unsaved: Unsaved | None
    released_at: str | None
    kept_as: str | None
    cleared_at: str | None


class SessionView(msgspec.Struct, frozen=True):
    """A session as the API and the page show it; without a `run` somebody else started it. `waiting` is how many of
    its asks nobody has answered."""

    id: str
    agent_type: str
    mode: str
    role: str | None
    lifecycle: Lifecycle
    reported_state: ReportedState | None
    note: str | None
    bead_id: str | None
    first_seen_at: str
    last_frame_at: str
    needs_you: bool
    waiting: int
    usage: Usage | None
    close_reason: str | None = None
    run: RunView | None = None


class Transcript(msgspec.Struct, frozen=True):
    """The end of what an agent shows, without escape sequences, and the command with which a person looks at it."""

    session_id: str
    text: str
    attach: str | None
