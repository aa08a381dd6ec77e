"""Asking a persona for advice, as actions: begun, cancelled, closed. Applying a line is in `applying`.

Before the transaction: who is asked, whether the skill is its own, the input, and who could answer. Within it the
prompt is composed from one state of the database, the call's cap is reserved, and the session wanted whose id is the
consult's: a consult that was acknowledged has all of that, and one that was refused nothing. Where nobody can answer,
the consult is kept as failed and the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, insert, select

from gemba import clock, wire
from gemba.action import Action, Nothing
from gemba.config import ConsultSettings, Workspace
from gemba.errors import GembaError, NotFound, Unusable
from gemba.event import Draft
from gemba.flows import wanted as flows
from gemba.handoff import audit
from gemba.personas import consult_lines, consults, facts, perspectives, prompts, providers, reservations, subjects
from gemba.personas.consult import (
    CONSULT,
    ConsultDetail,
    ConsultStatus,
    ConsultSummary,
    NewConsult,
    NotListed,
    NotStarted,
)
from gemba.personas.persona import Persona
from gemba.sessions import starting
from gemba.sessions.starting import NewSession
from gemba.skills.consult.reading import InputMisfit, misfit
from gemba.skills.consult.registry import find_skill
from gemba.skills.consult.skill import ConsultSkill
from gemba.sprints.context import running_context, told_of
from gemba.store.database import Transaction
from gemba.text import storable
from gemba.work.history import walk_of

WATCH = "consult.watch"  # the flow that times it out
BUILTIN = "builtin"  # the type of agent that stands for the advisor without a model

_TOLD = """\
Give your answer with the MCP tool {tool} (or emit_skill_output with skill_id {skill}), as its argument `lines`; then \
end your turn. Text outside of the tool is read by nobody. Change no file and run nothing that changes anything.

