"""Every consult skill, by its id. A new one is a module with a SKILL, a row here and a name in `tool_names`."""

from __future__ import annotations

from gemba.errors import NotFound
from gemba.skills.consult import (
    add_to_backlog,
    ask,
    change_this,
    epic_order,
    escalation_handoff,
    perspective,
    refine,
    sprint_retro,
    team_plan,
    walk_summary,
    what_remains,
)
from gemba.skills.consult.skill import ConsultSkill
from gemba.toml import nearest, quoted

_MODULES = (
    epic_order,
    ask,
    refine,
    escalation_handoff,
    what_remains,
    add_to_backlog,
    change_this,
    sprint_retro,
    perspective,
    walk_summary,
    team_plan,
)

SKILLS: dict[str, ConsultSkill] = {module.SKILL.id: module.SKILL for module in _MODULES}


def find_skill(id: str) -> ConsultSkill:
    if id not in SKILLS:
        raise NotFound(f"no skill is called {quoted(id)}{nearest(id, SKILLS)}", code="not_found")
    return SKILLS[id]
