"""What becomes of a sprint's budget: it is used, thresholds are passed, and a person is asked.

Passing a threshold is decided and told in the transaction of what passes it: what a turn took, or another budget. Its
row is locked meanwhile, so that each is passed once, however many turns come in at the same time. `inform` is an event
alone, `warn` an advisory card, `stop` a blocking one; the last holds new work back (`holds`) until the budget is raised
or the sprint is closed, which takes the cards back. What a person chooses on a card is done in the transaction of the
answer. Called where usage is taken in, by the verbs of `planning`, and where a card is answered.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, select, update

from gemba.errors import Conflict, Invalid
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations, locked
from gemba.escalations.store import settle as settle_card
from gemba.event import Draft
from gemba.handoff import audit
from gemba.sprints import store
from gemba.sprints.sprint import BIGGEST, Level, SprintState, fallen_below, level_of, passed
from gemba.sprints.store import thresholds_of
from gemba.sprints.tables import sprints
from gemba.store.database import Transaction

WARN_KIND: Final = "budget_warn"
STOP_KIND: Final = "budget_stop"
RAISER: Final = "gemba"  # who such a card is from, in the place of a session
NOTED, RAISE, HOLD, CLOSE = "noted", "raise", "hold", "close"

_NUMBER = re.compile(r"\d{1,3}(?:[ ,_']?\d{3})*|\d+")
_COLUMNS: Final = {Level.WARN: "warn_card", Level.STOP: "stop_card"}


def use(tx: Transaction, sprint_id: str, tokens: int) -> None:
    """So many more tokens of a sprint's budget are used."""
    mine = update(sprints).where(sprints.c.id == sprint_id)
    tx.connection.execute(mine.values(tokens_used=sprints.c.tokens_used + tokens))
    settle(tx, store.get_locked(tx, sprint_id))


def settle(tx: Transaction, row: Row[Any]) -> Row[Any]:
    """Bring a sprint's level up to date: tell of what is passed, and take back what no longer is. Nothing is passed by
    one that does not run."""
    if row.state != SprintState.RUNNING:
        return row
    before = Level(row.level)
    now = level_of(row.tokens_used, row.token_budget, thresholds_of(row))
    if before is now:
        return row
    values: dict[str, Any] = {"level": now}
    for level in fallen_below(before, now):
        values |= take_back(tx, row, level, "the budget has room again")
    for level in passed(before, now):
        values |= _pass(tx, row, level, row.passes + 1)
        values["passes"] = row.passes + 1
    tx.connection.execute(update(sprints).where(sprints.c.id == row.id).values(values))
    return store.get(tx.connection, row.id)


def take_back(tx: Transaction, row: Row[Any], level: Level, why: str) -> dict[str, Any]:
    """Withdraw the card of a threshold, where it waits; what that changes of the sprint's row."""
    column = _COLUMNS.get(level)
    if column is None:
        return {}
    id = getattr(row, column)
    if id is not None:
        for card in locked(tx, escalations.c.id == id, ~escalations.c.resolved):
            settle_card(tx, card, "withdrawn", Reply("withdrawn", why, "policy"))
    return {column: None}


def _pass(tx: Transaction, row: Row[Any], level: Level, number: int) -> dict[str, Any]:
    share = getattr(thresholds_of(row), level)
    facts = {
        "sprint_id": row.id,
        "level": level,
        "threshold": share,
        "tokens_used": row.tokens_used,
        "token_budget": row.token_budget,
    }
    column = _COLUMNS.get(level)
    card = None if column is None else _ask(tx, row, level, number)
    tx.emit(Draft("sprint.burnt", {**facts, "escalation_id": card}, ref=row.id))
    return {} if column is None else {column: card}


