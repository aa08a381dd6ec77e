"""What Gemba asks git; `wire.git_head` answers the commonest question without starting a process.

A path is relative to the folder that was asked about, and names the same file as git's bytes do: what is no UTF-8 in
them stands as lone surrogates. What asks only reads, and never raises: what cannot be told is None. Whoever has git
change something calls `run`.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gemba import git_folder, shell
from gemba.errors import Unusable

# A repository's own configuration can name programs for git to run, and an agent can write that configuration. What we
# ask shows no signatures, pages nothing, fetches nothing, compares without drivers, has no hooks and takes no locks, so
# that none of them is run.
_SETTINGS = ("log.showSignature=false", "core.fsmonitor=false", f"core.hooksPath={os.devnull}")
_GIT = ("git", "--no-pager", "--no-optional-locks", *(part for setting in _SETTINGS for part in ("-c", setting)))
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}
# Whoever starts us from a hook of git has these in the environment; they name another repository than the folder's.
_OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")

_HASH = re.compile("[0-9a-f]{4,64}")
_AHEAD = re.compile(r"\+(\d+) -\d+")
LARGEST_CONTENT = 16 * 1024 * 1024  # bytes of a committed file that is read
_MOST_CONTENT = 2 * LARGEST_CONTENT  # bytes of all that one git is asked for
_MOST_PRINTED = 2 * _MOST_CONTENT
_MOST_NAMED = 200  # paths in the arguments of one git
# The filters that stand between a file and what is committed of it are programs as well. One that is named by a
# configuration of ours, which overrules the repository's, and is empty is not run.
_NO_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}
_NAME_IN_PATHSPEC = re.compile("[-_A-Za-z0-9]+")
# The names of settings are remembered for as long as the files that have them are the same; for so many seconds at
# most, since an administrator's file may lie where only git finds it.
_REMEMBERED_SECONDS = 60.0
_MOST_REMEMBERED = 64
_COUNTED = {"file": re.compile(r"(\d+) files? "), "+": re.compile(r"(\d+) ins"), "-": re.compile(r"(\d+) del")}


class DiffStat(NamedTuple):
    """How much two commits differ."""

    files: int
    insertions: int
    deletions: int


class Commit(NamedTuple):
    """What a commit says, and the files that it changed."""

    message: str
    files: tuple[str, ...]


class Tree(NamedTuple):
    """Where a folder stands, and which of its files are not as committed: changed, new or gone; ignored ones are not
    among them."""

    commit: str | None
    branch: str | None
    ahead: int | None  # commits that its upstream has not; None without one
    changed: tuple[str, ...]


class Blob(NamedTuple):
    """A file as it is committed, or a symbolic link, whose content is where it leads."""

    hash: str
    size: int
    link: bool = False
    executable: bool = False


def run(
    folder: str,
    *arguments: str,
    given: bytes = b"",
    unset: Sequence[str] = (),
    errors: str = "surrogateescape",
    seconds: float = 10.0,
    env: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
) -> shell.Result:
    """git in a folder, to its end, without a program that the repository names; `unset` names filters not to run."""
    settings = [(f"filter.{name}.{key}", value) for name in unset for key, value in _NO_FILTER.items()]
    ours = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings):
        ours |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    surroundings = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    return shell.run(
        [*_GIT, *arguments],
        cwd=folder,
        env={**surroundings, **_ALONE, **ours, **(env or {})},
        timeout=seconds,
        limit=_MOST_PRINTED,
        given=given,
        errors=errors,
        inherited=inherited,
    )


def commits_since(folder: str, commit: str, most: int = 20) -> list[str]:
    """`<short hash> <subject>` of what was committed after a commit, newest first; empty when that cannot be told."""
    if not _HASH.fullmatch(commit):
        return []
    told = _ask(folder, "log", f"--max-count={most}", "--format=%h %s", f"{commit}..HEAD", "--")
    return [] if told is None else told.splitlines()


def recent_commits(folder: str, most: int = 500, seconds: float = 5.0) -> list[Commit]:
    """The last commits of the folder's branch, the newest first, without merges; none where git cannot tell."""
    asked = ("--no-merges", "--name-only", "--relative", "--no-ext-diff", "--no-textconv", "-z", "--format=%x01%B%x02")
    told = _ask(folder, "log", f"-n{most}", *asked, errors="surrogateescape", seconds=seconds)
    found = []
    for part in (told or "").split("\x01")[1:]:
        message, _, names = part.partition("\x02")
        found.append(Commit(message, tuple(name for each in names.split("\0") if (name := each.lstrip("\n")))))
    return found


def committed_at(folder: str) -> int | None:
    """When the commit was made that a folder stands on, in seconds since 1970."""
    told = _ask(folder, "log", "--max-count=1", "--format=%ct", "HEAD", "--")
    return int(told) if told and told.strip().isdecimal() else None


