"""Moments are one integer inside and RFC 3339 outside, and nothing that is no moment becomes one."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from time_machine import travel

from gemba import clock, wire


def test_now_is_microseconds_since_1970() -> None:
    before = time.time()

    assert before * clock.SECOND - 1 <= clock.now() <= time.time() * clock.SECOND + 1


def test_a_moment_is_written_in_utc_with_microseconds() -> None:
    moment = int(datetime(2026, 3, 1, 10, 0, 0, 5, tzinfo=UTC).timestamp()) * clock.SECOND + 5

    assert clock.rfc3339(moment) == "2026-03-01T10:00:00.000005Z"


@given(st.integers(0, 253_402_214_400 * clock.SECOND - 1))
def test_what_is_written_is_read_as_the_same_moment(moment: int) -> None:
    assert clock.parse(clock.rfc3339(moment)) == moment


@travel(datetime(2026, 3, 1, 10, 0, 0, 123_456, tzinfo=UTC), tick=False)
def test_a_frames_own_timestamp_is_read() -> None:
    assert clock.parse(wire.timestamp()) == clock.now()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000000Z"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00.000000Z"),
        ("2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.500000Z"),
        ("2026-03-01 10:00:00+00:00", "2026-03-01T10:00:00.000000Z"),
    ],
)
def test_a_time_with_its_zone_is_read(text: str, same: str) -> None:
    moment = clock.parse(text)

    assert moment is not None
    assert clock.rfc3339(moment) == same


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-03-01", "2026-03-01T10:00:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "1" * 1000, "\0"],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    assert clock.parse(text) is None


@given(st.text())
def test_any_text_is_a_moment_that_can_be_written_or_none(text: str) -> None:
    moment = clock.parse(text)

    assert moment is None or clock.parse(clock.rfc3339(moment)) == moment


def test_time_may_go_back() -> None:
    with travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as traveller:
        first = clock.now()
        traveller.shift(-3600.0)

        assert clock.now() == first - 3600 * clock.SECOND
