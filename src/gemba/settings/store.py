"""The files of settings on disk: read, checked, replaced whole or not at all, by the workspace's own operator alone.

What they say is which programs run and who is told what, so only `operator` reads their text and saves one; an added
operator sees what they say. A file is saved when it has no fault and is still the one that was read: its digest is
given back. It is written beside, synced and renamed under a lock of the folder; the event that tells of it commits
behind that, and whoever sends the same request again after a crash in between gets it done.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from gemba.action import Action
from gemba.config import Settings, Workspace
from gemba.errors import Conflict, Invalid, Unusable
from gemba.event import Draft
from gemba.operators import OPERATOR
from gemba.settings.check import findings_of
from gemba.settings.file import FILES, Counts, SettingsFinding, find_file
from gemba.settings.said import Setting, running_values, said_in
from gemba.store.database import Transaction

MOST_BYTES = 512 * 1024
_MODE = 0o644
_NAMED = ("policies", "channels")  # whose names are the operator's own
_NOT_YET = "nothing: it is new"
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder"}

Text = Annotated[str, msgspec.Meta(max_length=MOST_BYTES)]


class NotYours(Invalid):
    """What an added operator may not do."""

    status = 403


class SettingsFileView(msgspec.Struct, frozen=True):
    """A file as it is now. `digest` names what it says; it is empty where there is no file. `counts` is when a change
    of it does."""

    name: str
    path: str
    about: str
    counts: Counts
    digest: str
    findings: list[SettingsFinding]


class SettingsView(msgspec.Struct, frozen=True):
    """Every file and what it says. `waiting` has the names of those settings that a server has from its start and the
    file says otherwise by now, with what the server runs with. `may_edit`: whether who asks may see and save texts."""

    files: list[SettingsFileView]
    said: list[Setting]
    waiting: dict[str, str]
    may_edit: bool


class SettingsText(msgspec.Struct, frozen=True):
    """A file's text, for whoever edits it."""

    file: SettingsFileView
    text: str


class CheckSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that a file may get."""

    file: str
    text: Text


class SettingsChange(msgspec.Struct, frozen=True):
    """One setting that would be another one; without `before` it is new, without `after` it is gone."""

    name: str
    before: str | None
    after: str | None


class CheckedSettings(msgspec.Struct, frozen=True):
    """What is to be said of a text, and what would change with it. `digest` is of the file as it is now."""

    findings: list[SettingsFinding]
    changes: list[SettingsChange]
    digest: str


class SaveSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole text of a file, and the digest of the one that it goes in the place of."""

    text: Text
    digest: Annotated[str, msgspec.Meta(max_length=64)]


class SavedSettings(msgspec.Struct, frozen=True):
    """The file as it is now, and whether that is another text than before."""

    file: SettingsFileView
    changed: bool


# ---- reading ---------------------------------------------------------------------------------------------------------


def view_settings(workspace: Workspace, running: Settings, operator: str) -> SettingsView:
    found = {name: _found(workspace, name) for name in FILES}
    said = [each for name, file in found.items() for each in said_in(name, file.raw)]
    values = running_values(running)
    known = [each for each in said if each.file == "workspace.toml" and (each.name in values or each.part in _NAMED)]
    now = {each.name: values.get(each.name, _NOT_YET) for each in known}
    waiting = {each.name: now[each.name] for each in known if now[each.name] != each.value}
    return SettingsView([_view(name, file) for name, file in found.items()], said, waiting, operator == OPERATOR)


def read_text(workspace: Workspace, name: str, operator: str) -> SettingsText:
    _only_own(operator)
    find_file(name)
    found = _found(workspace, name)
    try:
        return SettingsText(_view(name, found), found.raw.decode())
    except UnicodeDecodeError:
        raise Conflict(f".gemba/{name} is not UTF-8, so it cannot be edited here", code="settings_no_utf8") from None


def _only_own(operator: str) -> None:
    if operator != OPERATOR:
        raise NotYours(
            f"{operator} may see what the settings say, and not their files: they name programs that are run",
            code="operator_refused",
            found=operator,
            allowed=OPERATOR,
        )


# ---- verbs -----------------------------------------------------------------------------------------------------------


