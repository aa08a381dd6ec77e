"""A seal covers every field and folds nothing: what differs in anything is another request."""

import hashlib
import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.seal import Sealed, differences, digest, fault_of, matches, seal_hash

REQUEST = Sealed(
    id="0190b7a2-0000-7000-8000-000000000001",
    command="git push origin main",
    cwd="/srv/shop",
    environment=("PATH", "HOME"),
    requester="a0123456789abcdef",
    tool="Bash",
    risk="T3",
    rollback=["git push -f origin main@{1}"],
    verification={"command": "git ls-remote", "exit_code": 0},
    created_at=1_000_000,
    expires_at=9_000_000,
    set_id="set-1",
    position=1,
)
OTHERS: dict[str, Any] = {
    "id": "0190b7a2-0000-7000-8000-000000000002",
    "command": "git push origin  main",
    "cwd": "/srv/shop/",
    "environment": ("HOME", "PATH"),
    "requester": "a0123456789abcdee",
    "tool": "bash",
    "risk": "unknown",
    "rollback": "git push -f origin main@{1}",
    "verification": {"command": "git ls-remote", "exit_code": False},
    "created_at": 1_000_001,
    "expires_at": 9_000_001,
    "set_id": None,
    "position": 2,
}


def changed(**fields: Any) -> Sealed:
    return msgspec.structs.replace(REQUEST, **fields)


def test_the_hash_is_the_same_for_the_same_request_in_every_process() -> None:
    program = (
        "from gemba.handoff.seal import Sealed, seal_hash;"
        "print(seal_hash(Sealed(id='i', command='ls é', cwd='/', requester='a00000', tool='Bash', risk='T0',"
        " rollback={'b': 1, 'a': [2.5, None]}, created_at=1, expires_at=2)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert told == {"df59f4188f605befc651155333d5d3597639b8067032d73440fbfaf7323e009b"}


def test_the_hash_can_be_made_by_anybody_from_what_is_said_of_it() -> None:
    fields = {**msgspec.structs.asdict(REQUEST)}
    document = json.dumps(["gemba seal 1", fields], ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    assert seal_hash(REQUEST) == hashlib.sha256(document.encode()).hexdigest()


@pytest.mark.parametrize("field", Sealed.__struct_fields__)
def test_another_value_of_any_field_is_another_hash(field: str) -> None:
    assert seal_hash(changed(**{field: OTHERS[field]})) != seal_hash(REQUEST)


def test_what_stands_at_the_end_of_one_field_is_not_the_beginning_of_the_next() -> None:
    one, other = changed(command="ls", cwd="/a"), changed(command='ls","cwd":"/a', cwd="/a")

    assert seal_hash(one) != seal_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (None, "null"),
        ("1", 1),
        ([], {}),
        ([], None),
        ("", None),
        (["a", "b"], ["a,b"]),
        (["a", ["b"]], ["a", "b"]),
        ({"a": None}, {}),
        ("\ud83d\ude00", "😀"),
        ("é", "e\u0301"),
        ("a\r\n", "a\n"),
        (0.0, -0.0),
    ],
)
def test_values_that_are_nearly_the_same_have_different_hashes(one: Any, other: Any) -> None:
    assert seal_hash(changed(rollback=one)) != seal_hash(changed(rollback=other))


def test_the_order_of_keys_means_nothing_so_that_a_database_may_keep_them_as_it_likes() -> None:
    assert seal_hash(changed(rollback={"a": 1, "b": {"c": 2, "d": 3}})) == seal_hash(
        changed(rollback={"b": {"d": 3, "c": 2}, "a": 1})
    )


def test_the_kind_of_thing_is_part_of_its_hash() -> None:
    assert digest("seal", {"id": "1"}) != digest("audit", {"id": "1"})


def test_a_value_as_deep_as_a_handoff_may_be_is_hashed() -> None:
    deep: Any = []
    for _ in range(512):
        deep = [deep]

    assert len(seal_hash(changed(rollback=deep))) == 64


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def shape(value: Any) -> Any:
    """A value in which only what is the same JSON is equal."""
    if isinstance(value, dict):
        return "object", frozenset((key, shape(part)) for key, part in value.items())
    if isinstance(value, list):
        return "list", tuple(map(shape, value))
    return type(value).__name__, repr(value)


