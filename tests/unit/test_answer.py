"""What an operator's answer means on each channel, with options and with a schema; and which schemas are taken."""

import itertools
import json
import socket
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemba import wire
from gemba.errors import Invalid
from gemba.escalations.answer import Schemas, judge, judge_default, schema_trouble
from gemba.escalations.escalation import Channel, Reply, Respond
from gemba.text import storable

OPTIONS = ["red", "green"]
PARTS: dict[str, list[Any]] = {
    "text": [None, "", " \n", "some words", " GREEN\n"],
    "option": [None, 0, 1, 2, 3, -1],
    "value": [msgspec.UNSET, None, "red", 1],
    "decision": [None, "yes", "no", "modify"],
    "action": [None, "", "red", "blue"],
}
ANSWERS = [Respond(*parts) for parts in itertools.product(*PARTS.values())]


def expected(channel: Channel, options: list[str], answer: Respond) -> Reply | None:
    """The reply that an answer means, None when it does not fit."""
    text = (answer.text or "").strip()
    given = {name for name in PARTS if getattr(answer, name) not in (None, msgspec.UNSET)}
    given |= {"value"} if answer.value is None else set()
    if channel is Channel.NOTIFICATION:
        if not given <= {"decision", "text"} or answer.decision is None or (answer.decision == "modify" and not text):
            return None
        return Reply("answered", text or answer.decision, "operator", decision=answer.decision)
    if channel is Channel.SYSTEM:
        right = given <= {"action", "text"} and answer.action in options
        return Reply("answered", text, "operator", action=answer.action) if right else None
    if given == {"option"} and answer.option is not None and 1 <= answer.option <= len(options):
        return Reply("answered", options[answer.option - 1], "operator", option=answer.option)
    if given != {"text"} or not text:
        return None
    if options and text == "GREEN":
        return Reply("answered", "green", "operator", option=2)
    return Reply("answered", text, "operator") if not options or channel is Channel.HANDOFF else None


@pytest.mark.parametrize("options", [OPTIONS, []], ids=["options", "free"])
@pytest.mark.parametrize("channel", Channel)
def test_every_answer_means_what_its_channel_makes_of_it(channel: Channel, options: list[str]) -> None:
    for answer in ANSWERS:
        reply = expected(channel, options, answer)
        if reply is not None:
            assert judge(channel, options, None, answer) == reply
        else:
            with pytest.raises(Invalid, match=r"\w") as refused:
                judge(channel, options, None, answer)
            assert refused.value.pointer in ("/text", "/option", "/value", "/decision", "/action"), answer
            assert refused.value.allowed is not None, answer


