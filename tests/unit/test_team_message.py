"""Messages of a team run: every type with what fits it and what does not, the bounds of all else, and the merge."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Conflict, Invalid
from gemba.handoff.merge import merge
from gemba.teams import message
from gemba.teams.gates import Dimension
from gemba.teams.message import TYPES, KnownState, StateUpdate, checked, find_type, merged, merged_all

POINTS: dict[str, Any] = dict.fromkeys(Dimension, 80)  # as the engine may have it
UPDATE = {
    "task_id": "IMPL-001",
    "ref": "artifacts/IMPL-001-report.md",
    "key_findings": ["tokens expire", "x" * 99],
    "decisions": [{"decision": "use JWT", "reason": "stateless"}],
    "files_modified": ["src/login.py"],
    "verification": "tested",
}

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("state_update", UPDATE),
    ("state_update", {"task_id": "IMPL-001"}),
    ("state_update", {"task_id": "IMPL-001", "ref": None, "key_findings": ["a"] * 5}),
    ("progress", {}),
    ("progress", {"task_id": "IMPL-001", "percent": 50, "phase": 3, "files": 12}),
    ("blocker", {"task_id": "IMPL-001", "reason": "no key", "needs": "the key"}),
    ("task_complete", {"task_id": "IMPL-001", "score": 91.5, "attempt": 2, "artifacts": ["a.md"]}),
    ("task_unblocked", {"task_id": "TEST-001", "by": "IMPL-001"}),
    ("capability_gap", {"capability": "penetration tests", "reason": "nobody can"}),
    ("consensus_reached", {"task_id": "IMPL-001", "severity": "LOW", "mean": 4.5}),
    ("consensus_blocked", {"task_id": "IMPL-001", "severity": "HIGH", "reason": "a reviewer gives 1"}),
    ("impl_complete", {"task_id": "IMPL-001"}),
    ("my_own2_complete", {"task_id": "MY_OWN2-001"}),
    ("error", {"task_id": "IMPL-001", "attempt": 1, "reason": "it hangs"}),
    ("review", {"task_id": "IMPL-001", **POINTS, "note": "fine"}),
    ("rating", {"task_id": "IMPL-001", "rating": 1, "critical": True, "note": "leaks"}),
    ("rating", {"task_id": "IMPL-001", "rating": 5}),
]

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("state_update", {}, "/data/task_id"),
    ("state_update", {"task_id": ""}, "/data/task_id"),
    ("state_update", {"task_id": 3}, "/data/task_id"),
    ("state_update", {"task_id": "x" * 65}, "/data/task_id"),
    ("state_update", {"task_id": "T-1", "mood": "good"}, "/data/mood"),
    ("state_update", {"task_id": "T-1", "key_findings": ["a"] * 6}, "/data/key_findings"),
    ("state_update", {"task_id": "T-1", "key_findings": ["x" * 100]}, "/data/key_findings/0"),
    ("state_update", {"task_id": "T-1", "key_findings": "one"}, "/data/key_findings"),
    ("state_update", {"task_id": "T-1", "decisions": [{"decision": "x"}]}, "/data/decisions/0/reason"),
    ("state_update", {"task_id": "T-1", "decisions": [{"decision": "x", "reason": ""}]}, "/data/decisions/0/reason"),
    ("state_update", {"task_id": "T-1", "verification": "believed"}, "/data/verification"),
    ("state_update", {"task_id": "T-1", "ref": "/etc/passwd"}, "/data/ref"),
    ("state_update", {"task_id": "T-1", "ref": "a/../../b"}, "/data/ref"),
    ("state_update", {"task_id": "T-1", "ref": "a\n"}, "/data/ref"),
    ("state_update", {"task_id": "T-1", "files_modified": ["ok", "..\\x"]}, "/data/files_modified/1"),
    ("state_update", {"task_id": "T-1", "files_modified": ["x"] * 501}, "/data/files_modified"),
    ("progress", {"percent": 101}, "/data/percent"),
    ("progress", {"phase": 6}, "/data/phase"),
    ("blocker", {"reason": 3}, "/data/reason"),
    ("task_complete", {}, "/data/task_id"),
    ("task_complete", {"task_id": "T-1", "score": -1}, "/data/score"),
    ("task_unblocked", {"by": "IMPL-001"}, "/data/task_id"),
    ("capability_gap", {}, "/data/capability"),
    ("consensus_reached", {"task_id": "T-1", "mean": 6}, "/data/mean"),
    ("consensus_blocked", {"task_id": "T-1", "severity": "dire"}, "/data/severity"),
    ("impl_complete", {}, "/data/task_id"),
    ("error", {"attempt": -1}, "/data/attempt"),
    ("review", {"task_id": "T-1", **POINTS, "depth": 101}, "/data/depth"),
    ("review", {"task_id": "T-1", "completeness": 1}, "/data/consistency"),
    ("review", {"task_id": "T-1", **POINTS, "reviewer": "me"}, "/data/reviewer"),
    ("rating", {"task_id": "T-1", "rating": 0}, "/data/rating"),
    ("rating", {"task_id": "T-1", "rating": 6}, "/data/rating"),
    ("rating", {"task_id": "T-1", "rating": 3.5}, "/data/rating"),
    ("rating", {"task_id": "T-1", "rating": 3, "critical": "no"}, "/data/critical"),
]


@pytest.mark.parametrize(("type_", "data"), GOOD, ids=lambda part: part if isinstance(part, str) else "")
def test_what_fits_its_type_is_known_and_kept_as_it_is(type_: str, data: dict[str, Any]) -> None:
    found = checked("developer", type_, "said", data)

    assert (found.known, found.data, found.recipient) == (True, data, "coordinator")


@pytest.mark.parametrize(("type_", "data", "pointer"), BAD, ids=lambda part: part if isinstance(part, str) else "")
def test_what_does_not_fit_its_type_is_refused_by_its_place(type_: str, data: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked("developer", type_, "said", data)

    assert refused.value.pointer == pointer
    assert refused.value.message.startswith(pointer)


def test_every_known_type_has_an_example_that_fits_and_one_that_does_not() -> None:
    named = [find_type(name) for name, _ in GOOD], [find_type(name) for name, *_ in BAD]

    assert set(named[0]) == set(named[1]) == set(TYPES.values())


@pytest.mark.parametrize("type_", ["hello", "a.b-c_9", "x" * 64, "complete", "_complete"[1:], "status"])
def test_a_type_without_a_schema_is_taken_and_marked(type_: str) -> None:
    found = checked("developer", type_, "said", {"anything": [1, None, {"deep": True}]}, "tester")

    assert (found.known, found.bound_to) == (False, None)


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"type": ""}, "/type"),
        ({"type": "Progress"}, "/type"),
        ({"type": "x" * 65}, "/type"),
        ({"type": "a b"}, "/type"),
        ({"type": "a\0"}, "/type"),
        ({"sender": ""}, "/from"),
        ({"sender": "all"}, "/from"),
        ({"sender": " tester"}, "/from"),
        ({"sender": "a\nb"}, "/from"),
        ({"sender": "x" * 129}, "/from"),
        ({"sender": "a\0b"}, "/from"),
        ({"sender": "\ud800"}, "/from"),
        ({"sender": "a\u202eb"}, "/from"),
        ({"recipient": ""}, "/to"),
        ({"recipient": "\x1b[31m"}, "/to"),
        ({"summary": ""}, "/summary"),
        ({"summary": " \n "}, "/summary"),
        ({"summary": "x" * 100_000}, "/summary"),
        ({"data": {"x": "y" * 100_000}}, "/data"),
        ({"data": {"x": float("nan")}}, "/data/x"),
        ({"data": {"x": 2**70}}, "/data/x"),
        ({"data": {"x": [b"bytes"]}}, "/data/x/0"),
        ({"data": {3: "x"}}, "/data"),
    ],
)
def test_what_no_message_may_have_is_refused_by_its_place(changed: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(**{"sender": "developer", "type": "hello", "summary": "said", **changed})

    assert refused.value.pointer == pointer
    assert len(refused.value.message) < 500
    refused.value.message.encode()


def test_data_that_is_nested_beyond_all_use_is_refused() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]

    with pytest.raises(Invalid, match="nested too deeply"):
        checked("developer", "hello", "said", {"deep": deep})


def test_text_is_kept_literally_less_what_no_database_takes() -> None:
    hostile = "<b>\x1b[31m ../x '; drop table\0 \ud800"

    found = checked("developer", "hello", hostile, {hostile: [hostile]})

    kept = hostile.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert (found.summary, found.data) == (kept, {kept: [kept]})
    msgspec.json.encode(found.data)


# ---- the merge -------------------------------------------------------------------------------------------------------

_words = st.sampled_from(["a", "b", "c", "d", "1", "true", ""]).map(lambda word: f"word {word}")
_updates = st.builds(
    StateUpdate,
    task_id=st.just("T-1"),
    ref=st.none() | _words,
    key_findings=st.lists(_words, max_size=5),
    decisions=st.lists(st.builds(message.Decision, _words, _words), max_size=4),
    files_modified=st.lists(_words, max_size=4),
    verification=st.none() | st.sampled_from(["self-validated", "peer-reviewed", "tested"]),
)
_many = st.lists(_updates, max_size=6)


def plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


@given(_many)
def test_nothing_that_was_reported_is_lost_and_nothing_is_there_twice(updates: list[StateUpdate]) -> None:
    state = merged_all(KnownState(), updates)

    for name in ("key_findings", "decisions", "files_modified"):
        kept, said = getattr(state, name), [each for update in updates for each in getattr(update, name)]
        assert kept == list(dict.fromkeys(said))
    for name in ("ref", "verification"):
        values = [getattr(update, name) for update in updates if getattr(update, name) is not None]
        assert getattr(state, name) == (values[-1] if values else None)


@given(_many, _updates)
def test_the_same_update_again_changes_nothing(updates: list[StateUpdate], last: StateUpdate) -> None:
    once = merged(merged_all(KnownState(), updates), last)

    assert merged(once, last) == once


@given(_many, _many)
def test_many_at_once_are_what_they_are_one_by_one(first: list[StateUpdate], then: list[StateUpdate]) -> None:
    assert merged_all(merged_all(KnownState(), first), then) == merged_all(KnownState(), [*first, *then])


@given(_many)
def test_a_state_is_what_the_merge_of_context_contracts_makes_of_it(updates: list[StateUpdate]) -> None:
    document: Any = {}
    for update in updates:
        document = merge(document, {name: value for name, value in plain(update).items() if value}).after
    document.pop("task_id", None)

    state = plain(merged_all(KnownState(), updates))

    assert {name: value for name, value in state.items() if value} == document


def test_a_state_that_is_full_refuses_what_is_new_and_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "MOST_KEPT", 3)
    full = KnownState(key_findings=["a", "b", "c"])

    assert merged(full, StateUpdate("T-1", key_findings=["b", "a"])).key_findings == ["a", "b", "c"]
    with pytest.raises(Conflict, match="the state of T-1 would have 4 key_findings; allowed: at most 3"):
        merged(full, StateUpdate("T-1", key_findings=["d"]))
