"""What is computed at a gate, and the built-in reviewer: a defect of one dimension lowers that score and no other."""

import itertools
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.check import Check, check
from gemba.teams.gates import ComputedCheck, Dimension, Gate, judge
from gemba.teams.measuring import ROWS, measure
from gemba.teams.plan import Output
from gemba.teams.reviewer import GRAVE, review
from gemba.teams.run import BUILTIN
from gemba.teams.submitted import Artifact, ChangedFile, CommandResult, KnownFile, Outside, Submitted, Upstream
from tests.fixtures.submissions import (
    DEFECTS,
    OUTPUTS,
    PAGE,
    PLANTED,
    Defect,
    artifact,
    command_fails,
    good_work,
    with_added,
    with_envelope,
    with_fields,
    with_more,
    with_page,
)
from tests.reference import DOCS

D = Dimension


def gate_of(work: Submitted) -> Gate:
    return judge(measure(work), review(work), author=work.owner, attempt=1)


def scores(work: Submitted) -> dict[Dimension, float]:
    return {each.dimension: each.score for each in gate_of(work).dimensions}


def failed(work: Submitted) -> dict[str, str]:
    return {each.name: each.evidence for each in measure(work) if not each.passed}


# ---- good work and planted defects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("output", OUTPUTS)
def test_good_work_passes_with_every_dimension_at_80_or_more(output: Output) -> None:
    work = good_work(output)

    assert (failed(work), review(work).note) == ({}, "Nothing to complain of.")
    assert min(scores(work).values()) >= 80
    assert gate_of(work).outcome == "passed"


