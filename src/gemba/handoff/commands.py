"""The table of known commands (`commands.toml`), and a command's arguments as its row takes them apart.

A row claims something of every command that it takes; so it lists the options that make it another class, or lists
all that it knows, and then any other one is doubtful. Called by `risk`; standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from gemba.handoff.shell_word import CERTAIN, OPEN, Word

Level = Literal["T0", "T1", "T2", "unknown", "T3"]
LEVELS: tuple[Level, ...] = ("T0", "T1", "T2", "unknown", "T3")  # from harmless to not
RANK = {level: rank for rank, level in enumerate(LEVELS)}


class Row(NamedTuple):
    """One row of the table, for one name; the file says what each key means."""

    name: str
    then: tuple[str, ...]
    level: Level | None
    moves: dict[str, Level]
    options: dict[str, bool] | None
    only: dict[str, str]
    first: str | None
    words: str | None
    begins: str | None
    most: int | None
    beyond: Level
    whole: bool
    runs: str
    skip: str | None
    assigns: bool
    least: Level

    def takes(self, words: Sequence[Word]) -> bool:
        """Whether a command's words after the program begin as this row's."""
        return len(words) >= len(self.then) and all(
            word.sure == CERTAIN and _stands_for(wanted, word.text)
            for wanted, word in zip(self.then, words, strict=False)
        )

    def raised(self, option: str) -> Level | None:
        """The worst class that an option as it is written may mean: as one, short for one, or letters with one."""
        if self.whole:
            return self.moves.get(_one_dash(option.partition("=")[0]))
        if option.startswith("--"):
            name = option.partition("=")[0]
            found = [level for known, level in self.moves.items() if known.startswith(name)]
        else:
            found = [level for letter in set(option[1:]) if (level := self.moves.get(f"-{letter}"))]
        return max(found, key=RANK.__getitem__, default=None)

    def full_name(self, option: str) -> str:
        """The name of an option that is a word; where options are whole words, one dash is as good as two."""
        name = option.partition("=")[0]
        return _one_dash(name) if self.whole else name

    def wants_next(self, option: str) -> bool:
        """Whether the value of this option, or of the last of these letters, is the next word."""
        options = self.options or {}
        if option.startswith("--") or self.whole:
            return "=" not in option and options.get(self.full_name(option), False)
        for place, letter in enumerate(option[1:], 2):
            if options.get(f"-{letter}"):
                return place == len(option)
        return False


class Commands:
    """The table. Rows are made when somebody asks for their program: a process of a hook asks for a few."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.folders = frozenset(document["folders"].split())  # whose programs are the known ones
        self.variables = frozenset(document["variables"].split())  # that change nothing that runs
        self._like = document["like"]
        self._same = dict(pair.split("=") for pair in document["same"].split())
        self._given: dict[str, list[dict[str, Any]]] = {}
        for given in document["command"]:
            for program in given["program"].split():
                self._given.setdefault(program, []).append(given)
        self._rows: dict[str, tuple[Row, ...]] = {}

    @property
    def programs(self) -> list[str]:
        return [*self._given, *self._same]

    def rows(self, program: str) -> tuple[Row, ...]:
        """What is known of a program, the longest name first: `git config set` is not `git config`."""
        if program not in self._rows:
            given = self._given.get(self._same.get(program, program))
            if given is None:
                return ()
            rows = [row for each in given for row in _rows(program, each, self._like)]
            self._rows[program] = tuple(sorted(rows, key=lambda row: -len(row.then)))
        return self._rows[program]


@cache
def load_commands() -> Commands:
    """The table that is shipped; read once."""
    import tomllib

    with open(__file__.removesuffix("commands.py") + "commands.toml", "rb") as file:  # noqa: PTH123 - pathlib is slow
        return Commands(tomllib.load(file))


