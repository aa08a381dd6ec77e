"""What happens to a consult while it runs: lines come, its session says something, and it ends.

`project` is called where frames are taken in, in that transaction, so that lines, verdicts and events stand or fall
together; a consult's session has its id. Lines come in only here (`receive`), also those of the built-in advisor. A
consult ends once: completed when the summary is in and the turn or the session has ended, failed when the session ends
before, timed_out, cancelled. A model that fails or costs more than its cap leaves a skill that has an expert to it, the
built-in advisor, unless something of it was applied; the lines that it gave are set aside then, and the consult says
why. So it is with lines that the expert finds no use for as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, bindparam, select, update

from gemba.action import Nothing
from gemba.event import Draft
from gemba.flows import wanted
from gemba.flows.wanted import Call
from gemba.handoff import audit
from gemba.personas import consults, reservations
from gemba.personas.authority import acts_alone
from gemba.personas.budget import Usage, over_cap
from gemba.personas.consult import CONSULT, ConsultStatus
from gemba.personas.consults import change, get_locked
from gemba.personas.expert import experts_in
from gemba.sessions import runs, starting
from gemba.sessions.store import is_alive, sessions
from gemba.skills.advisor.advise import MODEL
from gemba.skills.consult.judge import Judge, OrderError
from gemba.store import rows
from gemba.store.database import Transaction
from gemba.text import storable

ADVISE = "consult.advise"  # the flow of the built-in advisor
END = "consult.end"  # the flow of a consult whose session has ended
ACT = "consult.act"  # the flow of what a manager applies by itself
MOST_OUTPUTS = 2_000  # of one consult; each is judged with all before it

_INSTEAD = "the built-in advisor answered instead"
_MOST_TOLD = 5  # faults of lines as a whole, in the words of a consult


def has_advisor(skill_id: str, surroundings: Mapping[str, Any]) -> bool:
    """Whether a skill is answered without a model."""
    return skill_id in experts_in(surroundings)


# Also those that are over: what one took may be told later.
_known = select(consults.consults.c.id).where(consults.consults.c.id.in_(bindparam("ids", expanding=True)))

# ---- frames ----------------------------------------------------------------------------------------------------------


def project(tx: Transaction, drafts: Sequence[Draft]) -> None:
    """What a batch of frames means for the consults that run."""
    about = [(draft.session_id, draft) for draft in drafts if draft.session_id is not None and _concerns(draft)]
    if not about:
        return
    found = set(tx.connection.execute(_known, {"ids": list({id for id, _ in about})}).scalars())
    for id, draft in about:
        if id in found:
            row = get_locked(tx, id)
            if row.status == ConsultStatus.RUNNING:
                _APPLY[draft.name](tx, row, draft)
            elif draft.name == "usage_reported":
                _settle_again(tx, row)


def _concerns(draft: Draft) -> bool:
    """A session that starts, or goes on, changes nothing for a consult."""
    return draft.name in _APPLY and draft.payload.get("to") not in ("starting", "running")


def _output(tx: Transaction, row: Row[Any], draft: Draft) -> None:
    skill_id, lines = draft.payload.get("skill_id"), draft.payload.get("lines")
    if draft.ref is not None and not row.by_advisor:  # once another one answers, what still comes is too late
        receive(tx, row, draft.ref, skill_id if isinstance(skill_id, str) else "", lines)


def _turn_ended(tx: Transaction, row: Row[Any], _draft: Draft) -> None:
    if row.complete:
        _completed(tx, row)


def _session_moved(tx: Transaction, row: Row[Any], draft: Draft) -> None:
    if row.by_advisor:
        return
    if row.complete:
        _completed(tx, row)
    else:
        # Its end may be seen before what it said last is taken in: a flow sees to that first.
        wanted.want(tx, END, [Call(f"{END}/{row.id}/{tx.now}", {"id": row.id})])


def session_over(tx: Transaction, id: str) -> None:
    """A session has ended and all that it said is taken in; whoever ended the consult before has decided."""
    row = get_locked(tx, id)
    if row.status != ConsultStatus.RUNNING or row.by_advisor or is_alive(tx, id):
        return
    if row.complete:
        _completed(tx, row)
        return
    run, session = runs.find(tx.connection, id), rows.get(tx.connection, sessions, id, "session")
    why = (run.trouble if run is not None else None) or session.close_reason or session.lifecycle
    model_failed(tx, row, f"the session of {row.agent_type} ended before the summary came ({why})")


def _used(tx: Transaction, row: Row[Any], _draft: Draft) -> None:
    reserved = rows.find(tx.connection, reservations.reservations, row.id)
    too_much = None if reserved is None else over_cap(reserved.cap_micros, usage_of(tx, row))
    if too_much is not None and not row.by_advisor:
        model_failed(tx, row, f"{row.agent_type} was stopped: {too_much}")


def _settle_again(tx: Transaction, row: Row[Any]) -> None:
    """A client may tell what a turn took after the consult's end: the sums are made right, as often as it does."""
    used = usage_of(tx, row)
    same = (row.tokens_in, row.tokens_out, row.cost_micros) == (used.tokens_in, used.tokens_out, used.cost_micros)
    if row.agent_type is None or same:
        return
    reservations.settle_again(tx, row.id, used)
    values = {"tokens_in": used.tokens_in, "tokens_out": used.tokens_out, "cost_micros": used.cost_micros}
    told = msgspec.to_builtins(consults.summary(change(tx, row, **values, unrecorded=True)))
    tx.emit(Draft("consult.settled", told, ref=row.id))
    audit.record(tx, "consult.settled", row.id, told)


