"""Several updates of one section, merged in their order: what `merge` after `merge` gives, in linear time.

`fold(before, payloads)` goes through the places of the section once, with all that the payloads say of each. So four
thousand updates of one list cost what one with four thousand items does, and each place is told as one change, from
what it was to what it is. Only where objects of one list are recognised partly by id and partly by name the payloads
are merged into that list one after the other; how much of that there may be is limited. Pure. Called by `contracts`,
whose values are no deeper than `wire.MAX_DEPTH`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from gemba.errors import Invalid
from gemba.handoff.mentions import Mark
from gemba.handoff.merge import Change, Merged, MergeWarning, merge
from gemba.handoff.value import Place, are_equal_scalars, type_of

MOST_WARNINGS = 1_000
MOST_REREAD = 8 * 1024 * 1024  # bytes of lists that are merged update by update, each time counted anew
_MISSING: Final = object()
_Key = tuple[str, str]
_T = TypeVar("_T")


def fold(before: dict[str, Any], payloads: Sequence[dict[str, Any]], name: str) -> Merged:
    """The result of all of the payloads for section `name`; an Invalid where that would take too long."""
    if len(payloads) == 1:
        return merge(before, payloads[0])
    folding = _Folding(name)
    after = folding.value(before, payloads, Place())
    changes: list[Change] = []
    _compare(before, after, Place(), changes)
    return Merged(after, changes, folding.told())


class _Folding:
    """One fold. All of which the payloads say something once is merged as ever, together."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._warnings: list[MergeWarning] = []
        self._untold = 0
        self._reread = 0

    def told(self) -> list[MergeWarning]:
        if not self._untold:
            return self._warnings
        return [
            *self._warnings,
            {"pointer": "", "message": f"{self._untold} more warnings like these are not listed"},
        ]

    def value(self, before: Any, said: Sequence[Any], place: Place) -> Any:
        before, said = self._of_last_type(before, said, place)
        last = said[-1]
        if isinstance(last, dict):
            old = {} if before is _MISSING else before
            return self._object(old, said, place) if len(said) > 1 else self._merged(old, last, place)
        if isinstance(last, list):
            old = [] if before is _MISSING else before
            return self._list(old, said, place) if len(said) > 1 else self._merged(old, last, place)
        for each in said:
            before = before if before is not _MISSING and are_equal_scalars(before, each) else each
        return before

    def _of_last_type(self, before: Any, said: Sequence[Any], place: Place) -> tuple[Any, Sequence[Any]]:
        """What the result depends on: a value of another type takes the place of all before it."""
        standing = None if before is _MISSING else type_of(before)
        start = 0
        for number, each in enumerate(said):
            found = type_of(each)
            if standing not in (None, found):
                before, start = _MISSING, number
                if "null" not in (standing, found):
                    self._warn(
                        place.pointer, f"of type {standing} before, of type {found} now: the new value was taken"
                    )
            standing = found
        return before, said[start:] if start else said

    def _object(self, before: dict[str, Any], said: Sequence[dict[str, Any]], place: Place) -> dict[str, Any]:
        by_key: dict[str, list[Any]] = defaultdict(list)
        for each in said:
            for key, value in each.items():
                by_key[key].append(value)
        once = self._merged(before, {key: values[0] for key, values in by_key.items() if len(values) == 1}, place)
        found = {
            key: once[key] if len(values) == 1 else self.value(before.get(key, _MISSING), values, place.child(key))
            for key, values in by_key.items()
        }
        return {**before, **found}

    def _list(self, before: list[Any], said: Sequence[list[Any]], place: Place) -> list[Any]:
        if not _is_orderly([before, *said]):
            for each in said:
                self._reread += len(msgspec.json.encode(before))
                if self._reread > MOST_REREAD:
                    raise _too_many(f"/{self._name}{place.pointer}")
                before = self._merged(before, each, place)
            return before
        # Each object is its own place, in all of the lists; the rest are values, of which each is there once.
        items = [item for items in said for item in items]
        keys = [_key(item) for item in items]
        said_of: dict[_Key, list[Any]] = defaultdict(list)
        for key, item in zip(keys, items, strict=True):
            if key is not None:
                said_of[key].append(item)
        several = {key: values for key, values in said_of.items() if len(values) > 1}
        old_keys = [_key(item) for item in before] if several else []
        olds = before
        if not several.keys().isdisjoint(old_keys):
            pairs = zip(old_keys, before, strict=True)
            olds = [self.value(item, several.pop(key), place) if key in several else item for key, item in pairs]
        # What is folded already stands there by its mark alone: merged once more it could become something else.
        folded = {key: self.value(_MISSING, values, place) for key, values in several.items()}
        new = [
            {key[0]: item[key[0]]} if key in several and several.pop(key) else item
            for key, item in zip(keys, items, strict=True)
            if key is None or key in several or len(said_of[key]) == 1
        ]
        merged = self._merged(olds, new, place)
        return [folded.get(key, item) if (key := _key(item)) else item for item in merged] if folded else merged

    def _merged(self, before: _T, payload: _T, place: Place) -> _T:
        merged = merge(before, payload)
        for warning in merged.warnings:
            self._warn(place.pointer + warning["pointer"], warning["message"])
        after: _T = merged.after
        return after

    def _warn(self, pointer: str, message: str) -> None:
        if len(self._warnings) < MOST_WARNINGS:
            self._warnings.append({"pointer": pointer, "message": message})
        else:
            self._untold += 1


