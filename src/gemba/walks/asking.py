"""Personas inside of a walk: "any perspectives?" on an item, and the summary of a walk without a model.

The comments carry the walk's id, as every consult that is asked for there. Called as an action, and by consults through
`app`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from sqlalchemy import Row

from gemba import clock
from gemba.action import Action
from gemba.errors import Conflict
from gemba.personas.asking import PerspectivesAsked, ask_perspectives
from gemba.personas.expert import Expert
from gemba.skills.consult import perspective
from gemba.skills.consult.walk_summary import WalkSummaryInput
from gemba.store.database import Database, Transaction
from gemba.walks import store
from gemba.walks.summary_lines import summary_lines
from gemba.walks.walk import AskPerspectives, SourceKind

# Of which personas are told nothing.
_NOTHING_TO_SEE: Final = {SourceKind.TOPIC: "a topic in words", SourceKind.MEMORY: "something to remember"}


def ask_on_walk(tx: Transaction, body: AskPerspectives, *, id: str) -> PerspectivesAsked:
    store.locked(tx, id)
    row = _meant(tx, id, body.item)
    asked = ask_perspectives(tx, row.ref)
    names = ", ".join(one.persona_id for one in asked.consults) or "nobody would say something"
    store.say(tx, id, "walk", tx.actor, f"Any perspectives? Asked: {names}", row.id)
    for one in asked.consults:
        told = {"consult_id": one.id, "persona_id": one.persona_id, "skill_id": perspective.SKILL.id}
        store.tell_of_walk(tx, "walk.consulted", id, **told)
    return asked


def _meant(tx: Transaction, walk_id: str, item_id: str | None) -> Row[Any]:
    row = store.on_the_table(tx.connection, walk_id, item_id)
    if row is None:
        raise Conflict("nothing is on the table; allowed: an item of the agenda", code="nothing_on_the_table")
    if row.kind in _NOTHING_TO_SEE:
        what = _NOTHING_TO_SEE[SourceKind(row.kind)]
        allowed = "an escalation, work, a session or a team's task"
        raise Conflict(
            f"personas comment on what they can look at, and this is {what}; allowed: {allowed}",
            code="nothing_to_see",
            found=str(row.kind),
            allowed=allowed,
        )
    return row


def expert_of(database: Database) -> Expert:
    """What came of a walk, from its record alone; NotFound where there is none."""

    def advise(given: WalkSummaryInput, _persona_id: str) -> list[msgspec.Struct]:
        with database.read() as connection:
            return summary_lines(store.detail(connection, given.walk_id, clock.now()))

    return Expert(advise)


ACTIONS = (
    Action(
        "/api/walks/{id}/perspectives",
        ask_on_walk,
        AskPerspectives,
        PerspectivesAsked,
        "Ask every persona that would say something of an item for one comment",
    ),
)
