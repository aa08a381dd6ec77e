"""Rules: an answer that the operator gives once for every ask of the same wording, sees and revokes.

`apply(tx, rows)` is called by `projection.py` for asks that it has just inserted, in the ingesting transaction: a live
rule whose `like_key` is the ask's answers it there and then, as resolved by "rule". Only questions and blockers are
answered so, only where the answer fits the ask's options and schema, and never where a policy wants answers verified.
Rules match the normal form exactly (`likeness.py`); what is merely like gets a precedent.

Rules are made, revoked and used one after the other (`_alone`): there is one live rule for a wording, a rule that is
revoked answers nothing from the moment that is committed, and no use goes uncounted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    Row,
    Select,
    Table,
    Text,
    case,
    func,
    select,
    tuple_,
    update,
)

from gemba import clock, typed, wire
from gemba.action import Action, Id, Nothing
from gemba.errors import Conflict, GembaError
from gemba.escalations.answer import judge
from gemba.escalations.escalation import Answer, Channel, Reply, Respond
from gemba.escalations.precedents import form_of, same_option
from gemba.escalations.store import escalations, get, options_of, policy_of, schema_of, settle
from gemba.event import Draft
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.lists import among, as_parameter, within
from gemba.store.schema import metadata

rules = Table(
    "rules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("made_at", BigInteger, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("like_key", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("schema", Text),
    Column("answer", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("revoked_by", Text),
    Index("rules_by_key", "like_key", "revoked_at"),
)

_LOCK = 0x72756C65  # "rule"

# Where a page of rules ended.
Place = tuple[int, int, str]


class MakeRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answer every ask of the same wording as this escalation so: with a text, an option by its number, or a value."""

    escalation_id: Id
    text: str | None = None
    option: int | None = None
    value: Any = msgspec.UNSET


class Rule(msgspec.Struct, frozen=True):
    """A rule as the API, the page and the command line show it. `source` is the escalation that it was made from."""

    id: str
    made_at: str
    made_by: str
    kind: str
    text: str
    options: list[str]
    schema: dict[str, Any] | None
    answer: Answer
    source: str
    uses: int
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None


class MadeRule(Rule, frozen=True, kw_only=True):
    """A new rule, and how many asks of its wording wait already: it does not answer those."""

    waiting: int


# ---- verbs ----------------------------------------------------------------------------------------------------------


def make(tx: Transaction, body: MakeRule) -> MadeRule:
    _alone(tx)
    row = get(tx.connection, body.escalation_id)
    if row.channel != Channel.TOOL_CALL:
        raise Conflict(
            f"a {row.kind} is decided each time: a rule answers only what agents ask",
            code="no_rule_for_this",
            found=row.kind,
            allowed=list(wire.KINDS),
        )
    reply = _fitting(row, Respond(text=body.text, option=body.option, value=body.value))
    key = form_of(row).key
    first = _live(tx.connection, [key]).get(key)
    if first is not None:
        raise Conflict(
            f"there is a rule for this already: {view(first).answer.text}; revoke it first",
            code="rule_exists",
            found=first.id,
            rule=view(first),
        )
    answer = Answer(reply.text, reply.option, None if reply.value is msgspec.UNSET else reply.value)
    made = {
        "id": wire.new_event_id(),
        "made_at": tx.now,
        "made_by": tx.actor,
        "kind": row.kind,
        "text": row.text,
        "like_key": key,
        "options": row.options,
        "schema": row.schema,
        "answer": msgspec.json.encode(answer).decode(),
        "source": row.id,
        "uses": 0,
    }
    tx.insert_new(rules, [made], "id")
    alike = select(func.count()).select_from(escalations)
    waiting = tx.connection.execute(alike.where(escalations.c.like_key == key, ~escalations.c.resolved)).scalar_one()
    rule = view(_get(tx.connection, made["id"]))
    tx.emit(Draft("rule.made", {"rule": msgspec.to_builtins(rule), "waiting": waiting}, ref=rule.id))
    return MadeRule(**msgspec.structs.asdict(rule), waiting=waiting)


def revoke(tx: Transaction, _body: Nothing, *, id: str) -> Rule:
    """From now on it answers nothing; what it has answered stays answered."""
    _alone(tx)
    row = _get(tx.connection, id)
    if row.revoked_at is not None:
        raise Conflict(
            f"{row.revoked_by} has revoked it already", code="already_revoked", found="revoked", rule=view(row)
        )
    tx.connection.execute(update(rules).where(rules.c.id == id).values(revoked_at=tx.now, revoked_by=tx.actor))
    revoked = view(_get(tx.connection, id))
    tx.emit(Draft("rule.revoked", {"rule": msgspec.to_builtins(revoked)}, ref=id))
    return revoked


