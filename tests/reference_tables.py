"""Tables of the reference pages that are longer than a line of code: requests, settings, codes. For `tests.reference`.

Each is read from what the program itself goes by: the OpenAPI document, the types of the settings with the comments
that `gemba init` writes beside them, and the places in the sources where something is refused.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

import gemba
from gemba import errors
from gemba.api.openapi import document
from gemba.config import Settings

SOURCES = Path(gemba.__file__).parent
_TEMPLATE = SOURCES / "template/workspace.toml"
_POLICIES = ("channels", "policy")  # what they hold has a page of its own
_KEY = re.compile(r"# (?P<key>[a-z_]+) = .*?(?: {2,}# (?P<says>.*))?")
_MORE = re.compile(r" {8,}# (?P<says>.*)")


# ---- requests ---------------------------------------------------------------------------------------------------


def requests() -> str:
    """A table for each noun of the API, by the first part of its paths."""
    tables: dict[str, list[str]] = {}
    for path, methods in document()["paths"].items():
        noun = path.removeprefix("/api/").strip("/").partition("/")[0]
        for method, operation in methods.items():
            tables.setdefault(noun, []).append(
                f"| `{method.upper()} {path}` | {_cell(operation['summary'])} | {_taken(operation)} |"
            )
    return "\n".join(
        "\n".join([f"## {noun}", "", "| request | does | takes |", "|---|---|---|", *rows, ""])
        for noun, rows in tables.items()
    )


def _taken(operation: dict[str, Any]) -> str:
    """What a request may carry beside its path: of the query, then of the body; in bold what it must have."""
    query = [
        ("?" + parameter["name"], parameter.get("required", False))
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    ]
    content = operation.get("requestBody", {}).get("content", {})
    body = _properties(content["application/json"]["schema"]) if content else []
    return ", ".join(f"**`{name}`**" if needed else f"`{name}`" for name, needed in [*query, *body])


def _properties(schema: dict[str, Any]) -> list[tuple[str, bool]]:
    if "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    needed = schema.get("required", ())
    return [(name, name in needed) for name in schema.get("properties", {})]


# ---- settings ---------------------------------------------------------------------------------------------------


def settings() -> str:
    """A table for each table of workspace.toml, but for those that have a page of their own."""
    whole = inspect.type_info(Settings)
    assert isinstance(whole, inspect.StructType)
    said = _comments()
    parts = [
        part for field in whole.fields if field.name not in _POLICIES for part in _tables(field.name, field.type, said)
    ]
    return "\n".join(parts)


def _tables(name: str, kind: inspect.Type, said: dict[tuple[str, str], str]) -> Iterator[str]:
    assert isinstance(kind, inspect.StructType)
    rows = []
    for field in kind.fields:
        if isinstance(field.type, inspect.StructType):
            yield from _tables(f"{name}.{field.name}", field.type, said)
        else:
            default = msgspec.json.encode(field.default).decode()
            rows.append(
                f"| `{field.name}` | `{default}` | {_allowed(field.type)} | {_cell(said.get((name, field.name), ''))} |"
            )
    if rows:
        yield "\n".join([f"## [{name}]", "", "| key | default | allowed | says |", "|---|---|---|---|", *rows, ""])


def _allowed(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case inspect.BoolType():
            return "`true`, `false`"
        case inspect.IntType(ge=least, le=most) | inspect.FloatType(ge=least, le=most):
            return f"{least or 0:,} to {most:,}" if most is not None else f"{least or 0:,} or more"
        case inspect.StrType(max_length=int(most)):
            return f"text, at most {most} characters"
    return "text"


def _comments() -> dict[tuple[str, str], str]:
    """What the template says of each key, by its table."""
    said: dict[tuple[str, str], str] = {}
    table, key = "", ""
    for line in _TEMPLATE.read_text().splitlines():
        if found := re.match(r"\[([a-z.]+)\]", line):
            table, key = found[1], ""
        elif found := _KEY.fullmatch(line):
            key = found["key"]
            said[table, key] = found["says"] or ""
        elif (found := _MORE.fullmatch(line)) and key:
            said[table, key] = "; ".join(filter(None, (said[table, key], found["says"])))
        else:
            key = ""
    return said


# ---- codes ------------------------------------------------------------------------------------------------------


def codes() -> str:
    """Every code that a refusal can carry, with its status and an example of what is said."""
    found: dict[tuple[str, int], str] = {}
    statuses = _statuses()
    for tree in _trees():
        for code, status, says in _refusals(tree, statuses):
            found[code, status] = max(found.get((code, status), ""), says, key=_letters)
    rows = [f"| `{code}` | {status} | {_cell(says)} |" for (code, status), says in sorted(found.items())]
    return "\n".join(["| code | status | such as |", "|---|---|---|", *rows, ""])


@cache
def _trees() -> list[ast.Module]:
    """Of every source that names a code, or is a kind of refusal."""
    texts = (path.read_text() for path in sorted(SOURCES.rglob("*.py")))
    return [ast.parse(text) for text in texts if "code=" in text or "problem(" in text or "    status = " in text]


def _refusals(tree: ast.Module, statuses: dict[str, int]) -> Iterator[tuple[str, int, str]]:
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            said = {
                node.targets[0].id: node.value
                for node in ast.walk(scope)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            }
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    yield from _refusal(node, node.func.id, said, statuses)


def _refusal(
    call: ast.Call, name: str, said: dict[str, ast.expr], statuses: dict[str, int]
) -> Iterator[tuple[str, int, str]]:
    if name == "problem" and len(call.args) >= 3:
        status, code, says = call.args[:3]
        if isinstance(status, ast.Constant) and isinstance(code, ast.Constant):
            yield str(code.value), int(str(status.value)), _words(says, said)
    elif name in statuses and call.args:
        for keyword in call.keywords:
            if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                yield str(keyword.value.value), statuses[name], _words(call.args[0], said)


def _statuses() -> dict[str, int]:
    """What HTTP answers for each kind of refusal, by the name of its class; one that says nothing has its parent's."""
    found = {kind.__name__: kind.status for kind in (errors.Invalid, errors.NotFound, errors.Conflict, errors.Unusable)}
    for tree in _trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.bases and ast.unparse(node.bases[0]) in found:
                own = [
                    part.value.value
                    for part in node.body
                    if isinstance(part, ast.Assign)
                    and ast.unparse(part.targets[0]) == "status"
                    and isinstance(part.value, ast.Constant)
                ]
                found[node.name] = int(str(own[0])) if own else found[ast.unparse(node.bases[0])]
    for caught in ast.walk(ast.parse((SOURCES / "api/endpoints.py").read_text())):
        # A kind may get its status where it is caught: `except TooLarge as error: … problem(413, error.code`.
        if isinstance(caught, ast.ExceptHandler) and isinstance(caught.type, ast.Name) and caught.type.id in found:
            said = re.search(r"problem\((\d+), error\.code", ast.unparse(caught))
            found[caught.type.id] = int(said[1]) if said else found[caught.type.id]
    return found


def _words(says: ast.expr, said: dict[str, ast.expr]) -> str:
    """A message as it stands in the sources, with an ellipsis for what is put in; nothing if it is made elsewhere."""
    match says:
        case ast.Constant(value=str(text)):
            return " ".join(text.split())
        case ast.JoinedStr(values=values):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in values)
            return " ".join("".join(parts).split())
        case ast.IfExp(body=body):
            return _words(body, {})
        case ast.Name(id=name) if name in said:
            return _words(said[name], {})
    return ""


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
