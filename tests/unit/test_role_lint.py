"""The validator of role-specs: each rule by examples that break it and that do not; any bytes, in linear time."""

import re
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.teams.roles.generate import Wanted, generate
from gemba.teams.roles.role_spec import MOST_BYTES, PATTERNS, Document, Judged, Pattern, RoleFinding
from gemba.teams.roles.rules import RULES
from gemba.teams.roles.traits import traits_block
from gemba.teams.roles.validate import validate

AGENTS = ("claude", "codex", "mine")
RIGHT = generate(Wanted("developer", "code", cli_tools=("claude", "mine")))
LINES = RIGHT.split("\n")
TRAITS = traits_block()


def judged(text: str | bytes) -> Judged:
    return validate(Document("f.md", text.encode() if isinstance(text, str) else text), AGENTS)


def found(text: str | bytes) -> list[RoleFinding]:
    return judged(text).findings


def at(words: str, text: str = RIGHT) -> int:
    """The line in which some words first stand."""
    return text[: text.index(words)].count("\n") + 1


def but(old: str, new: str) -> str:
    """The right role-spec, but for this."""
    assert old in RIGHT
    return RIGHT.replace(old, new, 1)


def saying(words: str) -> str:
    """The right role-spec, with a line of phase 3 in other words."""
    return but("The change that the task asks for is made, whole, with its tests.", words)


def without(heading: str) -> str:
    """The right role-spec without the section of a heading, up to the next heading."""
    start = RIGHT.index(f"{heading}")
    end = min(place for place in (RIGHT.find("\n## ", start + 4), RIGHT.find("\n### ", start + 4)) if place > 0)
    return RIGHT[:start] + RIGHT[end + 1 :]


def longer(lines: int) -> str:
    """The right role-spec with so many lines of its author's."""
    own = RIGHT.rstrip("\n").count("\n") + 1 - TRAITS.count("\n")
    return saying("x\n" * (lines - own) + "x")


class Examples(NamedTuple):
    """Texts that break a rule, each with the line of the finding, and texts that do not."""

    breaking: Sequence[tuple[str | bytes, int]]
    keeping: Sequence[str | bytes]


SAID = at("The change that the task asks for")
ROW = next(line for line in LINES if line.startswith("| The design cannot"))
ROWS = [line for line in LINES if line.startswith("| ") and "Scenario" not in line]
TWO_ROWS = RIGHT.replace("\n".join(ROWS[2:]) + "\n", "")
CLEAN = [RIGHT]

