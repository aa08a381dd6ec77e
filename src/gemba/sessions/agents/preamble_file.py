"""The files of a preamble: the workspace's interaction profile is read, the block of a worktree's instructions file
is put in and taken out.

A file is replaced whole or not at all, keeps its mode, and is never lost to somebody who saves it in the same moment:
what was changed since it was read is read again. Only plain files are touched; a link is not followed, since what it
leads to may lie outside the worktree. Called by whoever starts and ends sessions.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from gemba.config import Workspace
from gemba.errors import Conflict, Invalid, Unusable
from gemba.sessions.agents import preamble

LONGEST = 4 * 1024 * 1024  # bytes of an instructions file, and of a profile
_ATTEMPTS = 20  # to replace a file that somebody else writes
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder"}


def read_manners(workspace: Workspace, mode: str) -> str:
    """How agents talk to the operator in a mode: as the workspace's profile says, or the shipped one if it does not."""
    path = workspace.folder / "interaction_profile.md"
    try:
        with path.open("rb") as file:
            raw = file.read(LONGEST + 1)
    except FileNotFoundError:
        raw = b""
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", code="profile_unreadable") from None
    if len(raw) > LONGEST:
        raise Invalid(f"{path} is too long; allowed: {LONGEST:,} bytes", code="profile_too_long")
    found = preamble.manners(raw.decode("utf-8-sig", "replace"), mode)
    if found is not None:
        return found
    shipped = resources.files("gemba") / "template" / "interaction_profile.md"
    return preamble.manners(shipped.read_text("utf-8"), mode) or ""


def put_block(file: Path, session_id: str, body: str) -> None:
    """The file has the session's block, and says `body` in it; without a file one is made. Again is no other."""
    _change(file, lambda text: preamble.put(text, session_id, body))


def take_out_block(file: Path, session_id: str) -> bool:
    """The session's block is gone, and the file with it if it was made for it; False when there was none."""
    return _change(file, lambda text: None if text is None else preamble.take_out(text, [session_id]))


def take_out_dead_blocks(file: Path, is_live: Callable[[str], bool]) -> list[str]:
    """Blocks of sessions that do not live any more are gone: of which sessions, by their safe ids."""
    dead: list[str] = []

    def without_them(text: bytes | None) -> bytes | None:
        dead[:] = [] if text is None else [id for id in preamble.sessions_in(text) if not is_live(id)]
        return None if text is None else preamble.take_out(text, dead)

    _change(file, without_them)
    return dead


# ---- one file, replaced ----------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    text: bytes
    status: os.stat_result


def _change(file: Path, change: Callable[[bytes | None], bytes | None]) -> bool:
    """Make of a file's bytes others (None: no file); whether that made a difference."""
    try:
        with _locked(file.parent) as folder:
            for _ in range(_ATTEMPTS):
                found = _read(file, folder)
                text = None if found is None else found.text
                changed = change(text)
                if changed == text:
                    return False
                if _replace(file.name, folder, found, changed):
                    return True
    except preamble.Broken as error:
        message = f"{file}:{error.line}: the session's block has no end any more, so nothing was changed; write "
        raise Conflict(f"{message}<!-- gemba:end --> in a line behind it", code="block_broken") from None
    except OSError as error:
        raise Unusable(f"{file}: {error.strerror}", code="instructions_unusable") from None
    raise Conflict(f"{file} is written to all the time, so nothing was changed", code="instructions_busy")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """The open folder, with nobody else of us in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _read(file: Path, folder: int) -> _Found | None:
    try:
        status = os.stat(file.name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no plain file")
            raise Unusable(f"{file} is {kind}; allowed: a plain file, or nothing", code="instructions_no_file")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(file.name, flags, dir_fd=folder), "rb") as stream:
            status = os.fstat(stream.fileno())
            text = stream.read(LONGEST + 1)
    except FileNotFoundError:
        return None
    if len(text) > LONGEST:
        raise Unusable(f"{file} is too long; allowed: {LONGEST:,} bytes", code="instructions_too_long")
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unusable(f"{file} is UTF-16; allowed: UTF-8", code="instructions_no_utf8")
    return _Found(text, status)


def _replace(name: str, folder: int, found: _Found | None, text: bytes | None) -> bool:
    """False when the file is another one by now, and nothing was done."""
    partial = f".{name}.gemba-partial"  # one name, so that what a crash left is gone with the next change
    _unlink(partial, folder)
    try:
        if text is not None:
            _write(partial, folder, text, found)
        if not _is_as_found(name, folder, found):
            return False
        if text is None:
            _unlink(name, folder)
        else:
            os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
        return True
    finally:
        _unlink(partial, folder)


def _unlink(name: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _write(partial: str, folder: int, text: bytes, found: _Found | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(partial, flags, 0o666, dir_fd=folder), "wb") as stream:
        stream.write(text)
        stream.flush()
        if found is not None:
            with contextlib.suppress(PermissionError):  # a file of somebody else in a folder of ours
                os.fchown(stream.fileno(), found.status.st_uid, found.status.st_gid)
            os.fchmod(stream.fileno(), stat.S_IMODE(found.status.st_mode))
        os.fsync(stream.fileno())


def _is_as_found(name: str, folder: int, found: _Found | None) -> bool:
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return found is None
    return found is not None and _identity(now) == _identity(found.status)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
