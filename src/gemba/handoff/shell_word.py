"""A word of a shell line: quotes taken away, expansions marked, the commands in substitutions read on the way.

What a word turns out to be when the line runs is known of plain and quoted text alone. Of a word with an expansion
what stands before it is kept; a kind of expansion that could run what a variable holds (subscripts, arithmetic,
`${x@P}`) is not read at all. `shell_line` reads the commands around words; standard library only.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NamedTuple, NoReturn

# How sure a word is: as written; one word of unknown end; several that all begin alike; any number of any words.
CERTAIN, OPEN, GLOB, SPLIT = range(4)


class Word(NamedTuple):
    """A word as the program gets it, quotes gone; of an uncertain one, what stands before the first expansion."""

    text: str
    sure: int = CERTAIN

    @property
    def may_be_option(self) -> bool:
        if self.sure == CERTAIN:
            return False
        return self.sure == SPLIT or not self.text or (self.text[0] == "-" and "=" not in self.text)


_PLAIN = re.compile(r"[^ \t\n\\'\"`$|&;()<>*?\[{~=]++")
_IN_QUOTES = re.compile(r'[^"\\$`]++')
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*+)`", re.DOTALL)
_ANSI_QUOTED = re.compile(r"\$'(?:[^'\\]|\\.)*+'", re.DOTALL)
# Plain parameters. Subscripts, arithmetic and ${x@P} run what variables hold: those are not read.
_PARAMETER = re.compile(
    r"\$(?:[A-Za-z_][A-Za-z0-9_]*+(?!\[)|[0-9@*#?$!-]"
    r"|\{(?:#?[A-Za-z_][A-Za-z0-9_]*+|[0-9]++)(?:(?::?[-+]|##?|%%?|//?)[A-Za-z0-9_./:,+*-]*+)?\})"
)
_ARITHMETIC = re.compile(r"\$\(\([0-9 +*/%<>=!&|^~?:-]*+\)\)")


class Unreadable(Exception):
    """Here the line is no more one that this reader understands."""


class WordReader(ABC):
    """Reads words from a place in a text; who reads commands says how those in a word are read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @abstractmethod
    def nested(self, opening: int) -> int:
        """Read commands after an opening of so many characters, up to and with their `)`; how many there are."""

    @abstractmethod
    def read_apart(self, text: str) -> None:
        """Read commands in a text that is not as it stands a piece of this one."""

    def fail(self, problem: str) -> NoReturn:
        raise Unreadable(problem)

    def word(self) -> Word:
        """The word at this place, to its end; commands in it are read on the way."""
        parts, sure, start = list[str](), CERTAIN, self.at
        while True:
            found = _PLAIN.match(self.text, self.at)
            if found:
                self.at = found.end()
                text, certainty = found[0], CERTAIN
            else:
                char = self.text[self.at : self.at + 1]
                is_process = char in ("<", ">") and self.text.startswith("(", self.at + 1)
                if char in ("", " ", "\t", "\n", "|", "&", ";", ")") or (char in ("<", ">") and not is_process):
                    break
                text, certainty = self._special(char, is_first=self.at == start)
            if sure == CERTAIN:
                parts.append(text)
            sure = max(sure, certainty)
        if self.at == start:
            self.fail("a word is missing")
        return Word("".join(parts), sure)

    def _special(self, char: str, *, is_first: bool) -> tuple[str, int]:
        """The next piece of a word, which begins with a character that means something: what is sure of it."""
        match char:
            case "\\":
                return self._escaped(), CERTAIN
            case "'":
                return self._quoted(), CERTAIN
            case '"':
                return self._double_quoted()
            case "$":
                return self._expansion(is_quoted=False)
            case "`":
                return self._backticks(is_quoted=False)
            case "<" | ">":
                return self._process()
            case "(":
                self.fail("a ( in a word")
        self.at += 1
        if char in "~=":  # both stand for a path at the beginning, = in zsh
            return ("", OPEN) if is_first else (char, CERTAIN)
        if char == "{" and self.text.startswith("}", self.at):
            self.at += 1
            return "{}", CERTAIN
        if char == "[" and is_first and self.text[self.at : self.at + 1] in ("", " ", "\t", "\n"):
            return "[", CERTAIN
        return "", GLOB

    def _process(self) -> tuple[str, int]:
        if not self.nested(2):  # an empty one is no file but nothing at all
            self.fail("a substitution without a command")
        return "/dev/fd/", OPEN

    def _escaped(self) -> str:
        char = self.text[self.at + 1 : self.at + 2]
        if not char:
            self.fail("it ends in a backslash")
        self.at += 2
        return "" if char == "\n" else char

    def _quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.fail("' is not closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double_quoted(self) -> tuple[str, int]:
        self.at += 1
        parts, sure = list[str](), CERTAIN
        while not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                self.fail('" is not closed')
            text, certainty = self.quoted_piece(_IN_QUOTES, '"\\$`')
            if sure == CERTAIN:
                parts.append(text)
            sure = max(sure, certainty)
        self.at += 1
        return "".join(parts), sure

    def quoted_piece(self, plain: re.Pattern[str], escapable: str) -> tuple[str, int]:
        """What comes next where only $, ` and \\ mean something."""
        if found := plain.match(self.text, self.at):
            self.at = found.end()
            return found[0], CERTAIN
        char = self.text[self.at]
        if char == "$":
            return self._expansion(is_quoted=True)
        if char == "`":
            return self._backticks(is_quoted=True)
        escaped = self.text[self.at + 1 : self.at + 2]
        self.at += 1 + len(escaped)
        if escaped == "\n":
            return "", CERTAIN
        return (escaped, CERTAIN) if escaped and escaped in escapable else ("\\" + escaped, CERTAIN)

    def _expansion(self, *, is_quoted: bool) -> tuple[str, int]:
        if found := _PARAMETER.match(self.text, self.at):
            self.at = found.end()
            return "", OPEN if is_quoted and found[0] not in ("$@", "$*") else SPLIT
        if found := _ARITHMETIC.match(self.text, self.at):
            self.at = found.end()
            return "", OPEN
        following = self.text[self.at + 1 : self.at + 3]
        if following.startswith("(") and following != "((":
            self.nested(2)
            return "", OPEN if is_quoted else SPLIT
        if following[:1] in ("(", "{", "[") or following == "\\\n" or NAME.match(following):
            self.fail("an expansion that is not read here")
        if not is_quoted and following[:1] in ("'", '"'):
            return self._dollar_quoted(following[0])
        self.at += 1
        return "$", CERTAIN

    def _dollar_quoted(self, quote: str) -> tuple[str, int]:
        """$'…' with its escapes, which are not read here, and $"…", which may be translated."""
        if quote == '"':
            self.at += 1
            self._double_quoted()
            return "", OPEN
        found = _ANSI_QUOTED.match(self.text, self.at)
        if found is None:
            self.fail("$' is not closed")
        self.at = found.end()
        return "", OPEN

    def _backticks(self, *, is_quoted: bool) -> tuple[str, int]:
        found = _BACKTICKS.match(self.text, self.at)
        if found is None:
            self.fail("` is not closed")
        if is_quoted and '"' in found[1]:
            self.fail('" in backticks in quotes')
        self.at = found.end()
        self.read_apart(re.sub(r"\\([\\`$])", r"\1", found[1]))
        return "", OPEN if is_quoted else SPLIT
