"""The tools over Streamable HTTP, by the official SDK: the only place that knows it.

Whom a request speaks for stands in its headers (`headers.py`). Who may send any is judged before, as for the API. A
client that cancels a call, and a server that ends, end the wait alone: what was asked stays open.

Called by the API's route, which loads this with the first request: the SDK takes most of a second, and much memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent
from mcp_types import Tool as ListedTool

import gemba
from gemba import wire
from gemba.app import App
from gemba.mcp import tools
from gemba.mcp.daemon import OwnServer
from gemba.mcp.headers import session_of
from gemba.mcp.tool import Answer
from gemba.mcp.waits import Line, Waits
from gemba.store.hub import Hub
from gemba.watch import FolderWatch
from gemba.wire import Refused

if TYPE_CHECKING:
    from gemba.mcp.tool import Waiting

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Context = ServerRequestContext[Any, Any]

_LINE_KEY = "gemba.mcp.line"
_NEVER = 2**63 - 1  # the id of an event that does not come
_GRACE_SECONDS = 1.0

_LISTED = ListToolsResult(tools=[ListedTool.model_validate(tool.listed()) for tool in tools.TOOLS])


class McpServer:
    """An ASGI application for one path. `operator_key` is where the scope says whom a request is from."""

    def __init__(self, app: App, hub: Hub, operator_key: str) -> None:
        self._app = app
        self._hub = hub
        self._operator_key = operator_key
        self._waits = Waits()
        self._open = 0  # requests that are not answered; a stream that a client keeps open is none
        self._all_answered = asyncio.Event()
        server: Server[Any] = Server(
            "gemba",
            version=gemba.__version__,
            title="Gemba",
            instructions=tools.INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            get_tool_input_schema=lambda name: tools.BY_NAME[name].schema if name in tools.BY_NAME else None,
        )
        self._manager = StreamableHTTPSessionManager(server, max_request_body_size=app.settings.server.max_body_bytes)

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until the hub is closed; `ready` is called once requests are taken."""
        home = str(self._app.home)
        replies = wire.replies_folder(home)
        wire.make_folder(home, replies)
        with FolderWatch(replies) as watch:
            watching = asyncio.create_task(self._waits.run(watch))
            try:
                async with self._manager.run():
                    ready()
                    await self._hub.beyond(_NEVER)
                    self._waits.end()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._answered(), _GRACE_SECONDS)
            finally:
                watching.cancel()
                await asyncio.wait([watching])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_request = scope["method"] != "GET"
        line = scope[_LINE_KEY] = Line()
        self._open += is_request
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            line.hang_up()
            self._open -= is_request
            self._all_answered.set()

    async def _answered(self) -> None:
        while self._open:
            self._all_answered.clear()
            await self._all_answered.wait()

    async def _list(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return _LISTED

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        request: Any = context.request
        line: Line = request.scope[_LINE_KEY]
        try:
            answer = await self._answer(context, params.name, params.arguments, line)
        except (Refused, OSError) as error:
            answer = tools.refused(error)
        if line.is_open:  # more nobody can tell; a reply stays there to be asked for again
            await asyncio.to_thread(answer.delivered)
        return CallToolResult(
            content=[TextContent(type="text", text=answer.text)],
            structured_content=answer.facts,
            is_error=answer.is_error,
        )

    async def _answer(self, context: Context, name: str, given: object, line: Line) -> Answer:
        request: Any = context.request
        session = session_of(request.headers, home=str(self._app.home), workspace=str(self._app.workspace.root))
        server = OwnServer(self._app, request.scope[self._operator_key])

        def begin() -> Answer | Waiting:
            server.take_role(session)
            return tools.call(name, given, session, server)

        found = await asyncio.to_thread(begin)
        if isinstance(found, Answer):
            return found

        async def report(seconds: float, message: str) -> None:
            await context.session.report_progress(seconds, message=message)

        return await self._waits.answer(found, line, report)
