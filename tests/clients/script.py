"""What a model says in a test, step after step, whatever the API is. Tests write it, `model.py` plays it."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Say(NamedTuple):
    """The model writes this, and its turn is over."""

    text: str


class Use(NamedTuple):
    """The model calls a tool."""

    tool: str
    input: dict[str, Any]


class Together(NamedTuple):
    """The model calls several tools at once."""

    calls: tuple[Use, ...]


Step = Say | Use | Together

Told = Callable[[str], Step]
"""A step that depends on all that the model was told before it."""


def parts(step: Step) -> tuple[Say | Use, ...]:
    """What a step consists of, in its order."""
    return step.calls if isinstance(step, Together) else (step,)
