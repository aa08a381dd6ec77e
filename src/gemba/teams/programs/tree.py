"""The files of a repository: what git lists, or what lies in the folder; read within limits, in a fixed order.

Nothing is followed out of the folder, no link, no pipe. What was left out is counted, and told by `unseen`. The
workspace's own folder `.gemba` is no part of it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gemba import git
from gemba.errors import Unusable
from gemba.teams.programs.page import many

MOST_FILES = 20_000  # that are listed
MOST_ENTRIES = 200_000  # that are looked at for it, where git does not list them
MOST_READ = 4_000  # files
MOST_BYTES = 24 * 1024 * 1024  # of all that is read
LARGEST = 512 * 1024  # bytes of one
_BINARY = 8000
# Folders that are not looked into where git does not say what to ignore.
_PASSED_OVER = {".git", ".hg", ".svn", ".venv", "venv", "__pycache__", "node_modules", ".tox", ".mypy_cache", "target"}
_OWN = ".gemba"

LANGUAGES = {
    "Python": "py pyi",
    "JavaScript": "js mjs cjs jsx",
    "TypeScript": "ts tsx mts cts",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "Kotlin": "kt kts",
    "C": "c h",
    "C++": "cc cpp cxx hpp hh",
    "C#": "cs",
    "Ruby": "rb",
    "PHP": "php",
    "Swift": "swift",
    "Shell": "sh bash zsh",
    "SQL": "sql",
    "HTML": "html htm",
    "CSS": "css scss less",
    "Markdown": "md markdown",
    "reStructuredText": "rst",
    "TOML": "toml",
    "YAML": "yaml yml",
    "JSON": "json",
}
_LANGUAGE_OF = {suffix: name for name, suffixes in LANGUAGES.items() for suffix in suffixes.split()}
_NO_CODE = {"Markdown", "reStructuredText", "TOML", "YAML", "JSON", "HTML", "CSS"}


class Tree:
    """A folder's files by their path, in order. Each is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = _listed_by_git(root)
        self.by_git = listed is not None
        found, self._cut = (sorted(listed), False) if listed is not None else _walked(root)
        self._odd = sum(not path.isprintable() for path in found)
        usable = [path for path in found if path.isprintable() and not path.startswith(f"{_OWN}/")]
        self._dropped = max(0, len(usable) - MOST_FILES)
        self.sizes = {path: size for path in usable[:MOST_FILES] if (size := _size(root, path)) is not None}
        self.paths = list(self.sizes)
        self._texts: dict[str, str | None] = {}
        self._read = self._bytes = self._large = self._binary = self._over = 0

    def __contains__(self, path: str) -> bool:
        return path in self.sizes

    def text(self, path: str) -> str | None:
        """What a file says; None when it is no text, too large, or more was read than may be."""
        if path not in self._texts:
            self._texts[path] = self._read_text(path) if path in self.sizes else None
        return self._texts[path]

    def _read_text(self, path: str) -> str | None:
        size = self.sizes[path]
        if size > LARGEST:
            self._large += 1
            return None
        if self._read >= MOST_READ or self._bytes + size > MOST_BYTES:
            self._over += 1
            return None
        self._read, self._bytes = self._read + 1, self._bytes + size
        try:
            descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(LARGEST)
        except OSError:
            return None
        if b"\0" in data[:_BINARY]:
            self._binary += 1
            return None
        return data.decode("utf-8", "replace")

    def code_files(self) -> list[str]:
        return [path for path in self.paths if is_code(path)]

    def unseen(self) -> list[str]:
        """What was left out, a sentence each."""
        counts = [
            (self._dropped, f"beyond the first {MOST_FILES:,} that are listed"),
            (self._over, f"beyond the {MOST_READ:,} files or {MOST_BYTES // 1024 // 1024} MB that are read"),
            (self._large, f"larger than {LARGEST // 1024} KB"),
            (self._binary, "that hold no text"),
            (self._odd, "whose names cannot be shown"),
        ]
        told = [f"{many(count, 'file')} {why}." for count, why in counts if count]
        if self._cut:
            told.append(f"What comes after the first {MOST_ENTRIES:,} entries of the folder.")
        if not self.by_git:
            told.append("The history: this folder is in no git repository.")
        return told


def language_of(path: str) -> str | None:
    return _LANGUAGE_OF.get(path.rpartition("/")[2].rpartition(".")[2].lower()) if "." in path else None


def is_code(path: str) -> bool:
    name = language_of(path)
    return name is not None and name not in _NO_CODE


def _listed_by_git(root: Path) -> list[str] | None:
    try:
        told = git.run(str(root), "ls-files", "-zco", "--exclude-standard", seconds=30.0)
    except Unusable:
        return None
    return sorted(set(told.stdout.split("\0")[:-1])) if told.code == 0 and not told.cut else None


def _walked(root: Path) -> tuple[list[str], bool]:
    """What lies in a folder, and whether there was more than may be looked at."""
    found: list[str] = []
    looked = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and name != _OWN)
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else f"{inside}/"
        found += [prefix + name for name in sorted(names)]
        looked += len(names) + len(folders)
        if looked > MOST_ENTRIES:
            return sorted(found), True
    return sorted(found), False


def _size(root: Path, path: str) -> int | None:
    try:
        seen = (root / path).lstat()
    except (OSError, ValueError):
        return None
    return seen.st_size if stat.S_ISREG(seen.st_mode) else None
