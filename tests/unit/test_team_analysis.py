"""What a task's text asks for: words on their boundaries, complexity by its parts, roles joined above the limit."""

import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Invalid, Unusable
from gemba.teams.analysis import JOINS, MOST_ROLES, Analysis, CapabilityFound, WordFound, analyse, merge_roles
from gemba.teams.capabilities import extended, form_of, shipped, workspace_vocabulary

TABLE = {
    "researcher": ("RESEARCH", 0, "investigate explore compare survey benchmark"),
    "planner": ("PLAN", 0, "plan|break down|schedule|roadmap|prioritise"),
    "designer": ("DESIGN", 1, "design architect schema blueprint wireframe"),
    "writer": ("DRAFT", 2, "write draft document report explain"),
    "developer": ("IMPL", 2, "implement build fix refactor migrate port"),
    "analyst": ("ANALYSIS", 3, "analyse review audit assess profile"),
    "tester": ("TEST", 3, "test verify validate coverage regression"),
}
NAMES = list(TABLE)
ALL_SEVEN = "investigate, plan, design, write, build, review and test"


def words_of(row: str) -> list[str]:
    return row.split("|") if "|" in row else row.split()


def names(analysis: Analysis) -> list[str]:
    return [each.name for each in analysis.capabilities]


def roles(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    return {role.name: role.capabilities for role in analysis.roles}


# ---- words -----------------------------------------------------------------------------------------------------------


def test_the_table_has_its_capabilities_in_order_with_prefix_and_tier() -> None:
    found = [(each.name, each.prefix, each.tier) for each in shipped().capabilities]

    assert found == [(name, prefix, tier) for name, (prefix, tier, _) in TABLE.items()]


@pytest.mark.parametrize(("name", "word"), [(name, word) for name, row in TABLE.items() for word in words_of(row[2])])
def test_each_word_of_the_table_asks_for_its_capability_alone(name: str, word: str) -> None:
    analysis = analyse(f"Please {word.upper()} the cart")

    assert names(analysis) == [name]
    [found] = analysis.capabilities[0].words
    assert (found.word, found.found, found.at, found.times) == (word, word.upper(), 7, 1)


def test_every_form_of_the_list_is_found_as_its_word() -> None:
    for form, meaning in shipped().meanings.items():
        [found] = analyse(" ".join(form)).capabilities
        assert (found.name, [word.word for word in found.words]) == (meaning.capability, [meaning.word]), form


@pytest.mark.parametrize(
    "text",
    [
        "unplanned",
        "latest",
        "airport",
        "reporter",
        "prefix",
        "plan_b",
        "test1",
        "redesigner",
        "buildx",
        "tést",
        "plan٣",
    ],
)
def test_a_word_inside_another_is_none(text: str) -> None:
    assert names(analyse(text)) == ["general"]


@pytest.mark.parametrize("text", ["plan!", "(plan)", "pre-plan", "plan/", "“plan”", "plan.", "a\nplan\tb", "PLAN"])
def test_signs_and_spaces_are_boundaries(text: str) -> None:
    assert names(analyse(text)) == ["planner"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("break down the cart", ["planner"]),
        ("break-down", ["planner"]),
        ("break \n  down", ["planner"]),
        ("break. down", ["general"]),
        ("break the cart down", ["general"]),
        ("break", ["general"]),
        ("break down and break", ["planner"]),
    ],
)
def test_a_form_of_several_words_stands_together(text: str, found: list[str]) -> None:
    assert names(analyse(text)) == found


def test_the_longest_form_counts_and_nothing_inside_it() -> None:
    [tester] = analyse("a smoke test").capabilities

    assert [word.word for word in tester.words] == ["smoke test"]


def test_a_word_is_told_once_with_its_first_form_and_how_often() -> None:
    [found] = analyse("Testing: test, TESTS and verify").capabilities

    assert [msgspec.structs.astuple(word) for word in found.words] == [
        ("test", "Testing", 0, 3),
        ("verify", "verify", 25, 1),
    ]
    assert found.reason == 'the text has "Testing", "verify"'


def test_capabilities_stand_in_the_order_of_the_table_whatever_the_text_says_first() -> None:
    assert names(analyse("test, build, investigate")) == ["researcher", "developer", "tester"]


