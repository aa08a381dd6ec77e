"""The runs table: each session that Gemba starts, what it runs, whether it is still wanted, and how it ended.

A row is written with its session, in one transaction, before anything is started; whoever keeps the runs of its home
(`keeping`) makes true what the rows say. A row that has ended is never taken up again. Called by the actions of
sessions and by the keeper of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    Table,
    Text,
    bindparam,
    func,
    insert,
    select,
    update,
)

from gemba import typed, wire
from gemba.errors import Conflict, NotFound
from gemba.sessions.agents.agent import Agent
from gemba.sessions.reconcile import Ending
from gemba.store.database import Transaction
from gemba.store.schema import metadata

runs = Table(
    "runs",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("origin", Text, nullable=False),  # the home that has its folder, on the machine that runs it
    Column("workspace", Text, nullable=False),  # several may share a home and a database
    Column("agent_type", Text, nullable=False),
    Column("agent", Text, nullable=False),  # the type as it was when it started, as JSON
    Column("task", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("dispatch_id", Text),
    Column("own_tree", Boolean, nullable=False),  # a worktree of its own, or the workspace itself
    Column(
        "tree", Text
    ),  # the name of its worktree, where that is not its own: sessions that follow each other share it
    Column("folder", Text),  # where it works, once it does
    Column("branch", Text),
    Column("wanted", Boolean, nullable=False),
    Column("started_by", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Column("code", Integer),
    Column("signal", Integer),
    Column("trouble", Text),  # why it could not be started
    Column("dirty", Integer),  # files of its worktree that were not committed when it was looked at last
    Column("unmerged", Integer),  # commits, likewise
    Column("seen_at", BigInteger),
    Column("released_at", BigInteger),  # its worktree is gone
    Column("kept_as", Text),  # the reference that has what was not committed then
    Column("cleared_at", BigInteger),  # what it printed is gone
    Index("runs_to_keep", "origin", "workspace", "ended_at"),
    Index("runs_by_type", "workspace", "agent_type", "created_at"),
    Index("runs_by_age", "created_at"),
)

_agent = typed.decoder(Agent)
_Text = str | BindParameter[str]


def agent_of(row: Row[Any]) -> Agent:
    return _agent.decode(row.agent)


def find(connection: Connection, session_id: str) -> Row[Any] | None:
    return connection.execute(_of_session, {"session_id": session_id}).first()


_of_session = select(runs).where(runs.c.session_id == bindparam("session_id"))  # to make it takes longer than to run it


def get_locked(tx: Transaction, session_id: str) -> Row[Any]:
    """The run of a session for a move; NotFound where Gemba started none."""
    row = tx.connection.execute(select(runs).where(runs.c.session_id == session_id).with_for_update()).first()
    if row is None:
        raise NotFound(f"no session that Gemba started has the id {session_id}", code="not_found", found=session_id)
    return row


def of_sessions(connection: Connection, ids: Sequence[str]) -> dict[str, Row[Any]]:
    return {row.session_id: row for row in connection.execute(select(runs).where(runs.c.session_id.in_(ids)))}


def living(connection: Connection, run_ids: Sequence[str]) -> set[str]:
    """Which of these have not ended, of whatever home."""
    mine = (runs.c.run_id.in_(run_ids), runs.c.ended_at.is_(None))
    return set(connection.execute(select(runs.c.run_id).where(*mine)).scalars())


def running_here(origin: _Text, workspace: _Text) -> tuple[ColumnElement[bool], ...]:
    """Of a row: its agent was seen to run, and is not to stop."""
    return (*_kept(origin, workspace), runs.c.wanted, runs.c.started_at.is_not(None))


def _kept(origin: _Text, workspace: _Text) -> tuple[ColumnElement[bool], ...]:
    return runs.c.origin == origin, runs.c.workspace == workspace, runs.c.ended_at.is_(None)


def to_keep(connection: Connection, origin: str, workspace: str) -> Sequence[Row[Any]]:
    """What has not ended, the eldest first."""
    mine = select(runs).where(*_kept(origin, workspace))
    return connection.execute(mine.order_by(runs.c.created_at, runs.c.session_id)).all()


def add(tx: Transaction, agent: Agent, **facts: Any) -> None:
    row = {
        "run_id": wire.new_event_id(),
        "agent_type": agent.name,
        "agent": msgspec.json.encode(agent).decode(),
        "wanted": True,
        "started_by": tx.actor,
        "created_at": tx.now,
        **facts,
    }
    tx.connection.execute(insert(runs).values(row))


def change(tx: Transaction, session_id: str, **values: Any) -> None:
    tx.connection.execute(update(runs).where(runs.c.session_id == session_id).values(values))


def end(tx: Transaction, how: Ending, trouble: str | None = None) -> bool:
    """Written once; False when it had ended before."""
    values = {"ended_at": tx.now, "code": how.code, "signal": how.signal, "trouble": trouble, "wanted": False}
    still = (runs.c.session_id == how.session_id, runs.c.ended_at.is_(None))
    return bool(tx.connection.execute(update(runs).where(*still).values(values)).rowcount)


def check_limits(tx: Transaction, agent: Agent, workspace: str, hour: int) -> None:
    """A Conflict when one more of this type would be too many at once, or too many within the hour."""
    of_type = (runs.c.workspace == workspace, runs.c.agent_type == agent.name)
    living = _count(tx.connection, *of_type, runs.c.ended_at.is_(None))
    if living >= agent.max_parallel:
        raise _too_many(agent, "max_parallel", f"{living} run at once", agent.max_parallel)
    rate = agent.limits.runs_per_hour
    started = _count(tx.connection, *of_type, runs.c.created_at > tx.now - hour) if rate else 0
    if rate and started >= rate:
        raise _too_many(agent, "runs_per_hour", f"{started} were started within the hour", rate)


def _too_many(agent: Agent, limit: str, found: str, allowed: int) -> Conflict:
    place = f"{limit} of [agent.{agent.name}] in .gemba/agents.toml"
    return Conflict(
        f"of {agent.name} {found}; allowed: {allowed} ({place})", code="limit_reached", found=found, allowed=allowed
    )


def _count(connection: Connection, *conditions: Any) -> int:
    return connection.execute(select(func.count()).select_from(runs).where(*conditions)).scalar_one()
