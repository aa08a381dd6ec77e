"""What can be read of team runs, as a table."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.teams import bus_reads as bus
from gemba.teams import view
from gemba.teams.bus_reads import BusStatus, MessageList, MessageQuery, MessageView, StateList, StateQuery
from gemba.teams.run import RunState, RunSummary, RunView
from gemba.teams.store import get_run
from gemba.teams.transfers import WhoKnowsWhat, who_knows_what
from gemba.teams.view import TaskDetail, find_artifact


class RunQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` is a comma list."""

    state: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class RunList(msgspec.Struct, frozen=True):
    """A page of runs, without their tasks."""

    runs: list[RunSummary]
    total: int
    next_cursor: str | None
    as_of: int


def teams(app: App, query: RunQuery) -> RunList:
    before = open_cursor(query.cursor, tuple[int, str])
    states = states_in(query.state, RunState)
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = view.list_runs(connection, str(app.workspace.root), query.limit, before, states)
    return RunList(page, total, seal_cursor(following), as_of)


def team(app: App, _query: Nothing, *, id: str) -> RunView:
    with app.database.read() as connection:
        return view.view_run(connection, id)


def team_task(app: App, _query: Nothing, *, id: str, task: str) -> TaskDetail:
    with app.database.read() as connection:
        return view.view_detail(connection, id, task)


class ArtifactQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`version` of its task; the latest unless it is said."""

    version: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None


class ArtifactView(msgspec.Struct, frozen=True):
    """What a task wrote down, as it was when the task was done."""

    name: str
    task_id: str
    version: int
    digest: str
    content: str


def team_knowledge(app: App, _query: Nothing, *, id: str) -> WhoKnowsWhat:
    with app.database.read() as connection:
        get_run(connection, id)
        return who_knows_what(connection, id)


def team_artifact(app: App, query: ArtifactQuery, *, id: str, name: str) -> ArtifactView:
    with app.database.read() as connection:
        get_run(connection, id)
        row = find_artifact(connection, id, name, query.version)
    return ArtifactView(row.name, row.task_id, row.version, row.digest, row.content)


def messages(app: App, query: MessageQuery, *, id: str) -> MessageList:
    with app.database.read() as connection:
        return bus.list_messages(connection, id, query)


def message(app: App, _query: Nothing, *, id: str, number: str) -> MessageView:
    with app.database.read() as connection:
        return bus.read_message(connection, id, bus.number_of(number))


def message_status(app: App, _query: Nothing, *, id: str) -> BusStatus:
    with app.database.read() as connection:
        return bus.bus_status(connection, id)


def message_state(app: App, query: StateQuery, *, id: str) -> StateList:
    with app.database.read() as connection:
        return bus.list_states(connection, id, query)


MESSAGES = (
    Read(
        "/api/teams/{id}/messages",
        messages,
        MessageQuery,
        MessageList,
        "Messages on the bus of a team run: the latest, or those since one",
    ),
    Read(
        "/api/teams/{id}/messages/status",
        message_status,
        Nothing,
        BusStatus,
        "Who has read how much in a team run, and what each said last",
    ),
    Read(
        "/api/teams/{id}/messages/state",
        message_state,
        StateQuery,
        StateList,
        "What was reported of the tasks of a team run, merged by task",
    ),
    Read("/api/teams/{id}/messages/{number}", message, Nothing, MessageView, "One message of a team run"),
)

READS = (
    Read("/api/teams", teams, RunQuery, RunList, "Team runs, newest first", cached=True),
    Read("/api/teams/{id}", team, Nothing, RunView, "One team run with all its tasks", cached=True),
    Read("/api/teams/{id}/tasks/{task}", team_task, Nothing, TaskDetail, "One task with every attempt at it"),
    Read(
        "/api/teams/{id}/knowledge", team_knowledge, Nothing, WhoKnowsWhat, "What each task published, and who got it"
    ),
    Read("/api/teams/{id}/artifacts/{name}", team_artifact, ArtifactQuery, ArtifactView, "An artifact of a team run"),
    *MESSAGES,
)