@pytest.mark.parametrize(
    ("channel", "answer", "code", "pointer", "message"),
    [
        (Channel.TOOL_CALL, Respond(), "missing_field", "/text", "text is missing"),
        (Channel.TOOL_CALL, Respond(option=3), "invalid_value", "/option", "option is 3; allowed: 1 to 2"),
        (Channel.TOOL_CALL, Respond(text="x", option=1), "unexpected_field", "/text", "a text or an option"),
        (Channel.TOOL_CALL, Respond(decision="yes"), "unexpected_field", "/decision", "does not fit here"),
        (Channel.TOOL_CALL, Respond(value="red"), "unexpected_field", "/value", "a text or an option"),
        (Channel.TOOL_CALL, Respond(value=None), "unexpected_field", "/value", "a text or an option"),
        (Channel.HANDOFF, Respond(action="retry"), "unexpected_field", "/action", "does not fit here"),
        (Channel.NOTIFICATION, Respond(text="x"), "missing_field", "/decision", "decision is missing"),
        (Channel.NOTIFICATION, Respond(decision="modify"), "missing_field", "/text", "text is missing"),
        (Channel.NOTIFICATION, Respond(option=1), "unexpected_field", "/option", "answered with a decision"),
        (Channel.NOTIFICATION, Respond(value="yes"), "unexpected_field", "/value", "answered with a decision"),
        (Channel.SYSTEM, Respond(text="x"), "invalid_value", "/action", "this card offers red, green"),
        (Channel.SYSTEM, Respond(action="stop"), "invalid_value", "/action", "this card offers red, green"),
        (Channel.SYSTEM, Respond(decision="no"), "unexpected_field", "/decision", "one of its actions"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_what_does(
    channel: Channel, answer: Respond, code: str, pointer: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        judge(channel, OPTIONS, None, answer)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


def test_an_option_of_a_question_without_options_is_refused_with_what_to_do() -> None:
    with pytest.raises(Invalid, match="no options, answer with a text"):
        judge(Channel.TOOL_CALL, [], None, Respond(option=1))


@pytest.mark.parametrize("channel", Channel)
def test_a_text_may_be_so_long_and_no_longer(channel: Channel) -> None:
    extra: dict[str, Any] = {Channel.NOTIFICATION: {"decision": "no"}, Channel.SYSTEM: {"action": "red"}}.get(
        channel, {}
    )
    options = OPTIONS if channel is Channel.SYSTEM else []
    longest = "x" * wire.MAX_TEXT

    assert judge(channel, options, None, Respond(text=longest, **extra)).text == longest
    with pytest.raises(Invalid, match="100,001 characters") as refused:
        judge(channel, options, None, Respond(text=longest + "x", **extra))
    assert (refused.value.code, refused.value.pointer) == ("too_long", "/text")


@given(st.text(st.characters(), min_size=1))
def test_a_reply_is_the_operators_words_as_they_can_be_stored(text: str) -> None:
    try:
        reply = judge(Channel.TOOL_CALL, [], None, Respond(text=text))
    except Invalid:
        assert not text.strip()
    else:
        reply.text.encode()
        assert "\0" not in reply.text
        assert reply.text == reply.text.strip()


# ---- options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text", "number"),
    [
        (["Red", "Green"], "green", 2),
        (["Red", "Green"], "  RED \n", 1),
        ([" Red ", "Green"], "red", 1),
        (["STRASSE", "Weg"], "straße", 1),
        (["Red", "red"], "red", 2),  # as it is written goes first
        (["Red", "red"], "RED", 1),
        (["3", "2", "1"], "1", 3),  # a number typed as a text is the option that reads so
    ],
)
def test_a_text_that_names_an_option_chooses_it(options: list[str], text: str, number: int) -> None:
    reply = judge(Channel.TOOL_CALL, options, None, Respond(text=text))

    assert (reply.option, reply.text) == (number, options[number - 1])


@pytest.mark.parametrize("text", ["blue", "2", "red or green", "gre"])
def test_other_words_than_an_option_are_refused_with_the_options_and_how_to_say_none(text: str) -> None:
    with pytest.raises(Invalid, match=r"one of 1\) red, 2\) green") as refused:
        judge(Channel.TOOL_CALL, OPTIONS, None, Respond(text=text))

    assert (refused.value.code, refused.value.pointer) == ("does_not_fit", "/text")
    assert (refused.value.found, refused.value.allowed) == (json.dumps(text), OPTIONS)
    assert 'to say "none of these", decline it with a reason' in refused.value.message


# ---- values -----------------------------------------------------------------------------------------------------

SERVICE = {
    "type": "object",
    "properties": {
        "port": {"type": "integer", "minimum": 1},
        "level": {"enum": ["low", "high"]},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": True},
    },
    "required": ["port"],
    "additionalProperties": False,
}


def typed(wanted: dict[str, Any], **answer: Any) -> Reply:
    return judge(Channel.TOOL_CALL, [], wanted, Respond(**answer))


@pytest.mark.parametrize(
    ("wanted", "answer", "value"),
    [
        (SERVICE, {"value": {"port": 80}}, {"port": 80}),
        (SERVICE, {"text": ' {"port": 80,\n "level": "low"} '}, {"port": 80, "level": "low"}),
        ({"type": "null"}, {"value": None}, None),
        ({"type": "null"}, {"text": "null"}, None),
        ({"type": "boolean"}, {"value": False}, False),
        ({"type": "integer"}, {"text": "-7"}, -7),
        ({"type": "integer"}, {"value": 2**64 - 1}, 2**64 - 1),
        ({"type": "number"}, {"text": "1.5e3"}, 1500.0),
        ({"type": "string"}, {"text": "no quotes"}, "no quotes"),
        ({"type": "string"}, {"text": '"quotes"'}, "quotes"),
        ({"type": "string"}, {"text": "5"}, "5"),  # no whole number is a text, but what was typed is
        ({"type": "string"}, {"text": "NaN"}, "NaN"),
        ({"type": "string"}, {"text": "[" * 5_000}, "[" * 5_000),
        ({"type": "string"}, {"text": str(2**200)}, str(2**200)),
        ({"type": ["string", "integer"]}, {"text": "5"}, 5),
        ({"enum": ["eu", "us"]}, {"text": "eu"}, "eu"),
        ({"type": "string", "format": "ipv4"}, {"value": "no address"}, "no address"),  # a format is a remark
        ({"type": "string"}, {"value": "a\0b\ud800"}, "a\ufffdb\ufffd"),
        ({"type": "object"}, {"value": {"\ud800": "\0"}}, {"\ufffd": "\ufffd"}),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"},
            {"value": [1]},
            [1],
        ),
    ],
)
def test_a_value_that_fits_is_kept_and_reaches_the_asker_as_json(
    wanted: dict[str, Any], answer: dict[str, Any], value: Any
) -> None:
    reply = typed(wanted, **answer)

    assert (reply.value, reply.outcome, reply.by, reply.option) == (value, "answered", "operator", None)
    assert type(reply.value) is type(value)
    assert json.loads(reply.text) == value
    assert reply.text == msgspec.json.encode(value).decode()


@pytest.mark.parametrize(
    ("wanted", "answer", "pointer", "message"),
    [
        (SERVICE, {"value": {"port": "x"}}, "/value/port", 'port of the answer is "x"; allowed: a whole number'),
        (SERVICE, {"value": {"port": 0}}, "/value/port", "port of the answer is 0; allowed: at least 1"),
        (SERVICE, {"value": {}}, "/value", 'the answer is {}; allowed: an object with "port"'),
        (SERVICE, {"value": {"port": 1, "x": 1}}, "/value", 'allowed: an object without "x"'),
        (SERVICE, {"value": {"port": 1, "level": "mid"}}, "/value/level", 'allowed: one of "low", "high"'),
        (SERVICE, {"value": {"port": 1, "name": 3}}, "/value/name", "allowed: a text or null"),
        (SERVICE, {"value": {"port": 1, "tags": ["a", "long"]}}, "/value/tags/1", "at most 3 characters"),
        (SERVICE, {"value": {"port": 1, "tags": ["a", "a"]}}, "/value/tags", "items that all differ"),
        (SERVICE, {"value": None}, "/value", "the answer is null; allowed: an object"),
        (SERVICE, {"text": "80"}, "/text", "the answer is 80; allowed: an object"),
        (SERVICE, {"text": '{"port": 80'}, "/text", "it is no JSON"),
        (SERVICE, {"text": '{"port": 80, "port": 81}'}, "/text", '"port" is in it twice'),
        (
            {"properties": {"a/b": {"properties": {"c~d": False}}}},
            {"value": {"a/b": {"c~d": 1}}},
            "/value/a~1b/c~0d",
            "not",
        ),
        ({"type": "number"}, {"text": "NaN"}, "/text", 'the answer is "NaN"; allowed: a number'),
        ({"type": "number"}, {"text": "1e400"}, "/text", "a number in it is not finite"),
        ({"type": "integer"}, {"text": str(2**64)}, "/text", "a whole number in it has more than 64 bits"),
        ({"type": "integer"}, {"value": 2**64}, "/value", "a whole number in it has more than 64 bits"),
        ({"type": "integer"}, {"value": -(10**5000)}, "/value", "a whole number in it has more than 64 bits"),
        ({"type": "number"}, {"value": float("nan")}, "/value", "a number in it is not finite"),
        ({"const": {"a": 1}}, {"value": 1}, "/value", 'allowed: only {"a":1}'),
        ({"pattern": "^a+$", "type": "string"}, {"text": "b"}, "/text", "a text that matches ^a+$"),
        ({"not": {"type": "null"}}, {"value": None}, "/value", 'what does not fit {"type":"null"}'),
        ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, {"value": 3}, "/value", "exactly one of its forms"),
        ({"exclusiveMinimum": 2, "type": "number"}, {"value": 2}, "/value", "more than 2"),
        ({"multipleOf": 5, "type": "integer"}, {"value": 7}, "/value", "a multiple of 5"),
        ({"propertyNames": {"maxLength": 1}}, {"value": {"ab": 1}}, "/value", "other names: at most 1 characters"),
        ({"contains": {"type": "null"}}, {"value": [1]}, "/value", "an array with other items"),
        ({"minContains": 2, "maxContains": 1, "contains": {}}, {"value": [1]}, "/value", "is"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place_what_was_found_and_what_is_allowed(
    wanted: dict[str, Any], answer: dict[str, Any], pointer: str, message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        typed(wanted, **answer)

    assert message in refused.value.message
    assert (refused.value.code, refused.value.pointer) == ("does_not_fit", pointer)
    assert "\n" not in refused.value.message
    assert refused.value.allowed


def test_several_findings_are_told_up_to_a_few() -> None:
    with pytest.raises(Invalid) as refused:
        typed({"items": {"type": "string"}}, value=list(range(20)))

    findings = refused.value.extra["findings"]
    assert [(one.pointer, one.found, one.allowed) for one in findings] == [
        (f"/{number}", str(number), "a text") for number in range(5)
    ]


@pytest.mark.parametrize(
    ("answer", "code", "pointer"),
    [
        ({}, "missing_field", "/value"),
        ({"text": " "}, "missing_field", "/value"),
        ({"option": 1}, "unexpected_field", "/option"),
        ({"decision": "yes"}, "unexpected_field", "/decision"),
        ({"value": 1, "text": "1"}, "unexpected_field", "/text"),
        ({"value": None, "option": 1}, "unexpected_field", "/option"),
        ({"text": "x" * 100_001}, "too_long", "/text"),
        ({"value": "x" * 100_000}, "too_long", "/value"),  # its quotes are two too many
        ({"value": ["x"] * 50_000}, "too_long", "/value"),
    ],
)
def test_an_answer_that_is_no_value_is_refused(answer: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        typed({"type": ["string", "array"]}, **answer)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_may_be_so_deep_and_no_deeper() -> None:
    assert typed({"type": "array"}, value=nested(wire.MAX_DEPTH)).value == nested(wire.MAX_DEPTH)
    for levels in (wire.MAX_DEPTH + 1, 100_000):
        with pytest.raises(Invalid, match="nested more than 32 levels deep") as refused:
            typed({"type": "array"}, value=nested(levels))
        assert refused.value.code == "does_not_fit"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)
KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "integer", "number", "null", "nonsense", 3]),
        "enum": st.lists(JSON, max_size=3),
        "const": JSON,
        "minimum": st.integers(-3, 3) | st.floats(),
        "maxLength": st.integers(-1, 4),
        "pattern": st.sampled_from(["^a+$", "(", "(?=x)", "\\d{2}", "(a*)*b"]),
        "required": st.lists(st.sampled_from("ab"), max_size=2),
        "properties": st.dictionaries(st.sampled_from("ab"), st.sampled_from([True, False, {"type": "string"}])),
        "items": st.sampled_from([True, False, {"type": "null"}]),
        "anyOf": st.lists(st.sampled_from([{"type": "string"}, {"type": "null"}, {"$ref": "#"}, {}]), max_size=3),
        "$ref": st.sampled_from(["#", "#/properties/a", "#x", "http://127.0.0.1:9/x", "file:///etc/passwd", 3]),
        "additionalProperties": st.booleans(),
    },
)


def judged(wanted: dict[str, Any], answer: Respond) -> Reply | Invalid:
    try:
        return judge(Channel.TOOL_CALL, [], wanted, answer)
    except Invalid as refused:
        return refused


@example({"enum": [{"\ud800": None}]}, None)
@given(KEYWORDS, JSON)
def test_any_value_by_any_schema_is_a_reply_or_a_refusal(wanted: dict[str, Any], value: Any) -> None:
    codes = ("does_not_fit",) if schema_trouble(wanted) is None else ("unusable_schema",)
    for answer in (Respond(value=value), Respond(text=json.dumps(value))):
        found = judged(wanted, answer)
        if isinstance(found, Invalid):
            assert found.code in codes
            assert len(found.message) < 1_000
        else:
            assert codes == ("does_not_fit",)
            assert msgspec.json.decode(found.text) == found.value
            found.text.encode()


@given(JSON)
def test_what_is_kept_is_what_was_given(value: Any) -> None:
    found = judged({"title": "anything"}, Respond(value=value))

    if isinstance(found, Invalid):
        assert "64 bits" in found.message or "not finite" in found.message
    else:
        given = json.dumps(value, ensure_ascii=False)
        assert json.loads(found.text) == json.loads(storable(given.replace("\\u0000", "\ufffd")))


# ---- defaults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "wanted", "text", "option", "reply"),
    [
        ([], None, "go on", None, Reply("default", "go on", "policy")),
        (OPTIONS, None, None, 2, Reply("default", "green", "policy", option=2)),
        (OPTIONS, None, "Green", None, Reply("default", "green", "policy", option=2)),
        ([], {"type": "integer"}, "5", None, Reply("default", "5", "policy", value=5)),
        ([], None, None, None, None),
        ([], None, " ", None, None),
        ([], None, None, 1, None),
        (OPTIONS, None, "go on", None, None),
        (OPTIONS, None, None, 3, None),
        ([], {"type": "integer"}, "go on", None, None),
        ([], {"type": "integer"}, None, 1, None),
    ],
)
def test_a_default_is_given_only_where_it_fits(
    options: list[str], wanted: dict[str, Any] | None, text: str | None, option: int | None, reply: Reply | None
) -> None:
    assert judge_default(Channel.TOOL_CALL, options, wanted, text, option) == reply


