"""Sections of project knowledge as the API, the page and the command line show them, and what an operator does to them.

A section is shown when `.gemba/context.toml` declares it, and also when it no longer does but something is known in it:
nothing is lost from sight because a line of a file went.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, and_, case, func, select

from gemba import clock, typed
from gemba.action import Action
from gemba.errors import NotFound
from gemba.handoff import contracts
from gemba.handoff.contracts import contract_changes
from gemba.handoff.entries import Update
from gemba.handoff.listed import ContextChange, ContextWarning, Listed
from gemba.handoff.sections import Section
from gemba.store.database import Transaction

LONGEST_IN_LIST = 256 * 1024  # characters of a value that the list of sections has
MOST_IN_LIST = 1024 * 1024  # of all values in it
MOST_OF_HISTORY = 256 * 1024  # characters after which a page of revisions ends


class ContextSection(msgspec.Struct, frozen=True):
    """A section: what it is about, who writes it, what is known in it. `revision` 0: nothing was ever written.

    `standing` is the last revision that is in effect, which `undo` takes back; `warnings` are about the value as it is.
    In the list of all sections `value` is null where it is too long; the section itself has it. `length` is in JSON.
    """

    name: str
    declared: bool
    paths: tuple[str, ...]
    writers: tuple[str, ...]
    strict: bool
    revision: int
    standing: int
    value: dict[str, Any] | None
    length: int
    warnings: list[ContextWarning]
    changed_at: str | None
    changed_by: str | None
    source: str | None


class ContextRevision(msgspec.Struct, frozen=True):
    """One change of a section. `source` is the handoff that it came with, or "operator".

    Of a large one the first changes are listed, and `unlisted` is how many more there are.
    """

    revision: int
    at: str
    by: str
    source: str
    undoes: int | None
    changes: list[ContextChange]
    unlisted: int
    warnings: list[ContextWarning]


class ApplyContext(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Merge a payload into a section. `strict`: refuse values of a running system, as a strict section does anyway."""

    payload: dict[str, Any]
    strict: bool = False


