"""Whether two asks are the same question in other words: decided by rule, the same everywhere, with the reason. Pure.

A question is brought into its normal form: without case, accents, politeness and words that say nothing (`_FILLER`), each
word as its stem, common abbreviations and synonyms as one word. What a mistake would be costly in is an anchor and must
agree to the letter: numbers, names with digits or underscores, paths, flags, quoted text, negations; so must the kind, the
options as a set, the schema, and what follows `from`, `to`, `before` … Two asks are alike when their anchors agree and
the same words are left, in an order that no two of them have swapped around a third; one long word may have a typing
error. Where in doubt they are different: two cards for one question cost a glance, one answer to two questions costs work.

`Form.key` is equal for equal normal forms, word by word in order; a rule answers by it. `Form.bands` are numbers of which
any two like asks share at least one; they are looked up instead of comparing with everything. What is derived from a text
costs time linear in it: words of the first `_LOOKED_AT` characters, the rest must be equal as it is.

Stored keys and bands are those of this module: a change of the normal form takes a migration that computes them anew.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

_LOOKED_AT = 2_000
_LONG = 6  # letters that a word needs to be recognised in spite of a typing error
_MOST_LEFT_OUT = 5


class Likeness(NamedTuple):
    same: bool
    score: float  # 1: the same normal form; 0: nothing in common
    why: str  # one sentence for a person


class Form(NamedTuple):
    """The normal form of an ask."""

    kind: str
    words: tuple[str, ...]  # stems, in order
    shown: dict[str, str]  # stem → the word as it was written
    anchors: tuple[str, ...]  # sorted
    exact: tuple[tuple[str, str], ...]  # (stem, as quoted): quoted words that are compared as stems with unquoted ones
    roles: tuple[tuple[str, str], ...]  # (preposition, the word behind it), sorted
    wants: str  # "decision" (should it be so?), "fact" (is it so?), or "" when neither yes nor no is an answer
    options: tuple[str, ...]  # their normal forms, sorted
    schema: str

    @property
    def key(self) -> str:
        """Equal for equal normal forms, word for word."""
        return hashlib.blake2b(repr((self[:2], self[3:])).encode("utf-8", "replace"), digest_size=16).hexdigest()

    @property
    def bands(self) -> list[int]:
        """Two forms that `compare` calls the same have at least one of these in common.

        All words; and, since one long word may be misspelt, all but that one. Of a form with many long words three
        parts of the words, of which a misspelling touches two at most.
        """
        words = sorted(set(self.words))
        base = hashlib.blake2b(
            repr((self.kind, self.anchors, self.wants, self.options, self.schema)).encode("utf-8", "replace"),
            digest_size=8,
        )
        parts = [words]
        long = [word for word in words if len(word) >= _LONG]
        if len(long) <= _MOST_LEFT_OUT:
            parts += [[other for other in words if other != word] for word in long if len(words) > 1]
        else:
            thirds: tuple[list[str], list[str], list[str]] = ([], [], [])
            for word in words:
                thirds[_hash(word) % 3].append(word)
            parts += thirds
        found = set()
        for part in parts:
            digest = base.copy()
            digest.update("\x1f".join(part).encode("utf-8", "replace"))
            found.add(int.from_bytes(digest.digest()) >> 1)
        return sorted(found)


def form(kind: str, title: str | None, text: str, options: Sequence[str] = (), schema: Any = None) -> Form:
    """The normal form of an ask; `schema` is decoded."""
    head, rest = text[:_LOOKED_AT], text[_LOOKED_AT:]
    found = _read(f"{title}:\n{head}" if title else head)
    anchors = found.anchors
    if rest:
        anchors.append("…" + hashlib.blake2b(rest.encode("utf-8", "replace"), digest_size=16).hexdigest())
    if not anchors and not any(word not in _EMPTY for word in found.words):
        # Nothing to go by: only the same text is the same question.
        anchors, found.words[:] = ["=" + " ".join(f"{title or ''} {text}".split()).casefold()], []
    return Form(
        kind,
        tuple(found.words),
        found.shown,
        tuple(sorted(anchors)),
        tuple(sorted(set(found.exact))),
        tuple(sorted(set(_roles(found)))),
        found.wants,
        tuple(sorted({option_form(option) for option in options})) if options else (),
        "" if schema is None else msgspec.json.encode(schema, order="sorted").decode(),
    )


@functools.lru_cache(4_096)
def option_form(option: str) -> str:
    """The normal form of an option: two that differ in case, accents or punctuation alone are one."""
    words = _folded(option).split()
    return " ".join(word.strip(".,;:!?") for word in words) or option


def compare(a: Form, b: Form) -> Likeness:
    """Whether two asks are the same question, and why."""
    score = _overlap(a, b)
    if reason := _unlike(a, b):
        return Likeness(False, round(min(score, 0.99) * 0.9, 2), reason)
    if a.words == b.words:
        return Likeness(True, 1.0, f"the same question: {_listed(a, a.words, a.anchors)}")
    here, there = Counter(a.words) - Counter(b.words), Counter(b.words) - Counter(a.words)
    if not here and not there:
        if swapped := _swapped(a, b):
            return Likeness(False, 0.85, f"{_quoted(swapped)} have changed places")
        return Likeness(True, 0.95, f"the same words in another order: {_listed(a, a.words, a.anchors)}")
    if here.total() == there.total() == 1:
        one, other = next(iter(here)), next(iter(there))
        if _is_typo(one, other):
            return Likeness(
                True, 0.9, f"the same words, with {_quoted([a.shown[one]])} taken for {_quoted([b.shown[other]])}"
            )
    only = [f"{_quoted(a.shown[word] for word in here)} only in one"] if here else []
    only += [f"{_quoted(b.shown[word] for word in there)} only in the other"] if there else []
    return Likeness(False, round(score * 0.9, 2), ", ".join(only))


# ---- reading a text ------------------------------------------------------------------------------------------------


class _Reading:
    """What is found in a text so far."""

    __slots__ = ("anchors", "exact", "is_asked", "marks", "negated", "shown", "wants", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.shown: dict[str, str] = {}
        self.anchors: list[str] = []
        self.exact: list[tuple[str, str]] = []
        self.marks: list[tuple[str, int]] = []  # prepositions and the place of the word they stand before
        self.negated = False
        self.is_asked = False  # there is a question mark outside of quotes
        self.wants = ""


# Text in quotation marks of any kind, not over a line's end but in a code block.
_QUOTED = re.compile(
    r"```(.*?)```|`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」"
    r"|(?<![\w'])'([^'\n]+)'(?!\w)|(?<!\w)‘([^‘’\n]+)’(?!\w)",
    re.DOTALL,
)
_HAS_QUOTE = re.compile("[`\"“„«「'‘]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SCRIPT_RUN = re.compile("[\u30a0-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+|[\u3040-\u309f]+|[^\u3040-\u30ff\u3400-\u9fff]+")
_JAPANESE_NOT = re.compile("ない|ません|なく|ずに")
_JAPANESE_WHICH = re.compile("どれ|どの|どちら|どっち|なに|なん")
_CHINESE_FILLER = re.compile("应该|請問|请问|我们|我們|可以|这个|這個|是否|我|吗|嗎|呢|的")
_COMPARISON = re.compile(r"[<>=!]*[<>=][<>=]*")
_CLAUSE_ENDS = ".,;:!?-—–。、？！"
_EDGE = ".,;:!?¿¡()[]{}…—–|\"'`’‘“”„«»「」、。？！（）"


def _read(text: str) -> _Reading:
    found = _Reading()
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
    if not _ASKING.isdisjoint(found.words) or found.wants == "request":
        found.wants = ""
    elif found.is_asked and not found.wants:
        found.wants = "decision"
    return found


def _read_quoted(text: str, found: _Reading) -> None:
    """A quoted word, name or path counts as such; anything longer must agree as a whole."""
    words = text.split()
    if len(words) != 1:
        found.anchors.append('"' + _folded(" ".join(words)))
        return
    chunk = words[0].removesuffix("()")
    if chunk.isalpha() and not _EAST_ASIAN.search(chunk):
        folded = _folded(chunk)
        stem = _stem(folded)
        found.exact.append((stem, chunk))
        _add(stem, chunk, found)
    else:
        _read_chunk(chunk, found)


def _read_plain(text: str, found: _Reading) -> None:
    found.is_asked = found.is_asked or "?" in text or "\uff1f" in text
    previous, begins = "", True
    for chunk in text.split():
        if chunk.isalpha() and chunk.isascii():
            word, ends = chunk.lower(), False
        else:
            ends = chunk[-1] in _CLAUSE_ENDS
            core = _bare(chunk)
            if not core.isalpha() or (not core.isascii() and _EAST_ASIAN.search(core)):
                if core:
                    _read_chunk(core, found, begins)
                previous, begins = "", ends
                continue
            word, chunk = (core.lower() if core.isascii() else _folded(core)), core
        if word in _OPENING:
            _opened(word, begins, found)
        elif previous in _REQUESTING and word == "you" and found.wants == "decision":
            found.wants = "request"
        joined = _COMPOUNDS.get((previous, word))
        if joined is None:
            _read_word(word, chunk, found)
        else:
            if found.words and found.words[-1] == _stem(previous):
                found.words.pop()
            _add(_stem(joined), f"{previous} {word}", found)
        previous, begins = word, ends


def _opened(word: str, begins: bool, found: _Reading) -> None:
    """What a question wants, by the word that its clause begins with; a word of leave makes a fact a decision."""
    wants, needs_start = _OPENING[word]
    if (begins or not needs_start) and found.wants != "decision":
        found.wants = wants


def _read_word(word: str, written: str, found: _Reading) -> None:
    if word in _FILLER:
        if word in _DIRECTIONS:
            found.marks.append((_DIRECTIONS[word], len(found.words)))
    elif word in _NEGATIONS:
        found.negated = True
    else:
        if word in _DIRECTIONS:
            found.marks.append((_DIRECTIONS[word], len(found.words) + 1))
        _add(_stem(word), written, found)


def _add(stem: str, written: str, found: _Reading) -> None:
    found.words.append(stem)
    found.shown.setdefault(stem, written)
    if found.negated:
        found.anchors.append(f"not {stem}")
        found.negated = False


def _read_chunk(chunk: str, found: _Reading, begins: bool = False) -> None:
    """What is not a plain word: a contraction, a hyphenated word, a number, a name, a path."""
    if _EAST_ASIAN.search(chunk):
        _read_east_asian(chunk, found)
        return
    apostrophe = chunk.replace("’", "'")
    if "'" in apostrophe:
        head, _, tail = apostrophe.rpartition("'")
        if head.isalpha() and tail.isalpha():
            word, tail = _folded(head), tail.lower()
            opening = word[:-1] if tail == "t" else word
            if opening in _OPENING:
                _opened(opening, begins, found)
            if tail == "t" and word.endswith("n"):  # don't, shouldn't, can't
                found.negated = True
            elif word not in _FILLER:
                _read_word(word, head, found)
            return
    if "-" in chunk and all(part.isalpha() for part in chunk.split("-")):
        parts = _folded(chunk).split("-")
        if len(parts[0]) == 1:  # e-mail
            parts = ["".join(parts)]
        for part in parts:
            _add(_stem(part), part, found)
        return
    if _COMPARISON.fullmatch(chunk):
        found.anchors.append(chunk)
        return
    if not any(map(str.isalnum, chunk)):
        return
    anchor = chunk if _is_name(chunk) else _folded(chunk)
    if found.negated:
        found.anchors.append(f"not {anchor}")
        found.negated = False
    found.anchors.append(anchor)
    # It takes its place among the words too: where a path or number stands is part of the question.
    found.words.append("#" + anchor)
    found.shown.setdefault("#" + anchor, chunk)


def _read_east_asian(chunk: str, found: _Reading) -> None:
    """Scripts without spaces: runs of kanji and katakana are words, hiragana is grammar but for a few of its words."""
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
        elif _EAST_ASIAN.match(run):
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


def _is_name(chunk: str) -> bool:
    """Of a file, a path or in a program: its case counts."""
    return "/" in chunk or "\\" in chunk or "_" in chunk or "." in chunk[:-1]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", plain).casefold()


def _roles(found: _Reading) -> Iterable[tuple[str, str]]:
    for direction, place in found.marks:
        # What stands in a choice has no place of its own: with A or B is with B or A.
        if place < len(found.words) and found.words[place + 1 : place + 2] != ["or"]:
            yield direction, found.words[place]


# ---- comparing -----------------------------------------------------------------------------------------------------


def _unlike(a: Form, b: Form) -> str | None:
    """What must agree and does not."""
    if a.kind != b.kind:
        return f"one is a {a.kind}, the other a {b.kind}"
    if a.schema != b.schema:
        return "they want answers of different schemas"
    if a.options != b.options:
        return "they offer different options"
    if a.anchors != b.anchors:
        return _anchors_apart(a.anchors, b.anchors)
    if a.wants != b.wants:
        return f"one wants {_WANTED[a.wants]}, the other {_WANTED[b.wants]}"
    quoted = dict(a.exact)
    for stem, written in b.exact:
        if quoted.get(stem, written) != written:
            return f"{_quoted([quoted[stem]])} is quoted in one, {_quoted([written])} in the other"
    for direction in {direction for direction, _ in (*a.roles, *b.roles)}:
        here = {word for known, word in a.roles if known == direction}
        there = {word for known, word in b.roles if known == direction}
        if here and there and not (here <= there or there <= here):
            one, other = sorted(here - there)[0], sorted(there - here)[0]
            return f'"{direction}" goes with {_quoted([a.shown[one]])} in one, with {_quoted([b.shown[other]])} in the other'
    return None


_WANTED = {"decision": "a decision", "fact": "to know whether something is so", "": "something else than a yes or no"}


def _anchors_apart(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    here, there = list((Counter(a) - Counter(b)).elements()), list((Counter(b) - Counter(a)).elements())
    for anchor in (*here, *there):
        if anchor.startswith("not"):
            return "one of them says not"
        if anchor[0] == "…":
            return "they differ far down in their text"
        if anchor[0] == "=":
            return "there are no words to compare, and the texts differ"
    only = [f"{_quoted(_plain(here))} only in one"] if here else []
    only += [f"{_quoted(_plain(there))} only in the other"] if there else []
    return ", ".join(only)


def _swapped(a: Form, b: Form) -> list[str] | None:
    """Two words that have changed places around a third: client calls server, server calls client."""
    one = [word for word in a.words if word not in _ASKING]
    other = [word for word in b.words if word not in _ASKING]
    apart = [place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if len(apart) != 2 or len(one) != len(other):
        return None
    first, last = apart
    is_swap = one[first] == other[last] and one[last] == other[first]
    if not is_swap or last - first < 2 or "or" in one[first:last]:
        return None
    return [a.shown[one[first]], a.shown[one[last]]]


def _is_typo(one: str, other: str) -> bool:
    """Whether one letter too many, too few, wrong, or two in the wrong order make one word of the other."""
    if min(len(one), len(other)) < _LONG or abs(len(one) - len(other)) > 1 or one[0] != other[0] or one[0] == "#":
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or (left[:2] == right[1::-1] and left[2:] == right[2:])


def _overlap(a: Form, b: Form) -> float:
    one, other = {*a.words, *a.anchors}, {*b.words, *b.anchors}
    return round(len(one & other) / (len(one | other) or 1), 2)


def _listed(form: Form, words: Iterable[str], anchors: Iterable[str]) -> str:
    shown = [form.shown[word] for word in dict.fromkeys(words)]
    shown += [anchor[1:] for anchor in anchors if anchor[0] == '"']
    if not shown:
        return "the same text"
    return ", ".join(part[:60] for part in shown[:12]) + (" …" if len(shown) > 12 else "")


def _plain(anchors: Iterable[str]) -> list[str]:
    return [anchor.removeprefix('"') for anchor in anchors]


def _quoted(words: Iterable[str]) -> str:
    return " and ".join(f'"{word[:60]}"' for word in list(words)[:4])


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())


# ---- words ---------------------------------------------------------------------------------------------------------


@functools.lru_cache(16_384)
def _stem(word: str) -> str:
    """A folded word without its English ending, as one word for all that mean the same."""
    known = _SYNONYMS.get(word)
    if known is not None:
        return known
    stem = _ending_off(word)
    return _SYNONYMS.get(stem, stem)


_VOWEL = re.compile("[aeiouy]")


def _ending_off(word: str) -> str:
    stem = word
    if len(stem) > 4 and stem.endswith("ies"):
        stem = stem[:-3] + "y"
    elif len(stem) > 3 and stem.endswith("s") and not stem.endswith(("ss", "us", "is")) and _VOWEL.search(stem):
        stem = stem[:-1]
    for ending in ("ing", "ed"):
        if stem.endswith(ending) and len(stem) > len(ending) + 2 and _VOWEL.search(stem[: -len(ending)]):
            stem = stem[: -len(ending)]
            if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            break
    if len(stem) > 3 and stem.endswith("e"):
        stem = stem[:-1]
    return stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Say nothing about what is asked. English, German, Spanish; folded, not stemmed.
_FILLER = _words("""
    a an the this that these those i me my we us our you your he him his she her it its they them their
    am is are be been being do does doing done have has having
    should shall can could may might must will would ought
    please kindly thanks thank hi hello hey sorry question quick quickly tell know let lets say wonder wondering
    decide want wants wanted wish like prefer preferred rather think guess supposed
    use uses using used choose chosen pick picked select selected take go going
    ok okay fine alright acceptable possible best just also now here there so then well if whether
    really actually exactly maybe perhaps currently simply
    in on at of for with by as via to into onto from about within regarding concerning and
    ich wir mir mich uns du dir er sie es ihr ihnen der die das den dem des ein eine einen einem einer eines
    soll sollen sollte sollten wurde darf durfen durfte kann konnen konnte muss mussen will wollen mochte mochten
    bitte danke hallo sag sage sagen fur auf im an mit zu zum zur von vom bei als und ist sind sein wird werden
    dieser diese dieses diesen hier jetzt ob verwenden verwende verwendet benutzen benutze benutzt nutzen nutze nehmen
    nehme wahlen
    el la los las un una unos unas de del en al por para con yo nosotros tu usted debo debemos deberia deberiamos puedo
    podemos puede podria quieres quiere favor gracias hola es son esta este estos estas y se nos lo usar uso usamos
    utilizar utilizo elegir
