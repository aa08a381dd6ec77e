"""Do the parts agree with each other and the run? Computed checks of consistency; pure. Called by `measuring.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gemba.teams.gates import Dimension
from gemba.teams.measures.row import ALL, ARTIFACT, Found, Row, named, none_of
from gemba.teams.page import Page, without_code
from gemba.teams.plan import prefix_of
from gemba.teams.seen import Seen, is_lock

_OURS = re.compile(r"^<{7} ", re.MULTILINE)
_THEIRS = re.compile(r"^>{7} ", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"\b(?:TODO|FIXME|TBD|XXX)\b(?=[ \t]*(?:[:(|\]]|$))|^\W{0,20}(?:TODO|FIXME|TBD|XXX)\b"
    r"|(?i:\blorem ipsum\b|\[(?:insert|your|fill in)\b[^\]\n]{0,80}\](?![(:])"
    r"|<(?:insert|your|fill in|placeholder)\b[^>\n]{0,80}>)|\{\{[^{}\n]{1,80}\}\}"
)
_NOTE = re.compile(r"\b(?:TODO|FIXME|XXX)\b[ \t]*[:(]")
_LONGEST_LINE = 2_000
_EDGES = " \t|*-+>_"


def _files_exist(seen: Seen) -> Found | None:
    if not any(each.said for each in seen.mentions):
        return None
    return none_of(missing_files(seen), "named, and not there", "every file that is named is there")


def missing_files(seen: Seen) -> list[str]:
    """Files that an artifact speaks of as being there. A design speaks of what is to be made, and is not asked."""
    if seen.kind == "design":
        return []
    there = {each.name for each in seen.work.known} | {each.path for each in seen.work.changed}
    there |= {name for each in (*seen.work.names, *(own.name for own in seen.artifacts)) for name in _ways_to(each)}
    return sorted({each.path for each in seen.mentions if each.said and each.path not in there})


def _ways_to(artifact: str) -> tuple[str, ...]:
    return artifact, f"artifacts/{artifact}", f".gemba/artifacts/{artifact}"


def _tasks_exist(seen: Seen) -> Found | None:
    if not any(True for page in seen.pages for _ in page.tasks()):
        return None
    return none_of(unknown_names(seen), "the run has none of", "every task and artifact that is named is of the run")


def unknown_names(seen: Seen) -> list[str]:
    """Tasks and artifacts that an artifact names under a prefix of the run, and that the run has not."""
    tasks = {seen.work.task_id, *seen.work.tasks}
    prefixes = {prefix_of(task) for task in tasks}
    names = {
        *seen.work.names,
        *(each.name for each in seen.work.artifacts),
        *(each.name for each in seen.work.upstream),
    }
    found = set()
    for mention in (mention for page in seen.pages for mention in page.tasks()):
        if prefix_of(mention.task) in prefixes:
            if mention.task not in tasks:
                found.add(mention.task)
            elif mention.artifact is not None and mention.artifact not in names:
                found.add(mention.artifact)
    return sorted(found)


def _upstream(seen: Seen) -> Found | None:
    if not seen.work.upstream:
        return None
    fault = "artifacts of other tasks, changed or gone"
    return none_of(changed_upstream(seen), fault, "the artifacts of other tasks are as they were given")


def changed_upstream(seen: Seen) -> list[str]:
    return sorted(each.name for each in seen.work.upstream if each.now != each.given)


def _files_told(seen: Seen) -> Found | None:
    if not seen.changed:
        return None
    return none_of(
        untold_files(seen), "changed, and not named in the envelope", "the envelope names every changed file"
    )


def untold_files(seen: Seen) -> list[str]:
    """Changed files that no envelope of the task speaks of; what a package manager writes need not be told."""
    told = seen.said.claimed.union(seen.work.told)
    return [each.path for each in seen.changed if not is_lock(each.path) and not _is_told(each.path, told)]


def _is_told(path: str, told: Collection[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:many]) in told for many in range(1, len(parts) + 1))


def _no_conflicts(seen: Seen) -> Found | None:
    if seen.is_nothing:
        return None
    return none_of(conflicted(seen), "conflict markers stand in", "no conflict markers")


def conflicted(seen: Seen) -> list[str]:
    pages = ((own.name, _prose(page)) for own, page in zip(seen.artifacts, seen.pages, strict=True))
    texts = (*pages, *((each.path, each.lines) for each in seen.changed))
    return sorted(name for name, text in texts if _OURS.search(text) and _THEIRS.search(text))


def _no_placeholders(seen: Seen) -> Found | None:
    if seen.is_nothing:
        return None
    return none_of(sorted(placeholders_in(seen)), "left to be filled in", "nothing is left to be filled in")


def placeholders_in(seen: Seen) -> Iterator[str]:
    for own, page in zip(seen.artifacts, seen.pages, strict=True):
        for line in (*(heading.text for heading in page.headings), *(line.text for line in page.prose)):
            if found := _PLACEHOLDER.search(without_code(line[:_LONGEST_LINE])):
                yield f"{own.name} ({found[0].strip(_EDGES)})"
    for file in seen.sources:
        for line in file.lines.splitlines():
            if _NOTE.search(line):
                yield f"{file.path} ({line.strip()[:60]})"


def _line_counts(seen: Seen) -> Found | None:
    told = [each for each in seen.world("line_counts") if each.verdict != "unknown"]
    if not told:
        return None
    wrong = [f"{each.claimed}, found {each.found}" for each in told if each.verdict == "failed"]
    return none_of(wrong, "claimed", "the lines are as many as the envelope says")


def _stayed_inside(seen: Seen) -> Found | None:
    if not seen.work.outside:
        return None
    changed = named(sorted(each.path for each in seen.work.outside))
    return Found(False, f"changed in the workspace, outside of the task's worktree, while it worked: {changed}")


def _prose(page: Page) -> str:
    return "\n".join(line.text for line in page.prose)


D = Dimension.CONSISTENCY
ROWS = (
    Row(
        "named files exist",
        D,
        ARTIFACT,
        _files_exist,
        "Files that an artifact speaks of (paths in code spans, links) are there; what it calls new, missing or planned"
        " is not asked for, and nothing of a plan or a design.",
    ),
    Row("named tasks exist", D, ARTIFACT, _tasks_exist, "Tasks and artifacts that an artifact names are of the run."),
    Row("upstream untouched", D, ALL, _upstream, "Artifacts of other tasks are as they were given."),
    Row(
        "changes told",
        D,
        ALL,
        _files_told,
        "Every changed file is named in an envelope of the task; lock files need not be.",
    ),
    Row("line counts", D, ALL, _line_counts, "The line counts that the envelope claims are those that were found."),
    Row("no conflict markers", D, ALL, _no_conflicts, "No merge was left half done in what was written."),
    Row("no placeholders", D, ALL, _no_placeholders, "Nothing that was written is left to be filled in, such as TBD."),
    Row(
        "stayed inside",
        D,
        ALL,
        _stayed_inside,
        "Nothing of the workspace outside of the task's worktree changed while it worked; a line only where it did.",
    ),
)