@pytest.mark.parametrize(
    ("output", "defect"), PLANTED, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_a_defect_lowers_the_score_of_its_dimension_and_no_other(output: Output, defect: Defect) -> None:
    before, after = scores(good_work(output)), scores(defect.plant(good_work(output)))

    assert after[defect.dimension] < before[defect.dimension]
    assert {each for each in D if after[each] != before[each]} == {defect.dimension}


@pytest.mark.parametrize("output", OUTPUTS)
def test_defects_of_other_dimensions_do_not_change_what_a_defect_costs(output: Output) -> None:
    mine = [defect for defect in DEFECTS if output in defect.outputs]
    alone = {defect: scores(defect.plant(good_work(output)))[defect.dimension] for defect in mine}

    for one, other in itertools.combinations(mine, 2):
        if one.dimension is not other.dimension and not _in_each_others_way(one, other):
            together = scores(other.plant(one.plant(good_work(output))))
            assert (together[one.dimension], together[other.dimension]) == (alone[one], alone[other]), (one, other)


def _in_each_others_way(one: Defect, other: Defect) -> bool:
    """Where one takes away what the other is planted into, or plants anew what the other took away."""
    takes_away = {
        *("the artifact is missing beside the code", "the artifact is empty beside the code", "no heading"),
        *("hardly a word", "nothing to look up", "comments alone", "code without a test"),
        "a code block that never ends",
    }
    return bool(takes_away & {one.name, other.name})


def test_every_row_fails_for_some_defect_of_its_dimension() -> None:
    found = {(defect.dimension, name) for output, defect in PLANTED for name in failed(defect.plant(good_work(output)))}
    nothing = {(D.COMPLETENESS, name) for name in failed(good_work_without_changes())}

    assert {(row.dimension, row.name) for row in ROWS} - found - nothing == set()


def good_work_without_changes() -> Submitted:
    return msgspec.structs.replace(good_work("mixed"), changed=(), commands=())


def test_the_scores_of_planted_defects_are_shown_in_a_table() -> None:
    lines = [f"{'':48}{'output':10}" + "".join(f"{each:>14}" for each in D) + f"{'score':>8}  outcome"]
    for output in OUTPUTS:
        works = [("good work", good_work(output))]
        works += [(defect.name, defect.plant(good_work(output))) for each, defect in PLANTED if each == output]
        for name, work in works:
            gate = gate_of(work)
            shown = "".join(f"{each.score:14g}" for each in gate.dimensions)
            lines.append(f"{name:48}{output:10}{shown}{gate.score:8g}  {gate.outcome}")
    print("\n".join(lines))  # pytest -s shows it

    assert len(lines) == 1 + len(PLANTED) + len(OUTPUTS)


# ---- what scores mean ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", OUTPUTS)
def test_where_nothing_was_handed_in_there_are_no_points_and_it_is_sent_back(output: Output) -> None:
    gate = gate_of(msgspec.structs.replace(good_work(output), artifacts=(), changed=(), commands=()))

    assert (gate.score, gate.outcome) == (0, "sent_back")


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_survey_in_the_place_of_what_was_asked_for_is_never_completed_without_a_warning(output: Output) -> None:
    surveyed = with_envelope(lambda _, proof: proof.update(details={"surveyed": "it needs a model"}))(good_work(output))
    generous = msgspec.structs.replace(review(good_work(output)), reviewer="a person")

    gate = judge(measure(surveyed), generous, author="writer", attempt=1, surveyed="it needs a model")

    assert (gate.score, gate.outcome, gate.lowest) == (75, "passed_with_warnings", D.COMPLETENESS)
    assert "surveyed only: it needs a model" in gate.reason
    assert gate.surveyed == "it needs a model"
    assert '"surveyed"' not in msgspec.json.encode(gate_of(good_work(output))).decode()


def test_a_grave_finding_alone_keeps_work_from_being_completed_without_a_warning() -> None:
    work = with_fields(commands=(CommandResult("tests", D.ACCURACY, 1, "exit code 1", "1 failed"),))(
        good_work("codebase")
    )

    assert review(work).accuracy == 100 - GRAVE
    assert gate_of(work).outcome == "passed_with_warnings"
    assert failed(work) == {"command: tests": "exit code 1: 1 failed"}


def test_a_command_that_failed_before_the_run_began_is_not_laid_at_the_tasks_door() -> None:
    before = CommandResult("tests", D.ACCURACY, 1, "exit code 1", "1 failed", failed_before=True)
    work = with_fields(commands=(before,))(good_work("codebase"))

    assert scores(work) == scores(good_work("codebase"))


def test_the_built_in_reviewer_is_no_author_and_says_what_it_took_off() -> None:
    work = with_page(lambda page: page.replace("5 attempts", "TBD"))(good_work("artifact"))

    assert review(work).reviewer == BUILTIN
    assert review(work).note == "consistency: still to be filled in: ANALYSIS-001-report.md (TBD) (-15)."


def test_who_quotes_what_was_asked_for_has_not_spoken_of_it() -> None:
    asked = with_fields(acceptance=("Translate the manual into Finnish",))(good_work("artifact"))
    quoted = with_page(lambda page: page + "\n> Translate the manual into Finnish\n")(asked)

    assert scores(quoted) == scores(asked)


def test_without_a_repository_a_change_is_what_the_world_bears_out() -> None:
    work = with_fields(changed=(), compared=False, commands=())(good_work("codebase"))
    borne_out = with_more(world=(check("files_modified", "src/upload.py", "it was changed", "ok"),))(work)

    assert gate_of(work).outcome == "sent_back"
    assert (gate_of(borne_out).score, gate_of(borne_out).outcome) == (100, "passed")


def test_the_examples_of_the_page_are_what_comes_out() -> None:
    planted = {defect.name: defect.plant for defect in DEFECTS}
    failing = command_fails(D.ACCURACY)(good_work("codebase"))
    works = (
        good_work("mixed"),
        planted["a placeholder"](good_work("artifact")),
        planted["a criterion that nothing speaks of"](good_work("artifact")),
        failing,
        planted["steps are left"](planted["code without a test"](failing)),
        planted["a survey in the place of what was asked for"](good_work("artifact")),
        with_fields(artifacts=())(good_work("artifact")),
    )
    words = {"passed": "completed", "passed_with_warnings": "with warnings", "sent_back": "again"}
    gates = [gate_of(work) for work in works]
    rows = [
        [*(f"{each.score:g}" for each in gate.dimensions), f"{gate.score:g}", words[gate.outcome]] for gate in gates
    ]
    table = (DOCS / "gates.md").read_text().partition("## Examples")[2].strip().splitlines()[2:]

    assert [[cell.strip() for cell in line.split("|")[2:-1]] for line in table] == rows


# ---- what is no defect -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Add a new `src/limits.py` for them.",
        "There is no `docs/upload.md`.",
        "It should live in `src/retry/limits.py`.",
        "See [the page](https://example.org/a.md) and [above](#limits).",
        "`GET /api/uploads` answers `application/json`, as `and/or` does.",
        "`/etc/hosts.conf` and `~/.config/upload.toml` are the user's.",
        "The code has 14 TODO comments, and `TODO:` stands before each.",
        "Todo el mundo lo sabe.",
        "RFC-2616 and ISO-8601 say so.",
        "Der Begriff [Wiederholung](web/upload.ts) steht dort.",
        "    <<<<<<< is how a conflict begins.",
        "1 < 2 and 2 > 1, <b>bold</b>, List<String>.",
    ],
)
def test_lines_that_are_no_defect(line: str) -> None:
    work = with_page(lambda page: page + f"\n{line}\n")(good_work("artifact"))

    assert (failed(work), review(work).note) == ({}, "Nothing to complain of.")


