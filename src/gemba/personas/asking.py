"""Perspectives, asked for: one comment of each persona that would give one, on one thing.

A comment is a consult of the skill `perspective` that runs; this begins several at once, in one transaction, and says
of each other persona why it was not asked. Who comments is decided by `triggers`: a persona that is `on_trigger` only
while one of its triggers fires, and it is told of what fired. One that cannot be asked, because its budget for the day
is used up or too many agents run, is among those who were not, and the others are asked all the same. Called as an
action, and from within a walk, whose id stands in the transaction's cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gemba import clock
from gemba.action import Action
from gemba.errors import GembaError
from gemba.personas import consulting, phases
from gemba.personas.around import read_around
from gemba.personas.commenting import comment
from gemba.personas.consult import ConsultSummary, NewConsult
from gemba.personas.expert import Expert
from gemba.personas.file import Personas
from gemba.personas.persona import Persona
from gemba.personas.perspectives import things_of
from gemba.personas.triggers import own_signals, signals_now, silence, words_of
from gemba.skills.consult import perspective
from gemba.skills.consult.fields import Ref
from gemba.store.database import Database, Transaction


class PerspectivesWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`ref` is the id of a work item, an escalation, a handoff or a session, or run/task of a team."""

    ref: Ref


class SkippedPersona(msgspec.Struct, frozen=True):
    persona_id: str
    reason: str


class PerspectivesAsked(msgspec.Struct, frozen=True):
    """The comments that were asked for, each a consult that runs, and who was not asked and why."""

    ref: str
    consults: list[ConsultSummary]
    skipped: list[SkippedPersona]


class Prepared(NamedTuple):
    """What is wanted of each persona, or why it cannot be asked."""

    ref: str
    each: Sequence[tuple[Persona, consulting.Prepared | str]]


def prepare(surroundings: Mapping[str, Any], wanted: PerspectivesWanted) -> Prepared:
    """Who could answer for each persona here, which is seen outside of a transaction."""
    personas: Personas = surroundings["personas"]
    return Prepared(wanted.ref, [(one, _prepared(surroundings, one, wanted.ref)) for one in personas.by_id.values()])


def _prepared(surroundings: Mapping[str, Any], persona: Persona, ref: str) -> consulting.Prepared | str:
    if (reason := silence(persona, ())) is not None and persona.perspective.volunteer_mode != "on_trigger":
        return reason
    wanted = NewConsult(persona_id=persona.id, skill_id=perspective.SKILL.id, raw_input={"ref": ref})
    try:
        made = consulting.prepare(surroundings, wanted)
    except GembaError as error:
        return error.message
    return made if made.trouble is None else made.trouble


def ask_prepared(tx: Transaction, made: Prepared) -> PerspectivesAsked:
    around = read_around(tx.connection, made.ref, tx.now, things_of(tx.surroundings))
    signals = signals_now(around, tx.now)
    asked: list[ConsultSummary] = []
    skipped: list[SkippedPersona] = []
    for persona, wanted in made.each:
        reason = wanted if isinstance(wanted, str) else silence(persona, signals)
        if isinstance(wanted, consulting.Prepared) and reason is None:
            told = words_of(own_signals(persona, signals)) or None
            with_signals = wanted._replace(wanted=msgspec.structs.replace(wanted.wanted, guidance=told))
            try:
                with tx.part():
                    asked.append(consulting.begin_consult(tx, with_signals))
            except GembaError as error:
                reason = error.message
        if reason is not None:
            skipped.append(SkippedPersona(persona.id, reason))
    return PerspectivesAsked(made.ref, asked, skipped)


def ask_perspectives(tx: Transaction, ref: str) -> PerspectivesAsked:
    """The same within a transaction that does more than this."""
    return ask_prepared(tx, prepare(tx.surroundings, PerspectivesWanted(ref)))


def expert_of(database: Database, personas: Personas) -> Expert:
    """Comments without a model, from one state of the database."""

    def advise(given: perspective.PerspectiveInput, persona_id: str) -> list[msgspec.Struct]:
        now = clock.now()
        with database.read() as connection:
            around = read_around(connection, given.ref, now, things_of(database.surroundings))
            phase = phases.current(connection)
        return comment(personas.find(persona_id), around, signals_now(around, now), phase, now)

    return Expert(advise)


ACTIONS = (
    Action(
        "/api/perspectives",
        ask_prepared,
        PerspectivesWanted,
        PerspectivesAsked,
        "Ask every persona that would say something of a thing for one comment",
        prepare=prepare,
    ),
)
