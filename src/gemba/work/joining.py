"""Which of the dependencies of new items can be made: the decision is pure, over what is read of the items around them.

An item that is there already waits for none that is new, so a circle can only run through new ones, and what is there
is read no further than the parents above them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from gemba.store.lists import among
from gemba.work.batch import circles
from gemba.work.interchange.issue import Link
from gemba.work.item import Relation
from gemba.work.relations import Ends
from gemba.work.tables import items

_MOST_SHOWN = 20  # items of a circle


class LeftOut(msgspec.Struct, frozen=True):
    """A dependency that was not made, and why."""

    issue_id: str
    type: str
    depends_on_id: str
    code: str
    reason: str


class Joined(NamedTuple):
    """What the new items are to others; `left_out` by item."""

    parents: dict[str, str]
    edges: list[Ends]
    left_out: dict[str, list[LeftOut]]


def join_new(connection: Connection, links: Mapping[str, Sequence[Link]]) -> Joined:
    """`links` are those of items that are about to be made, by their ids."""
    others = {link.depends_on_id for each in links.values() for link in each} - links.keys()
    above: dict[str, str | None] = {}
    wave = others
    while wave:  # the others, what they are part of, and so on
        found = connection.execute(select(items.c.id, items.c.parent).where(among(connection, items.c.id, wave))).all()
        above.update((row.id, row.parent) for row in found)
        wave = {row.parent for row in found if row.parent is not None} - above.keys()
    return decide(links, above)


def decide(links: Mapping[str, Sequence[Link]], above: Mapping[str, str | None]) -> Joined:
    """`above` has the items that are there, each with its parent."""
    left_out: dict[str, list[LeftOut]] = {}

    def leave(link: Link, code: str, reason: str) -> None:
        left_out.setdefault(link.issue_id, []).append(LeftOut(*link, code, reason))

    made: dict[Ends, Link] = {}
    parents: dict[str, str] = {}
    for id, mine in links.items():
        for link in mine:
            ends = link.ends
            if ends is None or ends in made:
                continue
            if link.depends_on_id == id:
                leave(link, "self_relation", "it is a relation with itself")
            elif link.depends_on_id not in links and link.depends_on_id not in above:
                leave(link, "unknown_item", "there is no such item")
            elif ends[1] is Relation.PARENT_CHILD and id in parents:
                leave(link, "has_parent", f"it is a part of {parents[id]} already")
            elif not (ends[1] is Relation.RELATES_TO and (ends[2], ends[1], ends[0]) in made):
                made[ends] = link
                if ends[1] is Relation.PARENT_CHILD:
                    parents[id] = link.depends_on_id
    # Families first: where one of the two has to go, the work stays in its place.
    edges = sorted(made, key=lambda ends: ends[1] is not Relation.PARENT_CHILD)
    closing = circles([ends for ends in edges if ends[0] in links])
    waits = _waits(set(edges) - set(closing)) if closing else {}
    for ends in closing:
        link = made.pop(ends)
        leave(link, "cycle", _circle(waits, ends))
        if ends[1] is Relation.PARENT_CHILD:
            del parents[link.issue_id]
    for ends, link in [*made.items()]:
        if ends[1] is Relation.BLOCKS and _is_above(ends[0], ends[2], parents, above):
            del made[ends]
            leave(link, "blocked_by_ancestor", f"{ends[2]} is a part of {ends[0]}, which is finished after its parts")
    return Joined(parents, [ends for ends in made if ends[1] is not Relation.PARENT_CHILD], left_out)


def _is_above(whole: str, part: str, parents: Mapping[str, str], above: Mapping[str, str | None]) -> bool:
    at: str | None = part
    while at is not None:
        at = parents.get(at) or above.get(at)
        if at == whole:
            return True
    return False


def _waits(edges: Iterable[Ends]) -> dict[str, dict[str, Relation]]:
    """Who waits for whom, and by what."""
    found: dict[str, dict[str, Relation]] = {}
    for source, kind, target in edges:
        if kind in (Relation.BLOCKS, Relation.PARENT_CHILD):
            found.setdefault(target, {}).setdefault(source, kind)
    return found


def _circle(waits: Mapping[str, Mapping[str, Relation]], ends: Ends) -> str:
    """The circle that an edge would close, in words: from its source along what that waits for."""
    source, kind, target = ends
    came: dict[str, str] = {source: source}
    wave = [source]
    while wave and target not in came:
        onto = [(at, following) for at in wave for following in waits.get(at, ())]
        wave = []
        for at, following in onto:
            if following not in came:
                came[following] = at
                wave.append(following)
    path = [target] if target in came else [source]
    while came[path[-1]] != path[-1]:
        path.append(came[path[-1]])
    path.reverse()
    words = [_step(waits[at][following], following, "is") for at, following in pairwise(path)]
    if len(words) > _MOST_SHOWN:
        words = [*words[:_MOST_SHOWN], f"leads over {len(words) - _MOST_SHOWN - 1} more to {target}"]
    words.append(_step(kind, source, "would be"))
    return f"that is a circle, in which nothing could ever be ready: {source} {', which '.join(words)}"


def _step(kind: Relation, other: str, verb: str) -> str:
    return f"{verb} {'part of' if kind is Relation.PARENT_CHILD else 'blocked by'} {other}"
