"""Role-specs on disk: a workspace's own, and whatever files and folders somebody names.

Reads only; a file that cannot be read is a finding, not an end. Called by `gemba roles`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from gemba.documents.files import content_of, files_in
from gemba.documents.finding import finding
from gemba.teams.roles.role_spec import MOST_BYTES, Document, RoleFinding, RoleSpec
from gemba.teams.roles.rules import RULES
from gemba.text import storable

MOST_FILES = 500


class Roles(NamedTuple):
    """The role-specs without an error, file by file, and everything that was found."""

    specs: list[RoleSpec]
    findings: list[RoleFinding]


def own_folder(root: Path) -> Path:
    """Where a workspace keeps role-specs of its own."""
    return root / ".gemba" / "roles"


def read_own(root: Path, agents: Collection[str] | None) -> Roles:
    return _judged(((path, os.path.relpath(path, root)) for path in files_in(own_folder(root))), agents)


def read_paths(paths: Iterable[Path], agents: Collection[str] | None) -> Roles:
    """The role-specs in files and folders that somebody names."""
    return _judged(((path, str(path)) for path in _named(paths)), agents)


def _named(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from files_in(path) if path.is_dir() else [path]


def _judged(files: Iterable[tuple[Path, str]], agents: Collection[str] | None) -> Roles:
    from gemba.teams.roles.validate import validate  # loads a parser of YAML, which most commands do without

    found = Roles([], [])
    for number, (path, shown) in enumerate(islice(files, MOST_FILES + 1)):
        file = storable(shown)
        if number == MOST_FILES:
            rule = RULES["too-many-files"]
            found.findings.append(finding(RoleFinding, file, rule, 1, f"the first {MOST_FILES} are"))
            break
        judged = validate(Document(file, *content_of(path, MOST_BYTES)), agents)
        found.findings.extend(judged.findings)
        if judged.spec is not None:
            found.specs.append(judged.spec)
    return found
