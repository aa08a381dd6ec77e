"""Which knowledge reached whom: what each task published, and what each turn was given, through which channel.

What is recorded is what was loaded and laid down, nothing else, in the transaction that begins the turn; recorded again
for the same attempt it is there once. Called by the engine, and by the page's reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from sqlalchemy import Connection, Row, Table, bindparam, func, select

from gemba import clock
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.teams import store
from gemba.teams.knowledge import read_state
from gemba.teams.loaded import Loaded
from gemba.teams.tables import accumulators, artifacts, explorations, states, transfers, wisdom

Channel = Literal["artifact", "state", "wisdom", "accumulator", "exploration"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
MOST_SHOWN = 20_000  # transfers of one view


class Transfer(NamedTuple):
    """One thing that reaches a task: an artifact as `name@version`, a state and an accumulated entry by their task, an
    exploration by its angle, wisdom by its number. `source` is the task that it is from."""

    channel: Channel
    ref: str
    source: str | None


class Got(msgspec.Struct, frozen=True):
    channel: Channel
    ref: str
    source: str | None
    version: int
    attempt: int
    at: str


class PublishedArtifact(msgspec.Struct, frozen=True):
    name: str
    version: int
    digest: str
    size: int
    lines: int
    at: str


class TaskTransfers(msgspec.Struct, frozen=True, kw_only=True):
    """What a task published, all versions of its artifacts among that, and what its turns were given."""

    task_id: str
    artifacts: list[PublishedArtifact] = []
    ref: str | None = None
    key_findings: list[str] = []
    wisdom: list[int] = []
    angles: list[str] = []
    accumulated: bool = False
    got: list[Got] = []


class WhoKnowsWhat(msgspec.Struct, frozen=True):
    """By task, in graph order; those that published nothing and got nothing are left out. `more`: not all is shown."""

    run_id: str
    tasks: list[TaskTransfers]
    more: bool


def transfers_of(loaded: Loaded) -> Iterator[Transfer]:
    """Everything that a turn begins with."""
    for artifact in loaded.artifacts:
        yield Transfer("artifact", f"{artifact.name}@{artifact.version}", artifact.task_id)
    for state in loaded.states:
        yield Transfer("state", state.task_id, state.task_id)
    for wise in loaded.wisdom:
        yield Transfer("wisdom", str(wise.number), wise.task_id)
    for entry in loaded.chain:
        yield Transfer("accumulator", entry.task_id, entry.task_id)
    for explored in loaded.explorations:
        yield Transfer("exploration", explored.angle, explored.task_id)


def record_transfers(tx: Transaction, run_id: str, task: Row[Any], loaded: Loaded) -> int:
    """Record what an attempt is given; how many things are new of it."""
    store.touch_run(tx, run_id)  # its row is ours until the end, and with it the next number
    mine = (transfers.c.run_id == run_id, transfers.c.task_id == task.id)
    attempt = (transfers.c.version == task.version, transfers.c.attempt == task.attempt)
    columns = (transfers.c.channel, transfers.c.ref)
    known = {(row.channel, row.ref) for row in tx.connection.execute(select(*columns).where(*mine, *attempt))}
    new = [each for each in transfers_of(loaded) if (each.channel, each.ref) not in known]
    last = select(func.max(transfers.c.number)).where(transfers.c.run_id == run_id)
    first: int = (tx.connection.execute(last).scalar() or 0) + 1
    if new:
        tx.insert_many(
            transfers,
            [
                {
                    "run_id": run_id,
                    "number": number,
                    "channel": each.channel,
                    "ref": each.ref,
                    "source": each.source,
                    "task_id": task.id,
                    "version": task.version,
                    "attempt": task.attempt,
                    "at": tx.now,
                }
                for number, each in enumerate(new, first)
            ],
        )
    return len(new)


def artifacts_given(connection: Connection, run_id: str, task: Row[Any]) -> dict[str, str]:
    """The digests of the upstream artifacts that an attempt was given, by their names: what `artifacts.collect`
    compares with."""
    given = {"run_id": run_id, "task_id": task.id, "version": task.version, "attempt": task.attempt}
    refs = connection.execute(_artifacts_given, given).scalars().all()
    if not refs:
        return {}
    names = {ref.rpartition("@")[0] for ref in refs}
    columns = (artifacts.c.name, artifacts.c.version, artifacts.c.digest)
    there = (artifacts.c.run_id == run_id, among(connection, artifacts.c.name, sorted(names)))
    found = connection.execute(select(*columns).where(*there))
    digests = {f"{row.name}@{row.version}": row.digest for row in found}
    return {ref.rpartition("@")[0]: digests[ref] for ref in refs if ref in digests}


# Made once: to make it takes several times as long as to run it.
_artifacts_given = select(transfers.c.ref).where(
    transfers.c.run_id == bindparam("run_id"),
    transfers.c.task_id == bindparam("task_id"),
    transfers.c.channel == "artifact",
    transfers.c.version == bindparam("version"),
    transfers.c.attempt == bindparam("attempt"),
)


# ---- who knows what --------------------------------------------------------------------------------------------------


def who_knows_what(connection: Connection, run_id: str, task_id: str | None = None) -> WhoKnowsWhat:
    """Of one task, or of all."""
    chosen = store.all_tasks(connection, run_id) if task_id is None else [store.get_task(connection, run_id, task_id)]
    got = _rows(connection, transfers, run_id, task_id, transfers.c.number, MOST_SHOWN + 1)
    columns = [column for column in artifacts.c if column.name != "content"]
    by_task = {
        "artifacts": _rows(connection, artifacts, run_id, task_id, artifacts.c.name, columns=columns),
        "states": _rows(connection, states, run_id, task_id, states.c.task_id),
        "wisdom": _rows(connection, wisdom, run_id, task_id, wisdom.c.number),
        "explorations": _rows(connection, explorations, run_id, task_id, explorations.c.angle),
        "accumulated": _rows(connection, accumulators, run_id, task_id, accumulators.c.task_id),
        "got": got[:MOST_SHOWN],
    }
    grouped = {name: _grouped(rows) for name, rows in by_task.items()}
    views = (_view(row.id, {name: found.get(row.id, []) for name, found in grouped.items()}) for row in chosen)
    empty = {row.id: TaskTransfers(task_id=row.id) for row in chosen}
    return WhoKnowsWhat(run_id, [view for view in views if view != empty[view.task_id]], len(got) > MOST_SHOWN)


def _rows(
    connection: Connection,
    table: Table,
    run_id: str,
    task_id: str | None,
    order: Any,
    limit: int | None = None,
    columns: Sequence[Any] = (),
) -> Sequence[Row[Any]]:
    query = select(*(columns or table.c)).where(table.c.run_id == run_id).order_by(order).limit(limit)
    return connection.execute(query if task_id is None else query.where(table.c.task_id == task_id)).all()


def _grouped(found: Sequence[Row[Any]]) -> dict[str, list[Row[Any]]]:
    grouped: dict[str, list[Row[Any]]] = {}
    for row in found:
        grouped.setdefault(row.task_id, []).append(row)
    return grouped


def _view(task_id: str, found: dict[str, list[Row[Any]]]) -> TaskTransfers:
    state = found["states"][0].state if found["states"] else None
    reported = read_state(task_id, None if state is None else msgspec.json.decode(state))
    ordered = sorted(found["artifacts"], key=lambda row: (row.name, row.version))
    return TaskTransfers(
        task_id=task_id,
        artifacts=[
            PublishedArtifact(row.name, row.version, row.digest, row.size, row.lines, clock.rfc3339(row.at))
            for row in ordered
        ],
        ref=reported.ref,
        key_findings=[*reported.key_findings],
        wisdom=[row.number for row in found["wisdom"]],
        angles=[row.angle for row in found["explorations"]],
        accumulated=bool(found["accumulated"]),
        got=[
            Got(row.channel, row.ref, row.source, row.version, row.attempt, clock.rfc3339(row.at))
            for row in found["got"]
        ],
    )
