"""Whatever is done to an audit chain is found, and the first bad entry is named."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.chain import BEGINNING, Anchor, Broken, Entry, entry_after, hash_entry, verify


def chain(length: int, word: str = "granted") -> list[Entry]:
    entries: list[Entry] = []
    head = BEGINNING
    for number in range(1, length + 1):
        body = f'{{"id": {number}, "word": "{word}"}}'
        entries.append(entry_after(head, at=number * 10, kind="approval", actor="mara", ref=f"r{number}", body=body))
        head = entries[-1].anchor
    return entries


def found(entries: list[Entry], anchor: Anchor | None = None, **more: Any) -> tuple[int, str] | None:
    broken = verify(iter(entries), anchor, **more)
    return None if broken is None else broken[:2]


GOOD = chain(6)
HEAD = GOOD[-1].anchor


def again(entries: list[Entry], start: int = 0) -> list[Entry]:
    """The same entries, numbered and hashed anew from one of them on: what somebody does who knows how."""
    made = entries[:start]
    for entry in entries[start:]:
        head = made[-1].anchor if made else BEGINNING
        made.append(entry_after(head, at=entry.at, kind=entry.kind, actor=entry.actor, ref=entry.ref, body=entry.body))
    return made


def test_a_chain_as_it_was_written_is_whole() -> None:
    assert found(GOOD, HEAD) is None
    assert found(GOOD) is None
    assert found([]) is None
    assert found([], BEGINNING) is None


def test_an_entry_links_to_the_one_before_and_the_first_to_the_beginning() -> None:
    assert [entry.number for entry in GOOD] == [1, 2, 3, 4, 5, 6]
    assert [entry.previous for entry in GOOD] == [BEGINNING.hash, *(entry.hash for entry in GOOD[:-1])]
    assert len({entry.hash for entry in GOOD}) == 6


CHANGES: dict[str, Any] = {
    "number": 99,
    "at": 31,
    "kind": "Approval",
    "actor": "mara ",
    "ref": "r33",
    "body": '{"id": 3,  "word": "granted"}',
    "previous": "0" * 64,
    "hash": "f" * 64,
}


@pytest.mark.parametrize("field", Entry._fields)
def test_another_value_of_any_field_is_found_where_it_stands(field: str) -> None:
    edited = [*GOOD]
    edited[2] = edited[2]._replace(**{field: CHANGES[field]})

    broken = verify(edited, HEAD)

    assert broken is not None
    assert broken.what == "edited"
    assert broken.number == (99 if field == "number" else 3)
    assert str(broken.number) in broken.detail


@pytest.mark.parametrize("field", [field for field in Entry._fields if field not in ("previous", "hash")])
def test_an_edit_with_a_hash_of_its_own_breaks_the_link_of_the_next_or_the_anchor(field: str) -> None:
    edited = [*GOOD]
    for place in (2, 5):
        forged = edited[place]._replace(**{field: CHANGES[field]})
        edited[place] = forged._replace(hash=hash_entry(forged))

    if field == "number":
        assert found(edited, HEAD) == (3, "missing")
    else:
        assert found(edited, HEAD) == (4, "unlinked")
        assert found([*GOOD[:5], edited[5]._replace(previous=GOOD[4].hash)], HEAD) == (6, "rewritten")


@pytest.mark.parametrize("place", range(6))
def test_every_byte_of_every_entry_counts(place: int) -> None:
    body = GOOD[place].body
    for at in range(len(body)):
        edited = [*GOOD]
        edited[place] = edited[place]._replace(body=body[:at] + chr(ord(body[at]) ^ 1) + body[at + 1 :])
        assert found(edited, HEAD) == (place + 1, "edited")


@pytest.mark.parametrize("place", range(5))
def test_an_entry_that_was_taken_out_is_missing(place: int) -> None:
    left = GOOD[:place] + GOOD[place + 1 :]

    assert found(left, HEAD) == (place + 1, "missing")
    # With new numbers and new hashes up to the end: the anchor knows better.
    assert found(again(left), HEAD) == (6, "truncated")
    assert found(
        [*again(left), entry_after(again(left)[-1].anchor, at=1, kind="", actor="", ref="", body="")], HEAD
    ) == (
        6,
        "rewritten",
    )


@pytest.mark.parametrize("place", range(6))
def test_an_entry_that_was_put_in_is_found_there(place: int) -> None:
    head = GOOD[place - 1].anchor if place else BEGINNING
    forged = entry_after(head, at=1, kind="approval", actor="nobody", ref="r", body="{}")

    assert found([*GOOD[:place], forged, *GOOD[place:]], HEAD) in [(place + 1, "repeated"), (place + 1, "rewritten")]
    assert found([*GOOD[:place], *again([forged, *GOOD[place:]])], HEAD) is not None
    assert found([*GOOD, GOOD[place]], HEAD) == (place + 1, "repeated")


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(range(6), 2)))
def test_entries_that_changed_places_are_found_at_the_first_of_them(one: int, other: int) -> None:
    moved = [*GOOD]
    moved[one], moved[other] = moved[other], moved[one]
    renumbered = [*GOOD]
    renumbered[one] = GOOD[other]._replace(number=one + 1)
    renumbered[other] = GOOD[one]._replace(number=other + 1)

    assert found(moved, HEAD) == (one + 1, "missing")
    assert found(renumbered, HEAD) == (one + 1, "edited")


@pytest.mark.parametrize("length", range(6))
def test_a_tail_that_was_cut_off_is_missed_by_the_anchor(length: int) -> None:
    assert found(GOOD[:length], HEAD) == (length + 1, "truncated")


def test_a_chain_that_was_written_anew_is_not_the_one_that_was_anchored() -> None:
    other = chain(6, "refused")

    assert found(other) is None
    assert found(other, HEAD) == (6, "rewritten")
    assert found(chain(9, "refused"), HEAD) == (6, "rewritten")


@pytest.mark.parametrize("place", range(6))
def test_earlier_anchors_tell_where_a_chain_was_written_anew(place: int) -> None:
    changed = [*GOOD]
    changed[place] = changed[place]._replace(body="{}")

    assert found(again(changed, place), HEAD, earlier=[entry.anchor for entry in GOOD]) == (place + 1, "rewritten")


def test_an_anchor_that_was_left_behind_by_a_crash_is_no_fault() -> None:
    assert found(GOOD, GOOD[3].anchor) is None


def test_the_tail_alone_can_be_checked_after_an_entry_that_is_trusted() -> None:
    assert found(GOOD[3:], HEAD, after=GOOD[2].anchor) is None
    assert found([GOOD[3]._replace(actor="x"), *GOOD[4:]], HEAD, after=GOOD[2].anchor) == (4, "edited")
    assert found(GOOD[4:], HEAD, after=GOOD[2].anchor) == (4, "missing")
    assert found(GOOD[3:], HEAD, after=Anchor(3, "0" * 64)) == (4, "unlinked")
    assert found([], GOOD[2].anchor, after=Anchor(3, "0" * 64)) == (3, "rewritten")
    assert found([], HEAD, after=GOOD[2].anchor) == (4, "truncated")


def test_a_chain_is_read_once_and_only_as_far_as_it_is_good() -> None:
    read: list[int] = []

    def entries() -> Any:
        for entry in [*GOOD[:2], GOOD[2]._replace(actor="x"), *GOOD[3:]]:
            read.append(entry.number)
            yield entry

    assert verify(entries(), HEAD) == Broken(3, "edited", "entry 3 is not what its hash was made of")
    assert read == [1, 2, 3]


def test_the_hash_covers_what_stands_where() -> None:
    one, other = GOOD[0]._replace(actor="a", ref="bc"), GOOD[0]._replace(actor="ab", ref="c")

    assert hash_entry(one) != hash_entry(other)


texts = st.text(st.characters(codec=None), max_size=8)
bodies = st.lists(st.tuples(texts, texts, texts, texts), min_size=1, max_size=6)


def build(rows: list[tuple[str, str, str, str]]) -> list[Entry]:
    entries: list[Entry] = []
    for at, (kind, actor, ref, body) in enumerate(rows):
        head = entries[-1].anchor if entries else BEGINNING
        entries.append(entry_after(head, at=at, kind=kind, actor=actor, ref=ref, body=body))
    return entries


@given(bodies, st.data())
def test_any_other_list_of_entries_than_the_one_that_was_written_is_found(
    rows: list[tuple[str, str, str, str]], data: st.DataObject
) -> None:
    entries = build(rows)
    # As somebody without any knowledge would change it, and as somebody who makes new hashes.
    pool = [*entries, *build([*reversed(rows), *rows]), entries[0]._replace(actor=entries[0].actor + "x")]
    other = data.draw(st.lists(st.sampled_from(pool), max_size=7))

    assert found(entries, entries[-1].anchor) is None
    if other[: len(entries)] != entries:
        assert found(other, entries[-1].anchor) is not None
