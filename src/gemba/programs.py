"""Gemba's own programs in a folder that has no others, for the PATH of whoever runs them.

Beside the interpreter stands everything that Gemba needs itself, a `python` and a `pytest` among it: on an agent's PATH
they would be taken for the project's own. Called where sessions, their commands and re-run checks get theirs. Quick to
load: the built-in agent pays for it at every start.
"""

import os
import sys
import zlib

NAMES = ("gemba", "gemba-ask", "gemba-state", "gemba-bridge", "gemba-mcp", "gemba-program")


def path_with_programs(path: str, home: str) -> str:
    """A PATH on which our programs are found, behind all else that is on it."""
    return f"{path}{os.pathsep}{programs_folder(home)}"


def programs_folder(home: str) -> str:
    """The folder below the home that leads to the programs of this installation, made where it is not there yet; the
    installation's own where that cannot be."""
    beside = os.path.dirname(sys.executable)
    # Several installations share a home: each has a folder of its own, by where it stands.
    folder = os.path.join(home, "programs", f"{zlib.crc32(os.fsencode(beside)):08x}")
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        os.makedirs(folder, 0o700, exist_ok=True)
        for name in NAMES:
            _link(os.path.join(beside, name), os.path.join(folder, name))
    except OSError:
        return beside
    return folder


def _link(program: str, path: str) -> None:
    if os.path.exists(program) and not os.path.lexists(path):
        try:  # noqa: SIM105  contextlib costs more than the rest of this module
            os.symlink(program, path)
        except FileExistsError:  # another session that starts at this moment
            pass