def test_a_default_decides_nothing_but_asks() -> None:
    for channel in (Channel.NOTIFICATION, Channel.SYSTEM, Channel.HANDOFF):
        assert judge_default(channel, OPTIONS, None, "yes", None) is None
        assert judge_default(channel, OPTIONS, None, None, 1) is None


# ---- schemas ----------------------------------------------------------------------------------------------------


USUAL_PATTERNS = [
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+)?$",
    r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
    r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$",
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$",
    r"^https?://[^\s/]+(/\S*)?$",
    r"^\(?\d{3}\)?[ -]?\d{3}-\d{4}( ?x\d{1,6})?$",
    r"^[\p{L} '-]{1,4}$",
    r"^.{1,255}$",
    r"^[\w./-]{1,255}$",
    r"(?i)^(yes|no|maybe)$",
    r"^[0-9a-f]{64}$",
]


def chain(doors: int) -> dict[str, Any]:
    """References that double at each step: little to read, very much to do."""
    steps: dict[str, Any] = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(doors)}
    return {"$defs": {**steps, f"s{doors}": {"type": "integer"}}, "$ref": "#/$defs/s0"}


def deep(levels: int) -> dict[str, Any]:
    wanted: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        wanted = {"items": wanted}
    return wanted


@pytest.mark.parametrize(
    "wanted",
    [
        SERVICE,
        {"$defs": {"port": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/port"}}},
        {"$defs": {"a b/c": {"type": "null"}}, "items": {"$ref": "#/$defs/a%20b~1c"}},
        {"$defs": {"x": {"$anchor": "here", "type": "null"}}, "items": {"$ref": "#here"}},
        {"$id": "https://example.com/s", "$defs": {"x": {}}, "$ref": "https://example.com/s#/$defs/x"},
        {"prefixItems": [{"type": "null"}, {"$ref": "#/prefixItems/0"}]},
        {"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "id": {"type": "string"}}},
        {"const": {"id": "x"}},
        deep(30),
        chain(5),
        *({"type": "string", "pattern": pattern} for pattern in USUAL_PATTERNS),
        {"properties": {f"p{n}": {"pattern": pattern} for n, pattern in enumerate(USUAL_PATTERNS * 3)}},
    ],
)
def test_a_usual_schema_is_taken(wanted: dict[str, Any]) -> None:
    assert schema_trouble(wanted) is None


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"type": "integr"}, "integr"),
        ({"pattern": "("}, "regex"),
        ({"pattern": "(?=a)b"}, "regex"),  # needs an engine that backtracks
        ({"pattern": r"(a)\1"}, "regex"),
        ({"pattern": "((a{1000}){1000}){1000}"}, "repetitions written out"),
        ({"pattern": "a{0,00000000000000099999}"}, "repetitions written out"),
        ({"pattern": f"a{{{'9' * 10_000}}}"}, "repetitions written out"),
        ({"pattern": r"\pL{ 60 }"}, "repetitions written out"),
        ({"pattern": "[[^]b]c]{4000}"}, "repetitions written out"),
        ({"pattern": "(?i)a{9000}"}, "repetitions written out"),
        ({"pattern": r"\d" * 200}, "repetitions written out"),
        ({"pattern": r"\s" * 30_000}, "repetitions written out"),
        ({"pattern": "a" * 60_000}, "repetitions written out"),
        ({"allOf": [{"pattern": r"(\w{30}){30}"} for _ in range(100)]}, "repetitions written out"),
        ({"patternProperties": {f".{{500}}{n}": {} for n in range(10)}}, "repetitions written out"),
        ({"pattern": r"(?x)\S  {4000}"}, "the flag x"),
        ({"minLength": -1}, "-1"),
        ({"$ref": "#/nowhere"}, "leads nowhere: #/nowhere"),
        ({"$ref": "#nowhere"}, "leads nowhere"),
        ({"prefixItems": [{"$ref": "#/prefixItems/7"}]}, "leads nowhere"),
        ({"$ref": "http://127.0.0.1:9/x"}, "outside the schema: http://127.0.0.1:9/x"),
        ({"$ref": "other.json#/a"}, "outside the schema"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "outside the schema"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "outside the schema"),
        ({"$schema": "http://127.0.0.1:9/x"}, "meta-schema"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"items": {"$ref": "#"}}, "leads back to itself"),
        ({"$anchor": "a", "items": {"anyOf": [{"$ref": "#a"}]}}, "leads back to itself"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "leads back to itself"),
        ({"$dynamicRef": "#x"}, "are not followed"),
        ({"$defs": {"a": {"$id": "https://example.com/a"}}}, "only the whole of it may have an $id"),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"a": {"id": "http://x/"}}},
            "only the whole of it",
        ),
        (chain(14), "more than 2,000 parts"),
        (chain(200), "levels deep"),
        (chain(600), "more than 2,000 parts"),
        (deep(70), "levels deep"),
        ({"allOf": [{"pattern": f"a{{{n}}}"} for n in range(101)]}, "more than 100 patterns"),
        ({"patternProperties": {f"a{{{n}}}": {} for n in range(101)}}, "more than 100 patterns"),
        ({"enum": [0] * 2_001}, "more than 2,000 parts"),
    ],
)
def test_a_schema_that_cannot_be_used_or_costs_too_much_is_not_taken(wanted: dict[str, Any], reason: str) -> None:
    trouble = schema_trouble(wanted)

    assert trouble is not None
    assert reason in trouble
    assert len(trouble) < 400
    with pytest.raises(Invalid, match="decline it with a reason") as refused:
        typed(wanted, value=1)
    assert refused.value.code == "unusable_schema"


