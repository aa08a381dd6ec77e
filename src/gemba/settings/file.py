"""The files in which a workspace's settings stand: their names, what each is about, and when a change of it counts.

A name that is not in the table is no file of settings, whatever it looks like: nothing else of `.gemba/` is ever read
or written here. Types and words only; `check` judges what a file says, `store` reads and writes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from gemba.errors import NotFound
from gemba.toml import nearest, quoted

Counts = Literal["at_once", "next_start"]
Severity = Literal["error", "note"]


class SettingsFile(NamedTuple):
    """One of them, under `.gemba/`."""

    name: str
    about: str
    counts: Counts


FILES = {
    file.name: file
    for file in (
        SettingsFile("workspace.toml", "Policies, channels, caps, the server and what it keeps", "next_start"),
        SettingsFile("agents.toml", "Types of agents: their programs, modes and limits", "at_once"),
        SettingsFile("interaction_profile.md", "How agents talk to you, mode by mode", "at_once"),
        SettingsFile("approvals.toml", "What this project's own commands do, before an agent may run them", "at_once"),
        SettingsFile("context.toml", "Sections of what is known of the project, and who may write them", "at_once"),
        SettingsFile("team.toml", "What programs do in team runs, and the commands at their gates", "at_once"),
    )
}


class SettingsFinding(msgspec.Struct, frozen=True):
    """What is to be said of a line of a file. An `error` keeps the file from being used, a `note` does not."""

    line: int
    message: str
    severity: Severity


def find_file(name: str) -> SettingsFile:
    if name not in FILES:
        raise NotFound(f"no file of settings is called {quoted(name)}{nearest(name, FILES)}", code="not_found")
    return FILES[name]
