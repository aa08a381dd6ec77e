"""What stands where in a role-spec: which heading is which part, parts that miss, stand twice or in another order.

The parts are rows of a table, in their order. Pure; called by `validate`, which looks into each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gemba.documents.finding import Fault
from gemba.documents.plain import Plain
from gemba.teams.roles.sections import Heading, Sections

PHASES = (2, 3, 4)
TITLE, IDENTITY, BOUNDARIES, MUST, MUST_NOT, ERRORS = (
    "the title",
    "Identity",
    "Boundaries",
    "MUST",
    "MUST NOT",
    "Error Handling",
)

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_TITLE = re.compile(r"(\S.{0,200}?)[ \t]{1,4}[\u2010-\u2015\u2212-][ \t]{1,4}Phases? 2[\u2010-\u2015\u2212-]4")
_PHASE = re.compile(r"phase[ \t]{1,4}(\d{1,4})\b(?:[ \t]{0,4}[:\u2013\u2014-][ \t]{0,4}(.{0,200}))?", re.IGNORECASE)
# Of a text that is made plain: a heading in any of Markdown's ways, or what is set like one.
_ANY_PHASE = re.compile(
    rf"^(?:[ \t]{{0,4}}\#{{1,6}}[ \t]{{0,4}}phase[ \t]{{0,4}}(?P<head>\d{{1,4}}|{'|'.join(_NUMBERS)})\b"
    rf"|[^\w\n]{{0,12}}phase[ \t]{{1,4}}(?P<line>\d{{1,4}}|{'|'.join(_NUMBERS)})\b[ \t]{{0,4}}(?:[:.(-]|$))",
    re.MULTILINE,
)


class Part(NamedTuple):
    """A part of a role-spec, the level of its heading, and the rule that says that it is missing."""

    name: str
    level: int
    missing: str


def phase(number: int) -> str:
    return f"phase {number}"


PARTS = (
    Part(TITLE, 1, "title-missing"),
    Part(IDENTITY, 2, "section-missing"),
    Part(BOUNDARIES, 2, "section-missing"),
    Part(MUST, 3, "section-missing"),
    Part(MUST_NOT, 3, "section-missing"),
    *(Part(phase(number), 2, "phase-missing") for number in PHASES),
    Part(ERRORS, 2, "section-missing"),
)
_ORDER = {part.name: place for place, part in enumerate(PARTS)}
_BY_TITLE = {(part.level, part.name.casefold()): part.name for part in PARTS}


class Outline(NamedTuple):
    """The first heading of each part, what the role is called, and what each phase is called."""

    parts: dict[str, Heading]
    title: str
    phases: dict[int, str]


def outline(sections: Sections, first_line: int) -> tuple[Outline, list[Fault]]:
    found = Outline({}, _title_of(sections), {})
    faults: list[Fault] = []
    latest = TITLE
    for heading in sections.headings:
        name = _part_of(heading, found.phases)
        if name is None:
            continue
        if name in found.parts:
            faults.append(Fault("section-twice", heading.line, name))
            continue
        found.parts[name] = heading
        if _ORDER[name] < _ORDER[latest]:
            faults.append(Fault("section-order", heading.line, f"{name} stands behind {latest}"))
        else:
            latest = name
    faults += _missing(found, first_line)
    return found, faults


def _missing(found: Outline, first_line: int) -> Iterator[Fault]:
    missing: dict[str, list[str]] = {}
    for part in PARTS:
        if part.name not in found.parts:
            missing.setdefault(part.missing, []).append(part.name)
    for rule, names in missing.items():
        yield Fault(rule, first_line, ", ".join(names))
    for number, name in found.phases.items():
        if not name and phase(number) in found.parts:
            yield Fault("phase-unnamed", found.parts[phase(number)].line, str(number))


def _part_of(heading: Heading, phases: dict[int, str]) -> str | None:
    if heading.level == 1:
        return TITLE if _TITLE.fullmatch(heading.title) else None
    if heading.level == 2 and (found := _PHASE.fullmatch(heading.title)) is not None and int(found[1]) in PHASES:
        phases.setdefault(int(found[1]), (found[2] or "").strip())
        return phase(int(found[1]))
    return _BY_TITLE.get((heading.level, heading.title.strip("*_ ").casefold()))


def _title_of(sections: Sections) -> str:
    titles = (_TITLE.fullmatch(each.title) for each in sections.headings if each.level == 1)
    return next((title[1] for title in titles if title is not None), "")


def foreign_phases(plain: Plain) -> Iterator[Fault]:
    """Phases that are the engine's, or that there are not."""
    for found in _ANY_PHASE.finditer(plain.text):
        word = found["head"] or found["line"]
        number = _NUMBERS.get(word) or int(word)
        if number not in PHASES:
            yield Fault("phase-foreign", plain.line(found.end() - 1), f"phase {number}")
