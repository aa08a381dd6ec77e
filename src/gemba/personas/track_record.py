"""The track record of personas and models: their past rankings of epics, scored against what happened since.

Computed when it is asked for, from rows that an index finds: the last rankings, the epics that they name, and the parts
of these. Applied or not, a ranking is scored the same; how many were applied is told beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Column, Connection, Row, select

from gemba import clock, typed
from gemba.personas import consults
from gemba.personas.consult import ConsultStatus
from gemba.personas.scoring import Happened, Ranked, Score, hours, score
from gemba.skills.consult import epic_order
from gemba.store.lists import among
from gemba.work.board import begun
from gemba.work.item import State
from gemba.work.tables import items

UNKNOWN = "unknown"  # a model that did not say its name

_words = typed.decoder(tuple[str, ...])


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """How the rankings of a persona fared that one model gave; `gemba-advisor` is the built-in one. `agreement` is the
    share of pairs that were finished in the order of the ranking, `tau` the mean of the rankings' rank correlations;
    both are null while nothing can be compared. `blocked_hours` is the mean that an epic waited for what it depends on,
    `conflicts` are pairs that one group said can run at once, that did, and that touch the same paths."""

    persona_id: str
    model: str
    rankings: int
    applied: int
    scored: int
    pairs: int
    inversions: int
    agreement: float | None
    tau: float | None
    blocked_hours: float | None
    parallel_pairs: int
    conflicts: int


class ScoredRanking(msgspec.Struct, frozen=True, kw_only=True):
    """One ranking and how it fared so far."""

    consult_id: str
    persona_id: str
    model: str
    at: str
    applied: bool
    ranked: int
    finished: int
    pairs: int
    inversions: int
    tau: float | None
    blocked_hours: float
    parallel_pairs: int
    conflicts: int


class TrackRecord(msgspec.Struct, frozen=True):
    """By persona and model, the surest agreement first; then the rankings themselves, newest first. `more`: older ones
    were not looked at."""

    records: list[Record]
    rankings: list[ScoredRanking]
    more: bool


class _Past(NamedTuple):
    row: Row[Any]
    ranking: list[Ranked]
    depends: dict[str, list[str]]


def read_track_record(
    connection: Connection, now: int, most: int, persona_id: str | None = None, since: int = 0
) -> TrackRecord:
    """Of the last so many rankings, as far as they were asked for since a moment."""
    found = _rankings(connection, most + 1, persona_id, since)
    past = [_past(row) for row in found[:most]]
    named = {one.epic_id for each in past for one in each.ranking}
    named |= {id for each in past for waited in each.depends.values() for id in waited}
    happened = _happened(connection, named)
    applied = _applied(connection, [each.row.id for each in past])
    scored = [(each.row, score(each.ranking, each.depends, happened, each.row.started_at, now)) for each in past]
    return TrackRecord(_records(scored, applied), [_shown(*one, applied) for one in scored], len(found) > most)


def _rankings(connection: Connection, limit: int, persona_id: str | None, since: int) -> Sequence[Row[Any]]:
    table = consults.consults.c
    ended = (table.skill_id == epic_order.SKILL.id, table.status.in_((ConsultStatus.COMPLETED, ConsultStatus.CLOSED)))
    columns: list[Column[Any]] = [table.id, table.persona_id, table.model, table.started_at, table.lines, table.input]
    query = select(*columns).where(*ended, table.started_at >= since)
    if persona_id is not None:
        query = query.where(table.persona_id == persona_id)
    return connection.execute(query.order_by(table.started_at.desc(), table.id.desc()).limit(limit)).all()


def _past(row: Row[Any]) -> _Past:
    lines = typed.decode(row.lines, list[dict[str, Any]])
    ranked = [
        Ranked(line["epic_id"], line.get("parallel_group")) for line in lines if line.get("type") == "recommendation"
    ]
    epics = msgspec.json.decode(row.input).get("candidate_epics") or []
    return _Past(row, ranked, {epic["epic_id"]: list(epic.get("depends_on_epics") or ()) for epic in epics})


def _applied(connection: Connection, ids: Sequence[str]) -> set[str]:
    column = consults.applied.c.consult_id
    return set(connection.execute(select(column).where(among(connection, column, ids)).distinct()).scalars())


# ---- what happened ---------------------------------------------------------------------------------------------------


def _happened(connection: Connection, ids: Iterable[str]) -> dict[str, Happened]:
    """By epic: what is known of it with its parts."""
    table = items.c
    columns: list[Column[Any]] = [table.id, table.parent, table.state, table.closed_at, table.targets, table.repository]
    epics = {row.id: row for row in connection.execute(select(*columns).where(among(connection, table.id, ids)))}
    parts: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(select(*columns).where(among(connection, table.parent, list(epics)))):
        parts[row.parent].append(row)
    begun_at = begun(connection, [*epics, *(row.id for each in parts.values() for row in each)])
    return {id: _one(row, parts[id], begun_at) for id, row in epics.items()}


def _one(row: Row[Any], parts: Sequence[Row[Any]], begun_at: dict[str, int]) -> Happened:
    whole = [row, *parts]
    return Happened(
        begun_at=min((begun_at[each.id] for each in whole if each.id in begun_at), default=None),
        finished_at=row.closed_at if row.state == State.DONE else None,
        dropped=row.state == State.CANCELLED,
        targets=tuple(dict.fromkeys(glob for each in whole for glob in _words.decode(each.targets))),
        repository=row.repository,
    )


# ---- sums ------------------------------------------------------------------------------------------------------------


def _records(scored: Sequence[tuple[Row[Any], Score]], applied: set[str]) -> list[Record]:
    by: dict[tuple[str, str], list[tuple[Row[Any], Score]]] = defaultdict(list)
    for row, one in scored:
        by[row.persona_id, row.model or UNKNOWN].append((row, one))
    found = [_record(persona_id, model, each, applied) for (persona_id, model), each in by.items()]
    return sorted(found, key=_place)


def _place(one: Record) -> tuple[float, str, str]:
    return 1 if one.agreement is None else -one.agreement, one.persona_id, one.model


def _record(persona_id: str, model: str, scored: Sequence[tuple[Row[Any], Score]], applied: set[str]) -> Record:
    scores = [one for _, one in scored]
    taus = [one.tau for one in scores if one.tau is not None]
    pairs, inversions = sum(one.pairs for one in scores), sum(one.inversions for one in scores)
    waited = sum(one.waited for one in scores)
    return Record(
        persona_id=persona_id,
        model=model,
        rankings=len(scores),
        applied=sum(row.id in applied for row, _ in scored),
        scored=len(taus),
        pairs=pairs,
        inversions=inversions,
        agreement=1 - inversions / pairs if pairs else None,
        tau=sum(taus) / len(taus) if taus else None,
        blocked_hours=hours(sum(one.blocked for one in scores)) / waited if waited else None,
        parallel_pairs=sum(one.parallel for one in scores),
        conflicts=sum(one.conflicts for one in scores),
    )


def _shown(row: Row[Any], one: Score, applied: set[str]) -> ScoredRanking:
    return ScoredRanking(
        consult_id=row.id,
        persona_id=row.persona_id,
        model=row.model or UNKNOWN,
        at=clock.rfc3339(row.started_at),
        applied=row.id in applied,
        ranked=one.ranked,
        finished=one.finished,
        pairs=one.pairs,
        inversions=one.inversions,
        tau=one.tau,
        blocked_hours=hours(one.blocked),
        parallel_pairs=one.parallel,
        conflicts=one.conflicts,
    )
