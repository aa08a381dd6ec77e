"""What can be read of planning: what each session should do next, what can be done at the same time, and the board as
epic_order is given it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba import clock, git, wire
from gemba.action import Nothing
from gemba.api.read import BIGGEST, Limit, Read, last_event
from gemba.app import App
from gemba.personas.board import read_order_input
from gemba.sessions.at_work import living, living_with
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.sprints.holds import DispatchHold, gates_of, read_holds
from gemba.work.parallel import Batch, choose_batch
from gemba.work.selecting import Ground, Named, read_ground
from gemba.work.selection import Ranking, Worker

Words = Annotated[str, msgspec.Meta(max_length=2_000)]
MOST_CELLS = 5_000  # sessions times items


class SelectionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`room` is how many tokens of context a session has left, `intent` a comma list of the concepts and labels that
    it is for. `batch` is how many items are to run at once at most."""

    session: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_SESSION_ID)] | None = None
    room: Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)] | None = None
    intent: Words | None = None
    batch: Limit = 20
    limit: Limit = 10


class SessionRanking(Ranking, frozen=True, kw_only=True):
    """What a session should do next; without a `session_id` one that has done nothing yet."""

    session_id: str | None


class Selection(msgspec.Struct, frozen=True):
    """Sessions by what is ready, each with the first few items and what is ruled out for it; `items` has the names of
    all that occur. `more` says that only the first of what is ready were considered, `holds` why nothing of it is
    begun at this moment."""

    sessions: list[SessionRanking]
    batch: Batch
    items: list[Named]
    ready: int
    more: bool
    as_of: int
    holds: list[DispatchHold]


def selection(app: App, query: SelectionQuery) -> Selection:
    now = clock.now()
    with app.database.read() as connection:
        as_of = last_event(connection)
        known = living(connection, now) if query.session is None else living_with(connection, now, query.session)
        holds = read_holds(connection, app.settings.caps, now)
        ground = read_ground(connection, known, now, gates_of(holds))
    wanted = [query.session] if query.session is not None else [None, *(one.id for one in known if not one.is_coach)]
    limit = max(1, min(query.limit, MOST_CELLS // len(wanted)))
    intent = frozenset(word for part in (query.intent or "").split(",") if (word := part.strip()))
    rankings = [_ranking(ground, id, query.room, intent, limit) for id in wanted]
    open_ = ground.field.open_to_anyone()
    batch = choose_batch(open_, query.batch)
    told = {*batch.items, *batch.left_out}
    for ranking in rankings:
        told.update(choice.item_id for choice in ranking.choices)
        told.update(out.item_id for out in ranking.ruled_out)
    named = [each for id, each in ground.names.items() if id in told]
    return Selection(rankings, batch, named, len(open_), ground.more, as_of, holds)


def _ranking(ground: Ground, id: str | None, room: int | None, intent: frozenset[str], limit: int) -> SessionRanking:
    worker = (Worker() if id is None else ground.workers[id])._replace(room=room, intent=intent)
    found = ground.field.rank(worker, limit)
    return SessionRanking(**{name: getattr(found, name) for name in Ranking.__struct_fields__}, session_id=id)


def epic_order_input(app: App, _query: Nothing) -> EpicOrderInput:
    commits = git.recent_commits(str(app.workspace.root))
    with app.database.read() as connection:
        return read_order_input(connection, app.workspace, clock.now(), commits)


READS = (
    Read(
        "/api/skills/epic_order/input",
        epic_order_input,
        Nothing,
        EpicOrderInput,
        "The input of epic_order as the board is now: the epics that are to be done, with their signals",
    ),
    Read(
        "/api/work-items/selection",
        selection,
        SelectionQuery,
        Selection,
        "What each session should do next, with reasons, and what can be done at the same time",
    ),
)
