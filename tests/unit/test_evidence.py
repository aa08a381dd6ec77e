"""Claimed commands beside recorded tool uses: what was run, how it ended, and what cannot be told."""

import timeit
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.evidence import Claim, Record, ToolUse, claim_of, count_calls, match, tool_use_of
from gemba.handoff.line_parts import normal_form, take_apart


def bash(command: str, phase: str = "post", **told: Any) -> ToolUse:
    """A frame as a client writes it."""
    told = {"tool_name": "Bash", "tool_input": {"command": command}, "phase": phase, **told}
    return tool_use_of(told)


def ended(command: str, code: int) -> list[ToolUse]:
    return [bash(command, "pre"), bash(command, tool_response={"exit_code": code})]


def verdict(item: object, uses: list[ToolUse]) -> str:
    claim = claim_of(item)
    assert claim is not None
    return match(claim, Record(uses)).verdict


# ---- frames ----------------------------------------------------------------------------------------------------------


def test_a_frame_of_a_client_is_read() -> None:
    payload = {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q", "run_in_background": True},
        "tool_response": {"stdout": "", "interrupted": False},
        "tool_use_id": "toolu_1",
        "phase": "post",
    }

    assert tool_use_of(payload) == ToolUse("Bash", "post", "pytest -q", None, background=True, call="toolu_1")


def test_a_command_that_the_client_moved_to_the_background_has_not_ended() -> None:
    moved = bash("pytest -q", tool_response={"stdout": "", "backgroundTaskId": "b1"})

    assert moved.background
    assert verdict({"command": "pytest -q", "result": "42 passed"}, [moved]) == "unknown"


def test_a_command_whose_exit_code_is_null_has_ended_nobody_knows_how() -> None:
    untold = bash("pytest -q", tool_response={"stdout": "42 passed", "exit_code": None})

    assert verdict({"command": "pytest -q", "result": "42 passed"}, [untold]) == "unknown"
    assert verdict({"command": "pytest -q", "result": "2 failed"}, [untold]) == "unknown"


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"tool_response": {"exit_code": 3}}, 3),
        ({"tool_response": {"exitCode": "3"}}, 3),
        ({"tool_response": {"metadata": {"exit_code": 3, "duration_seconds": 1.5}}}, 3),
        ({"tool_response": "Exit code 3\nboom"}, 3),
        ({"error": "Command exited with non-zero status code 3"}, 3),
        ({"error": "Error: Exit code 3\nboom"}, 3),
        ({"tool_response": {"exit_code": True}}, None),
        ({"tool_response": {"exit_code": "x"}}, None),
        ({"tool_response": "the exit was 12 steps away"}, None),
        ({"tool_response": {"stdout": "exit code 3"}}, None),
    ],
)
def test_an_exit_code_is_read_where_a_client_tells_it(told: dict[str, Any], code: int | None) -> None:
    assert bash("x", **told).exit_code == code


@pytest.mark.parametrize(
    "told",
    [
        {"hook_event_name": "PostToolUseFailure"},
        {"phase": "failed"},
        {"tool_response": {"is_error": True}},
        {"tool_response": {"interrupted": True}},
    ],
)
def test_a_client_that_tells_of_a_failure_is_heard(told: dict[str, Any]) -> None:
    assert bash("x", **told).phase == "failed"


@pytest.mark.parametrize(
    ("given_command", "read"),
    [
        (["bash", "-lc", "pytest -q"], "pytest -q"),
        (["pytest", "-k", "a b"], "pytest -k 'a b'"),
        ([], None),
        (["pytest", 3], None),
        (7, None),
        (None, None),
    ],
)
def test_a_command_given_as_a_list_is_a_line(given_command: object, read: str | None) -> None:
    assert tool_use_of({"tool_input": {"command": given_command}}).command == read


def test_handing_in_the_contract_is_no_work() -> None:
    submitted = tool_use_of({"tool_name": "mcp__gemba__submit_handoff", "phase": "pre"})

    assert count_calls([submitted, bash("gemba handoff submit", "pre")]) == 0
    assert count_calls([submitted, tool_use_of({"tool_name": "Read", "phase": "pre"})]) == 1


def test_a_call_that_is_told_of_before_and_after_is_one() -> None:
    assert count_calls(ended("a", 0) + ended("b", 1)) == 2


