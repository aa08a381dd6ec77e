"""How quickly epics were finished lately: what an estimate is compared with."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from gemba.skills.consult.order_input import Completion

ENOUGH = 3  # completions that make a figure worth trusting


class Velocity(NamedTuple):
    """`completions` have tokens; `tokens_per_hour` is of those that have hours too."""

    completions: int
    typical_tokens: float | None
    most_tokens: int | None
    tokens_per_hour: float | None

    def hours(self, tokens: int) -> float | None:
        return tokens / self.tokens_per_hour if self.tokens_per_hour else None


def measure(done: list[Completion]) -> Velocity:
    tokens = [each.tokens_consumed for each in done if each.tokens_consumed]
    timed = [(each.tokens_consumed, each.elapsed_hours) for each in done if each.tokens_consumed and each.elapsed_hours]
    hours = sum(taken for _, taken in timed)
    return Velocity(
        len(tokens),
        median(tokens) if tokens else None,
        max(tokens, default=None),
        sum(used for used, _ in timed) / hours if hours else None,
    )
