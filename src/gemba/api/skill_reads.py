"""What can be read of skills, as a table: of agent skills, which are files and told as they are now, and of consult
skills, which ship with Gemba.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gemba import typed
from gemba.action import Nothing
from gemba.api.read import Read
from gemba.app import App
from gemba.errors import NotFound
from gemba.skills.consult.registry import SKILLS, find_skill
from gemba.skills.consult.skill import ConsultSkill
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


class ConsultSkillRow(msgspec.Struct, frozen=True):
    """A consult skill; its lines are given to the MCP tool `output_tool_name`."""

    id: str
    name: str
    description: str
    output_tool_name: str
    has_output_schema: bool


class ConsultSkillList(msgspec.Struct, frozen=True):
    skills: list[ConsultSkillRow]


class ConsultSkillView(msgspec.Struct, frozen=True):
    """The same, with how its tool is called and the JSON Schema of its input."""

    id: str
    name: str
    description: str
    output_tool_name: str
    has_output_schema: bool
    output_tool_description: str
    input_schema: dict[str, Any]


class LineSchema(msgspec.Struct, frozen=True, rename={"schema": "$schema", "defs": "$defs", "any_of": "anyOf"}):
    """The JSON Schema of one line of a skill, and nothing around it."""

    schema: str
    title: str
    any_of: list[dict[str, Any]]
    discriminator: dict[str, Any]
    defs: dict[str, Any]


def consult_skills(_app: App, _query: Nothing) -> ConsultSkillList:
    return ConsultSkillList([ConsultSkillRow(**_facts(skill)) for skill in SKILLS.values()])


def consult_skill(_app: App, _query: Nothing, *, id: str) -> ConsultSkillView:
    skill = find_skill(id)
    return ConsultSkillView(**_facts(skill), output_tool_description=skill.output, input_schema=skill.input_schema())


def consult_output_schema(_app: App, _query: Nothing, *, id: str) -> LineSchema:
    return typed.convert(find_skill(id).output_schema(), LineSchema)


def _facts(skill: ConsultSkill) -> dict[str, Any]:
    return {
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "output_tool_name": skill.tool_name,
        "has_output_schema": True,
    }


READS = (
    Read("/api/agent-skills", agent_skills, Nothing, AgentSkillList, "Skills of agents, and what is wrong with others"),
    Read("/api/agent-skills/{id}", agent_skill, Nothing, AgentSkill, "One skill with its body"),
    Read("/api/skills", consult_skills, Nothing, ConsultSkillList, "Consult skills: what an advisor can be asked for"),
    Read(
        "/api/skills/{id}", consult_skill, Nothing, ConsultSkillView, "One consult skill with the schema of its input"
    ),
    Read(
        "/api/skills/{id}/output_schema.json",
        consult_output_schema,
        Nothing,
        LineSchema,
        "The JSON Schema of a line of a consult skill's output",
        media_type="application/schema+json",
    ),
)
