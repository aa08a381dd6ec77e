"""The demo's work items: made as of earlier days, moved by the verbs of the API, claimed by the agents that live; and
the sprint that some of them are in.

What has been done before has sessions of its own, with what they took, so that there is something to plan by. Called by
`gemba demo` before it serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import msgspec

from gemba import clock, typed
from gemba.app import App
from gemba.demo.session import Session
from gemba.demo.story import read_data
from gemba.sprints.planning import NewSprint, StartSprint, create_sprint, start_sprint
from gemba.store.database import Transaction
from gemba.work.batch import Given, insert_many
from gemba.work.claiming import ClaimItem, claim_item
from gemba.work.item import Relation, State
from gemba.work.store import ChangeItem, NewItem, change_item, clean_values

SHIFT = 8 * 3_600  # seconds for which an agent of the demo claims what it works on

_PLANNER = "Noor"
_DAY_MINUTES = 24 * 60
_SHARE_SAID = 0.1  # of what a session took: what the model itself has written


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a work item went, and when."""

    days_ago: float
    state: State
    reason: str = ""  # why it was closed


class Planned(NewItem, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A work item of the project. `by` an agent: in an earlier session that `took` so many tokens, or in this one."""

    id: str
    days_ago: float
    blocked_by: tuple[str, ...] = ()
    move: tuple[Move, ...] = ()
    by: str | None = None
    took: int | None = None


class Sprint(NewSprint, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be done within a budget: begun some days ago, for so many."""

    days_ago: float
    days: float


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sprint: Sprint
    item: list[Planned]


def load_work() -> Work:
    return typed.convert(read_data("work.toml"), Work)


def write_work(app: App, work: Work, sessions: Mapping[str, Session]) -> None:
    """Everything that is planned, in one transaction; `sessions` are those that live, by the names of their agents."""
    planned = work.item
    with app.database.transaction(_PLANNER) as tx:
        now = tx.now
        tx.now = now - _span(max(one.days_ago for one in planned))
        edges = [(other, Relation.BLOCKS, one.id) for one in planned for other in one.blocked_by]
        insert_many(tx, [_given(one, now) for one in planned], edges)
        past = [(move.days_ago, partial(_move, tx, move, one.id)) for one in planned for move in one.move]
        past.append((work.sprint.days_ago, partial(_begin, tx, work.sprint)))
        for days_ago, happen in sorted(past, key=lambda each: -each[0]):
            tx.now = now - _span(days_ago)
            happen()
        tx.now = now
        for one in planned:
            if one.by is not None and one.took is None:
                claim_item(tx, ClaimItem(owner=sessions[one.by].id, lease_seconds=SHIFT), id=one.id)


def _move(tx: Transaction, move: Move, id: str) -> None:
    change_item(tx, ChangeItem(state=move.state, close_reason=move.reason or msgspec.UNSET), id=id)


def _begin(tx: Transaction, sprint: Sprint) -> None:
    wanted = NewSprint(**{name: getattr(sprint, name) for name in NewSprint.__struct_fields__})
    made = create_sprint(tx, wanted)
    start_sprint(tx, StartSprint(clock.rfc3339(tx.now + _span(sprint.days))), id=made.id)


def write_finished(planned: Iterable[Planned], earlier: Mapping[str, Session]) -> None:
    """The sessions in which the demo's past was done. `earlier` are agents' sessions of some day, by their names."""
    for one in planned:
        if one.by is None or one.took is None:
            continue
        begun, over = (move.days_ago * _DAY_MINUTES for move in (one.move[0], one.move[-1]))
        session = msgspec.structs.replace(earlier[one.by], id=f"{one.by}-{one.id}")
        session.client("SessionStart", begun, source="startup")
        session.append("GembaState", {"state": "working", "bead_id": one.id, "note": one.title}, begun - 1)
        said = int(one.took * _SHARE_SAID)
        session.append("GembaUsage", {"input_tokens": one.took - said, "output_tokens": said}, over + 1)
        session.client("SessionEnd", over, reason="other")


def _given(one: Planned, now: int) -> Given:
    made = now - _span(one.days_ago)
    values = {name: getattr(one, name) for name in NewItem.__struct_fields__}
    return Given(one.id, clean_values(values, f"/{one.id}"), {"created_at": made, "updated_at": made})


def _span(days: float) -> int:
    return int(days * clock.DAY)
