"""The second half of a start: the agent gets what was claimed for it.

Before the transaction, and as often as need be: the session's worktree, and how it looks. Then all at once: the claim
is still its own, the item is in progress, the dispatch with its envelope is made, and a session is wanted, or the words
are to be typed to one that lives. A crash before that leaves a start that is claimed, to be given again; one after it
leaves a session that is wanted, which is kept like any other. What is refused frees the item, and says why.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, update

from gemba import typed
from gemba.autodispatch import store
from gemba.autodispatch.facts import Here
from gemba.autodispatch.start import ACTOR, LEASE_SECONDS, StartState
from gemba.errors import Conflict, GembaError, Invalid, Unusable
from gemba.event import Draft
from gemba.handoff import audit, dispatches, dispatching, envelope_files
from gemba.handoff.dispatching import NewDispatch
from gemba.handoff.envelope import render
from gemba.sessions import inputs, runs, starting
from gemba.sessions.starting import NewSession
from gemba.sessions.store import sessions
from gemba.sessions.worktrees import worktree
from gemba.store.database import Database, Transaction
from gemba.work.claiming import ExtendClaim, ReleaseClaim, extend_claim, release_claim
from gemba.work.item import STARTABLE, Cause, State
from gemba.work.items import alone, get, is_claimed
from gemba.work.store import ChangeItem, change_item

_MOST_CRITERIA = 200
_words = typed.decoder(tuple[str, ...])


class Ready(NamedTuple):
    """What was looked at before the transaction."""

    dispatch: dispatching.Prepared
    session: starting.Prepared | None  # of one that is to be started
    words: str


class Giving:
    """For one workspace and home. `lives`: whether a session still needs the workspace's own folder."""

    def __init__(self, database: Database, home: Path, lives: Callable[[str], bool]) -> None:
        self._database = database
        self._home = home
        self._lives = lives

    def give(self, id: str, here: Here) -> None:
        """Once, however often it is called."""
        with self._database.read() as connection:
            row = store.find(connection, id)
            item = None if row is None else get(connection, row.item_id)
            run = None if row is None else runs.find(connection, row.session_id)
        if row is None or row.state != StartState.CLAIMED:
            return
        try:
            ready = self._prepared(row, item, run, here)
        except GembaError as error:
            self._refuse(row, error)
            return
        except OSError as error:
            self._refuse(row, Unusable(f"{error.filename or 'its files'}: {error.strerror}", code="files_unusable"))
            return
        if not self._database.change(partial(self._begin_or_refuse, id=id, ready=ready), ACTOR):
            self._let_go(row)

    def _prepared(self, row: Row[Any], item: Any, run: Row[Any] | None, here: Here) -> Ready:
        agent = runs.agent_of(run) if run is not None else here.agents.get(row.agent_type)
        if agent is None:
            raise Conflict(f"there is no type of agent called {row.agent_type} any more", code="agent_gone")
        folder = self._folder(row, run, here)
        wanted = NewDispatch(
            goal=words_of(item, acceptance=False),
            acceptance_criteria=_lines(item.acceptance),
            targets=_words.decode(item.targets),
            session_id=row.session_id,
            provider=agent.hooks if agent.hooks != "none" else "gemba",
            task_id=item.id,
            folder=folder,
        )
        words, session = words_of(item), None
        if run is None:
            about = {"title": item.title, "id": row.session_id, "bead_id": item.id}
            session = starting.prepare(self._database.surroundings, NewSession(agent=agent.name, task=words, **about))
        return Ready(dispatching.prepare(self._database.surroundings, wanted), session, words)

    def _folder(self, row: Row[Any], run: Row[Any] | None, here: Here) -> str:
        if run is None:
            return worktree.make(here.workspace, row.session_id, self._lives).folder
        if run.folder is None:
            raise Conflict(f"the session {row.session_id} has no folder any more", code="session_over")
        return str(run.folder)

    # ---- all at once

    def _begin_or_refuse(self, tx: Transaction, *, id: str, ready: Ready) -> bool:
        """Whether nothing was refused."""
        alone(tx)
        row = store.get_locked(tx, id)
        if row.state != StartState.CLAIMED:
            return True
        tx.cause = Cause("run", row.session_id)
        try:
            with tx.part():
                self._begin(tx, row, ready)
        except GembaError as error:
            refuse(tx, row, error)
            return False
        return True

    def _begin(self, tx: Transaction, row: Row[Any], ready: Ready) -> None:
        item = get(tx.connection, row.item_id)
        if State(item.state) not in STARTABLE:
            raise Conflict(f"the item is {item.state} meanwhile", code="changed_meanwhile", found=item.state)
        extend_claim(tx, ExtendClaim(row.session_id, LEASE_SECONDS), id=item.id)
        change_item(tx, ChangeItem(state=State.IN_PROGRESS), id=item.id)
        made = dispatching.create_dispatch(tx, ready.dispatch)
        if ready.session is not None:
            started = msgspec.structs.replace(ready.session.wanted, dispatch_id=made.id)
            starting.start_session(tx, ready.session._replace(wanted=started))
        else:
            self._tell_living(tx, row, made, ready.words)
        row = store.move(tx, row, "started", dispatch_id=made.id, started_at=tx.now)
        told = store.told(row)
        tx.emit(Draft("auto.started", told, row.session_id, row.id))
        audit.record(tx, "auto.started", row.id, told)

    def _tell_living(self, tx: Transaction, row: Row[Any], made: dispatches.Dispatch, words: str) -> None:
        """Its client's hooks tell of a dispatch when a session starts: here the words bring it."""
        run = runs.get_locked(tx, row.session_id)
        text = words
        if runs.agent_of(run).hooks != "none" and made.envelope is not None:
            text = f"{words}\n\n{render(made.envelope)}"
        inputs.send(tx, inputs.Send(text), id=row.session_id)
        tx.connection.execute(update(sessions).where(sessions.c.id == row.session_id).values(bead_id=row.item_id))
        tx.committed.append(partial(envelope_files.write_given, self._home, row.session_id, made.id))

    def _refuse(self, row: Row[Any], error: GembaError) -> None:
        def verb(tx: Transaction) -> None:
            alone(tx)
            now = store.get_locked(tx, row.id)
            if now.state == StartState.CLAIMED:
                tx.cause = Cause("run", now.session_id)
                refuse(tx, now, error)

        self._database.change(verb, ACTOR)
        self._let_go(row)

    def _let_go(self, row: Row[Any]) -> None:
        """The worktree of a session that never was."""
        if not row.living:
            with contextlib.suppress(GembaError):
                worktree.release_of(row.workspace, row.session_id)

    def lay_down_given(self, open_: list[Row[Any]]) -> None:
        """What whoever gave it did not live to do: living sessions know their dispatch."""
        for row in open_:
            if row.living and row.dispatch_id is not None:
                envelope_files.write_given(self._home, row.session_id, row.dispatch_id)


def refuse(tx: Transaction, row: Row[Any], error: GembaError) -> None:
    """The item is free again. Where the fault is its own, it is not tried before somebody has changed it."""
    item = get(tx.connection, row.item_id)
    if is_claimed(item, tx.now) and item.claimed_by == row.session_id:
        release_claim(tx, ReleaseClaim(row.session_id), id=item.id)
    version = item.version if isinstance(error, Invalid) else None
    row = store.move(tx, row, "refused", trouble=error.message, ended_at=tx.now, item_version=version)
    told = store.told(row)
    tx.emit(Draft("auto.refused", told, row.session_id, row.id))
    audit.record(tx, "auto.refused", row.id, told)


def words_of(item: Any, *, acceptance: bool = True) -> str:
    """An item as its agent is told of it; a client takes none of this for a command of its own."""
    parts = [f"Your work: {item.title}", item.description.strip()]
    if acceptance and item.acceptance.strip():
        parts.append(f"Done when:\n{item.acceptance.strip()}")
    parts.append(f"This is work item {item.id}.")
    return "\n\n".join(part for part in parts if part)


def _lines(text: str) -> tuple[str, ...]:
    lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
    return tuple(line for line in lines if line)[:_MOST_CRITERIA]
