"""How an approved command ended: the client's frame after a tool call, matched with the grant that let it through.

The frame names the session, the tool and the command; its folder may be another one by then, so that is not compared.
Of several grants for the same call the one that was used first ended first. No client tells how a command ended that
it runs in the background, so of that the outcome is unknown. Called by the projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gemba.event import Draft
from gemba.handoff.evidence import tool_use_of
from gemba.handoff.grants import Running, consumed_in, record_outcome
from gemba.sessions.translator import kept_text
from gemba.store.database import Transaction
from gemba.text import one_line

_LONGEST_OUTCOME = 300


class Outcomes:
    """Of one batch of frames: whatever ended in it was consumed before it, so one look at the table is enough."""

    def __init__(self, tx: Transaction, drafts: Sequence[Draft]) -> None:
        self._tx = tx
        sessions = {draft.session_id for draft in drafts if _command(draft) is not None and draft.session_id}
        self._waiting: list[Running] = consumed_in(tx, sessions) if sessions else []

    def record(self, draft: Draft) -> None:
        command = _command(draft) if self._waiting else None
        if command is None:
            return
        tool = draft.payload.get("tool_name")
        for row in self._waiting:
            if (row.session_id, row.tool, kept_text(row.command)) == (draft.session_id, tool, command):
                self._waiting.remove(row)
                record_outcome(self._tx, row.id, *_ended(draft.payload))
                return


def _command(draft: Draft) -> str | None:
    """What ran, where the event tells of the end of a call that runs a command."""
    if draft.name != "tool_use" or draft.payload.get("phase") not in ("post", "failed"):
        return None
    given = draft.payload.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else None


def _ended(payload: dict[str, Any]) -> tuple[str, str]:
    """What became of the call, and in which words."""
    response = payload.get("tool_response")
    if payload["phase"] == "failed":
        error = payload.get("error")
        return "failed", one_line(error, _LONGEST_OUTCOME) if isinstance(error, str) else ""
    if isinstance(response, dict) and response.get("interrupted") is True:
        return "failed", "interrupted"
    if tool_use_of(payload).background:
        return "lost", "it went on in the background"
    return "succeeded", ""
