"""What a role never does: talk on the bus, seek a consensus, steer loops; and what no role-spec has: code, gaps.

Tables of patterns over the body as its reader takes it. Words cannot be judged to the last: what is found is meant to
be sure. Pure; called by `validate`; linear in the body.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gemba.documents.finding import Fault
from gemba.documents.plain import Plain

_ATTEMPTS = "(?:retr(?:y|ies)|iterations?|rounds?|attempts?|loops?|cycles?)"
_AGAIN = "(?:retry|retries|repeat|iterate|loop|try again|keep (?:trying|going|fixing))"

_NEVER = (
    ("bus-call", r"\bteam[_-]msg\b"),
    ("bus-call", r"\bgemba team msg\b"),
    ("bus-call", r"\bmcp__\w{0,40}(?:team|msg|message)\w{0,40}"),
    ("bus-call", r"\b(?:send|post|broadcast|read|list|poll)[_-]?messages?\("),
    ("bus-call", r"\b(?:sendmessage|send_message|broadcast_message|log_message|read_messages|get_state)\b"),
    ("bus-call", r"\b(?:taskcreate|taskupdate|tasklist|taskget)\b"),
    ("bus-call", r"\bmessage bus\b|\bmessages\.jsonl\b"),
    ("bus-call", r"/api/teams/[^\s/]{0,80}/messages\b"),
    (
        "bus-call",
        r"\b(?:send|post|write|broadcast)\b[^.;:\n|]{0,40} (?:message|broadcast)s? to (?:the |all |every )?\w",
    ),
    ("consensus", r"\bconsensus\w{0,20}"),
    ("consensus", r"\bquorum\b|\b(?:majority|unanimous) (?:vote|decision)s?\b"),
    ("consensus", r"\b(?:vote|votes|voting) (?:on|for|among|between|by|of)\b"),
    ("consensus", r"\b(?:discussion|debate|voting) rounds?\b"),
    ("loop-logic", rf"\bmax(?:imum)?[_ -]?(?:number of )?{_ATTEMPTS}\b"),
    ("loop-logic", rf"\b(?:at most|up to|no more than) (?:\d{{1,4}}|two|three|four|five|ten) {_ATTEMPTS}\b"),
    ("loop-logic", rf"\b{_AGAIN}\b[^.;\n|]{{0,60}}\b(?:until|while|up to|at most|times)\b"),
    ("loop-logic", r"\b(?:go|jump|return|loop|come) back to (?:phase|step)\b"),
    ("loop-logic", r"\b(?:repeat|re-?run|restart|redo|re-?enter|goto|go to|return to) (?:from |at |with )?phase \d"),
    ("loop-logic", r"\b(?:claim|take|pick|pick up|fetch|get|start|find) (?:the |its |your )?next (?:ready )?task\b"),
    ("loop-logic", r"\binner[ _-]?loop\b"),
    ("loop-logic", r"\bwhile (?:true|not|there (?:is|are)|tasks?|any)\b"),
    ("loop-logic", r"\bfor each (?:ready |open |remaining )?task\b|\bloop (?:over|through|until|while|again|back)\b"),
)
# Types of messages, which the State line may name.
_TYPES = re.compile(r"\b(?:state_update|task_complete|task_unblocked|capability_gap)\b")
_PATTERNS = tuple((rule, re.compile(pattern)) for rule, pattern in _NEVER)

_PLACEHOLDER = re.compile(r"<(?:[^\W\d_][^<>\n]{0,120}|\.\.\.|…|_{1,20})>")
_ADDRESS = re.compile(r"<(?:[a-z][a-z0-9+.-]{1,20}://|mailto:|[^\s<>@]{1,64}@[^\s<>@]{1,100}>)", re.IGNORECASE)


def conduct_faults(plain: Plain, state_lines: Collection[int]) -> Iterator[Fault]:
    """What the body must not have. `state_lines` are those that say what is reported."""
    for rule, pattern in _PATTERNS:
        for found in pattern.finditer(plain.text):
            yield Fault(rule, plain.line(found.start()), found[0])
    for found in _TYPES.finditer(plain.text):
        line = plain.line(found.start())
        if line not in state_lines:
            yield Fault("bus-call", line, found[0])


def gaps(lines: list[str], first_line: int) -> Iterator[Fault]:
    """What was to be filled in and is not; an address in angle brackets is none."""
    for number, line in enumerate(lines, first_line):
        for found in _PLACEHOLDER.finditer(line):
            if _ADDRESS.match(found[0]) is None:
                yield Fault("placeholder", number, found[0])
