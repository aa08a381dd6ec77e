"""Which asks are the same question: the list of pairs as operators judge them, and what holds for any two texts."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemba import wire
from gemba.escalations.likeness import Form, compare, form, is_like

PAIRS = Path(__file__).with_name("likeness_pairs.jsonl")


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    kind: str = "question"
    title: str | None = None
    options: list[str] = []
    schema: Any = None

    @property
    def form(self) -> Form:
        return form(self.kind, self.title, self.text, self.options, self.schema)


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two asks, and whether an operator would answer both with one answer. Nothing was fitted to those held out."""

    same: bool
    held_out: bool
    a: Side
    b: Side


class Score(NamedTuple):
    pairs: int
    precision: float
    recall: float


def pairs() -> list[Pair]:
    return [msgspec.json.decode(line, type=Pair) for line in PAIRS.read_text().splitlines()]


def score(chosen: list[Pair]) -> Score:
    taken = [pair.same for pair in chosen if compare(pair.a.form, pair.b.form).same]
    return Score(len(chosen), sum(taken) / len(taken), sum(taken) / sum(pair.same for pair in chosen))


def ask(text: str, **other: Any) -> Form:
    return Side(text, **other).form


def test_precision_and_recall_on_the_list_of_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    known = pairs()
    fitted = score([pair for pair in known if not pair.held_out])
    held_out = score([pair for pair in known if pair.held_out])
    with capsys.disabled():
        for name, found in (("fitted", fitted), ("held out", held_out)):
            print(
                f"\nlikeness, {name}: {found.pairs} pairs, precision {found.precision:.3f}, recall {found.recall:.3f}"
            )

    assert fitted.pairs + held_out.pairs >= 150
    assert held_out.pairs * 3 >= len(known) - 3
    assert min(fitted.precision, held_out.precision) >= 0.97
    assert min(fitted.recall, held_out.recall) >= 0.85


@pytest.mark.parametrize("pair", [pair for pair in pairs() if not pair.same], ids=lambda pair: pair.a.text[:40])
def test_a_rule_never_takes_one_question_for_another(pair: Pair) -> None:
    assert pair.a.form.key != pair.b.form.key


def test_likeness_is_mutual_found_by_its_bands_and_explained() -> None:
    for pair in pairs():
        a, b = pair.a.form, pair.b.form
        there, back = compare(a, b), compare(b, a)
        assert there.same == back.same == is_like(a, b)
        assert there.score == back.score
        assert 0 <= there.score <= 1
        assert there.why.strip()
        if there.same:
            assert set(a.bands) & set(b.bands)
        if a.key == b.key:
            assert there.same


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Port 5432?", "Port 5433?", '"5432" only in one, "5433" only in the other'),
        ("Should I delete X?", "Should I not delete X?", "one of them says not"),
        ("Delete src/a.py?", "Delete src/b.py?", '"src/a.py" only in one, "src/b.py" only in the other'),
        (
            "Merge main into develop?",
            "Merge develop into main?",
            '"into" goes with "develop" in one, with "main" in the other',
        ),
        (
            "May the client call the server?",
            "May the server call the client?",
            '"client" and "server" have changed places',
        ),
        (
            "Which databse should it be?",
            "Which database should it be?",
            'the same words, with "databse" taken for "database"',
        ),
        ("Which cache?", "Which database?", '"cache" only in one, "database" only in the other'),
        ("May I drop the old table?", "Can I drop the old table, please?", "the same question: drop, old, table"),
        ("Is it deleted?", "Should it be deleted?", "one wants to know whether something is so, the other a decision"),
    ],
)
def test_the_reason_is_one_a_person_understands(a: str, b: str, why: str) -> None:
    assert compare(ask(a), ask(b)).why == why


@pytest.mark.parametrize("text", ["", " ", "?", "…!", "👍", "🚀🚀", "Which?", "Should I?", "the", "\u200b", "—"])
def test_a_text_without_words_is_like_the_identical_one_alone(text: str) -> None:
    assert compare(ask(text), ask(text)).same
    for other in ("👎", "??", "What?", "a", "Should we?", "🚀"):
        assert not compare(ask(text), ask(other)).same
        assert ask(text).key != ask(other).key


