"""The log's second line of defence: what looks like a secret does not leave, whatever was logged by mistake."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from gemba.cli.log import redacted, set_up_logging

CANARY = "c4n4ry"


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """What a log that is set up now wrote; afterwards nothing of it is left."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield lambda: capsys.readouterr().err
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def out(**fields: Any) -> dict[str, Any]:
    return dict(redacted(None, "info", fields))


@pytest.mark.parametrize(
    "name",
    ["token", "TOKEN", "access_token", "Authorization", "password", "db_passwd", "secret", "url", "page_url", "cookie"],
)
def test_the_value_of_a_telling_name_is_masked_wherever_it_stands(name: str) -> None:
    assert out(**{name: CANARY}) == {name: "***"}
    assert CANARY not in str(out(inner={"deeper": [{name: CANARY}]}))
    assert out(**{name: None}) == {name: None}


@pytest.mark.parametrize(
    "text",
    [
        f"cannot reach json://user:{CANARY}@host/{CANARY}?token={CANARY} today",
        f"postgresql+psycopg://gemba:{CANARY}@db/gemba",
        f"https://hooks.example/{CANARY}",
        f"Authorization: Bearer {CANARY}",
        f"basic {CANARY}",
        f"?token={CANARY}&x=1",
        f"password: {CANARY}",
    ],
)
def test_addresses_and_credentials_inside_texts_are_masked(text: str) -> None:
    assert CANARY not in str(out(event=text))
    assert CANARY not in str(out(reason=ValueError(text)))
    assert CANARY not in str(out(inner=[(text,)]))


def test_the_scheme_of_an_address_and_what_is_no_secret_stay() -> None:
    line = {"event": "no way to ntfy://x/y", "seconds": 0.25, "ok": True, "id": "01a1", "kind": "blocker", "none": None}

    assert out(**line) == {**line, "event": "no way to ntfy://***"}


@given(st.dictionaries(st.sampled_from(["event", "id", "n"]), st.text() | st.integers() | st.none() | st.floats()))
def test_any_line_can_be_redacted_and_redacting_it_again_changes_nothing(fields: dict[str, Any]) -> None:
    once = dict(redacted(None, "info", dict(fields)))

    assert once.keys() == fields.keys()
    assert str(redacted(None, "info", dict(once))) == str(once)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_exceptions_and_other_libraries_lines_are_redacted_too(written: Callable[[], str], log_format: str) -> None:
    set_up_logging(level="info", log_format=log_format)
    try:
        raise RuntimeError(f"postgresql://gemba:{CANARY}@db refused")
    except RuntimeError:
        structlog.get_logger().exception("it failed")
        logging.getLogger("some.library").exception("failed with token=%s", CANARY)
    logging.getLogger("some.library").info("about itself")

    lines = written()
    assert CANARY not in lines
    assert lines.count("RuntimeError: postgresql://***") == 2
    assert "about itself" not in lines
    if log_format == "json":
        assert [
            (line["event"], line["level"]) for line in map(json.loads, lines.splitlines()) if line["timestamp"]
        ] == [("it failed", "error"), ("failed with token=***", "error")]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, ["warning", "error"]),
        ({"verbose": True}, ["info", "warning", "error"]),
        ({"level": "debug"}, ["debug", "info", "warning", "error"]),
        ({"level": "error", "verbose": True}, ["error"]),
    ],
)
def test_the_level_says_what_is_logged(written: Callable[[], str], settings: dict[str, Any], told: list[str]) -> None:
    set_up_logging(**settings, log_format="json")
    for level in ("debug", "info", "warning", "error"):
        getattr(structlog.get_logger(), level)("something")

    assert [json.loads(line)["level"] for line in written().splitlines()] == told


def test_a_line_of_text_is_one_line_whatever_it_holds(written: Callable[[], str]) -> None:
    set_up_logging(verbose=True)
    structlog.get_logger().info("some\nthing", id="a\nb\x1b[2J\u202e")

    line = written()
    assert line.count("\n") == 1
    assert "\x1b" not in line
    assert "\u202e" not in line
