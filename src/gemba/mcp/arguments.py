"""A call's arguments, judged by the tool's own schema in the words of the commands: the place, what was found, what is
allowed. It knows the part of JSON Schema that our table uses. Pure, standard library only.
"""

from gemba.speaker import checked, shown
from gemba.wire import Refused, is_deeper

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document

DEEPEST = 100  # levels; every reader of a log can take them

_WORDS = {
    "string": "a text",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def fitting(schema: "Document", given: object) -> "Document":
    """The arguments as far as they are given: null is as good as left out. Refused for what does not fit."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise Refused(f"the arguments are {_kind(given)}; allowed: an object")
    if is_deeper(given, DEEPEST):
        raise Refused(f"the arguments are nested more than {DEEPEST} levels deep")
    known = schema["properties"]
    for name in given:
        if name not in known:
            raise Refused(f"unknown argument {shown(name)}; allowed: {', '.join(known) or 'none'}")
    found = {name: value for name, value in given.items() if value is not None}
    for name in schema.get("required", ()):
        if name not in found:
            raise Refused(f"{name} is missing; allowed: {_allowed(known[name])}")
    for name, value in found.items():
        _check(name, value, known[name])
    return found


def _check(name: str, value: object, schema: "Document") -> None:
    if not any(_is(value, wanted) for wanted in _types(schema)):
        raise Refused(f"{name} is {_kind(value)}; allowed: {_allowed(schema)}")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(f"{name} {shown(str(value))} is unknown; allowed: {_allowed(schema)}")
    if isinstance(value, str) and "maxLength" in schema:
        checked(name, value, schema["maxLength"])
    if isinstance(value, int | float) and "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        raise Refused(f"{name} is {value}; allowed: {_allowed(schema)}")
    if isinstance(value, list):
        if not value:
            raise Refused(f"{name} is empty; allowed: up to {schema['maxItems']} items")
        if len(value) > schema["maxItems"]:
            raise Refused(f"{name} has {len(value)} items; allowed: up to {schema['maxItems']}")
        for number, item in enumerate(value):
            _check(f"{name}[{number}]", item, schema["items"])


def _allowed(schema: "Document") -> str:
    if "enum" in schema:
        return ", ".join(schema["enum"])
    if "minimum" in schema:
        return f"a number from {schema['minimum']} to {schema['maximum']}"
    return " or ".join([_WORDS[wanted] for wanted in _types(schema)])


def _types(schema: "Document") -> list[str]:
    return [one["type"] for one in schema.get("anyOf", (schema,))]


def _is(value: object, wanted: str) -> bool:
    if wanted == "number":  # false for what is no number, and for the infinite, which JSON can spell
        return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
    return _kind(value) == _WORDS[wanted]


def _kind(value: object) -> str:
    names = {str: "string", bool: "boolean", list: "array", dict: "object"}
    return "null" if value is None else _WORDS[names.get(type(value), "number")]
