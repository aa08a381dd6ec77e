"""Who else looks at a task's work, and what they say: roles of the run, or a person, never its author.

What a run's settings name reviews every task of the others, and counts at its gate; whom a task's plan names discuss
it, and may hold it. Until all of them have spoken, or could not, the task waits, and nobody holds it. A reviewer speaks
by a message of the type `review` or `rating` from the session that was started for that, and from no other; a person by
an action. Verbs and reads; called by the gate, the bus, and the flow of a review.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import Connection, Row, insert, select, update

from gemba import typed
from gemba.action import Action
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.flows import wanted
from gemba.store.database import Transaction
from gemba.teams import attempts, deciding, store
from gemba.teams.consensus import Rating
from gemba.teams.deciding import ACCEPT, RETRY, REVISE, SKIP, Claim
from gemba.teams.gates import Points, Review
from gemba.teams.message import Message
from gemba.teams.run import BUILTIN, PERSON, RunView
from gemba.teams.tables import ratings, reviews
from gemba.teams.task import TaskState, WaitingFor
from gemba.teams.view import view_run
from gemba.text import storable

REVIEW: Final = "team.review"
WANTED, GIVEN, FAILED = "wanted", "given", "failed"

_review = typed.decoder(Review)


class GiveReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a person gives a task's work: each dimension of 100, and a rating from 1 to 5 where it is discussed."""

    completeness: Points
    consistency: Points
    accuracy: Points
    depth: Points
    rating: Annotated[int, msgspec.Meta(ge=1, le=5)] | None = None
    critical: bool = False
    note: Annotated[str, msgspec.Meta(max_length=4_000)] = ""


# ---- who has to speak ------------------------------------------------------------------------------------------------


def reviewers_of(run: Row[Any], task: Row[Any]) -> list[str]:
    """Everybody who looks at a task's work beside the built-in reviewer."""
    first = store.settings_of(run).reviewer
    named = [*([first] if first not in (BUILTIN, task.owner) else []), *store.options_of(task).reviewers]
    return [name for name in dict.fromkeys(named) if name != task.owner]


def missing(connection: Connection, run: Row[Any], task: Row[Any], attempt: Row[Any]) -> list[str]:
    """Those who have not spoken of this attempt, and are not known to be unable to."""
    if not (names := reviewers_of(run, task)):
        return []
    said = {row.reviewer for row in _of(connection, attempt) if row.state != WANTED}
    return [name for name in names if name not in said]


def review_for_gate(connection: Connection, run: Row[Any], task: Row[Any], attempt: Row[Any]) -> Review | None:
    """What the run's own reviewer says of this attempt; None where the built-in one's word counts."""
    name = store.settings_of(run).reviewer
    if name in (BUILTIN, task.owner):
        return None
    found = next((row for row in _of(connection, attempt) if row.reviewer == name and row.review), None)
    return None if found is None else _review.decode(found.review)


def ratings_of(connection: Connection, task: Row[Any]) -> list[Rating]:
    """What was given to this version of a task by those who discuss it."""
    named = store.options_of(task).reviewers
    if not named:
        return []
    mine = (ratings.c.run_id == task.run_id, ratings.c.task_id == task.id, ratings.c.version == task.version)
    found = connection.execute(select(ratings).where(*mine).order_by(ratings.c.reviewer)).all()
    return [Rating(row.reviewer, row.rating, row.critical, row.note) for row in found if row.reviewer in named]


def _of(connection: Connection, attempt: Row[Any]) -> Sequence[Row[Any]]:
    this = (
        reviews.c.run_id == attempt.run_id,
        reviews.c.task_id == attempt.task_id,
        reviews.c.number == attempt.number,
    )
    return connection.execute(select(reviews).where(*this)).all()


# ---- asking them -----------------------------------------------------------------------------------------------------


def ask_for(tx: Transaction, *, claim: Claim, names: Sequence[str]) -> None:
    """The task waits until they have spoken."""
    row = deciding.held(tx, claim)
    last = None if row is None else attempts.latest(tx.connection, row.run_id, row.id)
    if row is None or last is None or row.state != TaskState.VERIFYING:
        return
    known = {each.reviewer for each in _of(tx.connection, last)}
    for name in names:
        if name in known:
            continue
        about = {"run_id": row.run_id, "task_id": row.id, "number": last.number, "reviewer": name}
        tx.connection.execute(insert(reviews), {**about, "state": WANTED, "at": tx.now})
        if name != PERSON:
            id = f"{REVIEW}/{store.ref_of(row.run_id, row.id)}/{last.number}/{name}"
            wanted.want(tx, REVIEW, [wanted.Call(id, {**about, "since": tx.now})], origin=row.origin)
    reason = f"{', '.join(names)} {'reviews' if len(names) == 1 else 'review'} it"
    if PERSON in names:
        text = f"Look at the work of {row.id}. `gemba team review {row.run_id} {row.id}` gives it points."
        held = deciding.ask(tx, row, f"{row.id} wants your review", text, (ACCEPT, RETRY, REVISE, SKIP))
        store.change_task(tx, held, executor=None, reason=reason)
    else:
        store.move_task(tx, row, "held", WaitingFor.DECISION, executor=None, reason=reason)


