"""A line of a session log is a frame or has a reason why not; nothing else comes out, whatever goes in."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.sessions.frames import Frame, Unreadable, read_frame

WHOLE: dict[str, Any] = {
    "ts": "2026-03-01T10:00:00.000001Z",
    "session_id": "worker-1",
    "workspace": "/srv/shop",
    "agent_type": "claude",
    "hook": "GembaAsk",
    "event_id": "0195-a.b_c",
    "payload": {"kind": "question"},
}


def line(**changes: Any) -> bytes:
    return json.dumps({**WHOLE, **changes}).encode()


def reason(data: bytes) -> str:
    found = read_frame(data)
    assert isinstance(found, Unreadable)
    return found.reason


def payload(data: bytes) -> dict[str, Any]:
    found = read_frame(data)
    assert isinstance(found, Frame)
    assert found.payload is not None
    return found.payload


def test_a_frame_is_read_as_it_was_written() -> None:
    assert read_frame(line()) == Frame(**WHOLE)


def test_what_encode_frame_writes_is_a_frame() -> None:
    written = wire.encode_frame("Stop", {"a": [1, None]}, session_id="s", workspace="/w", agent_type="t", event_id="e")

    assert payload(written) == {"a": [1, None]}


def test_only_session_hook_and_event_id_are_needed() -> None:
    assert read_frame(b'{"session_id": "s", "hook": "Stop", "event_id": "e"}') == Frame("s", "Stop", "e")


def test_fields_that_are_not_known_are_left_alone() -> None:
    assert read_frame(line(future={"more": 1})) == Frame(**WHOLE)


@pytest.mark.parametrize("name", ["session_id", "hook", "event_id"])
@pytest.mark.parametrize("value", ["", " ", None, 5, "a\0b", "x" * 513])
def test_a_name_that_names_nothing_is_refused(name: str, value: object) -> None:
    assert name in reason(line(**{name: value}))


@pytest.mark.parametrize("name", ["session_id", "hook", "event_id"])
def test_a_missing_name_is_refused(name: str) -> None:
    assert name in reason(json.dumps({key: value for key, value in WHOLE.items() if key != name}).encode())


@pytest.mark.parametrize("event_id", ["../../etc/passwd", "a/b", "..", "e e", "é", "x" * 129])
def test_an_event_id_that_could_be_a_path_is_refused(event_id: str) -> None:
    assert reason(line(event_id=event_id)).startswith("event_id must be")


@pytest.mark.parametrize(
    "data",
    [b"", b" ", b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b"{}", line()[:-1], line(payload=[1]), line(ts=5)],
)
def test_a_line_that_is_no_frame_has_a_reason(data: bytes) -> None:
    assert reason(data)


def test_text_cut_inside_a_surrogate_pair_loses_that_character_alone() -> None:
    assert payload(line(payload={"text": "ok \ud83d"})) == {"text": "ok \ufffd"}


def test_bytes_that_are_not_unicode_become_replacement_characters() -> None:
    assert payload(line(payload={"text": "AB"}).replace(b"AB", b"A\xffB")) == {"text": "A\ufffdB"}


def test_numbers_that_no_machine_holds_do_not_cost_the_frame() -> None:
    written = line(payload={"a": "HERE", "ok": 1})

    for number in (b"NaN", b"-Infinity", b"1e999"):
        assert payload(written.replace(b'"HERE"', number)) == {"a": None, "ok": 1}


def test_a_document_nested_too_deeply_is_refused() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000

    assert reason(line(payload={"a": "HERE"}).replace(b'"HERE"', deep)) == "nested too deeply"


@given(st.binary())
def test_any_bytes_are_a_frame_or_have_a_reason(data: bytes) -> None:
    assert isinstance(read_frame(data), Frame | Unreadable)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys((*WHOLE, "payload_raw", "other"), json_values)))
def test_any_object_is_a_frame_or_has_a_reason(document: dict[str, Any]) -> None:
    assert isinstance(read_frame(json.dumps(document).encode()), Frame | Unreadable)


@given(st.integers(0, 300), st.integers(0, 255))
def test_a_frame_with_one_wrong_byte_is_a_frame_or_has_a_reason(place: int, byte: int) -> None:
    data = bytearray(line())
    data[place % len(data)] = byte

    found = read_frame(bytes(data))

    assert isinstance(found, Frame | Unreadable)
    if isinstance(found, Frame):
        msgspec.json.encode(found)
