"""Our hooks in other people's settings: nothing of theirs changes, and what was put in comes out again to the byte."""

import json
import subprocess
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemba.cli.hook_settings import our_events, put_in, take_out
from gemba.cli.json_text import Malformed
from gemba.sessions.agents.claude_hooks import EVENTS, GATES, MARGIN, WAITS, Hook, is_ours, wanted_hooks

PROGRAM = "/opt/gemba/bin/gemba-bridge"
WANTED = wanted_hooks(PROGRAM)
STRICTER = wanted_hooks("'/opt/my tools/gemba-bridge'", require=True, approvals=True)
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint.sh", "timeout": 5}]}
PRETTY = json.dumps({"model": "opus", "hooks": {"Stop": [THEIRS], "PreCompact": []}, "env": {"A": "é"}}, indent=2)

spaces = st.text(" \t\n\r", max_size=3)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
groups = st.lists(values | st.just(THEIRS), max_size=3)
hooks = st.dictionaries(st.sampled_from([*EVENTS, "PreCompact"]), groups, max_size=5)
documents = st.dictionaries(st.text(), values, max_size=4).flatmap(
    lambda rest: st.none() | hooks.flatmap(lambda ours: st.permutations([*rest.items(), ("hooks", ours)]).map(dict))
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Settings in any order and spacing that JSON allows."""

    def written(value: Any) -> str:
        space = draw(spaces)
        if isinstance(value, dict):
            members = [f"{space}{written(key)}{space}:{written(item)}{space}" for key, item in value.items()]
            return "{" + (",".join(members) or space) + "}"
        if isinstance(value, list):
            return "[" + (",".join(f"{space}{written(item)}{draw(spaces)}" for item in value) or space) + "]"
        return space + json.dumps(value, ensure_ascii=draw(st.booleans()))

    indent = draw(st.sampled_from(["any", None, 0, 1, 2, 4, "\t"]))
    document = draw(documents) or {}
    if indent == "any":
        return draw(spaces) + written(document) + draw(spaces)
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(spaces)


def without_ours(document: Any) -> Any:
    """What is left of a decoded document, less hooks of ours and whatever is empty then."""
    hooks = {}
    for event, groups in document.get("hooks", {}).items():
        left = [group for group in groups if group not in [entry(hook) for hook in WANTED.values()]]
        if left:
            hooks[event] = left
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest


def entry(hook: Hook) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": hook.command, "timeout": hook.timeout}]}


# -- properties --------------------------------------------------------------------------------------------------------


@given(texts())
@example("{}")
@example("{}\n")
@example('{"hooks":{}}')
@example('{"hooks": { }}')
@example('{\n  "hooks": {\n    "Stop": []\n  }\n}')
@example('{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n')
@example('{"a":1}')
@example('{"hooks": {"Stop": []}, "hooks": {"Stop": [1]}}')
@example(PRETTY)
def test_what_was_put_in_comes_out_again_to_the_byte(text: str) -> None:
    assert take_out(put_in(text, WANTED)) == text


@given(texts())
@example("{}")
@example(PRETTY)
def test_putting_in_twice_changes_nothing(text: str) -> None:
    once = put_in(text, WANTED)

    assert put_in(once, WANTED) == once
    assert put_in(put_in(once, STRICTER), WANTED) == once


@given(texts())
def test_everything_that_is_not_ours_is_as_it_was(text: str) -> None:
    before, after = json.loads(text), json.loads(put_in(text, WANTED))

    assert without_ours(after) == without_ours(before)
    assert [key for key in after if key in before] == list(before)
    for event, hook in WANTED.items():
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), entry(hook)]


@given(texts())
def test_other_flags_take_the_place_of_the_ones_before(text: str) -> None:
    text = put_in(put_in(text, WANTED), STRICTER)

    assert set(our_events(text)) == set(EVENTS)
    for event, hook in STRICTER.items():
        assert json.loads(text)["hooks"][event][-1] == entry(hook)


@given(st.text() | texts().flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end])))
def test_any_text_is_understood_or_refused_with_its_place(text: str) -> None:
    refused = None
    try:
        there_and_back = take_out(put_in(text, WANTED))
    except Malformed as error:
        refused = error
    else:
        assert there_and_back == text
    if refused:
        assert 1 <= refused.line <= text.count("\n") + 1
        assert 1 <= refused.column <= len(text) + 1


# -- a file of our own -------------------------------------------------------------------------------------------------


def test_a_file_that_was_not_there_is_made_and_goes_away_again() -> None:
    made = put_in(None, WANTED)

    assert json.loads(made) == {"hooks": {event: [entry(hook)] for event, hook in WANTED.items()}}
    assert made.startswith('{\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n          {\n')
    assert made.endswith("\n  }\n}\n")
    assert put_in(made, WANTED) == made
    assert take_out(made) is None
    assert take_out(None) is None
    assert our_events(None) == []


def test_what_somebody_added_to_a_file_of_ours_stays() -> None:
    made = json.loads(put_in(None, WANTED))
    made["hooks"]["Stop"].insert(0, THEIRS)
    made["model"] = "opus"

    left = take_out(json.dumps(made, indent=2))

    assert left is not None
    assert json.loads(left) == {"hooks": {"Stop": [THEIRS]}, "model": "opus"}


# -- layout ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [1, 2, 4, "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_new_lines_are_indented_as_the_others_are(indent: int | str, newline: str) -> None:
    document = {"model": "opus", "hooks": {"Stop": [THEIRS]}}
    text = json.dumps(document, indent=indent).replace("\n", newline)
    wanted = {**document, "hooks": {"Stop": [THEIRS, entry(WANTED["Stop"])], "SessionEnd": [entry(WANTED["Stop"])]}}

    found = put_in(text, {"Stop": WANTED["Stop"], "SessionEnd": WANTED["Stop"]})

    assert found == json.dumps(wanted, indent=indent).replace("\n", newline)


def test_a_file_on_one_line_stays_on_one_line() -> None:
    assert put_in('{"a": 1}', {"Stop": Hook("x", 5)}) == (
        '{"a": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 5}]} ] }}'
    )
    assert put_in('{"a":1}', {"Stop": Hook("x", 5)}) == (
        '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":5}]} ] }}'
    )


def test_only_the_last_of_two_members_with_one_name_counts_as_it_does_for_the_client() -> None:
    text = '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2]}}'

    assert json.loads(put_in(text, {"Stop": WANTED["Stop"]}))["hooks"]["Stop"] == [2, entry(WANTED["Stop"])]


# -- hooks of ours that others have moved or changed -------------------------------------------------------------------


def test_a_hook_of_ours_is_brought_up_to_date_where_it_stands() -> None:
    moved = {"matcher": "*", "hooks": [{"command": f"{PROGRAM} hook Stop", "type": "command", "x": 1, "timeout": 3}]}
    text = json.dumps({"hooks": {"Stop": [moved, THEIRS]}}, indent=4)

    found = put_in(text, {"Stop": WANTED["Stop"]})

    assert found == text.replace(f"{PROGRAM} hook Stop", WANTED["Stop"].command).replace(": 3", ": 30")


def test_a_hook_of_ours_without_a_timeout_gets_one() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"{PROGRAM} hook Stop"}]}]}})

    assert json.loads(put_in(text, {"Stop": WANTED["Stop"]}))["hooks"]["Stop"] == [entry(WANTED["Stop"])]


def test_a_second_copy_of_a_hook_goes_away() -> None:
    both = entry(WANTED["Stop"])
    both["hooks"].append(both["hooks"][0])
    text = json.dumps({"hooks": {"Stop": [both, THEIRS, entry(WANTED["Stop"])]}})

    found = put_in(text, {"Stop": WANTED["Stop"]})

    assert json.loads(found) == {"hooks": {"Stop": [entry(WANTED["Stop"]), THEIRS]}}


def test_a_hook_of_ours_between_others_is_taken_out_alone() -> None:
    ours = entry(WANTED["Stop"])["hooks"][0]
    others = THEIRS["hooks"]
    for mixed in ([ours, *others], [*others, ours], [*others, ours, *others]):
        text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": mixed}]}})
        left = json.loads(take_out(text) or "")
        assert left["hooks"]["Stop"][0]["hooks"] == [hook for hook in mixed if hook is not ours]


def test_a_hook_at_an_event_that_is_no_longer_wanted_goes_away() -> None:
    text = json.dumps({"a": 1, "hooks": {"PreCompact": [entry(Hook(f"{PROGRAM} hook PreCompact", 10))]}}, indent=2)

    assert our_events(put_in(text, WANTED)) == list(EVENTS)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("/a/gemba-bridge hook Stop", True),
        ("gemba-bridge hook Stop || exit 2", True),
        ("'/a b/gemba-bridge' hook Stop --require || exit 2", True),
        ("/a/python -m gemba.cli.bridge hook Stop", True),
        ("gemba-bridge", False),
        ("gemba-bridge other Stop", False),
        ("my-gemba-bridge hook Stop", False),
        ("echo gemba-bridge hook Stop", False),
        ("gemba-bridge hook 'Stop", False),
        ("", False),
        ("gemba", False),
    ],
)
def test_ours_is_what_runs_our_program(command: str, ours: bool) -> None:
    assert is_ours({"type": "command", "command": command}) is ours


@pytest.mark.parametrize("hook", [None, 1, "gemba-bridge hook Stop", [], {}, {"command": 1}, {"command": None}])
def test_anything_else_is_not_ours(hook: object) -> None:
    assert not is_ours(hook)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "this is not JSON: Expecting value"),
        ("[]", 1, 1, "settings are an object, found a list"),
        (" null", 1, 2, "settings are an object, found null"),
        ('{\n  "a": 1,\n}', 3, 1, "this is not JSON: Expecting property name enclosed in double quotes"),
        ('{\n  // mine\n  "a": 1\n}', 2, 3, "this is not JSON: Expecting property name enclosed in double quotes"),
        ('{"a": 1} x', 1, 10, "this is not JSON: Extra data"),
        ('{"a": "NaN",\n "b": -Infinity}', 2, 7, "this is not JSON: -Infinity"),
        ('{"hooks": []}', 1, 11, "hooks must be an object, found a list"),
        ('{"hooks": null}', 1, 11, "hooks must be an object, found null"),
        ('{"hooks": {\n"Stop": "x"}}', 2, 9, "hooks.Stop must be a list, found a string"),
        ('{"hooks": {\n"Stop": {}}}', 2, 9, "hooks.Stop must be a list, found an object"),
        ('{"hooks": {"Stop": true}}', 1, 20, "hooks.Stop must be a list, found true or false"),
        ('{"hooks": {"Stop": 1.5}}', 1, 20, "hooks.Stop must be a list, found a number"),
        ('{"a": ' + "[" * 100_000, 1, 518, "nested more than 512 levels deep"),
        ('{"a": ' + "[" * 600 + "]" * 600 + "}", 1, 518, "nested more than 512 levels deep"),
    ],
)
def test_malformed_settings_are_refused_with_their_place(text: str, line: int, column: int, message: str) -> None:
    for act in (lambda: put_in(text, WANTED), lambda: take_out(text), lambda: our_events(text)):
        with pytest.raises(Malformed) as refused:
            act()
        assert (refused.value.line, refused.value.column, refused.value.message) == (line, column, message)


def test_numbers_of_any_length_are_left_alone() -> None:
    text = '{"a": ' + "9" * 10_000 + "}"

    assert take_out(put_in(text, WANTED)) == text


# -- the hooks themselves ----------------------------------------------------------------------------------------------


def test_gates_block_when_they_fail_and_other_events_do_not() -> None:
    for event, hook in WANTED.items():
        assert hook.command.endswith(" || exit 2") is (event in GATES)
    for event, hook in STRICTER.items():
        assert hook.command.endswith(" || exit 2") is (event in (*GATES, *WAITS))
        assert (" --require" in hook.command) is (event in GATES)
        assert (" --approvals" in hook.command) is (event in WAITS)


def test_a_gate_ends_before_the_client_would_go_on_without_it() -> None:
    for hook in STRICTER.values():
        _, flag, rest = hook.command.partition(" --deadline ")
        if flag:
            assert int(rest.split()[0]) + MARGIN <= hook.timeout


@pytest.mark.parametrize(("run", "code"), [("true", 0), ("false", 2), ("kill -9 $$;", 2), ("/nowhere/at-all", 2)])
def test_the_shell_makes_every_failure_of_a_gate_a_block(run: str, code: int) -> None:
    hook = wanted_hooks(f"sh -c '{run}'")["Stop"]

    assert subprocess.run(["sh", "-c", hook.command], capture_output=True).returncode == code
