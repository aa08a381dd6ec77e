"""What an envelope leaves for others of a team is bounded whatever stands in it, and comes from known places."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.teams.knowledge import (
    KINDS,
    LONGEST_FINDING,
    LONGEST_NAME,
    LONGEST_WORDS,
    MOST_DECISIONS,
    MOST_FILES,
    MOST_FINDINGS,
    MOST_OF_A_KIND,
    VERIFICATIONS,
    Decision,
    Words,
    accumulated,
    angles_of,
    artifact_task,
    read_state,
    state_of,
    wisdom_in_message,
    wisdom_of,
)
from gemba.teams.loaded import Loaded, LoadedState, as_knowledge, named_in, size_of, upstream_entry, within
from gemba.teams.message import LONGEST_DATA, checked
from tests.fixtures.team_knowledge import decided, handed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)
REPORT = st.dictionaries(
    st.sampled_from(
        ["key_outputs", "patterns_checked", "files_checked", "cross_layer_impacts", "open_gaps", "verification"]
    ),
    JSON | st.lists(st.text(max_size=300), max_size=40),
)
DOCUMENT = st.fixed_dictionaries(
    {"evidence_report": REPORT | JSON},
    optional={
        "memorialize_suggestions": JSON,
        "memory_suggestions": JSON,
        "user_facing_summary": JSON,
        "consolidation_report": JSON,
        "agent_status": JSON,
    },
)


def test_files_that_an_earlier_turn_of_the_task_changed_are_changed_still() -> None:
    def turn(*paths: str) -> dict[str, Any]:
        return {"evidence_report": {"verification": {"files_modified": [{"path": path} for path in paths]}}}

    state = state_of(turn("b.py", "c.py"), task_id="IMPL-001", before=[turn("a.py"), {}, turn("b.py")])

    assert state.files_modified == ("a.py", "b.py", "c.py")


@given(DOCUMENT)
def test_whatever_stands_in_an_envelope_what_is_taken_of_it_is_bounded(document: dict[str, Any]) -> None:
    state = state_of(document, task_id="IMPL-001", artifacts=["IMPL-001-a.md"])

    assert len(state.key_findings) <= MOST_FINDINGS
    assert all(1 <= len(each) < 100 and "\n" not in each for each in state.key_findings)
    assert len(state.decisions) <= MOST_DECISIONS
    assert all(each.decision and each.reason for each in state.decisions)
    assert len(state.files_modified) <= MOST_FILES
    assert state.verification in VERIFICATIONS
    assert state.ref == "artifacts/IMPL-001-a.md"
    found = wisdom_of(document)
    assert all(0 < len(each.words) <= 2 * LONGEST_WORDS and "\0" not in each.words for each in found)
    assert all(len([each for each in found if each.kind == kind]) <= MOST_OF_A_KIND for kind in KINDS)
    assert all(angles_of(document, "goal"))
    assert accumulated(state, [], document, "goal")["goal"] == "goal"
    assert checked("developer", "state_update", "it reports", state.as_data()).known


@given(JSON)
def test_a_state_that_anybody_wrote_is_read_bounded(found: Any) -> None:
    state = read_state("IMPL-001", {"key_findings": found, "decisions": found, "files_modified": found, "ref": found})

    assert len(state.key_findings) <= MOST_FINDINGS
    assert all(len(each) < 100 for each in state.key_findings)
    assert len(state.files_modified) <= MOST_FILES
    assert read_state("IMPL-001", found).task_id == "IMPL-001"


def test_the_largest_state_fits_into_a_message() -> None:
    long = "\U0001f600" * 5_000
    paths = [{"path": f"{number:03}" + "\U0001f600" * 190} for number in range(500)]
    document = handed([f"{number}{long}" for number in range(9)], verification={"files_modified": paths}) | {
        "memorialize_suggestions": [decided(f"{number}{long}", long) for number in range(99)]
    }

    data = state_of(document, task_id="IMPL-001").as_data()

    assert checked("developer", "state_update", "it reports", data).known
    assert len(json.dumps(data, ensure_ascii=False).encode()) > LONGEST_DATA // 2


def test_findings_are_shortened_and_never_refused() -> None:
    state = state_of(handed([f"{number} " + "x" * 500 for number in range(9)]), task_id="IMPL-001")

    assert len(state.key_findings) == MOST_FINDINGS
    assert {len(each) for each in state.key_findings} == {LONGEST_FINDING}
    assert state.key_findings[0].startswith("0 ")
    assert all(each.endswith("…") for each in state.key_findings)


def test_without_key_outputs_the_summary_for_the_person_is_the_finding() -> None:
    assert state_of(handed(summary="Port\n8000 it is."), task_id="IMPL-001").key_findings == ("Port 8000 it is.",)


def test_of_several_versions_the_latest_findings_are_read() -> None:
    state = read_state("IMPL-001", {"key_findings": [f"finding {number}" for number in range(8)]})

    assert state.key_findings == tuple(f"finding {number}" for number in range(3, 8))


def test_decisions_come_with_their_reasons_out_of_what_is_to_be_remembered() -> None:
    document = handed() | {
        "memorialize_suggestions": [decided("SQLite first", "no server to run"), {"description": "x", "body": "y"}]
    }

    assert state_of(document, task_id="IMPL-001").decisions == (Decision("SQLite first", "no server to run"),)
    assert Words("decisions", "SQLite first (because: no server to run)") in wisdom_of(document)
    assert Words("learnings", "x: y") in wisdom_of(document)


def test_wisdom_comes_from_known_places_of_an_envelope() -> None:
    document = handed(
        ["The API has 100 calls a second"],
        patterns_checked=["Errors are one tree"],
        cross_layer_impacts=["The page shows old names"],
        open_gaps=["Nobody knows the limit of uploads"],
    ) | {"memory_suggestions": ["Port 8000 is taken"], "consolidation_report": {"conflicts": ["Two schemas"]}}

    assert wisdom_of(document) == [
        Words("learnings", "Port 8000 is taken"),
        Words("learnings", "The API has 100 calls a second"),
        Words("conventions", "Errors are one tree"),
        Words("issues", "The page shows old names"),
        Words("issues", "Nobody knows the limit of uploads"),
        Words("issues", "Two schemas"),
    ]


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("blocker", [Words("issues", "no access")]),
        ("error", [Words("issues", "no access")]),
        ("capability_gap", [Words("issues", "no access")]),
        ("state_update", [Words("decisions", "A (because: B)")]),
        ("progress", []),
        ("anything", []),
    ],
)
def test_messages_bring_issues_and_decisions(type_: str, found: list[Words]) -> None:
    assert wisdom_in_message(type_, " no\naccess ", {"decisions": [{"decision": "A", "reason": "B"}]}) == found


@pytest.mark.parametrize(
    ("proof", "reviewer", "found"),
    [
        ({"verification_method": "diff"}, None, "self-validated"),
        ({"verification_method": "diff"}, "developer", "self-validated"),
        ({"verification_method": "diff"}, "tester", "peer-reviewed"),
        ({"verification_method": "unit tests"}, "tester", "tested"),
        ({"verification_method": "attested by nobody"}, None, "self-validated"),
        ({"command": "make test", "exit_code": 0}, None, "tested"),
        ({"command": "make test", "exit_code": 1}, None, "self-validated"),
        ({"command": "make test", "exit_code": False}, None, "self-validated"),
    ],
)
def test_how_work_was_verified(proof: dict[str, Any], reviewer: str | None, found: str) -> None:
    document = handed(verification=proof)

    assert state_of(document, task_id="IMPL-001", reviewer=reviewer, author="developer").verification == found


def test_ref_is_the_artifact_that_the_envelope_names_first() -> None:
    names = ["IMPL-001-a.md", "IMPL-001-b.md"]
    document = handed(verification={"artifacts_written": [".gemba/artifacts/IMPL-001-b.md"]})

    assert state_of(document, task_id="IMPL-001", artifacts=names).ref == "artifacts/IMPL-001-b.md"
    assert state_of(handed(), task_id="IMPL-001", artifacts=names).ref == "artifacts/IMPL-001-a.md"
    changed = handed(verification={"files_modified": [{"path": "src/a.py"}]})
    assert state_of(changed, task_id="IMPL-001").ref == "src/a.py"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "~/x", "a\nb", "\\x", "", "a\x1bb", "x" * 300])
def test_paths_that_lead_elsewhere_are_not_among_files(path: str) -> None:
    document = handed(verification={"files_modified": [{"path": path}], "files_produced": [path, "src/a.py"]})

    assert state_of(document, task_id="IMPL-001").files_modified == ("src/a.py",)


@pytest.mark.parametrize(
    ("name", "task_id"),
    [
        ("IMPL-001-report.md", "IMPL-001"),
        ("IMPL-001-API.v2_notes.md", "IMPL-001"),
        ("IMPL-001.md", None),
        ("IMPL-001-.md", None),
        ("IMPL-001-a..md", None),
        ("IMPL-001-../x.md", None),
        ("IMPL-001-a/b.md", None),
        ("IMPL-001-a.txt", None),
        ("IMPL-001-a.md\n", None),
        ("impl-001-a.md", None),
        ("IMPL-01-a.md", None),
        ("IMPL-001-é.md", None),
        (f"IMPL-001-{'a' * LONGEST_NAME}.md", None),
        ("", None),
    ],
)
def test_the_name_of_an_artifact_says_whose_it_is(name: str, task_id: str | None) -> None:
    assert artifact_task(name) == task_id


# ---- what is loaded --------------------------------------------------------------------------------------------------


def test_kinds_of_wisdom_that_a_role_names_go_first() -> None:
    assert named_in(["conventions of the project"]).kinds[0] == "conventions"
    assert named_in([]).kinds == ("decisions", "conventions", "issues", "learnings")
    assert named_in(["DESIGN-001", "the design"]).words >= {"design-001", "design"}


@given(st.lists(st.text(max_size=200)), st.integers(0, 2_000))
def test_what_fits_is_kept_whole_and_the_rest_is_counted(items: list[str], room: int) -> None:
    kept, left = within(items, room, len)

    assert sum(map(len, kept)) <= room
    assert len(kept) + left == len(items)


def test_knowledge_is_plain_and_leaves_out_channels_without_anything() -> None:
    state = state_of(handed(["It works"]), task_id="DESIGN-001")
    loaded = Loaded("IMPL-001", states=(LoadedState("DESIGN-001", "designer", "Draw", state, ("DESIGN-001-a.md",)),))

    assert as_knowledge(loaded) == {
        "upstream": [
            {
                "task": "DESIGN-001",
                "role": "designer",
                "goal": "Draw",
                "key_findings": ["It works"],
                "verification": "tested",
                "artifacts": [".gemba/artifacts/DESIGN-001-a.md"],
            }
        ]
    }
    assert size_of(upstream_entry(loaded.states[0])) > 50
    assert as_knowledge(Loaded("IMPL-001")) == {}
