"""The role-specs of a run: the workspace's own where it has one for a role, else made from the pattern of what the role
can do. All of them pass the one validator before anything begins.

Called where a run is prepared; reads the workspace's files, writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gemba.errors import Invalid
from gemba.teams.plan import Plan, PlanRole
from gemba.teams.roles.generate import Wanted, generate
from gemba.teams.roles.library import read_own
from gemba.teams.roles.role_spec import Document, Pattern, RoleSpec

# What a role of these capabilities is made after; the first of its capabilities counts.
PATTERNS: dict[str, Pattern] = {
    "researcher": "research",
    "planner": "document",
    "designer": "document",
    "writer": "document",
    "developer": "code",
    "analyst": "analysis",
    "tester": "validation",
}
_OTHER: Pattern = "code"


class Cast(NamedTuple):
    """A role of a run, as its agent reads it."""

    spec: RoleSpec
    text: str


def cast_roles(root: Path, plan: Plan, agents: Collection[str]) -> dict[str, Cast]:
    """By role; an Invalid with every finding where one of them has an error."""
    own = read_own(root, agents)
    named = {spec.role: spec for spec in own.specs}
    wanted = {role.name for role in plan.roles}
    faulty = [each for each in own.findings if each.severity == "error" and Path(each.file).stem in wanted]
    if faulty:
        first = faulty[0]
        raise Invalid(
            f"{first.file}:{first.line}: {first.message}",
            code="role_spec",
            pointer="/roles",
            found=first.rule,
            findings=faulty,
        )
    return {role.name: _own(root, named[role.name]) if role.name in named else _made(role) for role in plan.roles}


def kept_role(role: PlanRole, cast: Cast) -> dict[str, Any]:
    """A role of the plan with its spec, as a run keeps it."""
    return {**msgspec.to_builtins(role), "title": cast.spec.title, "loads": list(cast.spec.loads), "spec": cast.text}


def _own(root: Path, spec: RoleSpec) -> Cast:
    return Cast(spec, (root / spec.file).read_text("utf-8", "replace"))


def _made(role: PlanRole) -> Cast:
    from gemba.teams.roles.validate import validate  # loads a parser of YAML

    pattern = next((PATTERNS[each] for each in (*role.capabilities, role.name) if each in PATTERNS), _OTHER)
    text = generate(Wanted(role.name, pattern, role.prefix, inner_loop=role.inner_loop))
    judged = validate(Document(f"role-specs/{role.name}.md", text.encode()))
    if judged.spec is None:
        first = judged.findings[0]
        raise Invalid(
            f"{first.file}:{first.line}: {first.message}", code="role_spec", pointer="/roles", found=role.name
        )
    return Cast(judged.spec, text)
