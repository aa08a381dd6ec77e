"""Checklists in Markdown as issues: `- [ ]` is open, `- [x]` done, `- [-]` cancelled; what is nested is a part. No I/O.

A heading above a checklist is an epic, or a milestone where its title begins with `M` and a number; one below another
is a part of it. Text that is indented under an entry is its description. An entry is known again by the titles above
it and its own: whoever rewrites one makes a new item.

A `plain` list needs no boxes: every entry without one is open. One that is called todo.txt and has no entries has one
on each line, as that format says: `x` in front is done, `(A)` is the first priority, dates are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from gemba.errors import Invalid
from gemba.work.interchange.lines import Bad, Found, Work, take
from gemba.work.interchange.sheet import made_id
from gemba.work.item import LONGEST_TITLE, LOWEST_PRIORITY, milestone_number

_ENTRY = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])\s+\[(?P<mark>[^\]])\]\s+(?P<title>\S.*)")
_UNBOXED = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d{1,9}[.)])\s+(?P<title>(?![-*_\s]+$)\S.*)")
_LINE = re.compile(r"(?P<done>x\s+)?(?:\((?P<priority>[A-Z])\)\s+)?(?:\d{4}-\d\d-\d\d\s+){0,2}(?P<title>\S.*)")
_LINES = "todo.txt"  # a file of that name is a list by its format alone
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})\s(?P<title>.*)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_STATUS = {" ": "open", "x": "closed", "X": "closed", "-": "tombstone"}
_DEEPEST = 100  # entries within each other


class _Node:
    """An entry or a heading, with where it stands: how deep, and below what."""

    def __init__(self, number: int, title: str, depth: int, above: _Node | None, status: str | None) -> None:
        self.number = number
        self.title = " ".join(title.split())[:LONGEST_TITLE]
        self.depth = depth
        self.above = above
        self.status = status  # of an entry
        self.priority: int | None = None
        self.text: list[str] = []
        self.used = status is not None  # a heading is, when there is an entry below it

    def path(self) -> tuple[str, ...]:
        return (*(self.above.path() if self.above else ()), self.title)


def read_checklist(file: str, text: str, prefix: str, *, plain: bool = False) -> Work:
    work = Work([], {}, [])
    ids: dict[int, str] = {}
    seen: dict[str, Found] = {}
    paths: Counter[tuple[str, ...]] = Counter()
    nodes = _nodes(file, text, work, plain)
    if plain and not any(node.used for node in nodes) and file.lower().endswith(_LINES):
        nodes = _lines(text)
    for node in nodes:
        if not node.used:
            continue
        path = node.path()
        paths[path] += 1
        ids[id(node)] = made_id(prefix, file.rpartition("/")[2], *path, str(paths[path]))
        try:
            take(work, seen, file, node.number, _issue(node, ids))
        except Invalid as error:
            work.bad.append(Bad(file, node.number, error.message))
    return work


def _lines(text: str) -> list[_Node]:
    """Every line by itself, as todo.txt has them."""
    nodes: list[_Node] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if found := _LINE.fullmatch(line.strip()):
            nodes.append(_Node(number, found["title"], 0, None, "closed" if found["done"] else "open"))
            if found["priority"]:
                nodes[-1].priority = min(ord(found["priority"]) - ord("A"), LOWEST_PRIORITY)
    return nodes


def _nodes(file: str, text: str, work: Work, plain: bool) -> list[_Node]:
    nodes: list[_Node] = []
    headings: list[_Node] = []
    entries: list[_Node] = []
    fence = ""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        fenced = _FENCE.match(line)
        if fence:
            if fenced and fenced[1].startswith(fence):
                fence = ""
        elif fenced:
            fence = fenced[1]
        elif heading := _HEADING.fullmatch(line):
            level, title = len(heading["level"]), heading["title"].strip().rstrip("#").rstrip()
            headings = [each for each in headings if each.depth < level]
            entries = []
            if title:
                above = headings[-1] if headings else None
                headings.append(_Node(number, title, level, above, None))
                nodes.append(headings[-1])
            continue
        elif entry := _entry(line.rstrip(), plain):
            mark = entry.groupdict().get("mark", " ")
            if mark not in _STATUS:
                reason = f"the mark is {mark!r}; allowed: [ ] open, [x] done, [-] cancelled"
                work.bad.append(Bad(file, number, reason))
                continue
            depth = len(entry["indent"].expandtabs(4))
            entries = [each for each in entries if each.depth < depth]
            if len(entries) == _DEEPEST:
                work.bad.append(Bad(file, number, f"it stands within more than {_DEEPEST} others"))
                continue
            above = entries[-1] if entries else headings[-1] if headings else None
            entries.append(_Node(number, entry["title"], depth, above, _STATUS[mark]))
            nodes.append(entries[-1])
            for each in headings:
                each.used = True
            continue
        if entries and (not line.strip() or len(line) - len(line.lstrip()) > entries[-1].depth):
            entries[-1].text.append(line)
        elif line.strip():
            entries = []
    return nodes


def _entry(line: str, plain: bool) -> re.Match[str] | None:
    found = _ENTRY.fullmatch(line)
    return _UNBOXED.fullmatch(line) if found is None and plain else found


def _issue(node: _Node, ids: dict[int, str]) -> dict[str, Any]:
    kind = "task" if node.status else "milestone" if milestone_number(node.title) is not None else "epic"
    given: dict[str, Any] = {
        "id": ids[id(node)],
        "title": node.title,
        "status": node.status or "open",
        "issue_type": kind,
    }
    if node.priority is not None:
        given["priority"] = node.priority
    lines = [line.rstrip() for line in node.text]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    description = "\n".join(line[indent:] for line in lines).strip("\n")
    if description:
        given["description"] = description
    if node.above is not None and id(node.above) in ids:
        parent = ids[id(node.above)]
        given["dependencies"] = [{"issue_id": given["id"], "depends_on_id": parent, "type": "parent-child"}]
    return given
