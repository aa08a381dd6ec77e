"""How an update is merged into a context contract, for `update_contracts` and for `gemba context merge`.

`merge(before, payload)` adds new keys, merges objects, unites lists, overwrites scalars and deletes nothing that the
payload does not mention. It guarantees: any two JSON values have a result, at any depth; merging the same payload again
changes nothing; neither argument is changed (the result shares with them what it took over); time is linear in both but
for the sorting of keys. Pure.

A list is a set in order, also where it is new: of equal items the first stays (true is not 1, 1 is 1.0). Objects in it
that `mentions.py` finds to be one are merged. Any other item, a list in a list among them, is compared and kept whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

from gemba.handoff.mentions import Item, Mark, Mention, match, mentions_in
from gemba.handoff.value import Numbers, Place, are_equal_scalars, type_of

_T = TypeVar("_T")
_MISSING: Final = object()
_CONTAINERS = (dict, list)
_MOST_WARNINGS = 1_000


class Change(TypedDict):
    """One place that is different now. Each is told once: what changed inside an object of a list, or deeper than
    pointers reach, is told as one change of that object (`merged`) or list (`united`)."""

    pointer: str  # in `after`
    kind: Literal["added", "merged", "united", "overwritten"]
    before: NotRequired[Any]  # there was nothing before `added`
    after: Any


class MergeWarning(TypedDict):
    pointer: str
    message: str


class Merged(NamedTuple):
    after: Any
    changes: list[Change]
    warnings: list[MergeWarning]


def merge(before: Any, payload: Any) -> Merged:
    """What `before` is after the update, what changed, and what a person should look at."""
    return _Merger().merge(before, payload)


# A step of the work, which yields further steps and is sent their results: depth takes no interpreter stack.
_Step = Generator[Any, Any, Any]


class _Merger:
    """One merge. Every step returns the very object that it was given as `before` where nothing changes."""

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._warnings: list[tuple[Place, str]] = []
        self._untold = 0
        self._numbers = Numbers()

    def merge(self, before: Any, payload: Any) -> Merged:
        after = _run(self._value(before, [payload], Place(), True))
        warnings: list[MergeWarning] = [{"pointer": place.pointer, "message": text} for place, text in self._warnings]
        if self._untold:
            warnings.append({"pointer": "", "message": f"{self._untold} more warnings like these are not listed"})
        return Merged(after, self._changes, warnings)

    def _value(self, before: Any, said: Sequence[Any], place: Place, tells: bool) -> _Step:
        """`said` is what the payload says of this place, at least once; of several the last one's type counts."""
        last = said[-1]
        if len(said) > 1:
            said = self._of_last_type(said, place)
        if isinstance(last, dict):
            if isinstance(before, dict):
                return (yield self._object(before, said, place, tells))
            after = yield self._object({}, said, place, False)
        elif isinstance(last, list):
            items = last if len(said) == 1 else [item for items in said for item in items]
            if isinstance(before, list):
                return (yield self._union(before, items, place, tells))
            after = yield self._union([], items, place, False)
        elif before is not _MISSING and are_equal_scalars(before, last):
            return before
        else:
            after = last
        self._tell_of_new(before, after, place, tells)
        return after

    def _of_last_type(self, said: Sequence[Any], place: Place) -> list[Any]:
        """What is said after the last value of another type, which these take the place of."""
        wanted = type_of(said[-1])
        start = len(said)
        while start and (found := type_of(said[start - 1])) == wanted:
            start -= 1
        if start and "null" not in (found, wanted):
            self._warn(place, f"of type {found} in the payload, then of type {wanted}: the last was taken")
        return list(said[start:])

    def _object(self, before: dict[Any, Any], said: Sequence[dict[Any, Any]], place: Place, tells: bool) -> _Step:
        after = before
        has_untold = False
        for key, values in _by_key(said):
            old = before.get(key, _MISSING)
            if old is not _MISSING and len(values) == 1 and are_equal_scalars(old, values[0]):
                continue
            here = place.child(key)
            tells_here = tells and here is not place
            if len(values) > 1 or isinstance(values[0], _CONTAINERS):
                new = yield self._value(old, values, here, tells_here)
                if new is old:
                    continue
            else:
                new = values[0]
                self._tell_of_new(old, new, here, tells_here)
            after = dict(before) if after is before else after
            after[key] = new
            has_untold |= tells and not tells_here
        if has_untold:
            self._tell("merged", place, before, after)
        return after

    def _union(self, before: list[Any], payload: list[Any], place: Place, tells: bool) -> _Step:
        union = _Union(before, [self._mark(item) for item in before], self._numbers, place)
        objects, new = self._read(payload, union)
        matched, unmatched = match(union.objects(), mentions_in(objects))
        for position, mentions in sorted(matched.items()):
            here = union.place_of(position)
            said = self._said(mentions, union.has_id(position), here)
            item = yield self._object(union.olds[position], said, here, False)
            union.replace(position, item, self._mark(item))
        new += [(min(item.position for item in mention.items), mention) for mention in unmatched]
        for _, thing in sorted(new, key=lambda pair: pair[0]):
            if isinstance(thing, Mention):
                here = union.place_of(len(union.items))
                thing = yield self._object({}, self._said([thing], False, here), here, False)
            union.append(thing, self._mark(thing))
        after = union.finish()
        if tells and after is not before:
            self._tell_of_union(union, after, place)
        return after

    def _read(self, payload: list[Any], union: _Union) -> tuple[list[Item], list[tuple[int, Any]]]:
        """A payload's list: objects with id or name, and by position any other item that was not there."""
        objects, new = [], []
        known = set(union.marks)
        for position, value in enumerate(payload):
            mark = self._mark(value)
            if isinstance(mark, Mark):
                objects.append(Item(position, value, mark))
            elif mark not in known:
                known.add(mark)
                new.append((position, value))
        return objects, new

    def _said(self, mentions: list[Mention], has_id: bool, place: Place) -> list[dict[str, Any]]:
        """All that the payload says of one object, in its order."""
        has_id = has_id or any(mention.id is not None for mention in mentions)
        items = sorted(item for mention in mentions for item in mention.items)
        return [self._without_false_id(item, has_id, place) for item in items]

    def _without_false_id(self, item: Item, has_id: bool, place: Place) -> dict[str, Any]:
        """An object that was found by its name keeps its id: else it would not be found in the same way again."""
        if not has_id or item.mark.id is not None or "id" not in item.value:
            return item.value
        self._warn(place, f"found by its name, this keeps its id: one of type {type_of(item.value['id'])} is none")
        return {key: value for key, value in item.value.items() if key != "id"}

    def _mark(self, item: Any) -> Mark | int:
        """What an item is recognised by: id and name, else the number that all equal to it have."""
        return Mark.of(item) or self._numbers.of(item)

    def _tell_of_new(self, before: Any, after: Any, place: Place, tells: bool) -> None:
        if before is _MISSING:
            if tells:
                self._changes.append({"pointer": place.pointer, "kind": "added", "after": after})
            return
        was, is_now = type_of(before), type_of(after)
        if was != is_now and "null" not in (was, is_now):
            self._warn(place, f"of type {was} before, of type {is_now} now: the new value was taken")
        if tells:
            self._tell("overwritten", place, before, after)

    def _tell_of_union(self, union: _Union, after: list[Any], place: Place) -> None:
        changed = union.changed()
        has_untold = any(union.place_of(position) is place for position in changed)
        if has_untold or not len(union.before) == len(union.olds) == len(union.items) == len(after):
            self._tell("united", place, union.before, after)
        for position in changed:
            here = union.place_of(position)
            if here is not place:
                self._tell("merged", here, union.olds[position], union.items[position])

    def _tell(self, kind: Literal["merged", "united", "overwritten"], place: Place, before: Any, after: Any) -> None:
        self._changes.append({"pointer": place.pointer, "kind": kind, "before": before, "after": after})

    def _warn(self, place: Place, message: str) -> None:
        if len(self._warnings) < _MOST_WARNINGS:
            self._warnings.append((place, message))
        else:
            self._untold += 1


