"""The sessions slice's SQL: logs and their positions, frames seen, strays, and the sessions themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Row,
    Table,
    Text,
    bindparam,
    case,
    delete,
    false,
    func,
    select,
    update,
)

from gemba import clock, typed, wire
from gemba.errors import Conflict, NotFound
from gemba.event import Draft
from gemba.sessions import runs
from gemba.sessions.frames import Frame
from gemba.sessions.log import Position
from gemba.sessions.session import (
    LIFECYCLE,
    SILENT_AFTER,
    Asks,
    Facts,
    Lifecycle,
    Prompt,
    ReportedState,
    RunView,
    SessionView,
    Unsaved,
    Usage,
)
from gemba.sessions.translator import agent_type_of
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.store.schema import counters, metadata

logs = Table(
    "logs",
    metadata,
    # Each workspace reads for itself, on each machine, also where several share a home or a database.
    Column("reader", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("inode", Text, nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("mark", Text, nullable=False),
    Column("skipping", Boolean, nullable=False),
)

frames = Table(
    "frames",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("log", Text, nullable=False),  # where it was found: origin/stem
    Column("at", BigInteger, nullable=False),
    Index("frames_by_log", "log", "at"),
)

strays = Table(
    "strays",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("log", Text, nullable=False),
    Column("frames", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_type", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("role", Text),
    Column("lifecycle", Text, nullable=False),
    Column("close_reason", Text),
    Column("reported_state", Text),
    Column("note", Text),
    Column("bead_id", Text),
    Column("prompts", Text, nullable=False),
    Column("first_seen_at", BigInteger, nullable=False),
    Column("last_frame_at", BigInteger, nullable=False),
    Column("origin", Text),  # the home that it writes to
    Column("stopping", Boolean, nullable=False, server_default=false()),  # somebody has stopped it
    Column("tokens_in", BigInteger),  # what its turns took, as far as it was told
    Column("tokens_out", BigInteger),
    Column("cost_usd_micros", BigInteger),
    Column("progress_at", BigInteger),  # none while it is asked about for the lack of it
    Column("workspace", Text),  # whose frames it writes, since the last of them
    Index("sessions_by_last_frame", "last_frame_at"),
)

_NO_ASKS: Mapping[str, Asks] = MappingProxyType({})

_prompts = typed.decoder(tuple[Prompt, ...])

# What every frame asks is made once: that takes longer than to run it.
_agent = bindparam("agent", type_=Text)
_known = select(sessions).where(sessions.c.id.in_(bindparam("ids", expanding=True)))
_heard_of = (
    update(sessions)
    .where(sessions.c.id == bindparam("seen"))
    .values(
        last_frame_at=bindparam("now"),
        agent_type=case((_agent != "", _agent), else_=sessions.c.agent_type),
        origin=bindparam("home"),
        workspace=bindparam("place"),
    )
)


# ---- logs -------------------------------------------------------------------------------------------------------


def positions(connection: Connection, reader: str) -> dict[str, Position]:
    rows = connection.execute(select(logs).where(logs.c.reader == reader))
    return {row.name: Position(row.inode, row.offset, row.mark, row.skipping) for row in rows}


def save_positions(tx: Transaction, reader: str, moved: dict[str, Position]) -> None:
    tx.put(logs, [{"reader": reader, "name": name, **position._asdict()} for name, position in moved.items()])


def forget_positions(tx: Transaction, reader: str, names: Collection[str]) -> None:
    if names:
        gone = (logs.c.reader == reader, logs.c.name == bindparam("gone"))
        tx.connection.execute(delete(logs).where(*gone), [{"gone": name} for name in names])


def forget_frames(tx: Transaction, origin: str, stems: Collection[str], older_than: int) -> None:
    """Drop old frame ids that no log of this origin can bring back."""
    ours = frames.c.log.startswith(f"{origin}/", autoescape=True)
    known = tx.connection.execute(select(frames.c.log).where(ours).distinct()).scalars().all()
    for log in set(known) - {f"{origin}/{stem}" for stem in stems}:
        tx.connection.execute(delete(frames).where(frames.c.log == log, frames.c.at < older_than))


def forget_strays(tx: Transaction, older_than: int) -> None:
    tx.connection.execute(delete(strays).where(strays.c.last_at < older_than))


# ---- frames -----------------------------------------------------------------------------------------------------


def take_new(tx: Transaction, origin: str, batch: Sequence[tuple[str, Frame]]) -> list[Frame]:
    """The frames of the batch that were never seen before, in order; from now on they have been."""
    first: dict[str, tuple[str, Frame]] = {}
    for stem, frame in batch:
        first.setdefault(frame.event_id, (stem, frame))
    rows = [{"event_id": event_id, "log": f"{origin}/{stem}", "at": tx.now} for event_id, (stem, _) in first.items()]
    new = tx.insert_new(frames, rows, "event_id")
    return [frame for event_id, (_, frame) in first.items() if event_id in new]


def count(tx: Transaction, **many: int) -> None:
    """Add to the named counters."""
    tx.add(counters, [{"name": name, "value": value} for name, value in many.items() if value])


def read_counters(connection: Connection) -> dict[str, int]:
    rows = connection.execute(select(counters).where(counters.c.name.like("frames\\_%", escape="\\")))
    return {row.name: row.value for row in rows}


def add_strays(tx: Transaction, found: Sequence[tuple[str, str]]) -> None:
    """Frames (workspace, log) that belong to no workspace of this machine."""
    many = Counter(workspace for workspace, _ in found)
    for workspace, log in dict(found).items():
        tx.insert_new(strays, [{"workspace": workspace, "log": log, "frames": 0, "last_at": tx.now}], "workspace")
        more = strays.c.frames + many[workspace]
        this = strays.c.workspace == workspace
        tx.connection.execute(update(strays).where(this).values(frames=more, last_at=tx.now, log=log))


def read_strays(connection: Connection, since: int) -> list[tuple[str, int, str]]:
    """(workspace as written, how many frames, one log that has them), the most recent first, of those that more was
    found of since then."""
    query = select(strays).where(strays.c.last_at >= since).order_by(strays.c.last_at.desc()).limit(50)
    return [(row.workspace, row.frames, row.log) for row in connection.execute(query)]


# ---- sessions ---------------------------------------------------------------------------------------------------


def meet(tx: Transaction, batch: Sequence[Frame], origin: str, workspace: str) -> dict[str, Facts]:
    """Make sure that every session of the batch has a row; what is known of each."""
    ids = {frame.session_id for frame in batch}
    agent_types = dict.fromkeys(ids, "") | {f.session_id: name for f in batch if (name := agent_type_of(f))}
    known = {row.id: row for row in tx.connection.execute(_known, {"ids": list(ids)})}
    new = [new_row(tx, id, agent_types[id], origin, workspace) for id in ids if id not in known]
    tx.insert_new(sessions, new, "id")
    heard = {"now": tx.now, "home": origin, "place": wire.valid_unicode(workspace)}
    seen = [{"seen": id, "agent": agent_types[id], **heard} for id in known]
    if seen:
        tx.connection.execute(_heard_of, seen)
    return {id: _facts(known[id]) if id in known else Facts() for id in ids}


def origin_of_session(tx: Transaction, id: str) -> str:
    """The home that a living session writes to, and so reads from."""
    row = tx.connection.execute(select(sessions.c.origin, sessions.c.lifecycle).where(sessions.c.id == id)).first()
    if row is None or row.origin is None:
        raise NotFound(f"no session has the id {id}", code="not_found", found=id)
    if row.lifecycle not in (Lifecycle.STARTING, Lifecycle.RUNNING):
        raise Conflict(f"the session {id} is {row.lifecycle}", code="session_over", found=row.lifecycle)
    origin: str = row.origin
    return origin


def agent_type_in(tx: Transaction, id: str) -> str:
    """What kind of agent a session has, as far as it said."""
    return tx.connection.execute(select(sessions.c.agent_type).where(sessions.c.id == id)).scalar() or ""


def role_of(connection: Connection, id: str) -> str | None:
    """The role that a session was given; None where nobody gave it one, or knows of it."""
    role: str | None = connection.execute(select(sessions.c.role).where(sessions.c.id == id)).scalar()
    return role


def _facts(row: Row[Any]) -> Facts:
    return Facts(row.role, _prompts.decode(row.prompts), row.mode, row.stopping, row.bead_id)


def open_prompts(connection: Connection, id: str) -> tuple[Prompt, ...]:
    """The dialogs of a session's client that are open, as far as its frames tell."""
    return _prompts.decode(connection.execute(select(sessions.c.prompts).where(sessions.c.id == id)).scalar_one())


