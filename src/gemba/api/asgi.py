"""The ASGI application: the tables as routes, the event stream, MCP, the page, and the guard around all of it."""

from __future__ import annotations

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gemba.actions import ACTIONS
from gemba.api import metrics, openapi, site
from gemba.api.cache import Cache
from gemba.api.endpoints import action_route, escaped, guarded, not_found, read_route
from gemba.api.mcp import McpDoor
from gemba.api.metrics import Meter
from gemba.api.routes import READS
from gemba.api.security import MCP_PATH, Guard, is_api
from gemba.api.stream import HEARTBEAT_SECONDS, Stream
from gemba.app import App
from gemba.operators import Operators
from gemba.store.hub import Hub

OPENAPI = "/api/openapi.json"


def make_asgi(
    app: App, hub: Hub, *, token: str, origins: frozenset[str], heartbeat: float = HEARTBEAT_SECONDS
) -> ASGIApp:
    meter = Meter()
    api = _router([*api_routes(app, hub, heartbeat, meter), Route(MCP_PATH, McpDoor(app, hub))])
    page = _router(site.routes())

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if is_api(scope["path"]):
            await api(escaped(scope), receive, send)
        else:
            await page(scope, receive, send)

    public = frozenset({read.path for read in READS if read.public} | {OPENAPI})
    operators = Operators(token, app.workspace.operators_folder)
    return Guard(dispatch, operators=operators, origins=origins, public=public, meter=meter)


def api_routes(app: App, hub: Hub, heartbeat: float, meter: Meter) -> list[Route]:
    cache = Cache(hub)
    stream = Stream(app, hub, heartbeat)
    figures = metrics.Metrics(app, meter, lambda: stream.open)
    return [
        *(read_route(app, read, cache) for read in READS),
        *(action_route(app, action) for action in ACTIONS),
        Route("/api/events", guarded(stream.respond), methods=["GET"]),
        Route(metrics.PATH, guarded(figures.respond), methods=["GET"]),
        Route(OPENAPI, _openapi, methods=["GET"]),
    ]


def _router(routes: list[Route] | list[BaseRoute]) -> Starlette:
    router = Starlette(routes=routes, exception_handlers={404: not_found, 405: not_found})
    router.router.redirect_slashes = False  # a path has one spelling
    return router


async def _openapi(_request: Request) -> Response:
    return Response(msgspec.json.encode(openapi.document()), media_type="application/json")
