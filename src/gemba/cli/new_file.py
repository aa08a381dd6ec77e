"""A file that a command begins for somebody, who then fills it in. For `gemba skills new` and `gemba roles new`."""

from __future__ import annotations

from pathlib import Path

from gemba.errors import Conflict, Unusable


def write_new(file: Path, text: str, exists: str) -> None:
    """A new file, whole or not at all; one that is there stays as it is: a Conflict with the code `exists`."""
    try:
        file.parent.mkdir(exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                file.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise Conflict(f"{file} is there already", code=exists) from None
    except OSError as error:
        raise Unusable(f"{file}: {error.strerror}", code="workspace_unwritable") from None
