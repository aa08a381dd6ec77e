"""What can be read of auto-dispatch, as a table: its switches, what holds it, and its starts with their reasons."""

from __future__ import annotations

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor
from gemba.app import App
from gemba.autodispatch import store
from gemba.autodispatch.advice import AutoAdvice, read_advice
from gemba.autodispatch.choosing import decide, workers_of
from gemba.autodispatch.facts import read_situation
from gemba.autodispatch.start import AutoHold, AutoStart
from gemba.autodispatch.switching import WORKSPACE, AutoSwitch, read_switches, view


class AutoType(msgspec.Struct, frozen=True):
    """A type of agent: its switch, and how much of its room is taken; `unusable` says why none can run here."""

    agent_type: str
    switch: AutoSwitch
    living: int
    max_parallel: int
    unusable: str | None


class AutoKept(msgspec.Struct, frozen=True):
    """An item that is ready and waits for a person all the same, and why."""

    item_id: str
    reason: str


class AutoStatus(msgspec.Struct, frozen=True):
    """Whether ready work is started by itself, for whom, and what holds it now; `running` of at most `max_parallel`
    were started so. `workers` is how many may work at once, null where a person starts them."""

    switch: AutoSwitch
    types: list[AutoType]
    holds: list[AutoHold]
    kept: list[AutoKept]
    running: int
    max_parallel: int
    workers: int | None
    advice: AutoAdvice | None
    as_of: int


class StartQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    cursor: str | None = None


class AutoStartList(msgspec.Struct, frozen=True):
    """A page of automatic starts, newest first."""

    starts: list[AutoStart]
    total: int
    next_cursor: str | None
    as_of: int


def status(app: App, _query: Nothing) -> AutoStatus:
    here, root = app.rounds.here(), str(app.workspace.root)
    with app.database.read() as connection:
        as_of = last_event(connection)
        situation, _ = read_situation(connection, here, clock.now())
        thrown = read_switches(connection, root)
        asked = read_advice(connection, root)
    shown = {name: view(row) for name, row in thrown.items()}
    types = [
        AutoType(one.name, shown.get(one.name, AutoSwitch(one.name, one.on)), one.living, one.most, one.unusable)
        for one in situation.types
    ]
    return AutoStatus(
        switch=shown.get(WORKSPACE, AutoSwitch(None, situation.on)),
        types=types,
        holds=decide(situation).holds,
        kept=[AutoKept(id, reason) for id, reason in sorted(situation.kept.items())],
        running=situation.running,
        max_parallel=situation.most,
        workers=workers_of(situation),
        advice=asked,
        as_of=as_of,
    )


def starts(app: App, query: StartQuery) -> AutoStartList:
    before = open_cursor(query.cursor, tuple[int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = store.list_starts(connection, str(app.workspace.root), query.limit, before)
    return AutoStartList(page, total, seal_cursor(following), as_of)


READS = (
    Read("/api/auto", status, Nothing, AutoStatus, "Whether ready work is started by itself, and what holds it now"),
    Read(
        "/api/auto/starts",
        starts,
        StartQuery,
        AutoStartList,
        "What was started by itself, with every reason, newest first",
        cached=True,
    ),
)
