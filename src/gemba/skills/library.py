"""Skills on disk: the bundled ones, a workspace's own, and whatever files and folders somebody names.

Reads only; a file that cannot be read is a finding, not an end. Called by the API, the doctor, the server at its start
and `gemba skills`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gemba.documents.files import content_of, files_in
from gemba.documents.finding import finding
from gemba.skills.rules import RULES
from gemba.skills.skill import MOST_BYTES, Document, Library, SkillFinding, Source
from gemba.text import storable

BUNDLED = Path(__file__).parent / "bundled"
MOST_FILES = 500


def own_folder(root: Path) -> Path:
    """Where a workspace keeps skills of its own."""
    return root / ".gemba" / "skills"


def read_library(root: Path | None) -> Library:
    """The bundled skills and, with the root of a workspace, its own."""
    bundled = [_document(path, path.name, "bundled") for path in files_in(BUNDLED)]
    own = () if root is None else files_in(own_folder(root))
    return _judged(bundled, ((path, os.path.relpath(path, root)) for path in own))


def read_paths(paths: Iterable[Path]) -> Library:
    """The skills in files and folders that somebody names, beside the bundled ones that are not among them."""
    own = [(file, str(file)) for path in paths for file in (files_in(path) if path.is_dir() else [path])]
    given = {os.path.realpath(path) for path, _ in own}
    others = [path for path in files_in(BUNDLED) if os.path.realpath(path) not in given]
    return _judged([_document(path, path.name, "bundled") for path in others], own)


def _judged(bundled: list[Document], own: Iterable[tuple[Path, str]]) -> Library:
    from gemba.skills.lint import lint  # loads a parser of YAML, which most commands do without

    named = list(islice(own, MOST_FILES + 1))
    documents = [_document(path, shown) for path, shown in named[:MOST_FILES]]
    library = lint([*bundled, *documents])
    if len(named) > MOST_FILES:
        rule, last = RULES["too-many-files"], storable(named[-1][1])
        library.findings.append(finding(SkillFinding, last, rule, 1, f"the first {MOST_FILES} are"))
    return library


def _document(path: Path, shown: str, source: Source = "workspace") -> Document:
    data, problem = content_of(path, MOST_BYTES)
    return Document(storable(shown), data, problem, source)
