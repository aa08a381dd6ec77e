"""Chains of what waits for what: an order, how deep each stands, how much hangs on it. Pure, linear, no recursion.

A graph has for each name those that it waits for. What lies on a circle, or behind one, has no place in the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Waits = Mapping[str, Sequence[str]]

_BITS = 8_192  # names that one walk over the graph counts


def turned(waits: Waits) -> dict[str, list[str]]:
    """By name those that wait for it."""
    after: dict[str, list[str]] = {name: [] for name in waits}
    for name, before in waits.items():
        for each in before:
            after[each].append(name)
    return after


def in_order(waits: Waits, after: Mapping[str, Sequence[str]]) -> list[str]:
    """Every name behind all that it waits for."""
    missing = {name: len(before) for name, before in waits.items()}
    order = [name for name, many in missing.items() if not many]
    for name in order:
        for each in after[name]:
            missing[each] -= 1
            if not missing[each]:
                order.append(each)
    return order


def depths(order: Sequence[str], waits: Waits) -> dict[str, int]:
    """How many stand one behind the other before each."""
    found: dict[str, int] = {}
    for name in order:
        found[name] = 1 + max((found[each] for each in waits[name]), default=-1)
    return found


def counts(order: Sequence[str], after: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many wait for each, directly or not: a bit for every name, in walks of a bounded width."""
    found = dict.fromkeys(order, 0)
    for start in range(0, len(order), _BITS):
        bits = {name: 1 << place for place, name in enumerate(order[start : start + _BITS])}
        below: dict[str, int] = {}
        for name in reversed(order[: start + _BITS]):
            mask = 0
            for each in after[name]:
                mask |= below.get(each, 0) | bits.get(each, 0)
            below[name] = mask
            found[name] += mask.bit_count()
    return found


def heaviest(order: Sequence[str], onward: Mapping[str, Sequence[str]], size: Mapping[str, int]) -> dict[str, int]:
    """The size of the heaviest chain that begins with each; `order` has what is onward behind it."""
    found: dict[str, int] = {}
    for name in reversed(order):
        found[name] = size[name] + max((found.get(each, 0) for each in onward[name]), default=0)
    return found
