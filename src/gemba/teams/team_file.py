"""A workspace's `.gemba/team.toml`: what programs do the tasks of a capability, and the project's commands for gates.

    [capability.developer]          run by the built-in worker where a task asks for this capability
    run = "make build"
    artifact = "build.md"
    verify = "make test"

    [[command]]                     evidence at the gate of every task that changes code
    name = "tests"
    run = "make test"

`read_team_file` tells every fault of the file with its line. Called by whoever starts a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gemba import toml, wire
from gemba.config import Finding, refused
from gemba.errors import Unusable
from gemba.teams.capabilities import GENERAL, shipped
from gemba.teams.command_tasks import command_faults
from gemba.teams.plan import CommandTask
from gemba.teams.run import ProjectCommand
from gemba.toml import Fault, Place, nearest, quoted

MOST_BYTES = 65_536
MOST_COMMANDS = 20
_DEEPEST = 8  # levels of a file that is looked at for lines


class TeamFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of team.toml. `capability`: commands by the name of a capability; `command`: the project's own."""

    capability: dict[str, CommandTask] = {}
    command: Annotated[tuple[ProjectCommand, ...], msgspec.Meta(max_length=MOST_COMMANDS)] = ()


def read_team_file(root: Path) -> TeamFile:
    """What the workspace at a folder says of its teams; nothing without the file. A fault is an Invalid."""
    path = root / ".gemba" / "team.toml"
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return TeamFile()
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="team_file_unreadable") from None
    return parse_team_file(raw, path)


def parse_team_file(raw: bytes, path: Path | str = "team.toml") -> TeamFile:
    """The same of a file's bytes; the Invalid names the line of the first fault, and has all as `findings`."""
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "team_file_syntax") from None
    faults = [*toml.misfits(document, TeamFile), *_capability_names(document)]
    if not faults:
        made = msgspec.convert(document, TeamFile) if not _too_many(document) else TeamFile()
        faults = [*_too_many(document), *_commands(made), *_names_twice(made)]
        if not faults:
            return made
    lines: dict[Place, int] = {(): 1} if wire.is_deeper(document, _DEEPEST) else toml.places(text)
    findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
    raise refused(path, findings, "team_file_invalid")


def _capability_names(document: dict[str, Any]) -> Iterator[Fault]:
    known = [*(each.name for each in shipped().capabilities), GENERAL.name]
    table = document.get("capability")
    for name in table if isinstance(table, dict) else ():
        if name not in known:
            yield Fault(("capability", name), f"unknown capability {quoted(name)}{nearest(name, known)}")


def _too_many(document: dict[str, Any]) -> list[Fault]:
    many = len(document.get("command", ()))
    words = f"there are {many:,} commands; allowed: {MOST_COMMANDS}"
    return [Fault(("command", MOST_COMMANDS), words)] if many > MOST_COMMANDS else []


def _commands(made: TeamFile) -> Iterator[Fault]:
    for name, command in made.capability.items():
        for fault in command_faults(command):
            place = ("capability", name, fault.field)
            yield Fault(place, f"{fault.field} is {quoted(fault.found)}; allowed: {fault.allowed}")


def _names_twice(made: TeamFile) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for at, command in enumerate(made.command):
        if first.setdefault(command.name, at) != at:
            yield Fault(("command", at, "name"), f"name is {quoted(command.name)}, which is there already")


def _where(place: Place) -> str:
    match place:
        case ("capability", str(name), _, *_):
            return f"[capability.{name[:60]}] "
        case ("command", int(number), _, *_):
            return f"command {number + 1}: "
    return ""
