"""A shell line taken apart into its commands, to find one of them in it. Pure, total, in linear time; nothing is run.

Not a shell's grammar, and no judge of what a line does, which `risk.py` is: a line that needs more than this (a
here-document, a quote that nothing closes) is not taken apart at all. Called by `evidence.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+|\\\n)|(?P<redirection>\d*[<>]+&?[\d-]*|&>>?)|(?P<separator>&&|\|\|?&?|;+|&|\n|[()])"""
    r"""|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\;|&<>()]+""",
    re.DOTALL,
)
_DUPLICATED = re.compile(r".*&[\d-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_LEADING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "time"})


class Part(NamedTuple):
    """A command without its redirections and the variables set for it, and what separates it from the next."""

    form: str
    separator: str


def normal_form(line: str) -> str:
    """The same for lines that differ in white space alone."""
    return " ".join(line.replace("\\\n", " ").split()).removeprefix("$ ")


def take_apart(line: str) -> list[Part]:
    """The commands of a line, at least one; none when it cannot be told what they are."""
    line = line.strip().removeprefix("$ ")
    parts: list[Part] = []
    words = _Words()
    at = 0
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None or "<<" in (token["redirection"] or ""):
            return []
        text, at = token[0], token.end()
        if text.startswith("#") and not words.inside:
            end = line.find("\n", at)
            at = len(line) if end < 0 else end
        elif token["separator"]:
            parts.append(Part(words.form(), text))
            words = _Words()
        elif token["space"]:
            words.end()
        elif token["redirection"]:
            words.redirect(to_file=not _DUPLICATED.fullmatch(text))
        else:
            words.add(text)
    last = Part(words.form(), "")
    if parts and not last.form and parts[-1].separator in (";", "\n"):
        last = parts.pop()._replace(separator="")
    return [*parts, last]


class _Words:
    """The words of one command, as its tokens come."""

    def __init__(self) -> None:
        self.inside = False
        self._words: list[list[str]] = []  # each of one or more tokens
        self._dropping = False  # the word that is next, or that we are in, names a redirection's file

    def add(self, text: str) -> None:
        if not self._dropping:
            if not self.inside:
                self._words.append([])
            self._words[-1].append(text)
        self.inside = True

    def end(self) -> None:
        self._dropping = self._dropping and not self.inside
        self.inside = False

    def redirect(self, *, to_file: bool) -> None:
        self.inside, self._dropping = False, to_file

    def form(self) -> str:
        words = ["".join(tokens) for tokens in self._words]
        places = (place for place, word in enumerate(words) if word not in _LEADING and not _ASSIGNMENT.match(word))
        return " ".join(words[next(places, 0) :])
