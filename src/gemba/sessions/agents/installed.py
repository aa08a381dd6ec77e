"""Which clients are installed here, and in which version, without starting any of them.

A client may take seconds to start, and may ask somebody on the network before it says its version. So the version is
read from where the program lies: the package of npm that it belongs to, or a folder of its path that is called like
one, as Homebrew and the clients' own installers have it. Where neither tells, it is not known. Called by `gemba init`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gemba.sessions.agents.agent import Agent, program_of, usable

_VERSION = re.compile(r"v?(\d{1,6}\.\d{1,6}(?:\.\d{1,6})?(?:[-+.][0-9A-Za-z.-]{1,30})?)")
_LARGEST_PACKAGE = 262_144
_NEAR = 2  # folders above one that is called like a version: one of them is called like the program


class Client(msgspec.Struct, frozen=True):
    """A program, and the types of agents that start it; `path` is None where it is not installed. `why_not` has the
    types that cannot be started though it is."""

    program: str
    path: str | None
    version: str | None
    types: list[str]
    why_not: dict[str, str]


def find_clients(agents: Iterable[Agent], folder: Path) -> list[Client]:
    """The clients that Gemba knows, and the programs of the workspace's own types; those that are installed first."""
    by_program: dict[str, list[Agent]] = {}
    for agent in agents:
        program = program_of(agent)
        if program is not None and (agent.hooks != "none" or agent.origin == "workspace"):
            by_program.setdefault(program, []).append(agent)
    found = [_client(program, types, folder) for program, types in by_program.items()]
    return sorted(found, key=lambda client: client.path is None)


def _client(program: str, agents: list[Agent], folder: Path) -> Client:
    path = shutil.which(str(folder / program) if "/" in program else program)
    reasons = {agent.name: usable(agent, folder) for agent in agents}
    why_not = {name: reason for name, reason in reasons.items() if path is not None and reason is not None}
    types = [name for name, reason in reasons.items() if path is None or reason is None]
    return Client(program, path, None if path is None else version_of(Path(path)), types, why_not)


def version_of(path: Path) -> str | None:
    """The version of the program at a path, as far as the files around it tell."""
    try:
        real = path.resolve()
        return _of_package(real) if "node_modules" in real.parts else _of_path(path.name, real)
    except (OSError, RuntimeError, IndexError):  # a circle of links; nothing below node_modules
        return None


def _of_package(real: Path) -> str | None:
    place = len(real.parts) - 1 - real.parts[::-1].index("node_modules")
    names = 2 if real.parts[place + 1].startswith("@") else 1
    file = Path(*real.parts[: place + 1 + names], "package.json")
    with file.open("rb") as stream:
        raw = stream.read(_LARGEST_PACKAGE + 1)
    try:
        told = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    version = told.get("version") if isinstance(told, dict) else None
    return _as_version(version) if isinstance(version, str) else None


def _of_path(name: str, real: Path) -> str | None:
    parts = real.parts
    for place in range(len(parts) - 1, 0, -1):
        version = _as_version(parts[place])
        if version is not None and any(name in part for part in parts[max(0, place - _NEAR) : place]):
            return version
    return None


def _as_version(text: str) -> str | None:
    found = _VERSION.fullmatch(text)
    return None if found is None else found[1]
