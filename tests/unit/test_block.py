"""The block in a turn's text: every sentence of how it is written, both ways, and any text against a naive reader."""

import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.block import CAUSES, MAX_TEXT, Found, find_block, read_text
from gemba.handoff.body import MAX_BODY, MAX_DEPTH, MAX_DIGITS
from gemba.testing import SEED, effort
from tests.fixtures import naive_block

OPENER = "```agent_contract_handoff\n"
NOTHING = Found(None, None, 0, 0, "", None, 0, 0, [])


def written(body: str) -> str:
    return f"{OPENER}{body}\n```\n"


def cause_of(text: str) -> str:
    found = find_block(text)
    assert found.body is None
    assert found.blocks > 0
    return str(found.cause)


# ---- where a block begins --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opening",
    [
        "```agent_contract_handoff\n",
        "````agent_contract_handoff\n",
        "`````````````agent_contract_handoff\n",
        "```agent_contract_handoff\r\n",
        "```agent_contract_handoff  \t \n",
        "```agent_contract_handoff\u00a0\u2003\r\n",
        "   ```agent_contract_handoff\n",
        "Here it is: ```agent_contract_handoff\n",
        "- > ```agent_contract_handoff\n",
        "word```agent_contract_handoff\n",
        "~~~markdown\n```agent_contract_handoff\n",
        "```md\n```agent_contract_handoff\n",
        "<details><pre><!--\n```agent_contract_handoff\n",
        "\ufeff```agent_contract_handoff\n",
        "\x00\ud800```agent_contract_handoff\n",
    ],
)
def test_three_backticks_or_more_and_the_exact_word_open_a_block_anywhere_on_a_line(opening: str) -> None:
    assert find_block(opening + '{"a": 1}\n```').body == {"a": 1}


@pytest.mark.parametrize(
    "opening",
    [
        "",
        "``agent_contract_handoff\n",
        "~~~agent_contract_handoff\n",
        "``` agent_contract_handoff\n",
        "```\nagent_contract_handoff\n",
        "```Agent_Contract_Handoff\n",
        "```AGENT_CONTRACT_HANDOFF\n",
        "```agent-contract-handoff\n",
        "```json agent_contract_handoff\n",
        "```agent_contract_handoff json\n",
        "```agent_contract_handoff.\n",
        "```agent_contract_handoff`\n",
        "```agent_contract_handoff {}\n",
        "```agent_contract_handoffs\n",
        "```agent_contract_handoff\r{}",
        "```agent_contract_handof\n",
        "```agent_contract_handoff\u200b\n",
        "`` `agent_contract_handoff\n",
    ],
)
def test_anything_else_opens_no_block(opening: str) -> None:
    assert find_block(opening + '{"a": 1}\n```') == NOTHING


def test_a_text_without_a_block_has_no_body_and_no_fault() -> None:
    for text in ("", "Done.", "```json\n{}\n```", b"", b"\xff\xfe", "`" * 100, "\n" * 100):
        assert find_block(text) == NOTHING


# ---- how it ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending",
    [
        "```",
        "\n```",
        " \r\n\t\n\n  ```\n",
        "````````",
        "\n``` and that is all",
        "\n```agent_contract_handoff",
        "\n```}",
        "\n```json\n{}",
    ],
)
def test_three_backticks_or_more_close_it_on_any_line_whatever_follows(ending: str) -> None:
    assert find_block(OPENER + '{"a": 1}' + ending).body == {"a": 1}


@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ("", "unclosed"),
        ("\n\n \n", "unclosed"),
        ("\n``", "unclosed"),
        ("\n~~~", "unclosed"),
        ("\nThat is all.", "unclosed"),
        ("\n`` `", "unclosed"),
        ("\nThat is all.\n```", "syntax"),
        ("}\n```", "syntax"),
        ("\n> ```", "syntax"),
        ("\u00a0\n```", "syntax"),
        (' {"b": 2}\n```', "syntax"),
    ],
)
def test_a_value_with_anything_else_behind_it_is_a_broken_body(ending: str, cause: str) -> None:
    assert cause_of(OPENER + '{"a": 1}' + ending) == cause


@pytest.mark.parametrize(
    "rest", ["", "\n", "{", '{"a": ', '{"a": [1, 2', '{"a": "text that goes', '{"a": "b\\', "\n\n"]
)
def test_a_text_that_ends_inside_a_block_leaves_it_unclosed(rest: str) -> None:
    assert cause_of(OPENER + rest) == "unclosed"
    assert cause_of((OPENER + rest).rstrip("\n")) == "unclosed"