def test_nothing_known_is_general() -> None:
    analysis = analyse("hello there")

    [general] = analysis.capabilities
    assert (general.name, general.prefix, general.tier, general.words) == ("general", "TASK", None, ())
    assert general.reason == "no word of the list stands in the text"
    assert roles(analysis) == {"general": ("general",)}


@pytest.mark.parametrize("text", ["check status", "gemba team cancel", "--plan-only", "/status", "$(reboot) ; pause"])
def test_a_text_that_reads_like_a_command_is_a_text(text: str) -> None:
    analysis = analyse(text)

    assert analysis.text == text
    assert analysis.roles


@pytest.mark.parametrize("text", ["", " \n\t", "…", "?!", "\u200b"])
def test_a_text_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="the task's text is empty; allowed: a text that says what") as refused:
        analyse(text)

    assert (refused.value.code, refused.value.pointer) == ("empty_text", "/text")


def test_a_text_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Invalid, match="has 200,001 characters; allowed: at most 200,000") as refused:
        analyse("a" * 200_001)

    assert refused.value.code == "text_too_long"


def lines_run(text: str) -> int:
    """How many lines of Python an analysis takes: a clock that no other process touches."""
    many = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal many
        many += 1
        return count

    sys.settrace(count)  # type: ignore[arg-type]  # the stub wants frames, which nobody looks at
    try:
        analyse(text)
    finally:
        sys.settrace(None)
    return many