@pytest.mark.parametrize("text", ["Which time zones?", "Which timezones?", "Which time-zones?", "Which timezone?"])
def test_what_is_one_word_or_two_is_the_same_in_any_number(text: str) -> None:
    assert is_like(ask(text), ask("Which time zone?"))
    assert ask(text).key == ask("Which time zone?").key


def test_invisible_marks_case_accents_and_composition_make_no_difference() -> None:
    one = ask("Lösche die Café-Datei in São Paulo?")
    other = ask("LO\u0308SCHE die\u200b CAFE\u0301-Datei in Sa\u0303o Paulo?")

    assert compare(one, other).score == 1.0
    assert one.key == other.key


def test_a_difference_far_down_in_a_long_text_counts() -> None:
    start = "The build of the shop fails. " * 200
    one, other = ask(start + "May I delete the cache?"), ask(start + "May I delete the database?")

    assert not compare(one, other).same
    assert one.key != other.key
    assert compare(one, ask(start + "May I delete the cache?")).same


@pytest.mark.parametrize(
    "piece", ["a", "word ", "'", "`a", '"x', "**", "/", "👍", "データを", "a'", "```", "not ", "from x "]
)
def test_the_longest_text_is_read_in_no_time(piece: str) -> None:
    text = (piece * wire.MAX_TEXT)[: wire.MAX_TEXT]
    begun = time.perf_counter()
    one, other = ask(text, title=text[: wire.MAX_TITLE]), ask(text[:-1], title=text[: wire.MAX_TITLE])
    compare(one, other)
    assert one.bands
    assert one.key
    assert time.perf_counter() - begun < 0.5


def test_keys_and_bands_are_the_same_in_every_process() -> None:
    """They are stored: a process with other random hashes must find what this one stored."""
    program = (
        "from gemba.escalations.likeness import form;"
        "it = form('question', 'Store', 'Which `users` database on port 5432?', ['b', 'a'], {'b': 1, 'a': 2});"
        "print(it.key, it.bands)"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    here = form("question", "Store", "Which `users` database on port 5432?", ["b", "a"], {"b": 1, "a": 2})

    assert told == {f"{here.key} {here.bands}\n"}
    assert here.key == "8e2f45f1699abbebcede880db2a7925f"


def test_bands_fit_a_column_of_both_databases() -> None:
    for pair in pairs():
        assert all(0 <= band < 2**63 for band in pair.a.form.bands)
        assert len(pair.a.form.bands) <= 6


texts = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            *("should", "I", "not", "delete", "the", "file", "a.py", "b.py", "users", "user", "5", "6", "from", "to"),
            *("main", "or", "Which", "データ", "ない", "`x`", "'y z'", "?"),
        ]
    ),
    max_size=8,
).map(" ".join)


@given(texts, texts)
@example('00000"00000"o', 'o"00000"00000')
def test_whatever_the_texts_likeness_is_mutual_and_bands_find_it(a: str, b: str) -> None:
    one, other = ask(a), ask(b)
    assert compare(one, one).same
    assert compare(one, other).same == compare(other, one).same == is_like(one, other)
    if compare(one, other).same:
        assert set(one.bands) & set(other.bands)
    if one.key == other.key:
        assert compare(one, other).same


scripts = st.sampled_from("aZ9_-.'`か何東カ한ا𝒳⼀豈\u3000\u200d❤")


@given(st.text(scripts, max_size=40) | st.text(max_size=200))
def test_any_mixture_of_scripts_can_be_read(text: str) -> None:
    assert compare(ask(text), ask(text)).same


@given(texts, st.sampled_from(["5432", "src/x.py", "not", "user_id", "`exact`"]))
def test_an_anchor_more_makes_another_question(text: str, anchor: str) -> None:
    assert not compare(ask(f"delete it {text}"), ask(f"delete it {text} {anchor}")).same
