"""What a shell command may do: T0 reads, T1 checks locally, T2 simulates, T3 changes state, and else it is unknown.

`classify` is total and linear in the line. A line is as risky as the worst command in it, wherever that stands: behind
a pipe, in a substitution, in a here-document, after `sudo` or `find -exec`. What runs is known by name and only as far
as `commands.toml` (or a rule of the workspace) says it: a program, option, variable or bit of shell grammar that is
not known makes the part unknown, never safe. Nothing here looks at the disk: how a program is configured, and what
the file of that name really is, are not part of a class.

Called by the hook of an agent's client on every command, and so of the standard library only; by the approvals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gemba.handoff.commands import (
    LEVELS,
    RANK,
    Given,
    Level,
    Row,
    general_width,
    load_commands,
    options_end,
    take_apart,
)
from gemba.handoff.risk_rules import RiskRule, read_rules, workspace_rules
from gemba.handoff.shell_line import ASSIGNMENT, DECEPTIVE, DEEPEST, SHOWN, Command, Redirect, read_line
from gemba.handoff.shell_word import CERTAIN, NAME, OPEN, SPLIT, Word

__all__ = [
    "LEVELS",
    "RANK",
    "Level",
    "Part",
    "Risk",
    "RiskRule",
    "classify",
    "load_commands",
    "read_rules",
    "workspace_rules",
]

MEANING: dict[Level, str] = {
    "T0": "only reads",
    "T1": "is a local check",
    "T2": "is a simulation",
    "unknown": "is not known",
    "T3": "changes state",
}

Found = tuple[Level, str]


class Part(NamedTuple):
    """One command of a line, with its class and why."""

    command: str
    level: Level
    reason: str


class Risk(NamedTuple):
    """The class of a line is that of its worst part, and so is the reason."""

    level: Level
    reason: str
    parts: tuple[Part, ...]


def classify(command: str, rules: Sequence[RiskRule] = ()) -> Risk:
    """The class of a shell line; the first rule that fits a command goes before the table of known ones."""
    parts = _Judge(rules).parts(command, 0)
    if not parts:
        return Risk("T0", "it runs nothing", ())
    worst = max(parts, key=lambda part: RANK[part.level])
    return Risk(worst.level, worst.reason, tuple(parts))


# ---- commands --------------------------------------------------------------------------------------------------------

_TOO_DEEP: Found = ("unknown", f"more than {DEEPEST} commands that run each other")
_LONGEST_NAME = 8  # words; no row has more
_RUN_BY_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


class _Judge:
    """Finds the class of commands; the reason is a sentence that names the word it rests on."""

    def __init__(self, rules: Sequence[RiskRule]) -> None:
        self.rules = rules
        self.known = load_commands()

    def parts(self, line: str, depth: int) -> list[Part]:
        read = read_line(line)
        parts = [Part(command.text, *self._command(command, depth)) for command in read.commands]
        if read.problem is not None:
            parts.append(Part(line[:SHOWN], "unknown", f"it cannot be read: {read.problem}"))
        if found := DECEPTIVE.search(line):
            parts.append(
                Part(line[:SHOWN], "unknown", f"it holds U+{ord(found[0]):04X}, which is not what it looks like")
            )
        return parts

    def _command(self, command: Command, depth: int) -> Found:
        found = [self._words(command.words, depth)] if command.words else []
        found += [self._variable(name, value) for name, value in command.variables]
        found += [_redirect(redirect) for redirect in command.redirects]
        return _worst(found)

    def _variable(self, name: str, value: Word) -> Found:
        known = self.known.variables
        if name in known or (name.startswith("LC_") and "LC_*" in known):
            return "T0", f"setting {name} changes nothing that runs"
        if value.sure == CERTAIN and f"{name}={value.text}" in known:
            return "T0", f"setting {name}={value.text} changes nothing that runs"
        return "unknown", f"{_shown(name)} may change what runs"

    def _words(self, words: Sequence[Word], depth: int) -> Found:
        """The class of a program with its arguments."""
        program = words[0]
        if program.sure != CERTAIN:
            return "unknown", "which program runs is only known when it does"
        for rule in self.rules:
            if _fits(rule, words):
                return rule.level, f"a rule of the workspace: {' '.join((rule.program, *rule.prefix))} is {rule.level}"
        if depth >= DEEPEST:
            return _TOO_DEEP
        folder, slash, name = program.text.rpartition("/")
        name = name if slash and folder in self.known.folders else program.text
        rows = self.known.rows(name)
        if not rows:
            return "unknown", f"{_shown(name)} is not known"
        return self._among(rows, words, depth)

    def _among(self, rows: Sequence[Row], words: Sequence[Word], depth: int) -> Found:
        """By the longest row whose words stand after the program and its general options."""
        program = rows[-1] if not rows[-1].then else None
        general = (program.options if program else None) or {}
        at = 1
        while True:
            rest = words[at : at + _LONGEST_NAME]
            if row := next((row for row in rows if row.then and row.takes(rest)), None):
                return self._row(row, words[at + len(row.then) :], depth)
            width = general_width(general, words, at)
            if not width:
                break
            at += width
        if program and (program.level or program.runs):
            return self._row(program, words[1:], depth)
        name = rows[0].name.partition(" ")[0]
        following = f" {_shown(words[at].text)}" if at < len(words) and words[at].text else ""
        return "unknown", f"{name}{following} is not known"

    def _row(self, row: Row, words: Sequence[Word], depth: int) -> Found:
        match row.runs:
            case "words":
                return self._runs_words(row, words, depth)
            case "line":
                return self._runs_line(row, words, depth)
            case "find":
                others, found = self._run_by_find(row, words, depth)
                return _worst([_judged(row, take_apart(row, others)), *found])
            case "variables":
                given = take_apart(row, words)
                return _worst([_judged(row, given), *map(self._set, given.operands)])
        return _judged(row, take_apart(row, words))

    def _runs_words(self, row: Row, words: Sequence[Word], depth: int) -> Found:
        """A program that runs the rest of its words as a command."""
        at = options_end(row, words)
        given = take_apart(row, words[:at])
        found: list[Found] = [(row.least, f"{row.name} runs it"), *_raised(row, given)]
        while row.assigns and at < len(words) and ASSIGNMENT.match(words[at].text):
            found.append(self._set(words[at]))
            at += 1
        if row.skip and at < len(words):
            found.append(_expected(row, words[at], row.skip))
            at += 1
        if at >= len(words):
            return _worst([*found, (row.level or "unknown", f"{row.name} alone {MEANING[row.level or 'unknown']}")])
        if row.first:
            found.append(_expected(row, words[at], row.first))
        rest = _filled_in(words[at:], given) if row.name == "xargs" else words[at:]
        return _worst([self._words(rest, depth + 1), *found])

    def _runs_line(self, row: Row, words: Sequence[Word], depth: int) -> Found:
        """A shell: what it runs is known where it stands in `-c`."""
        at = options_end(row, words)
        given = take_apart(row, words[:at])
        if all(name != "-c" for name, _ in given.options):
            return "unknown", f"what {row.name} runs is not said in -c"
        if at >= len(words) or words[at].sure != CERTAIN or words[at].text.startswith("+"):
            return "unknown", f"what {row.name} -c runs is only known when it does"
        inner = [(part.level, part.reason) for part in self.parts(words[at].text, depth + 1)]
        return _worst([*inner, *_raised(row, given), ("T0", f"{row.name} -c runs nothing")])

    def _run_by_find(self, row: Row, words: Sequence[Word], depth: int) -> tuple[list[Word], list[Found]]:
        """The words of find itself, and the classes of the commands that it runs on what it finds."""
        others, found = list[Word](), list[Found]()
        run: list[Word] | None = None
        before = Word("")
        for word in words:
            if run is None and word.sure == CERTAIN and word.text in _RUN_BY_FIND:
                run = []
            elif run is None:
                others.append(word)
            elif word == Word(";") or (word == Word("+") and before == Word("{}")):
                found.append(self._words(run, depth + 1) if run else ("unknown", f"{row.name} runs what is not said"))
                run = None
            else:
                run.append(Word("", SPLIT) if "{}" in word.text else word)
            before = word
        if run is not None:
            found.append(("unknown", f"{row.name}: a command without its end"))
        return others, found

    def _set(self, operand: Word) -> Found:
        """A variable that another program or a builtin sets: `env X=1`, `read x`."""
        name, equals, value = operand.text.partition("=")
        is_sure = operand.sure == CERTAIN or (operand.sure == OPEN and equals)
        if not is_sure or not NAME.fullmatch(name):
            return "unknown", "which variable it sets is not certain"
        return self._variable(name, Word(value, operand.sure))


def _fits(rule: RiskRule, words: Sequence[Word]) -> bool:
    wanted = (rule.program, *rule.prefix)
    return len(words) >= len(wanted) and all(
        word.sure == CERTAIN and word.text == text for word, text in zip(words, wanted, strict=False)
    )


def _filled_in(words: Sequence[Word], given: Given) -> list[Word]:
    """What xargs runs: with a mark (-I), words in which it stands are uncertain; else others follow."""
    mark = next((value for name, value in reversed(given.options) if name == "-I"), None)
    if mark is None:
        return [*words, Word("", SPLIT)]
    if mark.sure != CERTAIN or not mark.text:
        return [Word("", SPLIT)]
    return [
        Word(word.text.partition(mark.text)[0], max(word.sure, OPEN)) if mark.text in word.text else word
        for word in words
    ]


# ---- redirections and options ----------------------------------------------------------------------------------------

_HARMLESS_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
_READING = frozenset(("<", "<<", "<<-", "<<<", "<&"))
_NUMBER_OF_FILE = re.compile(r"[0-9]+-?|-")
_FALSE = frozenset(("false", "no", "none", "off", "0", "null"))


def _redirect(redirect: Redirect) -> Found:
    operator, target = redirect
    if operator in _READING:
        return "T0", f"{operator} only reads"
    is_sure = target.sure == CERTAIN
    if is_sure and (target.text in _HARMLESS_TARGETS or (operator == ">&" and _NUMBER_OF_FILE.fullmatch(target.text))):
        return "T0", f"{operator} {target.text} keeps nothing"
    return "T3", f"{operator} writes to {_shown(target.text) if is_sure else 'a file that is not certain'}"


def _judged(row: Row, given: Given) -> Found:
    """The class of a command whose row says everything of it."""
    level = _lowered(row, given) or row.level or "unknown"
    found = [(level, f"{row.name} {MEANING[level]}"), *_raised(row, given)]
    operands = given.operands
    if odd := _odd_beginning(row, given):
        found.append(("unknown", f"{row.name} {_shown(odd.text) or 'with a word that is not certain'} is not known"))
    if row.most is not None and (len(operands) > row.most or any(word.sure > OPEN for word in operands)):
        found.append((row.beyond, f"{row.name} with more than {row.most} operands {MEANING[row.beyond]}"))
    if row.words and (odd := next((word for word in operands if not _is_like(word, row.words)), None)):
        found.append((row.beyond, f"{row.name} {_shown(odd.text)} {MEANING[row.beyond]}"))
    is_told = bool(operands) and _is_like(operands[0], row.first or "")
    if row.first and not is_told and not any(name in row.only for name, _ in given.options):
        found.append(("unknown", f"what {row.name} is told to do is not known"))
    return _worst(found)


def _raised(row: Row, given: Given) -> list[Found]:
    """What options, and words that may be some, make of a command."""
    found: list[Found] = []
    if given.doubtful and (row.moves or row.options is not None):
        found.append(
            ("unknown", f"{row.name}: {_shown(given.doubtful[0]) or 'a word'} may be an option that is not known")
        )
    written = [(name, _class_of_option(row, name, value)) for name, value in given.options]
    written += [(text, row.raised(text)) for text in given.doubtful if text.startswith("-")]
    usual = RANK[row.level or "T0"]
    found += [
        (level, f"{row.name} {_shown(text)} {MEANING[level]}")
        for text, level in written
        if level and RANK[level] > usual
    ]
    return found


def _class_of_option(row: Row, name: str, value: Word | None) -> Level | None:
    if row.options is None:
        return row.raised(name)
    if name not in row.only:
        return row.moves.get(name)
    return None if value is not None and _is_like(value, row.only[name]) else row.moves.get(name, "unknown")


def _lowered(row: Row, given: Given) -> Level | None:
    """The class that an option such as --dry-run lowers the command to.

    Only where every option is known, so that it is no other one's value, and it is not said twice or said no.
    """
    if row.level is None or row.options is None or given.doubtful:
        return None
    if any(word.text in _FALSE for word in given.operands) or _odd_beginning(row, given):
        return None
    often = Counter(name for name, _ in given.options)
    for name, value in given.options:
        lower = row.moves.get(name if value is None else f"{name}={value.text}")
        if lower and RANK[lower] < RANK[row.level] and often[name] == 1 and (value is None or value.sure == CERTAIN):
            return lower
    return None


def _expected(row: Row, word: Word, pattern: str) -> Found:
    is_known = _is_like(word, pattern)
    return ("T0" if is_known else "unknown"), f"{row.name} {_shown(word.text)} is {'' if is_known else 'not '}known"


def _odd_beginning(row: Row, given: Given) -> Word | None:
    """An operand, or a value of an option, that does not begin as it must, or may not."""
    if row.begins is None:
        return None
    words = [*given.operands, *(value for _, value in given.options if value is not None)]
    return next((word for word in words if (word.text or word.sure) and not re.match(row.begins, word.text)), None)


def _is_like(word: Word, pattern: str) -> bool:
    return word.sure == CERTAIN and re.fullmatch(pattern, word.text, re.DOTALL) is not None


def _worst(found: Iterable[Found]) -> Found:
    return max(found, key=lambda one: RANK[one[0]])


def _shown(text: str) -> str:
    """A word of the line in a sentence: short, on one line, and nothing in it that drives a terminal."""
    short = text if len(text) <= 60 else text[:59] + "…"
    return short if short.isprintable() else ascii(short)[1:-1]
