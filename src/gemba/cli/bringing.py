"""Work that was read from files, brought through the door in pieces, and what became of it in words.

Each piece is a transaction: who is interrupted runs it again, and what was brought already is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gemba.cli.door import Door
from gemba.collector import Paused
from gemba.errors import Invalid, Unusable
from gemba.text import one_line, showable

if TYPE_CHECKING:
    from gemba.config import Settings
    from gemba.work.interchange.lines import Found, Work
    from gemba.work.interchange.order import Piece

_MOST = 2_000
_LARGEST = 200 * 1024 * 1024
_WIDTH = 400
_SHOWN = 3  # places of a word that is not known
_GONE_SHOWN = 20
_PAGE = 500


class Brought(NamedTuple):
    """What became of issues; each row has the file and the line that it is about. `gone` are the open items that an
    earlier import made of the file, and of which no line is in it any more."""

    created: list[dict[str, Any]]
    changed: list[dict[str, Any]]
    kept: list[dict[str, Any]]
    bad: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    unknown_words: list[dict[str, Any]]
    unchanged: int
    gone: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        return {**self._asdict(), "created": len(self.created), "created_ids": [row["id"] for row in self.created]}

    def counted(self) -> str:
        counts = {"made": len(self.created), "changed": len(self.changed), "unchanged": self.unchanged}
        named = {"kept as they are here": len(self.kept), "bad": len(self.bad)}
        words = [f"{many:,} {word}" for word, many in counts.items()]
        return ", ".join([*words, *(f"{many:,} {word}" for word, many in named.items() if many)])

    def trouble(self) -> list[str]:
        """One line for each thing that a person should know of."""
        lines = [f"bad: {_place(row)}: {row['reason']}" for row in self.bad]
        lines += [f"kept: {row['id']} ({_place(row)}): {row['reason']}" for row in self.kept]
        lines += [f"taken over: {row['id']} ({_place(row)}): {row['reason']}" for row in self.changed if row["reason"]]
        for row in self.left_out:
            lines.append(
                f"left out: {row['issue_id']} depends on {row['depends_on_id']} ({row['type']}): {row['reason']}"
            )
        return [one_line(line, _WIDTH) for line in [*lines, *self._unknown(), *self._gone()]]

    def _gone(self) -> list[str]:
        lines = [f"no longer in {row['file']}: {row['id']}, {row['title']}" for row in self.gone[:_GONE_SHOWN]]
        if len(self.gone) > _GONE_SHOWN:
            lines.append(f"no longer in {self.gone[0]['file']}: {len(self.gone) - _GONE_SHOWN:,} more; --json has all")
        if self.gone:
            are = "this item stays open" if len(self.gone) == 1 else "these items stay open"
            lines.append(f"{are}, as a line that was renamed is a new item; gemba item close ID closes what is meant")
        return lines

    def _unknown(self) -> list[str]:
        """One line for each word, however many issues have it."""
        places: dict[tuple[str, str, str], list[str]] = {}
        for row in self.unknown_words:
            where = _place(row) if row["line"] is not None else f"a dependency of {row['id']}"
            places.setdefault((row["field"], row["found"], row["taken_as"]), []).append(where)
        return [
            f"unknown: {field} {one_line(found, 60)!r} was taken as {taken_as}, and is kept: {_some(at)}"
            for (field, found, taken_as), at in places.items()
        ]


def words_not_known(work: Work) -> list[dict[str, Any]]:
    """Those of the lines themselves, before anything is brought."""
    return [
        {**_where(found), "id": found.issue.id, "field": word.field, "found": word.found, "taken_as": word.taken_as}
        for found in work.issues
        for word in found.issue.unknown
    ]


def nothing(bad: Sequence[dict[str, Any]] = ()) -> Brought:
    """Nothing was brought yet."""
    return Brought([], [], [], list(bad), [], [], 0, [])


def read_text(file: str) -> str:
    """A file as text; what is not UTF-8 in it stays visible to whoever reads the lines."""
    if file == "-":
        from gemba.cli.answer import standard_input

        return standard_input()
    path = Path(file)
    if path.is_dir():
        raise Unusable(f"{showable(file)} is a folder; give the file in it", code="not_a_file")
    if path.stat().st_size > _LARGEST:
        raise Invalid(f"{showable(file)} has more than {_LARGEST:,} bytes", code="file_too_large")
    return path.read_bytes().decode("utf-8", "surrogateescape")


def bring(
    door: Door, work: Work, name: str, settings: Settings, prefer: str = "newer", *, whole: bool = False
) -> Brought:
    """Bring all of it, what others need first; then what had to wait for something behind it, once more. `whole`: the
    file is all there is, so that what was made of it before and has no line in it is told."""
    with Paused():
        brought = _bring(door, work, name, settings, prefer)
    was_here = brought.unchanged or brought.changed or brought.kept or not brought.created
    # Which item a line is of that cannot be read, nobody knows.
    is_told = whole and was_here and not brought.bad
    return brought._replace(gone=_no_longer(door, work, name)) if is_told else brought


def _no_longer(door: Door, work: Work, name: str) -> list[dict[str, Any]]:
    here = {each.issue.id for each in work.issues}
    gone: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        page = door.get("/api/work-items/imported", name=name[:500], after=after or None, limit=_PAGE)
        gone += [{"file": name, "line": None, **row} for row in page["items"] if row["id"] not in here]
        after = page["next_after"]
    return gone


def _bring(door: Door, work: Work, name: str, settings: Settings, prefer: str) -> Brought:
    from gemba.work.interchange.lines import Work
    from gemba.work.interchange.order import pieces

    brought = nothing([bad._asdict() for bad in work.bad])
    unchanged, largest = 0, settings.server.max_body_bytes * 3 // 4
    for piece in pieces(work, _MOST, largest):
        unchanged += _bring_piece(door, piece, name, prefer, brought)
    here = {each.issue.id: each for each in work.issues}
    late = [row for row in brought.left_out if row["code"] == "unknown_item" and row["depends_on_id"] in here]
    again = dict.fromkeys(row["issue_id"] for row in late if row["issue_id"] in here)
    if again:
        brought.left_out[:] = [row for row in brought.left_out if row["issue_id"] not in again]
        apart = {id: work.apart[id] for id in again if id in work.apart}
        rest = nothing()._replace(left_out=brought.left_out)
        for piece in pieces(Work([here[id] for id in again], apart, []), _MOST, largest):
            _bring_piece(door, piece, name, prefer, rest)
        brought.bad.extend(rest.bad)
    return brought._replace(unchanged=unchanged)


def _bring_piece(door: Door, piece: Piece, name: str, prefer: str, brought: Brought) -> int:
    body = {
        "name": name[:500],
        "issues": [each.given for each in piece.issues],
        "apart": piece.apart,
        "places": piece.places,
        "prefer": prefer,
    }
    done = door.post("/api/work-items/import", body)
    rows = {"created": brought.created, "changed": brought.changed, "kept": brought.kept, "refused": brought.bad}
    for outcome in done["outcomes"]:
        place = outcome.pop("place")
        found = piece.issues[place] if place >= 0 else None
        rows[outcome.pop("outcome")].append({**_where(found), **outcome})
    brought.left_out.extend(done["left_out"])
    for word in done["unknown_words"]:
        place = word.pop("place")
        brought.unknown_words.append({**_where(piece.issues[place] if place >= 0 else None), **word})
    unchanged: int = done["unchanged"]
    return unchanged


def _where(found: Found | None) -> dict[str, Any]:
    if found is None:
        return {"file": None, "line": None}
    return {"file": found.file, "line": found.line, "title": found.issue.values["title"]}


def _some(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more


def _place(row: dict[str, Any]) -> str:
    return "a dependency" if row["line"] is None else f"{row['file']}:{row['line']}"
