"""Is all there that was asked for? Computed checks of completeness; pure. Called by `measuring.py`.

A survey in the place of what was asked for has none of it: then nothing else is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gemba.teams.gates import Dimension
from gemba.teams.measures.row import ALL, ARTIFACT, CODE, Found, Row, named, none_of
from gemba.teams.seen import Seen
from gemba.teams.submitted import ARTIFACTS, ChangedFile

_STUB = re.compile(
    r"raise NotImplementedError|\btodo!\(|\bunimplemented!\("
    r"|\b(?:Error|panic|die|fail)\(\W?\W?(?:not implemented|todo)\b",
    re.IGNORECASE,
)


def _done(seen: Seen) -> Found | None:
    return Found(False, f"surveyed only: {seen.said.surveyed}") if seen.said.surveyed else None


def _of_what_was_asked(look: Callable[[Seen], Found | None]) -> Callable[[Seen], Found | None]:
    return lambda seen: None if seen.said.surveyed else look(seen)


def _artifact(seen: Seen) -> Found:
    if seen.artifacts:
        return Found(True, named(f"{each.name} with {each.size:,} bytes" for each in seen.artifacts))
    empty = [each.name for each in seen.work.artifacts if each.name.startswith(f"{seen.work.task_id}-")]
    if empty:
        return Found(False, f"nothing stands in {named(sorted(empty))}")
    return Found(False, f"no {seen.work.task_id}-….md lies in {ARTIFACTS}/")


def _headed(seen: Seen) -> Found | None:
    if not seen.artifacts:
        return None
    without = [each.name for each, page in zip(seen.artifacts, seen.pages, strict=True) if not page.headings]
    return none_of(without, "no heading stands in", "every artifact has a heading")


def _changed(seen: Seen) -> Found:
    if not seen.has_changed:
        return Found(False, "no file differs from the commit at which the task began")
    if not seen.work.compared:
        return Found(True, "files were changed as claimed; no commit tells what else was")
    return Found(True, f"changed: {named(each.path for each in seen.changed)}")


def _acceptance(seen: Seen) -> Found | None:
    many = len(seen.work.acceptance)
    if not many:
        return None
    missed = seen.missed_criteria
    words = f"{len(missed)} of {many} criteria are not spoken of, or not checked"
    return none_of(missed, words, f"all {many} criteria are spoken of")


def _no_steps_left(seen: Seen) -> Found:
    return none_of(seen.said.pending, "it is called complete, and says itself that steps are left", "no step is left")


def _no_gaps_left(seen: Seen) -> Found:
    return none_of(seen.said.gaps, "it is called complete, and says itself what is open", "no gap is left open")


def _no_stubs(seen: Seen) -> Found | None:
    if not seen.sources:
        return None
    return none_of(stubs_in(seen), "added, and not implemented", "nothing that was added is left unimplemented")


def stubs_in(seen: Seen) -> Iterator[str]:
    """Where something was added that only says that it is not there yet; a method that others implement is none."""
    for file in seen.sources:
        for line in file.lines.splitlines():
            if _STUB.search(line) and not _is_abstract(file, line):
                yield f"{file.path} ({line.strip()[:60]})"


def _is_abstract(file: ChangedFile, line: str) -> bool:
    return "NotImplementedError" in line and ("abstract" in file.text or "Protocol" in file.text)


D = Dimension.COMPLETENESS
_ROWS = (
    Row("artifact written", D, ARTIFACT, _artifact, "An artifact of the task is there, and something stands in it."),
    Row("artifact headed", D, ARTIFACT, _headed, "Every artifact has a heading."),
    Row("something changed", D, CODE, _changed, "A file of the project is not as it was when the task began."),
    Row("no stubs", D, CODE, _no_stubs, "No added line only says that something is not implemented yet."),
    Row(
        "acceptance",
        D,
        ALL,
        _acceptance,
        "Each acceptance criterion is spoken of: half of its own words, or more, stand in what was written; and the"
        " envelope says of none that nothing has checked it.",
    ),
    Row("no steps left", D, ALL, _no_steps_left, "The envelope lists no pending step."),
    Row("no gaps left", D, ALL, _no_gaps_left, "The envelope lists no open gap."),
)
ROWS = (
    Row(
        "not only surveyed",
        D,
        ALL,
        _done,
        "The envelope does not say that what was asked for was only surveyed; a line only where it does, and then the"
        " only one of completeness.",
    ),
    *(row._replace(look=_of_what_was_asked(row.look)) for row in _ROWS),
)
