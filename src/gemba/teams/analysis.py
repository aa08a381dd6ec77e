"""What a task's text asks for: capabilities by its words, how complex that is, and the roles that do it. Pure.

The same text gives the same analysis, and every part of it says why. Words are looked up on their boundaries and
nothing else of the text is understood: one that reads like a command is a text like any other. Time is linear in the
text. Called by `plan.py` and by whoever shows an analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from gemba.errors import Invalid
from gemba.teams.capabilities import GENERAL, TOKEN, Capability, Vocabulary, shipped

MOST_ROLES = 5
LONGEST_TEXT = 200_000  # characters
# Who joins whom when there are more capabilities than roles, in this order; each pair shares a tier.
JOINS = (("planner", "researcher"), ("analyst", "tester"), ("writer", "developer"))
_MANY_TIERS = 3
_TIERS_COUNT = 2  # what many tiers add

Level = Literal["low", "medium", "high"]
_LEVELS: tuple[tuple[int, Level], ...] = ((7, "high"), (4, "medium"), (0, "low"))  # from this score on


class WordFound(msgspec.Struct, frozen=True):
    """A word of the list: how often the text has it, in which form first, and where that begins."""

    word: str
    found: str
    at: int
    times: int


class CapabilityFound(msgspec.Struct, frozen=True):
    name: str
    prefix: str
    tier: int | None
    goal: str
    words: tuple[WordFound, ...]
    reason: str


class Complexity(msgspec.Struct, frozen=True):
    """The sum and its parts. `tracks` are capabilities beside another one of their tier, `chain` is how many have to
    be done one after the other."""

    score: int
    level: Level
    capabilities: int
    tiers: int
    tracks: int
    chain: int
    reason: str


class Role(msgspec.Struct, frozen=True):
    """Who does it: its own capability and those that joined it, in the order of the table."""

    name: str
    prefix: str
    capabilities: tuple[str, ...]


class Merge(msgspec.Struct, frozen=True):
    name: str
    into: str
    reason: str


class Analysis(msgspec.Struct, frozen=True):
    text: str
    max_roles: int
    capabilities: tuple[CapabilityFound, ...]
    complexity: Complexity
    roles: tuple[Role, ...]
    merges: tuple[Merge, ...]


def analyse(text: str, *, max_roles: int = MOST_ROLES, vocabulary: Vocabulary | None = None) -> Analysis:
    """What the text asks for; an Invalid for a text without a letter or digit, or more roles than the limit."""
    _refuse(text, max_roles)
    words = vocabulary or shipped()
    found = _capabilities(text, words)
    roles, merges = merge_roles(found, max_roles)
    return Analysis(text, max_roles, found, complexity_of([each.tier for each in found]), roles, merges)


def _refuse(text: str, max_roles: int) -> None:
    if TOKEN.search(text) is None:
        raise Invalid(
            "the task's text is empty; allowed: a text that says what is to be done",
            code="empty_text",
            pointer="/text",
            found=text[:60],
        )
    if len(text) > LONGEST_TEXT:
        raise Invalid(
            f"the task's text has {len(text):,} characters; allowed: at most {LONGEST_TEXT:,}",
            code="text_too_long",
            pointer="/text",
            found=len(text),
            allowed=LONGEST_TEXT,
        )
    if not 1 <= max_roles <= MOST_ROLES:
        raise Invalid(
            f"max_roles is {max_roles}; allowed: 1 to {MOST_ROLES}",
            code="max_roles",
            pointer="/max_roles",
            found=max_roles,
            allowed=f"1 to {MOST_ROLES}",
        )


# ---- words -----------------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    folded: str
    start: int
    end: int


def _capabilities(text: str, vocabulary: Vocabulary) -> tuple[CapabilityFound, ...]:
    words: dict[str, dict[str, tuple[str, int]]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for name, word, start, end in _matches(text, vocabulary):
        words.setdefault(name, {}).setdefault(word, (text[start:end], start))
        times[name, word] += 1
    if not words:
        return (_found(GENERAL, (), "no word of the list stands in the text"),)
    return tuple(
        _found(
            each,
            tuple(WordFound(word, form, at, times[each.name, word]) for word, (form, at) in words[each.name].items()),
            f"the text has {_listed([form for form, _ in words[each.name].values()])}",
        )
        for each in vocabulary.capabilities
        if each.name in words
    )


def _found(capability: Capability, words: tuple[WordFound, ...], reason: str) -> CapabilityFound:
    return CapabilityFound(*capability, words, reason)


def _matches(text: str, vocabulary: Vocabulary) -> Iterator[tuple[str, str, int, int]]:
    """Each place where a form stands, the longest that begins there, none inside another: capability, word, place."""
    tokens = [_Token(found[0].casefold(), *found.span()) for found in TOKEN.finditer(text)]
    at = 0
    while at < len(tokens):
        width = 1
        for length in vocabulary.lengths_from(tokens[at].folded):
            part = tokens[at : at + length]
            meaning = vocabulary.meanings.get(tuple(each.folded for each in part))
            if meaning is not None and _stand_together(text, part):
                yield meaning.capability, meaning.word, part[0].start, part[-1].end
                width = length
                break
        at += width


def _stand_together(text: str, part: Sequence[_Token]) -> bool:
    """Whether nothing but space or hyphens parts the words of a form."""
    return all(text[part[at].end : part[at + 1].start].replace("-", " ").isspace() for at in range(len(part) - 1))


def _listed(words: list[str]) -> str:
    shown = ", ".join(f'"{word}"' for word in words[:5])
    return shown if len(words) <= 5 else f"{shown} and {len(words) - 5} more"


# ---- complexity ------------------------------------------------------------------------------------------------------


def complexity_of(tiers: Sequence[int | None]) -> Complexity:
    """Of capabilities, one a place, by their tiers: each waits for all of the tier before its own."""
    many, different = len(tiers), len(set(tiers))
    bonus = _TIERS_COUNT if different >= _MANY_TIERS else 0
    tracks = many - different
    score = many + bonus + tracks + different
    level = next(level for least, level in _LEVELS if score >= least)
    reason = (
        f"{many} for the capabilities + {bonus} for {different} {'tier' if different == 1 else 'tiers'} "
        f"+ {tracks} for parallel tracks + {different} for the longest chain = {score}"
    )
    return Complexity(score, level, many, bonus, tracks, different, reason)


# ---- roles -----------------------------------------------------------------------------------------------------------


def merge_roles(found: Sequence[CapabilityFound], max_roles: int) -> tuple[tuple[Role, ...], tuple[Merge, ...]]:
    """A role a capability, and above the limit pair after pair joined until they fit."""
    words = {each.name: len(each.words) for each in found}
    prefixes = {each.name: each.prefix for each in found}
    order = list(words)
    holds: dict[str, list[str]] = {name: [name] for name in order}
    merges = []
    for pair in JOINS:
        if len(holds) <= max_roles:
            break
        if not all(name in holds for name in pair):
            continue
        # The first of the table stays where both have as many.
        stays, goes = sorted(pair, key=lambda name: (-words[name], order.index(name)))
        holds[stays] = sorted(holds[stays] + holds.pop(goes), key=order.index)
        merges.append(Merge(goes, stays, _why(goes, stays, words, max_roles)))
    if len(holds) > max_roles:
        raise Invalid(
            f"the text asks for {len(order)} capabilities, which fit into no fewer than {len(holds)} roles; "
            f"allowed: {max_roles}. Allow more roles, or ask for less at once",
            code="too_many_roles",
            pointer="/max_roles",
            found=len(holds),
            allowed=max_roles,
        )
    return tuple(Role(name, prefixes[name], tuple(held)) for name, held in holds.items()), tuple(merges)


def _why(goes: str, stays: str, words: dict[str, int], max_roles: int) -> str:
    if words[stays] == words[goes]:
        kept = f"both have {_many(words[stays])}, and {stays} comes first in the table"
    else:
        kept = f"{stays} has {_many(words[stays])} in the text and {goes} {words[goes]}"
    return f"more roles than the limit of {max_roles}: {goes} joins {stays}, which shares its tier; {kept}"


def _many(count: int) -> str:
    return f"{count} word{'' if count == 1 else 's'}"
