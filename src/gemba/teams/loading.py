"""What a task's turn begins with: the state and artifacts of what it builds on, wisdom, explorations, its chain's past.

Every task gets what the tasks that it waits for directly left. The line `Loads:` of its role-spec decides what goes
beyond: a word there that is the id, the prefix, the role or a capability of a task further upstream loads that, too,
"all upstream" loads all of it, and a kind of wisdom that is named goes first. The same rows give the same, in the same
order. Reads only; called by the engine before a turn, which hands it to `artifacts.lay_down` and then to
`transfers.record_transfers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Connection, Row, Select, and_, bindparam, func, select

from gemba import typed
from gemba.store.lists import among, as_parameter, within
from gemba.teams import store
from gemba.teams.knowledge import LONGEST_ANGLE, Exploration, Kind, line_of, read_state
from gemba.teams.loaded import (
    ROOM_FOR_CHAIN,
    ROOM_FOR_STATES,
    ROOM_FOR_WISDOM,
    Loaded,
    LoadedArtifact,
    LoadedEntry,
    LoadedState,
    LoadedWisdom,
    Named,
    chain_entry,
    named_in,
    size_of,
    upstream_entry,
    wisdom_entry,
)
from gemba.teams.loaded import within as within_room
from gemba.teams.tables import accumulators, artifacts, edges, explorations, states, tasks, wisdom

MOST_UPSTREAM = 500  # tasks that are looked at
MOST_LAID = 500  # artifacts of a turn, and bytes of all of them
MOST_LAID_BYTES = 16 << 20
_MOST_WISDOM = 200  # of a kind, the newest
_MOST_EXPLORATIONS = 50
_MOST_CHAIN = 50
_EVERYTHING = frozenset({"all", "upstream"})


def load(connection: Connection, run: Row[Any], task: Row[Any]) -> Loaded:
    """Of explorations all that are new enough: which are fresh, the worktree says (`artifacts.lay_down`)."""
    run_id: str = run.id
    roles: list[dict[str, Any]] = msgspec.json.decode(run.roles)
    loads = next((role.get("loads", ()) for role in roles if role.get("name") == task.owner), ())
    named = named_in(loads)
    upstream = _upstream(connection, run_id, task, named, roles)
    known, unlaid = _artifacts(connection, run_id, [row.id for row in upstream])
    told = [_state(row, read, known) for row, read in _with_states(connection, run_id, upstream)]
    kept, states_left = within_room(told, ROOM_FOR_STATES, lambda each: size_of(upstream_entry(each)))
    wise, wisdom_left = _wisdom(connection, run_id, named.kinds)
    chain, chain_left = _chain(connection, run_id, task)
    left = {"upstream": states_left, "artifacts": unlaid, "wisdom": wisdom_left, "chain": chain_left}
    return Loaded(
        task_id=task.id,
        states=kept,
        artifacts=tuple(known),
        wisdom=wise,
        explorations=_explorations(connection, run_id),
        chain=chain,
        left_out={name: many for name, many in left.items() if many},
    )


# ---- upstream --------------------------------------------------------------------------------------------------------


def _upstream(
    connection: Connection, run_id: str, task: Row[Any], named: Named, roles: Sequence[dict[str, Any]]
) -> Sequence[Row[Any]]:
    """What it waits for directly, and what its role-spec names of what lies behind that, in graph order."""
    direct = store.blockers_of(task)[:MOST_UPSTREAM]
    ids = set(direct)
    by_role = {role["name"]: _words_for(role) for role in roles}
    everything = named.words >= _EVERYTHING
    of_roles = any(words & named.words for name, words in by_role.items() if name != task.owner)
    if everything or of_roles or _names_a_task(named):
        for row in _behind(connection, run_id, direct):
            if everything or named.words & ({row.id.casefold()} | by_role.get(row.owner, set())):
                ids.add(row.id)
    return store.tasks_among(connection, run_id, ids - {task.id})[:MOST_UPSTREAM]


def _names_a_task(named: Named) -> bool:
    return any(word[-1:].isdigit() and "-" in word for word in named.words)


def _words_for(role: dict[str, Any]) -> set[str]:
    """How a line `Loads:` may call the tasks of a role."""
    return {str(word).casefold() for word in (role["name"], role.get("prefix", ""), *role.get("capabilities", ()))}


def _behind(connection: Connection, run_id: str, direct: Sequence[str]) -> Sequence[Row[Any]]:
    """What lies upstream of these, level by level, as far as it is looked at."""
    seen, level = set(direct), list(direct)
    while level and len(seen) < MOST_UPSTREAM:
        before = select(edges.c.blocker).where(edges.c.run_id == run_id, among(connection, edges.c.task, level))
        level = sorted(set(connection.execute(before.distinct()).scalars()) - seen)[: MOST_UPSTREAM - len(seen)]
        seen.update(level)
    return store.tasks_among(connection, run_id, seen - set(direct))


def _with_states(
    connection: Connection, run_id: str, upstream: Sequence[Row[Any]]
) -> Iterable[tuple[Row[Any], str | None]]:
    dialect = connection.dialect.name
    given = {"run_id": run_id, "ids": as_parameter(dialect, [row.id for row in upstream])}
    found = {row.task_id: row.state for row in connection.execute(_states(dialect), given)}
    return [(row, found.get(row.id)) for row in upstream]


def _state(row: Row[Any], state: str | None, known: Sequence[LoadedArtifact]) -> LoadedState:
    reported = read_state(row.id, None if state is None else msgspec.json.decode(state))
    names = tuple(each.name for each in known if each.task_id == row.id)
    return LoadedState(row.id, row.owner, line_of(row.goal, LONGEST_ANGLE), reported, names)


def _artifacts(connection: Connection, run_id: str, task_ids: Sequence[str]) -> tuple[list[LoadedArtifact], int]:
    """The artifacts of the latest version of each task, and how many there is no room for."""
    found = current_artifacts(connection, run_id, task_ids)
    place = {id: number for number, id in enumerate(task_ids)}
    chosen: list[Row[Any]] = []
    room = MOST_LAID_BYTES
    for row in sorted(found, key=lambda each: (place[each.task_id], each.name)):
        if len(chosen) < MOST_LAID and row.size <= room:
            room -= row.size
            chosen.append(row)
    return [_with_content(connection, run_id, row) for row in chosen], len(found) - len(chosen)


def current_artifacts(connection: Connection, run_id: str, task_ids: Sequence[str] | None = None) -> Sequence[Row[Any]]:
    """Without their content: those of the latest version that each task has published, of these tasks or of all."""
    dialect = connection.dialect.name
    given: dict[str, Any] = {"run_id": run_id}
    if task_ids is not None:
        given["ids"] = as_parameter(dialect, task_ids)
    return connection.execute(_current_artifacts(dialect, of_some=task_ids is not None), given).all()


def content_of(connection: Connection, run_id: str, name: str, version: int) -> str | None:
    given = {"run_id": run_id, "name": name, "version": version}
    content: str | None = connection.execute(_content, given).scalar()
    return content


def _with_content(connection: Connection, run_id: str, row: Row[Any]) -> LoadedArtifact:
    content = content_of(connection, run_id, row.name, row.version) or ""
    return LoadedArtifact(row.name, row.task_id, row.version, row.digest, row.size, row.lines, content)


# ---- the other channels ----------------------------------------------------------------------------------------------


def _wisdom(connection: Connection, run_id: str, kinds: Sequence[Kind]) -> tuple[tuple[LoadedWisdom, ...], int]:
    """By the kinds in their order, the newest first as long as there is room; in the order in which it was said."""
    many: dict[str, int] = {row[0]: row[1] for row in connection.execute(_kinds, {"run_id": run_id})}
    found = [each for kind in kinds if kind in many for each in _of_kind(connection, run_id, kind)]
    kept, _ = within_room(found, ROOM_FOR_WISDOM, lambda each: size_of(wisdom_entry(each)))
    return tuple(sorted(kept, key=lambda each: each.number)), sum(many.values()) - len(kept)


def _of_kind(connection: Connection, run_id: str, kind: Kind) -> list[LoadedWisdom]:
    newest = connection.execute(_newest_wisdom, {"run_id": run_id, "kind": kind})
    return [LoadedWisdom(row.number, kind, row.words, row.task_id, row.author) for row in newest]


def _explorations(connection: Connection, run_id: str) -> tuple[Exploration, ...]:
    return tuple(exploration_of(row) for row in connection.execute(_newest_explorations, {"run_id": run_id}))


def exploration_of(row: Row[Any]) -> Exploration:
    files = typed.decode(row.files, dict[str, str])
    return Exploration(row.angle, row.summary, files, row.task_id)


def _chain(connection: Connection, run_id: str, task: Row[Any]) -> tuple[tuple[LoadedEntry, ...], int]:
    """What the tasks before it in its chain accumulated, the nearest first as long as there is room."""
    given = {"run_id": run_id, "chain": task.chain, "id": task.id, "place": task.place}
    rows = connection.execute(_before_in_chain, given).all()
    found = [LoadedEntry(row.task_id, row.version, msgspec.json.decode(row.entry)) for row in rows]
    kept, left = within_room(found, ROOM_FOR_CHAIN, lambda each: size_of(chain_entry(each)))
    return kept[::-1], left


# ---- made once: to make one of these takes several times as long as to run it ----------------------------------------


@cache
def _states(dialect: str) -> Select[Any]:
    return select(states).where(states.c.run_id == _RUN, within(dialect, states.c.task_id, "ids"))


@cache
def _current_artifacts(dialect: str, *, of_some: bool) -> Select[Any]:
    mine = [artifacts.c.run_id == _RUN, *([within(dialect, artifacts.c.task_id, "ids")] if of_some else [])]
    latest = select(artifacts.c.task_id, func.max(artifacts.c.version).label("version"))
    newest = latest.where(*mine).group_by(artifacts.c.task_id).subquery()
    columns = [column for column in artifacts.c if column.name != "content"]
    same = and_(newest.c.task_id == artifacts.c.task_id, newest.c.version == artifacts.c.version)
    return select(*columns).join(newest, same).where(artifacts.c.run_id == _RUN).order_by(artifacts.c.name)


_RUN: BindParameter[str] = bindparam("run_id")
_content = select(artifacts.c.content).where(
    artifacts.c.run_id == _RUN, artifacts.c.name == bindparam("name"), artifacts.c.version == bindparam("version")
)
_kinds = select(wisdom.c.kind, func.count()).where(wisdom.c.run_id == _RUN).group_by(wisdom.c.kind)
_newest_wisdom = (
    select(wisdom)
    .where(wisdom.c.run_id == _RUN, wisdom.c.kind == bindparam("kind"))
    .order_by(wisdom.c.number.desc())
    .limit(_MOST_WISDOM)
)
_newest_explorations = (
    select(explorations)
    .where(explorations.c.run_id == _RUN)
    .order_by(explorations.c.at.desc(), explorations.c.angle)
    .limit(_MOST_EXPLORATIONS)
)
_before_in_chain = (
    select(accumulators)
    .join(tasks, and_(tasks.c.run_id == accumulators.c.run_id, tasks.c.id == accumulators.c.task_id))
    .where(
        accumulators.c.run_id == _RUN,
        accumulators.c.chain == bindparam("chain"),
        accumulators.c.task_id != bindparam("id"),
        tasks.c.place < bindparam("place"),
    )
    .order_by(tasks.c.place.desc())
    .limit(_MOST_CHAIN)
)
