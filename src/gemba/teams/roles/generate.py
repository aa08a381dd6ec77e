"""A new role-spec from a pattern, which the validator accepts as it is, without a warning.

What is given in words may break a rule all the same (a placeholder, say): whoever generates asks the validator, as for
any other file. Pure; called by `gemba roles new`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from gemba.teams.roles.patterns import REFERENCE, Phase
from gemba.teams.roles.role_spec import ERROR_MESSAGE, Pattern, output_tag, success_message
from gemba.teams.roles.traits import traits_block

_FORBIDDEN = (
    "Work outside the prefix `{prefix}-*`",
    "Change artifacts of other roles",
    "Skip phase 4, or report what was not verified",
)


class Wanted(NamedTuple):
    """A role to be generated; what is None or empty is as its pattern has it."""

    role: str
    pattern: Pattern
    prefix: str | None = None
    responsibility: str | None = None
    inner_loop: bool = False
    cli_tools: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()


def generate(wanted: Wanted) -> str:
    """The text of a new file."""
    pattern = REFERENCE[wanted.pattern]
    prefix = wanted.prefix or pattern.prefix
    return "\n".join(
        [
            *_front_matter(wanted, prefix),
            "",
            f"# {_title(wanted.role)} — Phase 2-4",
            "",
            "## Identity",
            "",
            f"Tag: {output_tag(wanted.role)} | Prefix: {prefix}-*",
            f"Responsibility: {wanted.responsibility or pattern.responsibility}",
            "",
            "## Boundaries",
            "",
            *_list("### MUST", pattern.must),
            *_list("### MUST NOT", (*(each.format(prefix=prefix) for each in _FORBIDDEN), pattern.must_not)),
            *_phase(2, pattern.context),
            f"Loads: {', '.join(wanted.loads or pattern.loads)}",
            "",
            *_phase(3, pattern.work),
            *_phase(4, pattern.verification),
            f"Publishes: {', '.join(wanted.publishes or pattern.publishes)}",
            f"State: {', '.join(pattern.state)}",
            "",
            traits_block(),
            "## Error Handling",
            "",
            "| Scenario | Resolution |",
            "|---|---|",
            *(f"| {each.scenario} | {each.resolution} |" for each in pattern.errors),
            "",
        ]
    )


def _front_matter(wanted: Wanted, prefix: str) -> list[str]:
    """JSON's strings are YAML's too, so no name is taken for a number or a truth value."""
    tools = f"cli_tools: {json.dumps(list(wanted.cli_tools))}"
    return [
        "---",
        f"role: {json.dumps(wanted.role)}",
        f"prefix: {json.dumps(prefix)}",
        f"inner_loop: {'true' if wanted.inner_loop else 'false'}",
        f"output_tag: {json.dumps(output_tag(wanted.role))}",
        "message_types:",
        f"  success: {success_message(prefix)}",
        f"  error: {ERROR_MESSAGE}",
        *([tools] if wanted.cli_tools else []),
        "---",
    ]


def _title(role: str) -> str:
    return role.replace("_", " ").replace("-", " ").strip().title()


def _list(heading: str, items: Iterable[str]) -> list[str]:
    return [heading, "", *(f"- {item}" for item in items), ""]


def _phase(number: int, phase: Phase) -> list[str]:
    return [f"## Phase {number}: {phase.name}", "", *phase.goals, ""]