def save_prompts(tx: Transaction, prompts: dict[str, tuple[Prompt, ...]]) -> None:
    for session_id, open_prompts in prompts.items():
        tx.connection.execute(
            update(sessions)
            .where(sessions.c.id == session_id)
            .values(prompts=msgspec.json.encode(open_prompts).decode())
        )


def project(tx: Transaction, drafts: Sequence[Draft]) -> None:
    """Keep the sessions' rows in step with what their frames said; each is written once, however much was said."""
    changed: dict[str, dict[str, Any]] = {}
    for draft in drafts:
        if draft.session_id is not None:
            so_far = changed.setdefault(draft.session_id, {})
            so_far |= _changes(tx, draft, so_far)
            if _is_progress(draft):
                so_far["progress_at"] = tx.now
    for session_id, changes in changed.items():
        if changes:
            tx.connection.execute(update(sessions).where(sessions.c.id == session_id).values(changes))


def list_sessions(
    connection: Connection, limit: int, asks: Mapping[str, Asks] = _NO_ASKS, named: str | None = None
) -> list[SessionView]:
    """The sessions heard of last, of all or of those whose id begins or ends with what is `named`; `asks` tells of
    those of which some wait."""
    query = select(sessions).order_by(sessions.c.last_frame_at.desc(), sessions.c.id).limit(limit)
    if named is not None:
        begins, ends = sessions.c.id.startswith(named, autoescape=True), sessions.c.id.endswith(named, autoescape=True)
        query = query.where(begins | ends)
    return view_all(connection, connection.execute(query).all(), asks)


