"""What can be read of personas, their figures, phases and purviews, as a table.

Personas are as they were when the server started.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemba import clock
from gemba.action import Nothing
from gemba.api.read import Limit, Read, last_event
from gemba.app import App
from gemba.personas import holding, phases, revoking
from gemba.personas.figures import PersonaFigures, figures_of
from gemba.personas.file import PersonaFault
from gemba.personas.holding import Hold
from gemba.personas.persona import (
    Authority,
    BudgetPolicy,
    MutationAuthority,
    Origin,
    Persona,
    Personality,
    Perspective,
    Phase,
    Purview,
    Scope,
    Variety,
)
from gemba.personas.persona import Model as PersonaModel
from gemba.personas.phases import MEANINGS, ProjectPhase
from gemba.personas.purview import is_active
from gemba.personas.reservations import Spending, spending
from gemba.personas.revoking import PersonaAuthority
from gemba.personas.track_record import TrackRecord, read_track_record


class PersonaRow(msgspec.Struct, frozen=True, kw_only=True):
    """A persona without its prompt. `authority` is what its purview weighs at most, `answered_by` the type of agent
    that answers for it where a request names none."""

    id: str
    name: str
    role: str
    variety: Variety
    origin: Origin
    skills: list[str]
    scope: Scope
    agent_type: str | None
    answered_by: str
    perspective: Perspective
    purview: Purview | None
    authority: Authority | None
    model: PersonaModel
    budget_policy: BudgetPolicy
    today: Spending


class PersonaView(PersonaRow, frozen=True, kw_only=True):
    """A persona in full."""

    system_prompt: str
    personality: Personality
    reads: list[str]
    mutation_authority: MutationAuthority | None
    mutation_authority_state: PersonaAuthority


class PersonaList(msgspec.Struct, frozen=True):
    """Those that can be consulted, and what is wrong with the files of others; `notes` are of files that are used and
    ask for something that they do not get."""

    personas: list[PersonaRow]
    faults: list[PersonaFault]
    notes: list[PersonaFault]


class PersonaFiguresQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Only of consults that were started in the last `days`; all, unless that is said."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3_650)] | None = None


class PersonaFiguresList(msgspec.Struct, frozen=True):
    """What was asked of each persona, and what that took."""

    personas: list[PersonaFigures]
    as_of: int


class PhaseView(msgspec.Struct, frozen=True):
    phase: Phase
    meaning: str
    current: bool


class PhaseList(msgspec.Struct, frozen=True):
    """Every phase in its order; the project is in one of them."""

    phases: list[PhaseView]
    current: Phase


class PurviewView(msgspec.Struct, frozen=True):
    """A purview. `active`: in the present phase, for all work of its domain."""

    persona_id: str
    persona_name: str
    variety: Variety
    domain: str
    active_phases: list[Phase]
    authority: Authority
    active: bool


class PurviewQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many holds at most."""

    limit: Limit = 50


class PurviewList(msgspec.Struct, frozen=True):
    """Who answers for what, and the changes that wait for a person."""

    phase: Phase
    purviews: list[PurviewView]
    held: list[Hold]


class RecordQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of one persona, or of all; `limit` is how many rankings are looked at, the newest; with `days` only those of the
    last days (UTC), today included."""

    persona_id: str | None = None
    limit: Limit = 200
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] | None = None


def track_record(app: App, query: RecordQuery) -> TrackRecord:
    if query.persona_id is not None:
        app.personas.find(query.persona_id)
    now = clock.now()
    since = 0 if query.days is None else (now // clock.DAY - query.days + 1) * clock.DAY
    with app.database.read() as connection:
        return read_track_record(connection, now, query.limit, query.persona_id, since)


def personas(app: App, _query: Nothing) -> PersonaList:
    found = app.personas.by_id.values()
    with app.database.read() as connection:
        today = spending(connection, found, clock.now())
    rows = [_row(app, persona, today[persona.id]) for persona in found]
    return PersonaList(rows, app.personas.faults, app.personas.notes)


def persona(app: App, _query: Nothing, *, id: str) -> PersonaView:
    found = app.personas.find(id)
    with app.database.read() as connection:
        today = spending(connection, [found], clock.now())[id]
        state = revoking.read(connection, id)
    row = _row(app, found, today)
    return PersonaView(
        **{name: getattr(row, name) for name in row.__struct_fields__},
        system_prompt=found.system_prompt,
        personality=found.personality,
        reads=list(found.context_providers.reads),
        mutation_authority=found.mutation_authority,
        mutation_authority_state=state,
    )


def persona_figures(app: App, query: PersonaFiguresQuery) -> PersonaFiguresList:
    since = None if query.days is None else clock.now() - query.days * clock.DAY
    with app.database.read() as connection:
        as_of = last_event(connection)
        return PersonaFiguresList(figures_of(connection, app.personas.by_id.values(), since), as_of)


def all_phases(app: App, _query: Nothing) -> PhaseList:
    with app.database.read() as connection:
        current = phases.current(connection)
    return PhaseList([PhaseView(phase, MEANINGS[phase], phase is current) for phase in Phase], current)


def project_phase(app: App, _query: Nothing) -> ProjectPhase:
    with app.database.read() as connection:
        return phases.read(connection)


def purviews(app: App, query: PurviewQuery) -> PurviewList:
    with app.database.read() as connection:
        phase = phases.current(connection)
        held = holding.list_held(connection, query.limit)
    found = [view for each in app.personas.by_id.values() if (view := _purview(each, phase)) is not None]
    return PurviewList(phase, found, held)


def _row(app: App, persona: Persona, today: Spending) -> PersonaRow:
    return PersonaRow(
        id=persona.id,
        name=persona.name,
        role=persona.role,
        variety=persona.variety,
        origin=persona.origin,
        skills=list(persona.skills),
        scope=persona.scope,
        agent_type=persona.agent_type,
        answered_by=persona.agent_type or app.settings.consults.agent_type,
        perspective=persona.perspective,
        purview=persona.purview,
        authority=persona.authority,
        model=persona.model,
        budget_policy=persona.budget_policy,
        today=today,
    )


def _purview(persona: Persona, phase: Phase) -> PurviewView | None:
    if persona.purview is None or persona.authority is None:
        return None
    purview = persona.purview
    active_phases = [Phase(each) for each in purview.active_phases]
    is_now = is_active(persona, phase)
    return PurviewView(
        persona.id, persona.name, persona.variety, purview.domain, active_phases, persona.authority, is_now
    )


READS = (
    Read("/api/personas", personas, Nothing, PersonaList, "Who can be consulted, and which files have a fault"),
    Read(
        "/api/personas/track-record",
        track_record,
        RecordQuery,
        TrackRecord,
        "How past rankings of epics fared, by persona and model",
    ),
    Read(
        "/api/personas/{id}", persona, Nothing, PersonaView, "One persona with its prompt, its limits and today's costs"
    ),
    Read(
        "/api/insights/personas",
        persona_figures,
        PersonaFiguresQuery,
        PersonaFiguresList,
        "What was asked of each persona, how it went, and what it took",
        cached=True,
    ),
    Read("/api/phases", all_phases, Nothing, PhaseList, "The phases that a project can be in"),
    Read("/api/project/phase", project_phase, Nothing, ProjectPhase, "The phase that the project is in"),
    Read("/api/purviews", purviews, PurviewQuery, PurviewList, "Who answers for what, and which changes that holds"),
)
