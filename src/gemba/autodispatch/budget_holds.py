"""What sprints and caps hold back, as automatic starts are told of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from gemba.autodispatch.facts import ReadHolds
from gemba.autodispatch.start import AutoHold
from gemba.config import CapSettings
from gemba.sprints.holds import read_holds


def budget_holds(caps: CapSettings) -> ReadHolds:
    def read(connection: Connection, now: int) -> Sequence[AutoHold]:
        return [AutoHold(hold.kind, hold.words, until=hold.until) for hold in read_holds(connection, caps, now)]

    return read