# ---- what they say ---------------------------------------------------------------------------------------------------


def take(tx: Transaction, run_id: str, message: Message, session_id: str | None) -> None:
    """A message that reviews or rates: kept where it is from the session that was started to do that."""
    about = message.about
    if message.type not in ("review", "rating") or session_id is None or about is None:
        return
    mine = (reviews.c.session_id == session_id, reviews.c.run_id == run_id, reviews.c.task_id == message.bound_to)
    row = tx.connection.execute(select(reviews).where(*mine).with_for_update()).first()
    if row is None:
        raise Conflict(
            f"this session was not asked to review {message.bound_to}; allowed: the task that it was started for",
            code="not_its_review",
            found=message.bound_to,
        )
    if message.type == "rating":
        _rate(tx, row, about.rating, about.critical, about.note)  # type: ignore[attr-defined]  # by its type
        return
    said = {name: getattr(about, name) for name in ("completeness", "consistency", "accuracy", "depth")}
    given = Review(row.reviewer, **said, note=about.note or "")  # type: ignore[attr-defined]
    _give(tx, row, given)


def give_review(tx: Transaction, body: GiveReview, *, id: str, task: str) -> RunView:
    """What a person says, whether or not they were asked: it counts where the run or the task wants a person's word."""
    run = store.lock_run(tx, id)
    row = store.lock_task(tx, id, task)
    last = attempts.latest(tx.connection, id, task)
    asked = [] if last is None else [each for each in _of(tx.connection, last) if each.reviewer == PERSON]
    if not asked or row.state != TaskState.WAITING:
        wants = PERSON in reviewers_of(run, row)
        raise Conflict(
            f"{row.id} is {row.state} and waits for no review of yours"
            + ("" if wants else "; allowed where the run's reviewer, or one of the task's, is a person"),
            code="no_review_wanted",
            found=row.state,
        )
    points = {name: getattr(body, name) for name in ("completeness", "consistency", "accuracy", "depth")}
    _give(tx, asked[0], Review(PERSON, **points, note=storable(body.note)))
    if body.rating is not None:
        _rate(tx, asked[0], body.rating, body.critical, storable(body.note))
    return view_run(tx.connection, id)


def _give(tx: Transaction, row: Row[Any], given: Review) -> None:
    _settle(tx, row, GIVEN, review=msgspec.json.encode(given).decode())


def _rate(tx: Transaction, row: Row[Any], rating: int, critical: bool, note: str | None) -> None:
    task = store.get_task(tx.connection, row.run_id, row.task_id)
    about = {"run_id": row.run_id, "task_id": row.task_id, "version": task.version, "reviewer": row.reviewer}
    tx.put(ratings, [{**about, "rating": rating, "critical": critical, "note": note or "", "at": tx.now}])


def fail(tx: Transaction, run_id: str, task_id: str, number: int, reviewer: str, trouble: str) -> None:
    """A reviewer will not speak; the others', or the built-in one's, word counts."""
    this = (
        reviews.c.run_id == run_id,
        reviews.c.task_id == task_id,
        reviews.c.number == number,
        reviews.c.reviewer == reviewer,
    )
    row = tx.connection.execute(select(reviews).where(*this)).first()
    if row is not None and row.state == WANTED:
        _settle(tx, row, FAILED, trouble=trouble)


def _settle(tx: Transaction, row: Row[Any], state: str, **values: Any) -> None:
    """When the last of them has spoken the task goes on, in any worker's hands."""
    this = (
        reviews.c.run_id == row.run_id,
        reviews.c.task_id == row.task_id,
        reviews.c.number == row.number,
        reviews.c.reviewer == row.reviewer,
    )
    tx.connection.execute(update(reviews).where(*this).values(state=state, at=tx.now, **values))
    ref = store.ref_of(row.run_id, row.task_id)
    tx.emit(Draft("team.reviewed", {"task_id": row.task_id, "reviewer": row.reviewer, "state": state}, ref=ref))
    run = store.lock_run(tx, row.run_id)
    task = store.lock_task(tx, row.run_id, row.task_id)
    last = attempts.latest(tx.connection, row.run_id, row.task_id)
    if last is None or last.number != row.number or not is_reviewed(tx.connection, run, task, last):
        return
    deciding.withdraw_card(tx, task, "the review is there")
    store.move_task(tx, task, "released", escalation_id=None, not_before=0)


def is_reviewed(connection: Connection, run: Row[Any], task: Row[Any], attempt: Row[Any]) -> bool:
    """Whether a task waits for reviews and has them all."""
    waits = task.state == TaskState.WAITING and task.waiting_for == WaitingFor.DECISION and attempt.outcome is None
    return waits and not missing(connection, run, task, attempt)


ACTIONS = (
    Action(
        "/api/teams/{id}/tasks/{task}/review",
        give_review,
        GiveReview,
        RunView,
        "Give points to a task's work where a person reviews it",
    ),
)
