"""Bodies and queries into types: what does not fit is told by place, by what was found and by what is allowed."""

import contextlib
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.api.decode import Malformed, decode_body, decode_query
from gemba.api.escalation_reads import EscalationQuery
from gemba.api.problem import problem_of
from gemba.errors import Invalid
from gemba.escalations.escalation import Respond


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Wheel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: Annotated[int, msgspec.Meta(ge=1, le=40)]
    colour: Colour = Colour.RED


class Cart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    wheels: list[Wheel] = []
    speed: float | None = None
    load: dict[str, int] = {}
    kind: Literal["hand", "horse"] = "hand"
    broken: bool = False


def refusal(body: bytes, kind: type[msgspec.Struct] = Cart) -> Invalid:
    with pytest.raises(Invalid) as raised:
        decode_body(body, kind)
    return raised.value


def test_a_body_that_fits_becomes_its_type() -> None:
    assert decode_body(b'{"name": "a", "wheels": [{"size": 3}], "speed": 2}', Cart) == Cart("a", [Wheel(3)], 2.0)


def test_no_body_is_an_empty_object() -> None:
    assert decode_body(b"", Respond) == Respond()


@pytest.mark.parametrize(
    ("body", "code", "pointer", "found", "allowed"),
    [
        (b"{}", "missing_field", "/name", None, "text"),
        (b'{"name": 1}', "wrong_type", "/name", 1, "text"),
        (b'{"name": null}', "wrong_type", "/name", None, "text"),
        (b'{"name": "a", "hue": 1}', "unknown_field", "/hue", "hue", [*Cart.__struct_fields__]),
        (b'{"name": "a", "wheels": {}}', "wrong_type", "/wheels", "an object", "a list"),
        (
            b'{"name": "a", "wheels": [{"size": 1}, {}]}',
            "missing_field",
            "/wheels/1/size",
            None,
            "a whole number from 1 to 40",
        ),
        (
            b'{"name": "a", "wheels": [{"size": 41}]}',
            "invalid_value",
            "/wheels/0/size",
            41,
            "a whole number from 1 to 40",
        ),
        (b'{"name": "a", "wheels": [{"size": 1, "x": 2}]}', "unknown_field", "/wheels/0/x", "x", ["size", "colour"]),
        (
            b'{"name": "a", "wheels": [{"size": 1, "colour": "blue"}]}',
            "invalid_value",
            "/wheels/0/colour",
            "blue",
            ["red", "green"],
        ),
        (b'{"name": "a", "speed": "fast"}', "wrong_type", "/speed", "fast", "a number"),
        (b'{"name": "a", "kind": "ox"}', "invalid_value", "/kind", "ox", ["hand", "horse"]),
        (b'{"name": "a", "broken": "no"}', "wrong_type", "/broken", "no", "true or false"),
        (b'{"name": "a", "load": []}', "wrong_type", "/load", "a list", "an object"),
        (b"[]", "wrong_type", "", "a list", "object"),
        (b'"text"', "wrong_type", "", "text", "object"),
        (b"null", "wrong_type", "", None, "object"),
    ],
)
def test_a_misfit_is_told_by_place_found_and_allowed(
    body: bytes, code: str, pointer: str, found: Any, allowed: Any
) -> None:
    error = refusal(body)

    assert (error.code, error.pointer, error.found, error.allowed) == (code, pointer, found, allowed), error.message


@pytest.mark.parametrize("body", [b"{", b"\xff", b"{} {}", b"[" * 100_000, b'{"name": "\\ud800"}', b"{'a': 1}"])
def test_what_is_no_json_is_malformed(body: bytes) -> None:
    assert isinstance(refusal(body), Malformed)


def test_a_key_that_looks_like_a_place_is_a_key() -> None:
    # The decoder tells places in its own words, which a key can imitate.
    for key in ("a/b~c", "x` - at `$.name", "[0]", ".", ""):
        body = msgspec.json.encode({"name": "a", key: 1})
        assert refusal(body).code in ("unknown_field", "invalid_value")


def test_a_query_is_read_with_numbers_and_enums() -> None:
    query = decode_query(b"state=open&urgency=blocking&limit=7&session=a%20b", EscalationQuery)

    assert (query.state, query.urgency, query.limit, query.session) == ("open", "blocking", 7, "a b")


@pytest.mark.parametrize(
    ("query", "code", "pointer"),
    [
        (b"limit=1&limit=2", "repeated_parameter", "/limit"),
        (b"limit=x", "wrong_type", "/limit"),
        (b"limit=", "wrong_type", "/limit"),
        (b"limit=1.5", "wrong_type", "/limit"),
        (b"limit=-1", "invalid_value", "/limit"),
        (b"a~b/c=1", "unknown_field", "/a~0b~1c"),
        (b"session=%00", "invalid_value", "/session"),
        (b"&".join(b"p%d=1" % n for n in range(51)), "malformed_query", None),
    ],
)
def test_a_query_that_does_not_fit_is_told_so(query: bytes, code: str, pointer: str | None) -> None:
    with pytest.raises(Invalid) as raised:
        decode_query(query, EscalationQuery)

    assert (raised.value.code, raised.value.pointer) == (code, pointer)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
