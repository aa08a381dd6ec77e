"""Merging an update into a context contract: each rule by name, and what holds for any two JSON values."""

import copy
import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemba.handoff.fold import fold
from gemba.handoff.merge import merge
from gemba.handoff.value import LONGEST_POINTER, Numbers
from gemba.testing import effort, seeds


def same(one: Any, other: Any) -> bool:
    """Equality as the specification says it, in the naive way."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def distinct(items: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not any(same(item, known) for known in found):
            found.append(item)
    return found


def at(document: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


# ---- the rules ----------------------------------------------------------------------------------------------------

RULES: dict[str, tuple[Any, Any, Any]] = {
    "a new key is added": ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    "a new key may be null": ({}, {"a": None}, {"a": None}),
    "a new object is added whole": ({}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}),
    "a new empty object is added": ({}, {"a": {}, "b": []}, {"a": {}, "b": []}),
    "new keys come after the old ones": ({"z": 1}, {"a": 1, "z": 2}, {"z": 2, "a": 1}),
    "objects are merged": ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
    "objects are merged at any level": (
        {"a": {"b": {"c": {"x": 1, "keep": True}}}},
        {"a": {"b": {"c": {"x": 2}}}},
        {"a": {"b": {"c": {"x": 2, "keep": True}}}},
    ),
    "an empty object deletes nothing": ({"a": {"x": 1}}, {"a": {}}, {"a": {"x": 1}}),
    "an empty payload deletes nothing": ({"a": [1], "b": {"c": 1}}, {}, {"a": [1], "b": {"c": 1}}),
    "an empty list deletes nothing": ({"a": [1, 2]}, {"a": []}, {"a": [1, 2]}),
    "what is not mentioned stays": ({"a": 1, "b": [1]}, {"a": 2}, {"a": 2, "b": [1]}),
    "lists are united": ([1, 2], [2, 3], [1, 2, 3]),
    "the old order stays, then comes the new": (["c", "a"], ["b", "a", "c", "0"], ["c", "a", "b", "0"]),
    "a payload's own duplicates are one": ([1], [2, 2, 1, 2], [1, 2]),
    "duplicates that were there become one": ([1, 1, 2], [3], [1, 2, 3]),
    "a new list has no duplicates either": ({}, {"a": [1, 1]}, {"a": [1]}),
    "types in a list may be mixed": ([1, "1", None], [[1], {"a": 1}, "1"], [1, "1", None, [1], {"a": 1}]),
    "true is not 1": ([1, 0], [True, False], [1, 0, True, False]),
    "1 is 1.0": ([1, 2.0], [1.0, 2], [1, 2.0]),
    "1 is 1.0 and not true inside an item too": (
        [[1], {"a": 0}],
        [[1.0], [True], {"a": -0.0}],
        [[1], {"a": 0}, [True]],
    ),
    "null is one value of a list": ([None], [None, 0], [None, 0]),
    "text is compared exactly": (["A", "\u00e9"], ["a", "e\u0301"], ["A", "\u00e9", "a", "e\u0301"]),
    "the order of an item's keys makes no difference": ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], [{"a": 1, "b": 2}]),
    "the order of a list in a list does": ([[1, 2]], [[2, 1]], [[1, 2], [2, 1]]),
    "a list in a list is a value, not a set": ([[0, 0]], [[0, 0], [1, 1]], [[0, 0], [1, 1]]),
    "a new list in a list stays as it is": ({}, {"a": [[0, 0], [0]]}, {"a": [[0, 0], [0]]}),
    "objects of the same id are merged": (
        [{"id": 1, "a": 1}, {"id": 2}],
        [{"id": 2, "b": [1]}, {"id": 1, "a": 2}],
        [{"id": 1, "a": 2}, {"id": 2, "b": [1]}],
    ),
    "an id of true is not the id 1": ([{"id": 1}], [{"id": True}, {"id": "1"}], [{"id": 1}, {"id": True}, {"id": "1"}]),
    "an id of 1.0 is the id 1": ([{"id": 1}], [{"id": 1.0, "a": 1}], [{"id": 1, "a": 1}]),
    "objects of the same name are merged": (
        [{"name": "x", "a": 1}],
        [{"name": "x", "b": 1}],
        [{"name": "x", "a": 1, "b": 1}],
    ),
    "two ids are two objects whatever their name": (
        [{"id": 1, "name": "x"}],
        [{"id": 2, "name": "x"}],
        [{"id": 1, "name": "x"}, {"id": 2, "name": "x"}],
    ),
    "a name finds an object with an id": (
        [{"id": 1, "name": "x"}],
        [{"name": "x", "a": 1}],
        [{"id": 1, "name": "x", "a": 1}],
    ),
    "an id is given to the object of that name": ([{"name": "x"}], [{"id": 1, "name": "x"}], [{"name": "x", "id": 1}]),
    "an id goes before a name": (
        [{"name": "x"}, {"id": 1, "name": "y"}],
        [{"id": 1, "name": "x"}],
        [{"name": "x"}, {"id": 1, "name": "x"}],
    ),
    "an object can be renamed by its id": (
        [{"id": 1, "name": "x"}],
        [{"id": 1, "name": "y"}],
        [{"id": 1, "name": "y"}],
    ),
    "of two objects with one name the first is meant": (
        [{"id": 1, "name": "x"}, {"id": 2, "name": "x"}],
        [{"name": "x", "a": 1}],
        [{"id": 1, "name": "x", "a": 1}, {"id": 2, "name": "x"}],
    ),
    "two objects of one id that were there stay two": (
        [{"id": 1, "a": 1}, {"id": 1, "a": 2}],
        [{"id": 1, "b": 1}],
        [{"id": 1, "a": 1, "b": 1}, {"id": 1, "a": 2}],
    ),
    "equal objects that were there are merged with as one": (
        [{"id": 1}, {"id": 1}],
        [{"id": 1, "a": 1}],
        [{"id": 1, "a": 1}],
    ),
    "two objects that become equal are one": (
        [{"id": 1, "a": 1}, {"id": 1, "a": 2}],
        [{"id": 1, "a": 2}],
        [{"id": 1, "a": 2}],
    ),
    "a payload that speaks twice of an object is taken in order": (
        {},
        {"a": [{"id": 1, "x": 1, "y": 1}, {"id": 1, "x": 2}]},
        {"a": [{"id": 1, "x": 2, "y": 1}]},
    ),
    "a payload may speak of an object by name, then by id": (
        [],
        [{"name": "x", "a": 1, "b": 1}, {"id": 1, "name": "x", "a": 2}],
        [{"name": "x", "a": 2, "b": 1, "id": 1}],
    ),
    "a null id is no id": (
        [{"id": None, "name": "x"}],
        [{"id": None, "name": "y"}],
        [{"id": None, "name": "x"}, {"id": None, "name": "y"}],
    ),
    "a list is no id": ([{"id": [1], "a": 1}], [{"id": [1], "a": 2}], [{"id": [1], "a": 1}, {"id": [1], "a": 2}]),
    "objects without id and name are compared whole": (
        [{"a": 1}],
        [{"a": 1}, {"a": 1, "b": 1}],
        [{"a": 1}, {"a": 1, "b": 1}],
    ),
    "lists inside matched objects are united": (
        [{"name": "x", "t": ["a"]}],
        [{"name": "x", "t": ["b", "a"]}],
        [{"name": "x", "t": ["a", "b"]}],
    ),
    "text is overwritten": ({"a": "x"}, {"a": "y"}, {"a": "y"}),
    "a number is overwritten": ({"a": 1}, {"a": 2.5}, {"a": 2.5}),
    "an equal number stays as it was written": ({"a": 1}, {"a": 1.0}, {"a": 1}),
    "a boolean is overwritten": ({"a": True}, {"a": False}, {"a": False}),
    "null overwrites text": ({"a": "x"}, {"a": None}, {"a": None}),
    "null overwrites an object": ({"a": {"b": 1}}, {"a": None}, {"a": None}),
    "null overwrites a list": ({"a": [1]}, {"a": None}, {"a": None}),
    "null is overwritten": ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    "null overwrites the whole": ({"a": 1}, None, None),
    "a first value takes the place of null": (None, {"a": 1}, {"a": 1}),
}

CONFLICTS: dict[str, tuple[Any, Any, Any]] = {
    "an object for a list": ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    "a list for an object": ({"a": {"b": 1}}, {"a": [1, 1]}, {"a": [1]}),
    "text for an object": ({"a": {"b": 1}}, {"a": "x"}, {"a": "x"}),
    "a list for text": ({"a": "x"}, {"a": ["x"]}, {"a": ["x"]}),
    "a number for text": ({"a": "1"}, {"a": 1}, {"a": 1}),
    "true for 1": ({"a": 1}, {"a": True}, {"a": True}),
    "a list for the whole object": ({"a": 1}, [1], [1]),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    before, payload, after = RULES[rule]
    found = merge(before, payload)
    assert same(found.after, after), found.after
    assert found.warnings == []


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_on_a_type_conflict_the_new_value_wins_with_a_warning(conflict: str) -> None:
    before, payload, after = CONFLICTS[conflict]
    found = merge(before, payload)
    assert same(found.after, after)
    assert [warning["pointer"] for warning in found.warnings] == ["/a" if isinstance(after, dict) else ""]
    assert "the new value was taken" in found.warnings[0]["message"]


def test_an_equal_number_keeps_its_way_of_writing() -> None:
    assert str(merge({"a": 1}, {"a": 1.0}).after) == "{'a': 1}"
    assert str(merge([1.0], [1]).after) == "[1.0]"


def test_keys_stay_in_order() -> None:
    assert list(merge({"z": 1, "m": 1}, {"b": 1, "m": 2, "a": 1}).after) == ["z", "m", "b", "a"]


def test_an_object_found_by_name_keeps_its_id_with_a_warning() -> None:
    before = [{"id": 5, "name": "x"}]
    payload = [{"id": None, "name": "x", "a": 1}, {"id": 5, "b": 1}]
    once = merge(before, payload)
    assert once.after == [{"id": 5, "name": "x", "a": 1, "b": 1}]
    assert [warning["pointer"] for warning in once.warnings] == ["/0"]
    assert merge(once.after, payload).after == once.after


def test_a_payload_that_renames_and_speaks_of_the_old_name_is_idempotent() -> None:
    before = [{"id": 1, "name": "x"}]
    payload = [{"name": "x", "a": 1}, {"id": 1, "name": "y"}]
    once = merge(before, payload).after
    assert once == [{"id": 1, "name": "y"}, {"name": "x", "a": 1}]
    assert merge(once, payload).after == once


# ---- what is told -------------------------------------------------------------------------------------------------


def test_changes_say_where_what_and_how() -> None:
    before = {
        "kept": 1,
        "text": "x",
        "list": [1],
        "deep": {"n": 1},
        "people": [{"id": 1, "role": "a"}],
        "a/b": {"~": 1},
    }
    payload = {
        "text": "y",
        "list": [2],
        "deep": {"m": 0},
        "people": [{"id": 1, "role": "b"}],
        "a/b": {"~": 2},
        "new": [1, 1],
    }
    assert merge(before, payload).changes == [
        {"pointer": "/text", "kind": "overwritten", "before": "x", "after": "y"},
        {"pointer": "/list", "kind": "united", "before": [1], "after": [1, 2]},
        {"pointer": "/deep/m", "kind": "added", "after": 0},
        {
            "pointer": "/people/0",
            "kind": "merged",
            "before": {"id": 1, "role": "a"},
            "after": {"id": 1, "role": "b"},
        },
        {"pointer": "/a~1b/~0", "kind": "overwritten", "before": 1, "after": 2},
        {"pointer": "/new", "kind": "added", "after": [1]},
    ]


def test_a_list_that_only_lost_duplicates_is_told() -> None:
    assert merge({"a": [1, 1]}, {"a": []}).changes == [
        {"pointer": "/a", "kind": "united", "before": [1, 1], "after": [1]}
    ]


def test_positions_are_those_of_the_result() -> None:
    before = [1, 1, 1, {"id": 1, "a": "x"}]
    found = merge(before, [{"id": 1, "a": 2}, 0])
    assert found.after == [1, {"id": 1, "a": 2}, 0]
    assert [change["pointer"] for change in found.changes] == ["", "/1"]
    assert [warning["pointer"] for warning in found.warnings] == ["/1/a"]


def test_what_lies_too_deep_for_a_pointer_is_told_of_the_object_above() -> None:
    key = "k" * LONGEST_POINTER
    before, payload = {"a": {key: {"x": 1}, "y": 1}}, {"a": {key: {"x": 2}, "y": 2}}
    found = merge(before, payload)
    assert [(change["pointer"], change["kind"]) for change in found.changes] == [
        ("/a/y", "overwritten"),
        ("/a", "merged"),
    ]
    assert found.changes[1]["after"] == payload["a"]


def test_many_warnings_are_counted_instead_of_listed() -> None:
    found = merge({str(n): n for n in range(1_500)}, {str(n): "x" for n in range(1_500)})
    assert len(found.warnings) == 1_001
    assert found.warnings[-1]["message"].startswith("500 more")
    assert len(found.changes) == 1_500


# ---- any two values -----------------------------------------------------------------------------------------------

SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, "", "x", "y"])
KEYS = st.sampled_from(["id", "name", "a", "b"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=25
)
# Lists of objects whose ids and names meet often, some with values that are no ids.
IDS = st.sampled_from([None, 1, 1.0, 2, "x", [1]])
NAMES = st.sampled_from([None, "x", "y", 1])
OBJECTS = st.recursive(
    st.fixed_dictionaries({}, optional={"id": IDS, "name": NAMES, "a": SCALARS, "b": st.lists(SCALARS, max_size=3)}),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"id": IDS, "name": NAMES, "a": st.lists(inner, max_size=4), "b": inner}
    ),
    max_leaves=12,
)
ANY = VALUES | st.lists(OBJECTS, max_size=5)


@given(ANY, ANY)
@example([{"name": "x", "id": 1}], [{"name": "x", "a": 1}, {"id": 1, "name": "y"}])
@example({}, {"a": [{"id": 1, "a": 1}, {"id": 1, "b": 2}]})
@example([{"id": 5, "name": "x"}], [{"id": None, "name": "x"}, {"id": 5}])
@example(
    [{"id": 1, "name": "x", "a": [{"id": 1, "name": "x"}]}],
    [{"id": 1, "a": [{"name": "x", "b": 1}]}, {"name": "x", "a": [{"id": 1, "name": "y"}]}],
)
def test_merging_again_changes_nothing(before: Any, payload: Any) -> None:
    once = merge(before, payload)
    again = merge(once.after, payload)
    assert same(again.after, once.after)
    assert again.changes == []


@given(ANY, ANY)
def test_the_arguments_are_not_changed(before: Any, payload: Any) -> None:
    copies = copy.deepcopy((before, payload))
    merge(before, payload)
    assert repr((before, payload)) == repr(copies)


def drawn(source: random.Random, depth: int) -> Any:
    """A value full of objects that may be one another: denser than what hypothesis draws."""
    shape = source.random()
    if depth == 0 or shape < 0.25:
        return source.choice([None, True, 0, 1, 1.0, "x", "y"])
    if shape < 0.75:
        return [drawn_object(source, depth - 1) for _ in range(source.randint(0, 4))]
    return drawn_object(source, depth - 1)


def drawn_object(source: random.Random, depth: int) -> Any:
    if source.random() < 0.1:
        return drawn(source, depth)
    choices: dict[str, list[Any]] = {"id": [None, 1, 1.0, 2, 3, "x", [1], [1, 1]], "name": [None, "x", "y", 1, ["x"]]}
    found = {key: source.choice(values) for key, values in choices.items() if source.random() < 0.6}
    return found | {key: drawn(source, depth) for key in "ab" if source.random() < 0.5}


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", seeds(2, 20))
def test_merging_again_changes_nothing_where_everything_is_mentioned_twice(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(effort(1_000, 20_000)):
        before, payload = drawn(source, 5), drawn(source, 5)
        once = merge(before, payload)
        again = merge(once.after, payload)
        assert again.after is once.after, (before, payload)
        assert again.changes == []
        assert lost(before, payload, once.after) == [], (before, payload)


# ---- several updates at once --------------------------------------------------------------------------------------

DOCUMENTS = st.dictionaries(KEYS, ANY, max_size=4)


def merged_one_after_the_other(before: Any, payloads: Iterable[Any]) -> Any:
    for payload in payloads:
        before = merge(before, payload).after
    return before


@given(DOCUMENTS, st.lists(DOCUMENTS, min_size=1, max_size=4))
@example({"a": {"x": 1}}, [{"a": 1}, {"a": {"b": 2}}])
@example({"a": [1]}, [{"a": None}, {"a": [2]}])
@example({"a": [{"id": 1, "name": "x"}]}, [{"a": [{"name": "x", "b": 1}]}, {"a": [{"id": 1, "name": "y"}]}])
@example({"a": [{"id": 1, "a": 1}, {"id": 1, "a": 2}]}, [{"a": [{"id": 1, "a": 2}]}, {"a": [{"id": 1, "a": 3}]}])
@example({}, [{"b": [{"id": 3, "a": [{"name": "x"}, {"id": 3}]}]}, {"b": [{"id": 3, "a": [{"id": 3, "name": "x"}]}]}])
@example({"a": [{}, {}, {"b": [], "name": "x"}]}, [{"a": [{"name": "x", "b": {}}]}])
@example({"a": [{}, {}, {"name": "y"}, {"name": "x"}]}, [{"a": [{"id": None}, {"id": None, "name": "x"}]}])
def test_a_fold_is_what_merging_one_after_the_other_gives(before: dict[str, Any], payloads: list[Any]) -> None:
    copies = copy.deepcopy((before, payloads))
    found = fold(before, payloads, "db")

    after = merged_one_after_the_other(before, payloads)
    assert same(found.after, after)
    assert (found.changes == []) == same(before, after)
    assert repr((before, payloads)) == repr(copies)
    for change in found.changes:
        assert same(at(found.after, change["pointer"]), change["after"])
        if "before" in change and (old := at_same_place(before, found.after, change["pointer"])) is not None:
            assert same(old, change["before"])


def has_one_twice(items: list[Any]) -> bool:
    return any(same(one, other) for number, one in enumerate(items) for other in items[:number])


def at_same_place(before: Any, after: Any, pointer: str) -> Any:
    """What stood at a place; None where a list above it has lost items that it had twice: its places are others now."""
    for key in pointer.split("/")[1:]:
        if isinstance(before, list):
            if len(after) < len(before) or has_one_twice(before):
                return None
            before, after = before[int(key)], after[int(key)]
        else:
            key = key.replace("~1", "/").replace("~0", "~")
            before, after = before[key], after[key]
    return before


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", seeds(2, 20))
def test_a_fold_of_objects_that_may_be_one_another_is_what_merging_gives(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(effort(1_000, 20_000)):
        documents = [{key: drawn(source, 3) for key in "ab"} for _ in range(source.randint(2, 5))]
        before, payloads = documents[0], documents[1:]
        found = fold(before, payloads, "db")
        assert same(found.after, merged_one_after_the_other(before, payloads)), (before, payloads)
        assert (found.changes == []) == same(before, found.after)


def test_a_fold_tells_each_place_once_from_what_it_was_to_what_it_is() -> None:
    before = {"port": 80, "hosts": ["a"], "routes": [{"id": 1}]}
    payloads: list[dict[str, Any]] = [
        {"port": 81, "hosts": ["b"]},
        {"port": "http", "hosts": ["c"], "routes": [{"id": 1, "to": "x"}]},
        {"routes": [{"id": 1, "to": "y"}], "new": {"n": 1}},
        {"new": {"m": 2}},
    ]
    found = fold(before, payloads, "db")
    assert found.changes == [
        {"pointer": "/port", "kind": "overwritten", "before": 80, "after": "http"},
        {"pointer": "/hosts", "kind": "united", "before": ["a"], "after": ["a", "b", "c"]},
        {"pointer": "/routes/0", "kind": "merged", "before": {"id": 1}, "after": {"id": 1, "to": "y"}},
        {"pointer": "/new", "kind": "added", "after": {"n": 1, "m": 2}},
    ]
    assert [warning["pointer"] for warning in found.warnings] == ["/port"]


def lost(before: Any, payload: Any, after: Any, where: str = "") -> list[str]:
    """Places of `before` that the payload does not mention and that are not in `after` any more."""
    if isinstance(before, dict) and isinstance(payload, dict):
        found = []
        for key, value in before.items():
            if key not in after or (key not in payload and not same(after[key], value)):
                found.append(f"{where}/{key}")
            elif key in payload:
                found += lost(value, payload[key], after[key], f"{where}/{key}")
        return found
    if isinstance(before, list) and isinstance(payload, list):
        return [f"{where}/{n}" for n, item in enumerate(before) if not is_kept(item, payload, after)]
    return []


def is_kept(item: Any, payload: list[Any], after: list[Any]) -> bool:
    if not isinstance(item, dict):
        return any(same(item, other) for other in after)
    mentioned = {key for other in mentions_of(item, payload) for key in other}
    kept = {key: value for key, value in item.items() if key not in mentioned}
    return any(
        isinstance(other, dict) and all(key in other and same(other[key], value) for key, value in kept.items())
        for other in after
    )


def mentions_of(item: dict[str, Any], payload: list[Any]) -> list[dict[str, Any]]:
    """Objects of a payload that share an id or name with this one, or with another that does."""
    found: list[dict[str, Any]] = []
    rest = [other for other in payload if isinstance(other, dict)]
    waiting = [item]
    while waiting:
        one = waiting.pop()
        near = [
            other
            for other in rest
            if any(key in one and key in other and same(one[key], other[key]) for key in ("id", "name"))
        ]
        rest = [other for other in rest if not any(other is known for known in near)]
        found += near
        waiting += near
    return found


@given(ANY, ANY)
def test_nothing_is_lost_that_the_payload_does_not_mention(before: Any, payload: Any) -> None:
    assert lost(before, payload, merge(before, payload).after) == []


@given(st.lists(VALUES, max_size=8), st.lists(VALUES, max_size=8))
def test_order_is_kept_and_each_value_is_there_once(before: list[Any], payload: list[Any]) -> None:
    wholes = [[item for item in items if not isinstance(item, dict)] for items in (before, payload)]
    after = merge(*wholes).after
    expected = distinct([*wholes[0], *wholes[1]])
    assert len(after) == len(expected)
    assert all(map(same, after, expected))


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("abcdef")), st.sampled_from(["id", "name"]))
def test_objects_keep_the_order_of_their_first_mention(before: list[str], payload: list[str], key: str) -> None:
    after = merge([{key: each} for each in before], [{key: each, "new": True} for each in payload]).after
    assert [item[key] for item in after] == distinct([*before, *payload])
    assert [item.get("new", False) for item in after] == [item[key] in payload for item in after]


@given(ANY, ANY)
def test_each_change_says_what_is_at_its_pointer_now(before: Any, payload: Any) -> None:
    found = merge(before, payload)
    assert all(same(at(found.after, change["pointer"]), change["after"]) for change in found.changes)
    assert (found.changes == []) == same(found.after, before)
    for warning in found.warnings:
        at(found.after, warning["pointer"])


@given(VALUES, VALUES)
def test_equal_values_and_no_others_have_the_same_number(one: Any, other: Any) -> None:
    numbers = Numbers()
    assert (numbers.of(one) == numbers.of(other)) == same(one, other)
    assert numbers.of(copy.deepcopy(one)) == numbers.of(one)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters()), inner, max_size=5),
)


@given(ODD, ODD)
def test_no_values_are_refused(before: Any, payload: Any) -> None:
    once = merge(before, payload)
    assert repr(merge(once.after, payload).after) == repr(once.after)


UNUSUAL = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "huge": 10**5_000,
    "surrogate": "\ud800",
    "-0": -0.0,
    "1e308": 1e308,
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_scalar_is_one_value(name: str) -> None:
    value = UNUSUAL[name]
    assert len(merge([value], [copy.deepcopy(value)]).after) == 1
    assert merge({"a": value}, {"a": value}).changes == []


# ---- depth and size -----------------------------------------------------------------------------------------------


def nested(depth: int, leaf: Any, around: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        leaf = around(leaf)
    return leaf


SHAPES: dict[str, Callable[[Any], Any]] = {
    "objects": lambda value: {"a": value},
    "objects that change everywhere": lambda value: {"a": value, "b": id(value)},
    "lists": lambda value: [value],
    "objects of one id": lambda value: [{"id": 1, "a": value}],
    "objects that are mentioned twice": lambda value: [{"id": 1, "a": value}, {"id": 1, "b": 1}],
    "both": lambda value: {"a": [0, value]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_depth_is_no_limit(shape: str) -> None:
    before, payload = (nested(3_000, leaf, SHAPES[shape]) for leaf in ("old", "new"))
    once = merge(before, payload)
    assert once.changes != []
    again = merge(once.after, payload)
    assert again.after is once.after
    assert merge({}, {"a": payload}).changes[0]["kind"] == "added"
    assert merge(payload, "x").after == "x"


def seconds(before: Any, payload: Any) -> float:
    started = time.process_time()
    merge(before, payload)
    return time.process_time() - started


WIDE: dict[str, Callable[[int], Any]] = {
    "unhashable": lambda n: {"a": [n]},
    "lists": lambda n: [n],
    "ids": lambda n: {"id": n, "a": 1},
    "one name": lambda n: {"name": "x", "a": n},
    "numbers that collide": lambda n: n * (2**61 - 1),
}


@pytest.mark.parametrize("kind", WIDE)
def test_long_lists_take_linear_time(kind: str) -> None:
    def of(size: int) -> float:
        before = [WIDE[kind](n) for n in range(size)]
        return min(seconds(before, [WIDE[kind](n + size // 2) for n in range(size)]) for _ in range(2))

    small, large = of(3_000), of(24_000)
    assert large < 40 * small  # eight times as much; quadratic would be 64 times


def test_a_hundred_thousand_unhashable_items_are_united() -> None:
    found = merge([{"a": [n]} for n in range(100_000)], [{"a": [n]} for n in range(50_000, 150_000)])
    assert len(found.after) == 150_000
    assert found.after[-1] == {"a": [149_999]}


def test_many_changes_under_a_huge_key_take_little_room() -> None:
    key = "k" * 100_000
    found = merge({key: dict.fromkeys(map(str, range(5_000)), 0)}, {key: dict.fromkeys(map(str, range(5_000)), 1)})
    assert sum(len(change["pointer"]) for change in found.changes) < 10_000
    assert found.after[key]["4999"] == 1