def diff_stat(folder: str, before: str, after: str, seconds: float = 3.0) -> DiffStat | None:
    """What changed from one commit to another; None when that cannot be told: one is gone, or it takes too long."""
    if not _HASH.fullmatch(before) or not _HASH.fullmatch(after):
        return None
    told = _ask(
        folder, "diff-tree", "-r", "--shortstat", "--no-ext-diff", "--no-textconv", before, after, "--", seconds=seconds
    )
    if told is None:
        return None
    counts = (pattern.search(told) for pattern in _COUNTED.values())
    return DiffStat(*(int(found[1]) if found else 0 for found in counts))


def tree(folder: str, seconds: float = 30.0) -> Tree | None:
    """The state of what lies in a folder; None where no repository is, or only one that ignores the folder."""
    if is_in_none(folder):
        return None
    prefix, unset = prefix_of(folder), filters(folder)
    if prefix is None or unset is None:
        return None
    shown = ("--porcelain=v2", "-z", "--branch", "--ahead-behind", "--untracked-files=all", "--no-renames")
    told = _list(folder, "status", *shown, "--ignore-submodules=all", "--", ".", unset=unset, seconds=seconds)
    return None if told is None else _tree(told, prefix)


def is_in_none(folder: str) -> bool:
    """Whether git would find no repository around a folder, told without starting it: nothing there or above is called
    as what git looks for, and nothing is a repository itself."""
    if not folder:
        return False
    place = os.path.realpath(folder)
    above = itertools.accumulate(place.split("/"), lambda way, name: f"{way.rstrip('/')}/{name}")
    return not any(os.path.lexists(f"{each}/{name}") for each in above for name in (".git", "HEAD"))


def shared_folder(folder: str) -> str | None:
    """The folder that a repository and all its worktrees have in common; None where there is no repository."""
    if (found := git_folder.at_top(folder)) is not None:
        return found.shared
    told = _ask(folder, "rev-parse", "--git-common-dir", errors="surrogateescape")
    return None if told is None else os.path.realpath(os.path.join(folder, told.removesuffix("\n")))


def remotes(folder: str) -> list[str]:
    """The addresses of a repository's remotes as they are configured, with whatever credentials are in them."""
    told = _list(folder, "config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$", literal=False)
    return [pair.partition("\n")[2] for pair in told or ()]


def unpushed(folder: str, tree: Tree) -> int | None:
    """How many commits no remote has; None when there is no remote to compare with."""
    if tree.ahead is not None:
        return tree.ahead
    if tree.commit is None or has_no_remote(folder):
        return None
    if not _ask(folder, "for-each-ref", "--count=1", "refs/remotes"):
        return None
    told = _ask(folder, "rev-list", "--count", tree.commit, "--not", "--remotes", "--")
    return None if told is None else int(told)


def has_no_remote(folder: str) -> bool:
    """Whether certainly nothing was ever fetched from or pushed to another repository."""
    found = git_folder.at_top(folder)
    return found is not None and git_folder.has_none(found, "refs/remotes")


def prefix_of(folder: str) -> str | None:
    """What git puts before every path of a folder; None when the folder is in no repository that cares for it."""
    if git_folder.at_top(folder) is not None:
        return ""
    told = _ask(folder, "rev-parse", "--show-prefix", errors="surrogateescape")
    prefix = None if told is None else told.removesuffix("\n")
    ignored = prefix and _ask(folder, "check-ignore", "--quiet", ".") is not None
    return None if ignored else prefix


def filters(folder: str) -> list[str] | None:
    """The names of the filters that a repository, or its user, has configured."""
    keys = setting_names(folder)
    if keys is None:
        return None
    return sorted({key.removeprefix("filter.").rpartition(".")[0] for key in keys if key.startswith("filter.")})


def setting_names(folder: str) -> frozenset[str] | None:
    """The names of all settings that hold in a folder, the user's and the machine's among them."""
    found = git_folder.at_top(folder)
    stamp = None if found is None else git_folder.settings_stamp(found)
    if stamp is not None and (known := _remembered.get(stamp)) and time.monotonic() < known[0]:
        return known[1]
    told = _list(folder, "config", "-z", "--name-only", "--list")
    names = None if told is None else frozenset(told)
    # What a file includes may depend on anything, a branch's name among it.
    if stamp is not None and names is not None and not any(name.startswith("include") for name in names):
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[stamp] = time.monotonic() + _REMEMBERED_SECONDS, names
    return names


_remembered: dict[git_folder.Stamp, tuple[float, frozenset[str]]] = {}


def filtered_files(folder: str) -> list[str] | None:
    """The tracked files that a filter makes out of what is committed, so that both differ in a clean folder too."""
    prefix, unset = prefix_of(folder), filters(folder)
    if prefix is None or unset is None:
        return None
    attributes = [f":(attr:filter={name})" for name in unset if _NAME_IN_PATHSPEC.fullmatch(name)]
    told = _list(folder, "ls-files", "-z", "--full-name", "--", *attributes, literal=False) if attributes else []
    return None if told is None else [*_within(prefix, told)]


