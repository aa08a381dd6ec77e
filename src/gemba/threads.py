"""Threads beside the event loop or the main thread: what they do ends when it should, and no end is delayed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

THREADS = 32  # that work for the event loop at once, and so hold a connection to the database

_PATIENCE_SECONDS = 2.0

T = TypeVar("T")


class Mailbox(Generic[T]):
    """What a thread tells the main thread, which may wait for it for hours and still hears Ctrl-C at once.

    A lock cannot do that: a signal that comes just before it is waited for, or that another thread of the process
    gets, wakes nobody. Here each signal puts a byte beside the letters, and the main thread waits for bytes.
    """

    def __init__(self) -> None:
        self._letters: deque[T] = deque()
        self._bell, self._rope = socket.socketpair()
        self._rope.setblocking(False)
        self._rung_before = signal.set_wakeup_fd(self._rope.fileno(), warn_on_full_buffer=False)

    def put(self, letter: T) -> None:
        self._letters.append(letter)
        with contextlib.suppress(OSError):  # full of bytes that nobody has heard yet, or closed
            self._rope.send(b"\0")

    def get(self) -> T:
        while not self._letters:
            self._bell.recv(4096)
        return self._letters.popleft()

    def close(self) -> None:
        signal.set_wakeup_fd(self._rung_before)
        self._bell.close()
        self._rope.close()


async def repeat_in_thread(step: Callable[[], None], *, interrupt: Callable[[], None]) -> None:
    """Run a blocking step again and again until cancelled; `interrupt` makes a step that waits return.

    What a step raises ends the loop and is raised here. On cancellation the running step is waited for.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    ended = threading.Event()

    def finish(error: BaseException | None) -> None:
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error: BaseException | None = None
        try:
            while not ended.is_set():
                step()
        except BaseException as raised:  # noqa: BLE001 - it is raised again, in the task that waits
            error = raised
        loop.call_soon_threadsafe(finish, error)

    threading.Thread(target=run, name=getattr(step, "__qualname__", "step"), daemon=True).start()
    try:
        await asyncio.shield(done)
    finally:
        ended.set()
        interrupt()
        await asyncio.wait([done])


async def readable(file: int | None) -> None:
    """Returns when there is something to read; never without a file."""
    news, loop = asyncio.Event(), asyncio.get_running_loop()
    if file is not None:
        loop.add_reader(file, news.set)
    try:
        await news.wait()
    finally:
        if file is not None:
            loop.remove_reader(file)


async def first_of(*waits: Coroutine[Any, Any, None]) -> None:
    """Returns when one of them does; the others are given up."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    for task in done:
        task.result()


def leave_threads_behind() -> None:
    """Give the event loop other threads than those that a library may hold up, which it would wait for at its end."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))


def end_soon() -> None:
    """The process has done its work and ends by itself, or in a moment in any case.

    A library's thread that waits for a database that is gone must not keep it.
    """
    timer = threading.Timer(_PATIENCE_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()
