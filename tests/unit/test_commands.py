"""The table of known commands says what it means: every row can be used, and none hides another."""

import re
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import gemba.handoff.commands as module
from gemba.handoff.commands import LEVELS, RANK, Row, general_width, load_commands, options_end, take_apart
from gemba.handoff.risk import classify
from gemba.handoff.shell_line import read_line
from gemba.handoff.shell_word import OPEN, SPLIT, Word

TABLE: dict[str, Any] = tomllib.loads(Path(module.__file__).with_name("commands.toml").read_text())
ROWS = [row for program in load_commands().programs for row in load_commands().rows(program)]
KEYS = {
    *(
        "program",
        "then",
        "class",
        "options",
        "only",
        "first",
        "words",
        "begins",
        "most",
        "beyond",
        "whole",
        "runs",
        "skip",
        "assigns",
    ),
    *("least", *LEVELS),
}


def test_the_file_has_no_other_keys_than_it_explains() -> None:
    assert set(TABLE) == {"folders", "variables", "same", "like", "command"}
    for given in TABLE["command"]:
        assert set(given) <= KEYS, given
        assert given.get("class", "T0") in ("T0", "T1", "T2", "T3")
        assert given.get("beyond", "T3") in LEVELS
        assert given.get("runs", "words") in ("words", "line", "find", "variables")


def test_every_row_takes_its_own_name_and_no_name_is_said_twice() -> None:
    assert [name for name, many in Counter(row.name for row in ROWS).items() if many > 1] == []
    for row in ROWS:
        words = [Word(word.replace("*", "x")) for word in row.then]
        assert row.takes(words)
        assert len(row.then) <= 8
        assert not row.then or row.then != ("",)


