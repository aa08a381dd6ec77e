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
from gemba.teams.run import ProjectCommand
from gemba.teams.team_file import FILE, read_team_file

_MOST_BYTES = 1024 * 1024
_TARGET = re.compile(r"^(test|lint|check)[ \t]*:(?![=:])", re.MULTILINE)
_NO_TEST = "no test specified"  # what npm writes into a package that has none
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_SECONDS: dict[str, int] = {"accuracy": 900, "consistency": 300}

_Dimension = Literal["accuracy", "consistency"]


class FoundCommand(msgspec.Struct, frozen=True):
    command: ProjectCommand
    reason: str


def project_commands(root: Path) -> list[FoundCommand]:
    """The commands of a workspace; an Invalid names the line of the first fault of its `team.toml`. What names commands
    there, or says that there are none, goes before what the project's files say."""
    declared = read_team_file(root).command
    if declared is None:
        return detected(root)
    return [FoundCommand(command, f".gemba/{FILE} names it") for command in declared]


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
