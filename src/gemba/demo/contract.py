"""The words in which a demo agent ends a turn: what it says last, and the handoff, filled in from its story. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from gemba.demo.story import Approval, Handoff, Input, Turn

FENCE = "agent_contract_handoff"


class Ending(NamedTuple):
    """How a turn went: the agent's last line, the operator's words, and the command that ran; None if it was refused,
    or nobody wanted to answer. One that the operator wrote brings what nobody has planned."""

    said: str
    answer: str
    ran: str | None


def agent_id_of(session_id: str) -> str:
    """The name by which an agent hands off that was given none with a dispatch."""
    return f"a{hashlib.sha256(session_id.encode()).hexdigest()[:16]}"


def last_words(turn: Turn, ending: Ending, agent_id: str, slip: str = "") -> str:
    """A turn's whole text. `slip` stands in the place of its status."""
    if turn.handoff is None:
        return ending.said
    body = json.dumps(_document(turn, turn.handoff, ending, agent_id, slip), indent=2, ensure_ascii=False)
    return f"{ending.said}\n\n```{FENCE}\n{body}\n```\n"


def headline(turn: Turn, handoff: Handoff, ending: Ending) -> str:
    """A handoff in a line."""
    if handoff.status == "COMPLETE":
        return f"{handoff.status}: {_summary(turn, handoff, ending)}"
    return handoff.status if isinstance(turn, Input) else f"{handoff.status}; next: {handoff.next_action}"


def first_fault(repair: str) -> str:
    """What has to be mended, of a text that tells more than a line can show."""
    lines = repair.splitlines()
    return next((line.removeprefix("- ") for line in lines if line.startswith("- ")), lines[0])


def _document(turn: Turn, handoff: Handoff, ending: Ending, agent_id: str, slip: str) -> dict[str, Any]:
    status = {
        "plan_status": slip or handoff.status,
        "agent_id": agent_id,
        "pending_steps": handoff.pending,
        "next_action": handoff.next_action,
    }
    document: dict[str, Any] = {"agent_status": status, "evidence_report": _evidence(turn, handoff, ending)}
    if handoff.summary:
        document["user_facing_summary"] = _summary(turn, handoff, ending)
    if handoff.remember:
        document["memorialize_suggestions"] = [handoff.remember]
    if handoff.update and ending.ran == turn.run:
        document["update_contracts"] = [{"contract": handoff.update.contract, "payload": handoff.update.payload}]
    return document


def _evidence(turn: Turn, handoff: Handoff, ending: Ending) -> dict[str, Any]:
    as_planned = ending.ran == turn.run
    ran = {} if ending.ran is None else {ending.ran: handoff.result if as_planned else "it ran"}
    ran |= {handoff.check: handoff.check_result} if handoff.check else {}
    evidence: dict[str, Any] = {
        "patterns_checked": [],
        "files_checked": handoff.read,
        "commands_run": [{"command": command, "result": result} for command, result in ran.items()],
        "key_outputs": [_told(line, ending) for line in handoff.outputs] if as_planned else [ending.said],
        "verbatim_outputs": [],
        "cross_layer_impacts": [],
        "open_gaps": [] if ending.ran else [ending.said],
    }
    if handoff.status == "COMPLETE":
        evidence["verification"] = {
            "result": "pass",
            "verification_method": "test",
            "command": handoff.check or turn.run,
            "exit_code": 0,
            "artifacts_written": [turn.file] if isinstance(turn, Approval) else [],
        }
    return evidence


def _summary(turn: Turn, handoff: Handoff, ending: Ending) -> str:
    return _told(handoff.summary, ending) if handoff.summary and ending.ran == turn.run else ending.said


def _told(line: str, ending: Ending) -> str:
    return line.replace("{answer}", ending.answer)
