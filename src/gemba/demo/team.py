"""The demo's team run: begun as `gemba team start` begins one, before the demo serves; and the end of all sessions.

Called by `gemba demo`.
"""

from __future__ import annotations

import threading
import time

from gemba.action import Nothing
from gemba.app import App
from gemba.demo.developer import load_team_work
from gemba.sessions import starting
from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import read_keeper, stop_kept
from gemba.sessions.runs import to_keep
from gemba.teams.beginning import NewTeam, begin_run, prepare

_OPERATOR = "operator"
_PATIENCE_SECONDS = 15.0
_GLANCE_SECONDS = 0.05


def begin_team(app: App) -> str:
    """The id of the run; whoever serves takes it up."""
    made = prepare(app.database.surroundings, NewTeam(text=load_team_work().text, agent="builtin"))
    with app.database.transaction(_OPERATOR) as tx:
        return begin_run(tx, made).id


def end_sessions(app: App) -> None:
    """Ends every agent that Gemba itself runs here, the team's and those that a visitor started: they would outlive the
    server, and nothing of theirs is worth keeping. One that a thread of the server still starts is waited for."""
    with app.database.transaction() as tx:
        for row in to_keep(tx.connection, app.origin, str(app.workspace.root)):
            starting.stop_session(tx, Nothing(), id=row.session_id)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        is_starting = any(thread.name.startswith("sessions") for thread in threading.enumerate())
        lives = app.keeping.reconcile()
        left = [run for path in (app.home / "runs").glob("*") if _lives(run := RunFolder(path.name, path))]
        for run in left:
            stop_kept(run, grace=0)
        if not (is_starting or lives or left):
            return
        time.sleep(_GLANCE_SECONDS)


def _lives(run: RunFolder) -> bool:
    keeper = read_keeper(run)
    return keeper is not None and keeper.lives
