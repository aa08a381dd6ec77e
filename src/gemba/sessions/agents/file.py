"""Which types of agents a workspace has: the shipped ones, and what its `.gemba/agents.toml` changes and adds.

A type of the file goes over the shipped one of its name key by key, variables and limits one by one. The shipped types
are data of the package, read in the same way. Every fault of the file is told with its line: `read_agents` takes a
file that is right or none of it, `sound_agents` every type that has no fault. Called by whoever starts sessions,
`gemba agents` and the doctor.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gemba import toml, typed
from gemba.config import Finding, Workspace, refused
from gemba.errors import Invalid, NotFound, Unusable
from gemba.sessions.agents.agent import Agent, AgentSettings, Origin
from gemba.sessions.agents.check import Tables, contradictions, faults_of, in_words, tables_of
from gemba.toml import Fault, Place, nearest, quoted

MOST_BYTES = 65_536  # of the file
_SHIPPED = Path(__file__).with_name("agents.toml")
_MERGED = ("environment", "limits")  # their keys go one by one


class AgentsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of agents.toml; `[agents.<name>]` is another spelling of `[agent.<name>]`."""

    agent: dict[str, AgentSettings] = {}
    agents: dict[str, AgentSettings] = {}


class Sound(NamedTuple):
    """The types that can be used, and why not those in which a fault lies. `fault` lies in none of them: what
    is no type of the file may have been meant as one."""

    agents: dict[str, Agent]
    faulty: dict[str, Invalid]
    fault: Invalid | None


def read_agents(workspace: Workspace) -> dict[str, Agent]:
    """Every type that the workspace has, by name, the shipped ones first; a fault is an Invalid, as below."""
    return parse_agents(_read(workspace), agents_path(workspace))


def sound_agents(workspace: Workspace) -> Sound:
    """The same as far as the file is right."""
    return parse_sound(_read(workspace), agents_path(workspace))


def _read(workspace: Workspace) -> bytes:
    path = agents_path(workspace)
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="agents_unreadable") from None


def agents_path(workspace: Workspace) -> Path:
    return workspace.folder / "agents.toml"


def find_agent(agents: dict[str, Agent], name: str) -> Agent:
    """The type of that name; NotFound says which there are."""
    if name not in agents:
        raise NotFound(f"no agent type is called {quoted(name)}{nearest(name, agents)}", code="not_found")
    return agents[name]


def find_sound(found: Sound, name: str) -> Agent:
    """The type of that name; its fault, or the file's where nobody can tell whether it says what the type is."""
    fault = found.faulty.get(name) or (found.fault if name not in found.agents else None)
    if fault is not None:
        raise fault
    return find_agent(found.agents, name)


def parse_agents(raw: bytes, path: Path | str = "agents.toml") -> dict[str, Agent]:
    """The types that a file's bytes make of the shipped ones, or an Invalid that names the line of the first fault and
    has all of them as `extra["findings"]`.
    """
    return dict(_parsed(raw, path))


@lru_cache(maxsize=4)
def _parsed(raw: bytes, path: Path | str) -> dict[str, Agent]:
    """Kept by what the file says: every start of a session reads it."""
    return _over(raw, path, shipped_tables())


@cache
def shipped_tables() -> Tables:
    """What the package's own file says, checked like any other."""
    raw = _SHIPPED.read_bytes()
    _over(raw, _SHIPPED, {})
    return dict(toml.load(raw)[1]["agent"])


def parse_sound(raw: bytes, path: Path | str = "agents.toml") -> Sound:
    """What a file's bytes make of the shipped types, without those in which a fault lies. Of what is no TOML nobody can
    tell what it changes: then the shipped types are left that it does not even name."""
    try:
        return Sound(parse_agents(raw, path), {}, None)
    except Invalid as error:
        whole = error
    shipped = shipped_tables()
    try:
        text, document = _loaded(raw, path)
    except Invalid:
        named = {name for name in shipped if len(raw) > MOST_BYTES or name.encode() in raw}
        agents = {name: _agent(name, table, "shipped") for name, table in shipped.items() if name not in named}
        return Sound(agents, dict.fromkeys(sorted(named), whole), whole)
    words = in_words(document)
    faults = [*faults_of(document), *toml.misfits(words, AgentsFile)]
    own = [(place, table) for place, table in tables_of(words) if place[1] not in _named(faults)]
    made = shipped | {name: _merged(shipped.get(name, {}), table) for (_, name), table in own}
    faults += contradictions(made, own)
    bad, named = _named(faults), {name for (_, name), _ in own}
    agents = {
        name: _agent(name, table, _origin(name in shipped, name in named))
        for name, table in made.items()
        if name not in bad
    }
    elsewhere = [fault for fault in faults if not _is_in_type(fault)]
    return Sound(
        agents,
        {name: _refused(path, text, bad[name]) for name in sorted(bad)},
        _refused(path, text, elsewhere) if elsewhere else None,
    )


def _named(faults: Iterable[Fault]) -> dict[str, list[Fault]]:
    """By type, the faults that lie in one."""
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        if _is_in_type(fault):
            found.setdefault(str(fault.place[1]), []).append(fault)
    return found


def _is_in_type(fault: Fault) -> bool:
    return len(fault.place) > 1 and fault.place[0] in AgentsFile.__struct_fields__


def _loaded(raw: bytes, path: Path | str) -> tuple[str, dict[str, Any]]:
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        return toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "agents_syntax") from None


def _refused(path: Path | str, text: str, faults: Iterable[Fault]) -> Invalid:
    lines = toml.places(text)
    findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
    return refused(path, findings, "agents_invalid")


def _over(raw: bytes, path: Path | str, shipped: Tables) -> dict[str, Agent]:
    text, document = _loaded(raw, path)
    faults = [*faults_of(document), *toml.misfits(in_words(document), AgentsFile)]
    own = [] if faults else list(tables_of(in_words(document)))
    made = shipped | {name: _merged(shipped.get(name, {}), table) for (_, name), table in own}
    faults += contradictions(made, own)
    if faults:
        raise _refused(path, text, faults)
    named = {name for (_, name), _ in own}
    return {name: _agent(name, table, _origin(name in shipped, name in named)) for name, table in made.items()}


def _merged(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A type of the file over the shipped one."""
    return shipped | own | {key: {**shipped.get(key, {}), **own[key]} for key in _MERGED if key in own}


def _origin(is_shipped: bool, is_named: bool) -> Origin:
    return "workspace" if not is_shipped else "changed" if is_named else "shipped"


def _agent(name: str, table: dict[str, Any], origin: Origin) -> Agent:
    on_pipes = table.get("backend", "process") == "process" and table.get("terminal", "pipe") == "pipe"
    return typed.convert({"headless": on_pipes, **table, "name": name, "origin": origin}, Agent)


def _where(place: Place) -> str:
    """What a place belongs to, as its sentence begins."""
    match place:
        case ("agent" | "agents", str(name), "limits" | "environment" as table, _, *_):
            return f"agent {quoted(name)}: {table}: "
        case ("agent" | "agents", str(name), *_):
            return f"agent {quoted(name)}: "
    return ""
