"""Does it go as far as the task? Computed checks of depth; pure. Called by `measuring.py`."""

from __future__ import annotations

import re

from gemba.teams.gates import Dimension
from gemba.teams.measures.row import ALL, ARTIFACT, CODE, Found, Row, named
from gemba.teams.seen import Seen, is_test

LEAST_WORDS = 40
_LEAST_DISTINCT = 20
_LEAST_BLOCKS = 3
_FEW_LINES = 6  # of so few lines nothing is said about repetition
_SEVERITY = re.compile(
    r"\b(?:critical|severity|severe|high|medium|moderate|low|major|minor|blocker|informational|p[0-4]|sev-?\d)\b"
    r"|\bno (?:findings|issues|defects|problems)\b",
    re.IGNORECASE,
)
_TESTING = re.compile(
    r"\b(?:py)?tests?\b|\bspecs?\b|\bunittest\b|\bjest\b|\bvitest\b|\bmocha\b|\brspec\b|\btox\b|\bnox\b", re.IGNORECASE
)
_BLANK = re.compile(r"\s*(?:(?:#|//|/\*|\*|--|;|%|<!--)(?!\[).*)?")


def _looked(seen: Seen) -> Found:
    found = seen.said.looked_at
    if not found:
        return Found(False, "the envelope names no file, no pattern and no command that it went by")
    return Found(True, f"{len(found)} files, patterns and commands: {named(found)}")


def _ran(seen: Seen) -> Found:
    if not seen.said.commands:
        return Found(False, "the envelope names no command that was run on the change")
    return Found(True, f"ran {named(seen.said.commands)}")


def _aim(seen: Seen) -> Found | None:
    if seen.is_nothing:
        return None
    met, needed = seen.aim_covered()
    words = f"{met} words of what was asked for stand in it"
    return Found(True, words) if met >= needed else Found(False, f"{words}, fewer than {needed}")


def _substance(seen: Seen) -> Found | None:
    if not seen.artifacts:
        return None
    words = seen.page_words
    distinct = len({word.casefold() for word in words})
    told = f"{len(words):,} words, {distinct:,} of them different"
    if len(words) >= LEAST_WORDS and distinct >= _LEAST_DISTINCT:
        return Found(True, told)
    return Found(False, f"{told}; fewer than {LEAST_WORDS} or {_LEAST_DISTINCT}")


def _parts(seen: Seen) -> Found | None:
    if not seen.artifacts:
        return None
    many = sum(len(page.blocks()) for page in seen.pages)
    told = f"{many} paragraphs, lists, tables or code blocks"
    return Found(True, told) if many >= _LEAST_BLOCKS else Found(False, f"{told}, fewer than {_LEAST_BLOCKS}")


def _varied(seen: Seen) -> Found | None:
    if not seen.artifacts:
        return None
    many, distinct = repetition(seen)
    told = f"{distinct} of {many} lines are different"
    return Found(many < _FEW_LINES or distinct * 2 >= many, told)


def repetition(seen: Seen) -> tuple[int, int]:
    """How many lines of the artifacts have a word in them, and how many of those are different."""
    lines = [text for page in seen.pages for line in page.lines if re.search(r"\w", text := line.text.strip())]
    return len(lines), len(set(lines))


def _classed(seen: Seen) -> Found | None:
    if seen.kind != "analysis" or not seen.artifacts:
        return None
    text = "\n".join(each.content for each in seen.artifacts)
    found = sorted({word.lower() for word in _SEVERITY.findall(text)})
    return Found(True, f"classed: {named(found)}") if found else Found(False, "no finding says how severe it is")


def _tested(seen: Seen) -> Found | None:
    if not any(not each.gone for each in seen.sources):
        return None
    evidence = tests_of(seen)
    return Found(True, evidence) if evidence else Found(False, "source was changed, and no test was touched or run")


def tests_of(seen: Seen) -> str:
    """Which tests stand behind a change of source; empty where none do."""
    touched = [each.path for each in seen.changed if is_test(each.path) and not each.gone]
    if touched:
        return f"tests in {named(touched)}"
    ran = [command for command in seen.said.commands if _TESTING.search(command)]
    return f"tests were run: {named(ran)}" if ran else ""


def _effective(seen: Seen) -> Found | None:
    sources = seen.sources
    if not sources or len(sources) < len(seen.changed):
        return None
    if any(each.removed or any(not _BLANK.fullmatch(line) for line in each.lines.splitlines()) for each in sources):
        return Found(True, f"{sum(each.added for each in sources):,} lines were added")
    return Found(False, "blank lines and comments alone were added")


D = Dimension.DEPTH
ROWS = (
    Row("evidence", D, ALL, _looked, "The envelope names a file, a pattern or a command that the work went by."),
    Row("was run", D, CODE, _ran, "The envelope names a command that was run on the change."),
    Row(
        "goal met in words",
        D,
        ALL,
        _aim,
        "A third of the goal's own words, or five of them, stand in the work; or as many of the run's text.",
    ),
    Row(
        "substance",
        D,
        ARTIFACT,
        _substance,
        f"The artifacts have {LEAST_WORDS} words or more, {_LEAST_DISTINCT} of them different.",
    ),
    Row(
        "parts",
        D,
        ("artifact",),
        _parts,
        f"The artifacts have {_LEAST_BLOCKS} paragraphs, lists, tables or code blocks.",
    ),
    Row("varied", D, ARTIFACT, _varied, "At least half of the artifacts' lines are different from each other."),
    Row(
        "findings classed",
        D,
        ARTIFACT,
        _classed,
        "An analysis says how severe its findings are, or that there are none.",
    ),
    Row("tested", D, CODE, _tested, "Where source changed, a test was touched, or a command that tests was run."),
    Row("more than comments", D, CODE, _effective, "Source that changed has more to it than blank lines and comments."),
)
