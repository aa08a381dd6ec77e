"""The server's own side of the tools: what the pipe of an agent asks for over the socket is done here at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from gemba import clock, wire
from gemba.app import App
from gemba.errors import GembaError
from gemba.escalations.handing_over import Submit, submit
from gemba.handoff import handoffs
from gemba.handoff.contract_view import list_sections
from gemba.handoff.sections import read_sections
from gemba.mcp.headers import ROLE
from gemba.sessions.store import role_of
from gemba.speaker import Session
from gemba.store.database import Transaction, explained
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
            body = msgspec.json.decode(wire.encode_json(handoff), type=Submit)
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


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        with explained("the database failed"):
            yield
    except (msgspec.MsgspecError, TypeError) as error:
        raise Refused(f"the server refused it: {error}") from None
    except GembaError as error:
        raise Refused(f"the server refused it: {error.message}") from None


def _plain(value: Any) -> Document:
    found: Document = msgspec.json.decode(msgspec.json.encode(value))
    return found
