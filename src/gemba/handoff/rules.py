"""What a verdict can say, as data: one row a rule. The verdict, JSON Schema, reference page, repair message, template
and `gemba handoff explain` are made from these rows and those of `fields.py`, so that no two of them disagree.

A code that ends in `:<x>` stands for all those that have a value there. A hook process pays for this import: standard
library only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gemba.handoff.fields import (
    AGENT_ID,
    AGENT_STATUS,
    APPROVAL,
    APPROVAL_REQUEST,
    BLOCKED,
    COMPLETE,
    CONDITIONS,
    CONTRACT,
    DIRECTION,
    FENCE,
    IN_PROGRESS,
    LOOP_STATE,
    MEMORIALIZE,
    MEMORY_CLASS,
    MEMORY_TYPE,
    OPEN_GAPS,
    PLAN_STATUS,
    SUGGESTION,
    UPDATE,
    UPDATE_CONTRACTS,
    WHEN_COMPLETE,
    WHEN_TEAM,
    Field,
)
from gemba.handoff.fields import FIELDS as FIELDS
from gemba.handoff.fields import PLAN_STATUSES as PLAN_STATUSES


class Rule(NamedTuple):
    """One rule. `{found}` and `{fits}` in a message stand for what is there and what may be."""

    code: str
    pointer: str
    when: str
    severity: str  # missing | invalid | warning; after the verdict refused
    message: str
    hint: str
    example: str

    @property
    def head(self) -> str:
        return self.code.partition(":")[0]


HOW_TO_FENCE = f"a line that ends in ```{FENCE}, one JSON object, then ``` on a line of its own"
_BLOCK = f'```{FENCE}\\n{{"{AGENT_STATUS.key}": …}}\\n```'

# Why a block has no body, as BODY names it.
BODY_CAUSES = {
    "text_size": "the text has more than 64 MiB",
    "body_size": "the body has more than 8 MiB",
    "depth": "the body is nested more than 512 deep",
    "number": "an integer has more than 4,300 digits",
    "syntax": "the body is not JSON",
    "unclosed": "the block is opened and never closed",
    "type": "the body is JSON and not an object",
    "line": "the line of a .jsonl file is no object with a text",
}

BODY = Rule(
    "BODY:<cause>",
    "",
    "there is a block, and no block has an object as its body",
    "invalid",
    "the body cannot be used: {found}",
    "one JSON object: double quotes, no comments, no trailing commas",
    _BLOCK,
)
NOT_UTF8 = Rule(
    "NOT_UTF8",
    "",
    "the text is bytes that are not UTF-8",
    "warning",
    "the text is not UTF-8; what could not be read is U+FFFD",
    "send UTF-8",
    "",
)
SEVERAL_BLOCKS = Rule(
    "SEVERAL_BLOCKS:<n>",
    "",
    "the text has more than one block",
    "warning",
    "the text has {found} blocks; the last one whose body is an object is taken",
    "one block, at the end of your text",
    "",
)
DUPLICATE_KEY = Rule(
    "DUPLICATE_KEY",
    "",
    "a key stands twice in one object",
    "warning",
    "{found} stands there more than once; the last one is taken",
    "each key once",
    "",
)
NO_BLOCK = Rule(
    AGENT_STATUS.code,
    "",
    "the text has no block",
    "missing",
    f"there is no {FENCE} block",
    f"end your turn with {HOW_TO_FENCE}",
    _BLOCK,
)
OTHER_AGENT = Rule(
    f"{AGENT_ID.code}:<x>",
    AGENT_ID.pointer,
    "the input has another agent_id",
    "invalid",
    f"{AGENT_ID.name} is {{found}}; this dispatch has {{fits}}",
    AGENT_ID.hint,
    f'"{AGENT_ID.key}": {AGENT_ID.example}',
)
BLOCKED_WITHOUT_GAP = Rule(
    "BLOCKED_WITHOUT_GAP",
    OPEN_GAPS.pointer,
    f"plan_status is {BLOCKED} and open_gaps is empty",
    "warning",
    f"{OPEN_GAPS.name} is empty; what blocks you is not named",
    "name what is in the way",
    f'"{OPEN_GAPS.key}": ["no access to the registry"]',
)
APPROVAL_UNEXPECTED = Rule(
    "APPROVAL_REQUEST_UNEXPECTED",
    APPROVAL_REQUEST.pointer,
    f"plan_status is not {APPROVAL}",
    "warning",
    f"{APPROVAL_REQUEST.name} stands beside plan_status {{found}}; nothing is requested",
    f"send plan_status {APPROVAL} with it, or leave it out",
    f'"{PLAN_STATUS.key}": "{APPROVAL}"',
)
LOOP_INCOMPLETE = Rule(
    "LOOP_STATE_INCOMPLETE:<iteration>/<max_iterations>,<metric>/<threshold>",
    LOOP_STATE.pointer,
    f"plan_status is {COMPLETE}, iterations are left and the metric is short of the threshold",
    "invalid",
    f"{LOOP_STATE.name} has iterations left and its metric is short of the threshold: {{found}}",
    f"go on with plan_status {IN_PROGRESS}; a metric where lower is better has direction lower",
    f'"{PLAN_STATUS.key}": "{IN_PROGRESS}"',
)
SUGGESTION_SKIPPED = Rule(
    "MEMORIALIZE_SUGGESTIONS_SKIPPED:<n>",
    SUGGESTION.pointer,
    "an entry has no description or body, or a field of another type than text",
    "warning",
    f"{MEMORIALIZE.name}: entry {{found}} is skipped",
    "description and body, and whatever else there is, are text",
    SUGGESTION.example,
)
UPDATE_MALFORMED = Rule(
    "UPDATE_CONTRACTS_MALFORMED:<n>",
    UPDATE.pointer,
    "an entry has no contract (text) or no payload (an object)",
    "warning",
    f"{UPDATE_CONTRACTS.name}: entry {{found}} is dropped",
    "contract is text and payload an object",
    UPDATE.example,
)
UPDATE_NOT_WRITABLE = Rule(
    "UPDATE_CONTRACTS_NOT_WRITABLE:<name>",
    CONTRACT.pointer,
    "the input does not list this contract in writable_sections",
    "warning",
    f"{UPDATE_CONTRACTS.name}: {{found}} is not writable in this turn and is dropped; writable: {{fits}}",
    "update only what your input lists in write_permissions.writable_sections",
    UPDATE.example,
)
UPDATE_TWICE = Rule(
    "UPDATE_CONTRACTS_TWICE:<name>",
    CONTRACT.pointer,
    "one contract has several entries",
    "warning",
    f"{UPDATE_CONTRACTS.name}: {{found}} stands there more than once; the entries are merged in their order",
    "one entry a contract",
    UPDATE.example,
)
UNKNOWN_FIELD = Rule(
    "UNKNOWN_FIELD:<name>",
    "/*",
    "a field is not in the table; invalid in strict mode",
    "warning",
    "{found} is no field of the contract",
    "leave it out",
    "",
)


class Implied(NamedTuple):
    """The rules that a field's row implies, where it has them."""

    absent: Rule | None  # missing; of an advisory field a warning
    wrong: Rule | None  # invalid
    ignored: Rule | None  # of another type where nothing is required: a warning


