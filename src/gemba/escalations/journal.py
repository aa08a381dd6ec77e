"""What happens to asks, told in the program's log: a line each at info, by ids, kinds and times.

Never a text, a title, an option, an answer or a note: a log goes where its reader may not see those. It reads the
events like anybody else, so nothing that happens has to be logged where it happens. Where nobody wants such lines it
costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import msgspec
import structlog
from sqlalchemy import Row, select

from gemba import clock, typed
from gemba.escalations.store import escalations
from gemba.event import Event, Filter
from gemba.store.database import REFUSALS, Database, reason_of
from gemba.store.hub import Hub

LINES = {
    "escalation_opened": "ask opened",
    "escalation.reminded": "ask reminded",
    "escalation.notified": "ask notified",
    "escalation.reopened": "ask reopened",
    "escalation.proposed": "answer proposed",
    "escalation.refused": "answer refused",
    "escalation.resolved": "ask answered",
    "escalation.dismissed": "ask declined",
    "escalation.expired": "ask expired",
    "escalation.withdrawn": "ask withdrawn",
    "escalation.rerouted": "reply rerouted",
    "escalation.delivered": "reply delivered",
    "escalation.undelivered": "reply undelivered",
}

_OF_REPLIES = frozenset(name for name, line in LINES.items() if line.startswith("reply"))
_WANTED = Filter(frozenset(LINES))
_BATCH = 500
_RETRY_SECONDS = 2.0

log = structlog.get_logger("gemba.journal")


class _Notified(msgspec.Struct, frozen=True):
    channel: str
    ok: bool


async def keep_journal(database: Database, hub: Hub) -> None:
    """A line for everything that happens from now on, until the hub is closed."""
    if not log.bind().is_enabled_for(logging.INFO):
        return
    seen = hub.last
    while not hub.closed:
        await hub.beyond(seen)
        try:
            found, seen = await hub.read(seen, _BATCH, _WANTED)
            rows = await asyncio.to_thread(_rows, database, {event.ref for event in found if event.ref})
        except REFUSALS as error:
            log.warning("the journal has a gap: the database refuses", reason=reason_of(error))
            await asyncio.sleep(_RETRY_SECONDS)
            continue
        for event in found:
            log.info(LINES[event.name], **facts(event, rows.get(event.ref)))


def facts(event: Event, row: Row[Any] | None) -> dict[str, Any]:
    """What is told of an event: which ask, and how long after it was made (of a reply: after it was given)."""
    told: dict[str, Any] = {"id": event.ref, "session": event.session_id}
    if row is None:
        return told
    told |= {"kind": row.kind, "urgency": row.urgency}
    since = row.resolved_at if event.name in _OF_REPLIES else row.opened_at
    at = clock.parse(event.at)
    if since is not None and at is not None:
        told["seconds"] = round(max(0, at - since) / clock.SECOND, 3)
    if LINES[event.name] in ("ask answered", "ask declined"):
        told |= {"by": row.resolved_by, "who": row.resolved_as}
    if event.name == "escalation.notified":
        told |= msgspec.structs.asdict(typed.decode(event.payload, _Notified))
    return told


def _rows(database: Database, ids: Iterable[str]) -> dict[str | None, Row[Any]]:
    columns = ("id", "kind", "urgency", "opened_at", "resolved_at", "resolved_by", "resolved_as")
    query = select(*(escalations.c[name] for name in columns)).where(escalations.c.id.in_(ids))
    with database.read() as connection:
        return {row.id: row for row in connection.execute(query)}
