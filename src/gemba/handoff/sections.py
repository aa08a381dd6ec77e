"""The sections of project knowledge, as `.gemba/context.toml` declares them: what each is about, and who may write it.

A section with paths is a surface: a task whose targets meet them works on it. Paths and targets are globs of one
kind: relative, `*` and `?` within a part of a path, `**` for any number of whole parts, everything else is itself
(brackets too), and upper and lower case differ. One without wildcards, and one that ends in `/`, is also the folder of
that name. Two globs meet when some path fits both, found without backtracking in time linear in the target.

`read_sections` tells every fault of the file with its line. The rest is pure. Called by whoever composes an envelope
or applies an update.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gemba import toml, typed, wire
from gemba.config import Finding, Workspace, refused
from gemba.errors import Unusable
from gemba.toml import Fault, Place, quoted

MOST_BYTES = 65_536  # of the file
MOST_SECTIONS = 200
MOST_GLOBS = 200  # of one section, and as many writers
LONGEST_GLOB = 400
LONGEST_PATH = 4_096  # of a target; no file has a longer one
_DEEPEST = 8  # levels of a file that is looked at for lines

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME_RULE = "letters, digits, - _ . and at most 64 of them"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_PIECE = re.compile(r"/\*\*(?=/|$)|\*+|.")


class SectionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[section.<name>]`. `strict`: values of live state are refused in it; without it, what the whole file says."""

    paths: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    strict: bool | None = None


class ContextSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of context.toml."""

    strict: bool = False
    section: dict[str, SectionSettings] = {}


class Section(msgspec.Struct, frozen=True):
    """One section: the globs it is about, the roles and personas that may write it, whether live state is refused."""

    name: str
    paths: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    strict: bool = False


def surfaces_of(targets: Iterable[str], sections: Iterable[Section]) -> tuple[str, ...]:
    """The sections that a task's targets meet, in the order of the file. A target that leaves the tree meets none."""
    read = [glob for target in targets if (glob := _read_glob(target)) is not None]
    return tuple(section.name for section in sections if _meets_any(section, read))


def writable_by(role: str | None, sections: Iterable[Section]) -> tuple[str, ...]:
    """The sections that a role or persona may write, by exact name, in the order of the file."""
    return tuple(section.name for section in sections if role in section.writers)


def _meets_any(section: Section, targets: Sequence[_Glob]) -> bool:
    globs = (glob for path in section.paths if (glob := _read_glob(path)) is not None)
    return any(places.meets(target) for places in map(_Places, globs) for target in targets)


# ---- the file --------------------------------------------------------------------------------------------------------


def read_sections(workspace: Workspace) -> tuple[Section, ...]:
    """The sections of a workspace; none without the file. A fault is an Invalid, as in `parse_sections`."""
    path = workspace.folder / "context.toml"
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="context_unreadable") from None
    return parse_sections(raw, path)


