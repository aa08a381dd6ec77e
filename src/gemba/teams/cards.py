"""What a person chooses on the card of a task, carried out in the transaction of the answer."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row, select

from gemba.errors import Invalid
from gemba.escalations.cards import Card
from gemba.escalations.escalation import Reply
from gemba.store.database import Transaction
from gemba.teams import commands, gaps, store
from gemba.teams.deciding import ACCEPT, KIND, RETRY, REVISE, SKIP
from gemba.teams.tables import tasks
from gemba.teams.task import ENDED, TaskState, events_from
from gemba.text import one_line, storable

_EVENTS = {ACCEPT: "accepted", RETRY: "retried", REVISE: "revised", SKIP: "skipped"}


def judge(reply: Reply) -> None:
    if reply.action == REVISE and not (reply.text or "").strip():
        raise Invalid(
            "revise needs words; allowed: what is to be done otherwise, as text", code="missing_field", pointer="/text"
        )


def carry_out(tx: Transaction, card: Row[Any], reply: Reply) -> None:
    """A card whose task stands elsewhere meanwhile changes nothing: it was taken back, or is about to be."""
    if (gap := gaps.find_by_card(tx.connection, card.id)) is not None:
        _answer_gap(tx, gap, reply)
        return
    found = select(tasks.c.run_id, tasks.c.id).where(tasks.c.escalation_id == card.id)
    place = tx.connection.execute(found).first()
    if place is None:
        return
    store.lock_run(tx, place.run_id)
    row = store.lock_task(tx, place.run_id, place.id)
    event = _EVENTS.get(reply.action or "")
    if row.escalation_id != card.id or event is None or event not in events_from(store.position_of(row)):
        return
    if row.state not in (TaskState.WAITING, TaskState.PARTIAL_COMPLETION):
        return
    words = storable(reply.text or "").strip()
    said = [f"{tx.actor}: {words}"] if words and words != reply.action else []
    row = store.change_task(tx, row, escalation_id=None)  # it is this answer that settles the card
    if event in ("retried", "revised"):
        commands.anew(tx, row, event, said)
    elif event == "skipped":
        commands.leave_out(tx, row, one_line(" ".join([f"skipped by {tx.actor}", *said]), 300))
    else:
        commands.take_as_it_is(tx, row, one_line(" ".join([f"accepted by {tx.actor}", *said]), 300))


def _answer_gap(tx: Transaction, gap: Row[Any], reply: Reply) -> None:
    """What a task misses: it goes on with what was said, or is left out."""
    store.lock_run(tx, gap.run_id)
    row = store.lock_task(tx, gap.run_id, gap.task_id)
    gaps.settle_card(tx, gap.escalation_id)
    if TaskState(row.state) in ENDED:
        return
    words = storable(reply.text or "").strip()
    said = f"{tx.actor}: {words}" if words and words != reply.action else ""
    if reply.action == SKIP:
        commands.leave_out(tx, row, one_line(f"skipped by {tx.actor} {said}", 300))
    elif said:
        commands.say(tx, row, said)


CARDS: Final = {KIND: Card(judge, carry_out)}