def listed_files(folder: str, paths: Sequence[str]) -> set[str] | None:
    """Those of the paths that git tracks, or would if it was told to add everything."""
    prefix = prefix_of(folder)
    found: set[str] = set()
    for some in _batches(paths):
        told = _list(folder, "ls-files", "-zco", "--exclude-standard", "--full-name", "--", *some)
        if told is None or prefix is None:
            return None
        found.update(_within(prefix, told))
    return found.intersection(paths)


def committed_files(folder: str, commit: str, paths: Sequence[str]) -> dict[str, Blob] | None:
    """Those of the paths that a commit has as a file or a symbolic link."""
    prefix = prefix_of(folder)
    if prefix is None or not _HASH.fullmatch(commit):
        return None
    found: dict[str, Blob] = {}
    for some in _batches(paths):
        told = _list(folder, "ls-tree", "-zl", "--full-tree", commit, "--", *(prefix + path for path in some))
        if told is None:
            return None
        for entry in told:
            about, _, path = entry.partition("\t")
            mode, kind, name, size = about.split()
            if kind == "blob" and size.isdecimal():
                found[path] = Blob(name, int(size), mode == "120000", mode == "100755")
    return {path: found[prefix + path] for path in paths if prefix + path in found}


def keeps_modes(folder: str) -> bool:
    """Whether the folder's files are executable where the committed ones are; some file systems do not care."""
    return _ask(folder, "config", "--type=bool", "core.fileMode") != "false\n"


def contents(folder: str, blobs: Collection[Blob]) -> dict[str, bytes]:
    """The bytes of blobs, by their hash; those that are too large or cannot be read are not among them."""
    found: dict[str, bytes] = {}
    some: list[Blob] = []
    size = 0
    for blob in {blob for blob in blobs if blob.size <= LARGEST_CONTENT}:
        if size + blob.size > _MOST_CONTENT:
            found |= _contents(folder, some)
            some, size = [], 0
        some.append(blob)
        size += blob.size
    return found | _contents(folder, some)


def _contents(folder: str, blobs: Sequence[Blob]) -> dict[str, bytes]:
    asked = "".join(f"{blob.hash}\n" for blob in blobs).encode()
    told = _ask(folder, "cat-file", "--batch", given=asked, errors="surrogateescape", seconds=60.0) if blobs else None
    data = (told or "").encode("utf-8", "surrogateescape")
    found: dict[str, bytes] = {}
    at = 0
    while (end := data.find(b"\n", at)) > 0:
        name, _, about = data[at:end].decode("ascii", "replace").partition(" ")
        kind, _, size = about.partition(" ")
        at = end + 1
        if kind == "blob":
            found[name] = data[at : at + int(size)]
            at += int(size) + 1
    return found


def _tree(told: Sequence[str], prefix: str) -> Tree:
    about: dict[str, str] = {}
    changed: list[str] = []
    for item in told:
        kind, _, rest = item.partition(" ")
        if kind == "#":
            name, _, about[name] = rest.partition(" ")
        else:  # before its path an entry has 0, 7 or 9 further fields
            changed.append(rest.split(" ", {"1": 7, "u": 9}.get(kind, 0))[-1])
    commit, branch = about.get("branch.oid", ""), about.get("branch.head")
    ahead = _AHEAD.fullmatch(about.get("branch.ab", ""))
    return Tree(
        commit if _HASH.fullmatch(commit) else None,
        None if branch == "(detached)" else branch,
        int(ahead[1]) if ahead else None,
        tuple(_within(prefix, changed)),
    )


def _within(prefix: str, paths: Iterable[str]) -> Iterator[str]:
    return (path[len(prefix) :] for path in paths if path.startswith(prefix))


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _MOST_NAMED] for start in range(0, len(paths), _MOST_NAMED))


def _list(
    folder: str, *arguments: str, literal: bool = True, unset: Sequence[str] = (), seconds: float = 10.0
) -> list[str] | None:
    """What git prints with a NUL after each. `literal`: no path among the arguments is a pattern."""
    first = ("--literal-pathspecs",) if literal else ()
    told = _ask(folder, *first, *arguments, unset=unset, errors="surrogateescape", seconds=seconds)
    return None if told is None else told.split("\0")[:-1]


def _ask(
    folder: str,
    *arguments: str,
    given: bytes = b"",
    unset: Sequence[str] = (),
    errors: str = "replace",
    seconds: float = 10.0,
) -> str | None:
    """What git prints; None when it refuses, cannot be run or prints too much. `unset` names filters not to run."""
    if not folder:
        return None
    try:
        result = run(folder, *arguments, given=given, unset=unset, errors=errors, seconds=seconds)
    except Unusable:
        return None
    return result.stdout if result.code == 0 and not result.cut else None