ACTIONS = (
    Action("/api/rules", make, MakeRule, MadeRule, "Always answer this so"),
    Action("/api/rules/{id}/revoke", revoke, Nothing, Rule, "Answer nothing by this rule any more"),
)


# ---- use ------------------------------------------------------------------------------------------------------------


def apply(tx: Transaction, rows: Sequence[dict[str, Any]]) -> set[str]:
    """Answer those of the just inserted asks that a live rule is for; their ids."""
    keys = {row["like_key"] for row in rows if row["channel"] == Channel.TOOL_CALL and row["kind"] in wire.KINDS}
    if not keys or not _live(tx.connection, keys):
        return set()
    _alone(tx)
    live = _live(tx.connection, keys)  # as it is now that nobody else changes it
    asked = among(tx.connection, escalations.c.id, [row["id"] for row in rows if row["like_key"] in live])
    answered: set[str] = set()
    for row in tx.connection.execute(select(escalations).where(asked, ~escalations.c.resolved)).all():
        rule = live[row.like_key]
        reply = _reply_by(rule, row)
        if reply is not None:
            settle(tx, row, "resolved", reply)
            used = update(rules).where(rules.c.id == rule.id).values(uses=rules.c.uses + 1, last_used_at=tx.now)
            tx.connection.execute(used)
            answered.add(row.id)
    return answered


def _reply_by(rule: Row[Any], row: Row[Any]) -> Reply | None:
    """A rule's answer to an ask, or None where it does not fit or would have to be verified."""
    if row.policy is not None and policy_of(row).verify is not None:
        return None
    answer = typed.decode(rule.answer, Answer)
    if answer.option is not None:
        given = Respond(option=same_option(options_of(rule), answer.option, options_of(row)))
    elif rule.schema is not None:
        given = Respond(value=answer.value)
    else:
        given = Respond(text=answer.text)
    try:
        return msgspec.structs.replace(_fitting(row, given), by="rule", who=rule.made_by, rule_id=rule.id)
    except GembaError:
        return None


def _fitting(row: Row[Any], given: Respond) -> Reply:
    return judge(Channel(row.channel), options_of(row), schema_of(row), given)


def _alone(tx: Transaction) -> None:
    """Wait until nobody else makes, revokes or uses rules. SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


# ---- rows -----------------------------------------------------------------------------------------------------------


def list_rules(connection: Connection, limit: int, after: Place | None = None) -> tuple[list[Rule], int, Place | None]:
    """The live ones first, the newest first within: (a page, how many there are in all, where the next page starts)."""
    total = connection.execute(select(func.count()).select_from(rules)).scalar_one()
    place = (case((rules.c.revoked_at.is_(None), 0), else_=1), -rules.c.made_at, rules.c.id)
    query = select(rules).order_by(*place).limit(limit + 1)
    if after is not None:
        query = query.where(tuple_(*place) > after)
    rows = connection.execute(query).all()
    shown = [view(row) for row in rows[:limit]]
    last = rows[limit - 1] if len(rows) > limit else None
    return shown, total, None if last is None else (int(last.revoked_at is not None), -last.made_at, last.id)


def view(row: Row[Any]) -> Rule:
    return Rule(
        id=row.id,
        made_at=clock.rfc3339(row.made_at),
        made_by=row.made_by,
        kind=row.kind,
        text=row.text,
        options=options_of(row),
        schema=schema_of(row),
        answer=typed.decode(row.answer, Answer),
        source=row.source,
        uses=row.uses,
        last_used_at=clock.told(row.last_used_at),
        revoked_at=clock.told(row.revoked_at),
        revoked_by=row.revoked_by,
    )


def _live(connection: Connection, keys: Iterable[str]) -> dict[str, Row[Any]]:
    dialect = connection.dialect.name
    found = connection.execute(_live_ones(dialect), {"keys": as_parameter(dialect, keys)})
    return {row.like_key: row for row in found}


@functools.cache
def _live_ones(dialect: str) -> Select[Any]:
    return select(rules).where(within(dialect, rules.c.like_key, "keys"), rules.c.revoked_at.is_(None))


def _get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, rules, id, "rule")
