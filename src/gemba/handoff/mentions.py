"""Which objects of two lists are the same one: how `merge.py` unites lists. Pure, linear.

Two objects are one when both have an `id` and it is the same; where one has none, when their `name` is the same. An id
or name is text, a number or a boolean. Being one in this way is not transitive (a name can stand beside two ids), and
merging can rename. So that merging a payload again changes nothing, ids are settled before names, names are those that
objects have when all ids are settled, and of several that fit the first is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gemba.handoff.value import scalar_key


class Mark(NamedTuple):
    """What an object in a list is recognised by: its id and name, as texts that are the same for equal ones."""

    id: str | None
    name: str | None

    @staticmethod
    def of(item: Any) -> Mark | None:
        """None for what has neither."""
        if not isinstance(item, dict):
            return None
        id, name = item.get("id"), item.get("name")
        mark = Mark(None if id is None else scalar_key(id), None if name is None else scalar_key(name))
        return None if mark == (None, None) else mark


class Item(NamedTuple):
    position: int  # in the payload's list
    value: dict[str, Any]
    mark: Mark


class Mention:
    """An object that a payload's list speaks of, with every item that does."""

    __slots__ = ("id", "items", "name", "says_name")

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.name: str | None = None  # as it is when all items with the id are merged
        self.says_name = False  # a name may be taken away by null
        self.items: list[Item] = []

    def add(self, item: Item) -> None:
        self.items.append(item)
        if item.mark.id == self.id and "name" in item.value:
            self.name, self.says_name = item.mark.name, True


def mentions_in(items: Sequence[Item]) -> list[Mention]:
    """What a payload's list speaks of, each object once."""
    with_id: dict[str, Mention] = {}
    for item in items:
        if item.mark.id is not None:
            with_id.setdefault(item.mark.id, Mention(item.mark.id)).add(item)
    found = list(with_id.values())
    named: dict[str | None, Mention] = {mention.name: mention for mention in reversed(found)}
    for item in items:
        if item.mark.id is None:
            if item.mark.name not in named:
                named[item.mark.name] = Mention(None)
                found.append(named[item.mark.name])
            named[item.mark.name].add(item)
    return found


def match(marks: Sequence[Mark | None], mentions: Iterable[Mention]) -> tuple[dict[int, list[Mention]], list[Mention]]:
    """By position in the list with these marks: what is said of the object there; and what is new."""
    matched: dict[int, list[Mention]] = defaultdict(list)
    new = []
    ids = [mark and mark.id for mark in marks]
    names = [mark and mark.name for mark in marks]
    by_id = _first_positions(ids)
    without_id: dict[str | None, list[int]] = defaultdict(list)  # by name, the first one last
    for place in reversed(range(len(marks))):
        if ids[place] is None and names[place] is not None:
            without_id[names[place]].append(place)
    by_name: dict[str | None, int] | None = None
    for mention in sorted(mentions, key=lambda mention: mention.id is None):
        if mention.id is None:
            if by_name is None:  # from here on no name changes
                by_name = _first_positions(names)
            position = by_name.get(mention.name)
        else:
            position = by_id.get(mention.id)
            if position is None and (candidates := without_id.get(mention.name)):
                position = candidates.pop()
        if position is None:
            new.append(mention)
        else:
            matched[position].append(mention)
            names[position] = mention.name if mention.says_name else names[position]
    return matched, new


def _first_positions(keys: Sequence[str | None]) -> dict[str | None, int]:
    return {keys[position]: position for position in reversed(range(len(keys))) if keys[position] is not None}
