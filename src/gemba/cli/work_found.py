"""The work that a repository already has: the tracker's folder, TODO files, checklists. Looked at, and not imported.

Files are looked for by a few names, and read within limits: one that leads out of the repository, is no text, is too
large or cannot be read is named with the reason and stops none of the others. What is in them is read by the importers
themselves, so that what is told is what `gemba import` would take. Called by `gemba init`.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gemba.cli.sync import beads_files
from gemba.errors import GembaError, Invalid, Unusable
from gemba.text import storable

if TYPE_CHECKING:
    from gemba.work.interchange.lines import Work

_PLACES = ("", "docs")
_TODO = ("todo", "todo.md", "todo.txt")  # their name alone says that a list in them is of work
_CHECKLISTS = ("backlog.md", "issues.md", "roadmap.md", "tasks.md")
_BEADS = ".beads"
_MOST_BYTES = {"md": 4 * 1024 * 1024, "beads": 64 * 1024 * 1024}


class Source(NamedTuple):
    """Files with work in them, by their names from the top of the repository. `problem` says why nothing of them is
    offered, `is_too_large` that `gemba import` would take it; `known` are the ids of those that are items already."""

    kind: Literal["beads", "md"]
    files: tuple[str, ...]
    plain: bool = False
    work: Work | None = None
    problem: str | None = None
    is_too_large: bool = False
    known: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return _BEADS if self.kind == "beads" else self.files[0]

    @property
    def entries(self) -> int:
        return sum(1 for _ in self._entries())

    @property
    def open(self) -> int:
        from gemba.work.item import FINISHED

        return sum(values["state"] not in FINISHED for _, values in self._entries())

    @property
    def new(self) -> int:
        return sum(id not in self.known for id, _ in self._entries())

    @property
    def is_offered(self) -> bool:
        """Whether there is anything new to import, and anything still to be done."""
        return self.can_be_imported and self.new > 0

    @property
    def can_be_imported(self) -> bool:
        """The same, or again: what was changed in the files since then."""
        return self.problem is None and (self.open > 0 or bool(self.known))

    def ids(self) -> Iterator[str]:
        return (found.issue.id for found in self.work.issues) if self.work else iter(())

    def command(self, root: Path, folder: str | None) -> str:
        """What imports it, as it is typed in the current folder."""
        words = ["gemba", *([] if folder is None else ["-C", folder]), "import", self.kind]
        files = [os.path.relpath(root / file) for file in self.files]
        return shlex.join([*words, *(["--plain"] if self.plain else []), *files])

    def view(self, root: Path, folder: str | None) -> dict[str, Any]:
        """For programs."""
        return {
            "kind": self.kind,
            "files": [storable(file) for file in self.files],
            "entries": self.entries,
            "open": self.open,
            "new": self.new,
            "bad": len(self.work.bad) if self.work else 0,
            "problem": self.problem,
            "command": storable(self.command(root, folder)) if self.work or self.is_too_large else None,
            "imported": None,
        }

    def _entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is to be done itself: a heading above entries of a list is only where they stand."""
        if self.work is None:
            return
        for found in self.work.issues:
            if self.kind == "beads" or found.issue.values["kind"] not in ("epic", "milestone"):
                yield found.issue.id, found.issue.values


def find_work(root: Path, prefix: str) -> list[Source]:
    """Everything that can be imported, or could but for its problem; `prefix` is of the ids that entries get."""
    return [*_find_beads(root), *_find_lists(root, prefix)]


def with_known(sources: Iterable[Source], known: Collection[str]) -> list[Source]:
    return [source._replace(known=frozenset(id for id in source.ids() if id in known)) for source in sources]


def _find_beads(root: Path) -> Iterator[Source]:
    from gemba.work.interchange.lines import read_lines

    folder = root / _BEADS
    if not os.path.lexists(folder):
        return
    files: tuple[str, ...] = (_BEADS,)
    try:
        files = tuple(str(file.relative_to(root)) for file in beads_files(folder))
        if not files:
            yield Source("beads", (_BEADS,), problem="it has no issues.jsonl; an export of the tracker writes one")
            return
        work = read_lines([(file, _read(root, file, "beads")) for file in files])
        yield Source("beads", files, work=work)
    except (Invalid, Unusable, OSError) as error:
        yield _left_out("beads", files, error)


def _find_lists(root: Path, prefix: str) -> Iterator[Source]:
    seen: set[tuple[int, int]] = set()
    for place in _PLACES:
        try:
            names = sorted(entry.name for entry in (root / place).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield _left_out("md", (place or ".",), error)
            continue
        for name in names:
            is_todo = name.lower() in _TODO
            path = root / place / name
            if not (is_todo or name.lower() in _CHECKLISTS):
                continue
            source = _read_list(root, str(Path(place, name)), prefix, is_todo)
            if source is None:
                continue
            try:
                found = path.stat()
            except OSError:  # the source says why
                yield source
                continue
            if (found.st_dev, found.st_ino) not in seen:  # by another name, or another spelling of it
                seen.add((found.st_dev, found.st_ino))
                yield source


def _read_list(root: Path, file: str, prefix: str, is_todo: bool) -> Source | None:
    """None where it is a folder."""
    from gemba.work.interchange.checklist import read_checklist

    try:
        text = _read(root, file, "md")
    except IsADirectoryError:
        return None
    except (Invalid, Unusable, OSError) as error:
        return _left_out("md", (file,), error)
    work, plain = read_checklist(file, text, prefix), False
    if is_todo and not work.issues and not work.bad:
        work, plain = read_checklist(file, text, prefix, plain=True), True
    if not work.issues and not work.bad:
        lines = "`- [ ]` or `-`" if is_todo else "`- [ ]`"
        return Source("md", (file,), problem=f"it has no entries; allowed: lines that begin with {lines}")
    return Source("md", (file,), plain, work)


def _read(root: Path, file: str, kind: str) -> str:
    """A file's text, if it is one, lies in the repository and is not too large."""
    real, most = os.path.realpath(root / file), _MOST_BYTES[kind]
    if not Path(real).is_relative_to(root):
        raise Invalid("it leads out of the repository", code="outside")
    # Whatever stands there meanwhile: nobody waits for a pipe, and no further link is followed.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        if not stat.S_ISREG(mode):
            raise Unusable("it is no regular file", code="not_a_file")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Invalid(f"it has more than {most:,} bytes", code="file_too_large")
    if b"\0" in data:
        raise Invalid("it is no text", code="not_text")
    return data.decode("utf-8", "surrogateescape")


def _left_out(kind: Literal["beads", "md"], files: tuple[str, ...], error: GembaError | OSError) -> Source:
    if isinstance(error, OSError):
        return Source(kind, files, problem=(error.strerror or str(error)).lower())
    return Source(kind, files, problem=error.message, is_too_large=error.code == "file_too_large")