_APPLY: dict[str, Callable[[Transaction, Row[Any], Draft], None]] = {
    "skill_output_emitted": _output,
    "usage_reported": _used,
    "turn_ended": _turn_ended,
    "session_transition": _session_moved,
}


# ---- lines -----------------------------------------------------------------------------------------------------------


def receive(tx: Transaction, row: Row[Any], frame_id: str, skill_id: str, lines: Any) -> Row[Any]:
    """Take one output in, once; the row as it is then."""
    if row.outputs >= MOST_OUTPUTS:
        return row
    output = {
        "frame_id": frame_id,
        "consult_id": row.id,
        "number": row.outputs + 1,
        "skill_id": storable(skill_id),
        "lines": consults.as_json(lines),
        "set_aside": None,
    }
    if not tx.insert_new(consults.outputs, [output], "frame_id"):
        return row
    return _judge_again(tx, row, outputs=row.outputs + 1)


def _judge_again(tx: Transaction, row: Row[Any], **values: Any) -> Row[Any]:
    judge = consults.judged(tx.connection, row)
    before = row.line_count if len(judge.validated) >= row.line_count else 0
    told = {
        "first_idx": before,
        "lines": msgspec.to_builtins(judge.validated[before:]),
        "line_count": len(judge.validated),
        "line_error_count": len(judge.line_errors),
    }
    tx.emit(Draft("consult.lines", told, ref=row.id))
    return change(tx, row, **consults.verdicts(judge), **values)


def _completed(tx: Transaction, row: Row[Any]) -> None:
    """All lines are in: it ends well, unless the skill's expert can make nothing of them as a whole."""
    found = [] if row.by_advisor else _faults(tx, row, consults.judged(tx.connection, row))
    if not found:
        finish(tx, row, "completed")
        return
    more = f" (and {len(found) - _MOST_TOLD} more)" if len(found) > _MOST_TOLD else ""
    reasons = "; ".join(each.reason for each in found[:_MOST_TOLD])
    model_failed(tx, row, f"what {row.agent_type} proposed was refused: {reasons}{more}")


def _faults(tx: Transaction, row: Row[Any], judge: Judge[Any]) -> list[OrderError]:
    """Of lines as a whole, by the rules that were handed in for the skill, and then also by its own."""
    expert = experts_in(tx.surroundings).get(row.skill_id)
    if expert is None or expert.faults is None:
        return []
    return [*judge.finish(), *expert.faults(consults.given_of(row), judge.validated)]


