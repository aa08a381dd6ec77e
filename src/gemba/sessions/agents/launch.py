"""What a backend starts for a session: the words of the command, what stands on its stdin, what its file says.

Pure. The prompt is the preamble and the task; where a type names an instructions file, the preamble stands there
instead. A prompt that goes by stdin, by file or by MCP is in no word of the command, where others could read it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from gemba.errors import Invalid
from gemba.sessions.agents.agent import Agent, Way
from gemba.sessions.agents.preamble import with_task
from gemba.text import storable

LONGEST_ARGUMENT = 120_000  # bytes; the system takes 128 KiB for one word
_PROMPT = "{prompt}"
HOOKS = "{hooks}"
_BY_FILE = "Do the task that {file} gives you under its heading Task."
_BY_MCP = "Call the tool get_context of the MCP server gemba: it gives you your task. Then do it."


class Launch(NamedTuple):
    """`block`: the words for the instructions file, None where none is touched. `opening`: the prompt with which the
    client's first turn begins, as its hooks will report it; None where a person types the first one.
    """

    command: tuple[str, ...]
    stdin: str | None
    block: str | None
    opening: str | None


def launch(agent: Agent, preamble: str, task: str, home: str, hooks: Sequence[str] = ()) -> Launch:
    """How a session of this type starts with this task; Invalid when the task cannot be given to it so.

    `hooks`: the words with which the client gets its hooks.
    """
    preamble, task = storable(preamble), storable(task)
    in_front = "" if agent.instructions else preamble
    prompt = with_task(in_front, task)
    way = _way(agent, prompt)
    by_file = _BY_FILE.format(file=agent.instructions) if task.strip() else ""
    opening = {"none": "", "file": by_file, "mcp": with_task(in_front, _BY_MCP)}.get(way, prompt)
    block = with_task(preamble, task) if way in ("none", "file") else preamble
    in_file = block if agent.instructions else None
    if not opening.strip():
        return Launch(_words(agent, None, home, hooks), None, in_file, None)
    if _reads_stdin(agent):
        return Launch(_words(agent, None, home, hooks), opening, in_file, opening)
    return Launch(_words(agent, opening, home, hooks), None, in_file, opening)


def _way(agent: Agent, prompt: str) -> Way:
    """The way of the type; of an argument that is too long for one, the file, and Invalid where it has none."""
    size = len(prompt.encode())
    if agent.prompt != "argument" or size <= LONGEST_ARGUMENT:
        return agent.prompt
    if agent.instructions:
        return "file"
    ways = f"a longer one goes by stdin or file: set prompt under [agent.{agent.name}] in .gemba/agents.toml"
    raise Invalid(
        f"the prompt has {size:,} bytes; allowed as an argument of {agent.name}: {LONGEST_ARGUMENT:,}; {ways}",
        code="prompt_too_long",
    )


def _reads_stdin(agent: Agent) -> bool:
    """Whether the opening stands on stdin: always, or where a task goes another way and the words have no place."""
    if agent.prompt in ("file", "mcp"):
        return agent.backend == "process" and not any(_PROMPT in word for word in agent.command)
    return agent.prompt == "stdin"


def _words(agent: Agent, prompt: str | None, home: str, hooks: Sequence[str]) -> tuple[str, ...]:
    """The command with what its words stand for. A prompt without a place goes last; a place without one goes."""
    words = [word for word in agent.command if prompt is not None or word != _PROMPT]
    if prompt is not None and not any(_PROMPT in word for word in words):
        # Behind options, words that begin with a dash would be taken for another one.
        words.append(f"\n{_PROMPT}" if prompt.startswith("-") else _PROMPT)
    return tuple(word.replace(_PROMPT, prompt or "") for word in fill(words, home, hooks))


def fill(words: Sequence[str], home: str, hooks: Sequence[str]) -> tuple[str, ...]:
    """The words with what they stand for, but for the prompt."""
    filled = (word.replace("{python}", sys.executable).replace("{home}", home) for word in words)
    return tuple(chain.from_iterable([word] if word != HOOKS else hooks for word in filled))