EXAMPLES: dict[str, Examples] = {
    "file-unreadable": Examples([(b"x" * (MOST_BYTES + 1), 1), (b"x" * 1_000_000, 1)], CLEAN),
    "file-not-text": Examples(
        [(b"\xff\xfe\x00\x01", 1), (RIGHT.encode() + b"\n\xe9", len(LINES) + 1), (b"---\n\0", 2)],
        [saying("Käse 東京 🧀"), "\ufeff" + RIGHT, RIGHT.replace("\n", "\r\n"), RIGHT.replace("\n", "\r")],
    ),
    "too-many-files": Examples([], []),  # of a folder: test_roles.py
    "long": Examples([(longer(81), 0), (longer(120), 0)], [longer(80)]),
    "too-long": Examples([(longer(121), 0), (longer(2_000), 0)], [longer(80)]),
    "front-matter-missing": Examples([("", 1), ("# A title", 1), ("\n" + RIGHT, 1)], CLEAN),
    "front-matter-unclosed": Examples([("---", 1), ("---\nrole: x\n", 1)], CLEAN),
    "front-matter-yaml": Examples(
        [
            (but("inner_loop: false", "inner_loop: [false"), 5),
            (but("inner_loop: false", "inner_loop: a: b"), 4),
            (but("inner_loop: false", "\tinner_loop: false"), 4),
            (but("inner_loop: false", 'inner_loop: "'), 5),
            (but("inner_loop: false", "x: " + "y" * 20_000), 2),
        ],
        [but("inner_loop: false", "inner_loop: false  # said so")],
    ),
    "front-matter-shape": Examples(
        [("---\n- role\n---\n", 2), ("---\nrole\n---\n", 2), (but("inner_loop: false", "? [a]\n: b"), 4)],
        CLEAN,
    ),
    "key-missing": Examples(
        [
            ("---\n---\n", 1),
            (but("inner_loop: false\n", ""), 1),
            (but("inner_loop: false", "inner_loop:"), 4),
            (but('role: "developer"', 'role: ""'), 2),
            (but("  success: impl_complete\n", ""), 6),
            (but("  error: error\n", "  error: ~\n"), 8),
            (but("message_types:\n  success: impl_complete\n  error: error\n", "message_types: {}\n"), 6),
        ],
        [but('cli_tools: ["claude", "mine"]\n', "")],
    ),
    "key-unknown": Examples(
        [
            (but("inner_loop: false", "inner_loop: false\ninnerloop: true"), 5),
            (but("  error: error", "  error: error\n  failure: x"), 9),
            (but("cli_tools:", "CLI_tools:"), 9),
        ],
        [but("cli_tools:", "CLI tools:"), but("cli_tools:", '"CLI tools":')],
    ),
    "key-twice": Examples(
        [
            (but("inner_loop: false", "inner_loop: false\ninner_loop: true"), 5),
            (but("  error: error", "  error: error\n  error: error"), 9),
            (but("---\n\n#", "CLI tools: []\n---\n\n#"), 10),
        ],
        CLEAN,
    ),
    "key-misfit": Examples(
        [
            (but("inner_loop: false", "inner_loop: no"), 4),
            (but("inner_loop: false", "inner_loop: 1"), 4),
            (but("inner_loop: false", "inner_loop: [true]"), 4),
            (but('role: "developer"', "role: true"), 2),
            (but('prefix: "IMPL"', "prefix: [IMPL]"), 3),
            (but('output_tag: "[developer]"', "output_tag: [developer, tester]"), 5),
            (but('output_tag: "[developer]"', "output_tag: []"), 5),
            (but('output_tag: "[developer]"', "output_tag: {a: b}"), 5),
            (but("message_types:\n  success: impl_complete\n  error: error", "message_types: error"), 6),
            (but("error: error", "error: 7"), 8),
            (but('cli_tools: ["claude", "mine"]', "cli_tools: claude"), 9),
            (but('cli_tools: ["claude", "mine"]', "cli_tools: [claude, 7]"), 9),
            (but('cli_tools: ["claude", "mine"]', "cli_tools:\n  - claude\n  - [mine]"), 11),
        ],
        [
            but("inner_loop: false", "inner_loop: true"),
            but('output_tag: "[developer]"', "output_tag: [developer]"),
            but('output_tag: "[developer]"', 'output_tag:\n  - "[developer]"'),
            but('cli_tools: ["claude", "mine"]', "cli_tools: []"),
        ],
    ),
    "role-malformed": Examples(
        [
            (but('role: "developer"', f'role: "{role}"'), 2)
            for role in ("Developer", "../x", "a b", "x" * 33, "9a", "ä")
        ],
        [generate(Wanted(role, "code")) for role in ("a", "release-writer", "tester_2", "x" * 32, "on", "null")],
    ),
    "prefix-malformed": Examples(
        [(but('prefix: "IMPL"', f'prefix: "{prefix}"'), 3) for prefix in ("impl", "IMPL-", "../X", "9A", "X" * 33)],
        [generate(Wanted("a", "code", prefix)) for prefix in ("A", "IMPL_2", "NO", "X" * 32)],
    ),
    "output-tag": Examples(
        [
            (but('output_tag: "[developer]"', f"output_tag: {tag}"), 5)
            for tag in ('"[tester]"', "developer", "[tester]", '"[Developer]"', '["[developer"]')
        ],
        [but('output_tag: "[developer]"', "output_tag: [developer]")],
    ),
    "message-success": Examples(
        [(but("success: impl_complete", f"success: {word}"), 7) for word in ("IMPL_complete", "done", "test_complete")],
        [but("success: impl_complete", 'success: "impl_complete"')],
    ),
    "message-error": Examples(
        [(but("error: error", f"error: {word}"), 8) for word in ("failed", "impl_error", "Error")],
        [but("error: error", "error: 'error'")],
    ),
    "cli-tool-unknown": Examples(
        [
            (but('["claude", "mine"]', "[claud]"), 9),
            (but('["claude", "mine"]', "\n  - claude\n  - gemini --yolo"), 11),
        ],
        [but('["claude", "mine"]', "[codex]")],
    ),
    "cli-tool-twice": Examples([(but('["claude", "mine"]', "[claude, claude]"), 9)], CLEAN),
    "title-missing": Examples(
        [
            (but("# Developer — Phase 2-4\n", ""), 11),
            (but("# Developer — Phase 2-4", "# Developer"), 11),
            (but("# Developer — Phase 2-4", "## Developer — Phase 2-4"), 11),
            (but("# Developer — Phase 2-4", "# Developer — Phase 1-5"), 11),
        ],
        [but("# Developer — Phase 2-4", f"# Our Developer {dash} Phase 2-4") for dash in ("—", "\u2013", "-")],
    ),
    "section-missing": Examples(
        [
            (without("## Identity"), 11),
            (but("## Boundaries\n", ""), 11),
            (without("### MUST\n"), 11),
            (without("### MUST NOT"), 11),
            (RIGHT[: RIGHT.index("## Error Handling")], 11),
            (but("### MUST NOT", "#### MUST NOT"), 11),
        ],
        [but("## Error Handling", "## Error handling"), but("## Identity", "## Identity ##")],
    ),
    "section-twice": Examples(
        [
            (but("## Boundaries", "## Identity\n\n## Boundaries"), at("## Boundaries")),
            (but("## Phase 4:", "## Phase 3: Again\n\n## Phase 4:"), at("## Phase 4:")),
        ],
        [but("## Phase 3: Implement\n", "## Phase 3: Implement\n\n### The first part\n\nGo.\n")],
    ),
    "section-order": Examples(
        [
            (RIGHT.replace("## Phase 2", "## Phase X").replace("## Phase 3", "## Phase 2").replace("X", "3"), 0),
            (but("## Boundaries", "## Error Handling").replace("\n## Error Handling\n\n|", "\n## Boundaries\n\n|"), 0),
            (but("### MUST\n", "### MUST X\n").replace("### MUST NOT", "### MUST").replace("MUST X", "MUST NOT"), 0),
        ],
        CLEAN,
    ),
    "identity-tag": Examples(
        [
            (but("Tag: [developer] | Prefix: IMPL-*\n", ""), at("## Identity")),
            (but("Tag: [developer]", "Tag: [tester]"), at("Tag: ")),
            (but("Prefix: IMPL-*", "Prefix: TEST-*"), at("Tag: ")),
            (but("Prefix: IMPL-*", "Prefix: IMPL"), at("Tag: ")),
            (but("Tag: [developer] | Prefix: IMPL-*", "Tag: [developer]\nPrefix: IMPL-*"), at("## Identity")),
        ],
        [
            but("Tag: [developer] | Prefix: IMPL-*", "**Tag**: `[developer]` | **Prefix**: `IMPL-*`"),
            but("Tag: [developer] | Prefix: IMPL-*", "- Tag: [developer] | Prefix: IMPL-*"),
        ],
    ),
    "identity-responsibility": Examples(
        [
            (re.sub("Responsibility: .*", words, RIGHT), at("## Identity"))
            for words in ("", "Responsibility:", "To code")
        ],
        [re.sub("Responsibility: .*", "**Responsibility**: codes", RIGHT)],
    ),
    "must-count": Examples(
        [
            (re.sub(r"(### MUST\n\n(?:- .*\n){2})(?:- .*\n){2}", r"\1", RIGHT), at("### MUST")),
            (but("### MUST\n\n", "### MUST\n\n- one\n- two\n"), at("### MUST")),
            (re.sub(r"(### MUST\n\n)(?:- .*\n){4}", r"\1Do it well.\n", RIGHT), at("### MUST")),
        ],
        [
            but("### MUST\n\n", "### MUST\n\n- one\n  on two lines\n  - and a part\n"),
            re.sub(r"(### MUST\n\n(?:- .*\n){3})- .*\n", r"\1", RIGHT),
        ],
    ),
    "must-not-missing": Examples(
        [
            (but("- Work outside the prefix `IMPL-*`\n", ""), at("### MUST NOT")),
            (but("- Change artifacts of other roles\n", "- Change artifacts\n"), at("### MUST NOT")),
            (but("- Skip phase 4, or report what was not verified\n", "- Skip phase 3\n"), at("### MUST NOT")),
            (re.sub(r"(### MUST NOT\n\n)(?:- .*\n)+", r"\1", RIGHT), at("### MUST NOT")),
        ],
        [
            but("- Work outside the prefix `IMPL-*`", "- Execute tasks of another prefix than **IMPL**"),
            but("- Change artifacts of other roles", "- Modify other roles' artifacts"),
            but("- Skip phase 4, or report what was not verified", "- Skip the *verification*"),
        ],
    ),
    "phase-missing": Examples(
        [
            (but(f"## Phase {number}:", replaced), 11)
            for number in (2, 3, 4)
            for replaced in ("## Stage:", "### Phase 9:", f"### Phase {number}:")
        ],
        [but("## Phase 3: Implement", "## phase 3 — Implement")],
    ),
    "phase-foreign": Examples(
        [
            (saying(f"x\n\n{heading}\n\nClaim."), SAID + 2)
            for heading in (
                "## Phase 1: Discover",
                "## Phase 5: Report",
                "# Phase 1",
                "###### phase 5 the end",
                "**Phase 5: Report**",
                "Phase 1\n-------",
                "- Phase 5: report",
                "## Phase one",
                "## Ph\u200base 5",
                "&#35;# Phase 5",
                "## Phase 6: After",
            )
        ],
        [saying("What phase 5 does is none of yours."), saying("### Step 1: look")],
    ),
    "phase-unnamed": Examples(
        [(but("## Phase 3: Implement", f"## Phase 3{end}"), at("## Phase 3")) for end in ("", ":", ": ", " —")], CLEAN
    ),
    "phase-empty": Examples(
        [(without("## Phase 3").replace("## Phase 4", "## Phase 3: Work\n\n## Phase 4"), at("## Phase 3"))],
        [saying("Do it.")],
    ),
    "loads-missing": Examples(
        [(re.sub("Loads: .*", words, RIGHT), at("## Phase 2")) for words in ("", "Loads:", "loads: x", "It loads x")],
        [
            re.sub("Loads: .*", words, RIGHT)
            for words in ("Loads: x", "Loads:\n\n- x\n- y", "**Loads:** x", "- Loads: x")
        ],
    ),
    "publishes-missing": Examples(
        [(re.sub("Publishes: .*", words, RIGHT), at("## Phase 4")) for words in ("", "Publishes:", "Loads: x")],
        [re.sub("Publishes: .*", "Publishes: a report", RIGHT)],
    ),
    "state-missing": Examples(
        [(re.sub("State: .*", words, RIGHT), at("## Phase 4")) for words in ("", "State:", "The state")],
        [re.sub("State: .*", "State: key findings", RIGHT)],
    ),
    "traits-missing": Examples([(but(TRAITS, ""), at("## Phase 4")), (but(TRAITS, "### Traits\n\nAll.\n"), 0)], CLEAN),
    "traits-changed": Examples(
        [
            (but("somebody else scores them", "somebody else scores then"), at("<!-- gemba traits")),
            (but(TRAITS, re.sub("sha256 .", "sha256 g", TRAITS)), at("<!-- gemba traits")),
            (but(TRAITS, re.sub("sha256 (.)", lambda f: f"sha256 {int(f[1], 16) ^ 1:x}", TRAITS)), at("<!-- gemba")),
            (but("<!-- end of gemba traits -->\n", ""), at("<!-- gemba traits")),
            (but("### Traits\n", "### Traits\n\nOnly on Mondays.\n"), at("<!-- gemba traits")),
            (but("### Traits\n", "### Traits \n"), at("<!-- gemba traits")),
        ],
        [RIGHT.replace("\n", "\r\n")],
    ),
    "traits-outdated": Examples(
        [(but("generated, not to be edited", "generated"), at("<!-- gemba traits"))],  # another stamp: below
        CLEAN,
    ),
    "traits-misplaced": Examples(
        [
            (RIGHT.replace(TRAITS, "") + TRAITS, 0),
            (but(TRAITS, "").replace("## Phase 4", f"{TRAITS}\n## Phase 4"), at("## Phase 4")),
        ],
        CLEAN,
    ),
    "traits-twice": Examples([(but(TRAITS, TRAITS + TRAITS), at("## Error Handling") - 1)], CLEAN),
    "errors-table": Examples(
        [
            (but("| Scenario | Resolution |", "| Error | Resolution |"), at("## Error Handling")),
            (but("|---|---|\n", ""), at("## Error Handling")),
            (but("| Scenario | Resolution |\n|---|---|\n", ""), at("## Error Handling")),
        ],
        [
            but("| Scenario | Resolution |\n|---|---|", "Scenario | Resolution\n:--- | ---:"),
            but("| Scenario | Resolution |", "| **Scenario** | **resolution** |"),
        ],
    ),
    "errors-few": Examples(
        [
            (TWO_ROWS, at("## Error Handling")),
            (TWO_ROWS + "| nothing | |\n| | |\n||\n", at("## Error Handling")),
            (TWO_ROWS + "\n| later | another table |\n", at("## Error Handling")),
        ],
        [TWO_ROWS + "a \\| b | c\n", but(ROW + "\n", "")],
    ),
    "placeholder": Examples(
        [
            *(
                (saying(f"x\nUse {words}."), SAID + 1)
                for words in ("<tool>", "`<PREFIX>`", "<the name>", "<...>", "<…>")
            ),
            (but('cli_tools: ["claude", "mine"]', "cli_tools: [claude] # <more>"), 9),
            (but("# Developer", "# <Role Name>"), at("# Developer")),
        ],
        [
            saying("See <https://example.org/x>, or write to <me@example.org>."),
            saying("a < b, b > c, 1 <2> 3, &lt;name&gt; <!-- a note -->"),
        ],
    ),
    "bus-call": Examples(
        [
            (saying(f"x\n{words}"), SAID + 1)
            for words in (
                "Call `team_msg` with the result.",
                'team_msg(operation="log", type="x")',
                "team\\_msg",
                "TEAM_MSG",
                "Run gemba team msg log.",
                "Use mcp__ccw__team_msg.",
                "SendMessage(coordinator)",
                "Report a state_update.",
                "Call TaskUpdate.",
                "Append to messages.jsonl",
                "POST /api/teams/7/messages",
                "Send a message to the coordinator.",
                "Read the message bus.",
            )
        ]
        + [(re.sub("State: .*", "State: team_msg with findings", RIGHT), at("State: "))],
        [
            re.sub("State: .*", "State: state_update with key findings", RIGHT),
            saying("The error message of the program says so, and the state of the art."),
        ],
    ),
    "consensus": Examples(
        [
            (saying(f"x\n{words}"), SAID + 1)
            for words in (
                "Reach a consensus with the reviewers.",
                "If consensus_blocked, stop.",
                "Wait for a quorum.",
                "Vote on the result.",
                "Hold two discussion rounds.",
            )
        ],
        [saying("Where reviewers disagree, say so. Name votes that a file has.")],
    ),
    "loop-logic": Examples(
        [
            (saying(f"x\n{words}"), SAID + 1)
            for words in (
                "Repeat until all tests pass.",
                "Go back to phase 3 when a check fails.",
                "Retry up to three times.",
                "At most 3 attempts.",
                "max_iterations: 5",
                "Claim the next task.",
                "Loop over the files.",
                "While there are tasks, work.",
                "If it fails, re-run phase 3.",
                "The inner loop goes on.",
                "For each task: do it.",
            )
        ],
        [saying("Try another way. A for loop in the code is fine. Rounds go by the task, until it is done.")],
    ),
    "fenced-code": Examples(
        [
            (saying(f"x\n{fence}\nx = 1\n{fence.strip(' >-')}"), SAID + 1)
            for fence in ("```", "~~~", "   ```", "> ```", "- ```", "`````")
        ]
        + [(saying("x\n```python\nnever closed"), SAID + 1)],
        [saying("Use `make check`, or ``a ` b``.")],
    ),
}

