"""Starting and stopping sessions, as actions.

Which agent it is, and whether it can run here, is looked at before the transaction. The action itself only writes down
what is wanted, with the session: whoever keeps the runs of this home does it. Called by the API and, without a server,
by the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from sqlalchemy import update

from gemba import clock, wire
from gemba.action import Action, Id, Nothing
from gemba.errors import Conflict, Invalid, Unusable
from gemba.event import Draft
from gemba.handoff import dispatches
from gemba.handoff.status import PlanStatus
from gemba.sessions import runs, store
from gemba.sessions.agents.agent import Agent, Mode, usable
from gemba.sessions.session import Lifecycle, SessionView
from gemba.store.database import Transaction
from gemba.text import storable

_LONGEST_TITLE = 200
_HOUR = 3_600 * clock.SECOND
_ID = re.compile(r"(?=.*[^.])[A-Za-z0-9._-]{1,200}")
_ID_RULE = "1 to 200 letters, digits, '-', '.' or '_', not dots alone"


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which agent, and what it is to do. `id`: its name, else one is made; `mode`: another one than its type's;
    `worktree`: false has it work in the workspace itself, where others may work too."""

    agent: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]
    task: Annotated[str, msgspec.Meta(max_length=wire.MAX_TEXT)] = ""
    title: Annotated[str, msgspec.Meta(max_length=wire.MAX_TITLE)] = ""
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_SESSION_ID)] | None = None
    role: Literal["coach", "manager"] | None = None
    mode: Mode | None = None
    bead_id: Id | None = None
    dispatch_id: Id | None = None
    worktree: bool = True


class Prepared(NamedTuple):
    """A wish whose agent was found, and can run here. `tree`: the name of a worktree that others worked in before it,
    and that whoever made it lets go; `folder` and `branch`: where that is, if it is there."""

    wanted: NewSession
    agent: Agent
    tree: str | None = None
    folder: str | None = None
    branch: str | None = None


def prepare(surroundings: Mapping[str, Any], wanted: NewSession) -> Prepared:
    if wanted.id is not None and not _ID.fullmatch(wanted.id):  # it stands in paths of the API and of the page
        told = f"the id is {wanted.id[:80]!r}; allowed: {_ID_RULE}"
        raise Invalid(told, code="invalid_id", pointer="/id", found=wanted.id[:80], allowed=_ID_RULE)
    agent: Agent = surroundings["agent"](wanted.agent)
    if wanted.task.strip() and not agent.takes_task:
        told = f"a person drives {agent.name}, and nothing there would read a task; allowed: none, and a title"
        raise Invalid(told, code="task_not_taken", pointer="/task", allowed="")
    if not wanted.task.strip() and agent.prompt != "none" and agent.headless:
        raise Invalid(
            f"the task is empty; allowed: what {agent.name} is to do, in words", code="missing_field", pointer="/task"
        )
    reason = usable(agent, surroundings["workspace"])
    if reason is not None:
        raise Unusable(f"agent {agent.name} cannot run here: {reason}", code="agent_unusable")
    return Prepared(wanted, agent)


def start_session(tx: Transaction, prepared: Prepared) -> SessionView:
    """Somebody's own wish: refused while nothing new is to be begun."""
    for guard in tx.surroundings.get("dispatch_guards", ()):
        guard(tx)
    return want_session(tx, prepared)


def want_session(tx: Transaction, prepared: Prepared) -> SessionView:
    """What every session begins with, whoever wants it."""
    wanted, agent, tree, folder, branch = prepared
    for guard in tx.surroundings.get("session_guards", ()):
        guard(tx)
    workspace, origin = str(tx.surroundings["workspace"]), tx.surroundings["origin"]
    runs.check_limits(tx, agent, workspace, _HOUR)
    if wanted.dispatch_id is not None:
        _check_dispatch(tx, wanted.dispatch_id)
    id = wanted.id or f"{agent.name}-{wire.new_event_id()[-8:]}"
    row = {
        **store.new_row(tx, id, agent.name, origin, workspace),
        "mode": wanted.mode or agent.interaction_mode,
        "role": wanted.role,
        "bead_id": wanted.bead_id,
        "lifecycle": Lifecycle.STARTING.value,
    }
    if not tx.insert_new(store.sessions, [row], "id"):
        raise Conflict(f"there is a session {id} already; allowed: another id, or none", code="already_there", found=id)
    title = storable(wanted.title or wanted.task).strip().partition("\n")[0][:_LONGEST_TITLE]
    about = {"origin": origin, "workspace": workspace, "dispatch_id": wanted.dispatch_id, "title": title}
    place = {"own_tree": wanted.worktree, "tree": tree, "folder": folder if wanted.worktree else workspace}
    place["branch"] = branch if wanted.worktree else None
    runs.add(tx, agent, session_id=id, task=storable(wanted.task), **about, **place)
    tx.emit(Draft("session.wanted", {"agent_type": agent.name, "title": title}, id, id))
    return store.view_session(tx.connection, id)


def _check_dispatch(tx: Transaction, id: str) -> None:
    if dispatches.get(tx.connection, id).status == PlanStatus.COMPLETE:
        told = f"the dispatch {id} is complete: nobody works on it any more; allowed: one that is not, or none"
        raise Conflict(told, code="dispatch_over", pointer="/dispatch_id", found=id)


def stop_session(tx: Transaction, _body: Nothing, *, id: str) -> SessionView:
    """Stopping what has stopped changes nothing."""
    run = runs.get_locked(tx, id)
    if run.wanted and run.ended_at is None:
        runs.change(tx, id, wanted=False)
        tx.connection.execute(update(store.sessions).where(store.sessions.c.id == id).values(stopping=True))
        tx.emit(Draft("session.unwanted", {"by": tx.actor}, id, id))
    return store.view_session(tx.connection, id)


ACTIONS = (
    Action("/api/sessions", start_session, NewSession, SessionView, "Start an agent", prepare=prepare),
    Action("/api/sessions/{id}/stop", stop_session, Nothing, SessionView, "Stop an agent and all that it started"),
)
