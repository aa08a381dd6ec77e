"""Calls of gemba-ask in a body's code whose flags are not written out: `gemba-ask $FLAGS`, `gemba-ask "$@"`.

Read as a shell reads them, so that an expansion in a text (`--text "deploy $APP?"`) is none of a flag. Code is what
stands in fences, in backticks, or on a line that begins with the command. Called by `asks`; linear in the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gemba.handoff.shell_line import Command, read_line
from gemba.handoff.shell_word import CERTAIN, Word

_PROGRAM = "gemba-ask"
_ALONE = ("--wait", "--next", "--json", "--help", "--version")  # flags that take no word behind them, or need none
_FENCE = re.compile(r"[ \t]*+(?:>[ \t]*+)*+(`{3,}+|~{3,}+)")
_QUOTED = re.compile(r"^[ \t]*+(?:>[ \t]?)++")
_SPAN = re.compile(r"`([^`]++)`")


class _Code(NamedTuple):
    text: str
    line: int


def hidden_flags(body: str, first_line: int) -> Iterator[tuple[int, str]]:
    """The line of each such call, and the call."""
    for code in _code(body, first_line):
        if _PROGRAM not in code.text:
            continue
        line, place = code.line, 0
        for command in read_line(code.text).commands:
            if _hides_flags(command):
                found = max(code.text.find(command.text, place), place)
                line += code.text.count("\n", place, found)
                place = found
                yield line, command.text


def _hides_flags(command: Command) -> bool:
    names = [word.text.rpartition("/")[2] for word in command.words]
    if _PROGRAM not in names:
        return False
    words = iter(command.words[names.index(_PROGRAM) + 1 :])
    for word in words:
        if _may_be_flag(word):
            return True
        if word.text.startswith("--") and "=" not in word.text and word.text not in _ALONE:
            next(words, None)
    return False


def _may_be_flag(word: Word) -> bool:
    return word.sure != CERTAIN and word.may_be_option


def _code(body: str, first_line: int) -> Iterator[_Code]:
    block: list[str] | None = None
    mark, start = "", first_line
    for number, line in enumerate(body.split("\n"), first_line):
        fence = _FENCE.match(line)
        if block is not None:
            if fence is not None and fence[1].startswith(mark):
                yield _Code("\n".join(block), start)
                block = None
            else:
                block.append(_QUOTED.sub("", line))
        elif fence is not None:
            block, mark, start = [], fence[1], number + 1
        elif _PROGRAM in line:
            yield from _inline(line, number)
    if block is not None:
        yield _Code("\n".join(block), start)


def _inline(line: str, number: int) -> Iterator[_Code]:
    plain = _QUOTED.sub("", line).strip()
    if plain.startswith(_PROGRAM):
        yield _Code(plain.partition("`")[0], number)
    for span in _SPAN.finditer(line):
        yield _Code(span[1], number)
