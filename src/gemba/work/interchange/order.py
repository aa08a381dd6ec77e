"""The order in which issues are imported, and the pieces: what an issue waits for, or is a part of, comes before it.

So a piece decides what of it is ready without those after it, and a relation that binds never has to wait for another
piece. Otherwise it is the order of the file, and what lies on a circle, or behind one, is left in that at the end. Each
issue goes with its place in the file, which orders what else is alike. No I/O.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import msgspec

from gemba.work.interchange.issue import LINKS
from gemba.work.interchange.lines import Found, Work
from gemba.work.item import BINDING


class Piece(NamedTuple):
    """What goes into one transaction; `places` are those of the issues in all that is brought."""

    issues: list[Found]
    apart: dict[str, list[dict[str, Any]]]
    places: list[int]


def in_order(found: Sequence[Found]) -> list[Found]:
    """The first in the file of those that depend on nothing that is still to come, again and again."""
    by_id = {each.issue.id: each for each in found}
    waiting: dict[str, int] = dict.fromkeys(by_id, 0)
    onward: dict[str, list[str]] = defaultdict(list)
    for each in found:
        for other in {link.depends_on_id for link in each.issue.links if LINKS.get(link.type) in BINDING}:
            if other in by_id and other != each.issue.id:
                onward[other].append(each.issue.id)
                waiting[each.issue.id] += 1
    places = {id: place for place, id in enumerate(by_id)}
    ids = list(by_id)
    free = [places[id] for id, many in waiting.items() if not many]
    heapify(free)
    placed: dict[str, Found] = {}
    while free:
        id = ids[heappop(free)]
        placed[id] = by_id[id]
        for following in onward[id]:
            waiting[following] -= 1
            if not waiting[following]:
                heappush(free, places[following])
    return [*placed.values(), *(each for each in found if each.issue.id not in placed)]


def pieces(work: Work, most: int, most_bytes: int) -> Iterator[Piece]:
    """The work in pieces of so many issues and so many bytes, as JSON; one that is larger alone is a piece alone."""
    piece, size = Piece([], {}, []), 0
    known = {each.issue.id: place for place, each in enumerate(work.issues)}
    parts: Iterable[tuple[Found | None, str]] = (
        *((each, each.issue.id) for each in in_order(work.issues)),
        *((None, id) for id in work.apart if id not in known),
    )
    for found, id in parts:
        apart = work.apart.get(id)
        bytes_ = 0 if found is None else len(msgspec.json.encode(found.given))
        bytes_ += len(msgspec.json.encode(apart)) + len(id) if apart else 0
        if (piece.issues or piece.apart) and (
            size + bytes_ > most_bytes or len(piece.issues) + len(piece.apart) >= most
        ):
            yield piece
            piece, size = Piece([], {}, []), 0
        size += bytes_ + 1
        if found is not None:
            piece.issues.append(found)
            piece.places.append(known[id])
        if apart:
            piece.apart[id] = apart
    if piece.issues or piece.apart:
        yield piece