def test_a_quoted_block_is_one_with_a_broken_body() -> None:
    found = find_block('> ```agent_contract_handoff\n> {"a": 1}\n> ```\n')

    assert (found.cause, found.line, found.column, found.blocks) == ("syntax", 2, 1, 1)
    assert found.suggestion == "write the block without > before its lines"


# ---- which one is taken ----------------------------------------------------------------------------------------------


def test_the_last_block_with_an_object_is_taken_and_the_others_are_counted() -> None:
    found = find_block(written('{"a": 1}') + "prose\n" + written('{"a": 2}') + written("[3]") + written('{"a": 4,}'))

    assert found == Found({"a": 2}, None, 0, 0, "", None, 4, 5, [])


@pytest.mark.parametrize(
    "broken",
    [
        written("[]"),
        written("{"),
        written('{"a": NaN}'),
        written("{'a': 2}"),
        written('{"a":' * 600 + "1" + "}" * 600),
        written('{"a": ' + "9" * 5_000 + "}"),
        OPENER + '{"a": 2}',
        OPENER,
    ],
)
def test_a_block_behind_it_that_holds_no_object_changes_nothing(broken: str) -> None:
    found = find_block(written('{"a": 1}') + broken)

    assert (found.body, found.cause, found.blocks, found.line_of_block) == ({"a": 1}, None, 2, 1)


def test_a_quoted_template_before_the_real_block_is_not_taken() -> None:
    template = '````md\n```agent_contract_handoff\n{"a": "<text>", …}\n```\n````\n'

    assert find_block(template + written('{"a": "real"}')).body == {"a": "real"}


def test_a_template_that_was_left_open_does_not_swallow_the_real_block() -> None:
    found = find_block(OPENER + '{"a": "template"}\n' + written('{"a": "real"}'))

    assert (found.body, found.blocks, found.line_of_block) == ({"a": "real"}, 2, 3)


def test_an_opener_closes_the_block_before_it() -> None:
    found = find_block(OPENER + '{"a": 1}\n' + OPENER + "[")

    assert (found.body, found.blocks, found.line_of_block) == ({"a": 1}, 2, 1)


def test_without_any_object_the_fault_is_that_of_the_last_block() -> None:
    found = find_block(written('{"a": 1,}') + written("[1]"))

    assert (found.cause, found.line, found.column, found.blocks, found.line_of_block) == ("type", 5, 1, 2, 4)


# ---- its body --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("{}", {}),
        ("\r\n\t {\r\n\t}", {}),
        ('    {\n      "a": [1, {"b": null}]\n    }', {"a": [1, {"b": None}]}),
        ('{"a": "```"}', {"a": "```"}),
        ('{"a": "```agent_contract_handoff"}', {"a": "```agent_contract_handoff"}),
        (r'{"a": "```agent_contract_handoff\n{}\n```"}', {"a": "```agent_contract_handoff\n{}\n```"}),
        ('{"a": "\u2028 \x7f ü 😀"}', {"a": "\u2028 \x7f ü 😀"}),
        (r'{"a": "\ud83d\ude00\/\"\\"}', {"a": '😀/"\\'}),
        (r'{"a": "\ud800", "b": "\udc00\ud800"}', {"a": "\ud800", "b": "\udc00\ud800"}),
        (r'{"\u0000": "\u0000\u001f"}', {"\0": "\0\x1f"}),
        ('{"a": [1e999, -1e999, 1E5, -0, -0.0, 0.5e-3]}', {"a": [float("inf"), float("-inf"), 1e5, 0, -0.0, 0.0005]}),
        ('{"": true}', {"": True}),
    ],
)
def test_whatever_rfc_8259_allows_is_read(body: str, value: object) -> None:
    found = find_block("Done.\n" + written(body))

    assert repr(found.body) == repr(value)
    assert (found.cause, found.detail, found.suggestion, found.duplicate_keys) == (None, "", None, [])


def test_line_ends_may_be_those_of_windows() -> None:
    assert find_block(written('{\n"a":\n[1]\n}').replace("\n", "\r\n")).body == {"a": [1]}