# ---- claims ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "claim"),
    [
        ("pytest -q", Claim("pytest -q")),
        ({"command": "x"}, Claim("x")),
        ({"command": "x", "result": None}, Claim("x")),
        ({"command": "x", "result": " "}, Claim("x")),
        ({"command": "x", "result": "pass"}, Claim("x", "pass", None, True)),
        ({"command": "x", "result": "12 passed, 0 failed"}, Claim("x", "12 passed, 0 failed", None, True)),
        ({"command": "x", "result": "no errors"}, Claim("x", "no errors", None, True)),
        ({"command": "x", "result": "2 passed, 1 failed"}, Claim("x", "2 passed, 1 failed", None, False)),
        ({"command": "x", "result": "FAILED"}, Claim("x", "FAILED", None, False)),
        ({"command": "x", "result": "the error path passes"}, Claim("x", "the error path passes", None, None)),
        ({"command": "x", "result": "see above"}, Claim("x", "see above", None, None)),
        ({"command": "x", "result": "exit code: 2"}, Claim("x", "exit code: 2", 2, False)),
        ({"command": "x", "result": "exited with 0"}, Claim("x", "exited with 0", 0, True)),
        ({"command": "x", "result": 0}, Claim("x", "0", 0, True)),
        ({"command": "wc -l x", "result": 42}, Claim("wc -l x", "a number", None, None)),
        ({"command": "x", "result": True}, Claim("x", "true", None, True)),
        ({"command": "x", "result": "ok", "exit_code": 1}, Claim("x", "ok", 1, False)),
        ({"command": "x", "result": {"exit_code": 0}}, Claim("x", "an object", 0, True)),
    ],
)
def test_a_claim_is_read_as_a_person_would(item: object, claim: Claim) -> None:
    assert claim_of(item) == claim


@pytest.mark.parametrize("item", [None, 3, "", "  ", [], ["pytest"], {}, {"command": 3}, {"result": "pass"}])
def test_what_names_no_command_is_no_claim(item: object) -> None:
    assert claim_of(item) is None


# ---- matching --------------------------------------------------------------------------------------------------------


def test_a_command_that_was_not_run_is_found_out() -> None:
    found = match(Claim("pytest -q", "pass", None, True), Record(ended("ls", 0)))

    assert found == ("failed", "not among the 1 recorded commands", "")


def test_a_command_without_a_claimed_result_is_only_reported() -> None:
    assert verdict("Read(src/app.py)", ended("ls", 0)) == "unknown"
    assert verdict("ls", ended("ls", 0)) == "ok"


@pytest.mark.parametrize(
    ("result", "code", "expected"),
    [
        ("pass", 0, "ok"),
        ("pass", 1, "failed"),
        ("exit code 1", 1, "ok"),
        ("exit code 1", 2, "failed"),
        ("failed", 1, "ok"),
        ("failed", 0, "failed"),
        ("see above", 1, "ok"),
    ],
)
def test_a_result_is_compared_with_the_recorded_exit_code(result: str, code: int, expected: str) -> None:
    assert verdict({"command": "make test", "result": result}, ended("make test", code)) == expected


def test_a_success_is_how_a_command_ended_last_and_a_failure_how_it_ended_once() -> None:
    repaired = ended("make", 1) + ended("make", 0)
    broken = ended("make", 0) + ended("make", 1)

    assert verdict({"command": "make", "result": "pass"}, repaired) == "ok"
    assert verdict({"command": "make", "result": "failed"}, repaired) == "ok"
    assert verdict({"command": "make", "result": "pass"}, broken) == "failed"


def test_an_end_without_an_exit_code_went_well_unless_the_client_says_otherwise() -> None:
    passed = [bash("make", "pre"), bash("make", tool_response={"stdout": "fine"})]
    failed = [bash("make", "pre"), bash("make", hook_event_name="PostToolUseFailure")]

    assert match(Claim("make", "pass", None, True), Record(passed)).found == "ended well"
    assert match(Claim("make", "pass", None, True), Record(failed)) == (
        "failed",
        "failed",
        "the client tells no exit code",
    )


def test_a_command_whose_end_is_missing_did_not_pass_where_ends_are_told() -> None:
    claim = {"command": "make", "result": "pass"}

    assert verdict(claim, [*ended("ls", 0), bash("make", "pre")]) == "failed"
    assert verdict(claim, [bash("ls", "pre"), bash("make", "pre")]) == "unknown"


def test_the_end_of_one_call_is_not_taken_for_anothers() -> None:
    uses = [
        bash("make", "pre", tool_use_id="1"),
        bash("make", "pre", tool_use_id="2"),
        bash("make", tool_use_id="2", tool_response={"exit_code": 0}),
        bash("make", tool_use_id="1", tool_response={"exit_code": 1}),
    ]

    found = Record(uses).find("make")

    assert [run.code for run in found] == [1, 0]


def test_a_command_in_the_background_has_no_end_that_is_known() -> None:
    background = {"command": "make", "run_in_background": True}

    assert verdict({"command": "make", "result": "pass"}, [bash("make", tool_input=background)]) == "unknown"


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q",
        "  pytest   -q\n",
        "cd web && pytest -q",
        "pytest -q > log.txt 2>&1",
        "pytest -q &> log.txt",
        "CI=1 X='a b' pytest -q",
        "pytest \\\n  -q",
        "git add -A && pytest -q && git status",
        "echo 'a && b'; pytest -q",
        "cat x | pytest -q",
        "pytest -q # the whole suite",
    ],
)
def test_a_command_is_found_in_the_line_that_ran_it(line: str) -> None:
    assert verdict({"command": "pytest -q", "result": "pass"}, ended(line, 0)) == "ok"


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q | tail -3",
        "pytest -q; echo done",
        "make || pytest -q",
        "(cd web && pytest -q)",
        "if pytest -q; then echo yes; fi",
        "pytest -q &",
        "pytest -q; exit 0",
    ],
)
def test_how_a_part_ended_is_not_guessed_from_its_line(line: str) -> None:
    assert verdict({"command": "pytest -q", "result": "pass"}, ended(line, 0)) == "unknown"


