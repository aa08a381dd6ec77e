"""What a program printed, as a person would have read it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.sessions.backends.screen import plain_text


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        (b"plain\ttext \xe2\x9c\x93\n", "plain\ttext ✓\n"),
        (b"\x1b[1;31mred\x1b[0m and \x1b[38:2:1:2:3mblue\x1b[m", "red and blue"),
        (b"\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "textlink"),
        (b"\x1b]0;a title that never ends\nnext line", "\nnext line"),
        (b"\x1bP1$r0m\x1b\\after", "after"),
        (b"\x1b(B\x1b=\x1b7ok", "ok"),
        (b"cut off \x1b[3", "cut off "),
        (b"cut off \x1b", "cut off "),
        (b"\xc2\x9b31mred", "red"),
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"10%\r50%\r100%\ndone", "100%\ndone"),
        (b"10%\r50%\r", "50%"),
        (b"ab\bc\a\0", "ac"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"", ""),
    ],
)
def test_what_a_terminal_was_told_is_left_out(printed: bytes, read: str) -> None:
    assert plain_text(printed) == read


@given(st.binary())
def test_nothing_is_left_that_could_drive_a_terminal(printed: bytes) -> None:
    assert not [char for char in plain_text(printed) if char not in "\n\t" and (char < " " or "\x7f" <= char <= "\x9f")]


@pytest.mark.parametrize("part", [b"\x1b", b"\x1b[", b"\x1b]", b"\x1b[;", b"\r", b"\b", b"a\b", b"x", b"\x1b]x\x1b"])
def test_any_output_is_read_in_time_linear_in_its_length(part: bytes) -> None:
    started = time.process_time()

    plain_text(part * (1_000_000 // len(part)))

    assert time.process_time() - started < 2
