"""What a run of tests printed, read: how many passed and failed, which, and the coverage if it says. Pure, total."""

from __future__ import annotations

import re
from typing import NamedTuple

from gemba.teams.programs.page import one_line

_LONGEST = 1_000_000
_MOST_NAMED = 20
# pytest and Jest say `2 failed, 3 passed`; cargo `ok. 3 passed; 1 failed`; node `# pass 3`.
_COUNTS = {
    "passed": re.compile(r"\b(\d{1,7}) pass(?:ed|ing)\b|^# pass (\d{1,7})$", re.MULTILINE),
    "failed": re.compile(r"\b(\d{1,7}) (?:failed|failing|failures?)\b|^# fail (\d{1,7})$", re.MULTILINE),
    "errors": re.compile(r"\b(\d{1,7}) errors?\b(?= in |,)"),
    "skipped": re.compile(r"\b(\d{1,7}) (?:skipped|ignored)\b|^# skipped (\d{1,7})$", re.MULTILINE),
}
_SUMMARY = re.compile(r"^.*\b\d+ (?:passed|failed|passing|failing)\b.*$|^# (?:pass|fail|skipped) \d+$", re.MULTILINE)
_UNITTEST = re.compile(r"^Ran (\d{1,7}) tests? in", re.MULTILINE)
_UNITTEST_BAD = re.compile(r"^FAILED \((.*)\)$", re.MULTILINE)
_NUMBER = re.compile(r"(failures|errors)=(\d{1,7})")
_GO = re.compile(r"^(ok|FAIL)\s+\S+\s", re.MULTILINE)
_FAILED = re.compile(
    r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$|^(?:FAIL|ERROR): (.+)$|^--- FAIL: (\S+)|^test (\S+) \.\.\. FAILED$"
    r"|^\s*[\u25cf\u2715\u2717\u00d7] (.+)$|^not ok \d+ - (.+)$",
    re.MULTILINE,
)
_COVERAGE = re.compile(
    r"^(?:TOTAL|All files)\b.*?(\d{1,3}(?:\.\d+)?)\s*%?(?:\s*\|.*)?$|coverage: (\d{1,3}(?:\.\d+)?)%", re.MULTILINE
)


class Counts(NamedTuple):
    """None where the output does not tell."""

    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    failures: tuple[str, ...] = ()
    coverage: str | None = None


def read_output(text: str) -> Counts:
    text = text[-_LONGEST:]
    summaries = "\n".join(_SUMMARY.findall(text))
    numbers = {name: _sum(pattern, summaries) for name, pattern in _COUNTS.items()}
    passed, failed = numbers["passed"], _plus(numbers["failed"], numbers["errors"])
    if ran := _UNITTEST.findall(text):
        wrong = sum(int(number) for part in _UNITTEST_BAD.findall(text) for _, number in _NUMBER.findall(part))
        passed, failed = sum(map(int, ran)) - wrong, wrong
    elif passed is None and failed is None and (packages := _GO.findall(text)):
        passed, failed = packages.count("ok"), packages.count("FAIL")
    if passed is not None and failed is None:
        failed = 0
    names = [next(part for part in found if part) for found in _FAILED.findall(text)]
    shown = tuple(dict.fromkeys(one_line(name, 160) for name in names))[:_MOST_NAMED]
    return Counts(passed, failed, numbers["skipped"], shown, _coverage(text))


def _sum(pattern: re.Pattern[str], text: str) -> int | None:
    found = [next(part for part in groups if part) for groups in _groups(pattern, text)]
    return sum(map(int, found)) if found else None


def _groups(pattern: re.Pattern[str], text: str) -> list[tuple[str | None, ...]]:
    return [found.groups() for found in pattern.finditer(text)]


def _plus(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


def _coverage(text: str) -> str | None:
    found = _groups(_COVERAGE, text)
    return f"{next(part for part in found[-1] if part)} %" if found else None
