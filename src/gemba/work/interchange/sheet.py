"""A sheet (CSV) as issues: a header row names the columns, each row below is an issue. No I/O.

A column with a name that is not known is kept with its item. A row without an id of its own gets one from its title,
so that the same row is the same item when the sheet comes again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from typing import Any

from gemba.errors import Invalid
from gemba.work.interchange.issue import OURS, WORDS
from gemba.work.interchange.lines import Bad, Found, Work, take
from gemba.work.item import State

_NAMES = {
    "name": "title",
    "summary": "title",
    "type": "issue_type",
    "kind": "issue_type",
    "state": "status",
    "acceptance": "acceptance_criteria",
    "owner": "assignee",
    "label": "labels",
    "tags": "labels",
    "depends_on": "blocked_by",
    "parent_id": "parent",
}
_LISTS = ("labels", "blocked_by")
_MARKS = {";": "a semicolon", "\t": "a tab", "|": "a bar"}
_BD_WORDS = ("open", "in_progress", "hooked", "closed", "blocked", "deferred", "pinned", "tombstone")
_LONGEST_CELL = 1_000_000


def read_sheet(file: str, text: str, prefix: str) -> Work:
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    work = Work([], {}, [])
    seen: dict[str, Found] = {}
    titles: Counter[str] = Counter()
    try:
        columns = _columns(file, next(rows, []))
        start = rows.line_num + 1
        for cells in rows:
            number, start = start, rows.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            try:
                take(work, seen, file, number, _issue(columns, cells, prefix, titles))
            except Invalid as error:
                work.bad.append(Bad(file, number, error.message))
    except csv.Error as error:  # what follows a broken quote cannot be told apart
        work.bad.append(Bad(file, rows.line_num, f"the sheet cannot be read any further: {error}"))
    return work


def made_id(prefix: str, *words: str) -> str:
    """An id for what has none, the same each time that it is read."""
    return f"{prefix}-{hashlib.sha256(chr(0).join(words).encode(errors='replace')).hexdigest()[:10]}"


def _columns(file: str, header: list[str]) -> list[str]:
    names = [re.sub(r"[\s-]+", "_", cell.strip().lower()) for cell in header]
    columns = [_NAMES.get(name, name) for name in names]
    if "title" not in columns:
        found = ", ".join(name for name in names if name)[:200] or "nothing"
        mark = next((each for each in (";", "\t", "|") if len(names) == 1 and each in header[0]), None)
        apart = f"; a comma stands between columns here, not {_MARKS[mark]}" if mark else ""
        raise Invalid(
            f"{file}:1: the first row names the columns, and one of them is title; found: {found}{apart}",
            code="no_title_column",
            found=found,
            allowed="title, and any of id, description, status, priority, type, labels, assignee, parent, blocked_by",
        )
    twice = [name for name, many in Counter(columns).items() if many > 1 and name]
    if twice:
        raise Invalid(f"{file}:1: two columns are called {twice[0]}", code="repeated_column", found=twice[0])
    return columns


def _issue(columns: list[str], cells: list[str], prefix: str, titles: Counter[str]) -> dict[str, Any]:
    if len(cells) > len(columns):
        raise Invalid(f"the row has {len(cells)} cells, and the header {len(columns)}", code="invalid_value")
    given: dict[str, Any] = {
        name: cell.strip() for name, cell in zip(columns, cells, strict=False) if name and cell.strip()
    }
    title = given.get("title", "")
    titles[title] += 1
    id = given.setdefault("id", made_id(prefix, title, str(titles[title])))
    for name in _LISTS:
        if name in given:
            given[name] = [word for word in re.split(r"\s*[,;]\s*", given[name]) if word]
    if "priority" in given:
        given["priority"] = _number(given["priority"])
    if "status" in given:
        given |= _status(given["status"])
    if "issue_type" in given:
        given["issue_type"] = given["issue_type"].lower()
    links = [("blocks", other) for other in given.pop("blocked_by", ())]
    links += [("parent-child", given.pop("parent"))] if "parent" in given else []
    if links:
        given["dependencies"] = [{"issue_id": id, "depends_on_id": other, "type": type_} for type_, other in links]
    return given


def _number(cell: str) -> int:
    found = re.fullmatch(r"[Pp]?([0-4])", cell)
    if found is None:
        raise Invalid(f"priority is {cell[:40]!r}; allowed: 0 to 4, or P0 to P4", code="invalid_value")
    return int(found[1])


def _status(cell: str) -> dict[str, Any]:
    """A word of the tracker's, or a state of Gemba's."""
    word = re.sub(r"[\s-]+", "_", cell.lower())
    if word in _BD_WORDS:
        return {"status": word}
    if word in list(State):
        return {"status": WORDS[State(word)], OURS: {"state": word}}
    allowed = ", ".join(sorted({*_BD_WORDS, *State}))
    raise Invalid(f"status is {cell[:40]!r}; allowed: {allowed}", code="invalid_value")
