"""What a revision of a section tells of itself: its changes and warnings, as many as a person looks through.

The history is for people and takes bounded room: `listed` shortens long values and counts what it leaves out, `few`
does so for warnings. What a section was before and after is kept whole elsewhere. Pure. Called by `contracts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from gemba.handoff.merge import Change as MergeChange
from gemba.handoff.value import Numbers

MOST_BYTES = 128 * 1024  # of the changes of one revision, as JSON
LONGEST = 16 * 1024  # bytes of one change
MOST_WARNINGS = 200  # of one kind, of one update
MOST_WARNED = 32 * 1024  # bytes of these


class ContextWarning(msgspec.Struct, frozen=True):
    """What a person should look at: LIVE_STATE, or MERGE for what the merge had to decide."""

    code: Literal["LIVE_STATE", "MERGE"]
    pointer: str  # /<section>/… in all that is known
    message: str


class ContextChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place of a section that is different since: what was added has no `before`, what was removed no `after`.

    `shortened`: they are too long; of a list only the items are there that the other has not, else neither is.
    """

    pointer: str  # in the section
    kind: Literal["added", "merged", "united", "overwritten", "removed"]
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET
    shortened: bool = False


class Listed(msgspec.Struct, frozen=True):
    """The first changes of a revision, and how many more there are."""

    changes: list[ContextChange]
    unlisted: int = 0

    def reversed(self) -> Listed:
        return Listed([_reversed(change) for change in reversed(self.changes)], self.unlisted)


def change_of(change: MergeChange) -> ContextChange:
    return ContextChange(change["pointer"], change["kind"], change.get("before", msgspec.UNSET), change["after"])


def listed(changes: Iterable[ContextChange]) -> Listed:
    told: list[ContextChange] = []
    room, unlisted = MOST_BYTES, 0
    for change in changes:
        if room > 0:
            change, size = _bounded(change)
            room -= size
        if room >= 0 and not unlisted:
            told.append(change)
        else:
            unlisted += 1
            room = 0
    return Listed(told, unlisted)


def few(warnings: Sequence[ContextWarning], name: str) -> list[ContextWarning]:
    """The first warnings of one kind about a section, and how many more there are."""
    told: list[ContextWarning] = []
    room = MOST_WARNED
    for warning in warnings[:MOST_WARNINGS]:
        room -= len(msgspec.json.encode(warning))
        if room < 0:
            break
        told.append(warning)
    if left := len(warnings) - len(told):
        told.append(ContextWarning(warnings[0].code, f"/{name}", f"{left:,} more like these are not listed"))
    return told


def _reversed(change: ContextChange) -> ContextChange:
    kind = {"added": "removed", "removed": "added"}.get(change.kind, change.kind)
    return msgspec.structs.replace(change, kind=kind, before=change.after, after=change.before)


def _bounded(change: ContextChange) -> tuple[ContextChange, int]:
    """The change, shortened where it is too long, and how many bytes it takes."""
    size = len(msgspec.json.encode(change))
    if size > LONGEST and isinstance(change.before, list) and isinstance(change.after, list):
        change = _with_items_that_differ(change, change.before, change.after)
        size = len(msgspec.json.encode(change))
    if size > LONGEST:
        change = ContextChange(change.pointer, change.kind, shortened=True)
        size = len(msgspec.json.encode(change))
    return change, size


def _with_items_that_differ(change: ContextChange, before: list[Any], after: list[Any]) -> ContextChange:
    numbers = Numbers()
    olds, news = [numbers.of(item) for item in before], [numbers.of(item) for item in after]
    in_olds, in_news = set(olds), set(news)
    gone = [item for item, number in zip(before, olds, strict=True) if number not in in_news]
    come = [item for item, number in zip(after, news, strict=True) if number not in in_olds]
    return ContextChange(change.pointer, change.kind, gone, come, shortened=True)
