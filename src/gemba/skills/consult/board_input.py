"""The input of epic_order from a board: the epics that somebody decided to do, and what is known around them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from gemba import clock
from gemba.errors import Conflict
from gemba.skills.consult.order_input import CandidateEpic, Completion, EpicOrderInput, OpenEscalation
from gemba.work.item import State
from gemba.work.signals import Board, Epic, Finished, enclosing, measure

# What is in the backlog, put off or handed in is no candidate, unless one that is waits for it.
WANTED = frozenset({State.UNSTARTED, State.STAGED, State.IN_PROGRESS})


class Asked(NamedTuple):
    """An open escalation, and the item that it is about."""

    id: str
    kind: str
    urgency: str
    title: str
    item: str | None
    opened_at: int


def input_of(board: Board, escalations: Iterable[Asked], workspace: str, name: str, now: int) -> EpicOrderInput:
    """Everything as of now; a Conflict where there is no epic to be put into an order."""
    epics = measure(board, now)
    chosen = _chosen(epics)
    if not chosen:
        raise Conflict(
            "no epic is unstarted, staged or in progress: there is nothing to put into an order",
            code="no_epics",
            allowed="an epic, made with: gemba item add TITLE --kind epic",
        )
    within = enclosing(board.items)
    return EpicOrderInput(
        workspace=workspace,
        workspace_name=name,
        as_of=clock.rfc3339(now),
        candidate_epics=[_candidate(epics[id], board.summaries.get(id)) for id in epics if id in chosen],
        recent_completions=[_completion(one) for one in board.finished],
        open_escalations=[_open(one, within) for one in escalations],
    )


def _chosen(epics: Mapping[str, Epic]) -> set[str]:
    found = {id for id, epic in epics.items() if epic.fact.state in WANTED}
    waiting = list(found)
    while waiting:
        for id in epics[waiting.pop()].depends_on:
            if id not in found:
                found.add(id)
                waiting.append(id)
    return found


def _candidate(epic: Epic, summary: str | None) -> CandidateEpic:
    fact, signals = epic.fact, epic.signals
    derived: dict[str, Any] = msgspec.to_builtins(signals)
    del derived["files"], derived["estimated_tokens"]  # they have fields of their own
    return CandidateEpic(
        epic_id=fact.id,
        title=fact.title,
        summary=summary,
        ui_state=str(fact.state),
        current_rank=fact.user_order,
        parent_epic=epic.parent_epic,
        depends_on_epics=epic.depends_on,
        estimated_tokens=signals.estimated_tokens,
        file_space_signature=signals.files or None,
        derived=derived,
    )


def _completion(one: Finished) -> Completion:
    hours = None
    if one.started_at is not None:
        hours = round(max(0, one.closed_at - one.started_at) / (3_600 * clock.SECOND), 2)
    return Completion(
        epic_id=one.id,
        title=one.title,
        closed_at=clock.rfc3339(one.closed_at),
        elapsed_hours=hours,
        tokens_consumed=one.tokens,
    )


def _open(one: Asked, within: Mapping[str, str]) -> OpenEscalation:
    return OpenEscalation(
        id=one.id,
        kind=one.kind,
        urgency=one.urgency,
        title=one.title,
        blocked_epic=None if one.item is None else within.get(one.item),
        opened_at=clock.rfc3339(one.opened_at),
    )