def test_a_plan_may_speak_of_files_that_are_to_be_made() -> None:
    work = msgspec.structs.replace(
        good_work("artifact"),
        task_id="PLAN-001",
        artifacts=(artifact("PLAN-001-plan.md", PAGE + "\nThe limits go to `src/limits.py`.\n"),),
    )

    assert "named files exist" not in failed(work)


def test_an_abstract_method_is_no_stub() -> None:
    work = good_work("codebase")
    file = work.changed[0]
    abstract = msgspec.structs.replace(
        file, lines=file.lines + "\n    raise NotImplementedError", text="@abstractmethod\n" + file.text
    )

    assert failed(msgspec.structs.replace(work, changed=(abstract, *work.changed[1:]))) == {}


def test_a_lock_file_need_not_be_told() -> None:
    assert failed(with_more(changed=(ChangedFile("uv.lock", 9, 2, "a", "a"),))(good_work("mixed"))) == {}


def test_what_an_earlier_turn_told_of_need_not_be_told_again() -> None:
    more = with_more(changed=(ChangedFile("src/more.py", 1, 0, "a = 1", "a = 1"),))

    assert "changes told" in failed(more(good_work("mixed")))
    assert failed(with_fields(told=("src/more.py",))(more(good_work("mixed")))) == {}


def test_a_folder_tells_of_the_files_in_it() -> None:
    told = with_envelope(lambda _, verification: verification.update(files_modified=["src/", "./tests"]))

    assert failed(told(good_work("mixed"))) == {}


def test_words_in_other_scripts_are_words() -> None:
    work = with_fields(acceptance=("上传的重试次数", "Größe der Dateien"))(good_work("artifact"))

    assert "acceptance" in failed(work)
    assert "acceptance" not in failed(
        with_page(lambda page: page + "\n上传的重试次数: 5. Die Größe von Dateien.\n")(work)
    )


