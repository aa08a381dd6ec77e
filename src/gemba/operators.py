"""Who may act on a workspace: the operator that each has (`.gemba/token`), and those added to it by name.

A token is a private file (0600 from its first byte, whole or absent); `.gemba/operators/<name>` is that of an added
operator. A file that others can read or have put there, as a checkout would, is no secret: the workspace's own token
is replaced, one of an added operator counts for nothing. The server's guard asks `Operators`, commands read the files.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
import stat
import tempfile
import time
from pathlib import Path

import msgspec

from gemba.errors import Conflict, Invalid, NotFound, Unusable

OPERATOR = "operator"  # the name of the one person that a workspace has by itself

_NAME = re.compile(r"[a-z0-9_-]{1,32}\Z")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,128}\s*\Z")
_NAMES_ARE = "1 to 32 small letters, digits, '_' or '-'"
# A folder that was changed so recently may be changed once more without another time on it.
_SETTLED_NS = 1_000_000_000


class Listed(msgspec.Struct, frozen=True):
    """An added operator as its file shows it. With a problem its token is not accepted."""

    name: str
    added_at: int  # as `clock` has moments
    problem: str | None = None


class Operators:
    """Whose a token is, as the files are at this moment: an operator comes and goes without a restart."""

    def __init__(self, token: str, folder: Path) -> None:
        self._folder = folder
        self._path = os.fspath(folder)
        self._token = token.encode()
        self._added: list[tuple[str, bytes]] = []
        self._as_of: dict[str, tuple[int, int, int]] | None = None

    def name_of(self, token: bytes) -> str | None:
        """Each is compared in constant time, a wrong one with all: how long it takes tells nothing of them."""
        if hmac.compare_digest(token, self._token):
            return OPERATOR
        found = None
        for name, known in self._current():
            if hmac.compare_digest(token, known):
                found = name
        return found

    def _current(self) -> list[tuple[str, bytes]]:
        """Read again whenever a file came, went or was changed in any way."""
        try:
            found = {"": os.lstat(self._path)}
            with os.scandir(self._path) as entries:
                found |= {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
        except OSError:
            self._added, self._as_of = [], None
            return self._added
        newest = max(status.st_ctime_ns for status in found.values())
        as_of = {name: (status.st_ino, status.st_mtime_ns, status.st_ctime_ns) for name, status in found.items()}
        if as_of != self._as_of:
            self._added = [(name, token.encode()) for name, token in _tokens(self._folder)]
            # A file that was changed just now may be changed again within the same tick of its clock.
            self._as_of = as_of if time.time_ns() - newest > _SETTLED_NS else None
        return self._added


def read_token(file: Path) -> str:
    """The workspace's own token, made at first use."""
    for _ in range(2):
        try:
            if not _is_private(file):
                file.unlink()
            token = file.read_text().strip()
            if token:
                return token
            raise Unusable(f"{file} is empty; without it a new one is made", code="token_unusable")
        except FileNotFoundError:
            _make_token(file)
        except (OSError, UnicodeDecodeError) as error:
            raise Unusable(f"{file} cannot be read: {error}", code="token_unusable") from None
    raise Unusable(f"{file} cannot be made", code="token_unusable")


def token_of(folder: Path, name: str) -> str:
    """An added operator's token; a clear error where there is none that the server would accept."""
    file = folder / checked_name(name)
    problem = _problem(file)
    if problem is None:
        return file.read_text().strip()
    if not file.exists():
        known = ", ".join([OPERATOR, *(listed.name for listed in list_operators(folder))])
        raise NotFound(
            f"this workspace has no operator named {name}; it has {known}, and `gemba operator add` adds one",
            code="operator_unknown",
            found=name,
            allowed=known,
        )
    raise Unusable(f"{file} counts for nothing: {problem}", code="token_unusable")


def add_operator(folder: Path, name: str) -> str:
    """A new operator's token."""
    file = folder / checked_name(name)
    if name == OPERATOR:
        raise Conflict(f"{OPERATOR} is the operator that every workspace has", code="operator_exists", found=name)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # One that leads elsewhere is refused here, as it would be by whoever reads it.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fchmod(descriptor, 0o700)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unusable(f"{folder} cannot be made private: {error.strerror}", code="workspace_unwritable") from None
    if not _make_token(file):
        raise Conflict(
            f"{name} is an operator already; the address was shown then: remove and add {name} for a new one",
            code="operator_exists",
        )
    return file.read_text().strip()


def remove_operator(folder: Path, name: str) -> None:
    """From now on the token is nobody's."""
    file = folder / checked_name(name)
    try:
        file.unlink()
    except FileNotFoundError:
        raise NotFound(f"this workspace has no added operator named {name}", code="operator_unknown") from None
    except OSError as error:
        raise Unusable(f"{file} cannot be removed: {error.strerror}", code="workspace_unwritable") from None


def list_operators(folder: Path) -> list[Listed]:
    """The added ones, by name."""
    found = []
    for file in _files(folder):
        with contextlib.suppress(OSError):
            found.append(Listed(file.name, file.lstat().st_mtime_ns // 1000, _problem(file)))
    return found


def checked_name(name: str) -> str:
    """A name is a file's name too: nothing that could leave the folder."""
    if not _NAME.match(name):
        raise Invalid(
            f"{name!r} is no operator's name: {_NAMES_ARE}", code="invalid_name", found=name, allowed=_NAMES_ARE
        )
    return name


def _tokens(folder: Path) -> list[tuple[str, str]]:
    found = []
    for file in _files(folder):
        with contextlib.suppress(OSError):
            if _problem(file) is None:
                found.append((file.name, file.read_text().strip()))
    return found


def _files(folder: Path) -> list[Path]:
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return []
        return sorted(file for file in folder.iterdir() if _NAME.match(file.name) and file.name != OPERATOR)
    except OSError:
        return []


def _problem(file: Path) -> str | None:
    """Why a token is not accepted."""
    try:
        if not _is_private(file):
            return "others can read it, or it is not yours"
        return None if _TOKEN.match(file.read_text()) else "it holds no token"
    except (OSError, UnicodeDecodeError):
        return "it cannot be read"


def _is_private(file: Path) -> bool:
    status = file.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _make_token(file: Path) -> bool:
    """False when one is there already."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".token-") as partial:  # 0600
            partial.write(secrets.token_urlsafe(32) + "\n")
            partial.flush()
            try:
                os.link(partial.name, file)  # unlike a rename it never replaces a token that was just made elsewhere
            except FileExistsError:
                return False
            return True
    except OSError as error:
        raise Unusable(f"{file} cannot be written: {error.strerror}", code="token_unusable") from None