@pytest.mark.parametrize(
    ("body", "name"),
    [("[{}]", "a list"), ('"{}"', "a string"), ("true", "a boolean"), ("1", "a number"), ("1.5", "a number")],
)
def test_a_body_that_is_no_object_is_told_by_its_type(body: str, name: str) -> None:
    found = find_block(written(body))

    assert (found.body, found.cause) == (None, "type")
    assert found.detail == f"the body is {name}; allowed: one JSON object"


def test_null_is_a_body_and_no_object() -> None:
    assert find_block(written("null")).detail == "the body is null; allowed: one JSON object"


def test_an_empty_block_is_a_broken_one() -> None:
    found = find_block(OPENER + "```")

    assert (found.cause, found.line, found.column) == ("syntax", 2, 1)
    assert found.suggestion == "write a JSON object before the fence"


@pytest.mark.parametrize(
    ("body", "place", "suggestion"),
    [
        ('{"a": 1,}', (1, 8), "write } without a comma before it"),
        ('{"a": [1, 2 ,\n ]}', (1, 13), "write ] without a comma before it"),
        ("{a: 1}", (1, 2), 'write "a" instead of a'),
        ('{"a": 1,\n next-step: 2}', (2, 2), 'write "next-step" instead of next-step'),
        ("{'a': 1}", (1, 2), "write \"a\" instead of 'a'"),
        ("{\"a\": 'it is'}", (1, 7), "write \"it is\" instead of 'it is'"),
        ("{'" + "a" * 50 + "': 1}", (1, 2), 'write double quotes (") instead of single ones'),
        ("{“a”: 1}", (1, 2), 'write straight double quotes (") instead of typographic ones'),
        ('{"a": 1, // one\n"b": 2}', (1, 10), "remove the comment: JSON has none"),
        ('{"a": /* one */ 1}', (1, 7), "remove the comment: JSON has none"),
        ('# the contract\n{"a": 1}', (1, 1), "remove the comment: JSON has none"),
        ('{"a": 1} // one', (1, 10), "remove the comment: JSON has none"),
        ('{"a": 1\n "b": 2}', (2, 2), "write a comma before it"),
        ('{"a": [1 2]}', (1, 10), "write a comma before it"),
        ('{"a": [{} {}]}', (1, 11), "write a comma before it"),
        ('{"a": NaN}', (1, 7), "write null, or a text, instead of NaN"),
        ('{"a": "NaN \\" NaN", "b": [-Infinity]}', (1, 27), "write null, or a text, instead of -Infinity"),
        ('{"a": Infinity}', (1, 7), "write null, or a text, instead of Infinity"),
        ('{"a": True}', (1, 7), "write true instead of True"),
        ('{"a": None}', (1, 7), "write null instead of None"),
        ('{"a": yes}', (1, 7), 'write "yes" instead of yes'),
        ("a: 1\nb: 2", (1, 1), "write one JSON object: { … }"),
        ("---\na: 1", (1, 1), "write one JSON object: { … }"),
        ('\ufeff{"a": 1}', (1, 1), "write one JSON object: { … }"),
        ('"a": 1', (1, 4), "write { before the first key"),
        ('{"a": [1}', (1, 9), "write ] before }"),
        ('{"a": {"b": 1]', (1, 14), "write } before ]"),
        ('{"a": 1}}', (1, 9), "remove what stands between the value and the fence"),
        ('{"a": 1', (2, 1), "write the rest of the value before the fence"),
        ('{"a" 1}', (1, 6), "write : between the key and its value"),
        ('{"a": }', (1, 7), "write a value there, or null"),
        ('{"a": 1,, "b": 2}', (1, 9), "remove the ,"),
        ('{"a": 01}', (1, 8), "write the number as JSON has it (0.5, 12, 1e9), or as a text"),
        ('{"a": .5}', (1, 7), "write the number as JSON has it (0.5, 12, 1e9), or as a text"),
        ('{"a": 1.}', (1, 8), "write the number as JSON has it (0.5, 12, 1e9), or as a text"),
        ('{"a": "he said "yes" to it"}', (1, 17), 'write \\" for a quote inside a string'),
        ('{"a": "one\ntwo"}', (1, 11), 'write \\n for it, or close the string with "'),
        ('{"a": "one\ttwo"}', (1, 11), 'write \\t for it, or close the string with "'),
        ('{"a": "\x1b"}', (1, 8), 'write \\u001b for it, or close the string with "'),
        (r'{"a": "C:\dir"}', (1, 10), r"write \\ for a backslash"),
        (r'{"a": "\u12x4"}', (1, 8), r"write \\ for a backslash"),
    ],
)
def test_a_slip_is_reported_with_its_place_and_a_suggested_repair(
    body: str, place: tuple[int, int], suggestion: str
) -> None:
    found = find_block("Done.\r\n\r\nSee: " + written(body))

    assert (found.body, found.cause) == (None, "syntax")
    assert (found.line - 3, found.column) == place
    assert found.suggestion == suggestion
    assert found.detail


