"""An envelope comes back: judged, kept once, and accepted, refused, or first compared with the world.

One transaction, with the dispatch locked: of many envelopes for one dispatch each is decided after the other, on what
the one before it left. The same envelope of the same turn is the row that there is, unless that was refused: then it is
judged anew, since the dispatch or the world may have changed, and counts as a repetition where they have not. What is
to be checked is `checking` until a flow concludes it, and nothing else of its dispatch is taken meanwhile.

An agent may hand over by itself, and then the hook of its client tells of the same end of the turn once more. That
frame is the same handoff also when it comes after the next turn has begun: it ends no turn but its own. Each handoff
is told of by a hook once, so an agent that ends a later turn in the very same words is heard.

Called by the API, the command line, the MCP tool (`submit`), and for the frames of the hooks (`handoff_frames`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Row, select

from gemba import clock, wire
from gemba.action import Action, Id
from gemba.errors import Conflict, Invalid
from gemba.escalations import accepting, refusing
from gemba.event import Draft
from gemba.flows import wanted
from gemba.handoff import dispatches, handoffs, status
from gemba.handoff.check import Check, GatePolicy
from gemba.handoff.check import refusals as refused_checks
from gemba.handoff.document import content_hash, kept
from gemba.handoff.handoffs import Handoff, HandoffState, Refusal, Source, view
from gemba.handoff.status import PlanStatus
from gemba.handoff.verdict import Verdict, read, to_dict
from gemba.store.database import Transaction

FLOW = "handoff_check"
_REST = 10 * clock.SECOND  # for which the check of one that somebody waits for is left to that one


class Submit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The end of a turn: its text with the block in it, or the envelope itself. `strict` refuses unknown fields.

    As a `gate` a client's hook asks before it lets the turn end; what it lets end comes as a frame, too.
    """

    text: str | None = None
    envelope: Any = msgspec.UNSET
    dispatch_id: Id | None = None
    session_id: Id | None = None
    agent_id: Id | None = None
    strict: bool = False
    source: Literal["api", "cli", "gate", "mcp"] = "api"


class Turn(NamedTuple):
    """What was handed over, by whom; a `dispatch` is locked, `aside` is a subagent that speaks for itself alone."""

    words: object  # the text, or the decoded envelope
    source: Source
    dispatch: Row[Any] | None = None
    session_id: str | None = None
    agent_id: str | None = None
    event: str | None = None
    strict: bool = False
    aside: bool = False
    spent: Sequence[str] | None = None  # codes with which a hook let it end


def submit(tx: Transaction, body: Submit) -> Handoff:
    """Hand over the end of a turn; what became of it, refusals included."""
    if (body.text is None) == (body.envelope is msgspec.UNSET):
        raise Invalid(
            "a handoff is either a text or an envelope; exactly one of them must be given",
            code="missing_field",
            pointer="/text",
            allowed=["text", "envelope"],
        )
    turn = Turn(
        words=body.envelope if body.text is None else body.text,
        source=body.source,
        dispatch=None if body.dispatch_id is None else dispatches.get_locked(tx, body.dispatch_id),
        session_id=body.session_id,
        agent_id=body.agent_id,
        strict=body.strict,
    )
    return view(hand_over(tx, turn))


ACTIONS = (Action("/api/handoffs", submit, Submit, Handoff, "Hand over the end of a turn: what became of it"),)


def hand_over(tx: Transaction, turn: Turn) -> Row[Any]:
    """The handoff as it is then. A Conflict, and nothing changed, while another one of its dispatch is checked."""
    dispatch = None if turn.aside else turn.dispatch
    given = None if dispatch is None else dispatches.envelope_of(dispatch)
    verdict, document = read(turn.words, given, strict=turn.strict)
    document = None if document is None else kept(document)
    content = content_hash(document, turn.words if isinstance(turn.words, str) else _json(kept(turn.words)))
    if (late := _of_a_turn_before(tx, turn, content)) is not None:
        return _heard_of(tx, turn, late)
    turn = _with_session(tx, turn)
    dispatch = None if turn.aside else turn.dispatch
    row, is_new = _keep(tx, turn, verdict, document, content)
    if not is_new:
        row = _heard_of(tx, turn, row)
        if row.state != HandoffState.REFUSED:
            return row
    if turn.spent is not None or not verdict.valid:
        return refusing.by_verdict(tx, row, dispatch, verdict, spent=turn.spent)
    return accepting.accept(tx, row) if dispatch is None else _decide(tx, row, dispatch)


