"""`/mcp`: the door for MCP clients. What serves it is loaded with the first request: most servers have none.

The guard has judged the request before: token, Host and Origin on TCP, the socket's mode otherwise.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from gemba.api.problem import problem
from gemba.api.security import OPERATOR_KEY
from gemba.app import App
from gemba.store.hub import Hub

if TYPE_CHECKING:
    from gemba.mcp.http import McpServer

log = structlog.get_logger("gemba.mcp")


class McpDoor:
    """An ASGI application that is there at once, and behind it one that starts when it is wanted."""

    def __init__(self, app: App, hub: Hub) -> None:
        self._app = app
        self._hub = hub
        self._starting: asyncio.Task[McpServer] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp
        if self._hub.closed:
            answer = problem(503, "ending", "the server ends; the same request can be sent to the next one")
        else:
            answer = await self._served()
        await answer(scope, receive, send)

    async def _served(self) -> ASGIApp:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        try:
            return await asyncio.shield(self._starting)
        except Exception:
            log.exception("the MCP server could not be started")
            self._starting = None
            return problem(500, "internal", "something went wrong inside; the server's log has it")

    async def _start(self) -> McpServer:
        server = (await asyncio.to_thread(_load))(self._app, self._hub, OPERATOR_KEY)
        ready = asyncio.Event()
        self._running = asyncio.create_task(server.run(ready.set))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([self._running, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._running.done():
            self._running.result()
        return server


def _load() -> type[McpServer]:
    from gemba.mcp.http import McpServer

    return McpServer
