"""What a consult skill is: one typed job, as a row. The rows stand in a module each, and together in `registry`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Union

import msgspec

from gemba.skills.consult.advice import GRAMMAR, judge_advice
from gemba.skills.consult.judge import Grammar, Judge
from gemba.skills.consult.reading import read_input
from gemba.skills.consult.suggested import Allowed
from gemba.skills.consult.tool_names import TOOL_NAMES

# How a model is told to call the tool of a skill that speaks the lines of `advice`.
OUTPUT = """\
Give your answer as lines: one strategy {reasoning}, then findings {text, refs} and proposals {title, rationale, \
confidence, suggested_action {verb, path, body}}, then one summary {notes}. Several calls add up. A line that \
breaks a rule is set aside with the reason, and its neighbours stay."""

_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


class ConsultSkill(NamedTuple):
    """One row: what people and models are told of the skill, its input, its lines, and what these may suggest.

    `prompt` is the skill's layer of a consult's prompt, `output` tells a model how to call its tool. `judges` makes
    the judge of one consult from its input; without it the lines are those of `advice`.
    """

    id: str
    name: str
    description: str
    prompt: str
    output: str
    input: type[msgspec.Struct]
    allowed: tuple[Allowed, ...] = ()
    grammar: Grammar = GRAMMAR
    judges: Callable[[Any], Judge[Any]] | None = None

    @property
    def tool_name(self) -> str:
        return TOOL_NAMES[self.id]

    def read(self, document: Any) -> msgspec.Struct:
        """The input, or an InputMisfit that names the place."""
        return read_input(document, self.input)

    def judge(self, given: Any) -> Judge[Any]:
        return judge_advice(given, self.allowed) if self.judges is None else self.judges(given)

    def input_schema(self) -> dict[str, Any]:
        return _document(msgspec.json.schema(self.input), f"Input of {self.id}")

    def output_schema(self) -> dict[str, Any]:
        """Of one line; the skill's tool takes a list of them."""
        lines: Any = Union[self.grammar.kinds]  # noqa: UP007 - of types that are known when it runs
        return _document(msgspec.json.schema(lines), f"A line of {self.id}")


def _document(schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": _SCHEMA, "title": title, **schema}