{output}"""


class Prepared(NamedTuple):
    """A wish that was checked. `session` is wanted where an agent answers, `note` says why another one than asked for
    does, and `trouble` why nobody can."""

    id: str
    wanted: NewConsult
    persona: Persona
    skill: ConsultSkill
    given: msgspec.Struct
    document: dict[str, Any]
    working_dir: str
    repository: str | None
    session: starting.Prepared | None = None
    note: str | None = None
    trouble: str | None = None


def prepare(surroundings: Mapping[str, Any], wanted: NewConsult) -> Prepared:
    persona: Persona = surroundings["personas"].find(wanted.persona_id)
    skill = find_skill(wanted.skill_id)
    if skill.id not in persona.skills:
        listed = ", ".join(persona.skills) or "none"
        told = f"{persona.name} does not list the skill {skill.id}; allowed: {listed}"
        raise NotListed(told, code="skill_not_listed", pointer="/skill_id", found=skill.id, allowed=persona.skills)
    given, document = _read_input(skill, wanted)
    folder, repository = _place(surroundings["workspace"], persona, wanted)
    made = Prepared(wire.new_event_id(), wanted, persona, skill, given, document, folder, repository)
    return _with_answerer(surroundings, made) if wanted.spawn else made


def _read_input(skill: ConsultSkill, wanted: NewConsult) -> tuple[msgspec.Struct, dict[str, Any]]:
    """The input in its type and as a document, with what the request says beside it."""
    document = dict(wanted.raw_input)
    if wanted.guidance and "guidance" in skill.input.__struct_fields__:
        own = document.get("guidance")
        document["guidance"] = f"{own}\n{wanted.guidance}" if isinstance(own, str) and own else wanted.guidance
    try:
        return skill.read(document), document
    except InputMisfit as error:
        pointer = f"/raw_input{error.pointer or ''}"
        raise InputMisfit(
            error.message, code=error.code, pointer=pointer, found=error.found, allowed=error.allowed
        ) from None


def _place(root: Path, persona: Persona, wanted: NewConsult) -> tuple[str, str | None]:
    """Where a persona works: the workspace, or a repository in it."""
    if wanted.workspace not in ("", ".", str(root), root.name) and Path(wanted.workspace).resolve() != root:
        raise misfit("/workspace", "this server has another workspace", wanted.workspace[:200], str(root))
    scope, asked = persona.scope, wanted.repository
    if scope.kind == "any" and asked is None:
        raise misfit("/repository", f"{persona.name} wants to know which repository", None, "the name of one")
    if scope.kind == "project" and asked is None:
        return str(root), None
    name = scope.repository if scope.kind == "repository" else asked
    if name is None or asked not in (None, name):
        raise misfit("/repository", f"{persona.name} is there for {name} alone", asked, name)
    folder = root if name == root.name else root / name
    if name in (".", "..") or "/" in name or not folder.is_dir():
        raise misfit("/repository", "the workspace has no such folder", name, "the name of a folder in the workspace")
    return str(folder), name


def _with_answerer(surroundings: Mapping[str, Any], made: Prepared) -> Prepared:
    """Who answers: the type of agent that the request, the persona or the workspace names, if it can run here; the
    built-in advisor where none is named, or one that was not asked for by name cannot run."""
    asked = made.wanted.agent_type
    name = asked or made.persona.agent_type or surroundings["consults"].agent_type
    reason = "no type of agent is named but builtin"
    if name != BUILTIN:
        role = made.persona.variety
        title = f"{made.persona.name}: {made.skill.name}"
        session = NewSession(agent=name, id=made.id, role=role, title=title, task=made.skill.name)
        try:
            return made._replace(session=starting.prepare(surroundings, session))
        except Unusable as error:
            reason = error.message
            if asked is not None:
                return made._replace(trouble=reason)
        except GembaError as error:
            if asked is not None:
                raise
            reason = error.message
    if not consult_lines.has_advisor(made.skill.id, surroundings):
        advice = (
            "name one with --agent TYPE, or set agent_type in the persona's file or under [consults] in workspace.toml"
        )
        return made._replace(trouble=f"{made.skill.name} needs a model, and none is at hand: {reason}; {advice}")
    note = None if name == BUILTIN else f"{reason}; the built-in advisor answered instead"
    return made._replace(note=note)


# ---- begin -----------------------------------------------------------------------------------------------------------


def begin_consult(tx: Transaction, made: Prepared) -> ConsultSummary:
    composed = _compose(tx, made)
    if made.trouble is not None:
        failed = _row(tx, made, composed, ConsultStatus.FAILED, made.trouble)
        error = NotStarted(made.trouble, code="not_started", consult_id=made.id)
        tx.refuse(error, lambda later: _keep(later, failed))
    if not made.wanted.spawn:
        return _store(tx, _row(tx, made, composed, ConsultStatus.PREPARED))
    constraints = getattr(made.given, "constraints", None)
    reservations.reserve(tx, made.persona, made.id, getattr(constraints, "max_dollars", None))
    row = _row(tx, made, composed, ConsultStatus.RUNNING, made.note)
    stored = _store(tx, row)
    if made.session is None:
        consult_lines.want_advice(tx, made.id)
    else:
        told = msgspec.structs.replace(made.session.wanted, task=composed.text)
        starting.want_session(tx, made.session._replace(wanted=told))
    watched = {"id": made.id, "since": row["started_at"], "due": row["due_at"]}
    flows.want(tx, WATCH, [flows.Call(f"{WATCH}/{made.id}", watched)])
    return stored


def _compose(tx: Transaction, made: Prepared) -> prompts.Composed:
    workspace = Workspace(tx.surroundings["workspace"])
    sprint = _sprint(tx, made)
    known = facts.read_facts(tx.connection, workspace, tx.surroundings["sections"](), tx.now, sprint)
    project_values, workspace_values = facts.read_values(workspace)
    told = _TOLD.format(tool=made.skill.tool_name, skill=made.skill.id, output=made.skill.output)
    return prompts.compose(
        prompts.Parts(
            persona=made.persona,
            skill_fragment=f"{made.skill.prompt}\n\n{told}",
            message=_message(tx, made),
            project_values=project_values,
            workspace_values=workspace_values,
            walk_fragment="" if walk_of(tx) is None else prompts.WALK_FRAGMENT,
            chunks=providers.context_of(made.persona, known),
            placeholders={
                "workspace_name": workspace.root.name,
                "project_prefix": tx.surroundings["work_prefix"],
            },
        )
    )


def _sprint(tx: Transaction, made: Prepared) -> Mapping[str, Any] | None:
    """The sprint that is told of: the input's own, the one that the consult is about, or the one that runs."""
    own, about = made.document.get("sprint_context"), made.document.get("sprint_id")
    if own is not None or about is None:
        return own or running_context(tx.connection)
    try:
        return told_of(tx.connection, about, tx.now)
    except NotFound:
        raise misfit("/raw_input/sprint_id", "there is no such sprint", about, "the id of a sprint") from None


def _message(tx: Transaction, made: Prepared) -> str:
    """The input with what it names, and what the operator wrote where the input has no place for that."""
    beside = made.wanted.guidance if "guidance" not in made.skill.input.__struct_fields__ else None
    parts = [beside, _readable(made.document)]
    if named := subjects.subjects(tx.connection, made.document, tx.now):
        parts.append(f"The work items that are named there, as they are now:\n{_readable(named)}")
    ref = perspectives.about(made.given)
    if (
        ref is not None
        and (thing := perspectives.read_thing(tx.connection, ref, perspectives.things_of(tx.surroundings))) is not None
    ):
        parts.append(f"It is about this:\n{_readable(thing)}")
    return "\n\n".join(part for part in parts if part)


