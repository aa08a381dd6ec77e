"""Letters from a thread to the main thread, which hears signals while it waits for them."""

import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from gemba.threads import Mailbox


class Rung(Exception):
    """What the signal of these tests raises in the main thread."""


@pytest.fixture
def ringing() -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Rung

    before = signal.signal(signal.SIGUSR1, ring)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def mailbox() -> Iterator[Mailbox[int]]:
    opened: Mailbox[int] = Mailbox()
    yield opened
    opened.close()


def test_letters_come_in_order_also_when_nobody_reads_for_long(mailbox: Mailbox[int]) -> None:
    many = 100_000

    def write() -> None:
        for number in range(many):
            mailbox.put(number)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()

    assert [mailbox.get() for _ in range(many)] == list(range(many))


@pytest.mark.usefixtures("ringing")
def test_a_signal_that_another_thread_gets_wakes_the_one_that_waits(mailbox: Mailbox[int]) -> None:
    thread = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
    thread.start()

    with pytest.raises(Rung):
        mailbox.get()
    thread.join()


def test_a_letter_after_the_end_is_nobodys(mailbox: Mailbox[int]) -> None:
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    other: Mailbox[int] = Mailbox()
    other.close()
    other.put(1)

    assert signal.set_wakeup_fd(before) == before