def parse_sections(raw: bytes, path: Path | str = "context.toml") -> tuple[Section, ...]:
    """The sections of a file's bytes, or an Invalid that names the line of the first fault and has all of them as
    `extra["findings"]`.
    """
    try:
        if len(raw) > MOST_BYTES:
            raise toml.NotToml(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")
        text, document = toml.load(raw)
    except toml.NotToml as error:
        raise refused(path, [Finding(error.line, error.message)], "context_syntax") from None
    faults = [*toml.misfits(document, ContextSettings), *_faults(document)]
    if not faults:
        return _sections(typed.convert(document, ContextSettings))
    # Below so many levels its keys are not worth their places.
    lines: dict[Place, int] = {(): 1} if wire.is_deeper(document, _DEEPEST) else toml.places(text)
    findings = [Finding(toml.line_of(place, lines), _where(place) + words) for place, words in faults]
    raise refused(path, findings, "context_invalid")


def _sections(settings: ContextSettings) -> tuple[Section, ...]:
    return tuple(
        Section(name, given.paths, given.writers, settings.strict if given.strict is None else given.strict)
        for name, given in settings.section.items()
    )


def _where(place: Place) -> str:
    """What a place belongs to, as its sentence begins."""
    match place:
        case ("section", str(name), *_):
            return f"section {quoted(name)}: "
    return ""


# ---- what no type says -----------------------------------------------------------------------------------------------


def _faults(document: dict[str, Any]) -> Iterator[Fault]:
    """Faults in the meaning of what has its type, beside those of the types."""
    sections = document.get("section")
    if not isinstance(sections, dict):
        return
    if len(sections) > MOST_SECTIONS:
        yield Fault(("section",), f"there are {len(sections)} sections; allowed: at most {MOST_SECTIONS}")
    for name, section in sections.items():
        place: Place = ("section", name)
        if not _NAME.fullmatch(name):
            yield Fault(place, f"this name cannot be used; allowed: {_NAME_RULE}")
        if isinstance(section, dict):
            yield from _items((*place, "paths"), section.get("paths"))
            yield from _items((*place, "writers"), section.get("writers"))


def _items(place: Place, items: Any) -> Iterator[Fault]:
    """Faults of a list of globs or of names: one by one, doubles, too many."""
    if not isinstance(items, list):
        return
    key = place[-1]
    if len(items) > MOST_GLOBS:
        yield Fault(place, f"{key} has {len(items)} entries; allowed: at most {MOST_GLOBS}")
    seen: set[str] = set()
    for number, item in enumerate(items[:MOST_GLOBS]):
        if not isinstance(item, str):
            continue
        wrong = glob_fault(item) if key == "paths" else _writer_fault(item)
        if wrong is not None:
            yield Fault((*place, number), f"{key}[{number + 1}] is {_shown(item)}: {wrong}")
        elif item in seen:
            yield Fault((*place, number), f"{quoted(item)} stands in {key} twice")
        seen.add(item)


def _shown(item: str) -> str:
    return quoted(item) if item.strip() else "empty"


def _writer_fault(name: str) -> str | None:
    return None if _NAME.fullmatch(name) else f"no role or persona is called so; allowed: {_NAME_RULE}"


def glob_fault(glob: str) -> str | None:
    """What is wrong with a glob, and what is allowed; None when it can be used."""
    parts = glob.split("/")
    if not glob.strip():
        return "allowed: a path with * ? and ** in it, such as docs/**"
    if len(glob) > LONGEST_GLOB:
        return f"it is too long; allowed: {LONGEST_GLOB} characters"
    if _CONTROL.search(glob):
        return "it has a control character; allowed: a path"
    if "\\" in glob:
        return "it has a backslash; allowed: / between the parts of a path"
    if glob.startswith(("/", "~")):
        return "it is not relative; allowed: a path from the workspace's folder on"
    if ".." in parts:
        return "it leaves its folder with ..; allowed: a path inside the workspace"
    if glob.startswith("!") or _BRACES.search(glob):
        return "! and {a,b} are not known here; allowed: * ? and **, and one glob for each case"
    if any("**" in part and part != "**" for part in parts):
        return "** stands alone between slashes; allowed: such as src/**/*.py"
    return None


# ---- globs -----------------------------------------------------------------------------------------------------------


class _Glob(NamedTuple):
    """A glob, cleaned of empty parts, and what it is made of: characters, `?`, `*`, and `/**` for any parts or none."""

    path: str
    pieces: list[str]

    @property
    def wild(self) -> bool:
        return "*" in self.path or "?" in self.path


def _read_glob(text: str) -> _Glob | None:
    """A glob to compare with others; None for what is no path inside the workspace."""
    if len(text) > LONGEST_PATH or text.startswith(("/", "~")) or _CONTROL.search(text) or "\\" in text:
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts or not text.strip():
        return None
    if text.endswith("/") or not parts:
        parts.append("**")
    parts = [part for part, before in zip(parts, ["", *parts], strict=False) if not part == before == "**"]
    path = "/".join(parts)
    return _Glob(path, _PIECE.findall("/" + path))


class _Places:
    """A glob as the places between its pieces, each one bit, and the bits from which a step leads on.

    A set of places is a number, so that a step costs the same wherever in the glob a path may be.
    """

    def __init__(self, glob: _Glob) -> None:
        self.glob = glob
        self.by_character: dict[str, int] = {}
        self.words = self.stays = self.stays_at_slash = self.skips = 0
        place = 1
        for piece in glob.pieces:
            if piece == "/**":  # a slash and then anything; or nothing at all
                self._add("/", place)
                self.skips |= place
                self.stays_at_slash |= place << 1
                place <<= 2
            elif piece[0] == "*":
                self.stays |= place
            else:
                self._add(piece, place)
                place <<= 1
        self.stays |= self.stays_at_slash
        self.words = sum(places for char, places in self.by_character.items() if char != "/")
        self.any_character = self.by_character.get("?", 0)
        self.end = place

    def _add(self, character: str, place: int) -> None:
        self.by_character[character] = self.by_character.get(character, 0) | place

    def meets(self, other: _Glob) -> bool:
        """Whether some path fits both: the other is walked along once, with all the places that it may be at here."""
        if _folder_holds(self.glob, other) or _folder_holds(other, self.glob):
            return True
        at = self._settled(1)
        for piece in other.pieces:
            at = self._after(piece, at)
            if not at:
                return False
        return bool(at & self.end)

    def _after(self, piece: str, at: int) -> int:
        if piece == "/":
            return self._slash(at)
        if piece == "/**":
            first = self._slash(at)
            return at | ((self.end << 1) - (first & -first) if first else 0)  # from the lowest place on, all
        if piece[0] == "*":  # as far as no slash is in the way: a carry runs through neighbouring bits
            return self._settled(at | ((at & self.words) + self.words ^ self.words))
        here = self.words if piece == "?" else self.by_character.get(piece, 0) | self.any_character
        return self._settled((at & here) << 1 | at & self.stays)

    def _slash(self, at: int) -> int:
        return self._settled((at & self.by_character["/"]) << 1 | at & self.stays_at_slash)

    def _settled(self, at: int) -> int:
        return at | (at & self.skips) << 2 | (at & self.stays_at_slash) << 1


def _folder_holds(folder: _Glob, inside: _Glob) -> bool:
    return not folder.wild and inside.path.startswith(folder.path + "/")
