"""The validator of role-specs: any bytes in; out comes a finding for every fault, and the role-spec if it can be used.

The only one: the linter and the coordinator ask it. Never fails, does no I/O, and takes time linear in what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gemba.documents.content import text_of
from gemba.documents.finding import Fault, findings
from gemba.documents.front_matter import FrontMatter, read_front_matter
from gemba.documents.plain import plain_text
from gemba.teams.roles import outline as parts
from gemba.teams.roles.conduct import conduct_faults, gaps
from gemba.teams.roles.keys import Keys, read_keys
from gemba.teams.roles.outline import PHASES, Outline, foreign_phases, outline, phase
from gemba.teams.roles.role_spec import (
    LEAST_ERRORS,
    LEAST_MUST,
    LONG,
    MOST_BYTES,
    MOST_MUST,
    TOO_LONG,
    Document,
    Handling,
    Judged,
    RoleFinding,
    RoleSpec,
    output_tag,
)
from gemba.teams.roles.rules import RULES
from gemba.teams.roles.sections import Line, Sections, fenced, items, label_of, labelled, rows_of_table
from gemba.teams.roles.traits import Block, find_blocks, judge_block

_TAG = re.compile(r"Tag: {0,4}(\[[^\[\]]{0,80}\]) {0,4}\| {0,4}Prefix: {0,4}(\S{1,80})")
_RESPONSIBILITY = re.compile(r"Responsibility:[ \t]{0,8}(?=\S)")
_DECORATION = re.compile(r"^[ \t]{0,4}[-*+][ \t]{1,4}|\*\*|`")
_LABELS = frozenset({"Loads", "Publishes", "State"})

# What MUST NOT forbids at least: how it is told, and the words by which an item is known to.
_FORBIDDEN: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    (
        "work outside the prefix",
        (re.compile(r"\bprefix(?:es)?\b"), re.compile(r"\b(?:outside|beyond|other|another|foreign|different|than)\b")),
    ),
    (
        "change other roles' artifacts",
        (re.compile(r"\b(?:other|another|else)\b"), re.compile(r"\bartifacts?\b")),
    ),
    (
        "skip phase 4",
        (re.compile(r"\b(?:skip|omit|bypass|leave out|pass over)"), re.compile(r"\bphase (?:4|four)\b|\bverif")),
    ),
)


def validate(document: Document, agents: Collection[str] | None = None) -> Judged:
    """Judge a file. Without `agents`, the names of the types there are, none of cli_tools is unknown."""
    text: str | Fault
    if document.problem is not None:
        text = Fault("file-unreadable", 1, document.problem)
    else:
        text = text_of(document.data, MOST_BYTES)
    if isinstance(text, Fault):
        return Judged(findings(RoleFinding, document.file, RULES, [text]))
    judged = _Judge(document.file, text, agents)
    found = findings(RoleFinding, document.file, RULES, judged.faults)
    return Judged(found, None if any(each.severity == "error" for each in found) else judged.spec())


class _Body(NamedTuple):
    """What a body says, part by part; empty where it does not."""

    responsibility: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    errors: tuple[Handling, ...] = ()


class _Judge:
    def __init__(self, file: str, text: str, agents: Collection[str] | None) -> None:
        self._file = file
        self._front = read_front_matter(text)
        self._keys, self.faults = read_keys(self._front, agents)
        self._outline = Outline({}, "", {})
        self._body = _Body()
        if self._front.body is not None:
            self._judge_body(text, self._front, self._front.body)

    def spec(self) -> RoleSpec:
        """Of a file in which nothing is wrong."""
        keys, body = self._keys, self._body
        return RoleSpec(
            role=keys.role or "",
            prefix=keys.prefix or "",
            inner_loop=bool(keys.inner_loop),
            cli_tools=keys.cli_tools,
            title=self._outline.title,
            responsibility=body.responsibility,
            must=body.must,
            must_not=body.must_not,
            loads=body.loads,
            publishes=body.publishes,
            state=", ".join(body.state),
            errors=body.errors,
            file=self._file,
            body=self._front.body or "",
        )

    def _judge_body(self, text: str, front: FrontMatter, body: str) -> None:
        lines, first = body.split("\n"), front.body_line
        blocks = list(find_blocks(lines))
        own = _without(lines, blocks)
        code = list(fenced(own))
        numbered = [
            Line(number, "" if in_code else line)
            for number, (line, in_code) in enumerate(zip(own, code, strict=True), first)
        ]
        sections = Sections(numbered)
        self._outline, faults = outline(sections, first)
        plain = plain_text("\n".join(own), first)
        reader = _Reader(self._keys, sections, self._outline)
        self._body = reader.body()
        head = text.split("\n")[: first - 1]
        self.faults += faults
        self.faults += reader.faults
        self.faults += self._traits(blocks, sections, first)
        self.faults += foreign_phases(plain)
        self.faults += conduct_faults(plain, _state_lines(numbered))
        self.faults += gaps([*head, *own], 1)
        self.faults += _code_faults(code, first)
        self.faults += _length(text, blocks)

    def _traits(self, blocks: Sequence[Block], sections: Sections, first: int) -> Iterator[Fault]:
        heading = self._outline.parts.get(phase(4))
        if not blocks:
            yield Fault("traits-missing", first if heading is None else heading.line)
            return
        block = blocks[0]
        wrong = judge_block(block)
        if wrong is not None:
            yield Fault(wrong[0], first + block.first, wrong[1])
        if heading is not None:
            below = sections.below(heading)
            if not below or not below[0].number <= first + block.first <= below[-1].number:
                yield Fault("traits-misplaced", first + block.first)
        for again in blocks[1:]:
            yield Fault("traits-twice", first + again.first)


class _Reader:
    """Looks into each part that there is."""

    def __init__(self, keys: Keys, sections: Sections, found: Outline) -> None:
        self.faults: list[Fault] = []
        self._keys = keys
        self._sections = sections
        self._outline = found

    def body(self) -> _Body:
        responsibility = self._identity()
        must, must_not = self._must(), self._must_not()
        for number in PHASES:
            self._says_something(number)
        return _Body(
            responsibility,
            must,
            must_not,
            self._labelled(2, "Loads"),
            self._labelled(4, "Publishes"),
            self._labelled(4, "State"),
            self._errors(),
        )

    def _part(self, name: str) -> tuple[int, Sequence[Line]] | None:
        """The line of a part's heading, and what stands below it."""
        heading = self._outline.parts.get(name)
        return None if heading is None else (heading.line, self._sections.below(heading))

    def _fault(self, rule: str, line: int, found: str = "") -> None:
        self.faults.append(Fault(rule, line, found))

    def _identity(self) -> str:
        part = self._part(parts.IDENTITY)
        if part is None:
            return ""
        heading, lines = part
        words = [Line(line.number, _DECORATION.sub("", line.text).strip()) for line in lines]
        self._tag(heading, words)
        for line in words:
            found = _RESPONSIBILITY.match(line.text)
            if found is not None:
                return line.text[found.end() :]
        self._fault("identity-responsibility", heading)
        return ""

    def _tag(self, heading: int, words: Sequence[Line]) -> None:
        role, prefix = self._keys.role, self._keys.prefix
        for line in words:
            found = _TAG.fullmatch(line.text)
            if found is not None:
                if role is not None and found[1] != output_tag(role):
                    self._fault("identity-tag", line.number, f"the tag {found[1]}; allowed: {output_tag(role)}")
                elif prefix is not None and found[2] != f"{prefix}-*":
                    self._fault("identity-tag", line.number, f"the prefix {found[2]}; allowed: {prefix}-*")
                return
        self._fault("identity-tag", heading, "no line with tag and prefix")

    def _must(self) -> tuple[str, ...]:
        part = self._part(parts.MUST)
        if part is None:
            return ()
        found = items(part[1])
        if not LEAST_MUST <= len(found) <= MOST_MUST:
            self._fault("must-count", part[0], _count(len(found), "item"))
        return tuple(found)

    def _must_not(self) -> tuple[str, ...]:
        part = self._part(parts.MUST_NOT)
        if part is None:
            return ()
        found = items(part[1])
        plain = [plain_text(item, 1).text for item in found]
        missing = [
            told for told, words in _FORBIDDEN if not any(all(word.search(item) for word in words) for item in plain)
        ]
        if missing:
            self._fault("must-not-missing", part[0], ", ".join(missing))
        return tuple(found)

    def _says_something(self, number: int) -> None:
        part = self._part(phase(number))
        if part is not None and not any(line.text.strip() and label_of(line.text) not in _LABELS for line in part[1]):
            self._fault("phase-empty", part[0], str(number))

    def _labelled(self, number: int, label: str) -> tuple[str, ...]:
        part = self._part(phase(number))
        if part is None:
            return ()
        found = labelled(part[1], label)
        if not found:
            self._fault(f"{label.lower()}-missing", part[0])
        return found or ()

    def _errors(self) -> tuple[Handling, ...]:
        part = self._part(parts.ERRORS)
        if part is None:
            return ()
        rows = rows_of_table(part[1], ("scenario", "resolution"))
        if rows is None:
            self._fault("errors-table", part[0])
            return ()
        whole = [Handling(*row) for row in rows if len(row) == 2 and all(row)]
        if len(whole) < LEAST_ERRORS:
            self._fault("errors-few", part[0], _count(len(whole), "row"))
        return tuple(whole)


def _without(lines: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    """The lines, those of the traits empty."""
    own = list(lines)
    for block in blocks:
        own[block.first : block.last + 1] = [""] * (block.last + 1 - block.first)
    return own


def _state_lines(lines: Sequence[Line]) -> set[int]:
    return {line.number for line in lines if label_of(line.text) == "State"}


def _code_faults(code: Sequence[bool], first: int) -> Iterator[Fault]:
    """One for each block."""
    for number, in_code in enumerate(code):
        if in_code and not (number and code[number - 1]):
            yield Fault("fenced-code", first + number)


def _length(text: str, blocks: Sequence[Block]) -> Iterator[Fault]:
    counted = text.rstrip("\n").count("\n") + 1 - sum(block.last + 1 - block.first for block in blocks if block.ends)
    last = text.rstrip("\n").count("\n") + 1
    if counted > TOO_LONG:
        yield Fault("too-long", last, str(counted))
    elif counted > LONG:
        yield Fault("long", last, str(counted))


def _count(many: int, noun: str) -> str:
    return f"{many or 'no'} {noun}{'' if many == 1 else 's'}"
