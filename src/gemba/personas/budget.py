"""What a call may cost, as pure decisions: its cap, whether the day has room for it, what it is charged in the end.

Money is whole millionths of a dollar. `reservations` keeps the sums.
"""

from __future__ import annotations

from typing import NamedTuple

from gemba import clock
from gemba.errors import Conflict
from gemba.personas.persona import MICROS, BudgetPolicy, Persona, micros


class Usage(NamedTuple):
    """What a client reports of a run; a client whose user pays by the month tells no cost."""

    model: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int | None = None


def day_of(moment: int) -> int:
    """The day (UTC) of a moment, counted from 1970."""
    return moment // clock.DAY


def cap_of(policy: BudgetPolicy, max_dollars: float | None = None) -> int:
    """What one call may cost: the smaller of the persona's limit and the request's."""
    own = micros(policy.max_per_invocation_dollars)
    return own if max_dollars is None else max(0, min(own, micros(max_dollars)))


def room_of(policy: BudgetPolicy, taken: int) -> int:
    """What is left of a day of which so much is settled or reserved."""
    return max(0, micros(policy.max_per_day_dollars) - taken)


def refusal(persona: Persona, cap: int, taken: int) -> Conflict:
    """Why a call cannot be started, with what is left."""
    left = room_of(persona.budget_policy, taken)
    day = persona.budget_policy.max_per_day_dollars
    if cap <= 0:
        words = f"a call of {persona.name} may cost nothing, so none is started"
    elif micros(day) <= 0:
        words = f"a day of {persona.name} may cost nothing, so no call is started"
    else:
        words = (
            f"a call of {persona.name} may cost {cap / MICROS:.2f} dollars, and of today's {day:.2f} there are "
            f"{left / MICROS:.2f} left"
        )
    return Conflict(
        words,
        code="budget_spent",
        found=cap / MICROS,
        allowed=left / MICROS,
        persona_id=persona.id,
        left_dollars=left / MICROS,
        day_dollars=day,
    )


def over_cap(cap: int, reported: Usage) -> str | None:
    """Why a run that reports so much has to be stopped, or None."""
    if reported.cost_micros is None or reported.cost_micros <= cap:
        return None
    return f"it reports {reported.cost_micros / MICROS:.4f} dollars, and may cost {cap / MICROS:.4f}"


def charge_of(cap: int, reported: Usage) -> int:
    """What a run is charged: what it cost, also beyond its cap; where nobody knows that, all that it might have cost,
    unless it used no token."""
    if reported.cost_micros is not None:
        return max(0, reported.cost_micros)
    return cap if reported.tokens_in or reported.tokens_out else 0
