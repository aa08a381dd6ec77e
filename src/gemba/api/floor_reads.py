"""The floor in one read: what needs the operator, what runs, what is next, what it cost.

One state of the database, a few counts and short lists, each by an index; every slice tells its own part, and here
they are put side by side. The page and `gemba floor` ask for it.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, Table, select

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import Read, last_event
from gemba.app import App
from gemba.autodispatch.switching import WORKSPACE, is_on, read_switches
from gemba.escalations.inbox import asks_by_session, read_needs
from gemba.handoff import memories
from gemba.personas import consults, phases
from gemba.personas.phases import ProjectPhase
from gemba.personas.reservations import spending
from gemba.sessions.at_work import AtWorkNow, count_failed, list_living, living
from gemba.sessions.session import SessionView
from gemba.sessions.store import sessions
from gemba.sprints import store as sprints
from gemba.sprints.holds import DispatchHold, HourlyRate, read_holds, read_rates
from gemba.sprints.store import Sprint
from gemba.sprints.usage_view import DayTokens, UsageRow, find_usage, last_days
from gemba.store import rows
from gemba.teams import view
from gemba.teams.run import OPEN, RunState, RunSummary
from gemba.work.item import Kind
from gemba.work.items import find_many
from gemba.work.readiness import count_ready
from gemba.work.selecting import read_ground
from gemba.work.selection import Worker
from gemba.work.tables import items

MOST_SESSIONS = 8
MOST_RUNS = 5
MOST_READY = 5
_CONSIDERED = 200  # of what is ready, the first in the usual order
_DAYS = 14


class FloorWaiting(msgspec.Struct, frozen=True):
    """How many wait, since when the oldest does, and its id."""

    many: int
    oldest_at: str | None
    oldest_id: str | None


class FloorNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """What wants the operator. `approvals` and `proposed`, answers to which a second person has to agree, are among the
    `blocking` and `advisory` ones. `memories` are suggested by agents, `advice` are consults with lines to apply of
    which none was, `plans` team runs that wait for their start. `total` counts each once."""

    total: int
    blocking: FloorWaiting
    advisory: FloorWaiting
    approvals: FloorWaiting
    proposed: FloorWaiting
    undelivered: FloorWaiting
    memories: FloorWaiting
    advice: FloorWaiting
    plans: FloorWaiting
    snoozed: int


class FloorSessions(msgspec.Struct, frozen=True):
    """The sessions that run: the first few, and how many there are. `failed` were heard of within a day; `items` has
    the titles of what they say they work on, by id."""

    sessions: list[SessionView]
    total: int
    needs_you: int
    failed: int
    items: dict[str, str]


class FloorRuns(msgspec.Struct, frozen=True):
    """Team runs that are not over, newest first."""

    runs: list[RunSummary]
    total: int


class FloorItem(msgspec.Struct, frozen=True):
    """What should be done at this place, and why."""

    id: str
    title: str
    kind: Kind
    priority: int
    rank: int
    score: int
    reasons: list[str]


class FloorReady(msgspec.Struct, frozen=True):
    """What is ready: the best for whoever is free, of the first that are. `more` says that there is more than `total`
    counts, `holds` why nothing is begun, and `auto` whether it is given to agents without a person."""

    items: list[FloorItem]
    total: int
    more: bool
    holds: list[DispatchHold]
    auto: bool


class FloorAdvisors(msgspec.Struct, frozen=True):
    """What all personas together spend today, in dollars."""

    spent_dollars: float
    reserved_dollars: float
    day_dollars: float


class FloorCost(msgspec.Struct, frozen=True):
    """What was used against what may be: today's turns, the last days' tokens (the oldest first), the sprint that runs,
    the day's caps of personas, the hour's caps of the workspace."""

    today: UsageRow | None
    days: list[DayTokens]
    sprint: Sprint | None
    advisors: FloorAdvisors
    rates: list[HourlyRate]


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """The whole floor at one moment. `untouched`: no agent was heard of, and no work filed, ever."""

    needs: FloorNeeds
    running: FloorSessions
    teams: FloorRuns
    ready: FloorReady
    cost: FloorCost
    phase: ProjectPhase
    untouched: bool
    as_of: int


def floor(app: App, _query: Nothing) -> Floor:
    now = clock.now()
    with app.database.read() as connection:
        as_of = last_event(connection)
        at_work = list_living(connection, now, MOST_SESSIONS, asks_by_session(connection))
        return Floor(
            needs=_needs(app, connection),
            running=_running(connection, at_work, now),
            teams=FloorRuns(*view.list_runs(connection, _root(app), MOST_RUNS, None, sorted(OPEN))[:2]),
            ready=_ready(app, connection, now),
            cost=_cost(app, connection, now),
            phase=phases.read(connection),
            untouched=not (_has_rows(connection, sessions) or _has_rows(connection, items)),
            as_of=as_of,
        )


def _needs(app: App, connection: Connection) -> FloorNeeds:
    asked = read_needs(connection)
    remembered, advised = memories.suggested(connection), consults.unapplied(connection)
    planned = view.waiting_runs(connection, _root(app), RunState.PLANNED)
    each = (asked.blocking, asked.advisory, asked.undelivered, remembered, advised, planned)
    return FloorNeeds(
        total=sum(part.many for part in each),
        blocking=_told(asked.blocking),
        advisory=_told(asked.advisory),
        approvals=_told(asked.approvals),
        proposed=_told(asked.proposed),
        undelivered=_told(asked.undelivered),
        memories=_told(remembered),
        advice=_told(advised),
        plans=_told(planned),
        snoozed=asked.snoozed,
    )


def _running(connection: Connection, at_work: AtWorkNow, now: int) -> FloorSessions:
    named = [one.bead_id for one in at_work.views if one.bead_id is not None]
    titles = {id: row.title for id, row in find_many(connection, named).items()}
    return FloorSessions(
        at_work.views, at_work.total, at_work.needs_you, count_failed(connection, now - clock.DAY), titles
    )


def _ready(app: App, connection: Connection, now: int) -> FloorReady:
    """Whoever is free would do these; that nothing is begun at this moment is said beside it, and not instead."""
    total, more = count_ready(connection, now)
    ground = read_ground(connection, living(connection, now), now, most=_CONSIDERED)
    best = [
        FloorItem(
            named.id,
            named.title,
            named.kind,
            named.priority,
            choice.rank,
            choice.score,
            [line.text for line in choice.reasons if line.points or line.kind == "ordered"],
        )
        for choice in ground.field.rank(Worker(), MOST_READY).choices
        for named in (ground.names[choice.item_id],)
    ]
    thrown = read_switches(connection, _root(app))
    holds = read_holds(connection, app.settings.caps, now)
    return FloorReady(best, total, more, holds, is_on(thrown, WORKSPACE, app.settings.auto.enabled))


def _cost(app: App, connection: Connection, now: int) -> FloorCost:
    days = last_days(connection, _DAYS, now)
    running = sprints.find_running(connection)
    spent = spending(connection, app.personas.by_id.values(), now).values()
    return FloorCost(
        today=find_usage(connection, "day", days[-1].day),
        days=days,
        sprint=None if running is None else sprints.view(connection, running),
        advisors=FloorAdvisors(
            sum(each.settled_dollars for each in spent),
            sum(each.reserved_dollars for each in spent),
            sum(each.day_dollars for each in spent),
        ),
        rates=read_rates(connection, app.settings.caps, now),
    )


def _told(found: rows.Waiting) -> FloorWaiting:
    return FloorWaiting(found.many, clock.told(found.at), found.id)


def _root(app: App) -> str:
    return str(app.workspace.root)


def _has_rows(connection: Connection, table: Table) -> bool:
    return connection.execute(select(table.c.id).limit(1)).first() is not None


READS = (
    Read(
        "/api/floor",
        floor,
        Nothing,
        Floor,
        "The floor: what needs the operator, what runs, what is next, what it cost",
        cached=True,
    ),
)
