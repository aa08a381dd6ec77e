"""What can be read of team runs, as a table: so far the messages on their bus."""

from __future__ import annotations

from gemba.action import Nothing
from gemba.api.read import Read
from gemba.app import App
from gemba.teams import bus
from gemba.teams.bus import BusStatus, MessageList, MessageQuery, MessageView, StateList, StateQuery


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

READS = (*MESSAGES,)
