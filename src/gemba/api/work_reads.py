"""What can be read of work: items, what is ready and why the rest is not, histories and graphs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import BIGGEST, Limit, Read, last_event, open_cursor, seal_cursor, states_in
from gemba.app import App
from gemba.work.explain import Explanation, explain, explain_all
from gemba.work.exporting import imported_from, issues_after
from gemba.work.graph import Graph, graph_of
from gemba.work.history import Change, list_changes
from gemba.work.item import Kind, State
from gemba.work.items import RelationView, Sought, WorkItem, WorkRow, get, list_items, relations_of, view
from gemba.work.readiness import ready_items, unready_items

Words = Annotated[str, msgspec.Meta(max_length=500)]


class WorkQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`state` and `kind` are comma lists; `text` is looked for in ids, titles and descriptions; `id` is the beginning
    or the end of one."""

    state: str | None = None
    kind: str | None = None
    label: Words | None = None
    parent: Words | None = None
    text: Words | None = None
    assignee: Words | None = None
    id: Words | None = None
    limit: Limit = 50
    cursor: str | None = None


class ReadyQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With `explain`, also what is not ready, and why."""

    explain: bool = False
    limit: Limit = 50
    cursor: str | None = None


class WorkHistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    before: Annotated[int, msgspec.Meta(ge=0, le=BIGGEST)] | None = None


class WorkList(msgspec.Struct, frozen=True):
    """A page of work items, without their long texts."""

    items: list[WorkRow]
    total: int
    next_cursor: str | None
    as_of: int


class ReadyList(msgspec.Struct, frozen=True):
    """What is ready, in the order in which it should be done. `more` says that there is more than `total` counts."""

    items: list[WorkRow]
    total: int
    more: bool
    next_cursor: str | None
    as_of: int
    unready: list[Explanation] | None = None


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`after` is the id behind which the page starts."""

    after: Words = ""
    limit: Limit = 500


class ExportedWork(msgspec.Struct, frozen=True):
    """Work items as issues of the `bd` tracker; `next_after` is where the next page starts."""

    issues: list[dict[str, Any]]
    next_after: str | None


class ImportedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`name` is what the import was told: the name of a file. `after` is the id behind which the page starts."""

    name: Words
    after: Words = ""
    limit: Limit = 500


class ImportedItem(msgspec.Struct, frozen=True):
    id: str
    title: str


class ImportedWork(msgspec.Struct, frozen=True):
    """Unfinished items that were made by imports of one name; `next_after` is where the next page starts."""

    items: list[ImportedItem]
    next_after: str | None


class WorkHistory(msgspec.Struct, frozen=True):
    """The changes of an item, newest first; `next_before` is where the next page starts."""

    changes: list[Change]
    total: int
    next_before: int | None


class RelationList(msgspec.Struct, frozen=True):
    relations: list[RelationView]


def work_items(app: App, query: WorkQuery) -> WorkList:
    before = open_cursor(query.cursor, tuple[int, str])
    sought = Sought(
        states=states_in(query.state, State),
        kinds=states_in(query.kind, Kind, "kind"),
        label=query.label,
        parent=query.parent,
        text=query.text,
        assignee=query.assignee,
        id=query.id,
    )
    with app.database.read() as connection:
        as_of = last_event(connection)
        page, total, following = list_items(connection, sought, query.limit, before, clock.now())
    return WorkList(page, total, seal_cursor(following), as_of)


def work_item(app: App, _query: Nothing, *, id: str) -> WorkItem:
    with app.database.read() as connection:
        return view(connection, get(connection, id), clock.now())


def ready_work(app: App, query: ReadyQuery) -> ReadyList:
    after = open_cursor(query.cursor, tuple[int, int, int, str])
    now = clock.now()
    with app.database.read() as connection:
        as_of = last_event(connection)
        page = ready_items(connection, now, query.limit, after)
        unready = None
        if query.explain:
            unready = explain_all(connection, unready_items(connection, now, query.limit), now)
    return ReadyList(page.rows, page.total, page.more, seal_cursor(page.next), as_of, unready)


def exported_work(app: App, query: ExportQuery) -> ExportedWork:
    with app.database.read() as connection:
        return ExportedWork(*issues_after(connection, query.after, query.limit))


def imported_work(app: App, query: ImportedQuery) -> ImportedWork:
    with app.database.read() as connection:
        page, following = imported_from(connection, query.name, query.after, query.limit)
    return ImportedWork([ImportedItem(id, title) for id, title in page], following)


def explain_work(app: App, _query: Nothing, *, id: str) -> Explanation:
    with app.database.read() as connection:
        return explain(connection, id, clock.now())


def work_relations(app: App, _query: Nothing, *, id: str) -> RelationList:
    with app.database.read() as connection:
        get(connection, id)
        return RelationList(relations_of(connection, id))


def work_history(app: App, query: WorkHistoryQuery, *, id: str) -> WorkHistory:
    with app.database.read() as connection:
        get(connection, id)
        return WorkHistory(*list_changes(connection, id, query.limit, query.before))


def work_graph(app: App, _query: Nothing, *, id: str) -> Graph:
    with app.database.read() as connection:
        return graph_of(connection, id)


READS = (
    Read("/api/work-items", work_items, WorkQuery, WorkList, "Work items, newest first", cached=True),
    Read("/api/work-items/ready", ready_work, ReadyQuery, ReadyList, "What is ready to be worked on", cached=True),
    Read("/api/work-items/export", exported_work, ExportQuery, ExportedWork, "Work items as issues of the bd tracker"),
    Read("/api/work-items/imported", imported_work, ImportedQuery, ImportedWork, "What an import made that is open"),
    Read("/api/work-items/{id}", work_item, Nothing, WorkItem, "One work item with its relations"),
    Read("/api/work-items/{id}/explain", explain_work, Nothing, Explanation, "Why a work item is not ready"),
    Read("/api/work-items/{id}/relations", work_relations, Nothing, RelationList, "What an item is to others"),
    Read("/api/work-items/{id}/history", work_history, WorkHistoryQuery, WorkHistory, "What changed, newest first"),
    Read(
        "/api/work-items/{id}/graph",
        work_graph,
        Nothing,
        Graph,
        "An item's neighbours, the longest way through it, and what it unblocks",
    ),
)
