"""A network with nothing in it but loopback, for the threads and processes that a test starts there.

A thread is put into a network namespace of its own; what it opens and starts stays in there. Files, and so the private
socket of a `gemba serve` outside, are reached as ever. Where the machine does not let us make one, the thread stays
where it is: then only the settings of a client keep it from calling elsewhere.
"""

import ctypes
import fcntl
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP_AND_RUNNING = 0x41


class Island:
    """One thread, and with it one network."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "island")
        self.is_cut_off = self.do(_leave_the_network)

    def do(self, work: Callable[[], Made]) -> Made:
        """Work that opens sockets or starts processes, which are on the island from then on."""
        return self._thread.submit(work).result()

    def close(self) -> None:
        self._thread.shutdown()


def _leave_the_network() -> bool:
    """Whether this thread has a network of its own now, with loopback up."""
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is None or unshare(_CLONE_NEWNET) != 0:
        return False
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_AND_RUNNING))
    return True
