"""What can be read of sessions and of the types of agents, as a table: from the database, and, of what runs here, from
its transcript and its worktree as they are now."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gemba import wire
from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event, open_cursor, seal_cursor
from gemba.app import App
from gemba.escalations.inbox import asks_by_session
from gemba.sessions import runs
from gemba.sessions.agents.agent import Agent, Mode, Origin, usable
from gemba.sessions.agents.file import sound_agents
from gemba.sessions.inputs import SessionInput, list_inputs
from gemba.sessions.session import SessionView, Transcript
from gemba.sessions.store import get_session, list_sessions, view_session
from gemba.sessions.unsaved import state_of
from gemba.sessions.worktrees import worktree
from gemba.text import storable


class SessionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`named`: only those whose id begins or ends so."""

    limit: Limit = 200
    named: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_SESSION_ID)] | None = None


class TranscriptQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the last lines."""

    lines: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 200


class SessionList(msgspec.Struct, frozen=True):
    sessions: list[SessionView]
    as_of: int


class WorktreeView(msgspec.Struct, frozen=True):
    """What would be lost with a session's worktree; what cannot be said of it is null. Without a branch it is the
    workspace itself. Names and commits are the first few. `seal` names all of this: a release that gives it takes the
    worktree away though something is only there; null where nothing is."""

    path: str
    branch: str | None
    base_branch: str | None
    is_there: bool
    dirty: int
    files: list[str]
    ahead: int | None
    unmerged: int | None
    commits: list[str]
    unpushed: int | None
    locked: str | None
    seal: str | None


class SessionWorktree(msgspec.Struct, frozen=True):
    """Null where the session has none, or not here."""

    session_id: str
    worktree: WorktreeView | None


class InputQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50
    cursor: str | None = None


class InputList(msgspec.Struct, frozen=True):
    """What was typed to a session: what did not arrive, or may not have, first; the newest first within."""

    inputs: list[SessionInput]
    total: int
    next_cursor: str | None
    as_of: int


class AgentType(msgspec.Struct, frozen=True):
    """A type of agent; `why_not` says why no session of it can be started here. No variable of its is told."""

    name: str
    description: str
    backend: Literal["tmux", "process"]
    interaction_mode: Mode
    headless: bool
    takes_task: bool
    usable: bool
    why_not: str | None
    origin: Origin


class AgentTypeList(msgspec.Struct, frozen=True):
    agents: list[AgentType]


def sessions(app: App, query: SessionQuery) -> SessionList:
    with app.database.read() as connection:
        as_of = last_event(connection)
        return SessionList(list_sessions(connection, query.limit, asks_by_session(connection), query.named), as_of)


def session(app: App, _query: Nothing, *, id: str) -> SessionView:
    with app.database.read() as connection:
        return view_session(connection, id, asks_by_session(connection, id))


def transcript(app: App, query: TranscriptQuery, *, id: str) -> Transcript:
    return app.keeping.transcript(id, query.lines)


def session_inputs(app: App, query: InputQuery, *, id: str) -> InputList:
    after = open_cursor(query.cursor, tuple[int, int, str])
    with app.database.read() as connection:
        as_of = last_event(connection)
        get_session(connection, id)
        page, total, following = list_inputs(connection, id, query.limit, after)
    return InputList(page, total, seal_cursor(following), as_of)


def session_worktree(app: App, _query: Nothing, *, id: str) -> SessionWorktree:
    root = str(app.workspace.root)
    with app.database.read() as connection:
        get_session(connection, id)
        run = runs.find(connection, id)
    if run is None or (run.origin, run.workspace) != (app.origin, root):
        return SessionWorktree(id, None)
    found = worktree.find(root, run.tree or id)
    return SessionWorktree(id, None if found is None else _worktree(found, state_of(run, found)))


def agents(app: App, _query: Nothing) -> AgentTypeList:
    found = sound_agents(app.workspace)
    return AgentTypeList(
        [
            *(_agent(app, agent) for agent in found.agents.values()),
            *(_faulty(name, error.message) for name, error in found.faulty.items()),
        ]
    )


def _worktree(found: worktree.Worktree, state: worktree.State) -> WorktreeView:
    return WorktreeView(
        path=storable(found.path),
        branch=found.branch,
        base_branch=found.base_branch,
        is_there=state.is_there,
        dirty=state.dirty,
        files=list(state.names),
        ahead=state.ahead,
        unmerged=state.unmerged,
        commits=list(state.commits),
        unpushed=state.unpushed,
        locked=state.locked,
        seal=state.seal,
    )


def _agent(app: App, agent: Agent) -> AgentType:
    why_not = usable(agent, app.workspace.root)
    return AgentType(
        name=agent.name,
        description=agent.description,
        backend=agent.backend,
        interaction_mode=agent.interaction_mode,
        headless=agent.headless,
        takes_task=agent.takes_task,
        usable=why_not is None,
        why_not=why_not,
        origin=agent.origin,
    )


def _faulty(name: str, why_not: str) -> AgentType:
    return AgentType(
        name=name,
        description="",
        backend="process",
        interaction_mode="balanced",
        headless=True,
        takes_task=True,
        usable=False,
        why_not=why_not,
        origin="workspace",
    )


READS = (
    Read("/api/agents", agents, Nothing, AgentTypeList, "Types of agents, and whether each can be started here"),
    Read("/api/sessions", sessions, SessionQuery, SessionList, "Sessions, the one heard of last first", cached=True),
    Read("/api/sessions/{id}", session, Nothing, SessionView, "One session"),
    Read("/api/sessions/{id}/transcript", transcript, TranscriptQuery, Transcript, "The end of what an agent shows"),
    Read(
        "/api/sessions/{id}/inputs",
        session_inputs,
        InputQuery,
        InputList,
        "What was typed to an agent and how far it got, what did not arrive first",
    ),
    Read(
        "/api/sessions/{id}/worktree",
        session_worktree,
        Nothing,
        SessionWorktree,
        "Where an agent works, and what is only there: files that are not committed, commits that are not merged",
    ),
)
