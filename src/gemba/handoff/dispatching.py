"""Giving work to an agent, and starting its next turn, as actions.

What a dispatch begins with is looked at before its transaction: the folder, which has to be a part of the workspace or
of a worktree of its repository, all of its files (which may take seconds), the declared sections, the gate. What is
known and remembered is read within it. Called by the API and, without a server, by the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import msgspec

from gemba import git, wire
from gemba.action import Action
from gemba.errors import Invalid
from gemba.handoff import contracts, dispatches, memories
from gemba.handoff.check import GatePolicy, Need
from gemba.handoff.dispatches import Dispatch
from gemba.handoff.envelope import Assignment
from gemba.handoff.sections import Section, surfaces_of
from gemba.handoff.snapshot import Snapshot, take_snapshot
from gemba.store.database import Transaction
from gemba.text import storable

Words = Annotated[str, msgspec.Meta(max_length=wire.MAX_TEXT)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_ID)]
Lines = Annotated[tuple[Words, ...], msgspec.Meta(max_length=200)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=200)]
Provider = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,63}$(?!\n)")]
SessionId = Annotated[str, msgspec.Meta(min_length=1, max_length=wire.MAX_SESSION_ID)]

_CHECKS = GatePolicy.__struct_fields__
_NEEDS = get_args(Need)


class NewDispatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is wanted, of whom, and where. `gate` says of single checks what becomes of a COMPLETE that fails them (off,
    report, require); of the others the workspace's settings do. Without a folder it is the workspace's."""

    goal: Words
    acceptance_criteria: Lines = ()
    scope: Lines = ()
    targets: Lines = ()
    role: Name | None = None
    upstream_roles: Names = ()
    reviews: Name | None = None
    assisting: bool = False
    adjacent_agents: Names = ()
    session_id: SessionId | None = None
    provider: Provider = "claude"
    task_id: Name | None = None
    folder: Words | None = None
    gate: dict[str, str] = {}
    with_logs: bool = False


class NextTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why there is another one, for the record."""

    reason: Annotated[str, msgspec.Meta(max_length=wire.MAX_NOTE)] = ""


class Prepared(NamedTuple):
    """A wish that was looked into: everything that a dispatch begins with but what the database knows."""

    wanted: NewDispatch
    folder: str
    policy: GatePolicy
    snapshot: Snapshot
    sections: tuple[Section, ...]


def prepare(surroundings: Mapping[str, Any], wanted: NewDispatch) -> Prepared:
    if not wanted.goal.strip():
        raise _misfit("goal", wanted.goal, "what is to be done, in words")
    policy = _policy(surroundings["gate"], wanted.gate)
    folder = _checked_folder(surroundings["workspace"], wanted.folder)
    sections = surroundings["sections"]()
    return Prepared(wanted, folder, policy, take_snapshot(folder), sections)


def create_dispatch(tx: Transaction, prepared: Prepared, *, team: Mapping[str, Any] | None = None) -> Dispatch:
    """`team` is what others of the agent's team left for it, as plain JSON values: a list of objects a channel."""
    wanted, sections = prepared.wanted, prepared.sections
    for guard in tx.surroundings.get("dispatch_guards", ()):
        guard(tx)
    return dispatches.create(
        tx,
        _assignment(wanted),
        session_id=_kept(wanted.session_id),
        provider=wanted.provider,
        task_id=_kept(wanted.task_id),
        folder=prepared.folder,
        policy=prepared.policy,
        snapshot=prepared.snapshot,
        sections=sections,
        facts=contracts.facts(tx.connection, sections, surfaces_of(wanted.targets, sections)),
        memory=memories.remembered(tx.connection),
        with_logs=wanted.with_logs,
        team=team,
    )


def start_dispatch_turn(tx: Transaction, body: NextTurn, *, id: str) -> Dispatch:
    """The runtime's own move: it does not start the agent's count of IN_PROGRESS anew."""
    dispatches.start_turn(tx, dispatches.get_locked(tx, id), by_person=False, reason=storable(body.reason).strip())
    return dispatches.view(dispatches.get(tx.connection, id))


ACTIONS = (
    Action(
        "/api/dispatches", create_dispatch, NewDispatch, Dispatch, "Give a piece of work to an agent", prepare=prepare
    ),
    Action("/api/dispatches/{id}/turn", start_dispatch_turn, NextTurn, Dispatch, "Start the next turn of a dispatch"),
)


def _assignment(wanted: NewDispatch) -> Assignment:
    return Assignment(
        goal=wanted.goal,
        acceptance_criteria=wanted.acceptance_criteria,
        scope=wanted.scope,
        targets=wanted.targets,
        role=_kept(wanted.role),
        upstream_roles=wanted.upstream_roles,
        reviews=wanted.reviews,
        assisting=wanted.assisting,
        adjacent_agents=wanted.adjacent_agents,
    )


def _kept(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _policy(usual: GatePolicy, wanted: Mapping[str, str]) -> GatePolicy:
    for name, need in wanted.items():
        if name not in _CHECKS:
            raise _misfit("gate", name, f"of its checks {', '.join(_CHECKS)}")
        if need not in _NEEDS:
            raise _misfit(f"gate/{name}", need, ", ".join(_NEEDS))
    return msgspec.structs.replace(usual, **wanted)


def _checked_folder(root: Path, given: str | None) -> str:
    """The real path of the folder to work in; a relative one is the workspace's."""
    allowed = f"a folder in the workspace {root}, or in a git worktree of its repository"
    shown = given or str(root)
    try:
        folder = Path(root, given or "").resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # not there, or what no path can be
        raise _misfit("folder", shown, f"{allowed}, that is there") from None
    if not folder.is_dir():
        raise _misfit("folder", shown, allowed)
    if str(folder) != storable(str(folder)):
        raise _misfit("folder", storable(shown), "a folder whose path is UTF-8")
    if not folder.is_relative_to(root) and not _same_repository(str(folder), str(root)):
        raise _misfit("folder", shown, allowed)
    return str(folder)


def _same_repository(folder: str, root: str) -> bool:
    shared = git.shared_folder(root)
    return shared is not None and git.shared_folder(folder) == shared


def _misfit(field: str, found: str, allowed: str) -> Invalid:
    shown = found[:200]
    return Invalid(
        f"{field} is {shown!r}; allowed: {allowed}",
        code="invalid_value",
        pointer=f"/{field}",
        found=shown,
        allowed=allowed,
    )
