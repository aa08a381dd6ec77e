"""Every place of a TOML file has its line, however it is written; a document is compared with its type to the end."""

import re
import tomllib
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.toml import Fault, Place, line_of, misfits, nearest, places, quoted

# Each line ends with the places that stand in it.
DOCUMENT = '''\
top = 1                                  #: top
a."b c".'d.e' = 2                        #: a | a/b c | a/b c/d.e
text = """                               #: text
[not.a.table]
not_a_key = 1
ends with quotes \\""" and two more"""""
literal = \'\'\'                         #: literal
# not a comment \'\'\'
many = [                                 #: many
  "x, ] # no end",                       #: many/0
  # [
  [1, [2,                                #: many/1 | many/1/0 | many/1/1 | many/1/1/0
  3]],                                   #: many/1/1/1
  { k = 1, l.m = "}" },                  #: many/2 | many/2/k | many/2/l | many/2/l/m
]
empty = [ ]                              #: empty
when = 1979-05-27 07:32:00Z              #: when
inline = { a = 1, "b" = [ {c = ''} ] }   #: inline | inline/a | inline/b | inline/b/0 | inline/b/0/c
[ table . sub ]                          #: table | table/sub
"quoted \\u0041" = 1                      #: table/sub/quoted A
[[list]]                                 #: list | list/0
x = 1                                    #: list/0/x
[list.below]                             #: list/0/below
y = 1                                    #: list/0/below/y
[[list.deep]]                            #: list/0/deep | list/0/deep/0
[[list.deep]]                            #: list/0/deep/1
z = 1                                    #: list/0/deep/1/z
[[list]]                                 #: list/1
x = 2                                    #: list/1/x
[[list.deep]]                            #: list/1/deep | list/1/deep/0
'''


def named(place: Place) -> str:
    return "/".join(map(str, place))


def everywhere(value: Any, place: Place = ()) -> list[Place]:
    """Every place of a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(inner for key, part in parts for inner in everywhere(part, (*place, key)))]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_header_and_item_has_its_line(newline: str) -> None:
    text = DOCUMENT.replace("\n", newline)
    wanted = {
        place: number
        for number, line in enumerate(DOCUMENT.splitlines(), 1)
        if "#: " in line
        for place in line.partition("#: ")[2].split(" | ")
    }

    found = {named(place): line for place, line in places(text).items() if place}

    assert found == wanted
    assert {named(place) for place in everywhere(tomllib.loads(text))} - {""} == set(wanted)


def test_a_place_that_is_not_written_down_has_the_line_of_what_is_around_it() -> None:
    lines = places("a = 1\n\n[b]\nc = { d = 1 }\n")

    assert line_of(("b", "missing"), lines) == 3
    assert line_of(("b", "c", "missing", 3), lines) == 4
    assert line_of(("missing",), lines) == 1
    assert line_of((), places("")) == 1


@pytest.mark.parametrize(
    "text", ["[a\nb = 1", "a = [1,", "a = {b = ", "=", "[[", 'a = """x', "a = 'x", '"\\q" = 1', "["]
)
def test_what_is_not_toml_has_places_up_to_there(text: str) -> None:
    assert places("first = 1\n" + text)[("first",)] == 1


@given(st.text(st.sampled_from("ab.=[]{}\"'#, \n\t\\1é"), max_size=80))
def test_any_text_has_places_and_a_document_has_all_of_its_own(text: str) -> None:
    found = places(text)

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(everywhere(document)) == set(found)


