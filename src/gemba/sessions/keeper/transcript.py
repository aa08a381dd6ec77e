"""What an agent printed, as files of a bounded size: the beginning and the end of it, however much there was.

The first piece is `transcript`. What does not fit there goes on in pieces named by the place of their first byte in
the whole output, `transcript.<place>`; of these the last two are kept. So places stay true for whoever follows, no byte
is copied twice, and a reader that comes late finds the beginning, the end, and what is missing in between.

Written by the keeper and by tmux's pipe (standard library only); read by the backends and the API.
"""

import os

_NAME = "transcript"


class Transcript:
    """The writer. Never raises for what the disk does: what cannot be written is missing from the transcript."""

    def __init__(self, folder: str, limit: int) -> None:
        self._folder = folder
        self._tail = max(1, limit // 4)
        self._pieces: list[str] = []  # behind the first, oldest first
        self.printed = 0  # bytes, kept or not
        self.cut = False  # something is missing
        self._fd = self._open(_NAME)
        self._room = max(1, limit - 2 * self._tail)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._room:
                self._next_piece()
            part = rest[: self._room]
            self._append(part)
            self.printed += len(part)
            self._room -= len(part)
            rest = rest[len(part) :]

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _next_piece(self) -> None:
        self.close()
        while len(self._pieces) > 1:
            self.cut = True
            try:
                os.unlink(self._pieces.pop(0))
            except OSError:
                continue
        name = f"{_NAME}.{self.printed}"
        self._pieces.append(os.path.join(self._folder, name))
        self._fd, self._room = self._open(name), self._tail

    def _open(self, name: str) -> int | None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(os.path.join(self._folder, name), flags, 0o600)
        except OSError:
            self.cut = True
            return None

    def _append(self, data: memoryview) -> None:
        try:
            while data and self._fd is not None:
                data = data[os.write(self._fd, data) :]
        except OSError:  # a full disk: what follows in this piece would stand in the wrong place
            self.close()
        self.cut |= bool(data)


class Piece:
    """A stretch of the output: the bytes from `place` on."""

    def __init__(self, place: int, data: bytes) -> None:
        self.place = place
        self.data = data

    @property
    def end(self) -> int:
        return self.place + len(self.data)


def read_pieces(folder: str, since: int, most: int) -> list[Piece]:
    """What is kept of the output from a place on, in order, at most so many bytes; a gap is where ends do not meet."""
    found: list[Piece] = []
    for place, path in _kept(folder):
        try:
            piece = _read(path, place, since, most)
        except FileNotFoundError:  # dropped meanwhile
            continue
        if piece.data:
            found.append(piece)
            most -= len(piece.data)
        if most <= 0:
            break
    return found


def read_end(folder: str, most: int) -> bytes:
    """The last bytes of the output, with a line between what does not belong together."""
    sizes = []
    for place, path in _kept(folder):
        try:
            sizes.append(place + os.stat(path).st_size)
        except FileNotFoundError:
            continue
    pieces = read_pieces(folder, max(sizes, default=0) - most, most)
    return joined(pieces)


def joined(pieces: list[Piece]) -> bytes:
    """The pieces as one text, with a marker line where bytes are missing."""
    parts: list[bytes] = []
    end = pieces[0].place if pieces else 0
    for piece in pieces:
        if piece.place > end:
            parts.append(b"\n[gemba: %d bytes of output are left out here]\n" % (piece.place - end))
        parts.append(piece.data)
        end = piece.end
    return b"".join(parts)


def remove(folder: str) -> None:
    """Drop the transcript of an earlier run."""
    for _, path in _kept(folder):
        os.unlink(path)


def _kept(folder: str) -> list[tuple[int, str]]:
    """(place, path) of each piece, in order."""
    found = []
    for name in os.listdir(folder):
        base, _, place = name.partition(".")
        if base == _NAME and (not place or place.isdecimal()):
            found.append((int(place or "0"), os.path.join(folder, name)))
    return sorted(found)


def _read(path: str, place: int, since: int, most: int) -> Piece:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        skipped = max(0, since - place)
        return Piece(place + skipped, os.pread(fd, most, skipped))
    finally:
        os.close(fd)
