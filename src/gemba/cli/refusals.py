"""How often the end of a turn was refused, and why: `<home>/gates/<safe id>.json`, one file a dispatch or session.

Guarantees that a refusal is counted before anybody hears of it, that processes which count at once do not lose each
other's, and that no reader finds half a file. A file that holds nothing to read counts as none. Called by the gate.
"""

import fcntl
import json
import os
from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

from gemba import wire

Codes = list[str]

_LARGEST = 1024 * 1024


def gates_folder(home: str) -> str:
    return f"{home}/gates"


def count(home: str, id: str, codes: Codes, next_step: Callable[[list[Codes], Codes], str]) -> str:
    """What `next_step` says of the refusals before and this one, which is counted if it asks for a repair."""
    folder = gates_folder(home)
    wire.make_folder(home, folder)
    path = _path(folder, id)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = _read(path)
        step = next_step(before, codes)
        if step == "repair":
            _write(path, json.dumps({"id": id, "refusals": [*before, codes]}).encode())
            os.fsync(lock)
        return step
    finally:
        os.close(lock)


def forget(home: str, id: str) -> None:
    """Begin to count anew."""
    try:  # noqa: SIM105  contextlib is not loaded for this
        os.unlink(_path(gates_folder(home), id))  # noqa: PTH108  pathlib is slow
    except FileNotFoundError:
        pass


def _path(folder: str, id: str) -> str:
    return f"{folder}/{wire.safe_id(id)}.json"


def _read(path: str) -> list[Codes]:
    try:
        refusals = json.loads(wire.read_file(path, _LARGEST))["refusals"]
        return [[str(code) for code in codes] for codes in refusals]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _write(path: str, data: bytes) -> None:
    """In one step. Whoever writes holds the folder's lock, so a file that a killed writer left is in nobody's way."""
    partial = f"{path}.new"
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[os.write(fd, data) :]
        os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(partial, path)  # noqa: PTH104  pathlib is slow
