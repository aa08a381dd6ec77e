"""A memory: something that an agent wants remembered, and a person's word on it. Types, state table, names; no I/O.

`read_suggestions` takes whatever an accepted envelope holds and never raises: what is no suggestion is left out, what
is too long is cut where the person sees it, a type or class that nobody knows is kept as it was written. What two
suggestions have in common when they say the same is their `key`. Called by `memories`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, Literal

import msgspec

from gemba import text, wire
from gemba.errors import Invalid
from gemba.handoff import entries, fields
from gemba.handoff.envelope import ATOM, MOST_QUOTED, THREAD
from gemba.handoff.seal import digest
from gemba.machine import Machine

MOST_SUGGESTIONS = 200  # of one envelope; a person decides each of them
LONGEST_BODY = 10_000  # characters: a note, not a document; a prompt takes fewer
LONGEST_SLUG = 64
_LONGEST_MADE = 40  # of one that is made of a description, which may be a whole sentence
_LONGEST_LINE = wire.MAX_TITLE
_LONGEST_WORD = 40  # of a type or class that nobody knows
_PLAIN = re.compile("[a-z0-9]+")
_SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")

Type = Literal["atom", "decision", "negative"]
Class = Literal["anchor", "thread", "log"]


class MemoryState(StrEnum):
    SUGGESTED = "suggested"  # it waits for a person
    ACCEPTED = "accepted"  # it is remembered: later envelopes carry it
    REJECTED = "rejected"  # it is not, and is not offered again


M = MemoryState
MEMORY = Machine(
    "the memory",
    {
        (M.SUGGESTED, "accepted"): M.ACCEPTED,
        (M.SUGGESTED, "rejected"): M.REJECTED,
        (M.ACCEPTED, "reopened"): M.SUGGESTED,
        (M.REJECTED, "reopened"): M.SUGGESTED,
    },
)


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent suggests, as it can be stored."""

    description: str
    body: str
    slug: str
    type: str
    class_: str
    rationale: str
    key: str  # the same for whatever says the same: white space, and how it is filed, make no difference


def read_suggestions(document: dict[str, Any]) -> Iterator[Suggestion]:
    """The suggestions of an envelope in their order: the described ones, then the bare texts."""
    yield from map(_suggestion, entries.suggestions_of(document))
    texts = document.get("memory_suggestions")
    for words in texts if isinstance(texts, list) else ():
        if isinstance(words, str) and words.strip():
            yield _suggestion({"description": words, "body": words})


def _suggestion(entry: dict[str, Any]) -> Suggestion:
    description, body = entry["description"], entry["body"]
    key = digest("memory", {"description": " ".join(description.split()), "body": " ".join(body.split())})
    return Suggestion(
        description=_line(description, _LONGEST_LINE),
        body=_cut(body),
        slug=slug_of(entry.get("slug") or "") or slug_of(description, _LONGEST_MADE) or f"memory-{key[:8]}",
        type=_line(entry.get("type") or "", _LONGEST_WORD) or ATOM,
        class_=_line(entry.get("class") or "", _LONGEST_WORD) or THREAD,
        rationale=_cut(entry.get("rationale") or ""),
        key=key,
    )


# ---- names -----------------------------------------------------------------------------------------------------------


def slug_of(words: str, longest: int = LONGEST_SLUG) -> str:
    """A name made of words: small ASCII letters and digits with hyphens in between. Empty where there are none."""
    plain = unicodedata.normalize("NFKD", words[:_LONGEST_LINE].casefold()).encode("ascii", "ignore").decode()
    slug = ""
    for word in _PLAIN.findall(plain.replace("'", "")):
        longer = f"{slug}-{word}" if slug else word[:longest]
        if len(longer) > longest:
            break
        slug = longer
    return slug


def check_slug(slug: str) -> str:
    """A name that a person gave, or why it is none."""
    if len(slug) > LONGEST_SLUG or not _SLUG.fullmatch(slug):
        near = slug_of(slug)
        raise Invalid(
            f"slug is {slug[:80]!r}; allowed: small letters and digits with single hyphens in between, "
            f"at most {LONGEST_SLUG}" + (f", such as {near}" if near else ""),
            code="invalid_value",
            pointer="/slug",
            found=slug[:80],
            allowed=_SLUG.pattern,
        )
    return slug


def numbered(slug: str, is_taken: Callable[[str], bool]) -> str:
    """The slug, or the first of slug-2, slug-3, … that is not taken."""
    number, free = 1, slug
    while is_taken(free):
        number += 1
        end = f"-{number}"
        free = slug[: LONGEST_SLUG - len(end)].rstrip("-") + end
    return free


# ---- what to say of one ----------------------------------------------------------------------------------------------


def warnings_about(type_: str, class_: str, body: str) -> list[str]:
    """What a person should know before it is remembered."""
    said = []
    for name, value, field in (("type", type_, fields.MEMORY_TYPE), ("class", class_, fields.MEMORY_CLASS)):
        if value not in field.allowed:
            like = ", and counts as a thread" if name == "class" else ""
            said.append(f"{name} is {value!r}, which is none of {', '.join(field.allowed)}; it is kept{like}")
    if len(body) > MOST_QUOTED:
        said.append(f"the body has {len(body):,} characters; a prompt takes {MOST_QUOTED:,}, so it is only named there")
    return said


# ---- words -----------------------------------------------------------------------------------------------------------


def _line(words: str, longest: int) -> str:
    flat = " ".join(text.storable(words).split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def _cut(words: str) -> str:
    kept = text.storable(words).strip()
    if len(kept) <= LONGEST_BODY:
        return kept
    end = f"\n… (cut here: {len(kept):,} characters were suggested)"
    return kept[: LONGEST_BODY - len(end)] + end
