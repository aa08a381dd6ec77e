"""What can be read of sprints and cost: sprints and histories, what turns took, what holds new work, how days go."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import BIGGEST, Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.sprints.holds import DispatchHold, read_holds
from gemba.sprints.insights import Insights, InsightsQuery, read_insights
from gemba.sprints.sprint import SprintState
from gemba.sprints.store import Sprint, SprintChange, SprintDetail, detail, get, list_changes, list_sprints
from gemba.sprints.usage_view import By, UsageRow, first_day, list_usage


class SprintQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` is a comma list of states."""

    state: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class SprintHistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    before: Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)] | None = None


class UsageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is summed up: by session, task, epic, sprint, persona or day."""

    by: By = "day"
    limit: Limit = 50
    cursor: str | None = None


class SprintList(msgspec.Struct, frozen=True):
    """A page of sprints, newest first."""

    sprints: list[Sprint]
    total: int
    next_cursor: str | None
    as_of: int


class SprintHistory(msgspec.Struct, frozen=True):
    """The changes of a sprint, newest first; `next_before` is where the next page starts."""

    changes: list[SprintChange]
    total: int
    next_before: int | None


class UsageList(msgspec.Struct, frozen=True):
    """The largest first; days, the newest. `since` is the day of the first turn that told what it took."""

    by: By
    rows: list[UsageRow]
    total: int
    next_cursor: str | None
    as_of: int
    since: str | None


class HoldList(msgspec.Struct, frozen=True):
    """Why nothing new is begun; nothing here, nothing is held."""

    holds: list[DispatchHold]


def sprints(app: App, query: SprintQuery) -> SprintList:
    before = open_cursor(query.cursor, tuple[int, str])
    states = states_in(query.state, SprintState)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_sprints(connection, states, query.limit, before)
    return SprintList(page, total, seal_cursor(following), as_of)


def sprint(app: App, _query: Nothing, *, id: str) -> SprintDetail:
    with app.database.read() as connection:
        return detail(connection, get(connection, id), clock.now())


def sprint_history(app: App, query: SprintHistoryQuery, *, id: str) -> SprintHistory:
    with app.database.read() as connection:
        get(connection, id)
        return SprintHistory(*list_changes(connection, id, query.limit, query.before))


def usage(app: App, query: UsageQuery) -> UsageList:
    before = open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page = list_usage(connection, query.by, query.limit, before)
        since = first_day(connection)
    return UsageList(query.by, page.rows, page.total, seal_cursor(page.next), as_of, since)


def holds(app: App, _query: Nothing) -> HoldList:
    with app.database.read() as connection:
        return HoldList(read_holds(connection, app.settings.caps, clock.now()))


def insights(app: App, query: InsightsQuery) -> Insights:
    names = {id: persona.name for id, persona in app.personas.by_id.items()}
    with app.database.read() as connection:
        as_of = last_event(connection)
        return read_insights(connection, query.days, clock.now(), names, as_of)


READS = (
    Read("/api/sprints", sprints, SprintQuery, SprintList, "Sprints, newest first", cached=True),
    Read("/api/sprints/{id}", sprint, Nothing, SprintDetail, "One sprint with its items and its burn-down"),
    Read("/api/sprints/{id}/history", sprint_history, SprintHistoryQuery, SprintHistory, "What changed, newest first"),
    Read(
        "/api/usage",
        usage,
        UsageQuery,
        UsageList,
        "What turns took, by session, task, epic, sprint, persona or day",
        cached=True,
    ),
    Read("/api/holds", holds, Nothing, HoldList, "Why nothing new is begun at this moment"),
    Read(
        "/api/insights",
        insights,
        InsightsQuery,
        Insights,
        "The last days: usage and its cost, dispatches, asks, times to see and to answer, blocked minutes",
    ),
)