def view_all(
    connection: Connection, found: Sequence[Row[Any]], asks: Mapping[str, Asks] = _NO_ASKS
) -> list[SessionView]:
    """These rows as they are shown."""
    started = runs.of_sessions(connection, [row.id for row in found])
    return [_view(row, asks.get(row.id), started.get(row.id)) for row in found]


def get_session(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, sessions, id, "session")


def view_session(connection: Connection, id: str, asks: Mapping[str, Asks] = _NO_ASKS) -> SessionView:
    return _view(get_session(connection, id), asks.get(id), runs.find(connection, id))


def is_alive(tx: Transaction, id: str) -> bool:
    return get_session(tx.connection, id).lifecycle in (Lifecycle.STARTING, Lifecycle.RUNNING)


def count_at_work(connection: Connection, now: int) -> int:
    """Those that run, as far as anybody knows: of one that somebody else started only its frames tell."""
    running = sessions.c.lifecycle == Lifecycle.RUNNING
    is_ours = select(runs.runs.c.session_id).where(runs.runs.c.session_id == sessions.c.id).exists()
    heard = sessions.c.last_frame_at > now - SILENT_AFTER
    return connection.execute(select(func.count()).select_from(sessions).where(running, is_ours | heard)).scalar_one()


def _changes(tx: Transaction, draft: Draft, so_far: dict[str, Any]) -> dict[str, Any]:
    """What one event changes in its session's row, which has not got the changes so far yet."""
    payload = draft.payload
    match draft.name:
        case "session_state_reported":
            bead = {"bead_id": payload["bead_id"]} if payload["bead_id"] else {}
            return {"reported_state": payload["state"], "note": payload["note"], **bead}
        case "session_transition":
            row = select(sessions.c.lifecycle).where(sessions.c.id == draft.session_id)
            state = Lifecycle(so_far.get("lifecycle") or tx.connection.execute(row).scalar_one())
            if LIFECYCLE.allows(state, payload["to"]):
                return {"lifecycle": payload["to"], "close_reason": payload.get("close_reason")}
        case "usage_reported":
            return _more_used(payload, so_far)
        case "assumption_recorded":
            return {"mode": payload["mode"]}
        case "escalation_opened" if payload["channel"] == "tool_call":
            return {"mode": payload["mode"]}
        case "user_message":
            if "reported_state" not in so_far:
                prompting = sessions.c.reported_state == ReportedState.PROMPTING
                return {"reported_state": case((prompting, None), else_=sessions.c.reported_state)}
            if so_far["reported_state"] == ReportedState.PROMPTING:
                return {"reported_state": None}
    return {}


