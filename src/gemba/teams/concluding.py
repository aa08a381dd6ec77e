"""What follows on a turn of a task: the gate and the merge, a wait for a person, another turn, an error.

Every function may be called again after a kill, and looks where the task stands, under the number of its claim, before
it does anything. What is only in a folder is saved before anything else is made of it; what the database says is
changed in one transaction with what follows from it for other tasks. Blocking; called by the stint.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from gemba import clock
from gemba.action import Nothing
from gemba.errors import GembaError
from gemba.escalations import handoff_flows
from gemba.escalations.handoff_flows import Left
from gemba.sessions import starting
from gemba.store.database import REFUSALS, Database, Transaction
from gemba.teams import attempts, deciding, standing, store
from gemba.teams.claiming import Claim
from gemba.teams.prompts import GO_ON
from gemba.teams.standing import Next
from gemba.teams.task import TaskState
from gemba.teams.turns import Turns
from gemba.teams.verifying import Verifying

# Codes of refusals that pass by themselves: limits of agents, of budgets, of folders that are busy.
_PASSING = frozenset(
    {"limit_reached", "dispatch_held", "worktree_busy", "branch_busy", "branch_checked_out", "changed_meanwhile"}
)
_REST = 30 * clock.SECOND

OVER: dict[str, Any] = {"next": "over"}


class Concluding:
    """For one workspace and home. `take_in` takes in every frame that lies in the log of a session: an agent that ends
    at once spoke a moment before. `compare` compares a handoff with the world."""

    def __init__(
        self,
        database: Database,
        turns: Turns,
        verifying: Verifying,
        take_in: Callable[..., object],
        compare: Callable[[str], dict[str, Any]],
    ) -> None:
        self._database = database
        self._turns = turns
        self._verifying = verifying
        self._take_in = take_in
        self._compare = compare
        self._beginning: dict[Claim, threading.Lock] = {}

    def begin(self, run_id: str, task_id: str, fence: int) -> dict[str, Any]:
        """Also when whoever ended another task begins it at this moment: that is waited for."""
        claim = (run_id, task_id, fence)
        with self._beginning.setdefault(claim, threading.Lock()):
            try:
                return self._guarded(claim, lambda: self._turns.begin(run_id, task_id, fence))
            finally:
                self._beginning.pop(claim, None)

    def conclude(self, run_id: str, task_id: str, fence: int, over: bool | Left | None) -> dict[str, Any]:
        """With what ended the wait for it: None for its time."""
        claim = (run_id, task_id, fence)
        if isinstance(over, Left) and self._is_submitted(claim, over):
            return self._guarded(claim, lambda: self._verify(claim, submitted=True))
        with self._database.read() as connection:
            row = store.find_task(connection, run_id, task_id)
            last = attempts.latest(connection, run_id, task_id)
        if row is None or last is None or not store.is_held(row, fence):
            return OVER
        if row.state == TaskState.VERIFYING:
            return self._guarded(claim, lambda: self._verify(claim))
        if last.outcome == "sent_back":  # whoever kept that did not live to begin the next turn
            return self._guarded(claim, lambda: self._turns.again(*claim, ""))
        self._take_in(last.session_id)
        with self._database.read() as connection:
            found = standing.next_of(standing.read(connection, last.session_id, last.dispatch_id, last.turn))
        if found is None and over:
            return self._at(claim)
        if found is None:
            self._stop(str(row.session_id))
            found = Next("broken", words="its time was over")
        return self._guarded(claim, lambda: self._follow(claim, found))

    def _is_submitted(self, claim: Claim, left: Left) -> bool:
        """What was handed over is compared with the world. If that accepts it, the task is verified from then on, in
        the same transaction: whether it is."""
        found = self._compare(left.id)

        def conclude(tx: Transaction) -> bool:
            row = deciding.held(tx, claim)  # locked before the dispatch is, as where a turn begins
            is_accepted = handoff_flows.settle(tx, *left, found)
            if row is None or row.state != TaskState.RUNNING or not is_accepted:
                return False
            store.move_task(tx, row, "submitted")
            return True

        return self._database.change(conclude)

    def _verify(self, claim: Claim, *, submitted: bool = False) -> None:
        """What begins with the end of a task begins here, before its own stint is started: that finds it begun. Of
        several the first; what is in the way of it, its stint meets and tells."""
        claimed = self._verifying.verify(*claim, submitted=submitted)
        for each in claimed[:1]:
            with contextlib.suppress(Exception):
                self.begin(*each)

    def _follow(self, claim: Claim, found: Next) -> None:
        match found.kind:
            case "verify":
                self._verify(claim)
            case "wait":
                self._database.change(partial(deciding.wait, claim=claim, found=found))
            case "go_on":
                self._turns.again(*claim, GO_ON)
            case "next":
                self._turns.again(*claim, "")
            case "repair" | "broken":
                self._database.change(partial(deciding.break_off, claim=claim, trouble=found.words, kind=found.kind))

    def _guarded(self, claim: Claim, work: Callable[[], None]) -> dict[str, Any]:
        """What goes wrong is an error of the attempt, or passes; what the database refuses is tried again."""
        try:
            work()
        except REFUSALS:
            raise
        except GembaError as error:
            if error.code in _PASSING:
                self._database.change(partial(deciding.rest, claim=claim, reason=error.message, rest=_REST))
            else:
                self._database.change(partial(deciding.break_off, claim=claim, trouble=error.message, kind="broken"))
        except OSError as error:
            trouble = f"{error.filename or 'its files'}: {error.strerror}"
            self._database.change(partial(deciding.break_off, claim=claim, trouble=trouble, kind="broken"))
        return self._at(claim)

    def _at(self, claim: Claim) -> dict[str, Any]:
        run_id, task_id, fence = claim
        with self._database.read() as connection:
            row = store.find_task(connection, run_id, task_id)
            last = attempts.latest(connection, run_id, task_id)
            if row is None or last is None or not store.is_held(row, fence):
                return OVER
            run = store.get_run(connection, run_id)
        seconds = store.options_of(row).seconds or store.settings_of(run).task_seconds
        return {
            "next": "turn",
            "session_id": last.session_id,
            "dispatch_id": last.dispatch_id,
            "began": last.started_at,
            "seconds": seconds,
        }

    def _stop(self, session_id: str) -> None:
        self._database.change(lambda tx: starting.stop_session(tx, Nothing(), id=session_id))