@pytest.mark.parametrize("piece", ["break ", "break down ", "end to end to ", "test\n", "x", "plan-", "… "])
def test_a_text_takes_time_that_grows_as_it_does(piece: str) -> None:
    analyse("warm")
    short, long = ("a " + piece * (size // len(piece)) for size in (600, 6_000))

    assert lines_run(long) <= 11 * lines_run(short)


def test_100_kb_of_text_are_analysed() -> None:
    [planner] = analyse("break down " * 9_310).capabilities

    assert [(word.word, word.times) for word in planner.words] == [("break down", 9_310)]


@given(st.text(min_size=1), st.integers(4, MOST_ROLES))
def test_any_text_has_one_analysis_or_one_refusal(text: str, limit: int) -> None:
    if not any(char.isalnum() or char == "_" for char in text):
        with pytest.raises(Invalid, match="the task's text is empty"):
            analyse(text, max_roles=limit)
        return

    first = analyse(text, max_roles=limit)

    assert msgspec.json.encode(first) == msgspec.json.encode(analyse(text, max_roles=limit))


FORMS = [" ".join(form) for form in shipped().meanings]


@given(st.lists(st.sampled_from([*FORMS, "cart", "the", "planet"]), min_size=1, max_size=30))
def test_every_word_is_accounted_for_once(parts: list[str]) -> None:
    analysis = analyse(". ".join(parts), max_roles=MOST_ROLES)

    wanted = Counter(shipped().meanings[form] for form in map(form_of, parts) if form in shipped().meanings)
    found = {(each.name, word.word): word.times for each in analysis.capabilities for word in each.words}
    assert found == {tuple(meaning): times for meaning, times in wanted.items()}
    held = [name for role in analysis.roles for name in role.capabilities]
    assert sorted(held) == sorted(names(analysis))


# ---- complexity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts", "score", "level"),
    [
        ("hello", (1, 0, 0, 1), 2, "low"),
        ("build it", (1, 0, 0, 1), 2, "low"),
        ("build and test it", (2, 0, 0, 2), 4, "medium"),
        ("write and build it", (2, 0, 1, 1), 4, "medium"),
        ("write, build, test", (3, 0, 1, 2), 6, "medium"),
        ("design, build, test", (3, 2, 0, 3), 8, "high"),
        ("write, build, review, test", (4, 0, 2, 2), 8, "high"),
        (ALL_SEVEN, (7, 2, 3, 4), 16, "high"),
    ],
)
def test_complexity_is_the_sum_of_its_parts(text: str, parts: tuple[int, ...], score: int, level: str) -> None:
    found = analyse(text).complexity

    assert (found.capabilities, found.tiers, found.tracks, found.chain) == parts
    assert (found.score, found.level) == (score, level)
    assert found.reason.endswith(f"= {score}")


# ---- roles -----------------------------------------------------------------------------------------------------------


def asked(counts: dict[str, int]) -> list[CapabilityFound]:
    """Capabilities with so many words each."""
    return [
        CapabilityFound(
            name, TABLE[name][0], TABLE[name][1], "", tuple(WordFound(f"w{n}", "", 0, 1) for n in range(many)), ""
        )
        for name, many in counts.items()
    ]


def test_five_roles_are_left_alone() -> None:
    analysis = analyse("investigate, design, write, build and test")

    assert (len(analysis.roles), analysis.merges) == (5, ())


def test_a_sixth_joins_by_the_first_pair_with_its_reason() -> None:
    analysis = analyse("investigate, plan, design, build, review and test")

    assert roles(analysis)["researcher"] == ("researcher", "planner")
    [merge] = analysis.merges
    assert (merge.name, merge.into) == ("planner", "researcher")
    assert merge.reason == (
        "more roles than the limit of 5: planner joins researcher, which shares its tier; "
        "both have 1 word, and researcher comes first in the table"
    )


def test_seven_join_by_the_first_two_pairs() -> None:
    assert list(roles(analyse(ALL_SEVEN))) == ["researcher", "designer", "writer", "developer", "analyst"]


def test_a_limit_of_four_takes_all_three_pairs() -> None:
    analysis = analyse(ALL_SEVEN, max_roles=4)

    assert [(merge.name, merge.into) for merge in analysis.merges] == [
        ("planner", "researcher"),
        ("tester", "analyst"),
        ("developer", "writer"),
    ]


def test_the_name_with_more_words_stays() -> None:
    analysis = analyse("plan and schedule, investigate, design, build, review, test and verify", max_roles=4)

    assert roles(analysis) == {
        "planner": ("researcher", "planner"),
        "designer": ("designer",),
        "developer": ("developer",),
        "tester": ("analyst", "tester"),
    }
    assert analysis.merges[1].reason.endswith("tester has 2 words in the text and analyst 1")


def test_a_word_that_is_repeated_is_one_word() -> None:
    analysis = analyse("investigate. plan plan plan. design, build, review, test", max_roles=5)

    assert [(merge.name, merge.into) for merge in analysis.merges] == [("planner", "researcher")]


def test_what_cannot_be_joined_any_further_is_refused() -> None:
    with pytest.raises(
        Invalid, match="asks for 7 capabilities, which fit into no fewer than 4 roles; allowed: 3"
    ) as no:
        analyse(ALL_SEVEN, max_roles=3)

    assert (no.value.code, no.value.found, no.value.allowed) == ("too_many_roles", 4, 3)


@pytest.mark.parametrize("limit", [-1, 0, 6, 100])
def test_a_limit_of_roles_has_its_own_limits(limit: int) -> None:
    with pytest.raises(Invalid, match=f"max_roles is {limit}; allowed: 1 to 5") as refused:
        analyse("build", max_roles=limit)

    assert refused.value.pointer == "/max_roles"


counts = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 4), min_size=1).map(
    lambda drawn: {name: drawn[name] for name in NAMES if name in drawn}
)


@given(counts, st.integers(1, MOST_ROLES))
def test_merging_keeps_the_limit_the_order_and_every_capability(drawn: dict[str, int], limit: int) -> None:
    found = asked(drawn)
    pairs = [pair for pair in JOINS if set(pair) <= drawn.keys()]
    if len(found) - len(pairs) > limit:
        with pytest.raises(Invalid, match="fit into no fewer than") as refused:
            merge_roles(found, limit)
        assert refused.value.found == len(found) - len(pairs)
        return

    made, merges = merge_roles(found, limit)

    assert len(made) <= limit
    assert len(made) == len(found) - len(merges)
    assert len(merges) == max(0, len(found) - limit)  # no pair more than it takes
    assert [{merge.name, merge.into} for merge in merges] == [set(pair) for pair in pairs[: len(merges)]]
    assert sorted(name for role in made for name in role.capabilities) == sorted(drawn)
    for merge in merges:
        assert (drawn[merge.into], -NAMES.index(merge.into)) > (drawn[merge.name], -NAMES.index(merge.name))
    for role in made:
        assert role.name in role.capabilities
        assert role.prefix == TABLE[role.name][0]
        assert list(role.capabilities) == sorted(role.capabilities, key=NAMES.index)
        assert len({TABLE[name][1] for name in role.capabilities}) == 1