def _check(surroundings: Mapping[str, Any], body: CheckSettings) -> CheckedSettings:
    find_file(body.file)
    found = _found(Workspace(Path(surroundings["workspace"])), body.file)
    raw = body.text.encode()
    return CheckedSettings(findings_of(body.file, raw), _changes(body.file, found.raw, raw), found.digest)


def check_settings(tx: Transaction, checked: CheckedSettings) -> CheckedSettings:
    _only_own(tx.actor)
    return checked


def save_settings(tx: Transaction, body: SaveSettings, *, file: str) -> SavedSettings:
    _only_own(tx.actor)
    find_file(file)
    raw = body.text.encode()
    faults = [finding for finding in findings_of(file, raw) if finding.severity == "error"]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise Invalid(
            f".gemba/{file}:{faults[0].line}: {faults[0].message}{more}",
            code="settings_invalid",
            pointer="/text",
            findings=faults,
        )
    workspace = Workspace(Path(tx.surroundings["workspace"]))
    with _locked(workspace.folder) as folder:
        found = _found(workspace, file)
        is_known = found.digest == body.digest
        is_there = found.exists and found.raw == raw
        if not is_known and not is_there:
            raise Conflict(
                f".gemba/{file} was changed meanwhile, so it was not saved: read it again",
                code="settings_changed",
                found=found.digest,
                allowed=body.digest,
            )
        if not is_there:
            _replace(workspace.folder / file, folder, raw, found)
        now = _found(workspace, file)
    changed = not (is_known and is_there)
    if changed:
        tx.emit(Draft("settings.changed", {"file": file, "digest": now.digest, "by": tx.actor}, ref=file))
    return SavedSettings(_view(file, now), changed)


def _changes(name: str, before: bytes, after: bytes) -> list[SettingsChange]:
    """By name, in the order of the new text; what is gone comes last."""
    old = {(each.part, each.name): each.value for each in said_in(name, before)}
    new = {(each.part, each.name): each.value for each in said_in(name, after)}
    if not new:
        return []
    places = [*new, *(place for place in old if place not in new)]
    return [
        SettingsChange(place[1], old.get(place), new.get(place)) for place in places if old.get(place) != new.get(place)
    ]


# ---- the files -------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    raw: bytes
    exists: bool
    mode: int

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.raw).hexdigest() if self.exists else ""


def _found(workspace: Workspace, name: str) -> _Found:
    """A plain file of the folder; a link is not followed, since what it leads to may lie elsewhere."""
    path = workspace.folder / name
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no plain file")
            raise Unusable(f"{path} is {kind}; allowed: a plain file, or nothing", code="settings_no_file")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return _Found(b"", False, _MODE)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="settings_unreadable") from None
    if len(raw) > MOST_BYTES:
        raise Unusable(f"{path} is too long; allowed: {MOST_BYTES:,} bytes", code="settings_too_long")
    return _Found(raw, True, stat.S_IMODE(status.st_mode))


def _view(name: str, found: _Found) -> SettingsFileView:
    file = FILES[name]
    findings = findings_of(name, found.raw) if found.exists else []
    return SettingsFileView(name, f".gemba/{name}", file.about, file.counts, found.digest, findings)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """The open folder, with nobody else of us in it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Unusable(f"{folder}: {error.strerror}", code="settings_unwritable") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _replace(path: Path, folder: int, raw: bytes, found: _Found) -> None:
    partial = f".{path.name}.gemba-partial"  # one name, so that what a crash left is gone with the next change
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(partial, flags, found.mode, dir_fd=folder), "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fchmod(stream.fileno(), found.mode)
            os.fsync(stream.fileno())
        os.rename(partial, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise Unusable(f"{path} cannot be written: {error.strerror}", code="settings_unwritable") from None


ACTIONS = (
    Action(
        "/api/settings/check",
        check_settings,
        CheckSettings,
        CheckedSettings,
        "What is wrong with a text of a settings file, and what would change with it; nothing is saved",
        prepare=_check,
    ),
    Action(
        "/api/settings/{file}",
        save_settings,
        SaveSettings,
        SavedSettings,
        "Save a settings file, unless it was changed since it was read",
        method="PUT",
    ),
)