KEYS = st.sampled_from(["a", "b", "c-d", "e f", "g.h", "", "é", 'i"j', "1"])
TEXTS = st.text(st.sampled_from("x]}\"'#,\\\n= é"), max_size=12)
VALUES = st.recursive(
    st.integers() | st.booleans() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


class Writer:
    """Writes a document in one of the many ways that TOML has, and keeps the line of everything."""

    def __init__(self, draw: Any) -> None:
        self.text = ""
        self.lines: dict[Place, int] = {(): 1}
        self._draw = draw

    def document(self, value: dict[str, Any]) -> None:
        tables = {key: part for key, part in value.items() if isinstance(part, dict) and self._draw(st.booleans())}
        for key, part in value.items():
            if key not in tables:
                self._gap()
                self._pair(key, part, ())
                self._put("\n")
        for key, part in tables.items():
            self._gap()
            self._note((key,))
            self._put(f"[ {self._quoted(key)} ] # header\n")
            for inner, leaf in part.items():
                self._pair(inner, leaf, (key,))
                self._put(" # ] }\n")

    def _pair(self, key: str, value: Any, place: Place) -> None:
        self._note((*place, key))
        self._put(f"{self._quoted(key)} = ")
        self._value(value, (*place, key))

    def _value(self, value: Any, place: Place) -> None:
        match value:
            case bool():
                self._put("true" if value else "false")
            case int():
                self._put(str(value))
            case str():
                self._put(self._string(value))
            case list():
                self._put("[")
                for number, part in enumerate(value):
                    self._put(self._draw(st.sampled_from(["", " ", "\n", " # ] ,\n\t"])))
                    self._note((*place, number))
                    self._value(part, (*place, number))
                    self._put(self._draw(st.sampled_from([",", "\n,"])))
                self._put("]")
            case dict():
                self._put("{ ")
                for number, (key, part) in enumerate(value.items()):
                    self._put(", " if number else "")
                    self._pair(key, part, place)
                self._put(" }")

    def _string(self, value: str) -> str:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        ways = [self._quoted(value), f'"""\n{escaped}"""']
        if "'" not in value:
            ways += [f"'''\n{value}'''", *([] if "\n" in value else [f"'{value}'"])]
        return str(self._draw(st.sampled_from(ways)))

    def _quoted(self, value: str) -> str:
        return msgspec.json.encode(value).decode()

    def _gap(self) -> None:
        self._put(self._draw(st.sampled_from(["", "\n", "# [x]\n", "\t"])))

    def _note(self, place: Place) -> None:
        self.lines[place] = self.text.count("\n") + 1

    def _put(self, text: str) -> None:
        self.text += text


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.data())
def test_however_a_document_is_written_everything_is_found_in_its_line(
    document: dict[str, Any], data: st.DataObject
) -> None:
    writer = Writer(data.draw)
    writer.document(document)

    assert tomllib.loads(writer.text) == document
    assert places(writer.text) == writer.lines


# ---- types --------------------------------------------------------------------------------------------------------


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    number: Annotated[int, msgspec.Meta(ge=1, le=5)]
    flag: bool = False


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=8)] = "x"
    ratio: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    choice: Literal["one", "two"] | None = None
    inner: Inner | None = None
    named: dict[str, Inner] = {}
    many: tuple[Inner, ...] = ()
    words: list[str] = []


def test_every_misfit_is_named_with_its_place_what_was_found_and_what_is_allowed() -> None:
    document = {
        "name": "",
        "ratio": -1,
        "choice": "tow",
        "inner": {"number": 6, "falg": True},
        "named": {"a": {"number": 1}, "b": 5},
        "many": [{"number": 1}, {"flag": 1}],
        "words": ["a", 5],
    }

    assert misfits(document, Outer) == [
        Fault(("name",), "name is empty; allowed: a text of 1 to 8 characters"),
        Fault(("ratio",), "ratio is -1; allowed: a number, 0 or more"),
        Fault(("choice",), 'choice is "tow"; allowed: one or two'),
        Fault(("inner", "number"), "number is 6; allowed: a whole number from 1 to 5"),
        Fault(("inner", "falg"), 'unknown key "falg"; did you mean flag?'),
        Fault(("named", "b"), "b is 5; allowed: a table"),
        Fault(("many", 1, "flag"), "flag is 1; allowed: true or false"),
        Fault(("many", 1, "number"), "number is missing; allowed: a whole number from 1 to 5"),
        Fault(("words", 1), "words[2] is 5; allowed: a text"),
    ]


ANYTHING = st.recursive(
    st.integers(-2, 8)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "x", "one", "too long a name"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["number", "flag", "other"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*Outer.__struct_fields__, "other"]), ANYTHING, max_size=4))
def test_there_are_misfits_exactly_where_msgspec_refuses(document: dict[str, Any]) -> None:
    try:
        msgspec.convert(document, Outer)
    except msgspec.ValidationError:
        assert misfits(document, Outer) != []
    else:
        assert misfits(document, Outer) == []


# ---- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("phone", '"phone"'),
        ("ntfy://user:canary@host", '"ntfy://…"'),
        ("user:canary@host", '"…"'),
        ("see ntfy://canary", '"…"'),
        ('a "b"\n', r'"a \"b\"\n"'),
        ("x" * 61, f'"{"x" * 59}…"'),
    ],
)
def test_a_text_is_shown_short_and_without_what_may_be_a_password(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_the_nearest_name_is_suggested_or_all_are_named() -> None:
    assert nearest("pone", ["page", "phone"]) == "; did you mean phone?"
    assert nearest("zzz", ["page", "phone"]) == "; known: page, phone"
    assert nearest("zzz", []) == ""


def test_a_secret_in_the_place_of_something_else_is_not_repeated() -> None:
    document = {"name": "ntfy://user:canary@host", "inner": "ntfy://canary", "ntfy://canary": 1, "words": "canary"}

    faults = misfits(document, Outer)

    assert len(faults) == 4
    assert not any(re.search("canary", words) for _, words in faults)
