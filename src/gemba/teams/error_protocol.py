"""What an error in a task leads to, by how many there were: another way, a person, or the end of its chain. Pure.

An error is an attempt that broke (the agent died, a tool failed, a deadline passed); a gate that was missed is none.
Nothing here leaves a verification out. Called by the engine, which stores the counters with the task and its chain.
"""

from __future__ import annotations

from typing import NamedTuple

MOST_RETRIES = 2  # of a task
STOPS_CHAIN_AT = 3  # errors of all tasks of a chain together


class Errors(NamedTuple):
    """How many errors there were so far. A success does not make a chain's errors undone: `chain` only grows until a
    person lets the chain go on, a task's own begin anew with each version of it."""

    task: int = 0
    chain: int = 0

    def one_more(self) -> Errors:
        return Errors(self.task + 1, self.chain + 1)

    def of_next_task(self) -> Errors:
        """For the next task of the same chain."""
        return Errors(0, self.chain)

    def let_go_on(self) -> Errors:
        """After a person has decided that it goes on."""
        return Errors()


class Response(NamedTuple):
    """`another_way`: the task is tried again, differently. `escalates`: a person is asked. `stops_chain`: no further
    task of the chain begins before the answer."""

    another_way: bool
    escalates: bool
    stops_chain: bool
    retries_left: int
    reason: str


def respond(errors: Errors) -> Response:
    """What follows on the latest of these errors."""
    stops = errors.chain >= STOPS_CHAIN_AT
    left = 0 if stops else max(0, MOST_RETRIES + 1 - errors.task)
    if stops:
        reason = f"{errors.chain} errors in its chain, which stops at {STOPS_CHAIN_AT}; a person decides"
    elif left:
        reason = f"error {errors.task} of the task: another way, {left} of {MOST_RETRIES} retries left"
    else:
        reason = f"{errors.task} errors, {MOST_RETRIES} retries made; a person decides"
    return Response(bool(left), not left, stops, left, reason)