def _rows(program: str, given: dict[str, Any], like: dict[str, str]) -> Iterator[Row]:
    spelt = _one_dash if given.get("whole") else str
    moves = {spelt(option): level for level in LEVELS for option in given.get(level, "").split()}
    options = given.get("options")
    if options is not None:
        options = {spelt(option.removesuffix("=")): option.endswith("=") for option in options.split()}
    for then in given.get("then", "").split(","):
        words = tuple(then.split())
        yield Row(
            name=" ".join((program, *words)),
            then=words,
            level=given.get("class"),
            moves=moves,
            options=options,
            only={option: like.get(value, value) for option, value in given.get("only", {}).items()},
            first=like.get(given.get("first"), given.get("first")),
            words=like.get(given.get("words"), given.get("words")),
            begins=given.get("begins"),
            most=given.get("most"),
            beyond=given.get("beyond", "unknown"),
            whole=given.get("whole", False),
            runs=given.get("runs", ""),
            skip=given.get("skip"),
            assigns=given.get("assigns", False),
            least=given.get("least", "T0"),
        )


def _one_dash(option: str) -> str:
    return "-" + option.lstrip("-")


def _stands_for(wanted: str, word: str) -> bool:
    if not wanted.endswith("*"):
        return word == wanted
    return word.startswith(wanted[:-1]) and not word.startswith("-")


# ---- arguments -------------------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """The arguments of a command: options by name with the value if there is one, operands, and what is not sure."""

    options: list[tuple[str, Word | None]]
    operands: list[Word]
    doubtful: list[str]  # options that the row does not list, and words that may turn out to be some


def general_width(options: dict[str, bool], words: Sequence[Word], at: int) -> int:
    """How many words an option before the subcommand takes; 0 where none of these stands there."""
    if at >= len(words) or words[at].sure != CERTAIN:
        return 0
    name, equals, _ = words[at].text.partition("=")
    takes_value = options.get(name)
    if takes_value is None:
        return 0
    if equals or not takes_value:
        return 1
    return 2 if at + 1 < len(words) and words[at + 1].sure in (CERTAIN, OPEN) else 0


def options_end(row: Row, words: Sequence[Word]) -> int:
    """Where the first operand stands, for a program that takes no option after it."""
    at = 0
    while at < len(words):
        text, sure = words[at]
        if sure == CERTAIN and text == "--":
            return at + 1
        if not text.startswith("-") or text == "-":
            return at
        at += 2 if sure == CERTAIN and row.wants_next(text) else 1
    return len(words)


def take_apart(row: Row, words: Sequence[Word]) -> Given:
    """The arguments. Without a list of options every word with a dash is one, and none takes the next as its value."""
    given = Given([], [], [])
    at, is_over = 0, False
    while at < len(words):
        word = words[at]
        at += 1
        if word.may_be_option:
            given.doubtful.append(word.text)
            given.operands.append(word)
        elif is_over:
            _take_after_end(row, word, given)
        elif word.text == "--" and word.sure == CERTAIN:
            is_over = True
        elif not word.text.startswith("-") or word.text == "-":
            given.operands.append(word)
        elif row.options is None:
            given.options.append((word.text, None))
        else:
            value = words[at] if row.wants_next(word.text) and at < len(words) else None
            at += value is not None
            _take_listed(row.options, row, word, value, given)
    return given


def _take_after_end(row: Row, word: Word, given: Given) -> None:
    """A word after `--`: an operand, and yet an option for a program that does not heed that."""
    given.operands.append(word)
    if word.text.startswith("-") and row.options is None:
        given.options.append((word.text, None))
    elif word.text.startswith("-"):
        given.doubtful.append(word.text)


def _take_listed(options: dict[str, bool], row: Row, word: Word, following: Word | None, given: Given) -> None:
    """One word, with one option or with several letters, and the value that follows it."""
    if following is not None and following.sure not in (CERTAIN, OPEN):
        given.doubtful.append(word.text)
    if word.text.startswith("--") or row.whole:
        name = row.full_name(word.text)
        if name not in options:
            given.doubtful.append(word.text)
        own = Word(word.text.partition("=")[2], word.sure) if "=" in word.text else None
        given.options.append((name, own or following))
        return
    for place, letter in enumerate(word.text[1:], 2):
        name = f"-{letter}"
        if name not in options:
            given.doubtful.append(word.text)
            return
        if options[name]:
            given.options.append((name, following or Word(word.text[place:], word.sure)))
            return
        given.options.append((name, None))
