"""A gate's verdict with what it rests on, as an attempt keeps it. Called where work is judged, and where a turn begins
that follows on one that was sent back."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Row

from gemba import typed
from gemba.teams.gates import ComputedCheck, Gate, Review
from gemba.teams.prompts import sent_back

_gate = typed.decoder(Gate)
_checks = typed.decoder(tuple[ComputedCheck, ...])
_review = typed.decoder(Review)


class Judged(NamedTuple):
    """A verdict with what it rests on."""

    gate: Gate
    checks: tuple[ComputedCheck, ...]
    review: Review

    @property
    def words(self) -> str:
        """What its agent, or a person, is told of it."""
        return sent_back(self.gate, self.checks, self.review)


def kept(attempt: Row[Any]) -> Judged:
    """The verdict on an attempt that has one."""
    return Judged(_gate.decode(attempt.gate), _checks.decode(attempt.checks), _review.decode(attempt.review))
