"""What an output envelope holds, as data: one row a field, in the order in which they are judged.

`FIELDS` has the fields of the envelope, `ITEMS` those of the entries of two lists. `rules.py` makes its rules from
these rows. No field name, code or enumeration of the envelope is written down anywhere but in these two modules.

A hook process pays for this import: standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

FENCE = "agent_contract_handoff"

PLAN_STATUSES = ("IN_PROGRESS", "APPROVAL_REQUEST", "COMPLETE", "BLOCKED", "NEEDS_INPUT")
IN_PROGRESS, APPROVAL, COMPLETE, BLOCKED, NEEDS_INPUT = PLAN_STATUSES

# The types of JSON as codes name them, and in words.
TYPES = {"object": "an object", "list": "a list", "string": "text", "number": "a number", "boolean": "true or false"}

# When a field that is not always required is: the name for programs, and in words.
ALWAYS, WHEN_COMPLETE, WHEN_TEAM = "always", "complete", "team"
WHEN_CONSOLIDATING, WHEN_APPROVAL, WHEN_LOOPING = "consolidation", "approval", "loop"
CONDITIONS = {
    ALWAYS: "always",
    WHEN_COMPLETE: f"plan_status is {COMPLETE}",
    WHEN_TEAM: f"plan_status is {COMPLETE} and the input has a task_id",
    WHEN_CONSOLIDATING: "the input asks for it, or it is present",
    WHEN_APPROVAL: f"plan_status is {APPROVAL}",
    WHEN_LOOPING: "loop_state is present",
}

# Where the input envelope says what the verdict needs to know.
INPUT_AGENT_ID = ("metadata", "agent_id")
INPUT_TASK_ID = ("metadata", "task_id")
INPUT_WRITABLE = ("write_permissions", "writable_sections")
INPUT_CONSOLIDATION = (  # any of these that is true
    ("agent_contract_handoff", "consolidation_required"),
    ("agent_contract_handoff", "cross_check_required"),
    ("surface_routing", "multi_surface"),
)


class Field(NamedTuple):
    """One field of the envelope."""

    pointer: str  # `*` is any entry of a list
    types: tuple[str, ...]  # of JSON; none: whatever it is
    hint: str
    example: str = ""  # the JSON of a value that passes
    presence: str = "required"  # required | conditional | advisory (its absence is a warning) | optional
    code: str = ""  # when nothing is said: its name in capitals
    when: str = ""  # one of CONDITIONS; when nothing is said: as its part
    allowed: tuple[str, ...] = ()
    pattern: str = ""  # of the whole text
    fold: str = ""  # upper | lower: compared trimmed and in this case; "": to the letter
    empty: str = ""  # what an empty list or object counts as: missing | invalid; "": it may be empty
    wrong: str = "invalid"  # what any other value counts as: invalid with it, or missing without

    @property
    def key(self) -> str:
        return self.pointer.rpartition("/")[2]

    @property
    def part(self) -> str:
        """The pointer of what it stands in."""
        return self.pointer.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.pointer[1:].replace("/", ".")

    @property
    def fits(self) -> str:
        """What may stand there, in words."""
        if self.allowed:
            return " or ".join(self.allowed) if len(self.allowed) < 3 else f"one of {', '.join(self.allowed)}"
        if self.pattern:
            return f"text that matches ^{self.pattern}$"
        words = " or ".join(TYPES[kind] for kind in self.types) or "anything"
        return (
            f"{words}, not empty" if self.empty or (self.presence != "optional" and "string" in self.types) else words
        )


_TEXT, _LIST, _OBJECT, _NUMBER, _ANYTHING = ("string",), ("list",), ("object",), ("number",), ()
_TEXT_OR_LIST, _TEXT_LIST_OR_OBJECT = ("string", "list"), ("string", "list", "object")


def _within(part: Field, *fields: Field, prefix: str = "", inner_part: tuple[Field, ...] = ()) -> tuple[Field, ...]:
    """A part and its fields, which are required when it is; an example of the part is made of theirs."""
    inner = tuple(
        field._replace(
            pointer=f"{part.pointer}/{field.pointer}",
            presence=part.presence if field.presence == "required" else field.presence,
            when=field.when or part.when or ALWAYS,
            code=field.code or f"{prefix}{field.pointer}".upper(),
        )
        for field in fields
    )
    example = part.example or json_of(field for field in (*inner, *inner_part[:1]) if field.presence != "optional")
    return (_alone(part)._replace(example=example), *inner, *inner_part)


def _alone(field: Field) -> Field:
    return field._replace(code=field.code or field.key.upper(), when=field.when or ALWAYS)


def json_of(fields: Iterable[Field]) -> str:
    """An object that has these fields, each with its example."""
    return "{" + ", ".join(f'"{field.key}": {field.example}' for field in fields) + "}"


_VERIFICATION = _within(
    Field(
        "/evidence_report/verification",
        _OBJECT,
        "how you made sure that the work is done",
        presence="conditional",
        code="VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE",
        when=WHEN_COMPLETE,
        wrong="missing",
    ),
    Field(
        "result",
        _TEXT,
        f"nothing but pass goes with {COMPLETE}: what does not pass is {IN_PROGRESS} or {BLOCKED}",
        '"pass"',
        code="VERIFICATION_RESULT_MUST_BE_PASS",
        allowed=("pass",),
        fold="lower",
        wrong="missing",
    ),
    Field(
        "artifacts_written", _LIST, "paths of what the task asked for", "[]", code="ARTIFACTS_WRITTEN", when=WHEN_TEAM
    ),
    Field(
        "verification_method",
        _TEXT,
        "read, syntax check, diff, test",
        '"test"',
        code="VERIFICATION_METHOD",
        when=WHEN_TEAM,
    ),
    Field("command", _TEXT, "what was run to verify", '"make test"', "optional"),
    Field("exit_code", _NUMBER, "the exit code of that command", "0", "optional"),
    Field("files_produced", _LIST, "paths of new files", "[]", "optional"),
    Field("files_modified", _LIST, "objects of path, lines_before and lines_after", "[]", "optional"),
    Field("details", _ANYTHING, "anything else about it", '"12 passed"', "optional"),
    prefix="verification_",
)

FIELDS: tuple[Field, ...] = (
    *_within(
        Field("/agent_status", _OBJECT, "how the turn ended, and what comes next"),
        Field(
            "plan_status",
            _TEXT,
            "how the turn ended, in any case",
            '"IN_PROGRESS"',
            allowed=PLAN_STATUSES,
            fold="upper",
        ),
        Field(
            "agent_id",
            _TEXT,
            "the metadata.agent_id of your input, to the letter",
            '"a0123456789abcdef"',
            pattern="a[0-9a-f]{5,}",
        ),
        Field("pending_steps", _LIST, "what is left to do", "[]"),
        Field("next_action", _TEXT, "what should happen next; the options when you need input", '"none"'),
    ),
    *_within(
        Field(
            "/evidence_report",
            _OBJECT,
            f"what you looked at, ran and found: seven lists, which may be empty; with {COMPLETE} also a verification",
        ),
        Field("patterns_checked", _LIST, "conventions of the code that you compared with", "[]"),
        Field("files_checked", _LIST, "paths that you read", "[]"),
        Field("commands_run", _LIST, "commands, or objects of command and result", "[]"),
        Field("key_outputs", _LIST, "what came out, in a few words each", "[]"),
        Field("verbatim_outputs", _LIST, "output to the letter where it matters", "[]"),
        Field("cross_layer_impacts", _LIST, "what else is touched by this", "[]"),
        Field("open_gaps", _LIST, "what is unknown or in the way", "[]"),
        inner_part=_VERIFICATION,
    ),
    *_within(
        Field(
            "/consolidation_report",
            _OBJECT,
            "what you make of the work of several surfaces or roles",
            presence="conditional",
            when=WHEN_CONSOLIDATING,
        ),
        Field(
            "ownership_assessment",
            _TEXT,
            "whose work this is, to the letter",
            '"owned_here"',
            allowed=("owned_here", "cross_surface_dependency", "not_my_surface"),
        ),
        Field("confirmed_findings", _LIST, "what is certain", "[]"),
        Field("suspected_findings", _LIST, "what is likely", "[]"),
        Field("conflicts", _LIST, "where the sources contradict each other", "[]"),
        Field("open_gaps", _LIST, "what nobody could tell", "[]"),
        Field("next_best_agent", _TEXT_OR_LIST, "who should go on, or a list of them", '"none"', empty="invalid"),
    ),
    *_within(
        Field(
            "/approval_request",
            _OBJECT,
            "what you want to run, exactly, and how it is undone and checked",
            presence="conditional",
            when=WHEN_APPROVAL,
        ),
        Field("rollback", _TEXT_LIST_OR_OBJECT, "how it is undone", '"git revert HEAD"', empty="missing"),
        Field("verification", _TEXT_LIST_OR_OBJECT, "how its success is checked", '"git status"', empty="missing"),
        Field("operation", _TEXT, "what it does, in a few words", '"push"', "advisory"),
        Field("exact_content", _TEXT, "the exact command or content", '"git push origin main"', "advisory"),
        Field("scope", _TEXT_LIST_OR_OBJECT, "what it touches", '"branch main"', "advisory"),
        Field(
            "risk_level",
            _TEXT,
            "how much harm it can do, in any case",
            '"MEDIUM"',
            "advisory",
            code="APPROVAL_REQUEST_INVALID_RISK_LEVEL",
            allowed=("LOW", "MEDIUM", "HIGH", "CRITICAL"),
            fold="upper",
        ),
        Field("approval_id", _TEXT, "the id of an earlier request for the same", '"01J9ZQ"', "optional"),
        prefix="approval_request_",
    ),
    *_within(
        Field("/loop_state", _OBJECT, "how far a loop has come; counts only with four numbers", presence="optional"),
        Field("iteration", _NUMBER, "how often it ran", "5", "advisory", when=WHEN_LOOPING),
        Field("max_iterations", _NUMBER, "how often it may run", "5", "advisory", when=WHEN_LOOPING),
        Field("metric", _NUMBER, "what was reached", "0.8", "advisory", when=WHEN_LOOPING),
        Field("threshold", _NUMBER, "what is to be reached", "0.9", "advisory", when=WHEN_LOOPING),
        Field("direction", _TEXT, "which metric is better", '"higher"', "optional", allowed=("higher", "lower")),
        prefix="loop_state_",
    ),
    _alone(Field("/user_facing_summary", _TEXT, "the only text for the person", '"Port 8000 it is."', "optional")),
    _alone(Field("/memorialize_suggestions", _LIST, "what is worth remembering; a person decides", "[]", "optional")),
    _alone(Field("/memory_suggestions", _LIST, "texts that are worth remembering", "[]", "optional")),
    _alone(Field("/rollback_executed", _ANYTHING, "what was undone", "false", "optional")),
    *_within(
        Field("/context_consumption", _OBJECT, "how much of the window is used", "{}", "optional"),
        Field("tokens_used", _NUMBER, "tokens", "52000", "optional"),
        Field("pct_window", _NUMBER, "percent", "26", "optional"),
        prefix="context_consumption_",
    ),
    _alone(Field("/update_contracts", _LIST, "what belongs into the project's knowledge", "[]", "optional")),
)

# Entries of two lists. One without a required field, or with a field of another type, does not count.
ITEMS: tuple[Field, ...] = (
    *_within(
        Field("/memorialize_suggestions/*", _OBJECT, "one thing worth remembering", code="MEMORIALIZE_SUGGESTIONS"),
        Field("description", _TEXT, "what it is about", '"ports"'),
        Field("body", _TEXT, "what to remember", '"8000 is taken by the proxy"'),
        Field("slug", _TEXT, "a short name", '"port-8000"', "optional"),
        Field("type", _TEXT, "what kind it is", '"atom"', "optional", allowed=("atom", "decision", "negative")),
        Field("class", _TEXT, "how long it lives", '"anchor"', "optional", allowed=("anchor", "thread", "log")),
        Field("rationale", _TEXT, "why", '"it cost an hour"', "optional"),
        prefix="memorialize_suggestions_",
    ),
    *_within(
        Field("/update_contracts/*", _OBJECT, "what is merged into one contract", code="UPDATE_CONTRACTS"),
        Field("contract", _TEXT, "one of your writable_sections", '"services"'),
        Field("payload", _OBJECT, "what is merged into it", '{"api": {"port": 8000}}'),
        prefix="update_contracts_",
    ),
)

BY_POINTER = {field.pointer: field for field in (*FIELDS, *ITEMS)}
# The names that are known in every part of the envelope, in the order of the table.
NAMES = {
    part: tuple(field.key for field in FIELDS if field.part == part)
    for part in ("", *(field.pointer for field in FIELDS if field.types == _OBJECT))
}
KNOWN = {part: frozenset(names) for part, names in NAMES.items()}

AGENT_STATUS, PLAN_STATUS = BY_POINTER["/agent_status"], BY_POINTER["/agent_status/plan_status"]
AGENT_ID, NEXT_ACTION = BY_POINTER["/agent_status/agent_id"], BY_POINTER["/agent_status/next_action"]
PENDING_STEPS = BY_POINTER["/agent_status/pending_steps"]
EVIDENCE_REPORT, OPEN_GAPS = BY_POINTER["/evidence_report"], BY_POINTER["/evidence_report/open_gaps"]
VERIFICATION = BY_POINTER["/evidence_report/verification"]
CONSOLIDATION_REPORT, APPROVAL_REQUEST = BY_POINTER["/consolidation_report"], BY_POINTER["/approval_request"]
LOOP_STATE, DIRECTION = BY_POINTER["/loop_state"], BY_POINTER["/loop_state/direction"]
HIGHER, LOWER = DIRECTION.allowed
ITERATION, MAX_ITERATIONS, METRIC, THRESHOLD = LOOP_NUMBERS = [
    field for field in FIELDS if field.part == LOOP_STATE.pointer and field.types == _NUMBER
]
CONTEXT_CONSUMPTION = BY_POINTER["/context_consumption"]
MEMORIALIZE, SUGGESTION = BY_POINTER["/memorialize_suggestions"], BY_POINTER["/memorialize_suggestions/*"]
UPDATE_CONTRACTS, UPDATE = BY_POINTER["/update_contracts"], BY_POINTER["/update_contracts/*"]
MEMORY_TYPE, MEMORY_CLASS = (
    BY_POINTER["/memorialize_suggestions/*/type"],
    BY_POINTER["/memorialize_suggestions/*/class"],
)
CONTRACT, PAYLOAD = BY_POINTER["/update_contracts/*/contract"], BY_POINTER["/update_contracts/*/payload"]
