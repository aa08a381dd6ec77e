"""Why nothing new is begun at this moment, and the refusal that says so.

Four things hold work back: a sprint that has passed its stop, tokens that bring nothing about, too much within the
hour, and too many agents at once. The first three hold every dispatch, claim and session that is asked for; the last
two every session, also those of consults, which are otherwise let through: a person may want advice just then. What
runs goes on. `work`, `handoff` and `sessions` are given the guards with their transactions, and the selection shows
the holds.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from sqlalchemy import Connection, func, select

from gemba import clock
from gemba.config import CapSettings
from gemba.errors import Conflict
from gemba.sessions.runs import runs
from gemba.sprints import store
from gemba.sprints.progress import caps_of, since_progress
from gemba.sprints.tables import turns
from gemba.store.database import Transaction
from gemba.store.schema import counters
from gemba.work.selection import Gate

HOUR: Final = 3_600 * clock.SECOND
_SETTINGS = "of [caps] in .gemba/workspace.toml"


class DispatchHold(msgspec.Struct, frozen=True):
    """One reason, and what lifts it. `until` is the moment at which it may be over by itself."""

    kind: Literal["sprint_stop", "no_progress", "run_rate", "concurrency"]
    reason: str
    lifted_by: str
    sprint_id: str | None = None
    until: str | None = None

    @property
    def words(self) -> str:
        return f"{self.reason}; {self.lifted_by}"


def read_holds(connection: Connection, caps: CapSettings, now: int) -> list[DispatchHold]:
    """What holds every new piece of work."""
    return [*_stopped(connection), *_without_progress(connection, caps), *_too_fast(connection, caps, now)]


class HourlyRate(msgspec.Struct, frozen=True):
    """What was taken within the hour, of a cap that the settings have."""

    name: Literal["turns_per_hour", "tokens_per_hour"]
    taken: int
    most: int


def read_rates(connection: Connection, caps: CapSettings, now: int) -> list[HourlyRate]:
    return _rates(connection, caps, now)[0]


def gates_of(holds: list[DispatchHold]) -> list[Gate]:
    """The same as the selection has them."""
    return [Gate("held", hold.words, []) for hold in holds]


def refuse_work(tx: Transaction) -> None:
    """The guard of dispatches, claims and sessions that somebody asks for."""
    _refuse(read_holds(tx.connection, caps_of(tx), tx.now))


def refuse_session(tx: Transaction) -> None:
    """The guard of every session that Gemba is to start."""
    caps = caps_of(tx)
    _refuse([*_too_fast(tx.connection, caps, tx.now), *_too_many(tx, caps)])


def _refuse(holds: list[DispatchHold]) -> None:
    if holds:
        first, more = holds[0], len(holds) - 1
        rest = f" (and {more} more)" if more else ""
        raise Conflict(
            f"nothing new is begun: {first.words}{rest}",
            code="dispatch_held",
            found=first.kind,
            allowed=first.lifted_by,
            holds=holds,
        )


def _stopped(connection: Connection) -> list[DispatchHold]:
    row = store.find_running(connection)
    if row is None or not store.is_held(row):
        return []
    reason = f"{row.id} has used {row.tokens_used:,} of {row.token_budget:,} tokens, and stops at {row.stop:.0%}"
    return [DispatchHold("sprint_stop", reason, "raise its budget, or close it", row.id)]


def _without_progress(connection: Connection, caps: CapSettings) -> list[DispatchHold]:
    most = caps.no_progress_tokens
    used = since_progress(connection) if most else 0
    if not most or used < most:
        return []
    reason = f"{used:,} tokens were used since an item was last handed in or finished, and the cap is {most:,}"
    return [
        DispatchHold(
            "no_progress", reason, f"finish an item, or say to go on in the inbox (no_progress_tokens {_SETTINGS})"
        )
    ]


def _too_fast(connection: Connection, caps: CapSettings, now: int) -> list[DispatchHold]:
    rates, first = _rates(connection, caps, now)
    until = None if first is None else clock.rfc3339(first + HOUR)
    found = []
    for rate in rates:
        if rate.taken >= rate.most:
            noun = rate.name.partition("_")[0]
            reason = f"within the hour there were {rate.taken:,} {noun}, and the cap is {rate.most:,}"
            found.append(DispatchHold("run_rate", reason, f"wait until {until} ({rate.name} {_SETTINGS})", until=until))
    return found


def _rates(connection: Connection, caps: CapSettings, now: int) -> tuple[list[HourlyRate], int | None]:
    """Of each cap that there is, and when the first turn of the hour was."""
    if not caps.turns_per_hour and not caps.tokens_per_hour:
        return [], None
    tokens = func.coalesce(func.sum(turns.c.tokens_in + turns.c.tokens_out), 0)
    query = select(func.count(), tokens, func.min(turns.c.at)).where(turns.c.at > now - HOUR)
    many, used, first = connection.execute(query).one()
    rates = (
        HourlyRate("turns_per_hour", many, caps.turns_per_hour),
        HourlyRate("tokens_per_hour", int(used), caps.tokens_per_hour),
    )
    return [rate for rate in rates if rate.most], first


def _too_many(tx: Transaction, caps: CapSettings) -> list[DispatchHold]:
    if not caps.max_parallel:
        return []
    # Whoever starts one waits here for whoever does so already, so that the last place is given once.
    tx.add(counters, [{"name": "sessions.started", "value": 1}])
    here = (runs.c.workspace == str(tx.surroundings["workspace"]), runs.c.ended_at.is_(None))
    living: int = tx.connection.execute(select(func.count()).select_from(runs).where(*here)).scalar_one()
    if living < caps.max_parallel:
        return []
    reason = f"{living} agents run at once, and the cap is {caps.max_parallel}"
    return [DispatchHold("concurrency", reason, f"wait until one of them ends (max_parallel {_SETTINGS})")]
