"""Dependencies between candidates: who waits for whom, and who waits in a circle. Pure, linear, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gemba.skills.consult.order_input import CandidateEpic

Graph = Mapping[str, tuple[str, ...]]


def dependencies(epics: Iterable[CandidateEpic]) -> dict[str, tuple[str, ...]]:
    """By epic the candidates that it depends on, each once. What is no candidate is left out: it is not for us to
    order, and may be done.
    """
    chosen = list(epics)
    known = {epic.epic_id for epic in chosen}
    return {
        epic.epic_id: tuple(dict.fromkeys(each for each in epic.depends_on_epics or () if each in known))
        for epic in chosen
    }


def turned(graph: Graph) -> dict[str, list[str]]:
    """By epic those that depend on it."""
    after: dict[str, list[str]] = {epic: [] for epic in graph}
    for epic, before in graph.items():
        for each in before:
            after[each].append(epic)
    return after


def knots(graph: Graph) -> list[list[str]]:
    """The sets of epics that wait for each other in circles, each in the order of the graph; the order of Tarjan's
    walk makes it one pass.
    """
    order = {epic: place for place, epic in enumerate(graph)}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    found: list[list[str]] = []
    for root in graph:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_.append(root)
        is_open.add(root)
        walk = [(root, iter(graph[root]))]
        while walk:
            epic, rest = walk[-1]
            for each in rest:
                if each not in number:
                    number[each] = low[each] = len(number)
                    open_.append(each)
                    is_open.add(each)
                    walk.append((each, iter(graph[each])))
                    break
                if each in is_open:
                    low[epic] = min(low[epic], number[each])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[epic])
                if low[epic] == number[epic]:
                    at = _last(open_, epic)
                    knot = open_[at:]
                    del open_[at:]
                    is_open.difference_update(knot)
                    if len(knot) > 1 or epic in graph[epic]:
                        found.append(sorted(knot, key=order.__getitem__))
    return sorted(found, key=lambda knot: order[knot[0]])


def _last(stack: list[str], epic: str) -> int:
    place = len(stack) - 1
    while stack[place] != epic:
        place -= 1
    return place


def cycle_in(graph: Graph, knot: list[str]) -> list[str]:
    """One shortest circle through the first of a knot, written with its beginning at both ends."""
    first, inside = knot[0], set(knot)
    came: dict[str, str] = {}
    waiting = [first]
    for epic in waiting:
        for each in graph[epic]:
            if each == first:
                back = [first]
                while epic != first:
                    back.append(epic)
                    epic = came[epic]
                return [first, *reversed(back)]
            if each in inside and each not in came:
                came[each] = epic
                waiting.append(each)
    return [first]
