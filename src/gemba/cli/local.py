"""The door that needs no server: the API's own tables, run on the store in this process."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import msgspec

from gemba.api.decode import decode_body, decode_query
from gemba.api.routes import READS
from gemba.app import ACTIONS, App
from gemba.config import Settings, Workspace
from gemba.errors import NotFound
from gemba.event import Filter
from gemba.store.database import explained

_PAGE = 100


class LocalDoor:
    is_server = False

    def __init__(self, app: App) -> None:
        self._app = app

    def get(self, path: str, **query: str | int | None) -> Any:
        given = urlencode({name: value for name, value in query.items() if value is not None}).encode()
        for read in READS:
            ids = _match(read.path, path)
            if ids is not None:
                with explained("the database failed"):
                    return msgspec.to_builtins(read.handler(self._app, decode_query(given, read.query), **ids))
        raise NotFound(f"there is nothing at {path}", code="not_found")

    def post(self, path: str, body: dict[str, Any]) -> Any:
        for action in ACTIONS:
            ids = _match(action.path, path)
            if ids is not None:
                checked = decode_body(msgspec.json.encode(body), action.body)
                with explained("the database failed"):
                    with self._app.database.transaction() as tx:
                        result = action.verb(tx, checked, **ids)
                    self._app.write_replies()
                return msgspec.to_builtins(result)
        raise NotFound(f"there is nothing at {path}", code="not_found")

    def follow(self, after: int, names: str, handle: Callable[[dict[str, Any]], None]) -> None:
        asyncio.run(self._follow(after, Filter(frozenset(names.split(","))), handle))

    async def _follow(self, after: int, wanted: Filter, handle: Callable[[dict[str, Any]], None]) -> None:
        """Do what a server does meanwhile, so that there is something to follow."""
        async with self._app.running() as hub:
            while True:
                await hub.beyond(after)
                found, after = await hub.read(after, _PAGE, wanted)
                for event in found:
                    handle(msgspec.json.decode(msgspec.json.encode(event)))


@contextmanager
def open_local(workspace: Workspace, settings: Settings, home: Path) -> Iterator[LocalDoor]:
    app = App.open(workspace, settings, home)
    try:
        with explained("the database failed"):
            app.catch_up()
        yield LocalDoor(app)
    finally:
        app.close()


def _match(pattern: str, path: str) -> dict[str, str] | None:
    found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern), path)
    return None if found is None else {name: unquote(value) for name, value in found.groupdict().items()}
