"""gemba.testing: how tests wait, and how much they do."""

import os
import subprocess
import sys

import pytest

from gemba import testing
from gemba.testing import retry_until, seeds


def test_retry_until_returns_the_first_truthy_answer() -> None:
    answers = iter([0, "", "yes", "too late"])

    assert retry_until(lambda: next(answers), every=0) == "yes"


def test_retry_until_tells_the_last_answer_when_time_is_up() -> None:
    with pytest.raises(AssertionError, match=r"not within 0.01 s; the last answer was \[\]"):
        retry_until(list, timeout=0.01)


def test_seeds_are_the_same_in_every_process_of_a_run_and_differ_from_each_other() -> None:
    assert seeds(10, 200) == seeds(10, 200)
    assert len(set(seeds(10, 10))) == 10


@pytest.mark.parametrize(("effort", "size"), [("short", "3"), ("full", "70")])
def test_the_environment_sets_seed_and_size(effort: str, size: str) -> None:
    environment = {"GEMBA_TEST_SEED": "7", "GEMBA_TEST_EFFORT": effort, "PATH": os.environ["PATH"]}
    program = "from gemba.testing import SEED, seeds; print(SEED, len(seeds(3, 70)))"

    out = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert out.stdout.split() == ["7", size]


def test_a_full_run_is_never_smaller_than_a_short_one() -> None:
    assert testing.effort(1, 2) == (2 if testing.FULL else 1)