nearly_a_cart = st.dictionaries(
    st.sampled_from([*Cart.__struct_fields__, "size", "x"]),
    anything | st.lists(st.dictionaries(st.sampled_from(["size", "colour", "x"]), anything, max_size=3), max_size=3),
    max_size=6,
)


def misfit(body: bytes) -> Invalid | None:
    try:
        decode_body(body, Cart)
    except Invalid as error:
        return error
    return None


@given(nearly_a_cart | anything)
def test_whatever_document_comes_it_fits_or_is_refused_at_a_place_that_exists(document: Any) -> None:
    error = misfit(msgspec.json.encode(document))
    if isinstance(error, Malformed):
        assert has_a_huge_number(document)
    elif error is not None:
        assert problem_of(error).status_code == 422
        assert error.pointer is not None
        follow(document, error.pointer)


@given(st.binary())
def test_whatever_bytes_come_as_a_body_they_fit_or_are_refused(body: bytes) -> None:
    error = misfit(body)
    assert error is None or problem_of(error).status_code == 422


@given(st.binary(max_size=200))
def test_whatever_bytes_come_as_a_query_they_fit_or_are_refused(query: bytes) -> None:
    with contextlib.suppress(Invalid):
        decode_query(query, EscalationQuery)


def follow(document: Any, pointer: str) -> Any:
    """The value at a pointer; its last step may name what is missing."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps[:-1]:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def has_a_huge_number(value: Any) -> bool:
    """JSON knows numbers that the decoder does not take."""
    if isinstance(value, dict):
        return any(map(has_a_huge_number, value.values()))
    if isinstance(value, list):
        return any(map(has_a_huge_number, value))
    return isinstance(value, int) and abs(value) >= 2**63


class Letter(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(min_length=2, max_length=1_000)] = "ab"
    names: Annotated[list[str], msgspec.Meta(max_length=1)] = []


@pytest.mark.parametrize(
    ("body", "words", "allowed"),
    [
        ({"text": "x" * 1_234}, "/text: it has 1,234 characters; allowed: at most 1,000 characters", "1,000"),
        ({"text": "x"}, "/text: it has 1 character; allowed: at least 2 characters", "at least 2"),
        ({"names": ["a", "b"]}, "/names: it has 2 items; allowed: at most 1 item", "at most 1 item"),
    ],
)
def test_a_length_is_told_with_what_is_allowed(body: dict[str, object], words: str, allowed: str) -> None:
    error = refusal(msgspec.json.encode(body), Letter)

    assert error.message == words
    assert allowed in error.allowed


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"name": 7}', "/name is 7; allowed: text"),
        (b'{"name": "a", "kind": "dog"}', '/kind is "dog"; allowed: hand, horse'),
        (b'{"name": "a", "wheels": [{"size": 99}]}', "/wheels/0/size is 99; allowed: a whole number from 1 to 40"),
        (b'{"name": "a", "wheels": [{"size": 1, "colour": "x"}]}', '/wheels/0/colour is "x"; allowed: red, green'),
        (b'{"name": "a", "wheels": 3}', "/wheels is 3; allowed: a list"),
        (b"{}", "/name is missing; allowed: text"),
        (b'{"name": "a", "hue": 1}', "/hue: there is no such field; allowed: name, wheels, speed, load, kind, broken"),
    ],
)
def test_what_does_not_fit_is_told_in_plain_words(body: bytes, words: str) -> None:
    assert refusal(body).message == words


def test_a_lower_bound_alone_is_told() -> None:
    class Speed(msgspec.Struct):
        limit: Annotated[float, msgspec.Meta(gt=0)]

    assert refusal(b'{"limit": 0}', Speed).message == "/limit is 0; allowed: more than 0.0"


@pytest.mark.parametrize(
    ("pointer", "plain"),
    [
        ("/item/title", "title has 0 characters"),
        ("/ends_at", "ends_at has 0 characters"),
        ("/relations/0", "relations[1] has 0 characters"),
        ("/ops/load_balancer/ip", "/ops/load_balancer/ip has 0 characters"),
        ("", " has 0 characters"),
    ],
)
def test_a_person_reads_the_name_of_a_field(pointer: str, plain: str) -> None:
    assert Invalid(f"{pointer} has 0 characters", code="invalid_value", pointer=pointer).plain == plain
