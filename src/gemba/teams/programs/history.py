"""What git knows of a repository's files: which were changed last, which often. Nothing where git cannot tell."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from gemba import git
from gemba.errors import Unusable
from gemba.teams.programs.tree import Tree

MOST_COMMITS = 500
_SECONDS = 15.0


class Change(NamedTuple):
    """The last commit that changed a file."""

    path: str
    day: str
    subject: str


class History(NamedTuple):
    """`last`: the files as they were changed last, the newest first. `often`: in how many of the commits each."""

    commits: int
    last: list[Change]
    often: Counter[str]


def history_of(tree: Tree) -> History:
    """Of the files that the tree has, in the last commits of its branch."""
    last: dict[str, Change] = {}
    often: Counter[str] = Counter()
    commits = 0
    for day, subject, names in _commits(tree) if tree.by_git else ():
        commits += 1
        for name in names:
            if name in tree:
                often[name] += 1
                last.setdefault(name, Change(name, day, subject))
    return History(commits, list(last.values()), often)


def _commits(tree: Tree) -> list[tuple[str, str, list[str]]]:
    asked = ("--no-merges", "--name-only", "--relative", "--no-ext-diff", "-z", "--format=%x01%cs%x02%s%x02")
    try:
        told = git.run(str(tree.root), "log", f"-n{MOST_COMMITS}", *asked, seconds=_SECONDS)
    except Unusable:
        return []
    if told.code != 0 or told.cut:
        return []
    found = []
    for part in told.stdout.split("\x01")[1:]:
        day, subject, names = [*part.split("\x02", 2), "", ""][:3]
        found.append((day, subject, [name for each in names.split("\0") if (name := each.lstrip("\n"))]))
    return found
