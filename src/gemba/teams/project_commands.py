"""The commands of a project that are evidence at gates: those of `.gemba/team.toml`, else what it is built with.

Files are read and nothing is run; the same files give the same commands, each with the reason for it. Called by whoever
starts a run whose settings name none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from gemba import toml
from gemba.config import Finding, refused
from gemba.errors import Unusable
from gemba.teams.run import ProjectCommand

MOST_COMMANDS = 20
FILE = "team.toml"
_MOST_BYTES = 1024 * 1024
_TARGET = re.compile(r"^(test|lint|check)[ \t]*:(?![=:])", re.MULTILINE)
_NO_TEST = "no test specified"  # what npm writes into a package that has none
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_SECONDS: dict[str, int] = {"accuracy": 900, "consistency": 300}

_Dimension = Literal["accuracy", "consistency"]


class TeamFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `.gemba/team.toml` may say. With the file, its commands are all that there are; none is a choice too."""

    command: tuple[ProjectCommand, ...] = ()


class FoundCommand(msgspec.Struct, frozen=True):
    command: ProjectCommand
    reason: str


def project_commands(root: Path) -> list[FoundCommand]:
    """The commands of a workspace; an Invalid names the line of the first fault of its `team.toml`."""
    path = root / ".gemba" / FILE
    raw = _read(path)
    if raw is None:
        return detected(root)
    reason = f".gemba/{FILE} names it"
    return [FoundCommand(command, reason) for command in read_team_file(raw, path).command]


# ---- what a file says ------------------------------------------------------------------------------------------------


def read_team_file(raw: bytes, path: Path | str = FILE) -> TeamFile:
    """What the bytes of a file say, or an Invalid with all faults as `extra["findings"]`, each with its line."""
    try:
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "team_syntax") from None
    faults = [*toml.misfits(document, TeamFile), *_faults_of(document.get("command"))]
    if faults:
        lines = toml.places(text)
        found = [Finding(toml.line_of(fault.place, lines), _where(fault.place) + fault.words) for fault in faults]
        raise refused(path, found, "team_invalid")
    return msgspec.convert(document, TeamFile)


def _faults_of(listed: Any) -> Iterator[toml.Fault]:
    """What is wrong although every value has its type."""
    commands = listed if isinstance(listed, list) else []
    if len(commands) > MOST_COMMANDS:
        place = ("command", MOST_COMMANDS)
        yield toml.Fault(place, f"there are {len(commands)} commands; allowed: at most {MOST_COMMANDS}")
    names: set[str] = set()
    for number, command in enumerate(commands):
        for key, value in command.items() if isinstance(command, dict) else ():
            if isinstance(value, str) and ("\0" in value or (value and not value.strip())):
                yield toml.Fault(("command", number, key), f"{key} is blank or has a NUL in it; allowed: a text")
        name = command.get("name") if isinstance(command, dict) else None
        if isinstance(name, str):
            if name in names:
                yield toml.Fault(("command", number, "name"), f"name is {toml.quoted(name)}, which stands there twice")
            names.add(name)


def _where(place: toml.Place) -> str:
    match place:
        case ("command", int(number), str(), *_):
            return f"command {number + 1}: "
    return ""


def _read(path: Path) -> bytes | None:
    """None where there is no such file."""
    try:
        if not path.exists():
            return None
        if not path.is_file():  # a pipe would keep its reader waiting
            raise Unusable(f"{path} is not a file", code="team_unreadable")
        with path.open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}", code="team_unreadable") from None


# ---- what a project is built with ------------------------------------------------------------------------------------


def detected(root: Path) -> list[FoundCommand]:
    """What its build files say. A Makefile's targets go before all others: whoever writes one means it."""
    made = [*_make(root)]
    settled = {each.command.dimension for each in made}
    others = (each for find in (_python, _node, _cargo, _go) for each in find(root))
    found = [*made, *(each for each in others if each.command.dimension not in settled)]
    return sorted(found, key=lambda each: each.command.dimension)  # what tests before what only reads


def _found(name: str, run: str, dimension: _Dimension, reason: str) -> FoundCommand:
    return FoundCommand(ProjectCommand(name, run, dimension, _SECONDS[dimension]), reason)


def _make(root: Path) -> Iterator[FoundCommand]:
    name = next((name for name in _MAKEFILES if (root / name).is_file()), None)
    targets = set(_TARGET.findall(_text(root / name))) if name is not None else set()
    test = "test" if "test" in targets else "check" if "check" in targets else None
    if test is not None:
        yield _found("tests", f"make {test}", "accuracy", f"{name} has a target {test}")
    lint = "lint" if "lint" in targets else "check" if "check" in targets and test == "test" else None
    if lint is not None:
        yield _found("lint", f"make {lint}", "consistency", f"{name} has a target {lint}")


def _python(root: Path) -> Iterator[FoundCommand]:
    tools = _table(_toml(root / "pyproject.toml").get("tool"))
    if "pytest" in tools:
        yield _found("pytest", "python3 -m pytest -q", "accuracy", "pyproject.toml has [tool.pytest]")
    elif (root / "pytest.ini").is_file():
        yield _found("pytest", "python3 -m pytest -q", "accuracy", "there is a pytest.ini")
    if "ruff" in tools:
        yield _found("ruff", "ruff check .", "consistency", "pyproject.toml has [tool.ruff]")
    elif (name := next((name for name in ("ruff.toml", ".ruff.toml") if (root / name).is_file()), None)) is not None:
        yield _found("ruff", "ruff check .", "consistency", f"there is a {name}")


def _node(root: Path) -> Iterator[FoundCommand]:
    try:
        scripts = _table(_table(json.loads(_text(root / "package.json") or "{}")).get("scripts"))
    except (ValueError, RecursionError):
        return
    manager = next((run for lock, run in _MANAGERS.items() if (root / lock).is_file()), "npm")
    if isinstance(test := scripts.get("test"), str) and _NO_TEST not in test:
        yield _found(f"{manager} test", f"{manager} run test", "accuracy", "package.json has a script test")
    if isinstance(scripts.get("lint"), str):
        yield _found(f"{manager} lint", f"{manager} run lint", "consistency", "package.json has a script lint")


def _cargo(root: Path) -> Iterator[FoundCommand]:
    if (root / "Cargo.toml").is_file():
        yield _found("cargo test", "cargo test --quiet", "accuracy", "there is a Cargo.toml")


def _go(root: Path) -> Iterator[FoundCommand]:
    if (root / "go.mod").is_file():
        yield _found("go test", "go test ./...", "accuracy", "there is a go.mod")
        yield _found("go vet", "go vet ./...", "consistency", "there is a go.mod")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return toml.load(_text(path).encode())[1]
    except toml.NotToml:
        return {}


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(path: Path) -> str:
    """The beginning of a file; empty where there is none, or none that can be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
