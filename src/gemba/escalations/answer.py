"""What an operator's answer means for an escalation of its channel, options and schema, or why it does not fit.

Pure, and the only place that knows the JSON Schema library. Judging an answer fetches nothing, runs no pattern in more
than linear time, and does no more work than `schema.py` has found a schema to be good for.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

import jsonschema_rs
import msgspec

from gemba import wire
from gemba.errors import Invalid
from gemba.escalations.escalation import Channel, Reply, Respond
from gemba.escalations.misfit import Finding, finding, shown
from gemba.escalations.schema import UnusableError, Weight, weigh
from gemba.text import storable

MOST_FINDINGS = 5

_LARGEST_WHOLE = 2**64  # what every reader of JSON that is not JavaScript's keeps exactly
# Parts of the schema times parts of the value: the library lists every fault at once, and each takes its time.
_MOST_TO_EXPLAIN = 50_000
_PATTERN_BYTES = 1_000_000
# Work (`schema.py`) for all schemas that come at once, a fraction of a second: more than a thousand usual ones.
_MOST_AT_ONCE = 1_000_000
_MOST_READY = 32
_NONE_OF_THESE = 'to say "none of these", decline it with a reason'


# ---- what was asked ---------------------------------------------------------------------------------------------


class Schemas:
    """Judges the schemas of asks that come together: each once, and all of them with so much work and no more."""

    def __init__(self) -> None:
        self._left = _MOST_AT_ONCE
        self._known: dict[bytes, str | None] = {}

    def trouble(self, schema: dict[str, Any]) -> str | None:
        """Why answers cannot be judged by this schema; None when they can."""
        try:
            text = _as_bytes(schema)
        except UnusableError as error:
            return str(error)
        if text not in self._known:
            if self._left <= 0:
                return "too many schemas came at once, or too large ones"
            self._left -= len(text)
            self._known[text] = self._judged(schema)
        return self._known[text]

    def _judged(self, schema: dict[str, Any]) -> str | None:
        try:
            weight = weigh(schema)
            self._left -= weight.work
            _Form(schema, weight)
        except UnusableError as error:
            return str(error)
        return None


def schema_trouble(schema: dict[str, Any]) -> str | None:
    """Why answers cannot be judged by a schema that comes alone; None when they can."""
    return Schemas().trouble(schema)


class _Form:
    """A schema, ready to judge values by."""

    def __init__(self, schema: dict[str, Any], weight: Weight) -> None:
        self._parts = weight.parts
        self._validator = _validator(schema)

    def misfits(self, value: Any) -> list[Finding]:
        if self._validator.is_valid(value):
            return []
        if self._parts * _count(value) > _MOST_TO_EXPLAIN:
            return [Finding("", shown(value), "what fits the schema of the ask")]
        return list(dict.fromkeys(map(finding, islice(self._validator.iter_errors(value), MOST_FINDINGS))))


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """JSON Schema 2020-12 unless it names another draft; a `format` is a remark, as that draft has it."""
    try:
        return jsonschema_rs.validator_for(
            schema,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),  # without backtracking
            validate_formats=False,
            retriever=_refuse,
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise UnusableError(error.message[:300]) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableError(str(error)[:300]) from None


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"nothing is fetched: {uri[:100]}")


# ---- what was answered ------------------------------------------------------------------------------------------


def judge(channel: Channel, options: list[str], schema: dict[str, Any] | None, answer: Respond) -> Reply:
    """What an operator's answer means for an escalation of this channel, or why it does not fit."""
    given = [name for name in ("text", "option", "decision", "action") if getattr(answer, name) is not None]
    given += ["value"] if answer.value is not msgspec.UNSET else []
    text = checked_text(answer.text)
    match channel:
        case Channel.NOTIFICATION:
            _only(given, ("decision", "text"), "a client's own prompt is answered with a decision")
            if answer.decision is None:
                raise _missing("decision", ["yes", "no", "modify"])
            if answer.decision == "modify" and not text:
                raise _missing("text", "what to do instead, with decision modify")
            return Reply("answered", text or answer.decision, "operator", decision=answer.decision)
        case Channel.SYSTEM:
            _only(given, ("action", "text"), "this card is answered with one of its actions")
            if answer.action not in options:
                raise Invalid(
                    f"action is {answer.action!r}; this card offers {', '.join(options) or 'none'}",
                    code="invalid_value",
                    pointer="/action",
                    found=answer.action,
                    allowed=options,
                )
            return Reply("answered", text, "operator", action=answer.action)
    if schema is not None:
        _only(given, ("value",) if "value" in given else ("text",), "this ask is answered with a value")
        if "value" in given:
            return _fitting(_form_of(schema), answer.value)
        if not text:
            raise _missing("value", "a value that fits the schema of the ask, or a text")
        return _fitting_text(_form_of(schema), text)
    _only(given, ("text",) if answer.option is None else ("option",), "an answer is a text or an option")
    if answer.option is not None:
        return _chosen(options, answer.option)
    if not text:
        raise _missing("text", "a text that is not empty" + (", or an option's number" if options else ""))
    named = _named(options, text)
    # Whoever ended a turn with options reads any words in the next one; an ask handles its options and no others.
    if named is None and options and channel is not Channel.HANDOFF:
        raise _none_of(options, text)
    return named or Reply("answered", text, "operator")