@pytest.mark.parametrize(
    "line",
    [
        "echo pytest -q",
        "echo 'cd web && pytest -q'",
        'echo "pytest -q"',
        "true # && pytest -q",
        "cat <<END\npytest -q\nEND",
        "exit 0; pytest -q",
        "! pytest -q",
        "pytest -qq",
        "Pytest -q",
        "pytest -q tests/unit",
    ],
)
def test_a_line_that_only_mentions_a_command_did_not_run_it(line: str) -> None:
    assert verdict({"command": "pytest -q", "result": "pass"}, ended(line, 0)) == "failed"


def test_a_failed_line_tells_of_its_last_command_alone() -> None:
    claim = {"command": "pytest -q", "result": "pass"}

    assert verdict(claim, ended("ls; pytest -q", 1)) == "failed"
    assert verdict(claim, ended("ls && pytest -q", 1)) == "unknown"
    assert verdict(claim, ended("pytest -q && ls", 1)) == "unknown"


def test_a_line_of_several_commands_is_found_as_a_whole() -> None:
    line = "cd web && npm test | tee log"

    assert verdict({"command": line, "result": "pass"}, ended(line.replace(" ", "  "), 0)) == "ok"
    assert verdict({"command": "echo 'open", "result": "pass"}, ended("echo 'open", 0)) == "ok"


def test_a_command_that_its_event_has_cut_is_found_by_what_was_kept() -> None:
    long = "python -c '" + "x = 1; " * 4_000 + "'"
    cut = f"{long[:16_000]}… (cut: {len(long):,} characters; the session log has them all)"

    assert verdict({"command": long, "result": "pass"}, ended(cut, 0)) == "ok"
    assert verdict({"command": "y" + long, "result": "pass"}, ended(cut, 0)) == "failed"


def test_a_claim_with_what_cannot_be_stored_is_compared_as_it_was_stored() -> None:
    assert verdict({"command": "echo \ud800\0", "result": "ok"}, ended("echo \ufffd\ufffd", 0)) == "ok"


# ---- any input -------------------------------------------------------------------------------------------------------

_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=10), inside, max_size=4),
    max_leaves=12,
)
_frame = st.fixed_dictionaries(
    {},
    optional={
        name: _json | st.fixed_dictionaries({}, optional={"command": _json, "exit_code": _json, "metadata": _json})
        for name in ("tool_name", "tool_input", "tool_response", "error", "tool_use_id")
    }
    | {"phase": st.sampled_from(["pre", "post", "failed", None])},
)
_line = st.text(alphabet=" \n\t\\'\"&|;<>()#$=!ab01-", max_size=40)


@given(st.lists(_json | _frame, max_size=6), _json | st.builds(lambda c, r: {"command": c, "result": r}, _line, _json))
def test_no_frame_and_no_claim_can_raise(frames: list[Any], item: Any) -> None:
    uses = [tool_use_of(frame) for frame in frames]
    claim = claim_of(item)

    assert 0 <= count_calls(uses) <= len(uses)
    if claim is not None:
        assert match(claim, Record(uses)).verdict in ("ok", "failed", "unknown")


@given(_line)
def test_every_line_that_was_run_is_found_again(line: str) -> None:
    claim = claim_of({"command": line, "exit_code": 0})

    if claim is not None:
        assert match(claim, Record(ended(line, 0))).verdict in ("ok", "unknown")


@given(_line)
def test_no_line_is_taken_apart_into_more_than_it_has(line: str) -> None:
    parts = take_apart(line)

    for part in parts:
        assert set(part.form) <= set(line) | {" "}
    assert sum(len(part.form) for part in parts) <= len(line)
    assert normal_form(normal_form(line)) == normal_form(line) or normal_form(line).startswith("$ ")


@pytest.mark.parametrize("shape", ["'a'", "a;", ">", "1", '"', "#", "# \n", "\\", "a=b ", "if ", " ", "(", "a && "])
def test_hostile_lines_are_taken_apart_in_linear_time(shape: str) -> None:
    small, large = (shape * (size // len(shape)) for size in (20_000, 160_000))

    def seconds(line: str) -> float:
        return min(timeit.repeat(lambda: take_apart(line), number=1, repeat=3))

    assert seconds(large) < 40 * seconds(small) + 0.05
