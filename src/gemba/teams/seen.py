"""A submission as checks and the built-in reviewer see it: its pages, its words, what it says, what kind of work it is.

Pure; each part is made once, and nothing depends on the order in which things were handed in. Called by `measuring.py`
and `reviewer.py`.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

from gemba.escalations.vocabulary import FILLER, stem_of
from gemba.handoff.check import Check
from gemba.teams.page import FileMention, Page
from gemba.teams.plan import prefix_of
from gemba.teams.said import Said
from gemba.teams.submitted import Artifact, ChangedFile, Submitted

Kind = Literal["research", "design", "document", "code", "analysis", "test", "general"]
_KINDS: dict[str, Kind] = {
    "RESEARCH": "research",
    "PLAN": "design",
    "DESIGN": "design",
    "DRAFT": "document",
    "IMPL": "code",
    "ANALYSIS": "analysis",
    "TEST": "test",
}


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SOURCES = _listed(
    "py pyi js jsx mjs cjs ts tsx vue svelte rs go java kt kts scala c h cc cpp hpp cs rb php swift m mm ex exs erl hs"
    " ml clj lua pl sh bash zsh ps1 sql r jl dart zig nim"
)
_TEST_PART = re.compile(r"tests?|specs?|__tests__|testing")
_TEST_NAME = re.compile(r"test_.*|.*_test\..*|.*\.(?:test|spec)\..*|.*_spec\..*|.*Tests?\.\w+|conftest\.py")
_LOCKS = _listed(
    "uv.lock package-lock.json Cargo.lock yarn.lock go.sum pnpm-lock.yaml poetry.lock requirements.lock Gemfile.lock"
    " composer.lock bun.lockb bun.lock flake.lock"
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_WORD = 40
_CLAIMS = ("files_produced", "files_modified")
_MOST_WORDS = 200_000


class Seen:
    def __init__(self, work: Submitted) -> None:
        self.work = work
        self.said = Said(work.envelope)
        self.kind: Kind = _KINDS.get(prefix_of(work.task_id), "general")

    @cached_property
    def artifacts(self) -> list[Artifact]:
        """The task's own, by name, without those in which nothing stands."""
        own = [each for each in self.work.artifacts if each.name.startswith(f"{self.work.task_id}-")]
        return sorted((each for each in own if each.content.strip()), key=lambda each: (each.name, each.digest))

    @cached_property
    def pages(self) -> list[Page]:
        return [Page(each.content) for each in self.artifacts]

    @cached_property
    def changed(self) -> list[ChangedFile]:
        """Files of the project; what lies in `.gemba/` is no part of it."""
        theirs = [each for each in self.work.changed if not is_of_gemba(each.path)]
        return sorted(theirs, key=lambda each: (each.path, each.lines, each.text))

    @property
    def sources(self) -> list[ChangedFile]:
        return [each for each in self.changed if is_source(each.path) and not each.binary]

    @property
    def is_nothing(self) -> bool:
        """Nothing of the kind that the task is to leave is there."""
        match self.work.output:
            case "artifact":
                return not self.artifacts
            case "codebase":
                return not self.has_changed
        return not self.artifacts and not self.has_changed

    @property
    def has_changed(self) -> bool:
        """By git; where that cannot tell, by a claim that the world bore out."""
        if self.work.compared:
            return bool(self.changed)
        return any(each.verdict == "ok" for name in _CLAIMS for each in self.world(name))

    @cached_property
    def mentions(self) -> list[FileMention]:
        return sorted({mention for page in self.pages for mention in page.files()}, key=repr)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of all that the task wrote: artifacts, added lines, paths, and what its envelope tells. Who quotes
        what was asked for has not spoken of it yet."""
        parts = list(map(_unquoted, self.artifacts))
        parts += [f"{each.path}\n{each.lines}" for each in self.changed]
        return stems_of("\n".join([*parts, self.said.words]))

    @property
    def page_words(self) -> list[str]:
        """Of the artifacts alone, without what they quote, each as often as it stands there."""
        return [word for each in self.artifacts for word in _WORD.findall(_unquoted(each))[:_MOST_WORDS]]

    @cached_property
    def missed_criteria(self) -> list[str]:
        """Acceptance criteria that are not spoken of, since less than half of a criterion's own words stand anywhere,
        or of which the work says itself that nothing has checked them."""
        unchecked = [_flat(each) for each in self.said.unchecked]
        return [
            each
            for each in self.work.acceptance
            if any(words in _flat(each) for words in unchecked) or not _covers(self.stems, stems_of(each))
        ]

    def world(self, name: str) -> list[Check]:
        found = (each for each in self.work.world if each.name == name)
        return sorted(found, key=lambda each: (each.claimed, each.found, each.verdict, each.note))

    def aim_covered(self) -> tuple[int, int]:
        """Of the words of its goal, or of the run's text where more of that was met: how many stand in the work, and
        how many have to."""
        best = (0, 1)
        for aim in (stems_of(self.work.goal), stems_of(self.work.text)):
            if aim:
                met = (len(aim & self.stems), min(5, -(-len(aim) // 3)))
                best = max(best, met, key=lambda each: (each[0] / each[1], each))
        return best if self.work.goal.strip() or self.work.text.strip() else (1, 1)


def stems_of(text: str) -> frozenset[str]:
    """The words that say something, each as its stem; parts of names with humps and underscores count too."""
    words = {word[:_LONGEST_WORD] for word in _WORD.findall(_HUMP.sub(" ", text).casefold())[:_MOST_WORDS]}
    return frozenset(stem_of(word) for word in words - FILLER)


def _unquoted(artifact: Artifact) -> str:
    return "\n".join(line for line in artifact.content.splitlines() if not line.lstrip().startswith(">"))


def _covers(found: frozenset[str], wanted: frozenset[str]) -> bool:
    return len(found & wanted) * 2 >= len(wanted)


def _flat(text: str) -> str:
    return " ".join(text.split()).rstrip("…")


def is_of_gemba(path: str) -> bool:
    return path == ".gemba" or path.startswith(".gemba/")


def is_source(path: str) -> bool:
    return PurePosixPath(path).suffix.removeprefix(".").lower() in _SOURCES


def is_test(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and (
        any(_TEST_PART.fullmatch(part.lower()) for part in parts[:-1]) or bool(_TEST_NAME.fullmatch(parts[-1]))
    )


def is_lock(path: str) -> bool:
    return PurePosixPath(path).name in _LOCKS
