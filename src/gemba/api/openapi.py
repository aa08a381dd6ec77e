"""The OpenAPI 3.1 document, made from the same tables that the server mounts.

`python -m gemba.api.openapi` prints it; the page's types are generated from that.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import msgspec

import gemba
from gemba.action import Action, Nothing
from gemba.actions import ACTIONS
from gemba.api.metrics import PATH as METRICS
from gemba.api.problem import MEDIA_TYPE, Problem
from gemba.api.read import Read
from gemba.api.routes import READS
from gemba.event import Event
from gemba.skills.consult.registry import SKILLS

_PARAMETER = re.compile(r"\{(\w+)\}")
_REF = "#/components/schemas/{name}"
_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
_ERRORS = {"4XX": {"description": "Refused", **_PROBLEM}, "5XX": {"description": "Failed", **_PROBLEM}}
_CONFIRM = {
    "name": "X-GEMBA-Confirm",
    "in": "header",
    "required": True,
    "description": "A new id for each new request; the same request sent again with the same id runs once.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
}


@cache
def document() -> dict[str, Any]:
    types = {read.result for read in READS} | {Problem, Event}
    types |= {kind for action in ACTIONS for kind in (action.body, action.result)}
    # The lines of consults, so that the page has a type for each.
    types |= {kind for skill in SKILLS.values() for kind in skill.grammar.kinds}
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    schema_of = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for read in READS:
        paths.setdefault(read.path, {})["get"] = _read(read, schema_of)
    for action in ACTIONS:
        paths.setdefault(action.path, {})[action.method.lower()] = _action(action, schema_of)
    paths["/api/events"] = {"get": _events()}
    paths[METRICS] = {"get": _metrics()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gemba",
            "version": gemba.__version__,
            "summary": "The operator's floor for teams of coding agents",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _read(read: Read, schema_of: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": read.handler.__name__,
        "summary": read.summary,
        "parameters": [*_path_parameters(read.path), *_query_parameters(read.query)],
        "responses": {"200": _json("The answer", schema_of[read.result], read.media_type), **_ERRORS},
    }
    if read.public:
        operation["security"] = []
    return operation


def _action(action: Action, schema_of: dict[Any, Any]) -> dict[str, Any]:
    return {
        "operationId": action.verb.__name__,
        "summary": action.summary,
        "parameters": [*_path_parameters(action.path), *_query_parameters(action.in_query), _CONFIRM],
        "requestBody": {
            "required": action.body is not Nothing,
            "content": {"application/json": {"schema": schema_of[action.body]}},
        },
        "responses": {str(action.status): _json("What it is now", schema_of[action.result]), **_ERRORS},
    }


def _events() -> dict[str, Any]:
    text = {"type": "string"}
    number = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    parameters = [
        {"name": "name", "in": "query", "description": "A comma list of event names", "schema": text},
        {"name": "session", "in": "query", "schema": text},
        {"name": "ref", "in": "query", "schema": text},
        {"name": "after", "in": "query", "description": "As Last-Event-ID", "schema": number},
        {"name": "Last-Event-ID", "in": "header", "description": "Resume after this sequence", "schema": number},
    ]
    stream = {"description": "Events as they happen", "content": {"text/event-stream": {"schema": text}}}
    return {
        "operationId": "events",
        "summary": "Every event, live and resumable; `data` is an Event",
        "parameters": parameters,
        "responses": {"200": stream, **_ERRORS},
    }


def _metrics() -> dict[str, Any]:
    text = {"description": "The figures", "content": {"text/plain": {"schema": {"type": "string"}}}}
    return {
        "operationId": "metrics",
        "summary": "Figures of the workspace and of this server, for Prometheus",
        "parameters": [],
        "responses": {"200": text, **_ERRORS},
    }


def _path_parameters(path: str) -> list[dict[str, Any]]:
    text = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": text} for name in _PARAMETER.findall(path)]


def _query_parameters(query: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """A parameter's schema stands where it is used: what only a query needs is no component of its own."""
    _, components = msgspec.json.schema_components([query], ref_template="{name}")
    parameters = []
    for name, schema in components[query.__name__].get("properties", {}).items():
        # A parameter is absent rather than null, so `null` is no value of it.
        choices = [choice for choice in schema.get("anyOf", [schema]) if choice.get("type") != "null"]
        choices = [components.get(choice.get("$ref"), choice) for choice in choices]
        parameters.append(
            {"name": name, "in": "query", "schema": choices[0] if len(choices) == 1 else {"anyOf": choices}}
        )
    return parameters


def _json(description: str, schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}


if __name__ == "__main__":
    text = msgspec.json.format(msgspec.json.encode(document()), indent=2).decode()
    sys.stdout.write(text + "\n")