def test_no_reference_is_ever_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/schema.json"
        for wanted in (
            {"$ref": url},
            {"$schema": url},
            {"$id": url, "$ref": "other.json"},
            {"$id": url, "$ref": "#/$defs/x"},
            {"items": {"anyOf": [{"$ref": f"{url}#/a"}]}},
            {"const": {"$ref": url}},
            {"properties": {"a": {"$dynamicRef": url}}},
            {"$schema": "http://json-schema.org/draft-04/schema#", "id": url, "items": {"$ref": "x"}},
        ):
            assert schema_trouble(wanted) is not None, wanted
            with pytest.raises(Invalid, match="no answer can be judged"):
                typed(wanted, value=[{"a": 1}])
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_the_trap_for_references_works() -> None:
    """The library itself would fetch: it is our limits that keep it from that."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(30)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/schema.json"
        options = jsonschema_rs.HttpOptions(timeout=0.2, connect_timeout=5)
        with pytest.raises((jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError)):
            jsonschema_rs.validator_for({"$ref": url}, http_options=options)
        listening.accept()[0].close()


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "(.*)*x", "^([a-z]+)*[0-9]$"])
def test_a_hostile_pattern_is_run_to_its_end_without_backtracking(pattern: str) -> None:
    """An engine that backtracks would try 2^50,000 ways, or give up and say so instead of what does not match."""
    with pytest.raises(Invalid, match="a text that matches") as refused:
        typed({"type": "string", "pattern": pattern}, value="a" * 50_000 + "!")

    assert refused.value.code == "does_not_fit"


def test_a_fault_in_very_much_is_told_without_listing_all_of_it() -> None:
    wanted = {"items": {"allOf": [{"type": "string"}] * 200}}

    with pytest.raises(Invalid, match="what fits the schema of the ask") as refused:
        typed(wanted, value=[0] * 40_000)

    assert len(refused.value.extra["findings"]) == 1
    assert len(refused.value.message) < 300


@given(st.integers(0, 70))
def test_depth_is_told_without_going_deep(levels: int) -> None:
    assert wire.is_deeper(nested(levels), wire.MAX_DEPTH + 1) == (levels > wire.MAX_DEPTH)


# ---- schemas that come together ---------------------------------------------------------------------------------


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The schemas that the library is given."""
    given: list[Any] = []
    original = jsonschema_rs.validator_for

    def noted(document: Any, **options: Any) -> jsonschema_rs.Validator:
        given.append(document)
        return original(document, **options)

    monkeypatch.setattr(jsonschema_rs, "validator_for", noted)
    return given