def _key(item: Any) -> _Key | None:
    """What an object is recognised by where all are recognised in the same way."""
    mark = Mark.of(item)
    if mark is None:
        return None
    return ("id", mark.id) if mark.id is not None else ("name", mark.name or "")


def _is_orderly(lists: Sequence[list[Any]]) -> bool:
    """Whether all objects have an id, or none has, and no list has one twice: no update changes what another means."""
    ways: set[str] = set()
    for items in lists:
        keys = [key for item in items if (key := _key(item))]
        ways.update(way for way, _ in keys)
        if len(ways) > 1 or len(set(keys)) < len(keys):
            return False
    return True


def _too_many(pointer: str) -> Invalid:
    return Invalid(
        f"{pointer}: too many updates of one list whose objects have partly an id and partly only a name; "
        "allowed: all of them in one update",
        code="context_updates",
        pointer=pointer,
        allowed="one update",
    )


# ---- what changed ---------------------------------------------------------------------------------------------------


def _compare(before: Any, after: Any, place: Place, changes: list[Change]) -> None:
    """Tell each place that is different. What lies deeper than pointers reach is told of the object above."""
    if before is after:
        return
    was, is_now = type_of(before), type_of(after)
    if was == is_now == "object" and before.keys() <= after.keys():
        for key, value in after.items():
            here = place.child(key)
            if here is place:
                if not _are_equal(before.get(key, _MISSING), value):
                    changes.append({"pointer": place.pointer, "kind": "merged", "before": before, "after": after})
                    return
            elif key not in before:
                changes.append({"pointer": here.pointer, "kind": "added", "after": value})
            else:
                _compare(before[key], value, here, changes)
    elif was == is_now == "list":
        _compare_lists(before, after, place, changes)
    elif not are_equal_scalars(before, after):  # what was of another type in between has lost keys, too
        changes.append({"pointer": place.pointer, "kind": "overwritten", "before": before, "after": after})


def _compare_lists(before: list[Any], after: list[Any], place: Place, changes: list[Change]) -> None:
    """As one change for the list, and one for each object in it that is where it was and another now."""
    pairs = list(zip(before, after, strict=False))
    changed = [number for number, (old, new) in enumerate(pairs) if not _are_equal(old, new)]
    told = {
        number: place.child(number)
        for number in changed
        if (key := _key(pairs[number][0])) and key == _key(pairs[number][1])
    }
    if len(before) != len(after) or len(told) < len(changed) or place in told.values():
        changes.append({"pointer": place.pointer, "kind": "united", "before": before, "after": after})
    for number, here in told.items():
        if here is not place:
            old, new = pairs[number]
            changes.append({"pointer": here.pointer, "kind": "merged", "before": old, "after": new})


def _are_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return are_equal_scalars(one, other)
