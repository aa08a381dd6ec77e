"""The validator's rules as a table: an id, how grave it is, what to say and what helps. `{found}` is what was found.

An error keeps a role-spec from being used, a warning does not. Read by the validator, and by `docs/roles.md`.
"""

from __future__ import annotations

from gemba.documents.finding import Rule
from gemba.teams.roles.role_spec import (
    KEYS,
    LEAST_ERRORS,
    LEAST_MUST,
    LONG,
    MOST_MUST,
    OPTIONAL,
    PREFIX_RULE,
    ROLE_RULE,
    TOO_LONG,
)

_REQUIRED = ", ".join(key for key in KEYS if key not in OPTIONAL)
_TRAITS_HINT = "`gemba roles traits` prints the block: put it into phase 4 to the letter"

_TABLE = (
    # ---- the file
    Rule(
        "file-unreadable",
        "error",
        "this file cannot be read: {found}",
        "a role-spec is a file of a page or two that your user can read",
    ),
    Rule("file-not-text", "error", "this is no text in UTF-8: {found}", "save it as UTF-8"),
    Rule("too-many-files", "error", "there are more files than are read here: {found}", "name fewer folders"),
    Rule(
        "long",
        "warning",
        f"it has {{found}} lines without the traits; better: up to {LONG}",
        "say what is to be achieved, and leave to the agent how",
    ),
    Rule(
        "too-long",
        "error",
        f"it has {{found}} lines without the traits; allowed: up to {TOO_LONG}",
        "say what is to be achieved, and leave to the agent how; two jobs are two roles",
    ),
    # ---- the front matter
    Rule(
        "front-matter-missing",
        "error",
        "the file does not begin with front matter",
        "the first line is ---, then come the keys, then --- again: `gemba roles new` writes an example",
    ),
    Rule("front-matter-unclosed", "error", "the front matter does not end", "a line --- stands behind the keys"),
    Rule(
        "front-matter-yaml",
        "error",
        "the front matter is no YAML: {found}",
        "one line a key, as in `prefix: IMPL`; a text with : or # in it goes into quotes",
    ),
    Rule("front-matter-shape", "error", "the front matter is {found}; allowed: a table", f"its keys are {_REQUIRED}"),
    Rule(
        "key-missing",
        "error",
        "missing here: {found}",
        f"front matter has all of {_REQUIRED}; message_types has success and error",
    ),
    Rule("key-unknown", "error", "unknown key {found}", f"front matter has {', '.join(KEYS)} and nothing else"),
    Rule("key-twice", "error", "{found} stands here a second time", "a key stands once"),
    Rule("key-misfit", "error", "{found}", "`gemba roles new` writes an example of every key"),
    Rule("role-malformed", "error", f"role is {{found}}; allowed: {ROLE_RULE}", "it is the name of a file, too"),
    Rule("prefix-malformed", "error", f"prefix is {{found}}; allowed: {PREFIX_RULE}", "its tasks are PREFIX-001, …"),
    Rule(
        "output-tag",
        "error",
        "output_tag is {found}",
        'it is the role in brackets and quotes, as in `output_tag: "[developer]"`, or a list of the role alone',
    ),
    Rule(
        "message-success",
        "error",
        "message_types.success is {found}",
        "it is the prefix in small letters with _complete behind it, such as impl_complete",
    ),
    Rule("message-error", "error", "message_types.error is {found}; allowed: error", "all roles have the same"),
    Rule(
        "cli-tool-unknown",
        "error",
        "no agent type is called {found}",
        "cli_tools has names from .gemba/agents.toml: `gemba agents` lists them",
    ),
    Rule("cli-tool-twice", "error", "{found} stands in cli_tools twice", "name each once"),
    # ---- the sections
    Rule(
        "title-missing",
        "error",
        "there is no title of a role",
        "the body begins with a line `# Release Writer — Phase 2-4`",
    ),
    Rule(
        "section-missing",
        "error",
        "missing here: {found}",
        "a role-spec has Identity, Boundaries (MUST, MUST NOT), phases 2, 3 and 4, and Error Handling",
    ),
    Rule("section-twice", "error", "{found} stands here a second time", "put what belongs together into one"),
    Rule(
        "section-order",
        "error",
        "{found}",
        "their order: title, Identity, Boundaries, MUST, MUST NOT, phases 2, 3 and 4, Error Handling",
    ),
    Rule(
        "identity-tag",
        "error",
        "Identity has {found}",
        "role and prefix stand there as in the front matter: `Tag: [developer] | Prefix: IMPL-*`",
    ),
    Rule(
        "identity-responsibility",
        "error",
        "Identity does not say what the role is responsible for",
        "one line, as in `Responsibility: makes the change that the design asks for`",
    ),
    Rule(
        "must-count",
        "error",
        f"MUST has {{found}}; allowed: {LEAST_MUST} to {MOST_MUST} items",
        "each a line that begins with -, and what matters most",
    ),
    Rule(
        "must-not-missing",
        "error",
        "MUST NOT does not forbid to {found}",
        "it has an item each against work outside the prefix, changing other roles' artifacts and skipping phase 4",
    ),
    # ---- the phases
    Rule(
        "phase-missing",
        "error",
        "missing here: {found}",
        "a role has `## Phase 2: …` (context), `## Phase 3: …` (work) and `## Phase 4: …` (verification)",
    ),
    Rule(
        "phase-foreign",
        "error",
        "{found} is not a role's",
        "phase 1 (a task is claimed) and phase 5 (its end is reported) are done by the engine: leave them out",
    ),
    Rule("phase-unnamed", "error", "phase {found} has no name", "as in `## Phase 2: Read the design`"),
    Rule("phase-empty", "error", "phase {found} says nothing", "say what is to be achieved there; a goal, not a tool"),
    Rule(
        "loads-missing",
        "error",
        "phase 2 does not say what it loads",
        "a line `Loads: …` names the sources: artifacts and state from upstream, files, wisdom",
    ),
    Rule(
        "publishes-missing",
        "error",
        "phase 4 does not say what it publishes",
        "a line `Publishes: …` names the artifacts that others may load",
    ),
    Rule(
        "state-missing",
        "error",
        "phase 4 does not say what it reports",
        "a line `State: …` names what is reported, such as key findings and decisions; the engine sends it",
    ),
    Rule("traits-missing", "error", "the traits are missing", _TRAITS_HINT),
    Rule("traits-changed", "error", "the traits are not the generated ones: {found}", _TRAITS_HINT),
    Rule("traits-outdated", "error", "the traits are those of another version: {found}", _TRAITS_HINT),
    Rule("traits-misplaced", "error", "the traits do not stand in phase 4", _TRAITS_HINT),
    Rule("traits-twice", "error", "the traits stand here a second time", "leave one block, that in phase 4"),
    # ---- errors
    Rule(
        "errors-table",
        "error",
        "Error Handling has no table of scenarios",
        "its first lines are `| Scenario | Resolution |` and `|---|---|`",
    ),
    Rule(
        "errors-few",
        "error",
        f"the table of errors has {{found}}; allowed: {LEAST_ERRORS} rows or more",
        "say what may fail in each phase, and what the agent does then; a row with an empty cell is none",
    ),
    # ---- what a role never does
    Rule("placeholder", "error", "{found} is not filled in", "write what is meant, without angle brackets"),
    Rule(
        "bus-call",
        "error",
        "the role sends or reads messages itself: {found}",
        "the `State:` line says what is reported, and the engine sends it; what is upstream comes with the task",
    ),
    Rule(
        "consensus",
        "error",
        "the role seeks a consensus: {found}",
        "the engine asks reviewers, counts, and holds what they object to",
    ),
    Rule(
        "loop-logic",
        "error",
        "the role repeats its work by rules of its own: {found}",
        "attempts, limits and the next task are the engine's: say what is to be achieved, once",
    ),
    Rule(
        "fenced-code",
        "error",
        "there is a block of code",
        "say in words what is to be achieved; a name or a path may stand in backticks",
    ),
)

RULES = {rule.id: rule for rule in _TABLE}
