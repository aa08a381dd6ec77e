"""What is wrong with a file of settings, line by line: by the validators that the server and the commands use. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from gemba.config import Finding
from gemba.errors import Invalid
from gemba.escalations.policy_check import parse_checked
from gemba.handoff.risk_rules import parse_rules
from gemba.handoff.sections import parse_sections
from gemba.sessions.agents import preamble
from gemba.sessions.agents.agent import Mode
from gemba.sessions.agents.file import parse_agents
from gemba.sessions.agents.preamble_file import LONGEST
from gemba.settings.file import SettingsFinding
from gemba.teams.team_file import parse_team_file

MODES: tuple[Mode, ...] = get_args(Mode)

_VALIDATORS: dict[str, Callable[[bytes, str], object]] = {
    "workspace.toml": parse_checked,
    "agents.toml": parse_agents,
    "approvals.toml": parse_rules,
    "context.toml": parse_sections,
    "team.toml": parse_team_file,
}


def findings_of(name: str, raw: bytes) -> list[SettingsFinding]:
    """All that is to be said of what a file says, by line."""
    if name == "interaction_profile.md":
        return _of_profile(raw)
    try:
        _VALIDATORS[name](raw, name)
    except Invalid as error:
        found: list[Finding | tuple[int, str]] = error.extra["findings"]
        pairs = ((each.line, each.message) if isinstance(each, Finding) else each for each in found)
        return [SettingsFinding(line, message, "error") for line, message in sorted(pairs)]
    return []


def _of_profile(raw: bytes) -> list[SettingsFinding]:
    """Any text is a profile; what agents are told where it has no heading is the shipped one's."""
    if len(raw) > LONGEST:
        return [SettingsFinding(1, f"the file is too long; allowed: {LONGEST:,} bytes", "error")]
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return [SettingsFinding(line, f"this is not UTF-8: {error.reason}", "error")]
    missing = [mode for mode in MODES if preamble.manners(text, mode) is None]
    last = max(1, len(text.splitlines()))
    return [
        SettingsFinding(last, f"there is no heading {mode!r}: agents in that mode are told the shipped words", "note")
        for mode in missing
    ]
