"""Instructions in words to raise a blocker: `Raise a blocker when tests fail`, `ask with the kind set to blocker`.

An instruction is one by its verb, and none where its sentence says not, asks, or speaks of somebody else who raises it,
such as a manager. Words cannot be judged like flags: what is found is meant to be sure, not to be all. Linear: what
stands around a place is read in bounds. Called by `asks`, for a coach's skill.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_AROUND = 400  # characters before a place in which its sentence begins
_LIST = 2_000  # characters before a place in which the line stands that its list is about

_SO_MANY = r"(?:(?:a|an|the|another|one|your|this|it|them|new|real|hard|questions?|and|or|as) ){0,4}"
_INSTRUCTIONS = (
    rf"(?:raise|by raising) {_SO_MANY}blockers?",
    r"(?:open|file|send|issue|emit|use|submit|post|create|make) (?:a|an|another|one) (?:\w{1,20} )?blocker",
    (
        r"(?:with|use|using|set|choose|pick|pass|give|make|as)\b[^.;:!?\n]{0,40}?\bkind"
        r"(?:[ ,]{1,2}(?:set|to|as|is|be|being|of|a|the|called|value|equal|with)){0,4}[ ,]{1,2}blocker"
    ),
    r"kind (?:must|should|shall|has to|needs to) be (?:a |the )?blocker",
    r"(?:ask|escalate|report|raise|flag)\b[^.;:!?\n]{0,60}? as (?:a |an )?blocker",
)
_INSTRUCTION = re.compile(rf"(?<![\w-])(?:{'|'.join(_INSTRUCTIONS)})(?![\w-])")
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|\n[ \t]*+(?=\n|[-+#|>]|\d{1,3}[.)])")
_CLAUSE_END = re.compile(r"[,:|()]|\s-\s")
_NEGATION = re.compile(
    r"\b(?:never|not|no|nor|neither|none|nobody|cannot|cant|dont|doesnt|mustnt|shouldnt|wont|isnt|without|instead|avoid"
    r"|than|forbidden)\b"
)
_SOMEBODY_ELSE = re.compile(r"\b(?:managers?|operators?|person|people|who|they|he|she)\b")
_CONDITION = re.compile(r"\W*+(?:if|when|whenever|where|while|once|unless|until|after|as|in case)\b")
_STARTS_NEGATED = re.compile(rf"\W*+(?:\w+\W+){{0,3}}?{_NEGATION.pattern}")
_IS_SPOKEN_OF = re.compile(r"[^.!;\n]{0,200}\?|\s{1,3}(?:is|are|belongs?)\b")
_LIST_LINE = re.compile(r"\s|[-+]|\d{1,3}[.)]|$")


class Instruction(NamedTuple):
    place: int
    words: str


def instructions(text: str) -> Iterator[Instruction]:
    """Of a text that is made plain."""
    for found in _INSTRUCTION.finditer(text):
        if _IS_SPOKEN_OF.match(text, found.end()) is None and not _is_excused(text, found.start(), found[0]):
            yield Instruction(found.start(), found[0])


def _is_excused(text: str, place: int, words: str) -> bool:
    before = text[max(0, place - _AROUND) : place]
    sentence = before[max((end.end() for end in _SENTENCE_END.finditer(before)), default=0) :]
    clause = sentence[max((end.end() for end in _CLAUSE_END.finditer(sentence)), default=0) :]
    if _excuses(clause) or _NEGATION.search(words):
        return True
    if _CONDITION.match(sentence) is None and _STARTS_NEGATED.match(sentence):
        return True
    return _excuses(_list_is_about(text, place))


def _excuses(words: str) -> bool:
    return _NEGATION.search(words) is not None or _SOMEBODY_ELSE.search(words) is not None


def _list_is_about(text: str, place: int) -> str:
    """The line above the list that a place is in: one that ends with a colon, or a heading. "" where there is none."""
    *above, line = text[max(0, place - _LIST) : place].split("\n")
    if not above or _LIST_LINE.match(line) is None:
        return ""
    head = next((line for line in reversed(above) if _LIST_LINE.match(line) is None), "")
    return head if head.rstrip().endswith(":") or head.startswith("#") else ""
