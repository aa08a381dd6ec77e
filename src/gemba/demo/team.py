"""The demo's team run: begun as `gemba team start` begins one, before the demo serves; and the end of all sessions.

Called by `gemba demo`.
"""

from __future__ import annotations

import time

from gemba.action import Nothing
from gemba.app import App
from gemba.demo.developer import load_team_work
from gemba.sessions import starting
from gemba.sessions.runs import to_keep
from gemba.teams.beginning import NewTeam, begin_run, prepare

_OPERATOR = "operator"
_PATIENCE_SECONDS = 15.0


def begin_team(app: App) -> str:
    """The id of the run; whoever serves takes it up."""
    made = prepare(app.database.surroundings, NewTeam(text=load_team_work().text, agent="builtin"))
    with app.database.transaction(_OPERATOR) as tx:
        return begin_run(tx, made).id


def end_sessions(app: App) -> None:
    """Ends every agent that Gemba itself runs here, the team's and those that a visitor started: they would outlive the
    server, and nothing of theirs is worth keeping."""
    with app.database.transaction() as tx:
        for row in to_keep(tx.connection, app.origin, str(app.workspace.root)):
            starting.stop_session(tx, Nothing(), id=row.session_id)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while app.keeping.reconcile() and time.monotonic() < deadline:
        time.sleep(0.05)
