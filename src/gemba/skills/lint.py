"""The linter of agent skills: any bytes in; out come the skills that can be used and a finding for every fault.

Never fails, does no I/O, and takes time linear in what it reads. Called by `library`, which reads the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

import msgspec

from gemba.skills.asks import ask_faults
from gemba.skills.conduct import conduct_faults
from gemba.skills.front_matter import Fault, FrontMatter, Value, read_front_matter
from gemba.skills.plain import plain_text
from gemba.skills.rules import RULES, finding
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

_MOST_FINDINGS = 100  # of one file


class _Judged(NamedTuple):
    """A document with its faults; a skill_id that is well formed, and the skill if nothing is wrong with it."""

    faults: list[Fault]
    skill_id: Value | None = None
    skill: AgentSkill | None = None


def lint(documents: Iterable[Document]) -> Library:
    """Judge them in this order, bundled ones first: of two with one id the first of a workspace counts."""
    skills: dict[str, AgentSkill] = {}
    findings: list[SkillFinding] = []
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
        findings += _findings(document, faults)
    return Library(dict(sorted(skills.items())), findings)


def _findings(document: Document, faults: list[Fault]) -> list[SkillFinding]:
    """In the order of lines; of one rule one a line."""
    told: dict[tuple[int, str], Fault] = {}
    for fault in faults:
        told.setdefault((fault.line, fault.rule), fault)
    ordered = sorted(told.values(), key=lambda fault: fault.line)[:_MOST_FINDINGS]
    return [finding(fault.rule, document, fault.line, fault.found) for fault in ordered]


def _judge(document: Document) -> _Judged:
    if document.problem is not None:
        return _Judged([Fault("file-unreadable", 1, document.problem)])
    if len(document.data) > MOST_BYTES:
        return _Judged([Fault("file-unreadable", 1, f"larger than {MOST_BYTES} bytes")])
    try:
        text = _decoded(document.data)
    except UnicodeDecodeError as error:
        line = document.data.count(b"\n", 0, error.start) + 1
        return _Judged([Fault("file-not-text", line, f"byte {document.data[error.start]:#04x}")])
    if "\0" in text:
        return _Judged([Fault("file-not-text", text.count("\n", 0, text.index("\0")) + 1, "a NUL character")])
    return _judge_text(document, read_front_matter(text))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _judge_text(document: Document, front: FrontMatter) -> _Judged:
    faults, values = [*front.faults, *_value_faults(front.values)], front.values
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


def _value_faults(values: dict[str, Value]) -> Iterator[Fault]:
    if (id := values.get("skill_id")) is not None and not SKILL_ID.fullmatch(id.text):
        yield Fault("skill-id-malformed", id.line, quoted(id.text))
    if (variety := values.get("variety")) is not None and variety.text not in VARIETIES:
        yield Fault("variety-unknown", variety.line, quoted(variety.text))
    description = values.get("description")
    if description is not None and len(description.text) > LONGEST_DESCRIPTION:
        yield Fault("description-too-long", description.line, f"{len(description.text):,}")
