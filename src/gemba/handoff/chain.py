"""The audit chain: entries whose hash covers every field of them and the hash of the one before.

Whoever changes, takes out, puts in or moves an entry breaks it at that place. Two things a chain alone cannot show,
a tail that was cut off and a chain that was written anew from some entry on: for these there is the anchor, a number
and a hash kept elsewhere. Pure: entries in, the first bad one out; the store reads and writes them, in this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from gemba.handoff.seal import digest


class Anchor(NamedTuple):
    """The number and hash of an entry, as remembered outside of the table."""

    number: int
    hash: str


BEGINNING = Anchor(0, "0" * 64)  # before the first entry


class Entry(NamedTuple):
    """One thing that happened. `body` is the text as it is stored, never decoded and encoded again."""

    number: int  # from 1, without gaps
    at: int
    kind: str
    actor: str
    ref: str
    body: str
    previous: str
    hash: str

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.number, self.hash)


What = Literal["edited", "missing", "repeated", "unlinked", "rewritten", "truncated"]


class Broken(NamedTuple):
    """The first entry that is not as it was written, what is wrong there, and a sentence that says so."""

    number: int
    what: What
    detail: str


def entry_after(head: Anchor, *, at: int, kind: str, actor: str, ref: str, body: str) -> Entry:
    """The entry that follows the head of a chain, `BEGINNING` in an empty one."""
    made = Entry(head.number + 1, at, kind, actor, ref, body, head.hash, "")
    return made._replace(hash=hash_entry(made))


def hash_entry(entry: Entry) -> str:
    """The hash that an entry must have."""
    fields = entry._asdict()
    del fields["hash"]
    return digest("audit", fields)


def verify(
    entries: Iterable[Entry], anchor: Anchor | None = None, *, after: Anchor = BEGINNING, earlier: Iterable[Anchor] = ()
) -> Broken | None:
    """The first bad entry of a chain as it is stored, or None. Reads each entry once and keeps none.

    `after` is a trusted entry where only the tail behind it is read; `earlier` anchors show where a chain that was
    written anew departs from what they remember.
    """
    anchors = {kept.number: kept.hash for kept in (*earlier, *([anchor] if anchor else ()))}
    head = after
    if broken := _departed(after, anchors):
        return broken
    for entry in entries:
        if broken := _broken(entry, head) or _departed(entry.anchor, anchors):
            return broken
        head = entry.anchor
    last = max(anchors, default=0)
    if head.number < last:
        number = head.number + 1
        return Broken(number, "truncated", f"the chain ends with entry {head.number}; entry {last} was there")
    return None


def _broken(entry: Entry, head: Anchor) -> Broken | None:
    """What is wrong with an entry that stands after this one."""
    number, expected = entry.number, head.number + 1
    if entry.hash != hash_entry(entry):
        return Broken(number, "edited", f"entry {number} is not what its hash was made of")
    if number > expected:
        return Broken(expected, "missing", f"entry {expected} is missing: after {head.number} comes {number}")
    if number < expected:
        return Broken(number, "repeated", f"entry {number} stands after entry {head.number}")
    if entry.previous != head.hash:
        return Broken(number, "unlinked", f"entry {number} does not follow the entry {head.number} that stands there")
    return None


def _departed(found: Anchor, anchors: dict[int, str]) -> Broken | None:
    number = found.number
    if anchors.get(number, found.hash) == found.hash:
        return None
    return Broken(number, "rewritten", f"entry {number} is not the one that was anchored: the chain was written anew")
