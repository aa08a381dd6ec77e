"""An agent skill, a finding about one, and a file that may be one. Types alone; everything in this folder uses them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

import msgspec

from gemba.documents.finding import DocumentFinding

Variety = Literal["coach", "manager"]
Source = Literal["bundled", "workspace"]

VARIETIES: tuple[Variety, ...] = get_args(Variety)
KEYS = ("skill_id", "variety", "description")

SKILL_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}\.[a-z][a-z0-9_-]{0,63}")
SKILL_ID_RULE = "area.name, each of small letters, digits, - and _, such as pm.stage_epics"

MOST_BYTES = 131_072  # of a file; what an agent is to follow is far shorter
LONGEST_DESCRIPTION = 500


class Document(NamedTuple):
    """A file that is taken for a skill: its name for people, its bytes, or why it has none."""

    file: str
    data: bytes = b""
    problem: str | None = None
    source: Source = "workspace"


class AgentSkill(msgspec.Struct, frozen=True):
    """A skill that agents can be given. `overrides`: it stands in the place of a bundled one. `body` in full only
    where one skill is asked for.
    """

    skill_id: str
    variety: Variety
    description: str
    source: Source
    file: str
    overrides: bool = False
    body: str | None = None


class SkillFinding(DocumentFinding, frozen=True):
    """Something about a file: which rule says so, where, and what helps."""


class Library(NamedTuple):
    """Every skill by its id, without those that have an error, and everything that was found, file by file."""

    skills: dict[str, AgentSkill]
    findings: list[SkillFinding]
