"""An assumption: a decision that an agent took alone, with the commit it stood on. Types only."""

from __future__ import annotations

import msgspec

from gemba.escalations.escalation import Delivery


class Overturned(msgspec.Struct, frozen=True):
    """The operator's other decision."""

    text: str
    at: str


class Assumption(msgspec.Struct, frozen=True):
    """An assumption as the API, the page and the command line show it."""

    id: str
    session_id: str
    agent_type: str
    role: str | None
    text: str
    chose: str
    bead_id: str | None
    recorded_at: str
    cwd: str | None
    commit: str | None
    branch: str | None
    overturned: Overturned | None
    delivery: Delivery