""")
_NEGATIONS = _words("not no never without cannot nor neither nicht kein keine keinen keinem keiner nie niemals ohne nunca sin jamas")
# How a question begins: what it wants, and whether the word says so only where a clause begins.
_OPENING = {
    word: (wants, needs_start)
    for wants, needs_start, words in (
        ("decision", True, "should shall can could may might must will would ought soll sollen sollte darf durfen kann muss"),
        ("decision", True, "debo debemos deberia puedo podemos"),
        ("decision", False, "ok okay fine alright acceptable want prefer allowed"),
        ("fact", True, "is are was were do does did has have had ist sind wurde war es son"),
    )
    for word in words.split()
}
_REQUESTING = _words("can could would will")
# Words for what is asked for. A question that has one wants no yes or no.
_ASKING = _words("which how why when where who")
_EMPTY = _ASKING | {"or"}
# What a word means depends on which of these it stands behind.
_DIRECTIONS = {
    word: word for word in _words("from to into onto with before after than over under against desde hasta nach von vor")
}

_SAME_WORDS = """
    which what welche welcher welches welchen welchem was que cual cuales
    how wie
    why warum wieso
    when wann cuando
    where wo wohin donde
    who whom wer wen quien
    or vs versus oder o
    did was were had
    delete remove erase
    folder directory dir
    database db
    repository repo
    configuration config cfg
    environment env
    production prod
    development dev
    documentation docs doc
    dependency dep
    application app
    parameter param
    argument arg
    variable var
    temporary temp tmp
    maximum max maximal
    minimum min minimal
    message msg
    package pkg
    library lib
    specification spec
    administrator admin
    information info
    postgresql postgres
    javascript js
    typescript ts
    kubernetes k8s
    color colour
    license licence
    behavior behaviour
    execute run
    modify change alter
    keep retain
    allow permit
    fix repair
    begin start
    proceed continue
    pr pullrequest
    example sample
    authentication authn
    authorization authz authorisation
    millisecond ms
    second sec
"""
_SYNONYMS = {
    form: _ending_off(line.split()[0])
    for line in _SAME_WORDS.strip().splitlines()
    for word in line.split()
    for form in {word, _ending_off(word)}
}
# Written as one word or as two.
_COMPOUNDS = {
    (first, second): first + second
    for first, second in (
        ("lock", "file"), ("time", "zone"), ("file", "name"), ("user", "name"), ("host", "name"), ("back", "end"),
        ("front", "end"), ("code", "base"), ("change", "log"), ("time", "out"), ("roll", "back"), ("set", "up"),
        ("log", "in"), ("log", "out"), ("data", "set"), ("work", "flow"), ("run", "time"), ("check", "list"),
        ("white", "space"), ("name", "space"), ("key", "word"), ("web", "site"), ("web", "hook"), ("time", "stamp"),
        ("pull", "request"), ("work", "space"), ("sub", "module"), ("life", "cycle"), ("place", "holder"),
    )
} | {("go", "ahead"): "proceed"}
