"""What tests of Gemba, and of what is built on it, need beside pytest: patience, sizes and seeds.

A test that repeats a thing asks here how often. `make test` gets the short answer and always the same seed, so that a
red run can be repeated; `make chaos` and `make fuzz` get the full one and a seed of their own, which they print.
Standard library only; the product never imports it.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Answer = TypeVar("Answer")
Item = TypeVar("Item")

SEED = int(os.environ.get("GEMBA_TEST_SEED", "20260101"))
FULL = os.environ.get("GEMBA_TEST_EFFORT", "short") == "full"


def effort(short: int, full: int) -> int:
    """How often to do it: `short` in `make test`, `full` in `make chaos` and `make fuzz`."""
    return full if FULL else short


def seeds(short: int, full: int) -> list[int]:
    """One seed a round, for `pytest.mark.parametrize`: each round is a test and can be run alone."""
    source = random.Random(SEED)
    return [source.getrandbits(32) for _ in range(effort(short, full))]


def some(items: Sequence[Item], short: int) -> list[Item]:
    """All of them in the long runs; in `make test` so many, drawn by the seed."""
    return list(items) if FULL else random.Random(SEED).sample(list(items), short)


def retry_until(ask: Callable[[], Answer], *, timeout: float = 5.0, every: float = 0.02) -> Answer:
    """Ask until the answer is truthy and return it; an assertion error with the last answer after `timeout` seconds.

    For what has no event to wait for, such as a process that ends on its own. Where there is an event, wait for that.
    """
    deadline = time.monotonic() + timeout
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s; the last answer was {answer!r}")
        time.sleep(every)
    return answer