@pytest.mark.parametrize("body", ['{"a": 1; "b": 2}', '{"a": 1 \x07}', '{"a": @}', "{=}"])
def test_what_cannot_be_guessed_is_not_suggested(body: str) -> None:
    assert find_block(written(body)).suggestion is None
    assert find_block(written(body)).cause == "syntax"


def test_a_missing_fence_is_suggested() -> None:
    assert find_block(OPENER + '{"a": 1}').suggestion == "write ``` on a line of its own after the value"
    assert find_block(OPENER + '{"a": 1}\nDone.').suggestion == "write ``` on a line of its own after the value"
    assert find_block(OPENER + '{"a": [').suggestion == "write the rest of the value and ``` after it"


def test_a_column_counts_characters_and_a_line_counts_line_feeds() -> None:
    found = find_block("😀\u2028\x0b\r\n" + written('{\r\n"😀": x}'))

    assert (found.line_of_block, found.line, found.column) == (2, 4, 6)


def test_a_repair_is_suggested_and_never_applied() -> None:
    for body in ('{"a": 1,}', "{a: 1}", '{"a": NaN}'):
        assert find_block(written(body)).body is None


# ---- repeated keys ---------------------------------------------------------------------------------------------------


def test_of_a_repeated_key_the_last_wins_and_its_pointer_is_told() -> None:
    found = find_block(written('{"a": 1, "b": [0, {"c/d": 1, "~": {}, "c/d": 2, "~": 3, "c/d": 4}], "a": {"x": 5}}'))

    assert found.body == {"a": {"x": 5}, "b": [0, {"c/d": 4, "~": 3}]}
    assert found.duplicate_keys == ["/a", "/b/1/c~1d", "/b/1/~0"]


def test_keys_that_are_written_differently_may_be_the_same_key() -> None:
    assert find_block(written(r'{"a": 1, "\u0061": 2}')).duplicate_keys == ["/a"]
    assert find_block(written('{"a": 1, "A": 2, "a ": 3}')).duplicate_keys == []


def test_repeated_keys_are_told_of_an_earlier_block_as_well() -> None:
    found = find_block(written('{"a": 1, "a": 2}') + written("[]"))

    assert (found.body, found.duplicate_keys) == ({"a": 2}, ["/a"])


def test_many_or_long_or_unprintable_repeated_keys_are_told_in_short() -> None:
    many = ", ".join(f'"{number}": {{}}, "{number}": {{"a": 1, "a": 2}}' for number in range(100))
    found = find_block(written("{" + many + "}"))
    assert found.duplicate_keys == [f"/{number}" for number in range(20)]

    long = find_block(written(f'{{"{"a" * 1_000}": 1, "{"a" * 1_000}": 2}}'))
    assert long.duplicate_keys == ["/" + "a" * 198 + "…"]

    surrogate = find_block(written(r'{"\ud800": 1, "\ud800": 2}'))
    assert surrogate.duplicate_keys == [r"/\ud800"]
    assert surrogate.body == {"\ud800": 2}


def test_a_fault_behind_a_repeated_key_is_still_a_fault() -> None:
    assert cause_of(written('{"a": {"b": 1, "b": 2}, }')) == "syntax"
    assert cause_of(written('{"a": 1, "a": NaN}')) == "syntax"


# ---- limits ----------------------------------------------------------------------------------------------------------


