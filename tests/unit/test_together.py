"""What a crowd asks for at once is done once, and never before it was asked for."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gemba.testing import retry_until
from gemba.together import Together


def test_who_asks_while_one_is_being_made_gets_the_next_and_shares_it() -> None:
    begun, go_on, made = threading.Semaphore(0), threading.Semaphore(0), []

    def make(about: str) -> int:
        begun.release()
        assert go_on.acquire(timeout=10)
        made.append(about)
        return len(made)

    together = Together(make)
    with ThreadPoolExecutor(6) as threads:
        first = threads.submit(together.get, "a")
        assert begun.acquire(timeout=10)
        others = [threads.submit(together.get, "a") for _ in range(5)]
        retry_until(lambda: together._coming, timeout=10)
        go_on.release()
        assert begun.acquire(timeout=10)
        go_on.release(6)

        assert first.result(10) == 1
        assert min(other.result(10) for other in others) == 2
    assert len(made) < 6


def test_each_is_about_its_own_and_what_goes_wrong_is_told_to_who_asked() -> None:
    def make(about: str) -> str:
        if about == "bad":
            raise OSError("it is bad")
        return about

    together = Together(make)
    assert [together.get("a"), together.get("b"), together.get("a")] == ["a", "b", "a"]
    for _ in range(2):
        with pytest.raises(OSError, match="it is bad"):
            together.get("bad")
