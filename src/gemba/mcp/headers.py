"""Whom an HTTP request speaks for, as its headers say. A request without them may list the tools and call none.

Who may send a request at all is judged before. The headers are a claim, as the environment of a command is: what a
session may say is judged again where its frames are taken in.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gemba import wire
from gemba.speaker import Session, checked, shown
from gemba.wire import Refused

SESSION = "X-GEMBA-Session"
ROLE = "X-GEMBA-Role"
MODE = "X-GEMBA-Mode"
AGENT_TYPE = "X-GEMBA-Agent-Type"
DISPATCH = "X-GEMBA-Dispatch"
FOLDER = "X-GEMBA-Folder"  # where the agent works, on this machine

_LONGEST_FOLDER = 4096


def session_of(headers: Mapping[str, str], *, home: str, workspace: str) -> Session:
    """The session; Refused when a header is missing, or says what cannot be."""
    id = _word(headers, SESSION, wire.MAX_SESSION_ID)
    if not id:
        raise Refused(f"the header {SESSION} is missing: it names the session that this call belongs to")
    folder = _word(headers, FOLDER, _LONGEST_FOLDER)
    if folder and not Path(folder).is_absolute():
        raise Refused(f"{FOLDER} {shown(folder)} is no absolute path; allowed: the folder that the agent works in")
    return Session(
        id,
        home=home,
        workspace=workspace,
        cwd=folder,
        agent_type=_word(headers, AGENT_TYPE, wire.MAX_ID),
        role=_one_of(headers, ROLE, wire.ROLES),
        mode=_one_of(headers, MODE, wire.MODES),
        dispatch_id=_word(headers, DISPATCH, wire.MAX_ID),
    )


def _one_of(headers: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    word = _word(headers, name, wire.MAX_ID)
    if word and word not in allowed:
        raise Refused(f"{name} {shown(word)} is unknown; allowed: {', '.join(allowed)}")
    return word


def _word(headers: Mapping[str, str], name: str, most: int) -> str:
    """What a header says, "" when it is not there; sent as UTF-8, if it is no ASCII."""
    said = headers.get(name, "").strip()
    return checked(name, said.encode("latin-1", "replace").decode("utf-8", "replace"), most) if said else ""
