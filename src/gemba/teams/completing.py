"""What a run was told to do at its end, as a flow: its branch is brought home, or its folder is sealed.

Done once in effect, however often it is tried: a branch that is home stays so. What cannot be done is told in the run's
own words, and the branch stays as it is. Called by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gemba.errors import GembaError
from gemba.event import Draft
from gemba.store.database import Database, Transaction
from gemba.teams import branches, bus, store
from gemba.teams.archive import ArchiveRun, archive
from gemba.teams.finishing import FINISH
from gemba.teams.run import COORDINATOR, RunState

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

_DONE = (RunState.COMPLETED, RunState.COMPLETED_WITH_WARNINGS)


class Completing:
    """For one workspace and home."""

    def __init__(self, database: Database, workspace: Path) -> None:
        self._database = database
        self._workspace = str(workspace)

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {FINISH: self.finish}

    async def finish(self, flow: Flow, run_id: str, since: int) -> None:
        told = await flow.call(self.act, run_id, since)
        if told is not None:
            await flow.change(_tell, run_id, told)

    def act(self, run_id: str, since: int) -> str | None:
        """What came of it, in words; None where there is nothing to do any more."""
        with self._database.read() as connection:
            run = store.get_run(connection, run_id)
        if RunState(run.state) not in _DONE or run.ended_at != since:
            return None
        try:
            if store.settings_of(run).on_complete == "archive":
                self._database.change(lambda tx: archive(tx, ArchiveRun(), id=run_id))
                return None
            return self._merge(run.branch)
        except GembaError as error:
            return f"its branch {run.branch} was not merged: {error.message}"

    def _merge(self, branch: str | None) -> str:
        if branch is None:
            return "there is no branch to merge: it worked in the workspace itself"
        merged = branches.bring_home(self._workspace, branch)
        if isinstance(merged, branches.Conflicts):
            files = ", ".join(merged.files[:10])
            return f"its branch {branch} was not merged: it conflicts with what is checked out in {files}"
        return f"its branch {branch} is merged into what is checked out, as {merged.commit[:12]}"


def _tell(tx: Transaction, run_id: str, told: str) -> None:
    run = store.lock_run(tx, run_id)
    if run.trouble == told:
        return
    store.change_run(tx, run_id, trouble=told)
    bus.post(tx, run_id, COORDINATOR, "progress", told[:200], {}, recipient="all")
    tx.emit(Draft("team.changed", {"state": run.state, "by": "team", "trouble": told}, ref=run_id))