# ---- each rule -------------------------------------------------------------------------------------------------------

BREAKING = [(rule, text, line) for rule, examples in EXAMPLES.items() for text, line in examples.breaking]
KEEPING = [(rule, text) for rule, examples in EXAMPLES.items() for text in examples.keeping]


@pytest.mark.parametrize(("rule", "text", "line"), BREAKING, ids=[f"{row[0]}-{n}" for n, row in enumerate(BREAKING)])
def test_a_text_that_breaks_a_rule_is_found_with_its_line(rule: str, text: str | bytes, line: int) -> None:
    told = [each.line for each in found(text) if each.rule == rule]

    assert told, found(text)
    assert line in (0, *told)


@pytest.mark.parametrize(("rule", "text"), KEEPING, ids=[f"{row[0]}-{n}" for n, row in enumerate(KEEPING)])
def test_a_text_that_keeps_a_rule_is_not_blamed(rule: str, text: str | bytes) -> None:
    assert found(text) == []


def test_every_rule_has_its_examples() -> None:
    assert set(RULES) == set(EXAMPLES)
    assert [rule for rule, each in EXAMPLES.items() if not (each.breaking and each.keeping)] == ["too-many-files"]


def test_traits_of_another_version_are_told_apart_from_changed_ones() -> None:
    from hashlib import sha256

    lines = TRAITS.replace("count a quarter each", "count alike").splitlines(keepends=True)
    stamp = sha256("".join(lines[1:-1]).encode()).hexdigest()[:16]
    other = re.sub("sha256 [0-9a-f]+", f"sha256 {stamp}", "".join(lines))

    (told,) = found(but(TRAITS, other))

    assert (told.rule, told.line) == ("traits-outdated", at("<!-- gemba traits"))


