"""What the board reads: cards in a column for each state, in pages, and which moves between states there are."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.errors import Invalid
from gemba.work.cards import Lane, Place, Wanted, WorkCard, cards_of, counts, lane
from gemba.work.item import FINISHED, MOVES, Kind, State
from gemba.work.items import Sought

MOST_IDS = 200

Words = Annotated[str, msgspec.Meta(max_length=500, pattern=r"^[^\x00]*$")]
Ids = Annotated[str, msgspec.Meta(max_length=30_000, pattern=r"^[^\x00]*$")]


class BoardQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state`, `kind` and `ids` are comma lists: `state` names the columns whose cards are wanted, `ids` the only
    cards. `limit` is for each column; a `cursor` continues the one column that `state` names."""

    state: str | None = None
    kind: str | None = None
    label: Words | None = None
    parent: Words | None = None
    text: Words | None = None
    assignee: Words | None = None
    ready: bool = False
    blocked: bool = False
    ids: Ids | None = None
    limit: Limit = 100
    cursor: str | None = None


class WorkColumn(msgspec.Struct, frozen=True):
    """The items in one state. `total` counts all of the column that are sought, whether cards were wanted or not."""

    state: State
    total: int
    cards: list[WorkCard]
    next_cursor: str | None


class WorkBoard(msgspec.Struct, frozen=True):
    """All columns; `names` has the titles of the items that cards name as parents and blockers, by id."""

    columns: list[WorkColumn]
    names: dict[str, str]
    as_of: int


class WorkMoves(msgspec.Struct, frozen=True):
    """For each state, the states that an item in it may be moved to."""

    moves: dict[State, list[State]]


def board(app: App, query: BoardQuery) -> WorkBoard:
    states = [State(each) for each in states_in(query.state, State)]
    after = _after(query, states)
    sought = Sought(
        kinds=states_in(query.kind, Kind, "kind"),
        label=query.label,
        parent=query.parent,
        text=query.text,
        assignee=query.assignee,
    )
    wanted = Wanted(sought, query.ready, query.blocked, _ids(query.ids))
    now = clock.now()
    with app.database.read() as connection:
        as_of = last_event(connection)
        totals = counts(connection, wanted, now)
        lanes = {
            state: lane(connection, wanted, state, query.limit, after, now) if totals.get(state) else Lane([], None)
            for state in states or list(State)
        }
        cards, names = cards_of(connection, [row for each in lanes.values() for row in each.rows], now)
    columns = [
        WorkColumn(state, totals.get(state, 0), [cards[row.id] for row in found.rows], seal_cursor(found.next))
        for state in State
        for found in (lanes.get(state, Lane([], None)),)
    ]
    return WorkBoard(columns, names, as_of)


def moves(_app: App, _query: Nothing) -> WorkMoves:
    return WorkMoves({state: list(targets) for state, targets in MOVES.items()})


def _after(query: BoardQuery, states: list[State]) -> Place | None:
    if query.cursor is None:
        return None
    if len(states) != 1:
        raise Invalid(
            "cursor continues one column, and state does not name one",
            code="invalid_value",
            pointer="/state",
            found=query.state,
            allowed="the state of the column that the cursor is from",
        )
    if states[0] in FINISHED:
        return open_cursor(query.cursor, tuple[int, str])
    return open_cursor(query.cursor, tuple[int, int, int, str])


def _ids(text: str | None) -> list[str] | None:
    if text is None:
        return None
    ids = list(dict.fromkeys(id for id in text.split(",") if id))
    if len(ids) > MOST_IDS:
        raise Invalid(
            f"ids has {len(ids)}; allowed: up to {MOST_IDS}",
            code="invalid_value",
            pointer="/ids",
            found=len(ids),
            allowed=f"up to {MOST_IDS}",
        )
    return ids


READS = (
    Read("/api/board", board, BoardQuery, WorkBoard, "Work items as cards, in a column for each state", cached=True),
    Read("/api/board/moves", moves, Nothing, WorkMoves, "The states that an item in a state may be moved to"),
)
