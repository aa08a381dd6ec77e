"""What a team can be asked for: the capabilities, and the words by which a text asks for each.

The shipped list is `capabilities.toml`; a workspace adds words and drops words in `.gemba/capabilities.toml`, and
makes no capability of its own. No form of a word belongs to two capabilities, so that every word found counts for one.
Called by `analysis.py`, which only looks words up, and by whoever starts a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gemba.errors import Invalid, Unusable
from gemba.toml import NotToml, Place, line_of, load, nearest, places, quoted

TOKEN = re.compile(r"\w+")
MOST_WORDS = 2_000  # that a workspace adds
LONGEST_FORM = 6  # words of one form
_KEYS = ("words", "drop")


class Capability(NamedTuple):
    """One of the table; `general` alone has no tier, for it stands alone."""

    name: str
    prefix: str
    tier: int | None
    goal: str


GENERAL = Capability("general", "TASK", None, "Do what the text of the run asks for, whole.")

Form = tuple[str, ...]  # the words of one form, folded


class Meaning(NamedTuple):
    capability: str
    word: str  # the line of the list that the form stands in, by its first form


class Vocabulary:
    """The capabilities in their order, and every form with what it means."""

    def __init__(self, capabilities: tuple[Capability, ...], meanings: Mapping[Form, Meaning]) -> None:
        self.capabilities = capabilities
        self.meanings = dict(meanings)
        lengths: dict[str, set[int]] = {}
        for form in self.meanings:
            lengths.setdefault(form[0], set()).add(len(form))
        self._lengths = {first: tuple(sorted(many, reverse=True)) for first, many in lengths.items()}

    def lengths_from(self, first: str) -> tuple[int, ...]:
        """How many words a form that begins with this one may have, the longest first."""
        return self._lengths.get(first, ())


def form_of(text: str) -> Form:
    """A form as it is looked up: its words, whatever stands between them, without their case."""
    return tuple(TOKEN.findall(text.casefold()))


# ---- the shipped list ------------------------------------------------------------------------------------------------


@cache
def shipped() -> Vocabulary:
    """The list of the package; read once."""
    document = load(Path(__file__).with_suffix(".toml").read_bytes())[1]
    rows = tuple(Capability(name, row["prefix"], row["tier"], row["goal"]) for name, row in document.items())
    lines = ((name, line) for name, row in document.items() for line in row["words"].strip().splitlines())
    return Vocabulary(rows, {form: meaning for name, line in lines for form, meaning in _forms(name, line)})


def _forms(name: str, line: str) -> Iterator[tuple[Form, Meaning]]:
    forms = [form_of(part) for part in line.split(",")]
    meaning = Meaning(name, " ".join(forms[0]))
    return ((form, meaning) for form in forms)


# ---- a workspace's own -----------------------------------------------------------------------------------------------


def workspace_vocabulary(root: Path) -> Vocabulary:
    """The shipped list with what `.gemba/capabilities.toml` of this workspace says, if there is one."""
    path = root / ".gemba" / "capabilities.toml"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return shipped()
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="capabilities_unreadable") from None
    return extended(shipped(), raw, str(path))


def extended(base: Vocabulary, raw: bytes, path: str) -> Vocabulary:
    """A list with what a file adds and drops; an Invalid names the line of the first fault, and has all of them as
    `extra["findings"]`."""
    try:
        text, document = load(raw)
    except NotToml as error:
        raise _refused(path, [(error.line, error.message)], "capabilities_syntax") from None
    names = [each.name for each in base.capabilities]
    meanings, faults = dict(base.meanings), list(_misfits(document, names))
    if not faults:
        faults += _drop(meanings, document)
        faults += _add(meanings, document)
    if faults:
        lines = places(text)
        raise _refused(path, sorted((line_of(place, lines), words) for place, words in faults), "capabilities_invalid")
    return Vocabulary(base.capabilities, meanings)


_Fault = tuple[Place, str]


def _misfits(document: Mapping[str, Any], names: list[str]) -> Iterator[_Fault]:
    """What no list of words is."""
    added = 0
    for name, table in document.items():
        if name not in names:
            yield (name,), f"unknown capability {quoted(name)}{nearest(name, names)}"
        elif not isinstance(table, dict):
            yield (name,), f"{name} is no table; allowed: a table with {' and '.join(_KEYS)}"
        else:
            for key, value in table.items():
                if key not in _KEYS:
                    yield (name, key), f"unknown key {quoted(key)}{nearest(key, _KEYS)}"
                elif not isinstance(value, list):
                    yield (name, key), f'{key} is no list; allowed: a list of words, such as ["ship, ships, shipping"]'
                else:
                    added += len(value)
                    yield from (((name, key, at), words) for at, line in enumerate(value) for words in _faults_of(line))
    if added > MOST_WORDS:
        yield (), f"the file has {added:,} words; allowed: at most {MOST_WORDS:,}"


def _faults_of(line: object) -> Iterator[str]:
    if not isinstance(line, str):
        yield "a word is no text; allowed: a word, and its other forms behind commas"
        return
    for part in line.split(","):
        many = len(form_of(part))
        if not 1 <= many <= LONGEST_FORM:
            yield f"{quoted(part.strip())} has {many} words; allowed: 1 to {LONGEST_FORM}, of letters or digits"


def _lines(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Place, str]]:
    for name, table in document.items():
        for at, line in enumerate(table.get(key, ())):
            yield name, (name, key, at), line


def _drop(meanings: dict[Form, Meaning], document: Mapping[str, Any]) -> Iterator[_Fault]:
    """Take out each form that is named; one that is the word of its line takes the whole line with it."""
    for name, place, line in list(_lines(document, "drop")):
        for part in line.split(","):
            form = form_of(part)
            meaning = Meaning(name, " ".join(form))
            gone = [each for each, found in meanings.items() if found == meaning]
            if meanings.get(form, meaning).capability == name and (gone or form in meanings):
                for each in gone or [form]:
                    del meanings[each]
            else:
                yield place, f"{quoted(part.strip())} is no word of {name}; allowed: a word that it has"


def _add(meanings: dict[Form, Meaning], document: Mapping[str, Any]) -> Iterator[_Fault]:
    for name, place, line in _lines(document, "words"):
        for form, meaning in _forms(name, line):
            other = meanings.setdefault(form, meaning)
            if other.capability != name:
                yield place, f"{quoted(' '.join(form))} is a word of {other.capability}; allowed: drop it there first"


def _refused(path: str, findings: list[tuple[int, str]], code: str) -> Invalid:
    (line, words), more = findings[0], len(findings) - 1
    return Invalid(f"{path}:{line}: {words}{f' (and {more} more)' if more else ''}", code=code, findings=findings)