def test_a_text_of_the_largest_size_is_read_and_one_byte_more_is_refused() -> None:
    body = written('{"a": 1}')
    fitting = "\n" * (MAX_TEXT - len(body)) + body

    assert find_block(fitting).body == {"a": 1}
    assert find_block(fitting.encode()).body == {"a": 1}
    for larger in ("\n" + fitting, b"\n" + fitting.encode(), fitting[1:] + "ü", "ü" * (MAX_TEXT // 2) + "\n"):
        found = find_block(larger)
        assert (found.body, found.cause, found.line, found.column) == (None, "text_size", 1, 1)
        assert found.detail == "the text is larger than 64 MiB"


def body_of(size: int, letter: str) -> str:
    """An object that takes so many bytes."""
    many, rest = divmod(size - len('{"a": ""}'), len(letter.encode("utf-8", "surrogatepass")))
    return '{"a": "' + letter * many + '"' + " " * rest + "}"


@pytest.mark.parametrize("letter", ["a", "ü", "\ud800", "😀"])
def test_a_body_of_the_largest_size_is_read_and_one_byte_more_is_refused(letter: str) -> None:
    assert find_block(written(f"\n\n{body_of(MAX_BODY, letter)}\n\n")).cause is None

    found = find_block(written(body_of(MAX_BODY + 1, letter)))
    assert (found.body, found.cause, found.line, found.column) == (None, "body_size", 2, 1)
    assert found.detail == "the body is larger than 8 MiB"


@pytest.mark.parametrize("piece", ['{"a":1},', '"a",', "[],", "true,", r'"\u0041",', "a", "\\n"])
def test_a_body_that_goes_on_and_on_is_too_large(piece: str) -> None:
    begin = '{"a": "' if piece in ("a", "\\n") else '{"a": ['
    text = OPENER + begin + piece * (MAX_BODY // len(piece) + 9)

    assert cause_of(text) == "body_size"
    assert cause_of(text + "\n```") == "body_size"


def test_a_slip_in_the_first_lines_of_a_large_text_is_the_slip_that_is_told() -> None:
    found = find_block(OPENER + '{"a": 1,}' + "a" * (MAX_BODY + 100))

    assert (found.cause, found.line, found.column) == ("syntax", 2, 8)


def nested(levels: int, opening: str, closing: str) -> str:
    return '{"a": ' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"":', "}"), ('["]]", ', ', "["]'), ('{"\\"]": "[", "": ', "}"), ("[\n", "]")],
)
def test_nesting_of_the_greatest_depth_is_read_and_one_level_more_is_refused(opening: str, closing: str) -> None:
    fitting, deeper = (written(nested(levels, opening, closing)) for levels in (MAX_DEPTH, MAX_DEPTH + 1))
    agree(fitting)
    agree(deeper)

    assert find_block(fitting).cause is None
    found = find_block(deeper)
    assert (found.body, found.cause) == (None, "depth")
    assert deeper.split("\n")[found.line - 1][found.column - 1] == opening[0]


@pytest.mark.parametrize("text", ["[" * 513, "[" * 3_000, "[" * 2_000_000, '{"":' * 512 + "{", '{"a":' * 100_000])
def test_an_endless_nesting_is_too_deep_where_it_becomes_so(text: str) -> None:
    found = find_block(OPENER + text)

    level = 1 if text[0] == "[" else text.index("{", 1)
    assert (found.cause, found.line, found.column) == ("depth", 2, 512 * level + 1)


def test_lists_and_objects_count_alike() -> None:
    fitting = '{"a":' + '[{"":' * 255 + "[]" + "}]" * 255 + "}"
    deeper = '{"a":' + '[{"":' * 255 + "[{}]" + "}]" * 255 + "}"

    assert find_block(written(fitting)).cause is None
    assert cause_of(written(deeper)) == "depth"


def test_an_empty_list_may_be_what_goes_too_deep() -> None:
    text = written('{"a": ' + "[[],[{}]," * 511 + "1" + "]" * 511 + "}")
    found = find_block(text)

    agree(text)
    assert (found.cause, found.line, found.column) == ("depth", 2, len('{"a": ') + 9 * 509 + 6)


def test_brackets_in_strings_and_behind_the_block_are_no_nesting() -> None:
    strings = json.dumps({"a": ['[{"' * 1_000, "\\" * 7, '\\"[['] * 600})

    assert find_block(written(strings) + "[" * 5_000).body == json.loads(strings)
    assert find_block(written('{"a": [' + "[], " * 5_000 + "[]]}")).cause is None
    assert find_block(written(r'{"a": ["\\", "' + "[" * 600 + r'", "\\\"", "' + "[" * 600 + '"]}')).cause is None


def test_a_slip_before_the_nesting_goes_too_deep_is_the_slip_that_is_told() -> None:
    found = find_block(written('{"a": x, "b": ' + "[" * 600 + "]" * 600 + "}"))

    assert (found.cause, found.line, found.column) == ("syntax", 2, 7)


@pytest.fixture(params=[MAX_DIGITS, 0, 640, 1_000_000])
def allowed_digits(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the process allows for itself must make no difference."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(request.param)
    yield request.param
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_the_most_digits_is_read_and_one_digit_more_is_refused(allowed_digits: int, sign: str) -> None:
    value = 10 ** (MAX_DIGITS - 1) + 7
    digits = f"1{'0' * (MAX_DIGITS - 2)}7"

    found = find_block(written(f'{{"a": {sign}{digits}, "b": [0, -1, 12], "b": 3}}'))
    assert found.body == {"a": -value if sign else value, "b": 3}

    larger = find_block(written(f'{{"a": "{digits}1", "b": 1.{digits}1e5, "c": {sign}{digits}1}}'))
    assert (larger.body, larger.cause) == (None, "number")
    assert larger.column == len(f'{{"a": "{digits}1", "b": 1.{digits}1e5, "c": ') + 1
    assert allowed_digits == sys.get_int_max_str_digits()


def test_long_fractions_and_long_texts_of_digits_are_no_long_integers() -> None:
    digits = "9" * 100_000

    assert find_block(written(f'{{"a": "{digits}", "b": 0.{digits}, "c": {digits}e0}}')).cause is None


def test_every_cause_is_a_known_one() -> None:
    texts = ["{", "[]", written("[]"), written('{"a": ' + "9" * 5_000 + "}"), written("{a}"), "[" * 600]
    causes = {find_block(text if text.startswith("`") else OPENER + text).cause for text in texts}

    assert causes | {"text_size", "body_size"} == set(CAUSES)


# ---- any text at all -------------------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf_8_are_replaced_and_that_is_told() -> None:
    assert read_text("ü\ud800") == ("ü\ud800", False)
    assert read_text("ü".encode()) == ("ü", False)
    assert read_text(b"a\xffb\xed\xa0\x80") == ("a\ufffdb\ufffd\ufffd\ufffd", True)
    assert find_block(b'\xff```agent_contract_handoff\n{"a": "\xfe"}\n```').body == {"a": "\ufffd"}


def test_a_caller_deep_in_its_own_stack_gets_an_answer() -> None:
    body = written(nested(499, '{"":', "}").replace("1", '{"a": 1, "a": 2}'))

    def call(text: str, frames: int) -> Found:
        return find_block(text) if frames == 0 else call(text, frames - 1)

    for text in (body, body + written("[]")):
        assert call(text, 0).cause is None
        assert {call(text, frames).cause for frames in range(800)} <= {None, "depth", "type"}


FRAGMENTS = [
    *(
        OPENER,
        OPENER.strip(),
        OPENER.replace("\n", " \r\n"),
        "`" + OPENER,
        "```",
        "``",
        "`",
        "````",
        "~~~",
        "\n",
        "\r\n",
    ),
    *(
        " ",
        "\t",
        "\u00a0",
        "\x0b",
        "\u2028",
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "\\",
        "'",
        "-",
        ".",
        "e",
        "/",
        "#",
        ">",
    ),
    *(
        '"a"',
        '"b": 2',
        '"a": 1',
        '"a": {}',
        '{"a": 1}',
        '{"a": 1, "a": [2]}',
        "{}",
        "[]",
        "0",
        "12",
        "1e5",
        "1e999",
        "0.5",
    ),
    *("true", "null", "NaN", "-Infinity", "\\u00", '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\"', "//x", "/*"),
    *(
        "word",
        "agent_contract_handoff",
        "\x00",
        "é",
        "\ud800",
        "😀",
        "[[[[",
        "]]]]",
        "“",
        '{"~/": {"b": 1, "b": 2}, "~/": 0}',
    ),
    *('{"a": 1,}', "{a: 1}", "{'a': 1}", '{"a": "```"}', '\n{"a": [1, {"b": null}]}\n```\n', "9" * 4_301, "prose"),
]


def agree(text: str) -> None:
    """Both readers say the same of a text, and what ours says can be shown anywhere."""
    found, expected = find_block(text), naive_block.taken(text)
    if expected is None:
        assert found == NOTHING
        return
    assert found.blocks == len(naive_block.blocks(text))
    assert found.line_of_block == expected.line
    assert repr(found.body) == repr(expected.body)
    cause = "broken" if found.cause in ("syntax", "unclosed") else found.cause
    assert cause == expected.cause
    assert set(found.duplicate_keys) == {
        pointer.encode("utf-8", "backslashreplace").decode() for pointer in expected.repeated
    }
    if found.cause is not None:
        assert found.detail
        assert f"{found.detail}{found.suggestion}".isprintable()
        assert 1 <= found.line <= text.count("\n") + 1
        assert 1 <= found.column <= len(text.split("\n")[found.line - 1]) + 1


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join))
def test_any_text_of_fragments_is_read_as_the_naive_reader_reads_it(text: str) -> None:
    agree(text)
    agree(OPENER + text + "\n```")
    agree(f'{OPENER}{{"a": {text}}}```')


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=4)
prose = st.text(max_size=30).filter(lambda text: "`" not in text)