def model_failed(tx: Transaction, row: Row[Any], why: str) -> None:
    """The built-in advisor takes over where it can; else the consult has failed."""
    if not has_advisor(row.skill_id, tx.surroundings) or consults.applied_places(tx.connection, row.id):
        finish(tx, row, "failed", why)
        return
    _stop_session(tx, row)
    of_consult = consults.outputs.c.consult_id == row.id
    tx.connection.execute(update(consults.outputs).where(of_consult).values(set_aside=f"{why}; {_INSTEAD}"))
    _judge_again(tx, row, by_advisor=True, error=storable(f"{why}; {_INSTEAD}"))
    want_advice(tx, row.id)


def want_advice(tx: Transaction, id: str) -> None:
    wanted.want(tx, ADVISE, [Call(f"{ADVISE}/{id}", {"id": id})])


def give_advice(tx: Transaction, id: str, lines: list[Any]) -> bool:
    """The built-in advisor's lines, and the end; False where the consult is over already."""
    row = get_locked(tx, id)
    if row.status != ConsultStatus.RUNNING or not row.by_advisor:
        return False
    row = receive(tx, row, f"{id}/advice", row.skill_id, lines)
    finish(tx, row, "completed", row.error)
    return True


def no_advice(tx: Transaction, id: str, why: str) -> bool:
    """The built-in advisor has no answer to this input either; False where the consult is over already."""
    row = get_locked(tx, id)
    if row.status != ConsultStatus.RUNNING or not row.by_advisor:
        return False
    finish(tx, row, "failed", why if row.error is None else f"{row.error}, and it could not: {why}")
    return True


# ---- the end ---------------------------------------------------------------------------------------------------------


def finish(tx: Transaction, row: Row[Any], event: str, error: str | None = None) -> Row[Any]:
    """End a consult that runs: its session is stopped, what it took is settled, and what is missing is said."""
    status = CONSULT.after(ConsultStatus(row.status), event)
    _stop_session(tx, row)
    judge = consults.judged(tx.connection, row)
    used = usage_of(tx, row)._replace(model=_model_in(row, judge.validated))
    reservations.settle(tx, row.id, used)
    row = change(
        tx,
        row,
        status=status,
        ended_at=tx.now,
        unrecorded=True,
        error=None if error is None else storable(error),
        order_errors=consults.as_json(judge.finish()),
        model=used.model,
        tokens_in=used.tokens_in,
        tokens_out=used.tokens_out,
        cost_micros=used.cost_micros,
    )
    told = msgspec.to_builtins(consults.summary(row))
    tx.emit(Draft("consult.finished", told, ref=row.id))
    audit.record(tx, "consult.finished", row.id, told)
    persona = tx.surroundings["personas"].by_id.get(row.persona_id)
    # What another one answered in its place is not its own.
    if status is ConsultStatus.COMPLETED and error is None and persona is not None and acts_alone(persona):
        wanted.want(tx, ACT, [Call(f"{ACT}/{row.id}", {"id": row.id})])
    return row


def time_out(tx: Transaction, id: str) -> None:
    """It took longer than it may; whoever ended it before has decided."""
    row = get_locked(tx, id)
    if row.status == ConsultStatus.RUNNING:
        seconds = (row.due_at - row.started_at) / 1_000_000
        finish(tx, row, "timed_out", f"no summary came within {seconds:,.0f} seconds")


def usage_of(tx: Transaction, row: Row[Any]) -> Usage:
    """What its session took, as far as its client says. The built-in advisor alone costs nothing."""
    if row.agent_type is None:
        return Usage(cost_micros=0)
    session = rows.find(tx.connection, sessions, row.id)
    if session is None:
        return Usage()
    return Usage(None, session.tokens_in or 0, session.tokens_out or 0, session.cost_usd_micros)


def _model_in(row: Row[Any], lines: Sequence[msgspec.Struct]) -> str | None:
    """As the strategy names it."""
    if row.by_advisor:
        return MODEL
    said = getattr(lines[0], "model", None) if lines else None
    return storable(said)[:200] if isinstance(said, str) and said else None


def _stop_session(tx: Transaction, row: Row[Any]) -> None:
    if row.agent_type is not None and runs.find(tx.connection, row.id) is not None:
        starting.stop_session(tx, Nothing(), id=row.id)
