"""The linter of agent skills: each rule by examples that break it and that do not; any bytes, in linear time."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.skills.lint import lint
from gemba.skills.rules import RULES
from gemba.skills.skill import MOST_BYTES, Document, SkillFinding

ASK = "gemba-ask --kind question --role {variety} --text x"
BODY_LINE = 6  # of a file that `skill` makes


def skill(
    body: str = "",
    *,
    id: str = "area.name",
    variety: str = "coach",
    description: str = "When to use it.",
    ask: str = ASK,
) -> str:
    """A skill that is right, but for what is given; its body begins in line 8 if it asks, else in line 6."""
    asks = ask.format(variety=variety) + "\n\n" if ask else ""
    return f"---\nskill_id: {id}\nvariety: {variety}\ndescription: {description}\n---\n{asks}{body}"


def manager(body: str) -> str:
    return skill(body, variety="manager")


def front(keys: str) -> str:
    return f"---\n{keys}\n---\n{ASK}"


def found(*texts: str | bytes) -> list[SkillFinding]:
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    return lint([Document(f"{number}.md", text) for number, text in enumerate(data)]).findings


class Examples(NamedTuple):
    """Texts that break a rule, each with the line of the finding, and texts that do not."""

    breaking: Sequence[tuple[str | bytes, int]]
    keeping: Sequence[str | bytes]


KEYS = "skill_id: a.b\nvariety: coach\ndescription: d"

EXAMPLES = {
    "file-unreadable": Examples([(b"x" * (MOST_BYTES + 1), 1)], [skill("x" * 100_000)]),
    "file-not-text": Examples(
        [(b"\xff\xfe", 1), (skill("ok\n").encode() + b"\xe9", 9), (skill("a\n\0"), 9), (b"---\n\x80", 2)],
        [skill("Käse 東京 🧀"), "\ufeff" + skill(), skill("a\nb").replace("\n", "\r\n")],
    ),
    "front-matter-missing": Examples(
        [("", 1), ("# A title", 1), ("\n" + skill(), 1), ("----\n" + KEYS + "\n---\n", 1), (" " + skill(), 1)],
        [skill(), skill().replace("---\n", "--- \t\n")],
    ),
    "front-matter-unclosed": Examples(
        [("---", 1), ("---\n" + KEYS, 1), ("---\n" + KEYS + "\n ---\n", 1), ("---\n" + KEYS + "\n--- #\n", 1)],
        [skill()],
    ),
    "front-matter-yaml": Examples(
        [
            (front("skill_id: a.b\nvariety: coach: x"), 3),
            (front("skill_id: a.b\n\tvariety: coach"), 3),
            (front("skill_id: a.b\nvariety: [coach"), 3),
            (front('skill_id: a.b\n\ndescription: "unclosed'), 4),
            (front("skill_id: a.b\nvariety: @coach"), 3),
            (front("skill_id: a.b\nvariety: co\x07ach"), 3),
            (front('description: "\\UFFFFFFFF"'), 2),
            (front(KEYS + "\n...\nmore: x"), 6),
            (front("%YAML 9.9"), 2),
            (front(KEYS + "\nlist: " + "[" * 200), 2),
            (front("description: " + "x" * 20_000), 2),
        ],
        [
            front("# a comment\n" + KEYS),
            front("{skill_id: a.b, variety: coach, description: d}"),
            front('"skill_id": a.b\nvariety: \'coach\'\ndescription: "a: b # c"'),
            front("skill_id: a.b\nvariety: coach\ndescription: >\n  in two\n  lines"),
            front(KEYS + "  # said so"),
        ],
    ),
    "front-matter-shape": Examples(
        [
            (front("- skill_id"), 2),
            (front("\njust a text"), 3),
            (front("[a, b]"), 2),
            (front(KEYS + "\n? [a]\n: b"), 5),
        ],
        [front(KEYS), front("? skill_id\n: a.b\n? variety\n: coach\n? description\n: d")],
    ),
    "key-missing": Examples(
        [
            (front(""), 1),
            (front("skill_id: a.b\nvariety: coach"), 1),
            (front(KEYS.replace("description: d", "description:")), 4),
            (front(KEYS.replace("description: d", 'description: "  "')), 4),
            (front(KEYS.replace("variety: coach", "variety: ~")), 3),
        ],
        [front(KEYS), front(KEYS.replace("description: d", "description: |\n  d"))],
    ),
    "key-unknown": Examples(
        [(front(KEYS + "\nname: x"), 5), (front("Skill_id: a.b\n" + KEYS), 2), (front(KEYS + "\n<<: {a: b}"), 5)],
        [front(KEYS), front("description: d\nvariety: coach\nskill_id: a.b")],
    ),
    "key-twice": Examples(
        [(front(KEYS + "\nvariety: manager"), 5), (front(KEYS + '\n"skill_id": c.d'), 5)],
        [front(KEYS)],
    ),
    "key-not-text": Examples(
        [
            (front(KEYS.replace("description: d", "description: [d]")), 4),
            (front(KEYS.replace("description: d", "description:\n  a: b")), 5),
            (front(KEYS.replace("description: d", "description: true")), 4),
            (front(KEYS.replace("description: d", "description: 1.5")), 4),
            (front(KEYS.replace("description: d", "description: 2026-01-01")), 4),
            (front(KEYS.replace("description: d", "description: !!binary d")), 4),
            (front(KEYS.replace("description: d", 'description: "\\e[2J"')), 4),
            (front(KEYS.replace("description: d", 'description: "\\ud800"')), 4),
            (front("skill_id: &id a.b\nvariety: coach\ndescription: *id"), 4),
        ],
        [
            front(KEYS.replace("description: d", f"description: {text}"))
            for text in ('"true"', "yes", "on 1.5", "!!str 1")
        ],
    ),
    "skill-id-malformed": Examples(
        [(skill(id=id), 2) for id in ("walk", "coach.", ".walk", "Coach.walk", "a.b.c", "a/b.c", "a. b", "ä.b", "9.b")]
        + [(skill(id="a." + "b" * 65), 2), (skill(id="../x.y"), 2)],
        [skill(id=id) for id in ("coach.walk", "pm.stage_epics", "a.b", "team-2.hand-over")],
    ),
    "variety-unknown": Examples(
        [(skill(variety=variety), 3) for variety in ("Coach", "boss", "coach, manager", "managers")],
        [skill(variety="coach"), skill(variety="manager"), skill(variety='"coach"', ask=ASK.format(variety="coach"))],
    ),
    "description-too-long": Examples([(skill(description="x" * 501), 4)], [skill(description="x" * 500)]),
    "ask-missing": Examples(
        [
            (skill(ask=""), BODY_LINE),
            (skill("Ask the operator.", ask=""), BODY_LINE),
            (skill("Call ask_question.", ask=""), BODY_LINE),
            (skill("gemba-asks my-gemba-ask gemba-ask-me gemba ask", ask=""), BODY_LINE),
        ],
        [
            skill(body, ask="")
            for body in ("Use `gemba-ask`.", "**gemba-ask**", "/usr/bin/gemba-ask --next", "gemba\\-ask")
        ],
    ),
    "other-role": Examples(
        [
            (skill("gemba-ask --kind question --role manager --text x"), 8),
            (skill('gemba-ask --kind question \\\n  --role="manager"'), 9),
            (manager("gemba-ask --kind question --role 'coach'"), 8),
            (skill("GEMBA_ROLE=manager gemba-ask --kind question --text x"), 8),
        ],
        [
            skill("gemba-ask --role ROLE"),
            skill("GEMBA_ROLE (coach or manager) is set."),
            manager("A coach has another --role.\nThe coach says so."),
        ],
    ),
    "guardrail-without-blocker": Examples(
        [
            (manager("On a guardrail violation, ask."), 8),
            (manager("x\nA guard-rail was broken: gemba-ask --kind question --role manager --text x"), 9),
            (manager("Report every purview_violation."), 8),
        ],
        [
            manager("On a guardrail violation: gemba-ask --kind blocker --role manager --text x"),
            manager("On a guardrail violation call `raise_blocker`."),
            skill("The guardrails are a manager's."),
            manager("Ask."),
        ],
    ),
    "branches-on-mode": Examples(
        [
            (skill('if [ "$GEMBA_INTERACTION_MODE" = cautious ]; then'), 8),
            (skill("In dangerous mode, decide yourself."), 8),
            (skill("a\nIn the **cautious**-mode, wait."), 9),
            (manager("If the mode is `balanced`, go on."), 8),
            (manager("mode == 'dangerous'"), 8),
            (manager("case ${MODE} in dangerous) exit;; esac"), 8),
        ],
        [
            skill("Whatever the mode, ask once. Your interaction profile says when to stop."),
            skill("A dangerous way to fail, a balanced view, a cautious word."),
            skill("Its failure mode: the disk fills up."),
        ],
    ),
    "hand-written-frame": Examples(
        [
            (skill('echo \'{"hook": "GembaAsk"}\' >> log'), 8),
            (skill("Append it to $GEMBA_HOME/sessions/$GEMBA_SESSION_ID.jsonl"), 8),
            (skill("cat ~/.gemba/replies/*"), 8),
            (skill("a\nWrite `${GEMBA_HOME}/turns/x`"), 9),
            (manager("sessions/worker-1.jsonl"), 8),
        ],
        [skill("`gemba-state working`"), skill("The settings are in .gemba/workspace.toml"), skill("Ask Gemba.")],
    ),
    "other-capture": Examples(
        [
            (skill("Use the AskUserQuestion tool."), 8),
            (skill('read -rp "Which? " answer'), 8),
            (skill("echo Which? > /dev/tty"), 8),
            (skill('answer = input("Which? ")'), 8),
            (skill("Write your questions to QUESTIONS.md"), 8),
            (manager("curl -X POST localhost/api/escalations/1/respond"), 8),
        ],
        [
            skill("## Questions\n\n1. Which?\n\n## Blockers\n\nnone"),
            skill("Read -- carefully -- the input (all of it)."),
        ],
    ),
    "skill-id-twice": Examples([], []),  # of several files: below
    "skill-id-overrides": Examples([], []),
    "too-many-files": Examples([], []),  # of a folder: test_skills.py
}

# ---- a coach's blocker, in every spelling ----------------------------------------------------------------------------

BLOCKERS = {
    "plain": "gemba-ask --kind blocker --role coach --text x",
    "with an equals sign": "gemba-ask --kind=blocker",
    "quoted value": 'gemba-ask --kind "blocker"',
    "singly quoted value": "gemba-ask --kind 'blocker'",
    "quoted value behind an equals sign": 'gemba-ask --kind="blocker"',
    "quoted flag": "gemba-ask '--kind' blocker",
    "all of it quoted": 'gemba-ask "--kind=blocker"',
    "quotes within the value": "gemba-ask --kind bl'ock'\"er\"",
    "quotes within the flag": "gemba-ask --ki''nd blocker",
    "escaped letter": "gemba-ask --kind b\\locker",
    "ANSI quoted": "gemba-ask --kind $'blocker'",
    "ANSI escapes": "gemba-ask --kind $'\\x62locker'",
    "translated": 'gemba-ask --kind $"blocker"',
    "split behind the flag": "gemba-ask --kind \\\n  blocker",
    "split twice": "gemba-ask \\\n  --kind \\\n\\\n  blocker",
    "split in the value": "gemba-ask --kind bloc\\\nker",
    "split in the flag": "gemba-ask --ki\\\nnd blocker",
    "split behind the equals sign": "gemba-ask --kind=\\\nblocker",
    "split without a backslash": "gemba-ask --kind\nblocker",
    "split in a quotation": "> gemba-ask --kind \\\n> blocker",
    "in a fence": "```bash\ngemba-ask --kind blocker\n```",
    "in an indented fence": "1. Ask:\n\n   ~~~\n   gemba-ask --kind blocker\n   ~~~",
    "in a comment": "<!-- gemba-ask --kind blocker -->",
    "in prose": "Use the flag `--kind` with `blocker`, through gemba-ask.".replace(" with", ""),
    "in emphasis": "Pass **--kind** *blocker*.",
    "in a table": "| --kind | blocker |",
    "forbidden in words": "Never use --kind blocker.",
    "as one of several": "gemba-ask --kind question|blocker",
    "as one of two": "--kind question or blocker",
    "as one of a list": "gemba-ask --kind question,blocker",
    "as another one": "gemba-ask --kind `question` / `blocker`",
    "in braces": "gemba-ask --kind {question,blocker}",
    "in capitals": "gemba-ask --KIND BLOCKER",
    "with a colon": "--kind: blocker",
    "with an en dash": "gemba-ask \u2013kind blocker",
    "with an em dash": "gemba-ask \u2014kind blocker",
    "with escaped dashes": "gemba-ask \\-\\-kind blocker",
    "with entities": "gemba-ask &#45;&#x2d;kind&nbsp;block&#101;r",
    "with a space that does not break": "gemba-ask --kind\u00a0blocker",
    "with marks without a width": "gemba-ask --ki\u200bnd block\u00ader",
    "in full width": "gemba-ask \uff0d\uff0d\uff4bind \uff42locker",
    "as a glob": "gemba-ask --kind bloc[k]er",
    "as a list of words": '["gemba-ask", "--kind", "blocker", "--role", "coach"]',
    "as a list over lines": 'run(["gemba-ask",\n     "--kind",\n     "blocker"])',
    "as a field": 'ask_question(kind="blocker")',
    "as a field of JSON": '{"kind": "blocker"}',
    "as the MCP tool": "Call the tool `raise_blocker`.",
    "as the MCP tool, escaped": "raise\\_blocker",
    "as the MCP tool of a client": "mcp__gemba__raise_blocker",
    "as a method": "client.raiseBlocker()",
    "in a variable": "K=blocker; gemba-ask --kind $K",
    "in a quoted variable": 'K="blocker"\ngemba-ask --kind "$K"',
    "in an exported variable": "export K=blocker && gemba-ask --kind=${K}",
    "in a variable far above": "K=blocker\n\nThen:\n\n```\ngemba-ask --kind $K\n```",
    "in a default": "gemba-ask --kind ${K:-blocker}",
    "in a loop": "for k in question blocker; do gemba-ask --kind $k; done",
    "in a here-string": "read K <<< blocker; gemba-ask --kind $K",
    "in a substitution": "gemba-ask --kind $(echo blocker)",
    "in backticks": "gemba-ask --kind `echo blocker`",
    "in a variable of Python": 'k = "blocker"\nrun(["gemba-ask", "--kind", k])',
    "in a variable that nobody sees": "gemba-ask --kind $K",
    "in a placeholder": "gemba-ask --kind KIND --role coach",
    "behind a hidden flag": "F=--kind\ngemba-ask $F blocker",
    "behind half a flag": "`gemba-ask --$F blocker`",
    "in hidden flags": "FLAGS='--kind blocker'\ngemba-ask $FLAGS",
    "among hidden flags": "```bash\ngemba-ask --role coach $REST\n```",
    "in the arguments": 'set -- --kind "$1"\ngemba-ask "$@"',
    "in an array": 'gemba-ask --role coach "${FLAGS[@]}"',
    "through a pipe": "printf -- '--kind\\nblocker' | xargs gemba-ask",
    "as the last word of a pipe": "echo blocker | xargs gemba-ask --text x --kind",
    "through another name": "ASK=gemba-ask; K=blocker; $ASK --kind $K",
    "glued": "gemba-ask --kindblocker",
    "as a field of JSON, escaped": '{"kind": "\\u0062locker"}',
    "as a field of JSON, all of it escaped": '{"\\u006B\\u0069nd": "\\u0062\\u006c\\u006F\\u0063ker"}',
    "as a field of JSON in a string": '"{\\"kind\\": \\"\\\\u0062locker\\"}"',
    "as the MCP tool, with escapes": '{"name": "raise\\u005fblocker"}',
    "told in words": "Run `gemba-ask` with the kind set to blocker.",
    "told by its name": "Raise a blocker when tests fail.",
    "told for a condition that says not": "If the tests do not pass, raise a blocker.",
    "told behind what not to do": "Do not guess. Raise a **blocker**.",
    "told beside a manager": "If the manager is away, raise a blocker.",
    "told as a way": "Stop the work by raising a blocker.",
    "told in a list": "When something fails:\n\n- stop\n- raise a blocker",
    "told in a table": "| what | do |\n|---|---|\n| tests fail | raise a blocker |",
    "told as a kind": "Ask with kind blocker, then wait.",
    "told as the kind": "The kind should be blocker.",
    "told as what it is": "Escalate it as a blocker.",
    "told in other words": "Then open a blocker.",
    "told over two kinds": "Raise questions or blockers early.",
}

NO_BLOCKERS = {
    "the word": "A coach never raises a blocker. Is it a blocker? Then a manager raises it.",
    "a question about one": 'gemba-ask --kind question --role coach --text "is this a blocker?"',
    "a title about one": "gemba-ask --kind=question --title 'kind: unclear, a blocker?'",
    "an assumption": "`gemba-ask --kind 'assumption' --text x --chose y`, which is no blocker.",
    "a split question": "gemba-ask \\\n  --kind \\\n  question",
    "a heading": "## Blockers\n\nnone",
    "a kind in prose": "The kind blocker is a manager's; a one-of-a-kind blocker is, too.",
    "another program's flag": "kubectl apply --kind $K",
    "another flag": "ls --kinds blocker",
    "a variable in a text": '```bash\ngemba-ask --kind question --text "deploy $APP?" --bead $BEAD --wait\n```',
    "a substitution in a text": '```bash\ngemba-ask --kind question --text "$(cat notes)"\n```',
    "a variable for an id": "gemba-ask --resume $ID --wait",
    "the beginning of a sentence": "`gemba-ask --kind question`.\n\nBlockers, and blocker by blocker, are a manager's.",
    "what is forbidden": "Never raise a blocker. Do not raise a blocker. You don't raise blockers, and can\u2019t.",
    "what is forbidden at length": "Never, whatever happens, raise a blocker.\n\nYou must not use a blocker.",
    "what is forbidden in a list": "A coach does not:\n\n- stop the work\n- raise a blocker\n- decide",
    "what is forbidden under a heading": "## Never\n\n- raise a blocker\n",
    "what a manager does": "Ask a manager to raise a blocker. Tell the manager, who can raise a blocker.",
    "what to do in its place": "Instead of raising a blocker ask a question; raise no blocker.",
    "what it is": "To raise a blocker is a manager's part. Should you raise a blocker?",
    "blockers that are there": "List the open blockers, then raise questions about them. He raised a blocker before.",
    "another kind": "Ask with kind question, which is no blocker.",
    "a path": "C:\\users\\xerox\\block, \\u00e9t\\u00e9",
    "the end of a sentence": "Ask with `gemba-ask --kind question`, then stop. (Or `--kind assumption`.)",
}

AGAINST_A_COACH = {"coach-blocker", "kind-not-written-out"}


@pytest.mark.parametrize("body", BLOCKERS.values(), ids=BLOCKERS)
def test_a_coach_s_blocker_is_an_error_in_every_spelling(body: str) -> None:
    (first, *_) = [each for each in found(skill(body)) if each.rule in AGAINST_A_COACH]

    assert first.severity == "error"
    assert BODY_LINE + 2 <= first.line <= BODY_LINE + 2 + body.count("\n")


@pytest.mark.parametrize("body", BLOCKERS.values(), ids=BLOCKERS)
def test_a_manager_may_raise_it_in_every_spelling(body: str) -> None:
    assert {each.rule for each in found(manager(body.replace("coach", "manager")))} == set()


@pytest.mark.parametrize("body", NO_BLOCKERS.values(), ids=NO_BLOCKERS)
def test_what_is_no_blocker_is_not_taken_for_one(body: str) -> None:
    assert found(skill(body)) == []


def test_a_blocker_stands_in_the_line_of_its_flag() -> None:
    body = "a\n\n> b\n\n```\ngemba-ask \\\n  --kind \\\n  blocker\n```\n"

    assert [(each.rule, each.line) for each in found(skill(body))] == [("coach-blocker", 14)]


# ---- each rule -------------------------------------------------------------------------------------------------------

BREAKING = [(rule, text, line) for rule, examples in EXAMPLES.items() for text, line in examples.breaking]
KEEPING = [(rule, text) for rule, examples in EXAMPLES.items() for text in examples.keeping]


@pytest.mark.parametrize(("rule", "text", "line"), BREAKING, ids=[f"{row[0]}-{n}" for n, row in enumerate(BREAKING)])
def test_a_text_that_breaks_a_rule_is_found_with_its_line(rule: str, text: str | bytes, line: int) -> None:
    assert (rule, line) in [(each.rule, each.line) for each in found(text)]


@pytest.mark.parametrize(("rule", "text"), KEEPING, ids=[f"{row[0]}-{n}" for n, row in enumerate(KEEPING)])
def test_a_text_that_keeps_a_rule_is_not_blamed(rule: str, text: str | bytes) -> None:
    assert found(text) == []


def test_every_rule_has_its_examples() -> None:
    assert set(RULES) == set(EXAMPLES) | AGAINST_A_COACH


def test_of_two_with_one_id_the_second_is_told_where_the_first_stands() -> None:
    (twice,) = found(skill(id="a.b"), "---\n# mine\n" + skill(id="a.b")[4:], skill(id="a.c"))

    assert (twice.file, twice.line, twice.rule) == ("1.md", 3, "skill-id-twice")
    assert twice.message == "0.md:2 has this skill_id already"


def test_a_bundled_skill_is_overridden_with_a_note() -> None:
    bundled = Document("x.md", skill(id="a.b", description="bundled").encode(), source="bundled")
    own = Document(".gemba/skills/x.md", skill(id="a.b", description="own").encode())

    library = lint([bundled, own])

    (note,) = library.findings
    assert (note.file, note.line, note.rule, note.severity) == (own.file, 2, "skill-id-overrides", "note")
    assert (library.skills["a.b"].description, library.skills["a.b"].overrides) == ("own", True)


def test_one_that_cannot_be_used_overrides_nothing() -> None:
    bundled = Document("x.md", skill(id="a.b", description="bundled").encode(), source="bundled")
    own = Document("own.md", skill("gemba-ask --kind blocker", id="a.b", description="own").encode())

    library = lint([bundled, own])

    assert [each.rule for each in library.findings] == ["coach-blocker"]
    assert library.skills["a.b"].description == "bundled"


def test_everything_wrong_with_a_file_is_told_in_the_order_of_its_lines() -> None:
    text = "---\nskill_id: Walk\nvarity: coach\ndescription: 7\n---\nIn dangerous mode, read -p x.\n"

    told = [(each.line, each.rule) for each in found(text)]

    assert told == [
        (1, "key-missing"),
        (2, "skill-id-malformed"),
        (3, "key-unknown"),
        (4, "key-not-text"),
        (6, "ask-missing"),
        (6, "branches-on-mode"),
        (6, "other-capture"),
    ]


def test_a_finding_says_what_was_found_and_what_helps() -> None:
    (typo,) = found(front(KEYS.replace("variety: coach", "variety: coach\nvarieties: x")))

    assert typo.message == 'unknown key "varieties"; did you mean variety?'
    assert typo.hint == "front matter has skill_id, variety, description and nothing else"


def test_what_stood_in_a_file_is_shown_short_on_one_line_and_without_control_characters() -> None:
    (wrong,) = found(front(KEYS.replace("variety: coach", 'variety: "a\\tb ' + "x" * 500 + '"')))

    assert len(wrong.message) < 150
    assert wrong.message.isprintable()


# ---- whatever is in a file -------------------------------------------------------------------------------------------

MARKS: tuple[str, ...] = (
    "---\n",
    "skill_id",
    "variety: coach\n",
    "description: d\n",
    ": ",
    "\n",
    "\r",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
)
MARKS += ("|", ">", "&a", "*a", "!!x", "%", "\t", " ", "- ", "? ", "#", "\\UFFFFFFFF", "\\x", "\x07", "\x85", "\u2028")
MARKS += ("gemba-ask ", "--kind ", "$", "`", "```\n", "\\\n", "$(", "<<A\n", "mode ", "&amp;", "é", "\ufeff", "\0")
texts = st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=30).map("".join)


@given(st.binary(max_size=200) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_judged(data: bytes) -> None:
    for text in (data, b"---\n" + data + b"\n---\n", skill().encode() + data):
        library = lint([Document("f.md", text)])

        lines = text.count(b"\n") + text.count(b"\r") + 1
        assert all(1 <= each.line <= lines and each.message and each.rule in RULES for each in library.findings)
        assert bool(library.skills) == all(each.severity != "error" for each in library.findings)


HEAVY: tuple[str, ...] = (
    "-",
    " ",
    "\n",
    "\\\n",
    ">",
    "&a",
    "`",
    "'",
    "a=",
    "--kind ",
    "--kind$k ",
    "gemba-ask ",
    "`gemba-ask` ",
    "```\n",
)
HEAVY += ("gemba-ask $x\n", "mode =", "read -", "K: ", "> >", "é", "$(", "sessions/", "\u200b")
HEAVY_YAML = ("[", "{a: ", "k: v\n", "- ", "? ", "a: &b c\n", "a: |\n", "'", '"', "!", ":", " ", "\n")


@pytest.mark.parametrize("unit", HEAVY)
def test_a_large_file_is_judged_in_moments(unit: str) -> None:
    many = unit * (MOST_BYTES // 5 // len(unit))
    start = time.process_time()

    lint([Document("f.md", skill(f"{many}\n\n```\ngemba-ask {many}").encode())])

    assert time.process_time() - start < 5  # what is not linear takes much longer


@pytest.mark.parametrize("unit", HEAVY_YAML)
def test_a_long_front_matter_is_judged_in_moments(unit: str) -> None:
    start = time.process_time()

    findings = found(front((unit * 16_000)[:16_000]))

    assert findings
    assert time.process_time() - start < 5
