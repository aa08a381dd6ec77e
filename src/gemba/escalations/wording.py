"""Reading an ask's text for what it says: its words as stems, its anchors, and what kind of answer it wants. Pure.

Any script and any punctuation is read, in time linear in the text; nothing is refused. `likeness.py` compares.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from gemba.escalations.vocabulary import (
    ASKING,
    COMPOUNDS,
    DIRECTIONS,
    FILLER,
    NEGATIONS,
    OPENING,
    REQUESTING,
    SECONDS,
    VERB_FINAL,
    stem_of,
)


class Reading:
    """What is found in a text so far."""

    __slots__ = ("anchors", "exact", "is_asked", "is_verb_final", "marks", "negated", "shown", "wants", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.shown: dict[str, str] = {}
        self.anchors: list[str] = []
        self.exact: list[tuple[str, str]] = []
        self.marks: list[tuple[str, int]] = []  # prepositions and the place of the word they stand before
        self.negated = False
        self.is_asked = False  # there is a question mark outside of quotes
        self.is_verb_final = False  # as German and Japanese are
        self.wants = ""


# Text in quotation marks of any kind, not over a line's end but in a code block.
_QUOTED = re.compile(
    r"```(.*?)```|`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」"
    r"|(?<![\w'])'([^'\n]+)'(?!\w)|(?<!\w)\u2018([^\u2018\u2019\n]+)\u2019(?!\w)",
    re.DOTALL,
)
_HAS_QUOTE = re.compile("[`\"“„«「'\u2018]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SCRIPT_RUN = re.compile(
    "[\u30a0-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+|[\u3040-\u309f]+|[^\u3040-\u30ff\u3400-\u9fff]+"
)
_JAPANESE_NOT = re.compile("ない|ません|なく|ずに")
_JAPANESE_WHICH = re.compile("どれ|どの|どちら|どっち|なに|なん")
_CHINESE_FILLER = re.compile("应该|請問|请问|我们|我們|可以|这个|這個|是否|我|吗|嗎|呢|的")
_LONGEST_WORD = 40
_COMPARISON = re.compile(r"[<>=!]*[<>=][<>=]*")
_CLAUSE_ENDS = ".,;:!?-—\u2013。、\uff1f\uff01"
_EDGE = ".,;:!?¿¡()[]{}…—\u2013|\"'`\u2019\u2018“”„«»「」、。\uff1f\uff01\uff08\uff09"


def read(text: str) -> Reading:
    found = Reading()
    text = text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    place = 0
    if _HAS_QUOTE.search(text):
        for quoted in _QUOTED.finditer(text):
            _read_plain(text[place : quoted.start()], found)
            _read_quoted(next(part for part in quoted.groups() if part is not None), found)
            place = quoted.end()
    _read_plain(text[place:] if place else text, found)
    if found.negated:
        found.anchors.append("not")
    if not ASKING.isdisjoint(found.words) or found.wants == "request":
        found.wants = ""
    elif found.is_asked and not found.wants:
        found.wants = "decision"
    elif found.wants == "fact":
        # What is done to something now and what was done are one decision, but two facts.
        found.anchors += [f"{stem} now" for stem, word in found.shown.items() if word.endswith("ing") and stem != word]
    return found


def _read_quoted(text: str, found: Reading) -> None:
    """A quoted word, name or path counts as such; anything longer must agree as a whole."""
    words = text.split()
    if len(words) != 1:
        found.anchors.append('"' + folded(" ".join(words)))
        return
    chunk = words[0].removesuffix("()")
    if _is_word(chunk):
        stem = stem_of(folded(chunk))
        found.exact.append((stem, chunk))
        _add(stem, chunk, found)
    else:
        _read_chunk(chunk, found)


class _Look(NamedTuple):
    """What can be said of one chunk of a text by itself."""

    word: str  # folded; empty when it is not a plain word
    stem: str  # empty when the word says nothing
    written: str
    ends: bool  # a clause ends with it
    is_special: bool  # a word whose neighbours count, or one that says what is wanted


_SPECIAL = (OPENING, DIRECTIONS, SECONDS, NEGATIONS, VERB_FINAL)


def _look(chunk: str) -> _Look:
    core = chunk if chunk.isalpha() else _bare(chunk)
    ends = chunk[-1] in _CLAUSE_ENDS
    if not _is_word(core) or _is_letter(core):
        return _Look("", "", core, ends, False)
    word = folded(core)
    is_special = word == "you" or any(word in words for words in _SPECIAL)
    return _Look(word, "" if word in FILLER or word in NEGATIONS else stem_of(word), core, ends, is_special)


_look_again = functools.lru_cache(16_384)(_look)


def _read_plain(text: str, found: Reading) -> None:
    found.is_asked = found.is_asked or "?" in text or "\uff1f" in text
    previous, begins = "", True
    for chunk in text.split():
        word, stem, written, ends, is_special = _look_again(chunk) if len(chunk) < 30 else _look(chunk)
        if is_special:
            _read_special(word, stem, written, begins, previous, found)
        elif stem:
            _add(stem, written, found)
        elif written and not word and not (begins and _is_letter(written)):
            _read_chunk(written, found, begins)
        previous, begins = word, ends


def _read_special(word: str, stem: str, written: str, begins: bool, previous: str, found: Reading) -> None:
    if word in OPENING:
        _opened(word, begins, found)
    elif word == "you" and previous in REQUESTING and found.wants == "decision":
        found.wants = "request"
    found.is_verb_final = found.is_verb_final or word in VERB_FINAL
    joined = COMPOUNDS.get((previous, word))
    if joined is not None:
        if found.words and found.words[-1] == stem_of(previous):
            found.words.pop()
        _add(stem_of(joined), f"{previous} {word}", found)
        return
    if word in DIRECTIONS:
        found.marks.append((word, len(found.words) + bool(stem)))
    if stem:
        _add(stem, written, found)
    elif word in NEGATIONS:
        _negate(found)


def _opened(word: str, begins: bool, found: Reading) -> None:
    """What a question wants, by the word that its clause begins with; a word of leave makes a fact a decision."""
    wants, needs_start = OPENING[word]
    if (begins or not needs_start) and found.wants != "decision":
        found.wants = wants


def _negate(found: Reading) -> None:
    if found.negated:
        found.anchors.append("not")
    found.negated = True


def _add(stem: str, written: str, found: Reading) -> None:
    found.words.append(stem)
    found.shown.setdefault(stem, written)
    if found.negated:
        found.anchors.append(f"not {stem}")
        found.negated = False


def _read_chunk(chunk: str, found: Reading, begins: bool = False) -> None:
    """What is not a plain word: a contraction, a hyphenated word, a number, a name, a path."""
    if _EAST_ASIAN.search(chunk):
        _read_east_asian(chunk, found)
        return
    apostrophe = chunk.replace("\u2019", "'")
    if "'" in apostrophe:
        head, _, tail = apostrophe.rpartition("'")
        if _is_word(head) and _is_word(tail):
            word, tail = folded(head), tail.lower()
            opening = word[:-1] if tail == "t" else word
            if opening in OPENING:
                _opened(opening, begins, found)
            if tail == "t" and word.endswith("n"):  # don't, shouldn't, can't
                _negate(found)
            elif word not in FILLER:
                _add(stem_of(word), head, found)
            return
    if "-" in chunk and all(map(_is_word, chunk.split("-"))):
        parts = folded(chunk).split("-")
        if len(parts[0]) == 1 or tuple(parts) in COMPOUNDS:  # e-mail, time-zone
            parts = ["".join(parts)]
        for part in parts:
            _add(stem_of(part), part, found)
        return
    if _COMPARISON.fullmatch(chunk):
        found.anchors.append(chunk)
        return
    if not any(map(str.isalnum, chunk)):
        return
    anchor = chunk if _is_name(chunk) else folded(chunk)
    if found.negated:
        found.anchors.append(f"not {anchor}")
        found.negated = False
    found.anchors.append(anchor)
    # It takes its place among the words too: where a path or number stands is part of the question.
    found.words.append("#" + anchor)
    found.shown.setdefault("#" + anchor, chunk)


def _read_east_asian(chunk: str, found: Reading) -> None:
    """Scripts without spaces: runs of kanji and katakana are words, hiragana is grammar but for a few of its words."""
    found.is_verb_final = True
    if not re.search("[\u3040-\u30ff]", chunk):
        chunk = _CHINESE_FILLER.sub("", chunk)
    for run in _SCRIPT_RUN.findall(chunk):
        if "\u3040" <= run[0] <= "\u309f":
            if _JAPANESE_NOT.search(run):
                found.anchors.append("not")
            if _JAPANESE_WHICH.search(run):
                found.words.append("which")
                found.shown.setdefault("which", run)
            found.is_asked = found.is_asked or run.endswith("か")
        elif run == "何":
            found.words.append("which")
            found.shown.setdefault("which", run)
        elif _EAST_ASIAN.search(run):  # also of a run that mixes: read again it would come back here
            _add(run, run, found)
        else:
            _read_plain(run, found)


def _bare(chunk: str) -> str:
    """Without punctuation and Markdown's emphasis around it, and without the brackets of a call."""
    core = chunk.strip(_EDGE)
    if chunk[0] == "." and len(chunk) > 1 and core[:1].isalnum():
        return "." + core  # a hidden file
    bare = core.strip("*~") if core[:2] != "*." else core
    if len(bare) > 2 and bare[0] == bare[-1] == "_":
        bare = bare.strip("_")
    return bare.strip(_EDGE)


def _is_word(core: str) -> bool:
    """A plain one, as long as words are: longer ones are names of something, and none that is worth remembering."""
    return core.isalpha() and len(core) <= _LONGEST_WORD and (core.isascii() or not _EAST_ASIAN.search(core))


def _is_letter(word: str) -> bool:
    """A capital that stands alone is a name, but where a sentence begins with it."""
    return len(word) == 1 and word.isupper() and word != "I"


def _is_name(chunk: str) -> bool:
    """Of a file, a path or in a program: its case counts."""
    return "/" in chunk or "\\" in chunk or "_" in chunk or "." in chunk[:-1]


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", plain).casefold()


def roles_of(found: Reading) -> Iterable[tuple[str, str]]:
    for direction, place in found.marks:
        # What stands in a choice has no place of its own: with A or B is with B or A.
        if place < len(found.words) and found.words[place + 1 : place + 2] != ["or"]:
            yield direction, found.words[place]