def _readable(document: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def _row(
    tx: Transaction, made: Prepared, composed: prompts.Composed, status: ConsultStatus, error: str | None = None
) -> dict[str, Any]:
    over = status is ConsultStatus.FAILED
    settings: ConsultSettings = tx.surroundings["consults"]
    seconds = getattr(getattr(made.given, "constraints", None), "max_latency_seconds", None)
    span = settings.timeout_seconds if seconds is None else min(seconds, 86_400)
    return {
        "id": made.id,
        "status": status,
        "persona_id": made.persona.id,
        "skill_id": made.skill.id,
        "workspace": storable(str(tx.surroundings["workspace"])),
        "working_dir": storable(made.working_dir),
        "repository": made.repository,
        "agent_type": None if made.session is None else made.session.agent.name,
        "by_advisor": status is ConsultStatus.RUNNING and made.session is None,
        "origin": tx.surroundings["origin"],
        "walk_id": walk_of(tx),
        "started_by": tx.actor,
        "started_at": tx.now,
        "due_at": tx.now + int(span * clock.SECOND),
        "ended_at": tx.now if over else None,
        "raw_request": consults.as_json(made.wanted),
        "input": consults.as_json(made.document),
        "composed": consults.as_json(composed),
        "outputs": 0,
        "complete": False,
        "line_count": 0,
        "line_error_count": 0,
        **dict.fromkeys(("lines", "line_errors", "line_notes", "order_errors"), "[]"),
        "model": None,
        "tokens_in": None,
        "tokens_out": None,
        "cost_micros": None,
        "error": None if error is None else storable(error),
        "version": 1,
        "unrecorded": over,
        "about": perspectives.about(made.given),
    }


def _keep(tx: Transaction, failed: dict[str, Any]) -> None:
    _store(tx, failed)


def _store(tx: Transaction, row: dict[str, Any]) -> ConsultSummary:
    tx.connection.execute(insert(consults.consults), row)
    made = consults.summary(consults.get(tx.connection, row["id"]))
    told = {**msgspec.to_builtins(made), "by": tx.actor}
    tx.emit(Draft("consult.started", told, ref=made.id))
    audit.record(tx, "consult.started", made.id, told)
    if made.status is ConsultStatus.FAILED:
        tx.emit(Draft("consult.finished", told, ref=made.id))
        audit.record(tx, "consult.finished", made.id, told)
    return made


# ---- cancel, close ---------------------------------------------------------------------------------------------------


def cancel_consult(tx: Transaction, _body: Nothing, *, id: str) -> ConsultDetail:
    row = consults.get_locked(tx, id)
    if row.status == ConsultStatus.RUNNING:
        row = consult_lines.finish(tx, row, "cancelled", f"cancelled by {tx.actor}")
    else:
        row = _leave(tx, row, "cancelled", "consult.cancelled")
    return consults.detail(tx.connection, row)


def close_consult(tx: Transaction, _body: Nothing, *, id: str) -> ConsultDetail:
    """Nothing of it can be applied any more; it stays readable."""
    return consults.detail(tx.connection, _leave(tx, consults.get_locked(tx, id), "closed", "consult.closed"))


def close_old(tx: Transaction, now: int) -> int:
    """Close what was completed longer ago than lines can be applied; how many that were."""
    table = consults.consults
    old = (table.c.status == ConsultStatus.COMPLETED, table.c.ended_at < applicable_since(tx, now))
    ids = tx.connection.execute(select(table.c.id).where(*old).limit(1_000)).scalars().all()
    for id in ids:
        row = consults.get_locked(tx, id)
        if row.status == ConsultStatus.COMPLETED:
            _leave(tx, row, "closed", "consult.closed")
    return len(ids)


def applicable_since(tx: Transaction, now: int) -> int:
    """What ended before this moment is closed."""
    days: int = tx.surroundings["consults"].applicable_days
    return now - days * clock.DAY


def _leave(tx: Transaction, row: Row[Any], event: str, kind: str) -> Row[Any]:
    status = CONSULT.after(ConsultStatus(row.status), event)
    row = consults.change(tx, row, status=status, ended_at=row.ended_at or tx.now, unrecorded=True)
    told = {"status": status, "by": tx.actor}
    tx.emit(Draft("consult.closed", told, ref=row.id))
    audit.record(tx, kind, row.id, told)
    return row


ACTIONS = (
    Action(
        "/api/consults",
        begin_consult,
        NewConsult,
        ConsultSummary,
        "Ask a persona for advice, or see what it would be told",
        prepare=prepare,
        status=201,
    ),
    Action("/api/consults/{id}/cancel", cancel_consult, Nothing, ConsultDetail, "Stop a consult; what came stays"),
    Action("/api/consults/{id}/close", close_consult, Nothing, ConsultDetail, "Say that no more of it is applied"),
)
