"""What turns took, taken in once each and added to all that it belongs to.

A turn counts for its session, its day (UTC, by the agent's clock as far as that is past), the work item that it was
for, the epic of that item, the persona that was asked, and the sprint that runs. The item is the dispatch's; without
one what the session has claimed last; without that what it says itself. A turn counts for the sprint unless it is known
to be for something else: a budget that does not count what nobody can tell would protect nobody.

`project` runs in the transaction that takes frames in, and a turn is a row under its frame's id: reading a log again,
after a crash or on purpose, adds nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from gemba import clock
from gemba.event import Draft
from gemba.handoff.dispatches import dispatches
from gemba.sessions import runs
from gemba.sprints import burning, progress, store
from gemba.sprints.burn_down import name_of
from gemba.sprints.tables import sprint_days, sprint_items, sums, turns
from gemba.store.database import Transaction
from gemba.store.lists import among
from gemba.work.item import Kind
from gemba.work.items import find_many
from gemba.work.reach import ancestors
from gemba.work.tables import items

KINDS: Final = ("session", "task", "epic", "sprint", "persona", "day")

ItemOf = Callable[[Connection, str], str | None]  # of a task that is no item, where it is part of one
PersonaOf = Callable[[Connection, str], str | None]  # of a session, where it is a consult's


class Turn(NamedTuple):
    """What one turn took, and all that it belongs to."""

    id: str
    session: str
    task: str | None
    item: str | None  # that the task is part of, where it is no item itself
    epic: str | None
    sprint: str | None
    persona: str | None
    day: int
    tokens_in: int
    tokens_out: int
    cost: int | None

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def keys(self) -> list[tuple[str, str]]:
        """What its sums are kept under."""
        of = (self.session, self.task, self.epic, self.sprint, self.persona, name_of(self.day))
        named = [*zip(KINDS, of, strict=True), ("task", self.item)]
        return [(kind, key) for kind, key in named if key is not None]


def project(tx: Transaction, drafts: Sequence[Draft], persona_of: PersonaOf, item_of: ItemOf = lambda *_: None) -> None:
    """Take in what a batch of frames says of turns."""
    told = [draft for draft in drafts if draft.name == "usage_reported" and draft.session_id and draft.ref]
    if not told:
        return
    running = store.find_running(tx.connection)
    sprint = None if running is None else running.id
    first_day = 0 if running is None or running.started_at is None else running.started_at // clock.DAY
    found = [_turn(tx, draft, sprint, persona_of, item_of) for draft in told]
    new = tx.insert_new(turns, [_row(tx, turn) for turn in found], "id")
    # A frame's id is known once, and so is a turn's: what is left was never counted.
    counted = list({turn.id: turn for turn in found if turn.id in new}.values())
    if counted:
        _add(tx, counted, first_day)


def _add(tx: Transaction, counted: Sequence[Turn], first_day: int) -> None:
    """To every sum, in one order for all, so that no two who add wait for each other."""
    added: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    by_sprint: dict[str, dict[int, list[Turn]]] = defaultdict(lambda: defaultdict(list))
    for turn in counted:
        for key in turn.keys:
            added[key].append(turn)
        if turn.sprint is not None:
            by_sprint[turn.sprint][max(turn.day, first_day)].append(turn)
    tx.add(sums, [_sum(kind, key, added[kind, key]) for kind, key in sorted(added)])
    for sprint, days in sorted(by_sprint.items()):
        tx.add(
            sprint_days,
            [
                {"sprint_id": sprint, "day": day, "turns": len(some), "tokens": sum(turn.tokens for turn in some)}
                for day, some in sorted(days.items())
            ],
        )
        burning.use(tx, sprint, sum(turn.tokens for some in days.values() for turn in some))
    progress.use(tx, sum(turn.tokens for turn in counted))


def _turn(tx: Transaction, draft: Draft, sprint: str | None, persona_of: PersonaOf, item_of: ItemOf) -> Turn:
    payload, session = draft.payload, str(draft.session_id)
    task = task_of(tx.connection, session, payload.get("bead_id"), tx.now)
    item = None if task is None else item_of(tx.connection, task)
    above = _line_above(tx.connection, item or task) if task is not None else []
    is_elsewhere = bool(above) and sprint is not None and not _is_in(tx.connection, sprint, [id for id, _ in above])
    cost = payload["cost_usd"]
    return Turn(
        id=str(draft.ref),
        session=session,
        task=task,
        item=item,
        epic=next((id for id, kind in above if kind == Kind.EPIC), None),
        sprint=None if is_elsewhere else sprint,
        persona=persona_of(tx.connection, session),
        day=clock.parse_past(payload.get("at") or "", tx.now) // clock.DAY,
        tokens_in=payload["input_tokens"] or 0,
        tokens_out=payload["output_tokens"] or 0,
        cost=None if cost is None else round(cost * 1_000_000),
    )


def task_of(connection: Connection, session: str, said: str | None, now: int) -> str | None:
    """The work item that a session is at: its dispatch's, else what it claimed last, else what it says."""
    run = runs.find(connection, session)
    given = dispatches.c.task_id.is_not(None)
    if run is not None and run.dispatch_id is not None:
        mine = select(dispatches.c.task_id).where(dispatches.c.id == run.dispatch_id, given)
    else:
        mine = select(dispatches.c.task_id).where(
            dispatches.c.session_id == session, given, dispatches.c.completed_at.is_(None)
        )
    claimed = select(items.c.id).where(items.c.claimed_until > now, items.c.claimed_by == session)
    for query in (
        mine.order_by(dispatches.c.created_at.desc()),
        claimed.order_by(items.c.claimed_at.desc(), items.c.id),
    ):
        found: str | None = connection.execute(query.limit(1)).scalar()
        if found:
            return found
    return said or None


def _line_above(connection: Connection, id: str) -> list[tuple[str, str]]:
    """The item and all that it is part of, from below, each with its kind; nothing where there is no such item."""
    line = [id, *ancestors(connection, id)]
    known = find_many(connection, line)
    return [(each, known[each].kind) for each in line if each in known]


def _is_in(connection: Connection, sprint: str, ids: Sequence[str]) -> bool:
    """Whether one of these is in the sprint; one without items is for everything."""
    mine = select(sprint_items.c.item_id).where(sprint_items.c.sprint_id == sprint)
    if connection.execute(mine.where(among(connection, sprint_items.c.item_id, ids)).limit(1)).first() is not None:
        return True
    return connection.execute(mine.limit(1)).first() is None


def _row(tx: Transaction, turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "at": tx.now,
        "session_id": turn.session,
        "task": turn.task,
        "epic": turn.epic,
        "sprint_id": turn.sprint,
        "persona_id": turn.persona,
        "day": turn.day,
        "tokens_in": turn.tokens_in,
        "tokens_out": turn.tokens_out,
        "cost_usd_micros": turn.cost,
    }


def _sum(kind: str, key: str, some: Sequence[Turn]) -> dict[str, Any]:
    return {
        "kind": kind,
        "key": key,
        "turns": len(some),
        "unpriced": sum(turn.cost is None for turn in some),
        "tokens": sum(turn.tokens for turn in some),
        "tokens_in": sum(turn.tokens_in for turn in some),
        "tokens_out": sum(turn.tokens_out for turn in some),
        "cost_usd_micros": sum(turn.cost or 0 for turn in some),
    }
