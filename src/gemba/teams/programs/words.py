"""Which words of a text say what it is about, and where they occur in a repository. Pure but for the reading of files.

A word is found with its endings and as a part of a name: `price` in `prices` and in `unit_price`, not in `enterprise`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from gemba.teams.programs.tree import Tree, is_code

MOST_WORDS = 40
_MOST_PLACES = 2_000  # of one word in one file
_SHOWN_LINES = 3
_WORD = re.compile(r"[^\W_]{3,40}")
_ENDINGS = ("ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y")
_LEAST_STEM = 4
# Words that say how or that something is to be done, not about what.
_PLAIN = """
about above after again all also and any are because been before being below between both but can could did does doing
down each every few first for from further get had has have having her here him his how into its itself just let like
made make makes many more most much must new nor not now off once one only other our out over own per same shall she
should some such than that the their them then there these they this those through too two under until use used uses
using very via was well were what when where which while who whom whose why will with within without would yes you
your please need needs needed want wants sure whole good right way ways thing things work works working change changes
changed changing done goal task tasks file files code repository project know others begin found reach several sides
class bad steps order says decide shape parts passes people read followed show running asked
"""
_DOING = """
investigate explore compare survey research find look study plan break schedule prioritise prioritize estimate design
architect sketch write draft document report explain summarise summarize describe implement build fix refactor migrate
port develop create add remove rewrite integrate optimise optimize upgrade rename replace analyse analyze review audit
assess profile evaluate inspect diagnose test tests tested testing verify validate check prove
"""
ACTIONS = tuple(_DOING.split())
_SAYS_NOTHING = frozenset([*_PLAIN.split(), *ACTIONS])
# Words of programming languages, which say nothing in code unless they are part of a name.
_KEYWORDS = frozenset(
    ("import", "export", "class", "return", "include", "package", "function", "default", "type", "string")
)


class Hit(NamedTuple):
    """A file in which words occur: which of them, how often in all, and the first lines; the path counts too."""

    path: str
    words: tuple[str, ...]
    places: int
    lines: tuple[int, ...]


def words_of(text: str) -> list[str]:
    """The words that say what a text is about, the first ones first, each once."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text.lower()):
        if word not in _SAYS_NOTHING and not word.isdecimal():
            found.setdefault(stem(word), word)
    return list(found.values())[:MOST_WORDS]


def stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word[: -len(ending)]
    return word


def where(tree: Tree, words: list[str], among: Iterable[str] | None = None) -> list[Hit]:
    """The files in which words occur: those with more different words first, then with more places."""
    paths = None if among is None else set(among)
    return [hit for hit in _where(tree, tuple(words)) if paths is None or hit.path in paths]


def narrowed(hits: list[Hit], words: list[str]) -> list[Hit]:
    """Of files in which many words occur, those in which some of these do, in their own order."""
    wanted = {stem(word) for word in words}
    found = [(sum(stem(word) in wanted for word in hit.words), hit) for hit in hits]
    return [hit for count, hit in sorted(found, key=lambda pair: -pair[0]) if count]


@lru_cache(maxsize=8)
def _where(tree: Tree, words: tuple[str, ...]) -> list[Hit]:
    stems = {stem(word): word for word in words}
    hits = [hit for path in tree.paths if (hit := _hit(path, tree.text(path) or "", stems)) is not None]
    return sorted(hits, key=lambda hit: (-len(hit.words), -hit.places, hit.path))


def _hit(path: str, text: str, stems: dict[str, str]) -> Hit | None:
    lowered, name, in_code = text.lower(), path.lower(), is_code(path)
    places: set[int] = set()
    known = []
    for each, word in stems.items():
        found = list(islice(_places(lowered, each, in_code), _MOST_PLACES))
        places.update(found)
        if found or any(True for _ in _places(name, each, False)):
            known.append(word)
    if not known:
        return None
    ends = [found.start() for found in re.finditer("\n", lowered)] if places else []
    lines = dict.fromkeys(bisect_right(ends, start) + 1 for start in sorted(places)[:100])
    return Hit(path, tuple(known), len(places), tuple(lines)[:_SHOWN_LINES])


def _places(lowered: str, stem: str, in_code: bool) -> Iterator[int]:
    at = lowered.find(stem)
    while at >= 0:
        if at == 0 or not lowered[at - 1].isalnum():
            end = at + len(stem)
            while end < len(lowered) and lowered[end].isalnum():
                end += 1
            if not (in_code and lowered[at:end] in _KEYWORDS):
                yield at
        at = lowered.find(stem, at + len(stem))


def counted(hits: list[Hit]) -> Counter[str]:
    """In how many files each word occurs."""
    return Counter(word for hit in hits for word in hit.words)
