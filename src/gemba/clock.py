"""Moments: microseconds since 1970 (UTC) inside, RFC 3339 text on the wire.

One integer sorts, compares and stores alike on SQLite and PostgreSQL. Tests move time with time-machine.
What waits inside a running process counts with `elapsed`, which nobody can set.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
DAY = 86_400 * SECOND

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE = timedelta(microseconds=1)
_RUNNING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
# What both datetime and a 64-bit column can hold.
_EARLIEST, _LATEST = 0, (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _ONE


def now() -> int:
    return time.time_ns() // 1000


def elapsed() -> int:
    """Microseconds of a clock that only runs forward and counts the time that the machine slept."""
    return time.clock_gettime_ns(_RUNNING) // 1000


def rfc3339(moment: int) -> str:
    return (_EPOCH + timedelta(microseconds=moment)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def told(moment: int | None) -> str | None:
    """The same of a moment that may not have come."""
    return None if moment is None else rfc3339(moment)


def parse_past(text: str, now: int) -> int:
    """When a text says that something happened; without a usable clock, or with one that runs ahead, now."""
    return min(parse(text) or now, now)


def parse(text: str) -> int | None:
    """The moment a text names; None when it names none (no zone, out of range, not a time)."""
    try:
        value = datetime.fromisoformat(text)
        if value.tzinfo is None:
            return None
        moment = (value - _EPOCH) // _ONE
    except (ValueError, OverflowError):
        return None
    return moment if _EARLIEST <= moment <= _LATEST else None
