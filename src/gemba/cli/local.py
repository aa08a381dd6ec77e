"""The door that needs no server: the API's own tables, run on the store in this process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

from gemba.action import ids_in
from gemba.actions import ACTIONS
from gemba.api.decode import decode_body, decode_query
from gemba.api.routes import READS
from gemba.app import App
from gemba.cli.door import encode_body, query_string
from gemba.cli.log import set_up_logging
from gemba.config import Settings, Workspace
from gemba.errors import NotFound
from gemba.event import Event, Filter
from gemba.operators import OPERATOR
from gemba.store.database import explained
from gemba.threads import Mailbox


class LocalDoor:
    is_server = False

    def __init__(self, app: App, operator: str) -> None:
        self._app = app
        self._operator = operator

    def get(self, path: str, **query: str | int | None) -> Any:
        for read in READS:
            ids = ids_in(read.path, path)
            if ids is not None:
                if read.personal:
                    ids["operator"] = self._operator
                asked = decode_query(query_string(query).encode(), read.query)
                with explained("the database failed"):
                    return msgspec.to_builtins(read.handler(self._app, asked, **ids))
        raise NotFound(f"there is nothing at {path}", code="not_found")

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._act("POST", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self._act("PATCH", path, body)

    def _act(self, method: str, path: str, body: dict[str, Any]) -> Any:
        for action in ACTIONS:
            ids = action.ids_in(path)
            if ids is not None and action.method == method:
                checked = decode_body(encode_body(body), action.body)
                prepared = action.prepared(self._app.database.surroundings, checked, **ids)
                with explained("the database failed"):
                    with self._app.database.transaction(self._operator) as tx:
                        result = action.verb(tx, prepared, **ids)
                    self._app.keeping.keep()
                    self._app.see_to_consults()
                    self._app.write_replies()
                    self._app.team_folders.write()
                    self._app.walk_summaries.write()
                return msgspec.to_builtins(result)
        raise NotFound(f"there is nothing at {path}", code="not_found")

    def events(self, after: int, names: str, patience: float | None = None) -> Generator[dict[str, Any], None, None]:
        """Does what a server does while somebody looks; in a thread, so that Ctrl-C reaches whoever looks. Whoever has
        little patience waits for nothing: what can be done here at once was done with the action."""
        if patience is not None:
            return
        told: Mailbox[Event | Exception] = Mailbox()
        stop: Future[Callable[[], object]] = Future()
        wanted = Filter(frozenset(names.split(",")))

        async def follow() -> None:
            loop, task = asyncio.get_running_loop(), cast("asyncio.Task[None]", asyncio.current_task())
            stop.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
            seen = after
            async with self._app.running() as hub:
                while True:
                    await hub.beyond(seen)
                    found, seen = await hub.read(seen, 100, wanted)
                    for event in found:
                        told.put(event)

        def run() -> None:
            try:
                asyncio.run(follow())
            except asyncio.CancelledError:
                pass
            except Exception as error:  # noqa: BLE001 - raised again in the thread that reads
                told.put(error)

        thread = threading.Thread(target=run, name="follow", daemon=True)
        thread.start()
        try:
            while True:
                event = told.get()
                if isinstance(event, Exception):
                    raise event
                yield msgspec.json.decode(msgspec.json.encode(event))
        finally:
            with contextlib.suppress(RuntimeError):  # it has ended already
                stop.result()()
            thread.join()
            told.close()


@contextmanager
def open_local(workspace: Workspace, settings: Settings, home: Path, operator: str = OPERATOR) -> Iterator[LocalDoor]:
    set_up_logging()
    app = App.open(workspace, settings, home)
    try:
        with explained("the database failed"):
            app.catch_up()
        yield LocalDoor(app, operator)
    finally:
        app.close()
