"""A state machine is a table: (state, event) → next state. Every slice's `<noun>.py` has one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from gemba.errors import Conflict

S = TypeVar("S", bound=StrEnum)


class Machine(Generic[S]):
    """Runs one table. The database commits a move as `UPDATE … WHERE state = <the state it was decided on>`."""

    def __init__(self, noun: str, table: Mapping[tuple[S, str], S]) -> None:
        self.noun = noun
        self.table = dict(table)

    def after(self, state: S, event: str) -> S:
        """The state that follows, or a Conflict that names what is allowed."""
        try:
            return self.table[state, event]
        except KeyError:
            raise Conflict(
                f"{self.noun} is {state}: it cannot be {event}",
                code="illegal_move",
                found=str(state),
                allowed=self.events_from(state),
            ) from None

    def allows(self, state: S, event: str) -> bool:
        return (state, event) in self.table

    def events_from(self, state: S) -> list[str]:
        return [event for (source, event) in self.table if source == state]

    def diagram(self) -> str:
        """The table as a Mermaid state diagram, for the docs."""
        rows = [f"    {source} --> {target}: {event}" for (source, event), target in self.table.items()]
        return "\n".join(["stateDiagram-v2", *rows])
