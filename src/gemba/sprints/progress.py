"""Whether all that is used brings anything about: the tokens since an item was last handed in or finished.

For those who pay by the month there is no money to count; that much is used and nothing comes of it is what shows that
something is wrong. Past the cap of the workspace's settings new work is held, and a person is asked once; an item that
is handed in or finished, or a person who says to go on, begins the count anew. Called where usage is taken in, before
an item's state changes, and where the card is answered.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, Row, select, update

from gemba.config import CapSettings
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations, locked
from gemba.escalations.store import settle as settle_card
from gemba.sprints.burning import HOLD, RAISER, STOP_KIND
from gemba.sprints.tables import progress
from gemba.store.database import Transaction
from gemba.work.item import State
from gemba.work.items import WorkRow

GO_ON: Final = "go on"
_ID: Final = "workspace"
_BROUGHT = frozenset({State.REVIEW, State.DONE})


def since_progress(connection: Connection) -> int:
    """Tokens that were used since something came of it."""
    return connection.execute(select(progress.c.tokens).where(progress.c.id == _ID)).scalar() or 0


def use(tx: Transaction, tokens: int) -> None:
    """So many more; a person is asked when that is too much."""
    tx.add(progress, [{"id": _ID, "tokens": tokens, "since": 0}])
    most = caps_of(tx).no_progress_tokens
    row = _row(tx)
    if row is None:
        return
    if not most or row.tokens < most:
        _take_back(tx, row, "the cap has room again")
    elif row.card is None:
        _ask(tx, row.tokens, most)


def _ask(tx: Transaction, used: int, most: int) -> None:
    text = (
        f"{used:,} tokens were used since an item was last handed in or finished; the workspace's cap is {most:,} "
        f"(no_progress_tokens of [caps]). Nothing new is begun, and what runs goes on.\n\n"
        f"{GO_ON}: it is counted anew from now on.\n{HOLD}: leave it as it is, until an item is handed in or finished."
    )
    card = raise_escalation(
        tx,
        STOP_KIND,
        text,
        session_id=RAISER,
        agent_type=RAISER,
        title="Much is used, and no item gets done",
        options=(GO_ON, HOLD),
        waiting=False,
    )
    tx.connection.execute(update(progress).where(progress.c.id == _ID).values(card=card))


def notice(tx: Transaction, _item: WorkRow, target: State) -> None:
    """An item changes its state: as a guard that lets everything through."""
    if target not in _BROUGHT:
        return
    row = _row(tx)
    if row is not None:
        _take_back(tx, row, "an item was handed in or finished")
        _anew(tx)


def is_asked(tx: Transaction, card_id: str) -> bool:
    row = _row(tx)
    return row is not None and row.card == card_id


def carry_out(tx: Transaction, action: str | None) -> None:
    if action == GO_ON:
        _anew(tx)


def caps_of(tx: Transaction) -> CapSettings:
    caps: CapSettings = tx.surroundings.get("caps", CapSettings())
    return caps


def _take_back(tx: Transaction, row: Row[Any], why: str) -> None:
    if row.card is not None:
        for card in locked(tx, escalations.c.id == row.card, ~escalations.c.resolved):
            settle_card(tx, card, "withdrawn", Reply("withdrawn", why, "policy"))
        tx.connection.execute(update(progress).where(progress.c.id == _ID).values(card=None))


def _anew(tx: Transaction) -> None:
    tx.connection.execute(update(progress).where(progress.c.id == _ID).values(tokens=0, since=tx.now, card=None))


def _row(tx: Transaction) -> Row[Any] | None:
    return tx.connection.execute(select(progress).where(progress.c.id == _ID).with_for_update()).first()
