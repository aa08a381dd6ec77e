"""JSON values as `merge.py` and `live_state.py` see them: their type, which are equal, where in a document they stand.

All of it takes any JSON value at any depth, in time linear in its size but for the sorting of an object's keys. Pure.
"""

from __future__ import annotations

from typing import Any

LONGEST_POINTER = 1_000  # so that pointers to many places under one huge key take linear room


class Place:
    """Where in a document: a JSON pointer (RFC 6901) that is written out only when somebody is told of it."""

    __slots__ = ("_length", "_parent", "token")

    def __init__(self, parent: Place | None = None, token: str = "", length: int = 0) -> None:
        self._parent = parent
        self._length = length
        self.token = token

    def child(self, key: object) -> Place:
        """The place of a key or a position; this one itself where the pointer would become too long."""
        token = str(key)
        length = self._length + 1 + len(token)
        return Place(self, token, length) if length <= LONGEST_POINTER else self

    @property
    def pointer(self) -> str:
        tokens, place = [], self
        while place._parent is not None:
            tokens.append("/" + place.token.replace("~", "~0").replace("/", "~1"))
            place = place._parent
        return "".join(reversed(tokens))


def type_of(value: object) -> str:
    if value is None:
        return "null"
    for kind, name in _TYPES:
        if isinstance(value, kind):
            return name
    return type(value).__name__


_TYPES = ((dict, "object"), (list, "list"), (str, "string"), (bool, "boolean"), ((int, float), "number"))


def scalar_key(value: object) -> str | None:
    """Text that is the same for equal scalars and no others; None for objects and lists."""
    if isinstance(value, str):
        return "s" + value
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        # hex, because writing out a huge number in decimals takes more than linear time and may be refused
        return "n" + (hex(int(value)) if value.is_integer() else value.hex())
    if isinstance(value, int):
        return "n" + hex(value)
    return None if isinstance(value, (dict, list)) else f"?{value!r}"


def are_equal_scalars(one: object, other: object) -> bool:
    """Whether both are scalars and equal: true is not 1, 1 is 1.0."""
    if type(one) is type(other) and type(one) in _PLAIN:
        return one == other
    key = scalar_key(one)
    return key is not None and key == scalar_key(other)


_PLAIN = (str, int, bool)


class Numbers:
    """Gives equal values the same number, different ones different numbers.

    A container's number is looked up by those of its children, as text: nobody can write values whose look-ups collide.
    Values must stay as they are once they have a number.
    """

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._of_container: dict[int, tuple[Any, int]] = {}  # by address; the container is kept so that it stays there

    def of(self, value: Any) -> int:
        key = scalar_key(value)
        if key is not None:
            return self._number(key)
        waiting = [value]
        while waiting:
            container = waiting[-1]
            if id(container) not in self._of_container:
                children = container.values() if isinstance(container, dict) else container
                if unknown := [child for child in children if self._known(child) is None]:
                    waiting += unknown
                    continue
                self._of_container[id(container)] = (container, self._number(self._text(container)))
            waiting.pop()
        return self._of_container[id(value)][1]

    def _known(self, value: Any) -> int | None:
        key = scalar_key(value)
        if key is not None:
            return self._number(key)
        found = self._of_container.get(id(value))
        return found and found[1]

    def _text(self, container: Any) -> str:
        if isinstance(container, list):
            return "[" + ",".join([str(self._known(item)) for item in container])
        pairs = sorted((self._number(f"k{key!r}"), self._known(value)) for key, value in container.items())
        return "{" + ",".join([f"{key}:{number}" for key, number in pairs])

    def _number(self, text: str) -> int:
        return self._by_text.setdefault(text, len(self._by_text))
