"""What a task leaves for others, stored in the transaction in which it is done; and wisdom from wherever it comes.

Artifacts stand under their task's version, and those of earlier versions stay. An entry of wisdom is there once,
however often it is said; a task's entry in its chain and an angle of the exploration cache are replaced. The state is
given back as the data of a `state_update`, since the bus alone writes states: whoever publishes posts it in the same
transaction. To publish the same again changes nothing. Called by the engine, by whoever takes messages, and for
feedback.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, delete, func, select

from gemba.errors import Invalid
from gemba.event import Draft
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.teams import store
from gemba.teams.knowledge import (
    ARTIFACT_RULE,
    KINDS,
    CollectedArtifact,
    Exploration,
    Reported,
    Words,
    accumulated,
    artifact_task,
    state_of,
    wisdom_in_message,
    wisdom_of,
)
from gemba.teams.tables import accumulators, artifacts, explorations, wisdom
from gemba.text import storable

LONGEST_FEEDBACK = 4_000  # characters that a person says at once


class Published(NamedTuple):
    """`state` is what the task says of itself; `wisdom` are the numbers of what is new of it."""

    state: Reported
    artifacts: list[str]
    wisdom: list[int]
    angles: list[str]


def publish(
    tx: Transaction,
    run_id: str,
    task: Row[Any],
    document: Mapping[str, Any],
    collected: Sequence[CollectedArtifact],
    explored: Sequence[Exploration] = (),
    *,
    reviewer: str | None = None,
    before: Sequence[Mapping[str, Any]] = (),
) -> Published:
    """Store what an accepted envelope and the artifacts of its turn bring. `reviewer` is who reviewed the work, where
    that was somebody of the team or a person; `before` are the envelopes of the task's turns before it."""
    store.touch_run(tx, run_id)  # its row is ours until the end: numbers below are given one after the other
    names = [each.name for each in collected]
    keep_artifacts(tx, run_id, task, collected)
    state = state_of(document, task_id=task.id, artifacts=names, reviewer=reviewer, author=task.owner, before=before)
    entry = accumulated(state, names, document, task.goal)
    tx.put(
        accumulators,
        [
            {
                "run_id": run_id,
                "chain": task.chain,
                "task_id": task.id,
                "version": task.version,
                "entry": _json(entry),
                "at": tx.now,
            }
        ],
    )
    new = _add(tx, run_id, wisdom_of(document), author=task.owner, task_id=task.id)
    _keep_explorations(tx, run_id, task.id, explored)
    angles = [each.angle for each in explored]
    _tell(tx, run_id, {"task_id": task.id, "artifacts": len(names), "wisdom": len(new), "explorations": len(angles)})
    return Published(state, names, new, angles)


def add_wisdom(tx: Transaction, run_id: str, kind: str, words: str, author: str, task_id: str | None = None) -> int:
    """Add what somebody says, as feedback is a decision; its number, which is the old one where it is known already."""
    if kind not in KINDS:
        allowed = ", ".join(KINDS)
        raise Invalid(
            f"kind is {kind[:60]!r}; allowed: {allowed}",
            code="invalid_value",
            pointer="/kind",
            found=kind[:60],
            allowed=list(KINDS),
        )
    said = storable(words).strip()
    if not 1 <= len(said) <= LONGEST_FEEDBACK:
        allowed = f"1 to {LONGEST_FEEDBACK:,} characters"
        raise Invalid(
            f"there are {len(said):,} characters; allowed: {allowed}",
            code="invalid_value",
            pointer="/words",
            found=len(said),
            allowed=allowed,
        )
    store.touch_run(tx, run_id)
    known = _known(tx, run_id, [said])
    if (kind, said) in known:
        return known[kind, said]
    (number,) = _add(tx, run_id, [Words(kind, said)], author=author, task_id=task_id)
    _tell(tx, run_id, {"task_id": task_id, "wisdom": 1, "by": author})
    return number


def take_message(
    tx: Transaction, run_id: str, type_: str, summary: str, data: Mapping[str, Any], *, author: str
) -> list[int]:
    """Keep what a message tells to the whole team; the numbers of what is new."""
    found = wisdom_in_message(type_, summary, data)
    if not found:
        return []
    store.touch_run(tx, run_id)
    task_id = data.get("task_id")
    return _add(tx, run_id, found, author=author, task_id=storable(task_id)[:64] if isinstance(task_id, str) else None)


# ---- rows ------------------------------------------------------------------------------------------------------------


def keep_artifacts(tx: Transaction, run_id: str, task: Row[Any], collected: Sequence[CollectedArtifact]) -> None:
    for each in collected:
        if artifact_task(each.name) != task.id:
            raise Invalid(
                f"{each.name[:80]!r} is no artifact of {task.id}; allowed: {ARTIFACT_RULE}",
                code="artifact_name",
                pointer="/name",
                found=each.name[:80],
                allowed=ARTIFACT_RULE,
            )
    mine = (artifacts.c.run_id == run_id, artifacts.c.task_id == task.id, artifacts.c.version == task.version)
    others = ~among(tx.connection, artifacts.c.name, [each.name for each in collected])
    tx.connection.execute(delete(artifacts).where(*mine, others))  # of an earlier attempt of this version
    tx.put(
        artifacts,
        [
            {
                "run_id": run_id,
                "name": each.name,
                "version": task.version,
                "task_id": task.id,
                "digest": each.digest,
                "size": each.size,
                "lines": each.lines,
                "content": each.content,
                "at": tx.now,
            }
            for each in collected
        ],
    )


def _keep_explorations(tx: Transaction, run_id: str, task_id: str, explored: Sequence[Exploration]) -> None:
    tx.put(
        explorations,
        [
            {
                "run_id": run_id,
                "angle": each.angle,
                "task_id": task_id,
                "summary": each.summary,
                "files": _json(each.files),
                "at": tx.now,
            }
            for each in explored
        ],
    )


def _add(tx: Transaction, run_id: str, found: Sequence[Words], *, author: str, task_id: str | None) -> list[int]:
    known = _known(tx, run_id, [each.words for each in found])
    new = [each for each in dict.fromkeys(found) if (each.kind, each.words) not in known]
    last = select(func.max(wisdom.c.number)).where(wisdom.c.run_id == run_id)
    first: int = (tx.connection.execute(last).scalar() or 0) + 1
    rows = [
        {
            "run_id": run_id,
            "number": number,
            "kind": each.kind,
            "words": each.words,
            "task_id": task_id,
            "author": author,
            "at": tx.now,
        }
        for number, each in enumerate(new, first)
    ]
    if rows:
        tx.insert_many(wisdom, rows)
    return [*range(first, first + len(new))]


def _known(tx: Transaction, run_id: str, words: Iterable[str]) -> dict[tuple[str, str], int]:
    mine = (wisdom.c.run_id == run_id, among(tx.connection, wisdom.c.words, words))
    found = tx.connection.execute(select(wisdom.c.kind, wisdom.c.words, wisdom.c.number).where(*mine))
    return {(row.kind, row.words): row.number for row in found}


def _tell(tx: Transaction, run_id: str, said: dict[str, Any]) -> None:
    tx.emit(Draft("team.learned", said, ref=run_id))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