def test_a_warning_keeps_no_role_spec_from_being_used() -> None:
    long = judged(longer(120))

    assert [(each.rule, each.severity) for each in long.findings] == [("long", "warning")]
    assert long.spec is not None
    assert judged(longer(121)).spec is None


def test_a_role_spec_says_what_stands_in_its_file() -> None:
    spec = judged(but("inner_loop: false", "inner_loop: true")).spec

    assert spec is not None
    assert (spec.role, spec.prefix, spec.inner_loop, spec.cli_tools) == ("developer", "IMPL", True, ("claude", "mine"))
    assert (spec.title, spec.output_tag, spec.success_message) == ("Developer", "[developer]", "impl_complete")
    assert spec.loads == (
        "design and specification from upstream",
        "code that the change touches",
        "conventions of the project",
    )
    assert spec.publishes == ("the changed files", "a summary of the change")
    assert (len(spec.must), len(spec.must_not), len(spec.errors)) == (4, 4, 4)
    assert spec.errors[1].scenario == "The design cannot be carried out"
    assert spec.state.startswith("key findings, decisions")
    assert TRAITS in spec.body


def test_without_the_names_of_agents_none_is_unknown() -> None:
    text = but('["claude", "mine"]', "[anything]")

    assert validate(Document("f.md", text.encode())).findings == []


