"""Which words list options to choose from, and which only look like it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.handoff.options import MOST, options_in

LISTS = {
    "dashes": ("Which one?\n- red\n- blue", ["red", "blue"]),
    "stars": ("Which one?\n* red\n* blue", ["red", "blue"]),
    "numbers with a dot": ("Which one?\n1. red\n2. blue", ["red", "blue"]),
    "numbers with a bracket": ("Which one?\n1) red\n2) blue", ["red", "blue"]),
    "letters with a bracket": ("Which one?\na) red\nb) blue\nc) green", ["red", "blue", "green"]),
    "letters with a dot": ("Which one?\nA. red\nB. blue", ["red", "blue"]),
    "a colon": ("Choose one:\n- red\n- blue", ["red", "blue"]),
    "indented": ("Choose one:\n  - red\n  - blue", ["red", "blue"]),
    "blank lines": ("Choose one:\n\n- red\n\n- blue\n\n", ["red", "blue"]),
    "CRLF": ("Choose one:\r\n- red\r\n- blue\r\n", ["red", "blue"]),
    "white space": ("Choose one: \n-   red  \n-\tblue\t", ["red", "blue"]),
    "punctuation in them": ("Which?\n- port 8080: the proxy's\n- (a) none - really?", None),
    "a list of something else before": ("Done:\n- this\n- that\nWhich one?\n- red\n- blue", ["red", "blue"]),
    "nine": ("Which?\n" + "\n".join(f"{n}. o{n}" for n in range(1, 10)), [f"o{n}" for n in range(1, 10)]),
    "as long as an option may be": (f"Which?\n- {'x' * wire.MAX_OPTION}\n- y", ["x" * wire.MAX_OPTION, "y"]),
}
NO_LISTS = {
    "nothing": "",
    "words": "A or B?",
    "no list": "Which one?",
    "one item": "Which one?\n- red",
    "ten items": "Which?\n" + "\n".join(f"- {n}" for n in range(10)),
    "ten numbered items": "Which?\n" + "\n".join(f"{n}. {n}" for n in range(1, 11)),
    "nobody asks": "I would do this.\n- red\n- blue",
    "only a list": "- red\n- blue",
    "words behind it": "Which one?\n- red\n- blue\nOr tell me another.",
    "an item over two lines": "Which one?\n- red\n  as before\n- blue",
    "a list in a list": "Which one?\n- red\n  - dark\n- blue",
    "two kinds of marks": "Which one?\n- red\n* blue",
    "a dot and a bracket": "Which one?\n1. red\n2) blue",
    "out of order": "Which one?\n2. red\n1. blue",
    "from two on": "Which one?\n2. red\n3. blue",
    "no space": "Which one?\n-red\n-blue",
    "a letter without an end": "Which one?\na red\nb blue",
    "empty items": "Which one?\n- \n- ",
    "twice the same": "Which one?\n- red\n- Red",
    "one that wants words": "Which one?\n- red\n- another:",
    "one that trails off": "Which one?\n- red\n- or maybe …",
    "too long": f"Which?\n- {'x' * (wire.MAX_OPTION + 1)}\n- y",
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_was_asked_for_is_the_options(name: str) -> None:
    text, options = LISTS[name]

    assert options_in(text) == (options or [line[2:] for line in text.splitlines()[1:]])


@pytest.mark.parametrize("name", NO_LISTS)
def test_what_may_be_something_else_offers_none(name: str) -> None:
    assert options_in(NO_LISTS[name]) == []


def test_what_is_read_right_before_a_bare_list_may_ask_for_it() -> None:
    assert options_in("- red\n- blue", "Which colour?\n") == ["red", "blue"]
    assert options_in("- red\n- blue", "I found:\n- rust\n- dents") == []
    assert options_in("It is done.\n- red\n- blue", "Which colour?") == []


@given(st.text(alphabet=st.sampled_from("a1b2-*.):? \t\n\r\x00\u2028\ud800é…")) | st.text())
def test_any_text_gives_two_to_nine_options_of_its_own_words_or_none(text: str) -> None:
    options = options_in(text)

    assert len(options) in (0, *range(2, MOST + 1))
    assert all(option in text and option.strip() == option and option for option in options)


@pytest.mark.parametrize(
    "piece", ["- x\n", "\n", " ", "-", "- ", "1. ", "?\n", "- \xa0", "\t-\t"], ids=lambda piece: ascii(piece)
)
def test_a_megabyte_of_anything_is_read_in_a_moment(piece: str) -> None:
    text = piece * (2**20 // len(piece))
    begun = time.process_time()

    assert options_in(f"Which?\n{text}") == []
    assert time.process_time() - begun < 2