class _Union:
    """A list while it is united: what was there, then what is new. Equal items fall together before and after."""

    def __init__(self, before: list[Any], marks: list[Mark | int], numbers: Numbers, place: Place) -> None:
        firsts = _firsts(before, marks, numbers)
        self.before = before
        self.olds = _chosen(before, firsts)
        self.items = list(self.olds)
        self.marks = _chosen(marks, firsts)
        self._numbers = numbers
        self._place = place
        self._places: dict[int, Place] = {}

    def objects(self) -> list[Mark | None]:
        return [mark if isinstance(mark, Mark) else None for mark in self.marks]

    def has_id(self, position: int) -> bool:
        mark = self.marks[position]
        return isinstance(mark, Mark) and mark.id is not None

    def place_of(self, position: int) -> Place:
        """Its pointer is that of the item's last position once the union is finished."""
        return self._places.setdefault(position, self._place.child(position))

    def replace(self, position: int, item: Any, mark: Mark | int) -> None:
        self.items[position] = item
        self.marks[position] = mark

    def append(self, item: Any, mark: Mark | int) -> None:
        self.items.append(item)
        self.marks.append(mark)

    def changed(self) -> list[int]:
        return [n for n, (old, new) in enumerate(zip(self.olds, self.items, strict=False)) if old is not new]

    def finish(self) -> list[Any]:
        """The list without duplicates; `before` itself where nothing changed."""
        if len(self.before) == len(self.olds) == len(self.items) and not self.changed():
            return self.before
        firsts = _firsts(self.items, self.marks, self._numbers)
        if firsts is not None:
            final = {first: position for position, first in enumerate(sorted(set(firsts)))}
            for position, place in self._places.items():
                if place is not self._place:
                    place.token = str(final[firsts[position]])
        return _chosen(self.items, firsts)


def _by_key(said: Sequence[dict[Any, Any]]) -> Iterable[tuple[Any, Sequence[Any]]]:
    if len(said) == 1:
        return [(key, (value,)) for key, value in said[0].items()]
    found: dict[Any, list[Any]] = defaultdict(list)
    for each in said:
        for key, value in each.items():
            found[key].append(value)
    return found.items()


def _firsts(items: list[Any], marks: list[Mark | int], numbers: Numbers) -> list[int] | None:
    """For each item the position of the first that is equal to it; None when all are different."""
    if len(set(marks)) == len(marks):
        return None
    alike = Counter(marks)
    keys = (
        (mark, numbers.of(item)) if isinstance(mark, Mark) and alike[mark] > 1 else mark
        for item, mark in zip(items, marks, strict=True)
    )
    seen: dict[Any, int] = {}
    return [seen.setdefault(key, position) for position, key in enumerate(keys)]


def _chosen(items: list[_T], firsts: list[int] | None) -> list[_T]:
    return items if firsts is None else [items[n] for n, first in enumerate(firsts) if n == first]


def _run(first: _Step) -> Any:
    steps, result = [first], None
    while steps:
        try:
            step = steps[-1].send(result)
        except StopIteration as done:
            steps.pop()
            result = done.value
        else:
            steps.append(step)
            result = None
    return result