def test_everything_wrong_with_a_file_is_told_in_the_order_of_its_lines() -> None:
    text = '---\nrole: "X"\nprefx: A\n---\n## Phase 5: Report\nCall team_msg for <whom>.\n'

    assert [(each.line, each.rule) for each in found(text)] == [
        (1, "key-missing"),
        (2, "role-malformed"),
        (3, "key-unknown"),
        (5, "title-missing"),
        (5, "section-missing"),
        (5, "phase-missing"),
        (5, "traits-missing"),
        (5, "phase-foreign"),
        (6, "bus-call"),
        (6, "placeholder"),
    ]


def test_a_finding_says_what_was_found_and_what_helps() -> None:
    (typo,) = found(but('["claude", "mine"]', "[claud]"))

    assert typo.message == 'no agent type is called "claud"; did you mean claude?'
    assert typo.hint == "cli_tools has names from .gemba/agents.toml: `gemba agents` lists them"


# ---- the generator ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("inner_loop", [True, False])
def test_what_is_generated_passes_without_a_warning(pattern: Pattern, inner_loop: bool) -> None:
    wanted = Wanted("some-role", pattern, None, None, inner_loop, ("claude",), ("a", "b"), ("c",))

    plain, given_all = judged(generate(Wanted("role", pattern))), judged(generate(wanted))

    assert (plain.findings, given_all.findings) == ([], [])
    assert given_all.spec is not None
    assert (given_all.spec.loads, given_all.spec.publishes, given_all.spec.inner_loop) == (
        ("a", "b"),
        ("c",),
        inner_loop,
    )


