"""What the end of a task does to those that wait for it, what begins anew with one, and a task that is put in between.

The rows keep the counters of `schedule.Schedule`, which decides the same for a graph in memory. The run is locked by
whoever calls; what it costs grows with the tasks behind the one that changes, not with the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, bindparam, insert, select, update

from gemba.errors import Conflict
from gemba.store.database import Transaction
from gemba.teams import store
from gemba.teams.plan import TaskOptions
from gemba.teams.tables import chains, edges, runs, tasks
from gemba.teams.task import DONE, ENDED, LOST, Dependent, Lost, TaskState, effects_of

STEP = 1_000  # between the places of two tasks of a plan, so that others fit in between

S = TaskState


class Ended(NamedTuple):
    """A task that has ended, its run then, those that can begin now, and those that were skipped for it."""

    task: Row[Any]
    run: Row[Any]
    ready: list[Row[Any]]
    skipped: list[Row[Any]]


def end(tx: Transaction, row: Row[Any], event: str, **values: Any) -> Ended:
    """A task ends: its dependents can begin, or are skipped, with those that depend on them in turn."""
    ended = store.move_task(tx, row, event, ended_at=tx.now, **values)
    if S(ended.state) in DONE:
        ready, skipped = _free(tx, ended), []
    else:
        ready, skipped = [], list(_skip_behind(tx, ended))
    run = store.count_ended(tx, row.run_id, 1 + len(skipped))
    return Ended(ended, run, ready, skipped)


# Made once: to make it takes longer than to run it.
_behind = select(edges.c.task).where(edges.c.run_id == bindparam("its_run"), edges.c.blocker == bindparam("ended"))
_fewer_blockers = (
    update(tasks)
    .where(tasks.c.run_id == bindparam("its_run"), tasks.c.id.in_(_behind))
    .values(open_blockers=tasks.c.open_blockers - 1)
    .returning(tasks)
)


def _free(tx: Transaction, ended: Row[Any]) -> list[Row[Any]]:
    freer = tx.connection.execute(_fewer_blockers, {"its_run": ended.run_id, "ended": ended.id}).all()
    before = [Dependent(each.id, S(each.state), each.open_blockers + 1) for each in freer]
    ready = set(effects_of(ended.id, before).ready)
    return sorted((each for each in freer if each.id in ready), key=lambda each: int(each.place))


def _skip_behind(tx: Transaction, lost: Row[Any]) -> Iterator[Row[Any]]:
    first = Lost(lost.id, S(lost.state))
    waiting = [first]
    for at in waiting:
        behind = store.lock_dependents(tx, lost.run_id, at.id)
        found = {each.id: each for each in behind}
        for skip in effects_of(at, _facts(behind)).skipped:
            skipped = store.move_task(
                tx, found[skip.id], "skipped", reason=skip.reason, lost_for=first.id, ended_at=tx.now
            )
            waiting.append(Lost(skip.id, S.SKIPPED, first))
            yield skipped


def _facts(rows: Iterable[Row[Any]]) -> list[Dependent]:
    return [Dependent(row.id, S(row.state), row.open_blockers) for row in rows]


# ---- again -----------------------------------------------------------------------------------------------------------


def begin_anew(tx: Transaction, row: Row[Any], event: str, **values: Any) -> list[Row[Any]]:
    """A task begins anew, and with it all behind it that was done, is under way, or was skipped for it, in graph order:
    those, as they were before.

    What failed or was skipped by a person stays so, and so does what is behind that.
    """
    known = {each.id: each for each in _with_blockers(tx, row)}
    states = {id: S(each.state) for id, each in known.items()}
    _refuse_lost_blocker(row, states)
    fresh: dict[str, Any] = {"ended_at": None, "lost_for": None, "escalation_id": None, "not_before": 0}
    store.move_task(tx, row, event, **{**fresh, **_from_the_branch(row), **values})
    states[row.id], again = S.PENDING, [row]
    for each in behind(tx, row):
        blockers = [states[blocker] for blocker in store.blockers_of(each)]
        how = _how_again(each, kept_back=any(state in LOST for state in blockers))
        if how is not None:
            store.move_task(tx, each, how, **fresh, **_from_the_branch(each), attempt=0, judged=0, errors=0)
            states[each.id] = S.PENDING
            again.append(each)
        _set_blockers(tx, each, sum(state not in DONE for state in blockers))
    _count(tx, row.run_id, sum(S(each.state) in ENDED for each in again))
    return again


def _from_the_branch(row: Row[Any]) -> dict[str, Any]:
    """What is in the run's branch is begun from there, with what others have brought in since."""
    return {} if row.merged is None else {"merged": None, "commit_hash": None}


def _how_again(row: Row[Any], *, kept_back: bool) -> str | None:
    state = S(row.state)
    if state is S.SKIPPED:
        return "reopened" if row.lost_for is not None and not kept_back else None
    return "outdated" if state not in (*LOST, S.PENDING) else None


def _refuse_lost_blocker(row: Row[Any], states: dict[str, TaskState]) -> None:
    gone = [each for each in store.blockers_of(row) if states[each] in LOST]
    if gone:
        raise Conflict(
            f"{row.id} depends on {gone[0]}, which is {states[gone[0]]}: that one has to begin anew first",
            code="lost_blocker",
            found=gone,
        )


