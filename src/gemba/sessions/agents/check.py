"""What is wrong with types of agents although every value has its type. Pure: what a file says in, faults out.

A type that passes names a program, gets its prompt in a way that its backend has, and says nothing that Gemba says
itself. Whether its program is there is another question: see `agent.usable`. Called by `file`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from gemba.sessions.agents.agent import DRIVEN, OWN_VARIABLES, reference_of
from gemba.toml import Fault, Place, quoted

MOST_AGENTS = 100
MOST_WORDS = 200  # of a command
_SPELLINGS = ("agent", "agents")  # of one table
_COMMANDS = ("command", "resume")
_WAITING = "command"  # the shipped type whose command is the workspace's to give

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME_RULE = "letters, digits, - _ . and at most 64 of them"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FILE = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_. -]{0,99}")
_FILE_RULE = "the name of a file at the top of the worktree, such as CLAUDE.md, or an empty text"
_COMMAND_RULE = 'a program and its words, as a list such as ["claude", "-p"], or as one text'
_VALUE_RULE = "$NAME alone for a variable of the server's, $$ for a text that begins with $"

Tables = dict[str, dict[str, Any]]
Written = tuple[tuple[str, str], dict[str, Any]]  # where a type stands in the file, and what is written there


def tables_of(document: dict[str, Any]) -> Iterator[Written]:
    """Every type of a file that is a table at all."""
    for spelling in _SPELLINGS:
        agents = document.get(spelling)
        if isinstance(agents, dict):
            yield from (((spelling, name), agent) for name, agent in agents.items() if isinstance(agent, dict))


def in_words(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each command as a list of words, also where it is one text that can be split."""
    split = {
        place: agent | {key: _split(agent[key]) for key in _COMMANDS if key in agent}
        for place, agent in tables_of(document)
    }
    return document | {
        spelling: {name: split.get((spelling, name), agent) for name, agent in agents.items()}
        for spelling in _SPELLINGS
        if isinstance(agents := document.get(spelling), dict)
    }


def _split(command: Any) -> Any:
    try:
        return shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        return []


def faults_of(document: dict[str, Any]) -> Iterator[Fault]:
    """Faults in the meaning of what has its type, whatever else is wrong."""
    written = dict(tables_of(document))
    if len(written) > MOST_AGENTS:
        yield Fault(next(iter(written))[:1], f"there are {len(written)} agents; allowed: at most {MOST_AGENTS}")
    for place, agent in written.items():
        spelling, name = place
        if not _NAME.fullmatch(name):
            yield Fault(place, f"this name cannot be used; allowed: {_NAME_RULE}")
        if spelling == "agents" and ("agent", name) in written:
            yield Fault(place, f"this type stands in the file twice; allowed: once, as [agent.{name}]")
        for key in _COMMANDS:
            yield from _command_faults((*place, key), agent.get(key))
        yield from _file_faults((*place, "instructions"), agent.get("instructions"))
        yield from _variable_faults((*place, "environment"), agent.get("environment"))


def _command_faults(place: Place, command: Any) -> Iterator[Fault]:
    key = place[-1]
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            yield Fault(place, f"{key} cannot be split into words: {error}; allowed: {_COMMAND_RULE}")
            return
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        if not command or not command[0].strip():
            yield Fault(place, f"{key} names no program; allowed: {_COMMAND_RULE}")
        if len(command) > MOST_WORDS:
            yield Fault(place, f"{key} has {len(command)} words; allowed: at most {MOST_WORDS}")
        if any("\x00" in word for word in command):
            yield Fault(place, f"{key} has a NUL character, which no program can be given")


def _file_faults(place: Place, file: Any) -> Iterator[Fault]:
    if isinstance(file, str) and file and (not _FILE.fullmatch(file) or not file.strip(". ")):
        yield Fault(place, f"instructions is {quoted(file)}; allowed: {_FILE_RULE}")


def _variable_faults(place: Place, environment: Any) -> Iterator[Fault]:
    for name, value in environment.items() if isinstance(environment, dict) else ():
        if not _VARIABLE.fullmatch(name):
            yield Fault((*place, name), f"{quoted(name)} is no variable's name; allowed: letters, digits and _")
        elif name in OWN_VARIABLES:
            yield Fault((*place, name), f"{name} is set by Gemba itself, for every session")
        if not isinstance(value, str):
            continue
        if "\x00" in value:
            yield Fault((*place, name), f"{name} has a NUL character, which no program can be given")
        if value.startswith("$") and not value.startswith("$$") and reference_of(value) is None:
            yield Fault((*place, name), f"{name} begins with $ and names no variable; allowed: {_VALUE_RULE}")


def contradictions(whole: Tables, written: Iterable[Written]) -> Iterator[Fault]:
    """What does not go together in the types of a file, each of which is `whole` once it lies over the shipped one."""
    for place, own in written:
        agent = whole[place[1]]
        in_tmux, prompt = agent.get("backend") == "tmux", agent.get("prompt", "stdin")
        if "command" not in agent and place[1] != _WAITING:
            yield Fault((*place, "command"), f"command is missing; allowed: {_COMMAND_RULE}")
        if in_tmux and "terminal" in own:
            yield Fault((*place, "terminal"), "terminal goes with backend process: tmux has a terminal of its own")
        yield from _driving_faults(place, agent, own)
        if in_tmux and prompt == "stdin" and not _is_driven(agent):
            key = "prompt" if "prompt" in own else "backend"
            yield Fault(
                (*place, key),
                "prompt is stdin, which is the keyboard in tmux; allowed there: argument, file, mcp, none",
            )
        if prompt == "stdin" and any("{prompt}" in word for word in agent.get("command", ())):
            key = "command" if "command" in own else "prompt"
            yield Fault((*place, key), "prompt is stdin, and command has {prompt}: the prompt goes one way alone")
        if prompt == "file" and not agent.get("instructions"):
            key = "instructions" if "instructions" in own else "prompt"
            yield Fault((*place, key), "prompt is file, and instructions names no file; allowed: such as CLAUDE.md")


def _is_driven(agent: dict[str, Any]) -> bool:
    return agent.get("hooks") in DRIVEN


def _driving_faults(place: Place, agent: dict[str, Any], own: dict[str, Any]) -> Iterator[Fault]:
    """What the driver needs, beside what any type does."""
    if not _is_driven(agent):
        if "resume" in own:
            yield Fault((*place, "resume"), f"resume goes with hooks of a client that is driven: {', '.join(DRIVEN)}")
        return
    hooks = agent["hooks"]
    if not any("{conversation}" in word for word in agent.get("resume", ())):
        said = f"hooks is {hooks}, and resume has no {{conversation}}; allowed: the words that take it up again"
        yield Fault((*place, "resume" if "resume" in own else "hooks"), said)
    if agent.get("prompt", "stdin") != "stdin":
        key = "prompt" if "prompt" in own else "hooks"
        yield Fault((*place, key), f"hooks is {hooks}, whose driver gives each prompt on stdin; allowed: prompt stdin")
    if agent.get("backend") != "tmux" and agent.get("terminal") != "pty":
        key = "terminal" if "terminal" in own else "hooks"
        yield Fault((*place, key), f"hooks is {hooks}, whose driver needs a terminal; allowed: pty, or backend tmux")
