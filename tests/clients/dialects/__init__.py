"""The APIs of models, each a module: how a request of it is read, and how an answer is streamed.

A dialect knows nothing of scripts: `model.py` finds it by the address of a request, and the step that comes next.
"""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tests.clients.script import Step


class Turn(NamedTuple):
    """A part of a conversation: the model's own, or something that its client told it."""

    by_model: bool
    text: str


class Dialect(Protocol):
    ADDRESS: str  # how the path of a request ends

    def turns(self, request: dict[str, Any], /) -> Sequence[Turn]:
        """The conversation so far. What the client tells the model of itself (the system prompt) is no part of it."""

    def answer(self, step: Step, request: dict[str, Any], /) -> str:
        """A step as server-sent events."""


def new_id(kind: str) -> str:
    """Never the same twice: a client takes messages of one id for parts of one message."""
    return f"{kind}_{secrets.token_hex(8)}"
