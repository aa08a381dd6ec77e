"""What can be read of walks, as a table."""

from __future__ import annotations

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor
from gemba.app import App
from gemba.walks import store
from gemba.walks.hint import hint
from gemba.walks.walk import WalkDetail, WalkHint, WalkSummary


class WalkQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    cursor: str | None = None


class WalkList(msgspec.Struct, frozen=True):
    """A page of walks, and whether one is worth it now."""

    walks: list[WalkSummary]
    total: int
    next_cursor: str | None
    hint: WalkHint
    as_of: int


def walks(app: App, query: WalkQuery, *, operator: str) -> WalkList:
    before = open_cursor(query.cursor, tuple[int, str])
    workspace = str(app.workspace.root)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = store.list_walks(connection, workspace, query.limit, before)
        offered = hint(connection, store.slot(operator, workspace), clock.now())
    return WalkList(page, total, seal_cursor(following), offered, as_of)


def walk(app: App, _query: Nothing, *, id: str) -> WalkDetail:
    with app.database.read() as connection:
        return store.detail(connection, id, clock.now())


READS = (
    Read("/api/walks", walks, WalkQuery, WalkList, "Walks, newest first, and whether one is worth it", personal=True),
    Read("/api/walks/{id}", walk, Nothing, WalkDetail, "One walk: its agenda, what was said, what came of it"),
)
