"""Work items as issues of the `bd` tracker, page by page in the order of their ids; and what was made from a file."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Row, and_, or_, select

from gemba.store.lists import among
from gemba.work import history
from gemba.work.interchange.written import Tie, write_issue
from gemba.work.item import Relation
from gemba.work.store import value_of
from gemba.work.tables import changes, items, relations


def issues_after(connection: Connection, after: str, limit: int) -> tuple[list[dict[str, Any]], str | None]:
    """A page, and the id behind which the next one starts."""
    query = select(items).where(items.c.id > after).order_by(items.c.id).limit(limit + 1)
    found = connection.execute(query).all()
    page = found[:limit]
    ties = _ties(connection, [row.id for row in page])
    return [write_issue(_item(row), ties[row.id]) for row in page], page[-1].id if len(found) > limit else None


def imported_from(
    connection: Connection, name: str, after: str, limit: int
) -> tuple[list[tuple[str, str]], str | None]:
    """The unfinished items that an import of that name made, each with its title: a page, and where the next starts."""
    made = and_(changes.c.item_id == items.c.id, changes.c.number == 1, changes.c.kind == history.CREATED)
    of_name = (changes.c.cause == "import", changes.c.cause_id == name, ~items.c.finished, items.c.id > after)
    query = select(items.c.id, items.c.title).join(changes, made).where(*of_name).order_by(items.c.id)
    found = connection.execute(query.limit(limit + 1)).all()
    page = [(row.id, row.title) for row in found[:limit]]
    return page, page[-1][0] if len(found) > limit else None


def issue_of(connection: Connection, row: Row[Any]) -> dict[str, Any]:
    return write_issue(_item(row), _ties(connection, [row.id])[row.id])


def _item(row: Row[Any]) -> dict[str, Any]:
    return {name: value_of(row, name) for name in row._mapping}


def _ties(connection: Connection, ids: list[str]) -> defaultdict[str, list[Tie]]:
    """All that each of the items has with others, the oldest first."""
    ends = (relations.c.source, relations.c.target)
    mine = select(relations).where(or_(*(among(connection, end, ids) for end in ends)))
    found: defaultdict[str, list[Tie]] = defaultdict(list)
    order = (relations.c.created_at, relations.c.kind, relations.c.source, relations.c.target)
    for row in connection.execute(mine.order_by(*order)):
        tie = Tie(row.source, Relation(row.kind), row.target, row.created_at, row.created_by)
        for id in {tie.source, tie.target}:
            found[id].append(tie)
    return found
