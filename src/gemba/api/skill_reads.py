"""What can be read of agent skills, as a table. They are files: what is told is what they say now."""

from __future__ import annotations

import msgspec

from gemba.action import Nothing
from gemba.api.read import Read
from gemba.app import App
from gemba.errors import NotFound
from gemba.skills.library import read_library
from gemba.skills.skill import AgentSkill, SkillFinding
from gemba.toml import nearest, quoted

_MOST_FINDINGS = 200


class AgentSkillList(msgspec.Struct, frozen=True):
    """The skills that can be used, without their bodies, and the first findings of the linter."""

    skills: list[AgentSkill]
    findings: list[SkillFinding]


def agent_skills(app: App, _query: Nothing) -> AgentSkillList:
    library = read_library(app.workspace.root)
    skills = [msgspec.structs.replace(skill, body=None) for skill in library.skills.values()]
    return AgentSkillList(skills, library.findings[:_MOST_FINDINGS])


def agent_skill(app: App, _query: Nothing, *, id: str) -> AgentSkill:
    skills = read_library(app.workspace.root).skills
    if id not in skills:
        raise NotFound(f"no skill is called {quoted(id)}{nearest(id, skills)}", code="not_found")
    return skills[id]


READS = (
    Read("/api/agent-skills", agent_skills, Nothing, AgentSkillList, "Skills of agents, and what is wrong with others"),
    Read("/api/agent-skills/{id}", agent_skill, Nothing, AgentSkill, "One skill with its body"),
)
