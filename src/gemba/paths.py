"""Do two sets of path globs share a path? An index over one set answers for a glob at a time.

A glob has segments between slashes; `**` stands for any number of them, `*`, `?`, `[…]` and `{…}` for characters of
one. A glob takes in what it names and all that lies beneath: `src/a`, `src/a/` and `src/a/**` are one, and each shares
a path with `src/a/b.py` and with `**/b.py`, none with `src/ab.py`. What looks like a file, by a dot in its last
segment, has nothing beneath unless another glob names it: `src/c.py` shares nothing with `**/b.py`. Sets and braces
count as any characters, so that the answer errs on the side of a conflict.

The index is a tree of segments: a glob is compared with what stands on its own way down, not with every other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_WILD = re.compile(r"[*?\[{]")
_GROUPS = re.compile(r"\[[^\]]*\]|\{[^}]*\}")
_WIDE_BRACE = re.compile(r"[^/]*\{[^}]*/.*", re.DOTALL)
_ANY = "**"


class Shared(NamedTuple):
    """An owner of the index whose glob shares a path with the one that was asked for."""

    owner: str
    glob: str


@lru_cache(8192)
def segments(glob: str) -> tuple[str, ...] | None:
    """The parts of a glob in a normal form; () for the whole tree, None where no path is named."""
    if not glob.strip():
        return None
    parts: list[str] = []
    # A brace over several segments may be anything below the segment in which it opens.
    for part in _WIDE_BRACE.sub("", glob.strip().replace("\\", "/")).split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != _ANY:
            parts.pop()
        elif part != _ANY or parts[-1:] != [_ANY]:
            parts.append(_GROUPS.sub("*", part))
    while parts and parts[-1] == _ANY:  # all that lies beneath is meant anyway
        parts.pop()
    return tuple(parts)


@lru_cache(8192)
def _is_wild(part: str) -> bool:
    return _WILD.search(part) is not None


@lru_cache(8192)
def _is_file(glob: str, parts: tuple[str, ...]) -> bool:
    return bool(parts) and "." in parts[-1][1:] and glob.strip().endswith(parts[-1][-1])


@lru_cache(8192)
def _shape(glob: str, parts: tuple[str, ...]) -> tuple[bool, int]:
    """Whether it looks like a file, and how many segments go before the first with a pattern."""
    named = next((place for place, part in enumerate(parts) if _is_wild(part)), len(parts))
    return _is_file(glob, parts), named


class _Node:
    """A place in the tree: what comes below by name and by pattern, and who ends here."""

    __slots__ = ("below", "ends", "file", "is_any", "is_named", "wild")

    def __init__(self, is_any: bool = False, is_named: bool = True) -> None:
        self.below: dict[str, _Node] = {}
        self.wild: dict[str, _Node] = {}
        self.ends: list[Shared] = []  # with all that lies beneath
        self.file: list[Shared] = []  # by itself
        self.is_any = is_any
        self.is_named = is_named  # by segments without a pattern


class PathIndex:
    """Globs and whose they are."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, glob: str, owner: str) -> None:
        parts = segments(glob)
        if parts is None:
            return
        shared = Shared(owner, glob)
        node = self._root
        for part in parts:
            side = node.wild if _is_wild(part) else node.below
            found = side.get(part)
            if found is None:
                found = side[part] = _Node(part == _ANY, node.is_named and side is node.below)
            node = found
        (node.file if _is_file(glob, parts) else node.ends).append(shared)

    def find(self, glob: str) -> Shared | None:
        """One who shares a path with the glob, if there is any."""
        return next(self._found(glob), None)

    def find_all(self, glob: str) -> dict[str, str]:
        """Everyone who shares a path with the glob, each with one glob by which it does."""
        found: dict[str, str] = {}
        for shared in self._found(glob):
            found.setdefault(shared.owner, shared.glob)
        return found

    def _found(self, glob: str) -> Iterator[Shared]:
        """All who share a path with the glob; the same one perhaps more than once."""
        parts = segments(glob)
        if parts is None:
            return
        is_file, named = _shape(glob, parts)
        known = {(id(self._root), 0)}
        waiting = [(self._root, 0)]
        while waiting:
            node, at = waiting.pop()
            yield from node.ends
            if at == len(parts) or at < named:
                yield from node.file
            if at == len(parts):
                if not is_file:
                    yield from _beneath(node)
                elif node.is_named and named == len(parts):
                    # Who names something beneath what looks like a file says that it is a folder.
                    for child in node.below.values():
                        yield from _everyone(child)
                continue
            for step in self._steps(node, parts[at], at):
                place = (id(step[0]), step[1])
                if place not in known:
                    known.add(place)
                    waiting.append(step)

    def _steps(self, node: _Node, part: str, at: int) -> list[tuple[_Node, int]]:
        """Where both globs can be after one of them, or both, took a segment."""
        steps: list[tuple[_Node, int]] = []
        if _ANY in node.wild:
            steps.append((node.wild[_ANY], at))
        if node.is_any:
            steps.append((node, at + 1))
        if part == _ANY:
            steps.append((node, at + 1))
            steps += [(child, at) for child in (*node.below.values(), *node.wild.values())]
            return steps
        if not _is_wild(part):
            if part in node.below:
                steps.append((node.below[part], at + 1))
        else:
            steps += [(child, at + 1) for name, child in node.below.items() if _meet(part, name)]
        if node.wild:
            steps += [(child, at + 1) for name, child in node.wild.items() if name != _ANY and _meet(part, name)]
        return steps


def _beneath(node: _Node) -> Iterator[Shared]:
    for child in (*node.below.values(), *node.wild.values()):
        yield from _everyone(child)


def _everyone(node: _Node) -> Iterator[Shared]:
    """Who ends at a place or below it."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield from at.ends
        yield from at.file
        waiting += at.below.values()
        waiting += at.wild.values()


@lru_cache(65_536)
def _meet(one: str, other: str) -> bool:
    """Is there a name that both patterns of a segment match?"""
    places = {0}  # in `other`, for the characters of `one` so far
    for char in one:
        if char == "*":
            places = set(range(min(places), len(other) + 1)) if places else places
            continue
        places = {
            follows
            for place in _behind_stars(other, places)
            if place < len(other)
            for follows in _after(other, place, char)
        }
        if not places:
            return False
    return len(other) in _behind_stars(other, places)


def _behind_stars(pattern: str, places: set[int]) -> set[int]:
    """The places that can be reached without a character."""
    found = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] == "*":
            place += 1
            found.add(place)
    return found


def _after(pattern: str, place: int, char: str) -> tuple[int, ...]:
    there = pattern[place]
    if there == "*":
        return (place,)
    return (place + 1,) if "?" in (there, char) or there == char else ()


def share(one: list[str], other: list[str]) -> bool:
    index = PathIndex()
    for glob in one:
        index.add(glob, "")
    return any(index.find(glob) for glob in other)