@given(st.from_regex(r"[a-z][a-z0-9_-]{0,31}", fullmatch=True), st.from_regex(r"[A-Z][A-Z0-9_]{0,31}", fullmatch=True))
def test_any_role_and_prefix_can_be_generated(role: str, prefix: str) -> None:
    made = judged(generate(Wanted(role, "research", prefix)))

    assert made.findings == []
    assert made.spec is not None
    assert (made.spec.role, made.spec.prefix) == (role, prefix)


# ---- whatever is in a file -------------------------------------------------------------------------------------------

MARKS: tuple[str, ...] = (
    "---\n",
    "role: x\n",
    "prefix: X\n",
    "message_types:\n",
    "  success: x\n",
    "output_tag: [x]\n",
    "- ",
    "? ",
    ": ",
)
MARKS += ("\n", "\r", "[", "{", "'", '"', "|", "&a", "*a", "!!x", "\t", "# ", "## Phase ", "2", "5: ", "### MUST\n")
MARKS += (
    "### MUST NOT\n",
    "## Identity\n",
    "Tag: [x] | Prefix: X-*\n",
    "Loads:",
    "| Scenario | Resolution |\n",
    "|---|---|\n",
)
MARKS += (
    "## Error Handling\n",
    "```\n",
    "<",
    ">",
    "<!-- gemba traits",
    "<!-- end of gemba traits -->\n",
    "\\",
    "é",
    "\0",
)
texts = st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=30).map("".join)


