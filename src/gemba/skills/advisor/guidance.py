"""The operator's guidance, matched to what epics say of themselves, by words and without a model.

A clause wants what its words name; one with a word such as "later" or "not" wants it last. Words that stand in no
epic, and those that stand in nearly every one, decide nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from gemba.skills.consult.order_input import CandidateEpic

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[.;,!?\n]+|\b(?:but|then|and then)\b", re.IGNORECASE)
_LATER = frozenset(
    {
        *("avoid", "defer", "delay", "don", "dont", "except", "exclude", "ignore", "last", "later", "leave", "low"),
        *("no", "not", "off", "pause", "postpone", "skip", "wait", "without"),
    }
)
_SMALL = frozenset(
    {
        *("a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "epic", "epics", "everything"),
        *("finish", "first", "focus", "for", "from", "get", "go", "have", "high", "in", "into", "is", "it", "its"),
        *("keep", "let", "make", "may", "must", "need", "next", "of", "on", "or", "order", "our", "please", "prefer"),
        *("prioritise", "prioritize", "priority", "push", "put", "rank", "ship", "should", "start", "that", "the"),
        *("their", "them", "these", "this", "to", "top", "us", "want", "we", "what", "which", "will", "with", "work"),
    }
)
_EDGE = 0.8  # a word of more than this share of many epics tells none from the others
_MANY = 5


class Match(NamedTuple):
    """How far an epic is wanted: above 0 sooner, below 0 later; and by which words."""

    weight: int = 0
    words: tuple[str, ...] = ()


def match(guidance: str | None, epics: list[CandidateEpic]) -> dict[str, Match]:
    """By epic what the guidance says of it; those of which it says nothing are left out."""
    wanted = _wanted(guidance or "")
    if not wanted:
        return {}
    texts = {epic.epic_id: _words_of(epic) for epic in epics}
    usual = Counter(word for words in texts.values() for word in words & wanted.keys())
    telling = {word for word, many in usual.items() if len(epics) < _MANY or many <= _EDGE * len(epics)}
    found = {}
    for id, words in texts.items():
        if hits := sorted(words & telling):
            found[id] = Match(sum(wanted[word] for word in hits), tuple(hits))
    return found


def _wanted(guidance: str) -> dict[str, int]:
    wanted: dict[str, int] = {}
    for clause in _CLAUSE.split(guidance[:20_000]):
        words = [word.lower() for word in _WORD.findall(clause)]
        sign = -1 if _LATER.intersection(words) else 1
        for word in words:
            if len(word) > 1 and word not in _SMALL and word not in _LATER:
                wanted.setdefault(_stem(word), sign)
    return wanted


def _words_of(epic: CandidateEpic) -> set[str]:
    labels = (epic.derived or {}).get("labels")
    told = [epic.title, epic.summary or "", *(str(each) for each in (labels if isinstance(labels, list) else ()))]
    return {_stem(word.lower()) for word in _WORD.findall(" ".join(told)[:20_000])}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