@given(objects, prose, prose, st.sampled_from([None, 0, 2]), st.booleans())
def test_any_object_is_found_in_any_prose(
    document: dict[str, Any], before: str, behind: str, indent: int | None, ascii_only: bool
) -> None:
    body = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    text = f"{before}{OPENER}{body}\n```{behind}"

    assert repr(find_block(text).body) == repr(document)
    agree(text)
    agree(text.replace("\n", "\r\n"))


@given(objects, st.data())
def test_an_object_that_was_damaged_is_read_as_the_naive_reader_reads_it(
    document: dict[str, Any], data: st.DataObject
) -> None:
    text = written('{"a": {}}') + written(json.dumps(document, indent=1))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    agree(text[:start] + data.draw(st.sampled_from(["", *FRAGMENTS])) + text[end:])


@given(st.text() | st.binary(), st.text() | st.binary())
def test_any_text_or_bytes_have_an_answer(before: str | bytes, behind: str | bytes) -> None:
    text = read_text(before)[0] + OPENER + read_text(behind)[0]

    agree(text)
    as_bytes = text.encode("utf-8", "surrogatepass")
    assert find_block(as_bytes) == find_block(read_text(as_bytes)[0])


@pytest.mark.fuzz
def test_many_drawn_texts_are_read_as_the_naive_reader_reads_them() -> None:
    draw = random.Random(SEED)
    for _ in range(effort(3_000, 300_000)):
        pieces = draw.choices(FRAGMENTS, k=draw.randrange(16))
        agree(draw.choice(["", OPENER, OPENER + '{"a": ']) + "".join(pieces) + draw.choice(["", "\n```", "}\n```"]))


