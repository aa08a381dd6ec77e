"""Which tasks words are about, and which one is the first to improve. Pure and deterministic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row

from gemba import typed
from gemba.teams.gates import Dimension, Gate
from gemba.teams.task import DONE, ENDED, TaskState

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_gate = typed.decoder(Gate)


def affected_by(text: str, rows: Sequence[Row[Any]]) -> set[str]:
    """The tasks that are not done and that a text names, by id, role or prefix; all that are not done if it names none.

    A text that names only what is done is about what comes after: everything that is not done.
    """
    open_ = [row for row in rows if TaskState(row.state) not in ENDED]
    words = {word.casefold() for word in _WORD.findall(text)}
    named = {row.id for row in open_ if {row.id.casefold(), row.owner.casefold(), row.prefix.casefold()} & words}
    return named or {row.id for row in open_}


class Lowest(NamedTuple):
    task_id: str
    dimension: Dimension
    score: float
    reason: str


def lowest(rows: Sequence[Row[Any]], dimension: Dimension | None) -> Lowest | None:
    """Of what is done and has a stored score; the first in graph order of those that are equally low."""
    scored = [
        Lowest(row.id, one.dimension, one.score, one.reason)
        for row in rows
        if row.gate is not None and TaskState(row.state) in {*DONE, TaskState.PARTIAL_COMPLETION}
        for one in _gate.decode(row.gate).dimensions
        if one.score < 100 and dimension in (None, one.dimension)
    ]
    return min(scored, key=lambda each: each.score, default=None)
