"""A workspace's `.gemba/team.toml`: what programs do the tasks of a capability, and the project's commands for gates.

    [capability.developer]          run by the built-in worker where a task asks for this capability
    run = "make build"
    artifact = "build.md"
    verify = "make test"
    output = "mixed"                its gate looks at the code too; at the artifact alone unless it is said

    [[command]]                     evidence at the gate of every task that changes code
    name = "tests"
    run = "make test"

`read_team_file` tells every fault of the file with its line. Called by whoever starts a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gemba import toml, typed, wire
from gemba.config import Finding, refused
from gemba.errors import Unusable
from gemba.teams.capabilities import GENERAL, shipped
from gemba.teams.command_tasks import command_faults
from gemba.teams.plan import DeclaredCommand
from gemba.teams.run import ProjectCommand
from gemba.toml import Fault, Place, nearest, quoted

FILE = "team.toml"
MOST_BYTES = 65_536
MOST_COMMANDS = 20
_DEEPEST = 8  # levels of a file that is looked at for lines


class TeamFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of team.toml. `capability`: commands by the name of a capability. `command`: the project's own; an
    empty list says that there are none, and None nothing."""

    capability: dict[str, DeclaredCommand] = {}
    command: tuple[ProjectCommand, ...] | None = None


def read_team_file(root: Path) -> TeamFile:
    """What the workspace at a folder says of its teams; nothing without the file. A fault is an Invalid."""
    path = root / ".gemba" / FILE
    try:
        if not path.exists():
            return TeamFile()
        if not path.is_file():  # a pipe would keep its reader waiting
            raise Unusable(f"{path} is not a file", code="team_unreadable")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}", code="team_unreadable") from None
    return parse_team_file(raw, path)


def parse_team_file(raw: bytes, path: Path | str = FILE) -> TeamFile:
    """The same of a file's bytes; the Invalid names the line of the first fault, and has all as `findings`."""
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "team_syntax") from None
    faults = [*toml.misfits(document, TeamFile), *_capability_names(document)]
    if not faults:
        made = typed.convert(document, TeamFile)
        faults = [*_programs(made), *_project_commands(made)]
        if not faults:
            return made
    lines: dict[Place, int] = {(): 1} if wire.is_deeper(document, _DEEPEST) else toml.places(text)
    findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
    raise refused(path, findings, "team_invalid")


def _capability_names(document: dict[str, Any]) -> Iterator[Fault]:
    known = [*(each.name for each in shipped().capabilities), GENERAL.name]
    table = document.get("capability")
    for name in table if isinstance(table, dict) else ():
        if name not in known:
            yield Fault(("capability", name), f"unknown capability {quoted(name)}{nearest(name, known)}")


def _programs(made: TeamFile) -> Iterator[Fault]:
    for name, command in made.capability.items():
        for fault in command_faults(command):
            place = ("capability", name, fault.field)
            yield Fault(place, f"{fault.field} is {quoted(fault.found)}; allowed: {fault.allowed}")


def _project_commands(made: TeamFile) -> Iterator[Fault]:
    """What is wrong with the project's commands although every value has its type."""
    commands = made.command or ()
    if len(commands) > MOST_COMMANDS:
        words = f"there are {len(commands)} commands; allowed: at most {MOST_COMMANDS}"
        yield Fault(("command", MOST_COMMANDS), words)
    names: set[str] = set()
    for at, command in enumerate(commands):
        for key, value in (("name", command.name), ("run", command.run)):
            if "\0" in value or not value.strip():
                yield Fault(("command", at, key), f"{key} is blank or has a NUL in it; allowed: a text")
        if command.name in names:
            yield Fault(("command", at, "name"), f"name is {quoted(command.name)}, which stands there twice")
        names.add(command.name)


def _where(place: Place) -> str:
    match place:
        case ("capability", str(name), _, *_):
            return f"[capability.{name[:60]}] "
        case ("command", int(number), _, *_):
            return f"command {number + 1}: "
    return ""