def behind(tx: Transaction, row: Row[Any]) -> list[Row[Any]]:
    """All that waits for a task, over whatever others, in graph order."""
    found: dict[str, Row[Any]] = {}
    waiting = [row.id]
    for at in waiting:
        new = [each for each in store.lock_dependents(tx, row.run_id, at) if each.id not in found]
        found |= {each.id: each for each in new}
        waiting.extend(each.id for each in new)
    return sorted(found.values(), key=lambda each: int(each.place))


def _with_blockers(tx: Transaction, row: Row[Any]) -> Sequence[Row[Any]]:
    """The task, all behind it, and what any of them waits for."""
    these = [row, *behind(tx, row)]
    wanted = {each.id for each in these}.union(*(store.blockers_of(each) for each in these))
    return store.tasks_among(tx.connection, row.run_id, wanted)


def skip_if_kept_back(tx: Transaction, row: Row[Any]) -> Ended | None:
    """A task that waits for its turn again, and whose blocker is lost by now, is skipped like the others."""
    states = {each.id: S(each.state) for each in store.tasks_among(tx.connection, row.run_id, store.blockers_of(row))}
    lost = next((id for id, state in states.items() if state in LOST), None)
    if lost is None:
        return None
    blocker = Lost(lost, states[lost])
    reason = effects_of(blocker, [Dependent(row.id, S.PENDING, row.open_blockers)]).skipped[0].reason
    return end(tx, row, "skipped", reason=reason, lost_for=lost)


# ---- in between ------------------------------------------------------------------------------------------------------


def put_behind(tx: Transaction, row: Row[Any], goal: str, options: TaskOptions, **values: Any) -> Row[Any]:
    """One more task for what a task left to do: it waits for no more than that one did, and all that waits for that
    one waits for it too. It is of the same role and chain and revises it, unless it is another `owner`'s, with a
    `prefix`: then it stands alone."""
    prefix: str = values.get("prefix", row.prefix)
    of_prefix = select(tasks.c.id).where(tasks.c.run_id == row.run_id, tasks.c.prefix == prefix)
    highest = max((int(id.rpartition("-")[2]) for id in tx.connection.execute(of_prefix).scalars()), default=0)
    id = f"{prefix}-{highest + 1:03}"
    if values.get("owner", row.owner) == row.owner:
        same = {"owner": row.owner, "prefix": prefix, "chain": row.chain, "inner_loop": row.inner_loop}
        values = {**same, "revises": row.id, **values}
    else:
        values = {"chain": id, "inner_loop": False, **values}
    behind = store.lock_dependents(tx, row.run_id, row.id)
    taken = select(tasks.c.place).where(tasks.c.run_id == row.run_id, tasks.c.place > row.place)
    place = tx.connection.execute(taken.order_by(tasks.c.place).limit(1)).scalar()
    new = new_row(
        tx,
        run_id=row.run_id,
        id=id,
        place=row.place + 1 if place is None or place > row.place + 1 else row.place,
        goal=goal,
        given=store.json_of(options),
        blocked_by=row.blocked_by,
        open_blockers=row.open_blockers,
        **values,
    )
    tx.connection.execute(insert(tasks), new)
    waits_for = [{"run_id": row.run_id, "blocker": each, "task": new["id"]} for each in store.blockers_of(row)]
    waiting = [{"run_id": row.run_id, "blocker": new["id"], "task": each.id} for each in behind]
    if waits_for or waiting:
        tx.connection.execute(insert(edges), [*waits_for, *waiting])
    for each in behind:
        blockers = msgspec.json.encode([*store.blockers_of(each), new["id"]]).decode()
        store.change_task(tx, each, blocked_by=blockers, open_blockers=each.open_blockers + 1)
    _count(tx, row.run_id, 1)
    store.change_run(tx, row.run_id, tasks=runs.c.tasks + 1)
    made = store.get_task(tx.connection, row.run_id, new["id"])
    store.tell(tx, made, "added")
    return made


def new_row(tx: Transaction, **values: Any) -> dict[str, Any]:
    """A task as it begins."""
    zeros = dict.fromkeys(("attempt", "judged", "errors", "fence", "beat", "not_before"), 0)
    return {
        **zeros,
        "state": S.PENDING,
        "version": 1,
        "words": "[]",
        "created_at": tx.now,
        "changed_at": tx.now,
        **values,
    }


# ---- counters --------------------------------------------------------------------------------------------------------


def _count(tx: Transaction, run_id: str, more: int) -> None:
    if more:
        store.change_run(tx, run_id, unended=runs.c.unended + more)


def _set_blockers(tx: Transaction, row: Row[Any], many: int) -> None:
    if many != row.open_blockers:
        this = update(tasks).where(tasks.c.run_id == row.run_id, tasks.c.id == row.id)
        tx.connection.execute(this.values(open_blockers=many))


# ---- chains ----------------------------------------------------------------------------------------------------------


def chain_errors(tx: Transaction, row: Row[Any]) -> int:
    mine = (chains.c.run_id == row.run_id, chains.c.chain == row.chain)
    many: int | None = tx.connection.execute(select(chains.c.errors).where(*mine)).scalar()
    return many or 0


def put_chain(tx: Transaction, row: Row[Any], errors: int, *, stopped: bool) -> None:
    tx.put(chains, [{"run_id": row.run_id, "chain": row.chain, "errors": errors, "stopped": stopped}])
