"""Whether two asks are the same question in other words: decided by rule, the same everywhere, with its reason. Pure.

A question is brought into its normal form: without case, accents, politeness and words that say nothing, each word as
its stem, common abbreviations and synonyms as one word. What a mistake would be costly in is an anchor and must agree
to the letter: numbers, names with digits or underscores, paths, flags, quoted text, negations. So must the kind, the
options as a set, the schema, whether a decision or a fact is wanted, and what stands behind `from`, `to`, `before` …
Two asks are alike when all this agrees and the same words are left, no two of which have changed places around a third;
one long word may be misspelt. In doubt they are different: two cards for one question cost a glance, one answer to two
questions costs work.

`Form.key` is equal for equal normal forms, word by word in order; a rule answers by it. `Form.bands` are numbers of
which any two like asks share at least one: they are looked up, instead of comparing with everything. All takes time
linear in the text: words are those of the first `_LOOKED_AT` characters, the rest must be equal as it is.

Stored keys and bands are those of this module: a change of the normal form is one of `derived.VERSION`, by which they
are made anew.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from gemba.escalations.vocabulary import ASKING, EMPTY
from gemba.escalations.wording import folded, read, roles_of

_LOOKED_AT = 2_000
_LONG = 6  # letters that a word needs to be recognised in spite of a typing error
_BEGINNING = 3  # letters in which no typing error is looked for
_MOST_LONG = 5
_REMEMBERED = 45  # characters of a word that is likely to come again
_BITS = 2**63 - 1  # what a column of both databases holds


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
    must_agree: str  # kind, wants, schema, anchors and options in one
    is_verb_final: bool  # its language puts verbs last: any two words that changed places are another question

    @property
    def key(self) -> str:
        """Equal for equal normal forms, word for word."""
        parts = (self.must_agree, *self.words, "", *itertools.chain(*self.exact), "", *itertools.chain(*self.roles))
        return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()

    @property
    def bands(self) -> list[int]:
        """Two forms that `compare` calls the same have at least one of these in common.

        All words; and, since one long word may be misspelt, all the others with the beginning of that one. A set's
        number is the sum of its words'.
        """
        numbers = {word: _number(word) for word in self.words}
        whole = _digest_number(self.must_agree) + sum(numbers.values())
        misspelt = [whole - numbers[word] + _number(f"{word[:_BEGINNING]}…") for word in self.long]
        return sorted({total & _BITS for total in (whole, *misspelt)})

    @property
    def long(self) -> list[str]:
        """Words that are recognised in spite of a typing error; none in a text of many, where one tells little."""
        found = [word for word in dict.fromkeys(self.words) if len(word) >= _LONG and word[0] != "#"]
        return found if len(found) <= _MOST_LONG else []


def form(kind: str, title: str | None, text: str, options: Sequence[str] = (), schema: Any = None) -> Form:
    """The normal form of an ask; `schema` is decoded."""
    head, rest = text[:_LOOKED_AT], text[_LOOKED_AT:]
    found = read(f"{title}:\n{head}" if title else head)
    anchors = found.anchors
    if rest:
        anchors.append("…" + hashlib.blake2b(rest.encode("utf-8", "replace"), digest_size=16).hexdigest())
    if not anchors and not any(word not in EMPTY for word in found.words):
        # Nothing to go by: only the same text is the same question.
        anchors, found.words[:] = ["=" + " ".join(f"{title or ''} {text}".split()).casefold()], []
    anchored = tuple(sorted(anchors))
    offered = tuple(sorted({option_form(option) for option in options})) if options else ()
    shape = "" if schema is None else msgspec.json.encode(schema, order="sorted").decode()
    return Form(
        kind,
        tuple(found.words),
        found.shown,
        anchored,
        tuple(sorted(set(found.exact))),
        tuple(sorted(set(roles_of(found)))),
        found.wants,
        offered,
        shape,
        "\x1e".join((kind, found.wants, shape, "\x1f".join(anchored), "\x1f".join(offered))),
        found.is_verb_final,
    )


@functools.lru_cache(1_024)
def option_form(option: str) -> str:
    """The normal form of an option: two that differ in case, accents or punctuation alone are one."""
    words = folded(option).split()
    return " ".join(word.strip(".,;:!?") for word in words) or option


def is_like(a: Form, b: Form) -> bool:
    """Whether two asks are the same question: as `compare` says, but soon where they are not."""
    if a.must_agree != b.must_agree or len(a.words) != len(b.words):
        return False
    ours, theirs = set(a.words), set(b.words)
    if len(ours - theirs) > 1 or len(theirs - ours) > 1:
        return False
    if any(not _is_typo(one, other) for one in ours - theirs for other in theirs - ours):
        return False
    return _unlike(a, b) is None and compare(a, b).same


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
        if one in a.long and other in b.long and _is_typo(one, other):
            return Likeness(
                True, 0.9, f"the same words, with {_quoted([a.shown[one]])} taken for {_quoted([b.shown[other]])}"
            )
    only = [f"{_quoted(a.shown[word] for word in here)} only in one"] if here else []
    only += [f"{_quoted(b.shown[word] for word in there)} only in the other"] if there else []
    return Likeness(False, round(score * 0.9, 2), ", ".join(only))


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
    here, there = set(a.roles) - set(b.roles), set(b.roles) - set(a.roles)
    apart = {direction for direction, _ in here} & {direction for direction, _ in there}
    if apart:
        direction = min(apart)
        one, other = (min(word for known, word in roles if known == direction) for roles in (here, there))
        return (
            f'"{direction}" goes with {_quoted([a.shown[one]])} in one, with {_quoted([b.shown[other]])} in the other'
        )
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
    """Two words that have changed places around a third: client calls server, server calls client. Next to each other
    they may be in either order, unless they are numbers or names, or the verb comes last."""
    one = [word for word in a.words if word not in ASKING]
    other = [word for word in b.words if word not in ASKING]
    apart = [place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if len(apart) != 2 or len(one) != len(other):
        return None
    first, last = apart
    is_swap = one[first] == other[last] and one[last] == other[first]
    are_names = one[first][0] == one[last][0] == "#"
    is_near = last - first < 2 and not (are_names or a.is_verb_final or b.is_verb_final)
    if not is_swap or is_near or "or" in one[first + 1 : last]:
        return None
    return [a.shown[one[first]], a.shown[one[last]]]


def _is_typo(one: str, other: str) -> bool:
    """Whether one letter too many, too few, wrong, or two in the wrong order make one word of the other."""
    if one[:_BEGINNING] != other[:_BEGINNING] or abs(len(one) - len(other)) > 1:
        return False
    start = _BEGINNING
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    return (
        left[1:] == right[1:]
        or left[1:] == right
        or left == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )


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


def _digest_number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


_number_again = functools.lru_cache(16_384)(_digest_number)


def _number(word: str) -> int:
    return _number_again(word) if len(word) <= _REMEMBERED else _digest_number(word)
