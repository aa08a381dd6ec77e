"""What the files of settings say, one thing a line, each with the line it stands in. Pure: a file's bytes in.

What no file says has its default, and no line. Nothing secret is told: of an address its scheme, of a variable of an
agent nothing. A file that cannot be read says nothing here; its findings do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from gemba import toml
from gemba.config import ChannelSettings, PolicySettings, Settings, scheme_of
from gemba.errors import Invalid
from gemba.escalations.policy_check import parse_checked
from gemba.handoff.risk_rules import parse_rules
from gemba.handoff.sections import parse_sections
from gemba.sessions.agents import preamble
from gemba.sessions.agents.agent import Agent
from gemba.sessions.agents.file import parse_agents
from gemba.settings.check import MODES
from gemba.teams.team_file import parse_team_file
from gemba.toml import Place

Part = Literal["modes", "policies", "channels", "budgets", "agents", "approvals", "context", "teams", "server"]

_BUDGETS = ("caps", "auto", "attention")
_LONGEST = 160
_FEW = 80  # of words that stand in full elsewhere


class Setting(msgspec.Struct, frozen=True):
    """One setting. Without a `line` no file says it: it has its default, or is as shipped."""

    part: Part
    name: str
    value: str
    file: str
    line: int | None


def said_in(name: str, raw: bytes) -> list[Setting]:
    """What a file says; nothing where it has a fault."""
    try:
        return list(_READERS[name](raw))
    except Invalid:
        return []


def _workspace(raw: bytes) -> Iterator[Setting]:
    settings = parse_checked(raw, "workspace.toml")
    lines = toml.places(raw.decode())
    for place, value in _flat(settings, ()):
        part: Part = "budgets" if place[0] in _BUDGETS else "teams" if place[0] == "teams" else "server"
        yield _said(part, ".".join(map(str, place)), value, "workspace.toml", lines.get(place))
    for number, policy in enumerate(settings.policy):
        yield _said("policies", policy.name, _policy(policy), "workspace.toml", lines.get(("policy", number)))
    for name, channel in settings.channels.items():
        yield _said("channels", name, _channel(channel), "workspace.toml", lines.get(("channels", name)))


def _flat(table: msgspec.Struct, at: Place) -> Iterator[tuple[Place, str]]:
    """Every value of the tables that have a fixed set of keys, as TOML would write it."""
    for name in table.__struct_fields__:
        value: Any = getattr(table, name)
        if isinstance(value, msgspec.Struct):
            yield from _flat(value, (*at, name))
        elif not isinstance(value, dict | tuple):
            yield (*at, name), _written(name, value)


def _written(name: str, value: Any) -> str:
    if name == "url":  # it may have a password in it
        return f"{scheme_of(value) or ''}://…" if value else "SQLite in .gemba/gemba.db"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if value != "" else '""'


def _policy(policy: PolicySettings) -> str:
    who = " ".join([*([policy.urgency] if policy.urgency else []), *policy.kinds]) or "everything"
    words = [who]
    if policy.remind_after is not None:
        words.append(f"reminds {', '.join(policy.notify)} after {policy.remind_after}")
    if policy.repeat_every is not None:
        words.append(f"again every {policy.repeat_every}")
    if policy.expire_after is not None:
        words.append(f"ends after {policy.expire_after}{_default(policy)}")
    if policy.verify is not None:
        words.append("a second person confirms" if policy.verify.person else "a command checks the answer")
    return "; ".join(words)


def _default(policy: PolicySettings) -> str:
    if policy.default_answer is not None:
        return f" with the answer {_shortened(policy.default_answer, _FEW)!r}"
    return "" if policy.default_option is None else f" with option {policy.default_option}"


def _channel(channel: ChannelSettings) -> str:
    if channel.members is not None:
        return f"a group: {', '.join(channel.members)}"
    if channel.url_env is not None:
        return f"the address in the variable {channel.url_env}"
    if channel.url_file is not None:
        return "the address in a file"
    return f"{channel.url.scheme if channel.url else ''}://…"


def _agents(raw: bytes) -> Iterator[Setting]:
    lines = toml.places(raw.decode())
    for name, agent in parse_agents(raw, "agents.toml").items():
        line = lines.get(("agent", name), lines.get(("agents", name)))
        yield _said("agents", name, _agent(agent), "agents.toml", line)


def _agent(agent: Agent) -> str:
    limits = agent.limits
    where = "tmux" if agent.backend == "tmux" else "a process"
    words = [f"{agent.interaction_mode} mode, in {where}", f"at most {agent.max_parallel} at once"]
    words.append(f"{limits.runs_per_hour or 'any number of'} starts an hour")
    if limits.max_seconds:
        words.append(f"stopped after {limits.max_seconds} s")
    words.append("given ready work by itself" if agent.auto_dispatch else "started by you")
    return "; ".join(words)


def _profile(raw: bytes) -> Iterator[Setting]:
    text = raw.decode("utf-8-sig", "replace")
    for mode in MODES:
        manners = preamble.manners(text, mode)
        line = None if manners is None else preamble.line_of_mode(text, mode)
        value = "as shipped" if manners is None else _shortened(" ".join(manners.split()), _FEW)
        yield _said("modes", mode, value, "interaction_profile.md", line)


def _approvals(raw: bytes) -> Iterator[Setting]:
    lines = toml.places(raw.decode())
    for number, rule in enumerate(parse_rules(raw, "approvals.toml")):
        name = " ".join([rule.program, *rule.prefix])
        yield _said("approvals", name, rule.level, "approvals.toml", lines.get(("rule", number)))


def _context(raw: bytes) -> Iterator[Setting]:
    lines = toml.places(raw.decode())
    for section in parse_sections(raw, "context.toml"):
        who = ", ".join(section.writers) or "anybody"
        value = f"about {', '.join(section.paths) or 'all'}; written by {who}"
        yield _said("context", section.name, value, "context.toml", lines.get(("section", section.name)))


def _team(raw: bytes) -> Iterator[Setting]:
    lines = toml.places(raw.decode())
    made = parse_team_file(raw, "team.toml")
    for name, command in made.capability.items():
        yield _said("teams", f"capability {name}", command.run, "team.toml", lines.get(("capability", name)))
    for number, gate in enumerate(made.command or ()):
        yield _said("teams", f"gate {gate.name}", gate.run, "team.toml", lines.get(("command", number)))


_READERS = {
    "workspace.toml": _workspace,
    "agents.toml": _agents,
    "interaction_profile.md": _profile,
    "approvals.toml": _approvals,
    "context.toml": _context,
    "team.toml": _team,
}


def running_values(settings: Settings) -> dict[str, str]:
    """By name, what a server was started with: policies, channels, and what has a fixed name."""
    return {
        **{policy.name: _policy(policy) for policy in settings.policy},
        **{name: _channel(channel) for name, channel in settings.channels.items()},
        **{".".join(map(str, place)): value for place, value in _flat(settings, ())},
    }


def _said(part: Part, name: str, value: str, file: str, line: int | None) -> Setting:
    return Setting(part, name[:_LONGEST], _shortened(value, _LONGEST), file, line)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
