"""A persona: a configured advisor, as its file says it. Types and words only; `check` judges, `file` reads.

Three things are kept apart. A personality is how it sounds, and nothing is decided by it. A perspective is what it
looks at, and never holds anything. A purview is what it answers for: that alone can hold a change (`purview`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

PROJECT_MANAGER = "project-manager"
MICROS = 1_000_000  # of a dollar: money is counted in whole ones

Variety = Literal["coach", "manager"]
ScopeKind = Literal["project", "repository", "any"]
VolunteerMode = Literal["never", "on_demand", "on_trigger", "always"]
Provider = Literal["project_summary", "project_state", "decisions_log", "sprint_context", "active_escalations"]
Origin = Literal["shipped", "replaced", "workspace"]
PhaseName = Literal["ideation", "design", "building", "validating", "shipping", "commercialization"]
AuthorityName = Literal["advisory", "strong", "blocking"]

Word = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Sentence = Annotated[str, msgspec.Meta(max_length=2_000)]
Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class Phase(StrEnum):
    """Where a project is; it is in one of them at a time, and may go to any other."""

    IDEATION = "ideation"  # what it shall be is open
    DESIGN = "design"  # how it shall be made is decided
    BUILDING = "building"  # it is made
    VALIDATING = "validating"  # it is tried whether it does what it shall
    SHIPPING = "shipping"  # it goes to those who use it
    COMMERCIALIZATION = "commercialization"  # it is sold and kept alive


class Authority(StrEnum):
    """How much a purview weighs."""

    ADVISORY = "advisory"  # it is told
    STRONG = "strong"  # the operator is asked, and the change goes on
    BLOCKING = "blocking"  # the operator is asked, and the change waits


class Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[scope]`: the whole project, one repository of it, or the one that a request names."""

    kind: ScopeKind = "project"
    repository: Word | None = None


class Personality(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[personality]`: how it sounds. It reaches the prompt's words and nothing else."""

    id: Word = "plain"
    description: Sentence = ""
    examples: Annotated[tuple[Sentence, ...], msgspec.Meta(max_length=20)] = ()


class Perspective(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[perspective]`: what it looks at, and how far its answer may go beyond the question. It has no authority."""

    statement: Sentence = ""
    triggers: Annotated[tuple[Word, ...], msgspec.Meta(max_length=50)] = ()
    volunteer_mode: VolunteerMode = "on_demand"


class Purview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[purview]`: the domain it answers for, when, and how much its word weighs."""

    domain: Word
    blocking_authority: AuthorityName = "advisory"
    active_phases: tuple[PhaseName, ...] = ()


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[model]`: what its client is asked to use. No key stands here or anywhere: the client is signed in."""

    vendor: Word = "anthropic"
    model: Word = "claude-opus-4-7"
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 8_192
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.2


class BudgetPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[budget_policy]`: what a call and a day (UTC) may cost. Without the table it may spend nothing."""

    max_per_invocation_dollars: Dollars = 0.0
    max_per_day_dollars: Dollars = 0.0


class ContextProviders(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[context_providers]`: what it is told of the project, in this order; the first goes last when room is short."""

    reads: tuple[Provider, ...] = ()


class MutationAuthority(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[mutation_authority]` of a manager: what it may apply without a person. Nothing, unless it is listed."""

    actions: Annotated[tuple[Word, ...], msgspec.Meta(max_length=50)]
    phases: tuple[PhaseName, ...]
    max_per_consult: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 1
    max_dollars: Dollars = 0.0


class PersonaFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole of `<id>.toml`."""

    id: Word | None = None
    name: Word
    role: Word
    variety: Variety
    skills: Annotated[tuple[Word, ...], msgspec.Meta(max_length=100)] = ()
    system_prompt: Annotated[str, msgspec.Meta(min_length=1, max_length=40_000)]
    agent_type: Word | None = None  # the workspace's own, if nothing is said
    scope: Scope = Scope()
    personality: Personality = Personality()
    perspective: Perspective = Perspective()
    purview: Purview | None = None
    model: Model = Model()
    budget_policy: BudgetPolicy = BudgetPolicy()
    context_providers: ContextProviders = ContextProviders()
    mutation_authority: MutationAuthority | None = None


class Persona(PersonaFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A persona as it is used. `origin`: as shipped, of the workspace in a shipped one's place, or the workspace's."""

    id: Word
    origin: Origin

    @property
    def is_project_manager(self) -> bool:
        return is_project_manager(self.id, self.role)

    @property
    def authority(self) -> Authority | None:
        """How much its purview weighs at most: a coach's never blocks, and the PM has none, whatever a file said."""
        if self.purview is None or self.is_project_manager:
            return None
        given = Authority(self.purview.blocking_authority)
        return Authority.STRONG if self.variety == "coach" and given is Authority.BLOCKING else given


def is_project_manager(id: str, role: object) -> bool:
    return id == PROJECT_MANAGER or (isinstance(role, str) and role.strip().casefold() == "project manager")


def micros(dollars: float) -> int:
    return round(dollars * MICROS)