class UndoContext(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    revision: int


class AppliedContext(msgspec.Struct, frozen=True):
    """The section as it is now, what changed in it, and what there is to say of what was applied."""

    section: ContextSection
    changes: list[ContextChange]
    unlisted: int
    warnings: list[ContextWarning]


# ---- reading --------------------------------------------------------------------------------------------------------


def list_sections(connection: Connection, declared: Sequence[Section]) -> list[ContextSection]:
    """Those that are declared, in the order of the file; then those that once were, by name."""
    rows = {row.name: row for row in connection.execute(_in_list()).all()}
    names = {section.name for section in declared}
    return [
        *(_view(section, rows.get(section.name)) for section in declared),
        *(_view(Section(name), row, declared=False) for name, row in rows.items() if name not in names),
    ]


def _in_list() -> Select[Any]:
    """The sections by name, with their values as long as there is room."""
    table = contracts.contracts
    length = func.length(table.c.value)
    counted = case((length <= LONGEST_IN_LIST, length), else_=0)
    so_far = func.sum(counted).over(order_by=table.c.name)
    value = case((and_(length <= LONGEST_IN_LIST, so_far <= MOST_IN_LIST), table.c.value))
    others = [column for column in table.c if column.name != "value"]
    return select(*others, value.label("value"), length.label("length")).order_by(table.c.name)


def get_section(connection: Connection, declared: Sequence[Section], name: str) -> ContextSection:
    row = contracts.find(connection, name)
    section = next((section for section in declared if section.name == name), None)
    if section is None and row is None:
        raise _unknown(name, declared)
    return _view(section or Section(name), row, declared=section is not None)


def list_revisions(
    connection: Connection, declared: Sequence[Section], name: str, limit: int, before: int | None
) -> tuple[list[ContextRevision], int, int | None]:
    """Newest first: (a page, how many there are in all, before which revision the next page starts)."""
    mine = contract_changes.c.name == name
    total = connection.execute(select(func.count()).select_from(contract_changes).where(mine)).scalar_one()
    if not total and not any(section.name == name for section in declared):
        raise _unknown(name, declared)
    length = func.length(contract_changes.c.changes) + func.length(contract_changes.c.warnings)
    query = select(contract_changes.c.revision, length).where(mine).order_by(contract_changes.c.revision.desc())
    if before is not None:
        query = query.where(contract_changes.c.revision < before)
    following = connection.execute(query.limit(limit + 1)).all()
    fitting = _fitting([length for _, length in following[:limit]])
    numbers = [number for number, _ in following[:fitting]]
    columns = [column for column in contract_changes.c if column.name != "value"]
    rows = select(*columns).where(mine, contract_changes.c.revision.in_(numbers))
    page = connection.execute(rows.order_by(contract_changes.c.revision.desc())).all()
    return [_revision(row) for row in page], total, numbers[-1] if len(following) > fitting else None


def _fitting(lengths: Sequence[int]) -> int:
    """How many of these a page takes: one in any case."""
    total = 0
    for number, length in enumerate(lengths):
        total += length
        if total > MOST_OF_HISTORY and number:
            return number
    return len(lengths)


def _unknown(name: str, declared: Sequence[Section]) -> NotFound:
    names = [section.name for section in declared]
    allowed = ", ".join(names) or "none; declare it in .gemba/context.toml"
    return NotFound(f"no section is called {name[:80]}; there are: {allowed}", code="not_found", found=name[:80])


def _view(section: Section, row: Row[Any] | None, *, declared: bool = True) -> ContextSection:
    return ContextSection(
        name=section.name,
        declared=declared,
        paths=section.paths,
        writers=section.writers,
        strict=section.strict,
        revision=0 if row is None else row.revision,
        standing=0 if row is None else row.standing,
        value={} if row is None else None if row.value is None else msgspec.json.decode(row.value),
        length=2 if row is None else row.length if "length" in row._fields else len(row.value),
        warnings=[] if row is None else contracts.warnings_of(row),
        changed_at=None if row is None else clock.rfc3339(row.changed_at),
        changed_by=None if row is None else row.changed_by,
        source=None if row is None else row.source,
    )


def _revision(row: Row[Any]) -> ContextRevision:
    told = contracts.changes_of(row)
    return ContextRevision(
        revision=row.revision,
        at=clock.rfc3339(row.at),
        by=row.by,
        source=row.source,
        undoes=row.undoes,
        changes=told.changes,
        unlisted=told.unlisted,
        warnings=contracts.warnings_of(row),
    )


# ---- verbs ----------------------------------------------------------------------------------------------------------


def apply_context(tx: Transaction, body: ApplyContext, *, name: str) -> AppliedContext:
    declared = _declared(tx)
    judged = [msgspec.structs.replace(section, strict=section.strict or body.strict) for section in declared]
    applied = contracts.apply(tx, [Update(name, body.payload)], judged, source=contracts.OPERATOR, by=tx.actor)
    warnings = typed.convert(applied.warnings, list[ContextWarning])
    revisions = dict(applied.contracts)
    told = _changes(tx, name, revisions[name]) if revisions else Listed([])
    return AppliedContext(get_section(tx.connection, declared, name), told.changes, told.unlisted, warnings)


def undo_context(tx: Transaction, body: UndoContext, *, name: str) -> AppliedContext:
    revision = contracts.undo(tx, name, body.revision, by=tx.actor)
    told = _changes(tx, name, revision)
    return AppliedContext(get_section(tx.connection, _declared(tx), name), told.changes, told.unlisted, [])


def _changes(tx: Transaction, name: str, revision: int) -> Listed:
    return contracts.changes_of(contracts.change_rows(tx.connection, name, [revision])[0])


def _declared(tx: Transaction) -> Sequence[Section]:
    """As the file says at this moment."""
    sections: Sequence[Section] = tx.surroundings["sections"]()
    return sections


ACTIONS = (
    Action("/api/context/{name}", apply_context, ApplyContext, AppliedContext, "Merge a payload into a section"),
    Action("/api/context/{name}/undo", undo_context, UndoContext, AppliedContext, "Take back what changed a section"),
)