def judge_default(
    channel: Channel, options: list[str], schema: dict[str, Any] | None, text: str | None, option: int | None
) -> Reply | None:
    """A policy's own answer; None when it has none, or one that does not fit this ask. Only an ask has one."""
    if channel is not Channel.TOOL_CALL:
        return None
    try:
        judged = judge(channel, options, schema, Respond(text=text, option=option))
    except Invalid:
        return None
    return msgspec.structs.replace(judged, outcome="default", by="policy")


def checked_text(text: str | None) -> str:
    """An operator's words as they are stored, or why there are too many of them."""
    stored = storable(text or "").strip()
    if len(stored) > wire.MAX_TEXT:
        raise _too_long("text", len(stored))
    return stored


# ---- options ----------------------------------------------------------------------------------------------------


def _chosen(options: list[str], number: int) -> Reply:
    if not 1 <= number <= len(options):
        allowed = f"1 to {len(options)}" if options else "none: this question has no options, answer with a text"
        raise Invalid(
            f"option is {number}; allowed: {allowed}",
            code="invalid_value",
            pointer="/option",
            found=number,
            allowed=allowed,
        )
    return Reply("answered", options[number - 1], "operator", option=number)


def _named(options: list[str], text: str) -> Reply | None:
    """The option that a text names, if it names one."""
    for same in (str.strip, _folded):
        for number, option in enumerate(options, 1):
            if same(option) == same(text):
                return _chosen(options, number)
    return None


def _none_of(options: list[str], text: str) -> Invalid:
    listed = ", ".join(f"{number}) {_short(option)}" for number, option in enumerate(options, 1))
    return Invalid(
        f"the answer is {shown(text)}; allowed: one of {listed}; {_NONE_OF_THESE}",
        code="does_not_fit",
        pointer="/text",
        found=shown(text),
        allowed=options,
    )


def _folded(text: str) -> str:
    return text.strip().casefold()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


# ---- values -----------------------------------------------------------------------------------------------------


def _fitting(form: _Form, given: Any) -> Reply:
    value, encoded = _plain(given)
    if misfits := form.misfits(value):
        raise _does_not_fit(misfits, "value")
    return Reply("answered", encoded, "operator", value=value)


