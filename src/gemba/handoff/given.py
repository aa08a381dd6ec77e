"""What the input envelope says about the output. Total: what is malformed in it, or not there, says nothing.

Called by the verdict, the template and whoever applies updates. A hook process pays for this import: standard library
only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gemba.handoff import fields


class Given(NamedTuple):
    """What counts of an input envelope; as it is here, there is none."""

    agent_id: str | None = None
    is_team_task: bool = False
    consolidates: bool = False
    writable: dict[str, None] | None = None  # names of contracts in order, each once; None: nobody knows


NOTHING = Given()


def read_given(envelope: object) -> Given:
    if type(envelope) is not dict:
        return NOTHING
    names = _at(envelope, fields.INPUT_WRITABLE)
    return Given(
        _text(_at(envelope, fields.INPUT_AGENT_ID)),
        _text(_at(envelope, fields.INPUT_TASK_ID)) is not None,
        any(_at(envelope, place) is True for place in fields.INPUT_CONSOLIDATION),
        dict.fromkeys(name for name in names if type(name) is str) if type(names) is list else {},
    )


def _at(envelope: dict[str, Any], place: tuple[str, str]) -> object:
    part = envelope.get(place[0])
    return part.get(place[1]) if type(part) is dict else None


def _text(value: object) -> str | None:
    return value if type(value) is str and value.strip() else None
