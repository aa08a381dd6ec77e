"""Files of lines, each a JSON object: issues of the `bd` tracker, and dependencies that stand in a file of their own.

A line that cannot be read is named with its number and stops none of the others. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from gemba.collector import Paused
from gemba.errors import Invalid
from gemba.work.interchange.issue import Issue, read_issue, read_link
from gemba.work.item import clean_extras

_MARKS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class Bad(NamedTuple):
    """A line that is not imported, and why."""

    file: str
    line: int
    reason: str


class Found(NamedTuple):
    """An issue with the place it was read from, and what was written there."""

    file: str
    line: int
    issue: Issue
    given: dict[str, Any]


class Work(NamedTuple):
    """What files have together: issues in their order, each id once; `apart` has the dependencies of separate lines, by
    the issue that depends."""

    issues: list[Found]
    apart: dict[str, list[dict[str, Any]]]
    bad: list[Bad]


def read_lines(files: Iterable[tuple[str, str]]) -> Work:
    """The work in files of lines, each with its name."""
    with Paused():
        return _read_lines(files)


def _read_lines(files: Iterable[tuple[str, str]]) -> Work:
    work = Work([], {}, [])
    seen: dict[str, Found] = {}
    for file, text in files:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line == "\ufeff":
                continue
            try:
                given = _object(line.removeprefix("\ufeff"))
                if "depends_on_id" in given and "title" not in given:
                    link = read_link(given, None, "the dependency")
                    work.apart.setdefault(link.issue_id, []).append(given)
                else:
                    take(work, seen, file, number, given)
            except Invalid as error:
                work.bad.append(Bad(file, number, error.message))
    return work


def take(work: Work, seen: dict[str, Found], file: str, number: int, given: dict[str, Any]) -> None:
    """One more issue. The same once more is passed over; another with an id that was there is refused."""
    found = Found(file, number, read_issue(given), given)
    clean_extras(found.issue.line, "what is kept of it")
    first = seen.setdefault(found.issue.id, found)
    if first is found:
        work.issues.append(found)
    elif first.issue.digest != found.issue.digest:
        where = f"line {first.line}" if first.file == file else f"line {first.line} of {first.file}"
        raise Invalid(f"{found.issue.id} stands on {where} already, with other words", code="repeated_id")


def _object(line: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        what = "the mark of a merge conflict" if line.startswith(_MARKS) else f"not JSON: {error}"
        raise Invalid(f"it is {what}", code="malformed_json") from None
    if not isinstance(given, dict):
        raise Invalid("it is not a JSON object", code="invalid_value")
    return given
