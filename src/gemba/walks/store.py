"""Rows of walks: read, said, moved, and shown. Who has a walk `locked` is alone with it.

Called by the verbs of walks and by what reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, insert, select, update

from gemba import clock, typed, wire
from gemba.errors import Conflict
from gemba.event import Draft
from gemba.personas import consults
from gemba.personas.persona import MICROS
from gemba.store import events, rows
from gemba.store.database import Transaction
from gemba.text import storable
from gemba.walks import sources
from gemba.walks.facts import frame
from gemba.walks.sources import Found
from gemba.walks.tables import agenda, transcript, walks
from gemba.walks.walk import (
    ITEM,
    MOST_ITEMS,
    UNDECIDED,
    WALK,
    AgendaItem,
    Decision,
    Framing,
    ItemStatus,
    Said,
    Source,
    SourceKind,
    Speaker,
    Totals,
    WalkDetail,
    WalkStatus,
    WalkSummary,
)
from gemba.work.item import Cause

_framing = typed.decoder(Framing)
_decision = typed.decoder(Decision)


# ---- rows ------------------------------------------------------------------------------------------------------------


def slot(operator: str, workspace: str) -> str:
    """Whose open walk it is: an operator has one at most in a workspace."""
    return storable(f"{operator}\n{workspace}")


def get(connection: Connection, id: str) -> Row[Any]:
    return rows.get(connection, walks, id, "walk")


def locked(tx: Transaction, id: str, *, active: bool = True) -> Row[Any]:
    """A walk for a change; with `active` one that is not, is refused. What follows in the transaction is the walk's."""
    row = rows.get_locked(tx, walks, id, "walk")
    if active and row.status != WalkStatus.ACTIVE:
        raise Conflict(
            f"the walk is {row.status}: {_WAY_BACK.get(row.status, 'it is over, and stays as it is')}",
            code="walk_not_active",
            found=str(row.status),
            allowed=str(WalkStatus.ACTIVE),
        )
    tx.cause = Cause("walk", id)
    return row


_WAY_BACK = {WalkStatus.PAUSED: "resume it first"}


def items_of(connection: Connection, walk_id: str) -> Sequence[Row[Any]]:
    return connection.execute(select(agenda).where(agenda.c.walk_id == walk_id).order_by(agenda.c.place)).all()


def item(connection: Connection, walk_id: str, id: str) -> Row[Any]:
    row = rows.get(connection, agenda, id, "agenda item")
    if row.walk_id != walk_id:
        return rows.get(connection, agenda, "", "agenda item")  # which is refused, as one that is not there
    return row


def on_the_table(connection: Connection, walk_id: str, id: str | None = None) -> Row[Any] | None:
    """The item that is meant: the one of this id, else the one that is on the table; None when there is none."""
    if id is not None:
        return item(connection, walk_id, id)
    active = (agenda.c.walk_id == walk_id, agenda.c.status == ItemStatus.ACTIVE)
    return connection.execute(select(agenda).where(*active).order_by(agenda.c.place)).first()


def walked(row: Row[Any], now: int) -> int:
    """Microseconds without its pauses; a clock that was set back takes nothing away."""
    since: int | None = row.walking_since
    before: int = row.walked
    return before if since is None else before + max(0, now - since)


def change(tx: Transaction, id: str, **values: Any) -> None:
    tx.connection.execute(update(walks).where(walks.c.id == id).values(changed_at=tx.now, **values))


def move(tx: Transaction, row: Row[Any], event: str, **values: Any) -> None:
    status = WALK.after(WalkStatus(row.status), event)
    change(tx, row.id, status=status, **values)


def change_item(tx: Transaction, id: str, **values: Any) -> None:
    tx.connection.execute(update(agenda).where(agenda.c.id == id).values(**values))


def move_item(tx: Transaction, row: Row[Any], event: str, **values: Any) -> None:
    change_item(tx, row.id, status=ITEM.after(ItemStatus(row.status), event), **values)


def say(
    tx: Transaction,
    walk_id: str,
    speaker: Speaker,
    who: str,
    text: str,
    item_id: str | None = None,
    consult_id: str | None = None,
) -> int:
    """One more line of the transcript; its number."""
    next_one = update(walks).where(walks.c.id == walk_id).values(said=walks.c.said + 1, changed_at=tx.now)
    number: int = tx.connection.execute(next_one.returning(walks.c.said)).scalar_one()
    line = {
        "walk_id": walk_id,
        "number": number,
        "at": tx.now,
        "speaker": speaker,
        "who": who,
        "item_id": item_id,
        "text": storable(text),
        "consult_id": consult_id,
    }
    tx.connection.execute(insert(transcript), line)
    return number


