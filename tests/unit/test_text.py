"""No text of an agent's can break a database or drive a terminal, and none is wider than it may be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.text import (
    cells,
    fold,
    framed,
    letters_in_line,
    one_line,
    showable,
    showable_json,
    storable,
    to_the_letter,
)

anything = st.text(st.characters())  # lone surrogates included
letters = st.text(st.characters(exclude_categories=["Cs"]))
CONTROLS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))} - {"\n", "\t"}
REORDERING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@given(anything)
def test_what_is_storable_is_unicode_without_nul_and_as_long(text: str) -> None:
    stored = storable(text)

    stored.encode()
    assert "\0" not in stored
    assert len(stored) == len(text)
    assert storable(stored) == stored


@given(letters)
def test_what_can_be_stored_is_left_alone(text: str) -> None:
    assert storable(text) == text.replace("\0", "\ufffd")


@given(anything)
def test_what_is_shown_holds_no_control_character(text: str) -> None:
    assert not set(showable(text)) & (CONTROLS | REORDERING)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc", "a\nb\tc"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\rb", "a\\x0db"),
        ("\x9b1m", "\\x9b1m"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("naïve 日本 🙂", "naïve 日本 🙂"),
    ],
)
def test_an_escape_sequence_is_shown_not_obeyed(text: str, shown: str) -> None:
    assert showable(text) == shown


@given(st.recursive(letters | st.none(), lambda inner: st.lists(inner) | st.dictionaries(letters, inner)))
def test_json_made_safe_for_a_terminal_says_the_same(value: object) -> None:
    safe = showable_json(json.dumps(value, ensure_ascii=False))

    assert json.loads(safe) == value
    assert not set(safe) & (CONTROLS | REORDERING)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("🙂", 2), ("a\u200bb", 2)]
)
def test_a_text_takes_as_many_columns_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 10, "short"),
        ("exactly", 7, "exactly"),
        ("one too many", 11, "one too ma…"),
        ("  many \n lines\t here ", 40, "many lines here"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("\x1b[2J", 80, "\\x1b[2J"),
        ("abc", 1, "…"),
    ],
)
def test_one_line_is_flat_and_cut_to_its_width(text: str, width: int, line: str) -> None:
    assert one_line(text, width) == line


@given(letters, st.integers(1, 40))
def test_one_line_fits(text: str, width: int) -> None:
    line = one_line(text, width)

    assert cells(line) <= width
    assert "\n" not in line


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("one two three four", ["one two", "three four"]),
        ("a\n\nb", ["a", "", "b"]),
        ("incomprehensibilities", ["incomprehe", "nsibilitie", "s"]),
        ("  indented more or less", ["  indented", "more or", "less"]),
        ("日本語日本語", ["日本語日本", "語"]),
    ],
)
def test_a_text_is_folded_between_words(text: str, lines: list[str]) -> None:
    assert fold(text, 10) == lines


@given(letters, st.integers(2, 40))
def test_folding_loses_nothing_but_space(text: str, width: int) -> None:
    lines = fold(text, width)

    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(showable(text).split())


# ---- a command to the letter ----------------------------------------------------------------------------------------

FORGED = "ls build &&\\\nin: /tmp/scratch\nrisk: ls only reads\nrequester: operator\n\nrm -rf $HOME "


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("", ""),
        ("rm -rf 'a b' über 日本", "rm -rf 'a b' über 日本"),
        ("rm\u200b -rf\u202e x", "rm⟨U+200B⟩ -rf⟨U+202E⟩ x"),
        ("a\u00a0b\u3000c", "a⟨U+00A0⟩b⟨U+3000⟩c"),
        ("a\u00adb\ufe0fc\U000e0041d\ud800", "a⟨U+00AD⟩b⟨U+FE0F⟩c⟨U+E0041⟩d⟨U+D800⟩"),
        ("a\x1b[2Kb\x07\x7f\x9b", "a␛[2Kb␇⟨U+007F⟩⟨U+009B⟩"),
        ("make\nrm x", "make↵\nrm x"),
        ("make  \n  rm ", "make··↵\n··rm·"),
        ("make\r\nrm", "make␍↵\nrm"),
        ("a\tb", "a⇥b"),
        ("a\u2028b\u0085c\x0bd\u3164", "a⟨U+2028⟩b⟨U+0085⟩c␋d⟨U+3164⟩"),
    ],
)
def test_a_command_is_shown_to_the_letter(command: str, shown: str) -> None:
    assert to_the_letter(command) == shown


def test_no_line_of_a_command_leaves_its_frame() -> None:
    assert framed(FORGED, 80) == [
        "│ ls build &&\\↵",
        "│ in: /tmp/scratch↵",
        "│ risk: ls only reads↵",
        "│ requester: operator↵",
        "│ ↵",
        "│ rm -rf $HOME·",
    ]
    assert framed("make\n") == ["│ make↵"]
    assert framed("") == ["│"]


def test_a_line_that_goes_on_below_is_told_from_a_new_one_and_a_space_in_between_is_seen() -> None:
    assert framed("rm -rf /home /srv/x", 16) == ["│ rm -rf /home·", "┊ /srv/x"]
    assert framed("rm -rf /home/srv/x", 14) == ["│ rm -rf·", "┊ /home/srv/x"]
    assert framed("a" * 12 + "   b", 14) == ["│ " + "a" * 12, "┊ ···b"]


def test_a_title_says_where_the_lines_of_a_command_end_and_that_it_goes_on() -> None:
    assert letters_in_line(FORGED, 40) == "ls build &&\\↵in: /tmp/scratch↵risk: ls …"
    assert letters_in_line("rm  x ") == "rm  x·"


@given(anything, st.integers(4, 40))
def test_a_frame_holds_all_of_a_command_in_rows_that_fit(command: str, width: int) -> None:
    rows = framed(command, width)

    assert all(row[0] in "│┊" and row[1:2] in ("", " ") and cells(row) <= width for row in rows)
    assert not set("".join(rows)) & (CONTROLS | REORDERING | {"\n", "\t"})
    seen = to_the_letter(command).replace("\n", "")
    assert "".join(row[2:] for row in rows).replace(" ", "·") == seen.replace(" ", "·")


def test_a_very_long_command_is_framed_at_once() -> None:
    assert len(framed("x" * 1_000_000, 102)) == 10_000
