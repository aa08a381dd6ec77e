"""The linter of agent skills: any bytes in; out come the skills that can be used and a finding for every fault.

Never fails, does no I/O, and takes time linear in what it reads. Called by `library`, which reads the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

import msgspec

from gemba.documents.content import text_of
from gemba.documents.finding import Fault, findings
from gemba.documents.front_matter import FrontMatter, read_front_matter
from gemba.documents.plain import plain_text
from gemba.skills.asks import ask_faults
from gemba.skills.conduct import conduct_faults
from gemba.skills.keys import Text, texts_of
from gemba.skills.rules import RULES
from gemba.skills.skill import (
    LONGEST_DESCRIPTION,
    MOST_BYTES,
    SKILL_ID,
    VARIETIES,
    AgentSkill,
    Document,
    Library,
    SkillFinding,
    Variety,
)
from gemba.toml import quoted


class _Judged(NamedTuple):
    """A document with its faults; a skill_id that is well formed, and the skill if nothing is wrong with it."""

    faults: list[Fault]
    skill_id: Text | None = None
    skill: AgentSkill | None = None


def lint(documents: Iterable[Document]) -> Library:
    """Judge them in this order, bundled ones first: of two with one id the first of a workspace counts."""
    skills: dict[str, AgentSkill] = {}
    told: list[SkillFinding] = []
    first: dict[str, str] = {}
    for document in documents:
        judged = _judge(document)
        faults, skill = judged.faults, judged.skill
        if judged.skill_id is not None and document.source == "workspace":
            id, line = judged.skill_id
            if id in first:
                faults, skill = [*faults, Fault("skill-id-twice", line, first[id])], None
            elif id in skills and skill is not None:
                faults = [*faults, Fault("skill-id-overrides", line, id)]
                skill = msgspec.structs.replace(skill, overrides=True)
            first.setdefault(id, f"{document.file}:{line}")
        if skill is not None:
            skills[skill.skill_id] = skill
        told += findings(SkillFinding, document.file, RULES, faults)
    return Library(dict(sorted(skills.items())), told)


def _judge(document: Document) -> _Judged:
    if document.problem is not None:
        return _Judged([Fault("file-unreadable", 1, document.problem)])
    text = text_of(document.data, MOST_BYTES)
    return _Judged([text]) if isinstance(text, Fault) else _judge_text(document, read_front_matter(text))


def _judge_text(document: Document, front: FrontMatter) -> _Judged:
    values, faults = texts_of(front)
    faults += _value_faults(values)
    id = values.get("skill_id")
    known_id = id if id is not None and SKILL_ID.fullmatch(id.text) else None
    if front.body is None:
        return _Judged(faults)
    variety = values["variety"].text if "variety" in values else None
    plain = plain_text(front.body, front.body_line)
    known_variety = variety if variety in VARIETIES else None
    faults += ask_faults(plain, front.body, front.body_line, known_variety)
    faults += conduct_faults(plain)
    if known_id is None or any(RULES[fault.rule].severity == "error" for fault in faults):
        return _Judged(faults, known_id)
    description = " ".join(values["description"].text.split())
    named = (known_id.text, cast("Variety", variety), description)
    return _Judged(faults, known_id, AgentSkill(*named, document.source, document.file, body=front.body))


def _value_faults(values: dict[str, Text]) -> Iterator[Fault]:
    if (id := values.get("skill_id")) is not None and not SKILL_ID.fullmatch(id.text):
        yield Fault("skill-id-malformed", id.line, quoted(id.text))
    if (variety := values.get("variety")) is not None and variety.text not in VARIETIES:
        yield Fault("variety-unknown", variety.line, quoted(variety.text))
    description = values.get("description")
    if description is not None and len(description.text) > LONGEST_DESCRIPTION:
        yield Fault("description-too-long", description.line, f"{len(description.text):,}")
