"""A dispatch's files: its input envelope as JSON, and as the text that its agent is told.

They lie where the hooks of the agent's client look for them, for this user's eyes, and each is there whole or not at
all. A dispatch is committed before they are written: what cannot be written then is told in the log, a hook that
misses them still asks for a handoff, and they are written again when a server starts, or starts a session for the
dispatch. Writing twice writes the same.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import structlog

from gemba import typed, wire
from gemba.handoff.envelope import InputEnvelope, render

log = structlog.get_logger("gemba.dispatch")


def write(home: Path, dispatch_id: str, given: dict[str, Any]) -> None:
    """Both files, or a line in the log that says why not."""
    told = render(typed.convert(given, InputEnvelope))
    try:
        _write_whole(place(home, dispatch_id, ".md"), told.encode())
        # The one that the gate reads is last: where it is, the other is too.
        _write_whole(place(home, dispatch_id), json.dumps(given, ensure_ascii=False).encode())
    except OSError as error:
        log.error("a dispatch's envelope could not be written", dispatch=dispatch_id, reason=str(error))


def write_given(home: Path, session_id: str, dispatch_id: str) -> None:
    """Which dispatch a living session works on from now on: its client's hooks were started with another one."""
    try:
        _write_whole(Path(wire.given_path(str(home), session_id)), f"{dispatch_id} {session_id}".encode())
    except OSError as error:
        log.error("a session's next dispatch could not be written", session=session_id, reason=str(error))


def are_there(home: Path, dispatch_id: str) -> bool:
    return place(home, dispatch_id).exists() and place(home, dispatch_id, ".md").exists()


def place(home: Path, dispatch_id: str, suffix: str = ".json") -> Path:
    return Path(wire.envelope_path(str(home), dispatch_id, suffix))


def _write_whole(path: Path, content: bytes) -> None:
    wire.make_folder(str(path.parent.parent), str(path.parent))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as file:  # its mode is 0600
        partial = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    wire.sync_folder(str(path.parent))
