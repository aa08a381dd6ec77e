"""Errors as `application/problem+json`: a code, where the fault lies, what was found, what is allowed."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from gemba.errors import GembaError

MEDIA_TYPE = "application/problem+json"

TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    421: "Wrong host",
    422: "Does not fit",
    424: "The action was refused",
    428: "Confirm id needed",
    500: "Internal error",
    502: "Could not be started",
    503: "Unavailable",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong. Further members (such as the `escalation` of a conflict) may follow."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    pointer: str | None = None
    found: Any = None
    allowed: Any = None


def problem(status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: Any) -> Response:
    body = {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "code": code,
        "detail": detail,
        **{name: value for name, value in members.items() if value is not None},
    }
    return Response(msgspec.json.encode(body), status, headers, media_type=MEDIA_TYPE)


def problem_of(error: GembaError) -> Response:
    return problem(
        error.status,
        error.code,
        error.message,
        pointer=error.pointer,
        found=error.found,
        allowed=error.allowed,
        **error.extra,
    )
