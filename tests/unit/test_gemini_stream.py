"""What Gemini CLI tells, read from lines that version 0.61 has printed (ids and times are shortened)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.sessions.driver.gemini import reader
from gemba.sessions.driver.heard import Conversation, Heard, Ran, Said, Trouble, Used

REAL: list[tuple[str, list[Heard]]] = [
    (
        '{"type":"init","timestamp":"t","session_id":"b6914eab-f3e8-4c0f-83c5-d3d441b55658","model":"auto"}',
        [Conversation("b6914eab-f3e8-4c0f-83c5-d3d441b55658")],
    ),
    (r'{"type":"message","timestamp":"t","role":"user","content":"Build the port.\n"}', []),
    (
        '{"type":"message","timestamp":"t","role":"assistant","content":"I wait.","delta":true}',
        [Said("I wait.", goes_on=True)],
    ),
    (
        """{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":90,"input_tokens":55,
        "output_tokens":35,"cached":0,"input":55,"duration_ms":298,"tool_calls":4,
        "models":{"x":{"total_tokens":90,"input_tokens":55,"output_tokens":35,"cached":0,"input":55}}}}""",
        [Used(55, 35)],
    ),
    (
        """{"type":"result","timestamp":"t","status":"error","error":{"type":"unknown","message":"[API Error: 400]"},
        "stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0,"duration_ms":0,
        "tool_calls":0,"models":{}}}""",
        [Used(0, 0), Trouble("[API Error: 400]")],
    ),
    (
        '{"type":"error","timestamp":"t","severity":"warning","message":"Loop detected, stopping execution"}',
        [Trouble("Loop detected, stopping execution")],
    ),
]


@pytest.mark.parametrize(("line", "told"), REAL)
def test_a_line_tells_what_happened(line: str, told: list[Heard]) -> None:
    assert reader()(json.loads(line)) == told


def ran(tool: str, parameters: str, result: str) -> list[Heard]:
    """What the two lines of a call tell."""
    read = reader()
    call = f'{{"type":"tool_use","timestamp":"t","tool_name":"{tool}","tool_id":"one","parameters":{parameters}}}'
    assert read(json.loads(call)) == []
    return read(json.loads(f'{{"type":"tool_result","timestamp":"t","tool_id":"one",{result}}}'))


@pytest.mark.parametrize(
    ("result", "output", "ok"),
    [
        ('"status":"success","output":""', "", True),
        ('"status":"success","output":"Command exited with code: 1"', "Command exited with code: 1", False),
        ('"status":"success","output":"2 failed"', "2 failed", None),  # its exit code is not told
        (
            '"status":"error","output":"Tool execution denied by policy.","error":{"type":"policy_violation"}',
            "Tool execution denied by policy.",
            False,
        ),
        ('"status":"success"', "", None),
    ],
)
def test_a_shell_command_is_known_to_have_ended_well_only_where_that_is_told(
    result: str, output: str, ok: bool | None
) -> None:
    told = ran("run_shell_command", '{"command":"make test","description":"Test"}', result)

    assert told == [Ran("Bash", {"command": "make test"}, output, ok)]


def test_other_tools_tell_how_they_ended() -> None:
    found = ran("read_file", '{"file_path":"nope"}', '"status":"error","output":"File not found."')
    asked = ran("mcp_gemba_ask_question", '{"text":"Which?"}', '"status":"success","output":"01a1 advisory: go on"')

    assert found == [Ran("read_file", {"file_path": "nope"}, "File not found.", ok=False)]
    assert asked == [Ran("mcp_gemba_ask_question", {"text": "Which?"}, "01a1 advisory: go on")]


def test_outcomes_that_come_in_another_order_are_those_of_their_calls() -> None:
    read = reader()
    for id in ("one", "two"):
        read({"type": "tool_use", "tool_name": "glob", "tool_id": id, "parameters": {"pattern": id}})

    told = [read({"type": "tool_result", "tool_id": id, "status": "success"}) for id in ("two", "one", "one")]

    assert told == [[Ran("glob", {"pattern": "two"})], [Ran("glob", {"pattern": "one"})], []]


KEYS = (
    "type",
    "tool_id",
    "tool_name",
    "parameters",
    "status",
    "output",
    "error",
    "message",
    "stats",
    "role",
    "content",
)
TYPES = ("init", "message", "tool_use", "tool_result", "error", "result", "assistant", "run_shell_command", "success")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), values), max_size=4))
def test_a_line_that_is_not_as_expected_never_raises(events: list[dict[str, object]]) -> None:
    read = reader()

    assert all(isinstance(read(event), list) for event in events)
