"""The page on memory is true: its example is read as it says, and its numbers and classes are the code's."""

import json
import re
from typing import Any

import pytest

from gemba.cli.memory import accept
from gemba.handoff import fields
from gemba.handoff.envelope import MOST_QUOTED, Memory, memory_for
from gemba.handoff.memory import LONGEST_BODY, MOST_SUGGESTIONS, read_suggestions
from gemba.handoff.verdict import judge
from tests.fixtures.envelopes import block, good
from tests.reference import DOCS

PAGE = (DOCS / "memory.md").read_text()


def example() -> dict[str, Any]:
    (found,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    document: dict[str, Any] = json.loads(found)
    return document


def test_the_example_is_suggested_as_the_page_shows_it_and_warns_of_nothing() -> None:
    verdict = judge(block({**good(), **example()}))

    assert (verdict.valid, verdict.warnings) == (True, [])
    found = list(read_suggestions(example()))
    assert len(found) == 3
    for each in found:
        assert f"{each.class_} · {each.type} · {each.slug} · api" in PAGE


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    for words in (
        f"up to {LONGEST_BODY:,} characters",
        f"handoff {MOST_SUGGESTIONS} suggestions",
        f"up to {MOST_QUOTED:,} char",
    ):
        assert words in PAGE


def test_what_can_be_changed_is_named() -> None:
    flags = {flag for parameter in accept.params for flag in parameter.opts if flag.startswith("--")}

    assert set(re.findall(r"`(--[a-z]+)`", PAGE)) == flags - {"--json"}
    assert all(f"`{word}`" in PAGE for word in (*fields.MEMORY_TYPE.allowed, *fields.MEMORY_CLASS.allowed))


@pytest.mark.parametrize(
    ("surfaces", "slugs"), [(["api"], ["utc-everywhere", "proxy-port"]), (["web"], ["utc-everywhere"])]
)
def test_what_is_accepted_goes_where_the_page_says(surfaces: list[str], slugs: list[str]) -> None:
    port = Memory(slug="proxy-port", body="x", class_="thread", source="h", surfaces=("api",))
    utc = Memory(slug="utc-everywhere", body="x", class_="anchor", source="h", surfaces=("api",))

    assert [each.slug for each in memory_for(surfaces, [port, utc])] == slugs
