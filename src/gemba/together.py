"""What several threads want at the same moment, done once for all of them.

Whoever asks gets an answer that was begun after the question: one that is being made then is not good enough, and the
next one is everybody's who came meanwhile. So a look at a folder is as new as if each had looked, and a crowd of them
costs two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Together(Generic[T]):
    """By what it is about, as a folder; whatever is raised is raised for all who asked."""

    def __init__(self, make: Callable[[str], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._coming: dict[str, Future[T]] = {}  # not begun yet: whoever asks now may have it
        self._making: dict[str, threading.Lock] = {}

    def get(self, about: str) -> T:
        with self._lock:
            coming = self._coming.get(about)
            is_mine = coming is None
            if coming is None:
                coming = self._coming[about] = Future()
            making = self._making.setdefault(about, threading.Lock())
        if is_mine:
            with making:
                with self._lock:
                    del self._coming[about]
                try:
                    coming.set_result(self._make(about))
                except BaseException as error:  # noqa: BLE001 - raised below, and for the others
                    coming.set_exception(error)
        return coming.result()
