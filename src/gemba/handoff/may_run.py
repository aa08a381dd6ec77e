"""Which commands of an envelope may be run again to see whether they end as claimed. Pure.

A command is an agent's own words, and nobody was asked about it. So only what is known to read, to check or to
simulate is run; what nobody knows is run only where the operator's gate requires exactly that check; what changes
state is never run, since a grant for it is for one use of the agent's, and neither is what an agent told Gemba. A rule
in `.gemba/approvals.toml` classes a command that the table does not know. Called by the world check of a dispatch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gemba.handoff.check import GatePolicy
from gemba.handoff.rerun import MayRun
from gemba.handoff.risk import RiskRule, classify

_SAID_TO_US = re.compile(r"\bgemba(?:-ask|-state|\s+handoff\s+submit)\b")
_HOW_TO_CLASS = "a rule in .gemba/approvals.toml can say what it is"


def allowed_by(policy: GatePolicy, envelope: dict[str, Any], rules: Sequence[RiskRule]) -> MayRun:
    """Why a command must not be run again, None when it may, for one envelope under one gate."""
    verifying = _verifying(envelope)

    def is_required(command: str) -> bool:
        if policy.rerun_commands == "require":
            return True
        return policy.rerun_verification == "require" and command == verifying

    def why_not(command: str) -> str | None:
        risk = classify(command, rules)
        if risk.level == "T3":
            return f"it changes state ({risk.reason})"
        if _SAID_TO_US.search(command):
            return "it tells Gemba something, which is told"
        if risk.level == "unknown" and not is_required(command):
            return f"nobody knows what it does ({risk.reason}); {_HOW_TO_CLASS}"
        return None

    return why_not


def _verifying(envelope: dict[str, Any]) -> object:
    part: object = envelope
    for key in ("evidence_report", "verification", "command"):
        part = part.get(key) if isinstance(part, dict) else None
    return part