def tell_of_walk(tx: Transaction, name: str, walk_id: str, **told: Any) -> None:
    tx.emit(Draft(name, {**told, "by": tx.actor}, ref=walk_id))


# ---- the agenda ------------------------------------------------------------------------------------------------------


def add(tx: Transaction, walk_id: str, found: Iterable[Found]) -> list[str]:
    """Put what is not there yet at the end of the agenda, as it comes; the ids of what was added."""
    known = items_of(tx.connection, walk_id)
    there = {(row.kind, row.ref) for row in known}
    fresh = [one for one in found if (one.kind, one.ref) not in there][: max(0, MOST_ITEMS - len(known))]
    last = max((row.place for row in known), default=0)
    made: list[dict[str, Any]] = [
        {
            "id": wire.new_event_id(),
            "walk_id": walk_id,
            "kind": one.kind,
            "ref": one.ref,
            "worker": one.worker,
            "topic": storable(one.topic),
            "priority": one.priority,
            "place": last + number,
            "since": one.since,
            "status": ItemStatus.QUEUED,
            "framing": None,
            "decision": None,
        }
        for number, one in enumerate(fresh, 1)
    ]
    if made:
        tx.insert_many(agenda, made)
    return [row["id"] for row in made]


def put_in_order(tx: Transaction, ordered: Sequence[Row[Any]]) -> None:
    """Give the items of an agenda these places."""
    for place, row in enumerate(ordered, 1):
        if row.place != place:
            change_item(tx, row.id, place=place)


def settle_elsewhere(tx: Transaction, walk_id: str, rows_: Sequence[Row[Any]]) -> set[str]:
    """Items whose source was settled by somebody else are dismissed, and the transcript says so; their ids."""
    waiting = [row for row in rows_ if row.status in UNDECIDED]
    how = sources.settled(tx.connection, [(row.kind, row.ref) for row in waiting])
    gone = [row for row in waiting if (row.kind, row.ref) in how and not _is_put_off(row)]
    for row in gone:
        move_item(tx, row, "settled elsewhere")
        say(tx, walk_id, "walk", "", f"Settled elsewhere: {row.topic}: {how[row.kind, row.ref]}", row.id)
    return {row.id for row in gone}


def _is_put_off(row: Row[Any]) -> bool:
    return bool(row.status == ItemStatus.DEFERRED)


def take_up_next(tx: Transaction, walk: Row[Any], after: int = 0) -> Row[Any] | None:
    """Put the next item that waits on the table, behind a place and then from the front; None when there is none."""
    known = items_of(tx.connection, walk.id)
    gone = settle_elsewhere(tx, walk.id, known)
    queued = [row for row in known if row.status == ItemStatus.QUEUED and row.id not in gone]
    for row in known:
        if row.status == ItemStatus.ACTIVE and row.id not in gone:
            move_item(tx, row, "put back")
    chosen = next((row for row in queued if row.place > after), queued[0] if queued else None)
    if chosen is None:
        chosen = next((row for row in known if row.status == ItemStatus.ACTIVE and row.id not in gone), None)
        if chosen is not None:
            chosen = item(tx.connection, walk.id, chosen.id)
    return None if chosen is None else take_up(tx, walk, chosen)


def take_up(tx: Transaction, walk: Row[Any], row: Row[Any]) -> Row[Any]:
    """Put an item on the table, with what the project manager says of it now."""
    said = frame(tx.connection, SourceKind(row.kind), row.ref, row.topic, walk.origin)
    move_item(tx, row, "taken up", framing=_json(said))
    say(tx, walk.id, "manager", walk.persona_id, spoken(said), row.id)
    return item(tx.connection, walk.id, row.id)


def spoken(said: Framing) -> str:
    """A framing as the transcript has it."""
    numbered = [f"{number}) {action.label}" for number, action in enumerate(said.actions, 1)]
    return "\n".join(part for part in (said.sentence, said.summary, *numbered) if part)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def framing_of(row: Row[Any]) -> Framing | None:
    return None if row.framing is None else _framing.decode(row.framing)


def decision_of(row: Row[Any]) -> Decision | None:
    return None if row.decision is None else _decision.decode(row.decision)


def keep_decision(tx: Transaction, row: Row[Any], event: str, decision: Decision) -> Row[Any]:
    move_item(tx, row, event, decision=_json(decision))
    return item(tx.connection, row.walk_id, row.id)


# ---- what is shown ---------------------------------------------------------------------------------------------------