def _ask(tx: Transaction, row: Row[Any], level: Level, number: int) -> str:
    share = getattr(thresholds_of(row), level)
    used = f"{row.tokens_used:,} of {row.token_budget:,} tokens"
    if level is Level.STOP:
        kind: Any = STOP_KIND
        options: tuple[str, ...] = (RAISE, HOLD, CLOSE)
        text = (
            f"{row.id} ({row.title}) has used {used}, and stops at {share:.0%}: nothing new is begun, and "
            "what runs goes on.\n\n"
            f"{RAISE}: give the new budget in tokens as the text; what was held goes on when it has room.\n"
            f"{HOLD}: leave it as it is; nothing new is begun until the budget is raised or the sprint is closed.\n"
            f"{CLOSE}: the sprint is over; nothing is held any more."
        )
    else:
        kind = WARN_KIND
        text = (
            f"{row.id} ({row.title}) has used {used}, which is past {share:.0%}. At {row.stop:.0%} nothing "
            f"new is begun.\n\n{RAISE}: give the new budget in tokens as the text."
        )
        options = (NOTED, RAISE)
    return raise_escalation(
        tx,
        kind,
        text,
        id=_card_id(row.id, level, number),
        session_id=RAISER,
        agent_type=RAISER,
        title=f"{row.id}: {_percent(row)} of its budget is used",
        options=options,
        waiting=False,
    )


def _percent(row: Row[Any]) -> str:
    return f"{row.tokens_used * 100 // row.token_budget} %"


def _card_id(*parts: object) -> str:
    """The same for the same passing: were it told twice, the second card could not be made."""
    text = "\0".join(map(str, parts))
    return str(UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4))


# ---- the card --------------------------------------------------------------------------------------------------------


def judge_answer(reply: Reply) -> None:
    if reply.action == RAISE:
        read_budget(reply.text)


def read_budget(text: str) -> int:
    """A whole number of tokens, as a person writes one."""
    words = text.strip()
    found = int(re.sub(r"\D", "", words)) if _NUMBER.fullmatch(words) else 0
    if not 1 <= found <= BIGGEST:
        allowed = f"a whole number of tokens, 1 to {BIGGEST:,}"
        raise Invalid(
            f"the new budget is {words[:40]!r}; allowed: {allowed}, such as 1,500,000",
            code="invalid_value",
            pointer="/text",
            found=words[:40],
            allowed=allowed,
        )
    return found


def find_asked(tx: Transaction, card_id: str) -> Row[Any] | None:
    """The sprint that a card is about, locked."""
    mine = (sprints.c.warn_card == card_id) | (sprints.c.stop_card == card_id)
    return tx.connection.execute(select(sprints).where(mine).with_for_update()).first()


def answered(tx: Transaction, row: Row[Any], card_id: str) -> Row[Any]:
    """The card is a person's now: nothing takes it back any more."""
    columns = {column: None for column in _COLUMNS.values() if getattr(row, column) == card_id}
    tx.connection.execute(update(sprints).where(sprints.c.id == row.id).values(columns))
    return store.get(tx.connection, row.id)


def raise_budget(tx: Transaction, row: Row[Any], budget: int) -> Row[Any]:
    """From a card: it has to grow, and where new work is held, so far that it is held no more."""
    least = row.token_budget + 1
    if store.is_held(row):
        least = max(least, int(row.tokens_used / row.stop) + 1)
    if budget < least:
        raise Conflict(
            f"the new budget is {budget:,}; {row.id} has {row.token_budget:,} and used {row.tokens_used:,}; "
            f"allowed: at least {least:,}",
            code="budget_too_small",
            pointer="/text",
            found=budget,
            allowed=f"at least {least:,}",
        )
    store.record(tx, row.id, "changed", {"token_budget": row.token_budget}, {"token_budget": budget})
    audit.record(tx, "sprint.changed", row.id, {"token_budget": [row.token_budget, budget]})
    row = settle(tx, store.change(tx, row, token_budget=budget))
    tx.emit(Draft("sprint.changed", store.told(tx, row, ["token_budget"]), ref=row.id))
    return row
