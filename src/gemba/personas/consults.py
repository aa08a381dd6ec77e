"""The consults table: what was asked, the lines that came and what was applied of them, as rows and as they are shown.

Every output that an agent gives is kept as it came, under its frame's id, so that none counts twice. The verdicts on
the lines are made anew from all of them each time, by the skill's judge, and stored beside. Who has a row `get_locked`
is alone with the consult. Called by the verbs, flows and reads of consults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    select,
    update,
)

from gemba import clock, typed
from gemba.personas.consult import (
    APPLICABLE,
    AppliedLine,
    ConsultDetail,
    ConsultOutcome,
    ConsultStatus,
    ConsultSummary,
    ConsultTokens,
)
from gemba.personas.persona import MICROS
from gemba.personas.prompts import Composed
from gemba.skills.consult.judge import Judge, LineError, LineNote, OrderError
from gemba.skills.consult.registry import SKILLS
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import metadata

consults = Table(
    "consults",
    metadata,
    Column("id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("persona_id", Text, nullable=False),
    Column("skill_id", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("working_dir", Text, nullable=False),
    Column("repository", Text),
    Column("agent_type", Text),  # of the session of the same id; none where no process answers
    Column("by_advisor", Boolean, nullable=False),  # the built-in one answers, from the first or in a model's place
    Column("origin", Text, nullable=False),  # the home that has its record
    Column("walk_id", Text),
    Column("started_by", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),  # then it is timed out
    Column("ended_at", BigInteger),
    Column("raw_request", Text, nullable=False),  # JSON, as are those below but for plain words
    Column("input", Text, nullable=False),
    Column("composed", Text, nullable=False),
    Column("outputs", Integer, nullable=False),  # how many came
    Column("complete", Boolean, nullable=False),  # the summary is in
    Column("line_count", Integer, nullable=False),
    Column("line_error_count", Integer, nullable=False),
    Column("lines", Text, nullable=False),
    Column("line_errors", Text, nullable=False),
    Column("line_notes", Text, nullable=False),
    Column("order_errors", Text, nullable=False),
    Column("model", Text),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("cost_micros", BigInteger),
    Column("error", Text),
    Column("version", Integer, nullable=False),
    Column("unrecorded", Boolean, nullable=False),  # its record on disk is not of this version
    Column("about", Text),  # the one thing that its input names
    Index("consults_by_age", "started_at", "id"),
    Index("consults_by_status", "status", "started_at", "id"),
    Index("consults_by_persona", "persona_id", "started_at", "id"),
    Index("consults_by_skill", "skill_id", "started_at", "id"),
    Index("consults_unrecorded", "unrecorded", "origin", "id"),
    Index("consults_by_about", "about", "started_at", "id"),
    Index("consults_by_walk", "walk_id", "started_at", "id"),
)

outputs = Table(
    "consult_outputs",
    metadata,
    Column("frame_id", Text, primary_key=True),
    Column("consult_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("skill_id", Text, nullable=False),
    Column("lines", Text, nullable=False),
    Column("set_aside", Text),  # why none of these lines counts
    Index("consult_outputs_by_consult", "consult_id", "number"),
)

applied = Table(
    "consult_applied",
    metadata,
    Column("id", Text, primary_key=True),  # of the consult and the place: a line is applied once
    Column("consult_id", Text, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Index("consult_applied_by_consult", "consult_id", "idx"),
)

# Of lines as they are stored: the quotes in somebody's words are not written so.
_HAS_ACTION = '"suggested_action":{'

_OF_SUMMARY = tuple(
    column
    for column in consults.c
    if column.name
    not in ("raw_request", "input", "composed", "lines", "line_errors", "line_notes", "order_errors", "started_by")
)


def find(connection: Connection, id: str) -> Row[Any] | None:
    return rows.find(connection, consults, id)


def persona_of(connection: Connection, session_id: str) -> str | None:
    """The persona whose consult a session is, by its id; None for every other session."""
    mine = select(consults.c.persona_id).where(consults.c.id == session_id)
    found: str | None = connection.execute(mine).scalar()
    return found


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, consults, id, "consult")


def get_locked(tx: Transaction, id: str) -> Row[Any]:
    return rows.get_locked(tx, consults, id, "consult")


def change(tx: Transaction, row: Row[Any], **values: Any) -> Row[Any]:
    """Write values over a row that was read locked, as its next version; the row as it is then."""
    this = update(consults).where(consults.c.id == row.id, consults.c.version == row.version)
    tx.connection.execute(this.values(version=row.version + 1, **values))
    return get(tx.connection, row.id)


def list_consults(
    connection: Connection,
    limit: int,
    before: rows.Place | None,
    *,
    statuses: Sequence[str] = (),
    persona_id: str | None = None,
    skill_id: str | None = None,
) -> tuple[list[ConsultSummary], int, rows.Place | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    chosen: list[ColumnElement[bool]] = [consults.c.status.in_(statuses)] if statuses else []
    if persona_id is not None:
        chosen.append(consults.c.persona_id == persona_id)
    if skill_id is not None:
        chosen.append(consults.c.skill_id == skill_id)
    page = rows.newest(connection, consults.c.started_at, limit, before, chosen, _OF_SUMMARY)
    return [summary(row) for row in page.rows], page.total, page.next


def unapplied(connection: Connection) -> rows.Waiting:
    """How many have lines that could be applied, and none that was."""
    touched = select(applied.c.id).where(applied.c.consult_id == consults.c.id).exists()
    chosen = (consults.c.status == ConsultStatus.COMPLETED, consults.c.lines.contains(_HAS_ACTION, autoescape=True))
    return rows.waiting(connection, consults.c.started_at, *chosen, ~touched)


# ---- lines -----------------------------------------------------------------------------------------------------------


def given_of(row: Row[Any]) -> msgspec.Struct:
    """The frozen input, in its skill's type."""
    return SKILLS[row.skill_id].read(msgspec.json.decode(row.input))


