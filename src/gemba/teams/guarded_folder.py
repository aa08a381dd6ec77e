"""A folder that others write into, held open: nothing here leaves it, whatever links somebody lays there.

Every step goes by the descriptor of the folder and one plain name: a link is never followed, a pipe never waited at,
and what is larger than allowed is refused. A file is there whole or not at all, and on disk when `write` returns.
Called by what collects and lays down artifacts, and by what writes the folders of runs. Raises nothing but OSError.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

_CHUNK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PARTIAL = ".partial"


class GuardedFolder:
    def __init__(self, descriptor: int) -> None:
        self._at = descriptor

    @contextmanager
    def inside(self, *names: str, make: bool = False) -> Iterator[GuardedFolder]:
        """The folder below, by its name or names; made where it is wanted and is not there."""
        descriptor = os.dup(self._at)
        try:
            for name in names:
                above, descriptor = descriptor, _open_folder(descriptor, _plain(name), make)
                os.close(above)
            yield GuardedFolder(descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One after the other of those who write here."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(".lock", flags, 0o600, dir_fd=self._at)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """The same where no file may be left for it: the folder itself is held."""
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._at)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def names(self, most: int) -> list[str]:
        """What lies here, in order; of more than so many, any that many."""
        with os.scandir(self._at) as found:
            return sorted(entry.name for entry in islice(found, most))

    def look(self, name: str) -> os.stat_result | None:
        """What has this name, a link as itself; None when nothing has."""
        try:
            return os.stat(_plain(name), dir_fd=self._at, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a regular file."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(_plain(name), flags, dir_fd=self._at), "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no regular file")
            while chunk := file.read(_CHUNK):
                yield chunk

    def read(self, name: str, most: int) -> bytes:
        parts, left = [], most
        for chunk in self.chunks(name):
            left -= len(chunk)
            if left < 0:
                raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
            parts.append(chunk)
        return b"".join(parts)

    def write(self, name: str, content: Iterable[bytes], mode: int = 0o600) -> os.stat_result:
        """The file whole, in one step for its reader; in the place of whatever file or link has the name."""
        partial = f".{_plain(name)}{_PARTIAL}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=self._at)  # what a killed writer left
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(partial, flags, 0o600, dir_fd=self._at)
        try:
            _write_all(descriptor, content)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            os.rename(partial, name, src_dir_fd=self._at, dst_dir_fd=self._at)
            written = os.fstat(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=self._at)
            raise
        finally:
            os.close(descriptor)
        self.sync()
        return written

    def append(self, name: str, content: Iterable[bytes]) -> os.stat_result:
        """More at the end of a file that is there; a crash may leave a part of it."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(_plain(name), flags, dir_fd=self._at)
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        """A file or link, where there is one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_plain(name), dir_fd=self._at)

    def remove_folder(self, name: str) -> bool:
        """Whether it is gone: one in which something lies stays."""
        try:
            os.rmdir(_plain(name), dir_fd=self._at)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise
        return True

    def sync(self) -> None:
        try:
            os.fsync(self._at)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system that cannot sync a folder keeps it by itself
                raise


@contextmanager
def guarded(root: Path, *below: str, make: bool = False) -> Iterator[GuardedFolder]:
    """A folder below a root that is trusted, its own links among that; none below it is followed."""
    descriptor = os.open(root, _FOLDER)
    try:
        with GuardedFolder(descriptor).inside(*below, make=make) as folder:
            yield folder
    finally:
        os.close(descriptor)


def _open_folder(above: int, name: str, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
            os.fsync(above)
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)


def _write_all(descriptor: int, content: Iterable[bytes]) -> None:
    for data in content:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]


def _plain(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "it is no plain name of a file")
    return name
