"""Context contracts: what is known in each section of the workspace, and every change to it, as rows.

`apply` merges updates into their sections: all of them or none, each section as one new revision, with what changed in
its history, an entry in the audit log and an event. What changes nothing makes no revision. `undo` makes a further
revision that restores what was before another one, and can itself be undone. Sections change one after the other
(`_alone`), so nobody's update is lost. Called when a handoff is accepted, and by the operator's verbs in
`contract_view`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Integer, Row, Table, Text, func, insert, select

from gemba import typed
from gemba.errors import Conflict, Invalid, NotFound
from gemba.event import Draft
from gemba.handoff import audit
from gemba.handoff.entries import Update
from gemba.handoff.fold import fold
from gemba.handoff.listed import ContextWarning, Listed, change_of, few, listed
from gemba.handoff.live_state import LiveValue, live_values
from gemba.handoff.payload import encoded, kept
from gemba.handoff.sections import Section
from gemba.store.database import Transaction
from gemba.store.schema import metadata

contracts = Table(
    "contracts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("revision", Integer, nullable=False),  # from 1
    Column("standing", Integer, nullable=False),  # the last revision that is in effect: not undone; 0 for none
    Column("value", Text, nullable=False),
    Column("warnings", Text, nullable=False),  # of the value as it stands
    Column("changed_at", BigInteger, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("source", Text, nullable=False),
)

contract_changes = Table(
    "contract_changes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("source", Text, nullable=False),  # a handoff's id, or "operator"
    Column("undoes", Integer),  # the revision that this one takes back
    Column("standing", Integer, nullable=False),  # as above, since
    Column("changes", Text, nullable=False),
    Column("warnings", Text, nullable=False),  # of the update
    Column("value", Text, nullable=False),  # what the section is since
)

OPERATOR = "operator"  # as a source
_LOCK = 0x63747874  # "ctxt"
MOST_UPDATES = 10_000  # of one section, at once
MOST_FACTS = 1024 * 1024  # characters of sections that an envelope gets; of the others it gets the names
MOST_UPDATES = 10_000  # of one section, at once
MOST_FACTS = 1024 * 1024  # characters of sections that an envelope gets; of the others it gets the names
_MOST_POINTERS = 50  # of one change in the audit log; the hashes cover the whole


class Applied(NamedTuple):
    """The sections that changed, each with its new revision, and what there is to say."""

    contracts: list[tuple[str, int]]
    warnings: list[dict[str, str]]


class _Checked(NamedTuple):
    """A payload as it will be kept, and what of it belongs to a running system."""

    payload: dict[str, Any]
    live: list[LiveValue]


class _Draft(NamedTuple):
    """The next revision of a section, before it is written."""

    name: str
    revision: int
    standing: int
    before: str
    after: str
    pointers: list[str]  # of all that changed
    changes: Listed
    warnings: list[ContextWarning]
    undoes: int | None = None


# ---- reading --------------------------------------------------------------------------------------------------------


def find(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(select(contracts).where(contracts.c.name == name)).first()


def facts(
    connection: Connection, sections: Iterable[Section] | None = None, surfaces: Iterable[str] = ()
) -> dict[str, Any]:
    """What is known, by section, for `project_knowledge`; with `sections`, only of these. Empty ones say nothing.

    As many as there is room for, each whole, those of `surfaces` first; of the others where they are to be read.
    """
    lengths = select(contracts.c.name, func.length(contracts.c.value)).order_by(contracts.c.name)
    known = {name: length for name, length in connection.execute(lengths) if length > len("{}")}
    names = [name for name in (known if sections is None else (each.name for each in sections)) if name in known]
    room, whole = MOST_FACTS, []
    first = set(surfaces)
    for name in sorted(names, key=lambda name: name not in first):
        if known[name] <= room:
            room -= known[name]
            whole.append(name)
    rows = connection.execute(select(contracts.c.name, contracts.c.value).where(contracts.c.name.in_(whole)))
    values = {row.name: msgspec.json.decode(row.value) for row in rows}
    return {
        name: values.get(name, {"left_out": f"too long; read it with `gemba context show {name}`"}) for name in names
    }


# ---- applying -------------------------------------------------------------------------------------------------------


def apply(tx: Transaction, updates: Sequence[Update], sections: Sequence[Section], *, source: str, by: str) -> Applied:
    """All of the updates, in their order, or an Invalid and none of them."""
    declared = {section.name: section for section in sections}
    checked: dict[str, list[_Checked]] = {}
    for name, many in Counter(update.contract for update in updates).items():
        if many > MOST_UPDATES:
            raise _too_many(name[:80], many)
    for update in updates:
        checked.setdefault(update.contract, []).append(_checked(update, declared))
    if not checked:
        return Applied([], [])
    _alone(tx)
    drafts = [_merged(tx.connection, name, given) for name, given in checked.items()]
    for draft in drafts:
        if draft.pointers:
            _write(tx, draft, source=source, by=by)
    warnings = [msgspec.to_builtins(warning) for draft in drafts for warning in draft.warnings]
    return Applied([(draft.name, draft.revision) for draft in drafts if draft.pointers], warnings)


def _too_many(name: str, many: int) -> Invalid:
    return Invalid(
        f"/{name}: {many:,} updates of one section; allowed: at most {MOST_UPDATES:,} at once",
        code="context_updates",
        pointer=f"/{name}",
        found=many,
        allowed=MOST_UPDATES,
    )


def _checked(update: Update, declared: dict[str, Section]) -> _Checked:
    """Refused where its section is not declared, or wants no live state."""
    name = update.contract
    section = declared.get(name)
    if section is None:
        raise Invalid(
            f"no section of .gemba/context.toml is called {name[:80]!r}; allowed: {', '.join(declared) or 'none'}",
            code="context_section",
            found=name[:80],
            allowed=list(declared),
        )
    payload = kept(update.payload, name)
    live = live_values(payload)
    if live and section.strict:
        first = live[0]
        raise Invalid(
            f"/{name}{first.pointer}: {_said(first)} is of a running system, which section {name} refuses (strict); "
            "allowed: where to find it",
            code="live_state",
            pointer=f"/{name}{first.pointer}",
            found=first.shown,
            allowed="an index, not a snapshot",
        )
    return _Checked(payload, live)


def _merged(connection: Connection, name: str, updates: Sequence[_Checked]) -> _Draft:
    row = find(connection, name)
    before = "{}" if row is None else row.value
    merged = fold(msgspec.json.decode(before), [update.payload for update in updates], name)
    warnings = [
        *few([ContextWarning("MERGE", f"/{name}{one['pointer']}", one["message"]) for one in merged.warnings], name),
        *_live_warnings(name, [live for update in updates for live in update.live]),
    ]
    revision = 1 if row is None else row.revision + 1
    return _Draft(
        name,
        revision,
        revision,
        before,
        encoded(merged.after, name),
        [change["pointer"] for change in merged.changes],
        listed(map(change_of, merged.changes)),
        warnings,
    )


def _live_warnings(name: str, found: Sequence[LiveValue]) -> list[ContextWarning]:
    return few([ContextWarning("LIVE_STATE", f"/{name}{one.pointer}", _said(one)) for one in found], name)


def _said(found: LiveValue) -> str:
    return f"{found.kind.replace('_', ' ')} {found.shown}"


# ---- undoing --------------------------------------------------------------------------------------------------------


def undo(tx: Transaction, name: str, revision: int, *, by: str) -> int:
    """Take a revision back, by a new one; its number. Refused where the section has changed since.

    That is the last one, or the last that is in effect: so whoever undoes again and again walks back.
    """
    _alone(tx)
    row = find(tx.connection, name)
    last = 0 if row is None else row.revision
    if row is None or not 1 <= revision <= last:
        allowed = f"1 to {last}" if last else "none, it never changed"
        raise NotFound(f"section {name[:80]} has no revision {revision}; allowed: {allowed}", code="not_found")
    if revision not in (row.standing, last):
        fits = sorted({row.standing, last} - {0})
        raise Conflict(
            f"section {name} has changed since revision {revision}; "
            f"allowed: to undo revision {' or '.join(map(str, fits))}",
            code="changed_since",
            found=revision,
            allowed=fits,
        )
    earlier = {change.revision: change for change in change_rows(tx.connection, name, (revision - 1, revision))}
    before = earlier.get(revision - 1)
    undone = changes_of(earlier[revision]).reversed()
    pointers = [change.pointer for change in undone.changes]
    draft = _Draft(
        name,
        last + 1,
        0 if before is None else before.standing,
        row.value,
        "{}" if before is None else before.value,
        pointers,
        undone,
        [],
        revision,
    )
    _write(tx, draft, source=OPERATOR, by=by)
    return draft.revision


def changes_of(row: Row[Any]) -> Listed:
    return typed.decode(row.changes, Listed)


def warnings_of(row: Row[Any]) -> list[ContextWarning]:
    return typed.decode(row.warnings, list[ContextWarning])


def change_rows(connection: Connection, name: str, revisions: Sequence[int]) -> Sequence[Row[Any]]:
    found = select(contract_changes).where(contract_changes.c.name == name, contract_changes.c.revision.in_(revisions))
    return connection.execute(found).all()


# ---- writing --------------------------------------------------------------------------------------------------------


def _write(tx: Transaction, draft: _Draft, *, source: str, by: str) -> None:
    same = {"name": draft.name, "revision": draft.revision, "standing": draft.standing, "source": source}
    warnings = _live_warnings(draft.name, live_values(msgspec.json.decode(draft.after)))
    row = {"value": draft.after, "warnings": _json(warnings), "changed_at": tx.now, "changed_by": by}
    tx.put(contracts, [{**same, **row}])
    change = {
        "at": tx.now,
        "by": by,
        "undoes": draft.undoes,
        "changes": _json(draft.changes),
        "warnings": _json(draft.warnings),
        "value": draft.after,
    }
    tx.connection.execute(insert(contract_changes), {**same, **change})
    kind = "context.applied" if draft.undoes is None else "context.undone"
    told = {"revision": draft.revision, "source": source, "undoes": draft.undoes}
    audit.record(tx, kind, draft.name, told | _proof(draft), by)
    tx.emit(Draft("context.changed", {**told, "by": by}, ref=draft.name))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _proof(draft: _Draft) -> dict[str, Any]:
    """What ties the history to the audit log without repeating it there."""
    return {
        "before": hashlib.sha256(draft.before.encode()).hexdigest(),
        "after": hashlib.sha256(draft.after.encode()).hexdigest(),
        "changes": len(draft.changes.changes) + draft.changes.unlisted,
        "changed": draft.pointers[:_MOST_POINTERS],
    }


def _alone(tx: Transaction) -> None:
    """Wait until nobody else changes a section. SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