def judged(connection: Connection, row: Row[Any]) -> Judge[Any]:
    """The verdicts on every line that came, in the order in which they did."""
    judge = SKILLS[row.skill_id].judge(given_of(row))
    of_consult = select(outputs).where(outputs.c.consult_id == row.id).order_by(outputs.c.number)
    for output in connection.execute(of_consult):
        came = msgspec.json.decode(output.lines)
        for line in came if isinstance(came, list) else [came]:
            if output.set_aside is not None:
                judge.refuse(line, "set_aside", output.set_aside)
            elif output.skill_id != row.skill_id:
                judge.refuse(line, "skill", f"this consult is of {row.skill_id}, and these lines are not")
            else:
                judge.receive(line)
    return judge


def verdicts(judge: Judge[Any]) -> dict[str, Any]:
    """What a judge found, as the columns that keep it."""
    return {
        "complete": judge.is_complete,
        "line_count": len(judge.validated),
        "line_error_count": len(judge.line_errors),
        "lines": as_json(judge.validated),
        "line_errors": as_json(judge.line_errors),
        "line_notes": as_json(judge.notes),
    }


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---- applied lines ---------------------------------------------------------------------------------------------------


def applied_places(connection: Connection, id: str) -> list[int]:
    query = select(applied.c.idx).where(applied.c.consult_id == id).order_by(applied.c.idx)
    return list(connection.execute(query).scalars())


def _applied(connection: Connection, id: str) -> list[AppliedLine]:
    query = select(applied).where(applied.c.consult_id == id).order_by(applied.c.idx)
    return [
        AppliedLine(row.idx, clock.rfc3339(row.at), row.by, typed.decode(row.outcome, ConsultOutcome))
        for row in connection.execute(query)
    ]


# ---- views -----------------------------------------------------------------------------------------------------------


def summary(row: Row[Any]) -> ConsultSummary:
    return ConsultSummary(**_facts(row))


def detail(connection: Connection, row: Row[Any]) -> ConsultDetail:
    done = _applied(connection, row.id)
    return ConsultDetail(
        **_facts(row),
        composed=typed.decode(row.composed, Composed),
        composed_persisted=True,
        raw_request=msgspec.json.decode(row.raw_request),
        validated_lines=msgspec.json.decode(row.lines),
        line_errors=typed.decode(row.line_errors, list[LineError]),
        line_notes=typed.decode(row.line_notes, list[LineNote]),
        order_errors=typed.decode(row.order_errors, list[OrderError]),
        applied_idx=[each.idx for each in done],
        applied=done,
        walk_id=row.walk_id,
        source="live" if ConsultStatus(row.status) in APPLICABLE else "archived",
    )


def _facts(row: Row[Any]) -> dict[str, Any]:
    taken, made = row.tokens_in or 0, row.tokens_out or 0
    return {
        "id": row.id,
        "persona_id": row.persona_id,
        "skill_id": row.skill_id,
        "workspace": row.workspace,
        "working_dir": row.working_dir,
        "repository": row.repository,
        "status": ConsultStatus(row.status),
        "started_at": clock.rfc3339(row.started_at),
        "ended_at": clock.told(row.ended_at),
        "line_count": row.line_count,
        "line_error_count": row.line_error_count,
        "model": row.model,
        "latency_ms": None if row.ended_at is None else (row.ended_at - row.started_at) // 1_000,
        "tokens": ConsultTokens(taken, made, taken + made),
        "dollars": None if row.cost_micros is None else row.cost_micros / MICROS,
        "error": row.error,
    }
