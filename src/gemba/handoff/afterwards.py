"""Codes that come after the verdict, where a dispatch is known: its status, its files and commands, its contracts.

The same rows as those of `rules.py`, kept apart because no text alone can earn them. Read by `reference` for the page
and `gemba handoff explain`.
"""

from __future__ import annotations

from gemba.handoff.fields import COMPLETE, IN_PROGRESS, PLAN_STATUS, UPDATE_CONTRACTS, VERIFICATION
from gemba.handoff.rules import Rule
from gemba.handoff.status import RETRY_CAP

RULES: tuple[Rule, ...] = (
    Rule(
        "illegal_move",
        PLAN_STATUS.pointer,
        "the dispatch cannot go from its status to the one that was sent",
        "refused",
        "the dispatch is {found}; allowed: {fits}",
        f"send {IN_PROGRESS}, or wait until the dispatch's next turn starts",
        "",
    ),
    Rule(
        "IN_PROGRESS_LIMIT",
        PLAN_STATUS.pointer,
        f"{IN_PROGRESS} was sent {RETRY_CAP + 1} times in a row, and is sent again",
        "refused",
        f"{IN_PROGRESS} came {{found}} times in a row, which is the most",
        "send another status; a person's answer starts the count anew",
        "",
    ),
    Rule(
        "WORLD:<check>",
        VERIFICATION.pointer,
        f"a {COMPLETE} claims what the files, the recorded tool calls or a command that is run again do not show, and "
        "the gate requires that check",
        "refused",
        "claimed and found differ: {found}",
        "do what was claimed, or claim what was done; then send the envelope again",
        "",
    ),
    Rule(
        "LIVE_STATE",
        f"{UPDATE_CONTRACTS.pointer}/*/payload",
        "a payload has a value that only running systems can tell: a count, a status, an id, an address",
        "warning",
        "{found} is live state; in a strict section the updates are refused",
        "write where the value can be looked up",
        "",
    ),
)