def conclude(tx: Transaction, id: str, since: int, checks: Sequence[Check], trouble: str | None = None) -> bool:
    """The world was asked: accept or refuse, once; whether this accepts it. `trouble` is why it could not be asked,
    which accepts nothing."""
    dispatch = dispatches.get_locked(tx, handoffs.get(tx.connection, id).dispatch_id)
    row = handoffs.get_locked(tx, id)
    if not is_waiting(row, since):
        return False
    failed = refused_checks(checks, dispatches.policy_of(dispatch))
    if trouble is not None:
        failed = [*failed, Check("internal", "COMPLETE", trouble, "failed")]
    progress = status.decide(dispatches.progress_of(dispatch), row.plan_status)
    if dispatch.turn != row.turn:
        message = f"turn {row.turn} of the dispatch is over: it is in turn {dispatch.turn}"
        refusing.by_status(tx, row, dispatch, Refusal("turn_over", message))
    elif isinstance(progress, status.Refusal):
        refusing.by_status(tx, row, dispatch, Refusal(*progress))
    elif failed:
        refusing.by_world(tx, row, dispatch, [*checks, *(one for one in failed if one not in checks)], failed)
    else:
        accepting.accept(tx, row, dispatch, progress, list(checks))
        return True
    return False


def is_waiting(row: Row[Any] | None, since: int) -> bool:
    """Whether it is still being checked, and this is the check."""
    return row is not None and row.state == HandoffState.CHECKING and row.judged_at == since


# ---- one after the other --------------------------------------------------------------------------------------------


def _with_session(tx: Transaction, turn: Turn) -> Turn:
    """A dispatch's session is the one that spoke last: a client may take the work on from another."""
    dispatch = turn.dispatch
    if dispatch is None or turn.aside:
        return turn
    if turn.session_id not in (None, dispatch.session_id):
        dispatch = dispatches.save(tx, dispatch, dispatches.progress_of(dispatch), session_id=turn.session_id)
    return turn._replace(dispatch=dispatch, session_id=turn.session_id or dispatch.session_id)


def _of_a_turn_before(tx: Transaction, turn: Turn, content: str) -> Row[Any] | None:
    """The handoff of an earlier turn that was accepted as its agent sent it, and that a hook tells of only now."""
    dispatch = turn.dispatch
    if turn.source != "hook" or dispatch is None or turn.aside or dispatch.turn <= 1:
        return None
    known = handoffs.handoffs.c
    of_dispatch = (known.dispatch_id == dispatch.id, known.turn < dispatch.turn, known.content_hash == content)
    untold = select(handoffs.handoffs).where(*of_dispatch, known.state == HandoffState.ACCEPTED, known.event.is_(None))
    return tx.connection.execute(untold.order_by(known.turn.desc()).limit(1)).first()


def _heard_of(tx: Transaction, turn: Turn, row: Row[Any]) -> Row[Any]:
    """The handoff, with the event of the hook that told of it."""
    if turn.source != "hook" or turn.event is None or row.event is not None:
        return row
    return handoffs.change(tx, row.id, event=turn.event)


