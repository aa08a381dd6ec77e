"""The linter's rules as a table: an id, how grave it is, what to say and what helps. `{found}` is what was found.

An error keeps a skill from being used, a warning and a note do not.
"""

from __future__ import annotations

from gemba.documents.finding import Rule
from gemba.skills.skill import KEYS, LONGEST_DESCRIPTION, SKILL_ID_RULE, VARIETIES

_TABLE = (
    # ---- the file
    Rule(
        "file-unreadable",
        "error",
        "this file cannot be read: {found}",
        "a skill is a file of a few pages that your user can read",
    ),
    Rule("file-not-text", "error", "this is no text in UTF-8: {found}", "save it as UTF-8"),
    Rule("too-many-files", "error", "there are more files than are read here: {found}", "name fewer folders"),
    # ---- the front matter
    Rule(
        "front-matter-missing",
        "error",
        "the file does not begin with front matter",
        "the first line is ---, then come the keys, then --- again: `gemba skills new` writes an example",
    ),
    Rule("front-matter-unclosed", "error", "the front matter does not end", "a line --- stands behind the keys"),
    Rule(
        "front-matter-yaml",
        "error",
        "the front matter is no YAML: {found}",
        "one line a key, as in `variety: coach`; a text with : or # in it goes into quotes",
    ),
    Rule(
        "front-matter-shape",
        "error",
        "the front matter is {found}; allowed: keys with a text each",
        f"its keys are {', '.join(KEYS)}",
    ),
    Rule("key-missing", "error", "{found} is missing", f"front matter has all of {', '.join(KEYS)}"),
    Rule("key-unknown", "error", "unknown key {found}", f"front matter has {', '.join(KEYS)} and nothing else"),
    Rule("key-twice", "error", "{found} stands here a second time", "a key stands once"),
    Rule("key-not-text", "error", "{found}; allowed: a text", "put it into quotes, on one line"),
    Rule("skill-id-malformed", "error", f"skill_id is {{found}}; allowed: {SKILL_ID_RULE}", "it never changes later"),
    Rule(
        "skill-id-twice",
        "error",
        "{found} has this skill_id already",
        "give each its own: of two with the same, the first in order of their names counts",
    ),
    Rule(
        "skill-id-overrides",
        "note",
        "this is used in the place of the bundled {found}",
        "that is how a bundled skill is changed; with another skill_id both are there",
    ),
    Rule(
        "variety-unknown",
        "error",
        f"variety is {{found}}; allowed: {', '.join(VARIETIES)}",
        "a coach advises and asks questions; a manager may also stop the work with a blocker",
    ),
    Rule(
        "description-too-long",
        "error",
        f"description has {{found}} characters; allowed: up to {LONGEST_DESCRIPTION}",
        "say in a sentence when to use it; the rest belongs below",
    ),
    # ---- the body: asks
    Rule(
        "ask-missing",
        "error",
        "the body never says gemba-ask",
        'show the exact call, such as: gemba-ask --kind question --role coach --text "…" --wait',
    ),
    Rule(
        "coach-blocker",
        "error",
        "a coach raises a blocker: {found}",
        "a coach asks with --kind question; what has to stop the work is a manager's to raise",
    ),
    Rule(
        "kind-not-written-out",
        "error",
        "what a coach asks with is not written out: {found}",
        "write --kind question or --kind assumption in so many letters, with every flag in its place",
    ),
    Rule(
        "other-role",
        "error",
        "{found} is not the variety of this skill",
        "a session has one role, that of its skill: gemba-ask refuses another one",
    ),
    Rule(
        "guardrail-without-blocker",
        "warning",
        "a manager's skill speaks of guardrails and never raises a blocker",
        'what violates a guardrail stops the work: gemba-ask --kind blocker --role manager --text "…" --wait',
    ),
    # ---- the body: what a skill never does
    Rule(
        "branches-on-mode",
        "error",
        "the skill looks at the interaction mode: {found}",
        "leave it out: gemba-ask knows the mode, and says whether to stop or to go on",
    ),
    Rule(
        "hand-written-frame",
        "error",
        "the skill writes frames itself, or reads them: {found}",
        "gemba-ask and gemba-state write them, gemba-ask --wait brings the reply",
    ),
    Rule(
        "other-capture",
        "error",
        "the skill asks in another way: {found}",
        "every question goes through gemba-ask, where the operator sees it; an echo under ## Questions is fine",
    ),
)

RULES = {rule.id: rule for rule in _TABLE}
