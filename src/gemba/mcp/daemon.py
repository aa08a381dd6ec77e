"""The server's own side of the tools: what the pipe of an agent asks for over the socket is done here at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from gemba import clock, typed, wire
from gemba.app import App
from gemba.errors import GembaError
from gemba.escalations.handing_over import Submit, submit
from gemba.fit import fit
from gemba.handoff import handoffs
from gemba.handoff.contract_view import list_sections
from gemba.handoff.sections import read_sections
from gemba.mcp.headers import ROLE
from gemba.sessions.store import role_of
from gemba.speaker import Session
from gemba.store.database import Transaction, explained
from gemba.teams import bus_reads as bus
from gemba.teams.messaging import (
    AcknowledgeMessages,
    BroadcastMessage,
    LogMessages,
    acknowledge_messages,
    broadcast_message,
    log_messages,
)
from gemba.wire import Refused
from gemba.work.claiming import ClaimItem, claim_item
from gemba.work.item import Cause
from gemba.work.readiness import ready_items

Document = dict[str, Any]


class OwnServer:
    """The App as the tools want it, for requests of one operator."""

    def __init__(self, app: App, operator: str) -> None:
        self._app = app
        self._operator = operator

    def take_role(self, session: Session) -> None:
        """The role of a session that Gemba started is on record: it is taken from there, and no other is claimed."""
        with _refusing(), self._app.database.read() as connection:
            recorded = role_of(connection, session.id)
        if recorded and session.role not in ("", recorded):
            raise Refused(f"{ROLE} {session.role} is not this session's role; allowed: {recorded}")
        session.role = recorded or session.role

    def hand_in(self, handoff: Document) -> Document:
        with _refusing():
            # As text, so that the numbers and texts in it are what any other way would have made of them.
            body = typed.decode(wire.encode_json(handoff), Submit)
            return _plain(self._app.database.change(lambda tx: submit(tx, body), self._operator))

    def handoff(self, id: str) -> Document:
        with _refusing(), self._app.database.read() as connection:
            return _plain(handoffs.view(handoffs.get(connection, id)))

    def sections(self) -> list[Document]:
        with _refusing():
            declared = read_sections(self._app.workspace)
            with self._app.database.read() as connection:
                return [_plain(section) for section in list_sections(connection, declared)]

    def ready_work(self, limit: int) -> Document:
        now = clock.now()
        with _refusing(), self._app.database.read() as connection:
            page = ready_items(connection, now, limit)
        return {"items": [_plain(row) for row in page.rows], "total": page.total, "more": page.more}

    def claim_work(self, id: str, owner: str, seconds: int) -> Document:
        body = ClaimItem(owner, seconds)

        def claim(tx: Transaction) -> Document:
            tx.cause = Cause("run", owner)
            return _plain(claim_item(tx, body, id=id))

        with _refusing():
            return self._app.database.change(claim, self._operator)

    def post_to_team(self, run: str, verb: str, body: Document) -> Document:
        kind, does = _POSTS[verb]
        with _refusing():
            given = fit(_as_json(body), kind)
            return _plain(self._app.database.change(lambda tx: does(tx, given, id=run), self._operator))

    def read_of_team(self, run: str, what: str, query: Document) -> Document:
        with _refusing():
            given = _as_json(query)
            with self._app.database.read() as connection:
                if what == "status":
                    return _plain(bus.bus_status(connection, run))
                if what == "state":
                    return _plain(bus.list_states(connection, run, fit(given, bus.StateQuery)))
                if what:
                    return _plain(bus.read_message(connection, run, bus.number_of(what)))
                return _plain(bus.list_messages(connection, run, fit(given, bus.MessageQuery)))


# What a team run's bus is asked to do, by the end of its path.
_POSTS: dict[str, tuple[type[msgspec.Struct], Callable[..., msgspec.Struct]]] = {
    "": (LogMessages, log_messages),
    "broadcast": (BroadcastMessage, broadcast_message),
    "ack": (AcknowledgeMessages, acknowledge_messages),
}


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        with explained("the database failed"):
            yield
    except (msgspec.MsgspecError, TypeError) as error:
        raise Refused(f"the server refused it: {error}") from None
    except GembaError as error:
        raise Refused(f"the server refused it: {error.message}") from None


def _as_json(document: Document) -> Document:
    """As text, so that the numbers and texts in it are what any other way would have made of them."""
    found: Document = msgspec.json.decode(wire.encode_json(document))
    return found


def _plain(value: Any) -> Document:
    found: Document = msgspec.json.decode(msgspec.json.encode(value))
    return found
