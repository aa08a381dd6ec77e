"""The demo's content as types: the project's commits, and what each agent lives through. Pure but for `load_…`."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Literal

import msgspec

from gemba import typed, wire


class Commit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One commit of the project's past."""

    hours_ago: int
    author: str
    message: str
    files: dict[str, str]


class Handoff(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contract in which a turn ends: its status, what was looked at, and what came of it.

    `{answer}` stands for the operator's words here too. What a refused command would have brought is left out.
    """

    status: Literal["IN_PROGRESS", "COMPLETE", "NEEDS_INPUT"]
    read: list[str]  # files that the agent has looked at
    result: str  # how the turn's command ended
    outputs: list[str]
    check: str = ""  # the command with which the agent checks its work in the end, and how that ended
    check_result: str = ""
    next_action: str = "none"
    pending: list[str] = []
    summary: str = ""  # for the person
    remember: dict[str, str] | None = None
    update: ContractUpdate | None = None
    slip: str = ""  # a status that there is not, which the agent writes the first time


class ContractUpdate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a turn found out about the project, for one section of its knowledge."""

    contract: str
    payload: dict[str, Any]


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """Some work, then something that concerns the operator, then a line that says how the agent goes on.

    `{answer}` in that line stands for the operator's words. With `minutes_ago` it has happened before the demo.
    """

    run: str  # the command that the agent's client is shown to run
    work: list[str]
    answered: str
    declined: str = ""
    minutes_ago: int | None = None
    handoff: Handoff | None = None
    finishes: bool = False  # the agent hands its work item in, and takes its next one


class Ask(Turn, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An ask of `gemba-ask`. An agent that does not wait says what it does meanwhile."""

    title: str
    text: str
    options: list[str] = []
    schema: dict[str, Any] | None = None
    meanwhile: str = ""
    answered_before: str = ""  # what an earlier session of this agent was told when it asked the same

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)


class Question(Ask, frozen=True, forbid_unknown_fields=True, tag="question"):
    """May block or not, by the agent's mode."""


class Blocker(Ask, frozen=True, forbid_unknown_fields=True, tag="blocker"):
    """Blocks."""


class Assumption(Turn, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="assumption"):
    """A decision that the agent takes alone, and the commit that follows from it. An answer overturns it."""

    text: str
    chose: str
    file: str
    adds: str
    message: str


class Permission(Turn, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="permission"):
    """A dialog of the agent's client: may it run this command?"""

    why: str


class Approval(Turn, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="approval"):
    """Something is written and committed; then a command that changes something waits for the operator."""

    file: str
    adds: str
    message: str


class Input(Turn, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="input"):
    """The turn ends, as its handoff says, because a person has to choose: the answer starts the next one."""

    handoff: Handoff


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work that an agent was given, as a dispatch: all of its turns end in a handoff."""

    goal: str
    acceptance_criteria: list[str]
    targets: list[str]


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent: who it is, how much it may interrupt, and its turns."""

    name: str
    mode: Literal["dangerous", "balanced", "cautious"]
    role: Literal["coach", "manager"]
    bead: str
    waits: bool
    turn: list[Question | Blocker | Assumption | Permission | Approval | Input]
    branch: str = "main"
    assignment: Assignment | None = None
    then: list[str] = []  # the work items that it takes after its first, as far as they are ready

    def blocks(self, turn: Turn) -> bool:
        """Does the agent stand still until this is answered?"""
        return isinstance(turn, Ask) and wire.urgency_of(turn.kind, self.mode) == "blocking"


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The demo's project: its commits, and what it adds to the files of a new workspace."""

    settings: dict[str, str]
    commit: list[Commit]


class _Stories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: list[Story]


def load_project() -> Project:
    return typed.convert(read_data("project.toml"), Project)


def load_stories() -> dict[str, Story]:
    return {story.name: story for story in typed.convert(read_data("stories.toml"), _Stories).agent}


def read_data(name: str) -> dict[str, object]:
    return tomllib.loads((resources.files("gemba.demo") / name).read_text(encoding="utf-8"))
