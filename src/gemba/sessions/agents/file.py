"""Which types of agents a workspace has: the shipped ones, and what its `.gemba/agents.toml` changes and adds.

A type of the file goes over the shipped one of its name key by key, variables and limits one by one. The shipped types
are data of the package, read in the same way. Every fault of the file is told with its line, and then none of it is
used. Called by whoever starts sessions, `gemba agents` and the doctor.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gemba import toml
from gemba.config import Finding, Workspace, refused
from gemba.errors import NotFound, Unusable
from gemba.sessions.agents.agent import Agent, AgentSettings, Origin
from gemba.sessions.agents.check import Tables, contradictions, faults_of, in_words, tables_of
from gemba.toml import Place, nearest, quoted

MOST_BYTES = 65_536  # of the file
_SHIPPED = Path(__file__).with_name("agents.toml")
_MERGED = ("environment", "limits")  # their keys go one by one


class AgentsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of agents.toml; `[agents.<name>]` is another spelling of `[agent.<name>]`."""

    agent: dict[str, AgentSettings] = {}
    agents: dict[str, AgentSettings] = {}


def read_agents(workspace: Workspace) -> dict[str, Agent]:
    """Every type that the workspace has, by name, the shipped ones first; a fault is an Invalid, as below."""
    path = agents_path(workspace)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raw = b""
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="agents_unreadable") from None
    return parse_agents(raw, path)


def agents_path(workspace: Workspace) -> Path:
    return workspace.folder / "agents.toml"


def find_agent(agents: dict[str, Agent], name: str) -> Agent:
    """The type of that name; NotFound says which there are."""
    if name not in agents:
        raise NotFound(f"no agent type is called {quoted(name)}{nearest(name, agents)}", code="not_found")
    return agents[name]


def parse_agents(raw: bytes, path: Path | str = "agents.toml") -> dict[str, Agent]:
    """The types that a file's bytes make of the shipped ones, or an Invalid that names the line of the first fault and
    has all of them as `extra["findings"]`.
    """
    return _over(raw, path, shipped_tables())


@cache
def shipped_tables() -> Tables:
    """What the package's own file says, checked like any other."""
    raw = _SHIPPED.read_bytes()
    _over(raw, _SHIPPED, {})
    return dict(toml.load(raw)[1]["agent"])


def _over(raw: bytes, path: Path | str, shipped: Tables) -> dict[str, Agent]:
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "agents_syntax") from None
    faults = [*faults_of(document), *toml.misfits(in_words(document), AgentsFile)]
    own = [] if faults else list(tables_of(in_words(document)))
    made = shipped | {name: _merged(shipped.get(name, {}), table) for (_, name), table in own}
    faults += contradictions(made, own)
    if faults:
        lines = toml.places(text)
        findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
        raise refused(path, findings, "agents_invalid")
    named = {name for (_, name), _ in own}
    return {name: _agent(name, table, _origin(name in shipped, name in named)) for name, table in made.items()}


def _merged(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A type of the file over the shipped one."""
    return shipped | own | {key: {**shipped.get(key, {}), **own[key]} for key in _MERGED if key in own}


def _origin(is_shipped: bool, is_named: bool) -> Origin:
    return "workspace" if not is_shipped else "changed" if is_named else "shipped"


def _agent(name: str, table: dict[str, Any], origin: Origin) -> Agent:
    on_pipes = table.get("backend", "process") == "process" and table.get("terminal", "pipe") == "pipe"
    return msgspec.convert({"headless": on_pipes, **table, "name": name, "origin": origin}, Agent)


def _where(place: Place) -> str:
    """What a place belongs to, as its sentence begins."""
    match place:
        case ("agent" | "agents", str(name), "limits" | "environment" as table, _, *_):
            return f"agent {quoted(name)}: {table}: "
        case ("agent" | "agents", str(name), *_):
            return f"agent {quoted(name)}: "
    return ""