# ---- a workspace's own words -----------------------------------------------------------------------------------------


def test_a_workspace_adds_words_and_drops_words(tmp_path: Path) -> None:
    (tmp_path / ".gemba").mkdir()
    (tmp_path / ".gemba" / "capabilities.toml").write_text(
        '[developer]\nwords = ["ship, ships, shipping", "roll out"]\ndrop = ["port"]\n[writer]\ndrop = ["docs"]\n'
    )
    own = workspace_vocabulary(tmp_path)

    assert names(analyse("shipping", vocabulary=own)) == ["developer"]
    assert names(analyse("Roll out", vocabulary=own)) == ["developer"]
    assert names(analyse("port, ported", vocabulary=own)) == ["general"]
    assert names(analyse("docs", vocabulary=own)) == ["general"]
    assert names(analyse("document", vocabulary=own)) == ["writer"]
    assert names(analyse("port, docs, ship")) == ["writer", "developer"]


def test_a_word_that_is_dropped_in_one_place_can_be_added_in_another() -> None:
    own = extended(shipped(), b'[tester]\ndrop = ["check"]\n[analyst]\nwords = ["check"]\n', "x")

    assert names(analyse("check", vocabulary=own)) == ["analyst"]


def test_without_a_file_the_shipped_list_stands(tmp_path: Path) -> None:
    assert workspace_vocabulary(tmp_path) is shipped()


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gemba" / "capabilities.toml").mkdir(parents=True)

    with pytest.raises(Unusable, match=r"capabilities\.toml: Is a directory"):
        workspace_vocabulary(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[developer]\n[nobody]\n", 2, 'unknown capability "nobody"; known: researcher'),
        ("[develper]\n", 1, 'unknown capability "develper"; did you mean developer?'),
        ("[general]\nwords = []\n", 1, 'unknown capability "general"'),
        ("tester = 3\n", 1, "tester is no table; allowed: a table with words and drop"),
        ("[tester]\n\nword = []\n", 3, 'unknown key "word"; did you mean words?'),
        ('[tester]\nwords = "ship"\n', 2, "words is no list; allowed: a list of words"),
        ('[tester]\nwords = [\n "try",\n 3]\n', 4, "a word is no text"),
        ('[tester]\nwords = ["try, "]\n', 2, '"" has 0 words; allowed: 1 to 6'),
        ('[tester]\nwords = ["a b c d e f g"]\n', 2, '"a b c d e f g" has 7 words'),
        ('[tester]\nwords = ["try", "builds"]\n', 2, '"builds" is a word of developer; allowed: drop it there first'),
        ('[tester]\nwords = ["try"]\n[analyst]\nwords = ["try"]\n', 4, '"try" is a word of tester'),
        ('[tester]\ndrop = ["fix"]\n', 2, '"fix" is no word of tester; allowed: a word that it has'),
        ('[tester]\ndrop = ["nonsense"]\n', 2, '"nonsense" is no word of tester'),
    ],
)
def test_a_fault_of_the_file_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(Invalid, match=r"^words\.toml:") as refused:
        extended(shipped(), text.encode(), "words.toml")

    assert refused.value.message.startswith(f"words.toml:{line}: {words}")
    assert refused.value.code == "capabilities_invalid"


def test_all_faults_of_a_file_are_told_at_once() -> None:
    with pytest.raises(Invalid, match=r"\(and 1 more\)$") as refused:
        extended(shipped(), b"[x]\n[y]\n", "words.toml")

    assert [line for line, _ in refused.value.extra["findings"]] == [1, 2]


def test_a_file_that_is_no_toml_is_told_with_its_line() -> None:
    with pytest.raises(Invalid, match=r"^words\.toml:2: ") as refused:
        extended(shipped(), b"[tester]\nwords = [\n", "words.toml")

    assert refused.value.code == "capabilities_syntax"
