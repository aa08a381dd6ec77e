"""What an agent is told about an envelope that was refused, and whether it is asked again. Pure and deterministic.

The text names what is wrong and nothing else, with an example of what is missing: a few hundred bytes, whatever was
sent. Called by the stop hooks and the gate; a hook process pays for this import: standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gemba.handoff import fields, rules
from gemba.handoff.finding import Finding
from gemba.handoff.verdict import Verdict

CAP = 2  # repairs of one turn
_LONGEST_LINE = 300  # characters
_MOST_LINES = 10

# What a skeleton must not say for its agent; a COMPLETE with what stands there instead is refused.
_CLAIMS = {
    '"result": "pass"': '"result": "<pass, if you have seen it pass>"',
    '"verification_method": "test"': '"verification_method": "<read, syntax check, diff or test>"',
}

# With these the example alone would teach an agent to say what is not so.
_IN_FULL = (rules.LOOP_INCOMPLETE.head, *(field.code for field in fields.FIELDS if field.wrong == "missing"))


def repair_text(verdict: Verdict, agent_id: str = "") -> str:
    """What to mend, for the agent that sent it, by its own id if that is known; empty for an envelope that is valid."""
    wrong = [finding for finding in verdict.findings if finding.severity != "warning"]
    if not wrong:
        return ""
    if wrong[0].pointer == rules.NO_BLOCK.pointer:
        return _about_the_block(wrong[0], agent_id)
    absent: dict[str, list[str]] = {}  # part → examples of what is missing in it
    lines: list[str] = []
    for finding in wrong:
        field = fields.BY_POINTER.get(finding.pointer)
        if field is None or finding.severity == "invalid" or finding.code in _IN_FULL or field.allowed or field.pattern:
            lines.append(_line(finding))
            continue
        if field.part not in absent:
            absent[field.part] = []
            lines.append(field.part)
        absent[field.part].append(f'"{field.key}": {_unclaimed(field.example)}')
    told = [_added(line, absent[line]) if line in absent else line for line in lines[:_MOST_LINES]]
    more = [f"- and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    first = "Your handoff was not accepted. Mend this, then send the whole block again:"
    return "\n".join([first, *told, *more, f"The block is {rules.HOW_TO_FENCE}."])


def _about_the_block(finding: Finding, agent_id: str) -> str:
    skeleton = _unclaimed(fields.json_of((fields.AGENT_STATUS, fields.EVIDENCE_REPORT)))
    if agent_id:
        skeleton = skeleton.replace(fields.AGENT_ID.example, f'"{agent_id}"')
    return "\n".join(
        [
            f"Your handoff was not accepted: {_cut(finding.message)}.",
            f"{_cut(finding.hint)}." if finding.code != rules.NO_BLOCK.code else "",
            f"End your turn with {rules.HOW_TO_FENCE}. It has at least, in words of your own:",
            skeleton,
        ]
    ).replace("\n\n", "\n")


def _unclaimed(example: str) -> str:
    """An example without a claim that an agent could send back as it is: what it has to say stands in its place."""
    for claim, place in _CLAIMS.items():
        example = example.replace(claim, place)
    return example


def _line(finding: Finding) -> str:
    return _cut(f"- {finding.message} ({finding.hint})")


def _added(part: str, examples: list[str]) -> str:
    where = f"{part[1:].replace('/', '.')}: " if part else ""
    return f"- {where}add {', '.join(examples)}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 1]}…"


def next_step(
    codes_before: Sequence[Sequence[str]], codes_now: Sequence[str], cap: int = CAP
) -> Literal["repair", "escalate"]:
    """What follows a refusal with these codes, after those of the same turn: the same codes again are no progress.

    `codes_before` has a list of codes for each refusal so far. TypeError for anything else: a text is a sequence too.
    """
    if any(isinstance(codes, str) for codes in (codes_before, codes_now, *codes_before)):
        raise TypeError("codes_before has a list of codes for each refusal, such as [['AGENT_ID']]; codes_now is one")
    now = set(codes_now)
    is_repeated = any(set(before) == now for before in codes_before)
    return "escalate" if is_repeated or len(codes_before) >= cap else "repair"
