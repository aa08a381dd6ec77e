"""A milestone's number: one a project, counted up and never given twice.

The counter is a row that stays locked until the commit, so of two milestones that are made at once one waits for the
other. An import keeps the titles it finds, and moves the counter past their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, update

from gemba.store.database import Transaction
from gemba.store.schema import counters
from gemba.work.item import Kind, milestone_number, numbered_title, refuse_number, without_number


def prefix_of(tx: Transaction) -> str:
    """What the project's ids begin with."""
    prefix: str = tx.surroundings["work_prefix"]
    return prefix


def new_title(tx: Transaction, title: str, pointer: str) -> str:
    """A milestone's title with the next number."""
    refuse_number(title, pointer)
    name = _counter(tx)
    tx.add(counters, [{"name": name, "value": 1}])
    number: int = tx.connection.execute(select(counters.c.value).where(counters.c.name == name)).scalar_one()
    return numbered_title(number, title)


def retitled(tx: Transaction, old_title: str, old_kind: str, title: str, kind: str) -> str:
    """The title of an item that is changed: a milestone keeps its number, and what becomes or ceases to be one gets
    or loses it."""
    own = milestone_number(old_title) if old_kind == Kind.MILESTONE else None
    bare = without_number(title) if own is not None and milestone_number(title) == own else title
    if kind != Kind.MILESTONE:
        return bare or title
    if old_kind != Kind.MILESTONE:
        return new_title(tx, title, "/title")
    if bare != old_title:  # an imported one may have no number, and keeps its title
        refuse_number(bare, "/title")
    return bare if own is None else numbered_title(own, bare)


def move_past(tx: Transaction, titles: Iterable[str]) -> None:
    """Numbers that came from elsewhere are not given out again."""
    highest = max((milestone_number(title) or 0 for title in titles), default=0)
    if not highest:
        return
    name = _counter(tx)
    tx.add(counters, [{"name": name, "value": 0}])
    lower = (counters.c.name == name, counters.c.value < highest)
    tx.connection.execute(update(counters).where(*lower).values(value=highest))


def _counter(tx: Transaction) -> str:
    return f"milestones.{prefix_of(tx)}"