def _keep(
    tx: Transaction, turn: Turn, verdict: Verdict, document: dict[str, Any] | None, content: str
) -> tuple[Row[Any], bool]:
    """Its row, and whether it is new. What comes again after a refusal is kept with the verdict of now."""
    dispatch = turn.dispatch
    key = handoffs.key_of(
        content,
        dispatch=None if dispatch is None else (dispatch.id, dispatch.turn),
        session_id=turn.session_id,
        aside=(turn.agent_id or "") if turn.aside else None,
    )
    judged = {"verdict": _json(kept(to_dict(verdict))), "plan_status": verdict.plan_status, "judged_at": tx.now}
    known = handoffs.of_key(tx.connection, key)
    if known is not None and known.state != HandoffState.REFUSED:
        return known, False
    _refuse_while_another_is_checked(tx, turn, verdict)
    if known is not None:
        return handoffs.change(tx, known.id, **judged), False
    row: dict[str, Any] = {
        "id": wire.new_event_id(),
        "key": key,
        "dispatch_id": None if dispatch is None else dispatch.id,
        "session_id": turn.session_id,
        "agent_id": turn.agent_id or (None if dispatch is None else dispatch.agent_id) or _own_name(document),
        "turn": None if dispatch is None or turn.aside else dispatch.turn,
        "source": turn.source,
        "event": turn.event,
        "content_hash": content,
        "document": None if document is None else _json(document),
        "state": HandoffState.CHECKING,
        "checks": "[]",
        "told": "",
        "applied": "{}",
        "summary": accepting.summary_of(document),
        "created_at": tx.now,
        **judged,
    }
    if tx.insert_new(handoffs.handoffs, [row], "key"):
        return handoffs.get(tx.connection, row["id"]), True
    return _keep(tx, turn, verdict, document, content)  # somebody else was first, and is found now


def _refuse_while_another_is_checked(tx: Transaction, turn: Turn, verdict: Verdict) -> None:
    if turn.dispatch is None or turn.aside or not verdict.valid:
        return
    other = handoffs.checking(tx.connection, turn.dispatch.id)
    if other is not None:
        raise Conflict(
            f"handoff {other.id} of this dispatch is being checked; allowed: another one once that is concluded",
            code="already_checking",
            found=other.id,
        )


def _decide(tx: Transaction, row: Row[Any], dispatch: Row[Any]) -> Row[Any]:
    progress = status.decide(dispatches.progress_of(dispatch), row.plan_status)
    if isinstance(progress, status.Refusal):
        return refusing.by_status(tx, row, dispatch, Refusal(*progress))
    if progress.status is PlanStatus.COMPLETE and _asks_the_world(dispatches.policy_of(dispatch)):
        return _check(tx, row, dispatch)
    return accepting.accept(tx, row, dispatch, progress)


def _check(tx: Transaction, row: Row[Any], dispatch: Row[Any]) -> Row[Any]:
    """Have a flow compare it with the world, in the home that has the dispatch's folder. Where somebody waits there for
    the end of this very turn, that one does so at once, and the flow only if it did not; what runs commands again may
    take minutes, and is the flow's alone."""
    anew = {"refused_by": None, "refusal": None, "told": "", "concluded_at": None, "checks": "[]"}
    is_new = row.state == HandoffState.CHECKING  # and has nothing of an earlier check
    checked = row if is_new else handoffs.change(tx, row.id, state=HandoffState.CHECKING, **anew)
    call = wanted.Call(flow_of(row), {"id": row.id, "since": row.judged_at})
    checkers = tx.surroundings.get("turn_checkers", ())
    is_quick = not _runs_commands(dispatches.policy_of(dispatch))
    rest = _REST if is_quick and any(checks(tx, dispatch) for checks in checkers) else 0
    wanted.want(tx, FLOW, [call], origin=dispatch.origin, rest=rest)
    said = {"dispatch_id": row.dispatch_id, "turn": row.turn}
    tx.emit(Draft("handoff.checking", said, row.session_id, row.id))
    return checked


def flow_of(row: Row[Any]) -> str:
    """The id of the flow that checks a handoff, as it was judged last."""
    return f"{FLOW}/{row.id}/{row.judged_at}"


def _runs_commands(policy: GatePolicy) -> bool:
    return policy.rerun_verification != "off" or policy.rerun_commands != "off"


def _asks_the_world(policy: GatePolicy) -> bool:
    return any(getattr(policy, name) != "off" for name in GatePolicy.__struct_fields__)


def _own_name(document: dict[str, Any] | None) -> str | None:
    said = (document or {}).get("agent_status")
    name = said.get("agent_id") if isinstance(said, dict) else None
    return name[: wire.MAX_ID] if isinstance(name, str) and name else None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
