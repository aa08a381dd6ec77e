"""Sessions that say they work and do not get on: marked as stalled, and the operator is asked, once.

Two signs tell that one gets on: that it is heard of at all, and that it makes progress: a tool that ran, a state that
it reported, a commit in its worktree. How long each may be missing is said by the type of its agent. When the sign is
there again the question is taken back. What the operator chooses is carried out in the transaction of the answer: to
wait, or, of an agent that Gemba runs, to interrupt or stop it. Only the home that a session writes to judges it: what
is said to another one is not heard here. Called by the app now and then, by the projection, and where such a card is
answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, Connection, Row, bindparam, select, update

from gemba import clock, git
from gemba.action import Nothing
from gemba.config import Workspace
from gemba.errors import GembaError
from gemba.escalations.escalation import Reply
from gemba.escalations.raised import raise_escalation
from gemba.escalations.store import escalations, locked, settle
from gemba.event import Draft
from gemba.sessions import inputs, runs, starting
from gemba.sessions.agents.agent import Limits
from gemba.sessions.agents.file import sound_agents
from gemba.sessions.session import Lifecycle, ReportedState
from gemba.sessions.store import project, sessions
from gemba.store.database import Database, Transaction

KIND: Final = "stalled"
WAIT, INTERRUPT, STOP = "wait", "interrupt", "stop"

_RUNS = sessions.c.lifecycle == Lifecycle.RUNNING
_AT_WORK = (_RUNS, sessions.c.reported_state == ReportedState.WORKING)

LimitsOf = Callable[[str], Limits]  # of a type of agent, by its name


class Sign(NamedTuple):
    """Something that shows that a session gets on: when it was there last, which limit it has, what is said without."""

    seen_at: Column[int]
    limit: str
    words: str


HEARD = Sign(
    sessions.c.last_frame_at,
    "stalled_after_seconds",
    "It says that it works, and nothing was heard of it for {span}.",
)
# No time stands there while the operator is, or was, asked about the lack of it: so that is asked once.
PROGRESS = Sign(
    sessions.c.progress_at,
    "no_progress_seconds",
    "It says that it works, but for {span} no tool ran, no state was reported and nothing was committed.",
)


class Missed(NamedTuple):
    """A session of which a sign is missing for longer than its limit, in microseconds."""

    session: Row[Any]
    run: Row[Any] | None
    sign: Sign
    limit: int

    @property
    def is_asked_about(self) -> bool:
        return self.session.progress_at is None

    @property
    def tree(self) -> str | None:
        """Where its commits are progress: the worktree that is its own."""
        return self.run.folder if self.sign is PROGRESS and self.run is not None and self.run.branch else None


def look(database: Database, workspace: Workspace, origin: str) -> None:
    """Ask about the sessions that do not get on."""
    try:
        types = sound_agents(workspace).agents
    except GembaError:  # `gemba doctor` tells of it; those that were started have their type with them
        types = {}
    with database.read() as connection:
        found = missing(connection, clock.now(), origin, lambda name: types[name].limits if name in types else Limits())
    for missed in found:
        seconds = git.committed_at(missed.tree) if missed.tree else None
        if missed.is_asked_about and seconds is None:
            continue
        with database.transaction() as tx:
            judge(tx, missed, None if seconds is None else seconds * clock.SECOND)


def missing(connection: Connection, now: int, origin: str, limits_of: LimitsOf) -> list[Missed]:
    """The sessions of this home that do not get on, also those that are asked about for their lack of progress."""
    asked = (_RUNS, sessions.c.reported_state == ReportedState.STALLED, sessions.c.progress_at.is_(None))
    rows = [
        row
        for group in (_AT_WORK, asked)
        for row in connection.execute(select(sessions).where(*group, sessions.c.origin == origin))
    ]
    started = runs.of_sessions(connection, [row.id for row in rows])
    found = []
    for row in rows:
        run = started.get(row.id)
        limits = limits_of(row.agent_type) if run is None else runs.agent_of(run).limits
        for sign in (PROGRESS,) if row.progress_at is None else (HEARD, PROGRESS):
            limit = getattr(limits, sign.limit) * clock.SECOND
            seen_at = getattr(row, sign.seen_at.name)
            if limit and (seen_at is None or now - seen_at >= limit):
                found.append(Missed(row, run, sign, limit))
                break
    return found


def judge(tx: Transaction, missed: Missed, committed_at: int | None) -> None:
    """Ask about a session, once, unless it has committed something in its time."""
    if missed.sign is PROGRESS and committed_at is not None and committed_at > tx.now - missed.limit:
        since = {"progress_at": min(committed_at, tx.now)}
        tx.connection.execute(update(sessions).where(sessions.c.id == missed.session.id).values(since))
        got_on(tx, [missed.session.id])
    elif not missed.is_asked_about:
        _mark(tx, missed)


def _mark(tx: Transaction, missed: Missed) -> None:
    """Unless the sign was there since it was looked for."""
    seen, sign = missed.session, missed.sign
    since = getattr(seen, sign.seen_at.name)
    same = (sessions.c.id == seen.id, sign.seen_at == since)
    if tx.connection.execute(select(sessions.c.id).where(*same, *_AT_WORK).with_for_update()).first() is None:
        return
    words = sign.words.format(span=_span(tx.now - since))
    stalled = {"state": ReportedState.STALLED.value, "bead_id": seen.bead_id, "note": words}
    draft = Draft("session_state_reported", stalled, seen.id)
    tx.emit(draft)
    project(tx, [draft])
    if sign is PROGRESS:
        tx.connection.execute(update(sessions).where(sessions.c.id == seen.id).values(progress_at=None))
    text = f"{words}\n\nIts last words: {seen.note}" if seen.note else words
    options = (WAIT, INTERRUPT, STOP) if missed.run is not None and missed.run.ended_at is None else (WAIT,)
    about = {"title": f"{seen.id} seems to be stuck", "bead_id": seen.bead_id, "agent_type": seen.agent_type}
    raise_escalation(tx, KIND, text, session_id=seen.id, options=options, waiting=False, **about)


# Made once: it is asked of every batch of frames, and nearly always there is none.
_asked_about = (
    select(escalations.c.id)
    .join(sessions, sessions.c.id == escalations.c.session_id)
    .where(
        escalations.c.session_id.in_(bindparam("heard_of", expanding=True)),
        ~escalations.c.resolved,
        escalations.c.kind == KIND,
        sessions.c.progress_at.is_not(None),
    )
)


def got_on(tx: Transaction, session_ids: Collection[str]) -> None:
    """These are heard of: nobody has to be asked about those any more of which no progress is missed."""
    asked = tx.connection.execute(_asked_about, {"heard_of": list(session_ids)}).scalars().all()
    for row in locked(tx, escalations.c.id.in_(asked), ~escalations.c.resolved) if asked else ():
        settle(tx, row, "withdrawn", Reply("withdrawn", "it gets on again", "session"))
        _works(tx, row.session_id)


def carry_out(tx: Transaction, row: Row[Any], action: str | None) -> None:
    """What the operator chose on the card. It is counted anew from now on, unless it is to stop."""
    if action == STOP:
        starting.stop_session(tx, Nothing(), id=row.session_id)
        return
    if action == INTERRUPT:
        inputs.interrupt(tx, Nothing(), id=row.session_id)
    anew = {"last_frame_at": tx.now, "progress_at": tx.now}
    tx.connection.execute(update(sessions).where(sessions.c.id == row.session_id).values(anew))
    _works(tx, row.session_id)


def _works(tx: Transaction, session_id: str) -> None:
    stalled = (sessions.c.id == session_id, sessions.c.reported_state == ReportedState.STALLED)
    tx.connection.execute(update(sessions).where(*stalled).values(reported_state=ReportedState.WORKING))


def _span(microseconds: int) -> str:
    minutes = microseconds // (60 * clock.SECOND)
    if minutes >= 120:
        return f"{minutes // 60} hours"
    return f"{minutes} minutes" if minutes > 1 else "a minute" if minutes else "some seconds"
