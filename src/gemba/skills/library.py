"""Skills on disk: the bundled ones, a workspace's own, and whatever files and folders somebody names.

Reads only; a file that cannot be read is a finding, not an end. Called by the API, the doctor, the server at its start
and `gemba skills`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from gemba import wire
from gemba.skills.rules import finding
from gemba.skills.skill import MOST_BYTES, Document, Library, Source
from gemba.text import storable

BUNDLED = Path(__file__).parent / "bundled"
MOST_FILES = 500


def own_folder(root: Path) -> Path:
    """Where a workspace keeps skills of its own."""
    return root / ".gemba" / "skills"


def read_library(root: Path | None) -> Library:
    """The bundled skills and, with the root of a workspace, its own."""
    bundled = [_document(path, path.name, "bundled") for path in _files_in(BUNDLED)]
    own = () if root is None else _files_in(own_folder(root))
    return _judged(bundled, ((path, os.path.relpath(path, root)) for path in own))


def read_paths(paths: Iterable[Path]) -> Library:
    """The skills in files and folders that somebody names, beside the bundled ones that are not among them."""
    own = [(file, str(file)) for path in paths for file in (_files_in(path) if path.is_dir() else [path])]
    given = {os.path.realpath(path) for path, _ in own}
    others = [path for path in _files_in(BUNDLED) if os.path.realpath(path) not in given]
    return _judged([_document(path, path.name, "bundled") for path in others], own)


def _judged(bundled: list[Document], own: Iterable[tuple[Path, str]]) -> Library:
    from gemba.skills.lint import lint  # loads a parser of YAML, which most commands do without

    named = list(islice(own, MOST_FILES + 1))
    documents = [_document(path, shown) for path, shown in named[:MOST_FILES]]
    library = lint([*bundled, *documents])
    if len(named) > MOST_FILES:
        more = Document(storable(named[-1][1]))
        library.findings.append(finding("too-many-files", more, 1, f"the first {MOST_FILES} are"))
    return library


def _files_in(folder: Path) -> Iterator[Path]:
    """Every Markdown file in and below a folder, in order of their paths; what is hidden, and a README, is none.

    Links to other folders are not followed. Of a folder that cannot be listed its own path stands for what is in it.
    """
    unlisted: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(".md") and not name.startswith(".") and name.lower() != "readme.md":
                yield Path(place, name)
    yield from (Path(error.filename) for error in unlisted if not isinstance(error, FileNotFoundError))


def _document(path: Path, shown: str, source: Source = "workspace") -> Document:
    try:
        return Document(storable(shown), wire.read_file(str(path), MOST_BYTES), source=source)
    except OSError as error:
        return Document(storable(shown), problem=error.strerror or str(error), source=source)