def _fitting_text(form: _Form, text: str) -> Reply:
    """What somebody typed is JSON if it can be; else it is a text, which saves its quotes."""
    misfits: list[Finding] = []
    remark = ""
    try:
        value, encoded = _plain(_parse(text))
        misfits = form.misfits(value)
        if not misfits:
            return Reply("answered", encoded, "operator", value=value)
    except Invalid as error:
        remark = f" ({error.message})"
    except (ValueError, RecursionError) as error:
        remark = f" (it is no JSON: {error})" if text[:1] in '{["' else ""
    as_text = form.misfits(text)
    if as_text:
        raise _does_not_fit(misfits or as_text, "text", remark)
    return Reply("answered", _plain(text)[1], "operator", value=text)


def _form_of(schema: dict[str, Any]) -> _Form:
    try:
        return _ready(_as_bytes(schema))
    except UnusableError as error:  # one that was taken when more was
        message = f"no answer can be judged by its schema ({error}); decline it with a reason"
        raise Invalid(message, code="unusable_schema", pointer="/value") from None


def _as_bytes(schema: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(schema)
    except UnicodeEncodeError:
        raise UnusableError("it has half of a surrogate pair, which no text may have") from None


@functools.lru_cache(_MOST_READY)
def _ready(text: bytes) -> _Form:
    """Many asks of one schema may be answered together."""
    schema = msgspec.json.decode(text)
    return _Form(schema, weigh(schema))


def _does_not_fit(misfits: list[Finding], field: str, remark: str = "") -> Invalid:
    first = misfits[0]
    return Invalid(
        first.sentence() + remark,
        code="does_not_fit",
        pointer=f"/{field}{first.pointer if field == 'value' else ''}",
        found=first.found,
        allowed=first.allowed,
        findings=misfits,
    )


def _plain(given: Any) -> tuple[Any, str]:
    """A value as it is kept, and as compact JSON; Invalid when it is larger or stranger than that."""
    if wire.is_deeper(given, wire.MAX_DEPTH + 1):
        raise _refused(f"is nested more than {wire.MAX_DEPTH} levels deep", f"up to {wire.MAX_DEPTH} levels")
    try:
        value = _storable(given)
        encoded = msgspec.json.encode(value).decode()
    except (TypeError, ValueError) as error:
        raise _refused(f"cannot be kept: {error}", "JSON with numbers of at most 64 bits") from None
    if len(encoded) > wire.MAX_TEXT:
        raise _too_long("value", len(encoded))
    return value, encoded


def _storable(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): _storable(item) for key, item in value.items()}
        case list():
            return [_storable(item) for item in value]
        case bool() | None:
            return value
        case int():
            if abs(value) >= _LARGEST_WHOLE:
                raise ValueError("a whole number in it has more than 64 bits")
            return value
        case float():
            if not math.isfinite(value):
                raise ValueError("a number in it is not finite")
            return value
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{shown(key)} is in it twice")
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _count(value: Any) -> int:
    return 1 + sum(map(_count, _inside(value)))


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield from value.values() if isinstance(value, dict) else value


# ---- refusals ---------------------------------------------------------------------------------------------------


def _refused(what: str, allowed: str) -> Invalid:
    return Invalid(f"the answer {what}", code="does_not_fit", pointer="/value", found=what, allowed=allowed)


def _too_long(name: str, found: int) -> Invalid:
    return Invalid(
        f"{name} has {found:,} characters; at most {wire.MAX_TEXT:,} are allowed",
        code="too_long",
        pointer=f"/{name}",
        found=found,
        allowed=wire.MAX_TEXT,
    )


def _only(given: list[str], allowed: tuple[str, ...], why: str) -> None:
    for name in given:
        if name not in allowed:
            raise Invalid(
                f"{name} does not fit here: {why}",
                code="unexpected_field",
                pointer=f"/{name}",
                found=name,
                allowed=list(allowed),
            )


def _missing(name: str, allowed: str | list[str]) -> Invalid:
    words = allowed if isinstance(allowed, str) else ", ".join(allowed)
    return Invalid(f"{name} is missing; allowed: {words}", code="missing_field", pointer=f"/{name}", allowed=allowed)
