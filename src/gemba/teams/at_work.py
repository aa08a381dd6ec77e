"""All that works on team runs in one process, put together: the rounds that claim, and the flows that do the rest.

Wiring and nothing else; made by `app`, which runs `crew` beside its other loops and gives the flows to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemba.store.database import Database
from gemba.teams.bringing_in import BringingIn
from gemba.teams.completing import Completing
from gemba.teams.concluding import Concluding
from gemba.teams.crew import Crew
from gemba.teams.review_flows import ReviewFlows
from gemba.teams.stint import Stints
from gemba.teams.turns import Turns
from gemba.teams.verifying import Verifying

if TYPE_CHECKING:
    from gemba.flows.launch import FlowFunction


class TeamsAtWork:
    """For one workspace and home. `take_in` takes in every frame that lies in a session's log; `compare` compares a
    handoff with the world."""

    def __init__(
        self,
        database: Database,
        workspace: Path,
        home: Path,
        origin: str,
        lease: int,
        take_in: Callable[..., object],
        compare: Callable[[str], dict[str, Any]],
    ) -> None:
        self.crew = Crew(database, workspace, origin, lease)
        turns = Turns(database, home, workspace)
        bringing_in = BringingIn(database, workspace, self.crew.holder)
        concluding = Concluding(database, turns, Verifying(database, workspace, turns, bringing_in), take_in, compare)
        self._flows = (
            Stints(concluding, bringing_in, self.crew.leases),
            Completing(database, workspace),
            ReviewFlows(database, workspace),
        )

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {name: flow for flows in self._flows for name, flow in flows.table.items()}