def implied_by(field: Field) -> Implied:
    when, example = CONDITIONS[field.when], f'"{field.key}": {field.example}'
    is_needed = field.presence in ("required", "conditional")
    absent = Rule(
        field.code,
        field.pointer,
        when,
        "missing",
        f"{field.name} is {{found}}; {'needed' if is_needed else 'advised'}: {field.fits}",
        field.hint,
        example,
    )
    wrong = Rule(
        f"{field.code}:<{'x' if field.allowed or field.pattern else 'type'}>",
        field.pointer,
        when,
        "invalid",
        f"{field.name} is {{found}}; allowed: {field.fits}",
        field.hint,
        example,
    )
    fate = "kept" if field in (MEMORY_TYPE, MEMORY_CLASS) else "ignored"
    ignored = wrong._replace(severity="warning", message=f"{wrong.message}; it is {fate}")
    if field.when == WHEN_TEAM:
        ignored = ignored._replace(when=f"{CONDITIONS[WHEN_COMPLETE]} and the input has no task_id")
    if field.presence == "advisory":
        absent = absent._replace(code=f"{field.part[1:].upper()}_FIELD_MISSING:<f>", severity="warning")
    return Implied(
        absent if field.presence != "optional" else None,
        wrong if is_needed and field.wrong == "invalid" else None,
        ignored if field.types and (not is_needed or field.when == WHEN_TEAM) else None,
    )


OTHER_TYPE, OTHER_CLASS = (
    rule for field in (MEMORY_TYPE, MEMORY_CLASS) if (rule := implied_by(field).ignored) is not None
)

# Rules that no single field's row implies, behind those of the field at which they are judged.
_BESIDE: dict[str, tuple[Rule, ...]] = {
    AGENT_STATUS.pointer: (NO_BLOCK,),
    AGENT_ID.pointer: (OTHER_AGENT,),
    OPEN_GAPS.pointer: (BLOCKED_WITHOUT_GAP,),
    APPROVAL_REQUEST.pointer: (APPROVAL_UNEXPECTED,),
    DIRECTION.pointer: (LOOP_INCOMPLETE,),
    MEMORIALIZE.pointer: (SUGGESTION_SKIPPED, OTHER_TYPE, OTHER_CLASS),
    UPDATE_CONTRACTS.pointer: (UPDATE_MALFORMED, UPDATE_NOT_WRITABLE, UPDATE_TWICE),
}


def _all_rules() -> Iterator[Rule | None]:
    yield from (NOT_UTF8, SEVERAL_BLOCKS, DUPLICATE_KEY, BODY)
    for field in FIELDS:
        yield from implied_by(field)
        yield from _BESIDE.get(field.pointer, ())
    yield UNKNOWN_FIELD


RULES: tuple[Rule, ...] = tuple(rule for rule in _all_rules() if rule is not None)


def rows_of(code: str, among: Sequence[Rule] = RULES) -> list[Rule]:
    """The rows of a code, as it stands in the table or as a verdict has it."""
    exact = [rule for rule in among if rule.code == code]
    if exact:
        return exact
    head, colon, _ = code.partition(":")
    return [rule for rule in among if colon and rule.head == head and rule.code != head]


def find(code: str) -> Rule | None:
    """The row of a code such as `PLAN_STATUS`, `PLAN_STATUS:<x>` or `PLAN_STATUS:DONE`."""
    return next(iter(rows_of(code)), None)