# ---- speed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("", "a"),
        ("", "`"),
        ("", OPENER),
        ("", OPENER[:-2]),
        ("", OPENER + "{\n"),
        ("", OPENER + '{"a": "b'),
        ("", OPENER + '{"a": 1,}\n'),
        ("", OPENER + '{"a": 1, "a": 2} x}\n'),
        (OPENER, "\n"),
        (OPENER.strip(), " "),
        (OPENER, "["),
        (OPENER, '{"a":'),
        (OPENER + '{"a": "', '\\"'),
        (OPENER + '{"a": "', "\\"),
        (OPENER + '{"a": [', '"'),
        (OPENER + '{"a": [', "[],"),
        (OPENER + '{"a": [', '{"a": 1, "a": 2},'),
        (OPENER + '{"a": ', "1"),
        (OPENER + '{"a": 0.', "1"),
        (OPENER + '{"a": 1', " "),
        (OPENER + '{"a": 1,', " "),
    ],
)
def test_no_text_takes_more_than_linear_time(begin: str, piece: str) -> None:
    """A quadratic step would take minutes for this size."""
    text = (begin + piece * (1_000_000 // len(piece)))[:1_000_000]
    begun = time.process_time()
    find_block(text)
    find_block(text + "\n```")
    assert time.process_time() - begun < 2


def test_the_collector_of_garbage_is_left_as_it_was() -> None:
    text = written(json.dumps({"a": [[]] * 100_000})) + "prose " * 20_000
    assert gc.isenabled()
    try:
        assert len(find_block(text).body or {}) == 1
        assert gc.isenabled()
        gc.disable()
        assert len(find_block(text).body or {}) == 1
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_importing_it_loads_nothing_but_a_little_of_the_standard_library() -> None:
    program = (
        "import gc, json, typing, sys; before = set(sys.modules); import gemba.handoff.block;"
        "print(*sorted(set(sys.modules) - before))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert told.split() == [
        *("__future__", "gemba", "gemba.collector"),
        *("gemba.handoff", "gemba.handoff.block", "gemba.handoff.body"),
    ]