@given(json_values, json_values)
def test_two_values_have_the_same_hash_only_if_they_are_the_same_json(one: Any, other: Any) -> None:
    is_same = seal_hash(changed(rollback=one)) == seal_hash(changed(rollback=other))

    assert is_same == (shape(one) == shape(other))


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_two_texts_that_differ_are_different_commands(one: str, other: str) -> None:
    """Lone surrogates too, which stand for bytes that are no UTF-8."""
    assert (seal_hash(changed(command=one)) == seal_hash(changed(command=other))) == (one == other)
    assert matches(changed(command=one), other, "/srv/shop", REQUEST.requester, "Bash") == (one == other)


# ---- calls --------------------------------------------------------------------------------------------------------


def call(command: str = REQUEST.command, cwd: str = REQUEST.cwd, **others: str) -> list[str]:
    given = {"requester": REQUEST.requester, "tool": REQUEST.tool, **others}
    found = differences(REQUEST, command, cwd, **given)
    assert matches(REQUEST, command, cwd, **given) == (not found)
    return found


def test_the_very_call_that_was_sealed_matches() -> None:
    assert call() == []


@pytest.mark.parametrize(
    "command",
    [
        "git push origin Main",
        "git push -f origin main",
        "git push origin main --force",
        "git push origin main >/dev/null",
        "git push origin main 2>&1",
        "git push origin 'main'",
        'git push origin "main"',
        "git push origin ma\\in",
        "git push origin  main",
        "git push origin main ",
        " git push origin main",
        "git push origin main\n",
        "git push\torigin main",
        "git push origin main;",
        "git push origin main #",
        "git push origin m\u0430in",  # a Cyrillic letter
        "git push origin main\u200b",
        "git push origin",
        "sudo git push origin main",
        "cd /srv/shop && git push origin main",
        "",
    ],
)
def test_a_command_that_differs_by_anything_does_not_match(command: str) -> None:
    assert call(command) == ["command"]


@pytest.mark.parametrize("cwd", ["/srv/shop/", "/srv//shop", "/srv/shop/.", "/srv/Shop", "/srv", "srv/shop", ""])
def test_another_way_to_write_the_folder_does_not_match(cwd: str) -> None:
    assert call(cwd=cwd) == ["cwd"]


def test_another_requester_or_tool_does_not_match_and_every_difference_is_named() -> None:
    assert call(requester="a0123456789abcdeF") == ["requester"]
    assert call(tool="bash") == ["tool"]
    assert call("ls", "/", requester="", tool="") == ["command", "cwd", "requester", "tool"]


def test_a_request_expires_at_its_time_and_not_before() -> None:
    assert not REQUEST.is_expired(8_999_999)
    assert REQUEST.is_expired(9_000_000)


# ---- what cannot be sealed ----------------------------------------------------------------------------------------


def test_a_good_request_has_no_fault_alone_and_in_a_set() -> None:
    assert fault_of(REQUEST) is None
    assert fault_of(changed(command="a\nb\t\u202e", cwd="/srv/日本 é\u200d", rollback="a\nb")) is None
    assert fault_of(changed(set_id=None, position=None, rollback=None, verification=None, environment=())) is None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"command": " \n"}, "command is empty"),
        ({"cwd": "shop"}, "cwd is 'shop'; allowed: an absolute path"),
        ({"expires_at": 1_000_000}, "expires_at is not after created_at"),
        ({"position": None}, "set_id and position go together"),
        ({"set_id": None}, "set_id and position go together"),
        ({"command": "ls \x00"}, "command holds U+0000, which cannot be kept"),
        ({"command": "ls \udcff"}, "command holds U+DCFF"),
        ({"rollback": {"a": ["\ud800"]}}, "rollback holds U+D800"),
        ({"verification": [{"\x00": 1}]}, "verification holds U+0000"),
        ({"environment": ("A\x00",)}, "environment holds U+0000"),
        ({"cwd": "/srv\nrisk: T0"}, "cwd holds U+000A, which is no part of a line"),
        ({"tool": "Bash\u202e"}, "tool holds U+202E"),
        ({"requester": "a\r"}, "requester holds U+000D"),
        ({"environment": ("A", "B\u2028")}, "environment holds U+2028"),
    ],
)
def test_what_could_not_be_kept_or_used_is_refused_with_its_field(fields: dict[str, Any], sentence: str) -> None:
    assert (fault_of(changed(**fields)) or "").startswith(sentence)


def test_a_request_is_plain_data() -> None:
    assert msgspec.json.decode(msgspec.json.encode(REQUEST), type=Sealed) == REQUEST
