"""What epic_order is given: a set of epics that an operator chose, frozen at a moment, and what is known around it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import msgspec

from gemba.skills.consult.reading import misfit, moment

_MOST = 2**53  # the largest whole number that every JSON reader keeps

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Count = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
Share = Annotated[float, msgspec.Meta(ge=0, le=10)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields that are not known are refused; those that are may be null."""


class CandidateEpic(_Input, frozen=True):
    """An epic that may be ranked. `derived` has planning signals by name; those that nobody knows change nothing."""

    epic_id: Id
    title: str
    ui_state: str
    summary: str | None = None
    current_rank: int | None = None
    parent_epic: str | None = None
    depends_on_epics: list[str] | None = None
    parallel_group: str | int | None = None
    estimated_tokens: Count | None = None
    file_space_signature: list[str] | None = None
    derived: dict[str, Any] | None = None

    @property
    def tokens(self) -> int:
        return self.estimated_tokens or 0


class Constraints(_Input, frozen=True):
    """What the consult may cost, and how sure a recommendation has to be."""

    max_dollars: Amount | None = None
    max_latency_seconds: Amount | None = None
    min_confidence: Confidence | None = None


class BurnThresholds(_Input, frozen=True):
    """Shares of the budget: 0.8 is four fifths of it."""

    inform: Share | None = None
    warn: Share | None = None
    stop: Share | None = None


class SprintContext(_Input, frozen=True):
    sprint_id: str | None = None
    started_at: str | None = None
    ends_at: str | None = None
    token_budget: Count | None = None
    tokens_used: Count | None = None
    burn_thresholds: BurnThresholds | None = None


class Completion(_Input, frozen=True):
    """An epic that was finished lately."""

    epic_id: str | None = None
    title: str | None = None
    closed_at: str | None = None
    elapsed_hours: Amount | None = None
    tokens_consumed: Count | None = None


class OpenEscalation(_Input, frozen=True):
    """Something that waits for a person."""

    id: str | None = None
    kind: str | None = None
    urgency: str | None = None
    title: str | None = None
    blocked_epic: str | None = None
    opened_at: str | None = None


class EpicOrderInput(_Input, frozen=True):
    """The input of epic_order, as of `as_of`. `max_recommendations` of 0 is as many as there are."""

    workspace: str
    as_of: str
    candidate_epics: Annotated[list[CandidateEpic], msgspec.Meta(min_length=1)]
    workspace_name: str | None = None
    constraints: Constraints | None = None
    sprint_context: SprintContext | None = None
    recent_completions: list[Completion] | None = None
    open_escalations: list[OpenEscalation] | None = None
    guidance: str | None = None
    max_recommendations: Count | None = None

    def check(self) -> None:
        """What the types do not say: times are times, no epic stands there twice, thresholds rise."""
        moment(self.as_of, "/as_of")
        self._check_ids()
        if self.sprint_context is not None:
            _check_sprint(self.sprint_context)
        for place, done in enumerate(self.recent_completions or ()):
            _check_moment(done.closed_at, f"/recent_completions/{place}/closed_at")
        for place, escalation in enumerate(self.open_escalations or ()):
            _check_moment(escalation.opened_at, f"/open_escalations/{place}/opened_at")

    def _check_ids(self) -> None:
        places: dict[str, int] = {}
        for place, epic in enumerate(self.candidate_epics):
            first = places.setdefault(epic.epic_id, place)
            if first != place:
                pointer = f"/candidate_epics/{place}/epic_id"
                words = f"this epic is a candidate already, at /candidate_epics/{first}"
                raise misfit(pointer, words, epic.epic_id, "each epic once")

    @property
    def min_confidence(self) -> float:
        return (self.constraints.min_confidence if self.constraints else None) or 0.0

    @property
    def most(self) -> int | None:
        return self.max_recommendations or None

    @property
    def tokens_used(self) -> int:
        return (self.sprint_context.tokens_used if self.sprint_context else None) or 0

    @property
    def thresholds(self) -> BurnThresholds:
        return (self.sprint_context.burn_thresholds if self.sprint_context else None) or BurnThresholds()

    @property
    def token_budget(self) -> int | None:
        return self.sprint_context.token_budget if self.sprint_context else None

    @property
    def token_limit(self) -> float | None:
        """What may have been used when all that is ranked is done; None where there is no budget."""
        if self.token_budget is None:
            return None
        stop = self.thresholds.stop
        return self.token_budget * (1.0 if stop is None else stop)


def _check_sprint(sprint: SprintContext) -> None:
    started = _check_moment(sprint.started_at, "/sprint_context/started_at")
    ends = _check_moment(sprint.ends_at, "/sprint_context/ends_at")
    if started is not None and ends is not None and ends < started:
        raise misfit("/sprint_context/ends_at", "the sprint ends before it starts", sprint.ends_at, sprint.started_at)
    given = sprint.burn_thresholds or BurnThresholds()
    known = [(name, value) for name in ("inform", "warn", "stop") if (value := getattr(given, name)) is not None]
    for (name, value), (next_name, next_value) in pairwise(known):
        if value > next_value:
            pointer = f"/sprint_context/burn_thresholds/{next_name}"
            words = f"{next_name} is {next_value:g} and {name} is {value:g}"
            raise misfit(pointer, words, next_value, "inform ≤ warn ≤ stop")


def _check_moment(text: str | None, pointer: str) -> int | None:
    return None if text is None else moment(text, pointer)