def _is_progress(draft: Draft) -> bool:
    """A tool that ran, or a state that the agent reported; that it is stalled is our own word."""
    match draft.name:
        case "tool_use":
            return bool(draft.payload["phase"] != "pre")
        case "session_state_reported":
            return bool(draft.payload["state"] != ReportedState.STALLED)
        case "session_transition":
            return bool(draft.payload["to"] == "running")
    return False


def _more_used(payload: dict[str, Any], so_far: dict[str, Any]) -> dict[str, Any]:
    cost = payload["cost_usd"]
    told = {
        "tokens_in": payload["input_tokens"],
        "tokens_out": payload["output_tokens"],
        "cost_usd_micros": None if cost is None else round(cost * 1_000_000),
    }
    known = {name: so_far.get(name, func.coalesce(sessions.c[name], 0)) for name in told}
    return {name: known[name] + more for name, more in told.items() if more is not None}


def new_row(tx: Transaction, id: str, agent_type: str, origin: str, workspace: str) -> dict[str, Any]:
    """A session that is heard of for the first time."""
    return {
        "id": id,
        "agent_type": agent_type,
        "mode": wire.DEFAULT_MODE,
        "role": None,
        "lifecycle": Lifecycle.RUNNING.value,
        "close_reason": None,
        "reported_state": None,
        "note": None,
        "bead_id": None,
        "prompts": "[]",
        "first_seen_at": tx.now,
        "last_frame_at": tx.now,
        "progress_at": tx.now,
        "origin": origin,
        "stopping": False,
        "workspace": wire.valid_unicode(workspace),
    }


def _view(row: Row[Any], asks: Asks | None, run: Row[Any] | None) -> SessionView:
    reported = ReportedState(row.reported_state) if row.reported_state else None
    alive = row.lifecycle in (Lifecycle.STARTING, Lifecycle.RUNNING)
    return SessionView(
        id=row.id,
        agent_type=row.agent_type,
        mode=row.mode,
        role=row.role,
        lifecycle=Lifecycle(row.lifecycle),
        reported_state=reported,
        note=row.note,
        bead_id=row.bead_id,
        first_seen_at=clock.rfc3339(row.first_seen_at),
        last_frame_at=clock.rfc3339(row.last_frame_at),
        needs_you=(asks is not None and asks.blocking > 0) or (alive and reported is ReportedState.PROMPTING),
        waiting=0 if asks is None else asks.waiting,
        usage=_usage(row),
        close_reason=row.close_reason,
        run=None if run is None else _run_view(run),
    )


def _run_view(row: Row[Any]) -> RunView:
    agent = runs.agent_of(row)
    return RunView(
        title=row.title,
        backend=agent.backend,
        headless=agent.headless,
        folder=row.folder,
        branch=row.branch,
        dispatch_id=row.dispatch_id,
        wanted=row.wanted,
        started_by=row.started_by,
        started_at=clock.told(row.started_at),
        ended_at=clock.told(row.ended_at),
        code=row.code,
        signal=row.signal,
        trouble=row.trouble,
        unsaved=None if row.seen_at is None else Unsaved(row.dirty, row.unmerged, clock.rfc3339(row.seen_at)),
        released_at=clock.told(row.released_at),
        kept_as=row.kept_as,
        cleared_at=clock.told(row.cleared_at),
    )


def _usage(row: Row[Any]) -> Usage | None:
    told = (row.tokens_in, row.tokens_out, row.cost_usd_micros)
    return None if set(told) == {None} else Usage(*told)