def test_a_schema_that_comes_often_is_judged_once(compiled: list[Any]) -> None:
    schemas = Schemas()
    for _ in range(1_000):
        assert schemas.trouble({"type": "integer"}) is None
        assert "integr" in str(schemas.trouble({"type": "integr"}))

    assert len(compiled) == 2


def test_answers_to_many_asks_of_one_schema_make_it_ready_once(compiled: list[Any]) -> None:
    wanted = {"type": "integer", "title": "of this test alone"}
    for number in range(200):
        assert typed(wanted, value=number).value == number

    assert len(compiled) == 1


@pytest.mark.parametrize(
    "large",
    [
        lambda n: {"allOf": [{"pattern": rf"(\w{{30}}){{30}}{n}"}] * 40},
        lambda n: {"enum": list(range(n, n + 1_900))},
        lambda n: {"enum": [0] * 30_000 + [n]},
        lambda n: {"pattern": "a" * 40_000 + str(n)},
    ],
)
def test_schemas_that_come_together_are_judged_with_so_much_work_and_no_more(large: Any, compiled: list[Any]) -> None:
    schemas, judged = Schemas(), 0
    wanted = [large(n) for n in range(120)]
    for document in wanted:
        judged += "at once" not in (schemas.trouble(document) or "")
    assert 0 < judged < 80
    assert len(compiled) <= 40
    assert "at once" in str(schemas.trouble({"type": "integer"}))

    assert schemas.trouble(wanted[0]) != schemas.trouble({"type": "integer"})  # what was judged stays so
    assert Schemas().trouble({"type": "integer"}) is None


def test_a_thousand_different_usual_schemas_may_come_together() -> None:
    schemas = Schemas()
    for number in range(1_000):
        wanted = {
            "title": f"Service {number}",
            "type": "object",
            "properties": {"name": {"pattern": "^[a-z0-9-]{1,63}$"}, "port": {"minimum": 1}, "tier": {"enum": ["a"]}},
            "required": ["name", "port"],
        }
        assert schemas.trouble(wanted) is None