# ---- whatever is handed in -------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("agent_status", "evidence_report", "consolidation_report", "user_facing_summary")
EVIDENCE = ("verification", "open_gaps", "files_checked", "commands_run", "patterns_checked", "key_outputs")
VERIFICATION = ("files_modified", "files_produced", "artifacts_written", "command", "exit_code", "result", "details")
ENVELOPES = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), JSON, max_size=5) | st.fixed_dictionaries(
    {
        "agent_status": st.dictionaries(st.just("pending_steps"), JSON),
        "evidence_report": st.fixed_dictionaries(
            {
                "verification": st.dictionaries(st.sampled_from(VERIFICATION), JSON),
                **dict.fromkeys(EVIDENCE[1:], JSON),
            }
        ),
    }
)
MARKED = st.text(alphabet=st.sampled_from("#`~-=|<>[](){}/.:\n ATODBX19a\0\ud800é中"), max_size=200)
TEXTS = st.text(max_size=60) | MARKED
SUBMITTED = st.builds(
    Submitted,
    task_id=st.sampled_from(["ANALYSIS-001", "IMPL-001"]) | st.text(max_size=6),
    owner=st.just("developer"),
    goal=TEXTS,
    text=TEXTS,
    output=st.sampled_from(OUTPUTS),
    envelope=ENVELOPES,
    acceptance=st.lists(TEXTS, max_size=3).map(tuple),
    world=st.lists(
        st.builds(
            Check,
            st.sampled_from(["line_counts", "files_modified", "?"]),
            TEXTS,
            TEXTS,
            st.sampled_from(["ok", "failed", "unknown"]),
        ),
        max_size=4,
    ).map(tuple),
    artifacts=st.lists(
        st.builds(Artifact, st.sampled_from(["ANALYSIS-001-a.md", "IMPL-001-a.md", "x"]), TEXTS, TEXTS), max_size=3
    ).map(tuple),
    changed=st.lists(
        st.builds(
            ChangedFile,
            st.sampled_from(["a.py", "tests/test_a.py", "b.md", ".gemba/x"]) | TEXTS,
            st.integers(0, 9),
            st.integers(0, 9),
            TEXTS,
            TEXTS,
            st.booleans(),
            st.booleans(),
        ),
        max_size=4,
    ).map(tuple),
    upstream=st.lists(st.builds(Upstream, TEXTS, TEXTS, st.none() | TEXTS), max_size=2).map(tuple),
    commands=st.lists(
        st.builds(CommandResult, TEXTS, st.sampled_from(D), st.none() | st.integers(0, 2), TEXTS, TEXTS), max_size=3
    ).map(tuple),
    known=st.lists(st.builds(KnownFile, TEXTS, st.none() | st.integers(0, 9)), max_size=3).map(tuple),
    outside=st.lists(st.builds(Outside, TEXTS, st.booleans()), max_size=2).map(tuple),
)


@given(SUBMITTED, st.randoms(use_true_random=False))
def test_any_submission_is_judged_the_same_in_any_order(work: Submitted, draw: random.Random) -> None:
    checks, reviewed = measure(work), review(work)
    mixed = _shuffled(work, draw)

    gate = judge(checks, reviewed, author="developer", attempt=1)
    assert all(0 <= each.score <= 100 for each in gate.dimensions)
    assert (measure(mixed), review(mixed)) == (checks, reviewed)
    for text in (reviewed.note, *(each.evidence for each in checks), *(each.name for each in checks)):
        assert "\0" not in text
        text.encode()  # can be stored


def _shuffled(work: Submitted, draw: random.Random) -> Submitted:
    def mixed(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(draw.sample(items, len(items)))

    names = ("world", "artifacts", "changed", "upstream", "commands", "known", "outside")
    return msgspec.structs.replace(work, **{name: mixed(getattr(work, name)) for name in names})


@given(ENVELOPES, st.sampled_from(OUTPUTS))
def test_any_envelope_is_taken(envelope: dict[str, Any], output: Output) -> None:
    work = msgspec.structs.replace(good_work(output), envelope=envelope)

    assert all(isinstance(each, ComputedCheck) for each in measure(work))
    assert review(work).note


@pytest.mark.parametrize(
    "piece", ["`a/", "#", "<<<<<<< ", "[", "](", "A-", "a/b.c:", "```\n", "| ", "TODO", "{{", '"', "-\n", "a\n"]
)
def test_time_is_linear_in_what_was_written(piece: str) -> None:
    many = 200_000 // len(piece)
    work = good_work("mixed")
    work = with_added("src/upload.py", piece * many)(with_page(lambda page: page + piece * many)(work))

    measure(work)  # a quadratic look would take minutes, and the test's deadline is two
    review(work)