PATTERNS = sorted(
    {found for row in ROWS for found in (row.first, row.words, row.begins, row.skip, *row.only.values()) if found}
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_is_done_with_a_long_word_at_once(pattern: str) -> None:
    begun = time.process_time()
    for piece in (
        "a",
        "1",
        "p;",
        "1,2p;",
        "s/a/b/;",
        "s/",
        "/a",
        "\\",
        "%{a}",
        "%",
        "https://",
        ":a",
        "test",
        "+",
        "-",
        " ",
    ):
        for end in ("", "\n", "!"):
            re.fullmatch(pattern, piece * 20_000 + end, re.DOTALL)
    assert time.process_time() - begun < 2


def test_options_are_written_as_options() -> None:
    for row in ROWS:
        for option in (*row.moves, *(row.options or {}), *row.only):
            assert re.fullmatch(r"--?[A-Za-z0-9#][A-Za-z0-9.-]*(?:=[a-z]+)?", option), (row.name, option)
            assert row.whole or option.startswith("--") or len(option) == 2 or not row.level, (row.name, option)


def test_what_lowers_a_class_is_among_the_options_that_are_known() -> None:
    for row in ROWS:
        for option, level in row.moves.items():
            if row.level is not None and RANK[level] < RANK[row.level]:
                assert row.options is not None
                assert option.partition("=")[0] in row.options, (row.name, option)
        for option in row.only:
            assert row.options is not None
            assert row.options[option] is True, (row.name, option)


def test_a_row_says_its_class_or_runs_something_or_has_subcommands() -> None:
    for row in ROWS:
        if row.level is None and not row.runs:
            assert not row.then
            assert row.options
            assert len(load_commands().rows(row.name)) > 1


def test_another_name_of_a_program_is_no_row_of_its_own() -> None:
    for pair in TABLE["same"].split():
        name, _, other = pair.partition("=")
        assert load_commands().rows(name)
        assert {row.then for row in load_commands().rows(name)} == {row.then for row in load_commands().rows(other)}
        assert all(row.name.split()[0] == name for row in load_commands().rows(name))


def test_every_row_is_of_its_class_when_it_stands_alone() -> None:
    """No row is hidden by another one; what needs an operand is left out."""
    for row in ROWS:
        if row.level is None or row.first or row.runs == "line":
            continue
        line = " ".join([row.name.split()[0], *(word.replace("*", "x") for word in row.then)])
        assert classify(line).level == row.level, line


def test_a_program_that_is_not_there_has_no_rows() -> None:
    assert load_commands().rows("frobnicate") == ()
    assert load_commands() is load_commands()


# ---- arguments ----------------------------------------------------------------------------------------------------


def row(**given: Any) -> Row:
    (made,) = module._rows("x", given, {})
    return made


def words(line: str) -> tuple[Word, ...]:
    (command,) = read_line(f"x {line}").commands
    return command.words[1:]


LISTED = row(options="-a -b -o= --flag --value=")


@pytest.mark.parametrize(
    ("line", "options", "operands", "doubtful"),
    [
        ("-a f", [("-a", None)], ["f"], []),
        ("-ab f", [("-a", None), ("-b", None)], ["f"], []),
        ("-o f g", [("-o", "f")], ["g"], []),
        ("-of g", [("-o", "f")], ["g"], []),
        ("-abo f g", [("-a", None), ("-b", None), ("-o", "f")], ["g"], []),
        ("-o -a g", [("-o", "-a")], ["g"], []),
        ("-o", [("-o", "")], [], []),
        ("--value f g", [("--value", "f")], ["g"], []),
        ("--value=f g", [("--value", "f")], ["g"], []),
        ("--flag g", [("--flag", None)], ["g"], []),
        ("--flag=no g", [("--flag", "no")], ["g"], []),
        ("-c f", [], ["f"], ["-c"]),
        ("-ac f", [("-a", None)], ["f"], ["-ac"]),
        ("--fl f", [("--fl", None)], ["f"], ["--fl"]),
        ("- f", [], ["-", "f"], []),
        ("-- f -a", [], ["f", "-a"], ["-a"]),
        ("-o -- f", [("-o", "--")], ["f"], []),
    ],
)
def test_listed_options_take_their_values(
    line: str, options: list[tuple[str, str | None]], operands: list[str], doubtful: list[str]
) -> None:
    given = take_apart(LISTED, words(line))

    assert [(name, None if value is None else value.text) for name, value in given.options] == options
    assert [word.text for word in given.operands] == operands
    assert given.doubtful == doubtful


def test_without_a_list_every_word_with_a_dash_is_an_option_even_after_the_end_of_options() -> None:
    given = take_apart(row(T3="-x"), words("-a f -- -x g"))

    assert [name for name, _ in given.options] == ["-a", "-x"]
    assert [word.text for word in given.operands] == ["f", "-x", "g"]


def test_options_that_are_whole_words_have_one_dash_or_two() -> None:
    whole = row(options="-out= --check", whole=True)

    given = take_apart(whole, words("--out f -check -out=g -o"))

    assert given.options == [("-out", Word("f")), ("-check", None), ("-out", Word("g")), ("-o", None)]
    assert given.doubtful == ["-o"]


@pytest.mark.parametrize("line", ["$x", '"$x"', "*.py", "-$x", "{a,-b}"])
def test_a_word_that_may_turn_out_to_be_an_option_is_doubtful(line: str) -> None:
    assert take_apart(LISTED, words(line)).doubtful


@pytest.mark.parametrize("line", ["src/*.py", '"src/$x"', '--value="$x"', '-o "$x"', "src/{a,b}"])
def test_a_word_that_cannot_be_one_is_not(line: str) -> None:
    assert take_apart(LISTED, words(line)).doubtful == []


def test_a_value_of_several_words_is_doubtful() -> None:
    assert take_apart(LISTED, (Word("-o"), Word("", SPLIT))).doubtful == ["-o"]
    assert take_apart(LISTED, (Word("--value"), Word("", SPLIT))).doubtful == ["--value"]


@pytest.mark.parametrize(
    ("option", "level"),
    [
        ("-o", "T3"),
        ("-ao", "T3"),
        ("-of", "T3"),
        ("-a", None),
        ("--output", "T3"),
        ("--output=f", "T3"),
        ("--out", "T3"),
        ("--o", "T3"),
        ("--pre", "unknown"),
        ("--output-format", None),
        ("--other", None),
        ("-O", None),
    ],
)
def test_letters_in_a_word_and_short_forms_of_an_option_raise_like_it(option: str, level: str | None) -> None:
    assert row(T3="-o --output", unknown="--pre").raised(option) == level


def test_an_option_of_two_classes_is_the_worse() -> None:
    assert row(T3="--output", unknown="--out-of").raised("--out") == "T3"


@pytest.mark.parametrize(
    ("line", "end"),
    [("a b", 0), ("-a b", 1), ("-o f b", 2), ("-of b", 1), ("-- -a", 1), ("-a -- b", 2), ("-a", 1), ("-o", 1)],
)
def test_the_first_operand_ends_the_options_of_a_program_that_runs_others(line: str, end: int) -> None:
    assert options_end(LISTED, words(line)) == end


@pytest.mark.parametrize(
    ("line", "width"), [("-C d x", 2), ("-C=d x", 1), ("-P x", 1), ("-c x", 0), ("x", 0), ("-C", 0), ("$x", 0)]
)
def test_options_before_a_subcommand_are_passed_where_they_are_known(line: str, width: int) -> None:
    assert general_width({"-C": True, "-P": False}, words(line), 0) == width


def test_a_general_option_with_an_uncertain_value_is_passed_only_if_that_is_one_word() -> None:
    assert general_width({"-C": True}, (Word("-C"), Word("", OPEN)), 0) == 2
    assert general_width({"-C": True}, (Word("-C"), Word("", SPLIT)), 0) == 0