@given(st.binary(max_size=200) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_judged(data: bytes) -> None:
    for text in (data, b"---\n" + data + b"\n---\n", RIGHT.encode() + data):
        made = judged(text)

        lines = text.count(b"\n") + text.count(b"\r") + 1
        assert all(1 <= each.line <= lines and each.message and each.rule in RULES for each in made.findings)
        assert (made.spec is None) == any(each.severity == "error" for each in made.findings)


HEAVY: tuple[str, ...] = (
    "-",
    " ",
    "\n",
    "#",
    "# ",
    "## Phase 2\n",
    "- x\n",
    "|",
    "| a | b |\n",
    "<",
    "<a",
    "<a>",
    "`",
    "```\n",
    "> ",
    "*",
)
HEAVY += ("<!-- gemba traits\n", "retry ", "send ", "phase 5\n", "Loads:\n", "vote ", "\\|", "é", "### MUST\n", "__")


@pytest.mark.parametrize("unit", HEAVY)
def test_a_large_file_is_judged_in_moments(unit: str) -> None:
    many = unit * ((MOST_BYTES - 10_000) // len(unit.encode()))
    start = time.process_time()

    made = judged(saying(many))

    assert made.spec is not None or made.findings
    assert time.process_time() - start < 5  # what is not linear takes much longer


@pytest.mark.parametrize("unit", ["[", "{a: ", "k: v\n", "- ", "? ", "a: &b c\n", "cli_tools: [a]\n", "'", "!", " "])
def test_a_long_front_matter_is_judged_in_moments(unit: str) -> None:
    start = time.process_time()

    findings = found(f"---\n{(unit * 16_000)[:16_000]}\n---\n")

    assert findings
    assert time.process_time() - start < 5
