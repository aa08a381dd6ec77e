"""Which personas a workspace has: the shipped ones, and those of its `.gemba/personas/`, one TOML file each.

A file of the workspace takes the place of the shipped persona of its name. One that has a fault is named with its line,
and the others load; where it would have taken a shipped one's place, that one stays to answer for its purview, but
with nothing to spend, since its own limits cannot be known. Called once when a workspace is opened.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gemba import toml, typed
from gemba.config import Finding, Workspace, refused
from gemba.errors import Invalid, NotFound, Unusable
from gemba.personas.check import ID_RULE, faults_of, is_id, notes_of
from gemba.personas.persona import BudgetPolicy, Origin, Persona, PersonaFile
from gemba.text import storable
from gemba.toml import Place, nearest, quoted

MOST_BYTES = 65_536  # of a file
MOST_FILES = 200
_SHIPPED = Path(__file__).with_name("shipped")
_ORDER = (
    *("project-manager", "architect", "security", "qa", "deployment-engineer", "documentarian"),
    "coordinator",
)
_STANDS_IN = "; until it is right the shipped one answers for its purview, and spends nothing"


class PersonaFault(msgspec.Struct, frozen=True):
    """One fault of one file: the line it stands in, and a sentence."""

    file: str
    line: int
    message: str


class Personas(msgspec.Struct, frozen=True):
    """Every persona by its id, the shipped ones first; what is wrong with the files of others; and what files that load
    ask for and do not get."""

    by_id: dict[str, Persona] = {}
    faults: list[PersonaFault] = []
    notes: list[PersonaFault] = []

    def find(self, id: str) -> Persona:
        """The one of that id; NotFound says which there are, and what is wrong with its file if there is one."""
        if id in self.by_id:
            return self.by_id[id]
        fault = next((fault for fault in self.faults if fault.file == f"{id}.toml"), None)
        if fault is not None:
            told = f"persona {quoted(id)} cannot be used: {fault.file}:{fault.line}: {fault.message}"
            raise NotFound(told, code="not_found", found=id)
        raise NotFound(f"no persona is called {quoted(id)}{nearest(id, self.by_id)}", code="not_found", found=id)


def read_personas(workspace: Workspace, skills: Collection[str] | None = None) -> Personas:
    """What can be used, and the faults of the rest. `skills` are the ids that there are; without them all are taken."""
    made = dict(shipped())
    faults: list[PersonaFault] = []
    notes: list[PersonaFault] = []
    for path in _files(personas_folder(workspace), faults):
        id = path.stem
        origin: Origin = "replaced" if id in made else "workspace"
        try:
            raw = _read(path)
            made[id] = parse_persona(raw, id, skills, path=path, origin=origin)
            notes += [PersonaFault(storable(path.name), each.line, each.message) for each in _notes(raw)]
        except Invalid as error:
            stands_in = _STANDS_IN if id in made else ""
            found: list[Finding] = error.extra["findings"]
            faults += [PersonaFault(storable(path.name), each.line, each.message + stands_in) for each in found]
        except Unusable as error:
            faults.append(PersonaFault(storable(path.name), 1, error.message))
        else:
            continue
        if id in made:
            made[id] = msgspec.structs.replace(made[id], budget_policy=BudgetPolicy(), mutation_authority=None)
    return Personas(made, faults, notes)


def personas_folder(workspace: Workspace) -> Path:
    return workspace.folder / "personas"


@cache
def shipped() -> dict[str, Persona]:
    """The package's own, checked like any other but for their skills, in the order in which they are shown."""
    return {id: parse_persona((_SHIPPED / f"{id}.toml").read_bytes(), id, path=f"{id}.toml") for id in _ORDER}


def parse_persona(
    raw: bytes,
    id: str,
    skills: Collection[str] | None = None,
    *,
    path: Path | str | None = None,
    origin: Origin = "shipped",
) -> Persona:
    """The persona that a file's bytes describe, or an Invalid that names the line of the first fault and has all of
    them as `extra["findings"]`.
    """
    where = path or f"{id}.toml"
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(where, [Finding(error.line, error.message)], "persona_syntax") from None
    faults = [*toml.misfits(document, PersonaFile), *faults_of(id, document, skills)]
    if not is_id(id):
        faults.append(toml.Fault((), f"the file is called {quoted(id + '.toml')}; allowed: {ID_RULE}, and .toml"))
    if faults:
        lines = toml.places(text)
        findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
        raise refused(where, findings, "persona_invalid")
    return typed.convert(_cleaned({**document, "id": id, "origin": origin}), Persona)


def _notes(raw: bytes) -> list[Finding]:
    text, document = toml.load(raw)
    lines = toml.places(text)
    return [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in notes_of(document)]


def _files(folder: Path, faults: list[PersonaFault]) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        faults.append(PersonaFault("", 1, f"the folder personas cannot be read: {error.strerror}"))
        return []
    if len(found) > MOST_FILES:
        many = f"there are {len(found)} files of personas; allowed: {MOST_FILES}"
        faults.append(
            PersonaFault(storable(found[MOST_FILES].name), 1, f"{many}: this one and those after it are left out")
        )
    return found[:MOST_FILES]


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe would keep its reader waiting
            raise Unusable("this is not a file", code="persona_unreadable")
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"it cannot be read: {error.strerror}", code="persona_unreadable") from None


def _cleaned(value: Any) -> Any:
    """TOML takes an escaped NUL, and no database does."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {key: _cleaned(each) for key, each in value.items()}
        case list():
            return [_cleaned(each) for each in value]
    return value


def _where(place: Place) -> str:
    """What a place belongs to, as its sentence begins."""
    match place:
        case (str(table), str(), *_):
            return f"[{table}] "
    return ""
