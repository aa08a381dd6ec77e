"""The built-in reviewer: reads what was handed in as an impatient colleague would, and takes points off. Pure.

It needs no model and is never the author. Where a check says yes or no, it weighs: what is minor stays below the
warnings, one thing that is grave keeps work from being completed without them. A finding is of one dimension and lowers
no other; only where nothing of what was asked for is there, there is nothing to give points for. The same submission
has the same review, in whatever order its parts come. Called by the engine at a task's gate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gemba.teams.gates import Dimension, Review
from gemba.teams.measures.accuracy import WORLD, unreal_changes, wrong_references
from gemba.teams.measures.completeness import stubs_in
from gemba.teams.measures.consistency import (
    changed_upstream,
    conflicted,
    missing_files,
    placeholders_in,
    unknown_names,
    untold_files,
)
from gemba.teams.measures.depth import LEAST_WORDS, repetition, tests_of
from gemba.teams.measures.row import named
from gemba.teams.run import BUILTIN
from gemba.teams.seen import Seen, is_test
from gemba.teams.submitted import Submitted
from gemba.text import storable

GRAVE, SERIOUS, MINOR = 85, 40, 15  # points that one finding costs
_MOST_NOTE = 3_900
_FULL = 100
_WALL = 250  # words of one paragraph
_THIN = 3  # things that a research or an analysis goes by
_UNFINISHED = re.compile(
    r"\bran out of (?:time|budget|tokens|context)\b|\bdid(?: not|n't) (?:get to|finish)\b|\bcould(?: not|n't) finish\b"
    r"|\bI (?:left|leave) \w+ (?:out )?for (?:later|another|the next)\b",
    re.IGNORECASE,
)
_BROKEN_OFF = re.compile(r"(?:,|\b(?:and|or|the|a|of|to|with|that))\s*$", re.IGNORECASE)
_DEBUGGING = re.compile(
    r"\bbreakpoint\(\)|\bpdb\.set_trace\(|^\s*debugger;?\s*$|\bdbg!\(|\bbinding\.pry\b|\bconsole\.log\(\W?\W?debug"
    r"|\bprint\(\W?\W?debug",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    r"\bpytest\.(?:mark\.)?(?:skip|xfail)\b|\bunittest\.skip\b|\b(?:it|test|describe)\.(?:skip|only)\(|\bx(?:it|describe)\("
    r"|#\[ignore\b|\bt\.Skip\(|@(?:Disabled|Ignore)\b"
)
_RECORDED = ("commands_run", "verification", "tool_calls")  # a client's record of them may be short of something
_CONCRETE = re.compile(r"\d|`[^`\n]+`|\]\(|\w/\w|\"[^\"\n]{3,}\"")


class Point(NamedTuple):
    """One thing that a reader stumbles over, and what it costs."""

    cost: int
    words: str


Look = Callable[[Seen], Iterator[Point]]


def review(work: Submitted) -> Review:
    """Points of 100 for each dimension, and a note that says what was taken off for what."""
    seen = Seen(work)
    if seen.is_nothing:
        words = {"artifact": "no artifact", "codebase": "no change", "mixed": "neither an artifact nor a change"}
        return Review(BUILTIN, 0, 0, 0, 0, f"There is {words[work.output]} to review: no points can be given.")
    points = {dimension: [*look(seen), *_commands(seen, dimension)] for dimension, look in LOOKS.items()}
    scores = {dimension: max(0, _FULL - sum(each.cost for each in found)) for dimension, found in points.items()}
    return Review(
        BUILTIN,
        scores[Dimension.COMPLETENESS],
        scores[Dimension.CONSISTENCY],
        scores[Dimension.ACCURACY],
        scores[Dimension.DEPTH],
        _note(points),
    )


def _note(points: dict[Dimension, list[Point]]) -> str:
    lines = [
        f"{dimension}: {'; '.join(f'{each.words} (-{each.cost})' for each in found)}."
        for dimension, found in points.items()
        if found
    ]
    note = storable("\n".join(lines) or "Nothing to complain of.")
    return note if len(note) <= _MOST_NOTE else note[: _MOST_NOTE - 1] + "…"


def _some(found: list[str], cost: int, most: int, words: str) -> Iterator[Point]:
    """A point for all that is found of a kind: so much for each, up to a limit."""
    if found:
        yield Point(min(most, cost * len(found)), f"{words}: {named(found)}")


def _commands(seen: Seen, dimension: Dimension) -> Iterator[Point]:
    failed = sorted(each.name for each in seen.work.commands if each.dimension is dimension and each.is_to_blame)
    yield from _some(failed, GRAVE, GRAVE, "commands of the project do not pass")


# ---- completeness ----------------------------------------------------------------------------------------------------


def _completeness(seen: Seen) -> Iterator[Point]:
    if seen.said.surveyed:
        yield Point(_FULL, f"what was asked for is not there, only a survey: {seen.said.surveyed}")
        return
    many, missed = len(seen.work.acceptance), seen.missed_criteria
    if missed:
        yield Point(max(MINOR, GRAVE * len(missed) // many), f"I find nothing on {named(missed)}")
    yield from _some(seen.said.pending, SERIOUS, GRAVE, "it is called complete, with steps left")
    yield from _some(seen.said.gaps, SERIOUS, GRAVE, "it is called complete, with gaps open")
    yield from _some([*stubs_in(seen)], SERIOUS, GRAVE, "only a stub")
    empty = [heading for page in seen.pages for heading in page.empty_sections()]
    yield from _some(sorted(empty), MINOR, SERIOUS, "a heading with nothing below it")
    yield from _some(_unfinished(seen), SERIOUS, SERIOUS, "it says itself that it is not finished")
    yield from _some(_broken_off(seen), SERIOUS, SERIOUS, "it breaks off")
    if seen.work.output == "mixed" and not seen.artifacts:
        yield Point(SERIOUS, "the change comes without the artifact that was asked for")


def _unfinished(seen: Seen) -> list[str]:
    lines = [line.text for page in seen.pages for line in page.prose] + [seen.said.summary]
    return sorted({found[0] for line in lines if (found := _UNFINISHED.search(line))})


def _broken_off(seen: Seen) -> list[str]:
    found = []
    for own, page in zip(seen.artifacts, seen.pages, strict=True):
        last = next((line.text for line in reversed(page.lines) if line.text.strip()), "")
        if not own.cut and (page.is_open or _BROKEN_OFF.search(last[-40:])):
            found.append(own.name)
    return found


# ---- consistency -----------------------------------------------------------------------------------------------------


def _consistency(seen: Seen) -> Iterator[Point]:
    yield from _some(missing_files(seen), MINOR, SERIOUS, "it speaks of files that are not there")
    yield from _some(unknown_names(seen), MINOR, SERIOUS, "it speaks of what the run has not")
    yield from _some(changed_upstream(seen), GRAVE, GRAVE, "it changed what other tasks wrote")
    yield from _some(conflicted(seen), GRAVE, GRAVE, "a merge is left half done in")
    yield from _some(sorted(placeholders_in(seen)), MINOR, SERIOUS, "still to be filled in")
    yield from _some(untold_files(seen), MINOR, SERIOUS, "changed without a word")
    wrong = [each.claimed for each in seen.world("line_counts") if each.verdict == "failed"]
    yield from _some(wrong, MINOR, SERIOUS, "lines miscounted")
    yield from _some(_twice(seen), MINOR, SERIOUS, "a heading stands there twice")
    yield from _some(_debugging(seen), MINOR, SERIOUS, "left from debugging")
    # Whoever has the workspace open may have changed it; only what the work itself names is laid at its door.
    outside = sorted(each.path for each in seen.work.outside if each.named)
    yield from _some(outside, GRAVE, GRAVE, "it wrote outside its worktree")


def _twice(seen: Seen) -> list[str]:
    found = []
    for page in seen.pages:
        above: dict[int, str] = {}
        known: set[tuple[str, ...]] = set()
        for heading in page.headings:
            above = {level: text for level, text in above.items() if level < heading.level}
            above[heading.level] = heading.text.casefold()
            way = tuple(above[level] for level in sorted(above))
            if way in known:
                found.append(heading.text)
            known.add(way)
    return sorted(found)


def _debugging(seen: Seen) -> list[str]:
    return [
        f"{file.path} ({line.strip()[:40]})"
        for file in seen.sources
        for line in file.lines.splitlines()
        if _DEBUGGING.search(line)
    ]


# ---- accuracy --------------------------------------------------------------------------------------------------------


def _accuracy(seen: Seen) -> Iterator[Point]:
    for name in WORLD:
        wrong = [f"{each.claimed}: {each.found}" for each in seen.world(name) if each.verdict == "failed"]
        yield from _some(wrong, SERIOUS if name in _RECORDED else GRAVE, GRAVE, "claimed, and not so")
    yield from _some(unreal_changes(seen), GRAVE, GRAVE, "said to be changed, and it is not")
    yield from _some(wrong_references(seen), MINOR, SERIOUS, "it quotes lines that are not there")
    if code := seen.said.exit_code():
        yield Point(GRAVE, f"its own verification ended with {code}")
    if seen.said.verification and seen.said.result() != "pass":
        yield Point(SERIOUS, "its own verification does not say pass")
    yield from _some([*_silenced(seen)], SERIOUS, GRAVE, "a test that is skipped shows nothing")
    gone = [each.path for each in seen.changed if each.gone and is_test(each.path)]
    yield from _some(gone, MINOR, SERIOUS, "tests were deleted")


def _silenced(seen: Seen) -> Iterator[str]:
    for file in seen.sources:
        if is_test(file.path):
            yield from (
                f"{file.path} ({line.strip()[:40]})" for line in file.lines.splitlines() if _SKIPPED.search(line)
            )


# ---- depth -----------------------------------------------------------------------------------------------------------


def _depth(seen: Seen) -> Iterator[Point]:
    looked = len(seen.said.looked_at)
    if not looked:
        yield Point(SERIOUS, "I cannot see what it is based on")
    elif looked < _THIN and seen.kind in ("research", "analysis"):
        yield Point(MINOR, f"{looked} things looked at are few for this kind of work")
    met, needed = seen.aim_covered()
    if met < needed:
        yield Point(SERIOUS, "it hardly speaks of what was asked for")
    if seen.artifacts:
        yield from _of_the_pages(seen)
    if any(not each.gone for each in seen.sources) and seen.work.output != "artifact" and not tests_of(seen):
        yield Point(SERIOUS, "code without a test")


def _of_the_pages(seen: Seen) -> Iterator[Point]:
    words = len(seen.page_words)
    if words < LEAST_WORDS:
        yield Point(SERIOUS if seen.work.output == "artifact" else MINOR, f"{words} words are not much")
    many, distinct = repetition(seen)
    if many >= 2 * _THIN and distinct * 2 < many:
        yield Point(SERIOUS, "it says the same over and over")
    prose = "\n".join(line.text for page in seen.pages for line in page.lines)
    if not _CONCRETE.search(prose):
        yield Point(SERIOUS, "no number, no file, no name: nothing that I could look up")
    walls = [block[:60] for page in seen.pages for block in page.blocks() if len(block.split()) > _WALL]
    yield from _some([wall for wall in walls if not wall.startswith(("```", "|"))], MINOR, MINOR, "a wall of text")


LOOKS: dict[Dimension, Look] = {
    Dimension.COMPLETENESS: _completeness,
    Dimension.CONSISTENCY: _consistency,
    Dimension.ACCURACY: _accuracy,
    Dimension.DEPTH: _depth,
}
