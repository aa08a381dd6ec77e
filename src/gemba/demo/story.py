"""The demo's content as types: the project's commits, and what each agent lives through. Pure but for `load_…`."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Literal

import msgspec

from gemba import wire


class Commit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One commit of the project's past."""

    hours_ago: int
    author: str
    message: str
    files: dict[str, str]


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """Some work, then something that concerns the operator, then a line that says how the agent goes on.

    `{answer}` in that line stands for the operator's words. With `minutes_ago` it has happened before the demo.
    """

    run: str  # the command that the agent's client is shown to run
    work: list[str]
    answered: str
    declined: str = ""
    minutes_ago: int | None = None


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


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent: who it is, how much it may interrupt, and its turns."""

    name: str
    mode: Literal["dangerous", "balanced", "cautious"]
    role: Literal["coach", "manager"]
    bead: str
    waits: bool
    turn: list[Question | Blocker | Assumption | Permission]
    branch: str = "main"

    def blocks(self, turn: Turn) -> bool:
        """Does the agent stand still until this is answered?"""
        return isinstance(turn, Ask) and wire.urgency_of(turn.kind, self.mode) == "blocking"


class _Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    commit: list[Commit]


class _Stories(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: list[Story]


def load_project() -> list[Commit]:
    return msgspec.convert(_read("project.toml"), _Project).commit


def load_stories() -> dict[str, Story]:
    return {story.name: story for story in msgspec.convert(_read("stories.toml"), _Stories).agent}


def _read(name: str) -> dict[str, object]:
    return tomllib.loads((resources.files("gemba.demo") / name).read_text(encoding="utf-8"))
