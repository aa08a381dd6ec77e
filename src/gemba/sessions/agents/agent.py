"""The types of agents: what is started, how it gets its prompt, what it may use, and whether it can run here.

`Agent` is one type as a session uses it. `agents_file` reads them, shipped and of the workspace; `launch` makes of one
what a backend starts. Nothing is started here: `usable` looks for programs and variables alone.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from gemba.errors import Unusable

Mode = Literal["dangerous", "balanced", "cautious"]
Way = Literal["argument", "stdin", "file", "mcp", "none"]
Origin = Literal["shipped", "changed", "workspace"]
DRIVEN = ("codex", "gemini", "opencode")  # profiles of clients that take one prompt and end: the driver runs them
Seconds = Annotated[int, msgspec.Meta(ge=0, le=2_592_000, description="whole seconds up to 30 days; 0 for no limit")]

# What every run is given by Gemba itself, so no type says otherwise.
OWN_VARIABLES = frozenset(
    f"GEMBA_{name}"
    for name in ("RUN_ID", "SESSION_ID", "WORKSPACE", "ROLE", "AGENT_TYPE", "INTERACTION_MODE", "HOME", "DISPATCH_ID")
)
_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[agent.<name>.limits]`, for each session of that type. 0 is no limit, but for what it prints."""

    max_seconds: Seconds = 0  # then it is stopped
    output_bytes: Annotated[int, msgspec.Meta(ge=65_536, le=1_073_741_824)] = 16_777_216  # of its transcript
    stalled_after_seconds: Seconds = 900  # without a frame while it says that it works
    no_progress_seconds: Seconds = 7_200  # without a commit, a tool that ran or a state that it reported
    runs_per_hour: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 120


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[agent.<name>]` of agents.toml; what it does not say stands here, or with the shipped type of that name."""

    description: Annotated[str, msgspec.Meta(max_length=200)] = ""
    command: Annotated[tuple[str, ...], msgspec.Meta(description="a list of words, or one text")] = ()
    interaction_mode: Mode = "balanced"
    backend: Literal["tmux", "process"] = "process"
    terminal: Literal["pipe", "pty"] = "pipe"  # on the process backend
    prompt: Way = "stdin"
    instructions: str = ""  # the file of the worktree that the client reads by itself; without one "" and no block
    hooks: Literal["claude", "codex", "gemini", "opencode", "none"] = "none"  # see `profiles`
    resume: Annotated[tuple[str, ...], msgspec.Meta(description="a list of words, or one text")] = ()
    headless: bool | None = None  # nobody can type to it, and it ends with its turn; if nothing is said: on pipes
    environment: dict[str, str] = {}
    max_parallel: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 16
    auto_dispatch: bool = False  # ready work may be given to it without a person, where the workspace allows that
    limits: Limits = Limits()


class Agent(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One type, whole. `origin`: as shipped, shipped and changed by the workspace, or the workspace's own."""

    name: str
    origin: Origin
    headless: bool

    @property
    def takes_task(self) -> bool:
        """Whether anything reads a task that it is started with: itself, or its client in the instructions file."""
        return self.prompt != "none" or bool(self.instructions)

    @property
    def is_driven(self) -> bool:
        """It is given prompt after prompt by the driver, and closed when there is nothing left to say to it."""
        return self.hooks in DRIVEN


def reference_of(value: str) -> str | None:
    """The variable of the server's environment that a value names; None for a text that is meant as it stands."""
    found = _REFERENCE.fullmatch(value)
    return None if found is None else found[1]


def environment_of(agent: Agent, surroundings: Mapping[str, str]) -> dict[str, str]:
    """The variables that the type sets, with those it takes from elsewhere; Unusable when one of them is not set."""
    missing = _missing(agent, surroundings)
    if missing:
        raise Unusable(f"agent {agent.name}: {_not_set(missing)}", code="environment_missing")
    return {
        name: surroundings[taken] if (taken := reference_of(value)) is not None else value.removeprefix("$")
        for name, value in agent.environment.items()
    }


def program_of(agent: Agent) -> str | None:
    """The program that is started, before it is looked for; None where the type names none."""
    return agent.command[0].replace("{python}", sys.executable) if agent.command else None


def usable(agent: Agent, folder: Path, surroundings: Mapping[str, str] | None = None) -> str | None:
    """Why no session of this type can start in a workspace, as a person would say it; None when it can.

    A program with a slash in its name is looked for from the workspace's folder on, others on the agent's own PATH.
    """
    given = os.environ if surroundings is None else surroundings
    program = program_of(agent)
    if program is None:
        return f"no command is given: set one under [agent.{agent.name}] in .gemba/agents.toml"
    if missing := _missing(agent, given):
        return _not_set(missing)
    path = {**given, **environment_of(agent, given)}.get("PATH", os.defpath)
    if os.sep in program:
        if shutil.which(str(folder / program)) is None:
            return f"{program} is not there, or cannot be run"
    elif shutil.which(program, path=path) is None:
        return f"{program} is not on PATH"
    if agent.backend == "tmux" and shutil.which("tmux", path=given.get("PATH", os.defpath)) is None:
        return "tmux is not on PATH"
    return None


def _missing(agent: Agent, surroundings: Mapping[str, str]) -> list[str]:
    taken = (reference_of(value) for value in agent.environment.values())
    return [name for name in taken if name is not None and name not in surroundings]


def _not_set(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not set in the environment of this process"
