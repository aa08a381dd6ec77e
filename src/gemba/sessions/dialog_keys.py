"""A key pressed in a dialog of an agent's client, for the decision of an operator: exactly that dialog, or none.

Frames must say that the dialog is open, and no other one; its screen must show what the key is known for; and when it
was pressed the dialog must go. Everything else is a Conflict with the reason, and the dialog is decided in its window.
Blocking: called by the keeper of runs.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Row

from gemba.errors import Conflict
from gemba.event import Draft
from gemba.sessions import store
from gemba.sessions.agents.claude_dialogs import REFUSAL, is_shown
from gemba.sessions.backends.backend import Backend, RunFolder
from gemba.store.database import Database

_ELSE = "give the answer in the agent's window"
_WITHIN = 3.0  # seconds until a dialog of which frames tell is drawn, and until one whose key was pressed is gone
_GLANCE = 0.1


def press(database: Database, backend: Backend, folder: RunFolder, row: Row[Any]) -> None:
    """Press the key of an input row in the dialog that it is about."""
    if not _becomes(True, backend, folder):
        raise Conflict(f"the dialog does not look as Gemba knows it: {_ELSE}", code="dialog_unknown")
    with database.read() as connection:
        prompts = store.open_prompts(connection, row.session_id)
    if [prompt.ref for prompt in prompts] != [row.ref]:
        raise Conflict(f"the dialog was closed, or another one is open as well: {_ELSE}", code="dialog_not_open")
    backend.press(folder, [row.text])
    if not _becomes(False, backend, folder):
        raise Conflict(f"the dialog stayed when its key was pressed: {_ELSE}", code="dialog_stays")


def _becomes(shown: bool, backend: Backend, folder: RunFolder) -> bool:
    until = time.monotonic() + _WITHIN
    while is_shown(backend.screen(folder)) is not shown:
        if time.monotonic() > until:
            return False
        time.sleep(_GLANCE)
    return True


def told(row: Row[Any], trouble: str | None) -> list[Draft]:
    """What became of it. The client itself tells of a tool that was allowed, when it ran; of a refusal it is silent."""
    if trouble is not None:
        return [Draft("dialog.left", {"reason": trouble}, row.session_id, row.ref)]
    if row.text == REFUSAL:
        return [Draft("permission_settled", {"how": "it was refused with a key"}, row.session_id, row.ref)]
    return []
