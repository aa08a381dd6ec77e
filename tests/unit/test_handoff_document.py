"""An envelope as it is kept: storable whatever was sent, and known again by its content."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.document import content_hash, kept
from gemba.text import storable

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner), max_leaves=30
)


@given(DOCUMENTS)
def test_what_is_kept_can_be_stored_and_read_by_everybody(document: Any) -> None:
    text = msgspec.json.encode(kept(document)).decode()

    assert storable(text) == text
    assert msgspec.json.decode(text) == json.loads(text) == kept(kept(document))


def test_a_document_that_everybody_can_read_is_kept_as_it_is() -> None:
    document = {"a": [1, -2.5, True, None, "Grüße"], "b": {"c": 2**63 - 1}}
    assert kept(document) == document


def test_too_many_levels_are_cut() -> None:
    document: Any = "end"
    for _ in range(500):
        document = [document]

    assert json.dumps(kept(document)).count("[") == 32


@pytest.mark.parametrize("other", [{"a": 1, "b": "2"}, {"a": True, "b": 2}, {"a": 1}, {"A": 1, "b": 2}])
def test_other_content_has_another_hash_and_another_order_has_not(other: dict[str, Any]) -> None:
    assert content_hash({"a": 1, "b": 2}, "") == content_hash({"b": 2, "a": 1}, "whatever")
    assert content_hash({"a": 1, "b": 2}, "") != content_hash(other, "")


def test_without_an_envelope_the_text_is_the_content() -> None:
    assert content_hash(None, "a") == content_hash(None, "a") != content_hash(None, "b")