def view_item(row: Row[Any], settled: str | None = None) -> AgendaItem:
    return AgendaItem(
        id=row.id,
        topic=row.topic,
        source=Source(SourceKind(row.kind), row.ref, row.worker),
        priority=row.priority,
        place=row.place,
        status=ItemStatus(row.status),
        since=clock.rfc3339(row.since),
        settled=settled,
        framing=framing_of(row),
        decision=decision_of(row),
    )


def _summary(row: Row[Any], items: int, left: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "label": row.label,
        "status": WalkStatus(row.status),
        "persona_id": row.persona_id,
        "started_by": row.started_by,
        "started_at": clock.rfc3339(row.started_at),
        "changed_at": clock.rfc3339(row.changed_at),
        "ended_at": clock.told(row.ended_at),
        "items": items,
        "left": left,
    }


def list_walks(
    connection: Connection, workspace: str, limit: int, before: rows.Place | None
) -> tuple[list[WalkSummary], int, rows.Place | None]:
    """Newest first: (a page, how many there are in all, where the next page starts)."""
    page = rows.newest(connection, walks.c.started_at, limit, before, (walks.c.workspace == workspace,))
    ids = [row.id for row in page.rows]
    counted: Counter[str] = Counter()
    left: Counter[str] = Counter()
    query = select(agenda.c.walk_id, agenda.c.status).where(agenda.c.walk_id.in_(ids))
    for each in connection.execute(query):
        counted[each.walk_id] += 1
        left[each.walk_id] += each.status in UNDECIDED
    return [WalkSummary(**_summary(row, counted[row.id], left[row.id])) for row in page.rows], page.total, page.next


def detail(connection: Connection, id: str, now: int) -> WalkDetail:
    as_of = events.last_id(connection)
    row, known = get(connection, id), items_of(connection, id)
    is_open = row.status in (WalkStatus.ACTIVE, WalkStatus.PAUSED)
    waiting = [(each.kind, each.ref) for each in known if each.status in UNDECIDED] if is_open else []
    settled = sources.settled(connection, waiting)
    shown = [
        view_item(each, settled.get((each.kind, each.ref)) if each.status in UNDECIDED else None) for each in known
    ]
    said = connection.execute(select(transcript).where(transcript.c.walk_id == id).order_by(transcript.c.number))
    asked = consults_of(connection, id)
    return WalkDetail(
        **_summary(row, len(known), sum(each.status in UNDECIDED for each in known)),
        active_item=next((each.id for each in known if each.status == ItemStatus.ACTIVE), None),
        agenda=shown,
        transcript=[_line(each) for each in said],
        consults=[consults.summary(each) for each in asked],
        totals=totals(row, shown, asked, now),
        synopsis=row.synopsis,
        summary=row.summary,
        as_of=as_of,
    )


def totals_now(connection: Connection, id: str, now: int) -> Totals:
    shown = [view_item(each) for each in items_of(connection, id)]
    return totals(get(connection, id), shown, consults_of(connection, id), now)


def consults_of(connection: Connection, walk_id: str) -> Sequence[Row[Any]]:
    table = consults.consults
    mine = select(table).where(table.c.walk_id == walk_id)
    return connection.execute(mine.order_by(table.c.started_at, table.c.id)).all()


def _line(row: Row[Any]) -> Said:
    return Said(
        number=row.number,
        at=clock.rfc3339(row.at),
        speaker=row.speaker,
        who=row.who,
        item_id=row.item_id,
        text=row.text,
        consult_id=row.consult_id,
    )


def totals(walk: Row[Any], shown: Sequence[AgendaItem], asked: Sequence[Row[Any]], now: int) -> Totals:
    """How far it is. Time stands still while it is paused, and once it has ended."""
    by_status = Counter(each.status for each in shown)
    decided = [each.decision for each in shown if each.decision is not None]
    applied = [each.action for each in decided if each.applied is not None and each.action is not None]
    spent = [each.cost_micros for each in asked]
    return Totals(
        items=len(shown),
        left=sum(by_status[status] for status in UNDECIDED),
        decided=by_status[ItemStatus.DECIDED],
        deferred=by_status[ItemStatus.DEFERRED],
        dismissed=by_status[ItemStatus.DISMISSED],
        decisions=dict(sorted(Counter(each.kind for each in decided).items())),
        applied=len(applied),
        work_touched=_work_in(decided),
        consults=len(asked),
        dollars=None if None in spent else sum(spent) / MICROS,
        seconds=walked(walk, now) // clock.SECOND,
    )


def _work_in(decided: Sequence[Decision]) -> list[str]:
    """The ids of the work items that decisions changed or made."""
    about_work = (
        each for each in decided if each.action is not None and each.action.path.startswith("/api/work-items")
    )
    refs = (each.applied.ref for each in about_work if each.applied is not None)
    return list(dict.fromkeys(ref for ref in refs if ref is not None))
