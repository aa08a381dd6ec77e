"""The ASGI application: the tables as routes, the event stream, the page, and the guard around all of it."""

from __future__ import annotations

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gemba.api import openapi, site
from gemba.api.endpoints import action_route, guarded, not_found, read_route
from gemba.api.problem import problem
from gemba.api.routes import READS
from gemba.api.security import Guard
from gemba.api.stream import Stream
from gemba.app import ACTIONS, App
from gemba.store.hub import Hub

OPENAPI = "/api/openapi.json"


def make_asgi(app: App, hub: Hub, *, token: str, origins: frozenset[str]) -> ASGIApp:
    routes = [
        *(read_route(app, read) for read in READS),
        *(action_route(app, action) for action in ACTIONS),
        Route("/api/events", guarded(Stream(app, hub).respond), methods=["GET"]),
        Route(OPENAPI, _openapi, methods=["GET"]),
        Route("/api/{rest:path}", _unknown),
        *site.routes(),
    ]
    inner = Starlette(routes=routes, exception_handlers={404: not_found, 405: not_found})
    public = frozenset({read.path for read in READS if read.public} | {OPENAPI})
    return Guard(inner, token=token, origins=origins, public=public)


async def _openapi(_request: Request) -> Response:
    return Response(msgspec.json.encode(openapi.document()), media_type="application/json")


async def _unknown(request: Request) -> Response:
    return problem(404, "not_found", "there is nothing at this path", found=request.url.path[:200])
