"""What is wrong with a persona although every value has its type. Pure: what a file says in, faults out.

What passes keeps the rules that a type cannot say: a coach has no authority to change anything and its purview holds
nothing back; the PM has no purview; skills are ones that there are. Called by `file`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from gemba.personas.authority import PATTERN_RULE, pattern_trouble
from gemba.personas.persona import is_project_manager
from gemba.personas.prompts import PLACEHOLDERS, placeholders_in
from gemba.personas.purview import ALWAYS_WATCHED
from gemba.toml import Fault, nearest, quoted

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNASKED = ("on_trigger", "always")
ID_RULE = "small letters, digits, - and _, at most 64 of them"


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def faults_of(id: str, document: dict[str, Any], skills: Collection[str] | None) -> Iterator[Fault]:
    """Faults in the meaning of what has its type, whatever else is wrong. Without `skills` none of them is unknown."""
    given = document.get("id")
    if isinstance(given, str) and given != id:
        yield Fault(("id",), f"id is {quoted(given)}, and the file is called {id}.toml; allowed: {id}, or no id")
    yield from _skill_faults(document.get("skills"), skills)
    yield from _prompt_faults(document.get("system_prompt"))
    yield from _scope_faults(document.get("scope"))
    yield from _purview_faults(id, document)
    yield from _authority_faults(document)
    for place in (
        ("skills",),
        ("perspective", "triggers"),
        ("context_providers", "reads"),
        ("purview", "active_phases"),
    ):
        yield from _repeated(document, place)


def notes_of(document: dict[str, Any]) -> Iterator[Fault]:
    """What a file that loads asks for and does not get."""
    perspective = document.get("perspective")
    mode = perspective.get("volunteer_mode") if isinstance(perspective, dict) else None
    if mode in _UNASKED:
        when = "when perspectives are asked for and one of its triggers fires" if mode == "on_trigger" else "when asked"
        words = f"volunteer_mode is {mode}: no persona is consulted without being asked; it comments {when}"
        yield Fault(("perspective", "volunteer_mode"), words)


def _skill_faults(listed: Any, known: Collection[str] | None) -> Iterator[Fault]:
    for number, skill in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(skill, str) and known is not None and skill not in known:
            yield Fault(("skills", number), f"no skill is called {quoted(skill)}{nearest(skill, sorted(known))}")


def _prompt_faults(prompt: Any) -> Iterator[Fault]:
    for name in placeholders_in(prompt) if isinstance(prompt, str) else ():
        if name not in PLACEHOLDERS:
            words = f"system_prompt has {{{{{name}}}}}, which stands for nothing"
            yield Fault(("system_prompt",), words + nearest(name, PLACEHOLDERS))


def _scope_faults(scope: Any) -> Iterator[Fault]:
    if not isinstance(scope, dict):
        return
    kind, repository = scope.get("kind", "project"), scope.get("repository")
    if kind == "repository" and repository is None:
        yield Fault(("scope", "kind"), "kind is repository, and repository is missing; allowed: its name")
    if kind in ("project", "any") and repository is not None:
        yield Fault(("scope", "repository"), f"repository goes with kind repository, and kind is {kind}")


def _purview_faults(id: str, document: dict[str, Any]) -> Iterator[Fault]:
    purview = document.get("purview")
    if purview is None:
        return
    if is_project_manager(id, document.get("role")):
        yield Fault(("purview",), "the Project Manager has no purview: it coordinates, and holds nothing")
        return
    if not isinstance(purview, dict):
        return
    if document.get("variety") == "coach" and purview.get("blocking_authority") == "blocking":
        yield Fault(
            ("purview", "blocking_authority"), "blocking_authority is blocking, of a coach; allowed: advisory or strong"
        )
    domain = purview.get("domain")
    if not purview.get("active_phases") and isinstance(domain, str) and domain.casefold() != ALWAYS_WATCHED:
        yield Fault(("purview", "active_phases"), "active_phases is empty: it would never be active; allowed: phases")


def _authority_faults(document: dict[str, Any]) -> Iterator[Fault]:
    given = document.get("mutation_authority")
    if given is None:
        return
    if document.get("variety") == "coach":
        yield Fault(("mutation_authority",), "a coach has no mutation_authority: a person applies what it recommends")
        return
    actions = given.get("actions") if isinstance(given, dict) else None
    for number, action in enumerate(actions if isinstance(actions, list) else ()):
        trouble = pattern_trouble(action) if isinstance(action, str) else None
        if trouble is not None:
            place = ("mutation_authority", "actions", number)
            yield Fault(place, f"actions[{number + 1}] {trouble}; allowed: {PATTERN_RULE}")


def _repeated(document: dict[str, Any], place: tuple[str, ...]) -> Iterator[Fault]:
    found: Any = document
    for part in place:
        found = found.get(part) if isinstance(found, dict) else None
    seen: set[str] = set()
    for number, word in enumerate(found if isinstance(found, list) else ()):
        if isinstance(word, str):
            if word in seen:
                yield Fault((*place, number), f"{place[-1]}[{number + 1}] is {quoted(word)}, which stands there twice")
            seen.add(word)
