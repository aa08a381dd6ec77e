"""The files that an envelope says were produced, written or modified, looked for in its folder.

Where a path leads is what counts: one that leaves the folder, by `..` or a link, is a failed check and is not opened.
Never raises, never waits at a pipe. Called by `world.py`.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from gemba.handoff.check import Answer, Check, check, claims_in, shown
from gemba.handoff.evidence import whole_number
from gemba.handoff.snapshot import Before, FileState, Reading, Snapshot, states_before

_LONGEST_PATH = 4096
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_MISSING = "it does not exist"


class Place(NamedTuple):
    """Where a path leads, relative to the folder, and the link that it is, if it is one; else why there is no such."""

    real: str | None = None
    link: str | None = None
    trouble: str = ""


class Judged(NamedTuple):
    answer: Answer
    found: str
    note: str = ""


class Change(NamedTuple):
    """A file that was claimed to be modified: how it was, and how it is now."""

    item: object
    judged: Judged
    before: Before = Before()
    now: FileState | None = None


class ClaimedFiles:
    """What one envelope claims about files. Each of them is read once, however many checks look at it."""

    def __init__(self, folder: Path, snapshot: Snapshot, verification: dict[str, object]) -> None:
        self._snapshot, self._verification, self._reading = snapshot, verification, Reading()
        self._root = _resolved(folder) or folder

    def existing(self, name: str) -> Iterator[Check]:
        """That what was produced or written is there: a regular file with something in it."""
        items, faults = claims_in(name, self._verification.get(name))
        for item in items:
            place = self._locate(item)
            judged = Judged("failed", place.trouble) if place.real is None else _look_at(self._root / place.real)
            yield check(name, _path_in(item), judged.found, judged.answer)
        yield from faults

    def modified(self) -> Iterator[Check]:
        """That what was modified differs from what it was when the dispatch began."""
        for change in self._changes:
            answer, found, note = change.judged
            yield check("files_modified", _path_in(change.item), found, answer, note)
        yield from claims_in("files_modified", self._verification.get("files_modified"))[1]

    def line_counts(self) -> Iterator[Check]:
        """That what was modified had and has as many lines as was claimed; no check where nothing was."""
        for change in self._changes:
            claimed = change.item if isinstance(change.item, dict) else {}
            before, after = claimed.get("lines_before"), claimed.get("lines_after")
            if before is None and after is None:
                continue
            ends = (_count_before(before, change.before), _count(after, change.now))
            answers = {end.answer for end in ends}
            answer: Answer = "failed" if "failed" in answers else "unknown" if "unknown" in answers else "ok"
            words = f"{shown(before)} → {shown(after)} lines in {shown(_path_in(change.item))}"
            notes = "; ".join(end.note for end in ends if end.note)
            yield check("line_counts", words, f"{ends[0].found} → {ends[1].found} lines", answer, notes)

    @cached_property
    def _changes(self) -> list[Change]:
        items, _ = claims_in("files_modified", self._verification.get("files_modified"))
        places = [self._locate(item) for item in items]
        paths = {path for place in places for path in (place.real, place.link) if path is not None}
        before = states_before(self._root, self._snapshot, sorted(paths))
        return [self._change(item, place, before) for item, place in zip(items, places, strict=True)]

    def _change(self, item: object, place: Place, before: dict[str, Before]) -> Change:
        if place.real is None:
            return Change(item, Judged("failed", place.trouble))
        now = self._reading.state(self._root / place.real)
        judged = self._judge(place.real, before[place.real], now)
        if place.link is not None and judged.answer != "ok":
            link = self._judge(place.link, before[place.link], self._reading.state(self._root / place.link))
            judged = link._replace(note="the link itself") if link.answer == "ok" else judged
        return Change(item, judged, before[place.real], now)

    def _judge(self, path: str, before: Before, now: FileState | None) -> Judged:
        if now is None:
            return Judged("failed", _MISSING) if before.state is None else Judged("ok", "it was deleted")
        if now.kind == "other":
            return Judged("failed", "it is no regular file")
        if before.trouble is not None:
            return Judged("unknown", "it is there", before.trouble)
        if before.state is None:
            return Judged("ok", "it is new")
        same = now.same_as(before.state)
        if same is False and before.committed and now.sha256 != before.state.sha256:
            same = self._reading.differs_in_newlines_alone(self._root / path, before.state)
        if same is None:
            return Judged("unknown", "it is as large as it was", "it is too large to be compared")
        return Judged("failed", "it is as it was when the dispatch began") if same else Judged("ok", "it was changed")

    def _locate(self, item: object) -> Place:
        path = _path_in(item)
        if not isinstance(path, str) or not path.strip() or len(path) > _LONGEST_PATH:
            return Place(trouble="it is no path")
        real = _resolved(self._root / path)
        if real is None:
            return Place(trouble="it is no path that can be followed")
        if not real.is_relative_to(self._root):
            return Place(trouble="it is outside the folder")
        return Place(real.relative_to(self._root).as_posix(), self._link(self._root / path))

    def _link(self, path: Path) -> str | None:
        """The path as a link of the folder, all but its last part followed."""
        folder = _resolved(path.parent)
        try:
            inside = folder is not None and folder.is_relative_to(self._root) and path.is_symlink()
        except OSError:
            return None
        return (folder / path.name).relative_to(self._root).as_posix() if folder is not None and inside else None


def _path_in(item: object) -> object:
    """An item is a path, or an object that has one."""
    return item.get("path") if isinstance(item, dict) and item.get("path") is not None else item


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL, a name that is too long
        return None


def _look_at(path: Path) -> Judged:
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Judged("failed", _MISSING)
    except OSError as error:
        return Judged("failed", f"it cannot be looked at: {error.strerror}")
    if not stat.S_ISREG(found.st_mode):
        return Judged("failed", f"it is {_KINDS.get(stat.S_IFMT(found.st_mode), 'no regular file')}")
    return Judged("ok", f"{found.st_size:,} bytes") if found.st_size else Judged("failed", "it is empty")


def _count_before(claimed: object, before: Before) -> Judged:
    if before.trouble is not None and claimed is not None:
        return Judged("unknown", "?", before.trouble)
    judged = _count(claimed, before.state)
    # Under another name it may have had lines.
    renamed = judged.answer == "failed" and before.state is None
    return judged._replace(answer="unknown", note="it was not there under this name") if renamed else judged


def _count(claimed: object, state: FileState | None) -> Judged:
    if claimed is None:
        return Judged("ok", "null")
    counts = frozenset({0}) if state is None else state.line_counts
    if not counts:
        return Judged("unknown", "?", "its lines cannot be counted")
    number = whole_number(claimed)
    answer: Answer = "unknown" if number is None else "ok" if number in counts else "failed"
    return Judged(answer, f"{number if answer == 'ok' else max(counts)}")
