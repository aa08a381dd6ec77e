"""What OpenCode tells, read from lines that version 1.18 has printed (ids and times are shortened)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.sessions.driver.heard import Conversation, Heard, Ran, Said, Trouble, Used
from gemba.sessions.driver.opencode import heard

REAL: list[tuple[str, list[Heard]]] = [
    (
        """{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1",
        "sessionID":"ses_1","snapshot":"4b82","type":"step-start"}}""",
        [Conversation("ses_1")],
    ),
    (
        """{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1",
        "sessionID":"ses_1","type":"text","text":"I wait.","time":{"start":1,"end":2}}}""",
        [Said("I wait.")],
    ),
    (
        """{"type":"step_finish","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","reason":"tool-calls",
        "snapshot":"4b82","messageID":"msg_1","sessionID":"ses_1","type":"step-finish",
        "tokens":{"total":30,"input":11,"output":7,"reasoning":2,"cache":{"write":4,"read":6}},"cost":0.25}}""",
        [Used(21, 9, 0.25)],
    ),
    (
        """{"type":"step_finish","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","reason":"stop",
        "snapshot":"4b82","messageID":"msg_1","sessionID":"ses_1","type":"step-finish",
        "tokens":{"total":18,"input":11,"output":7,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}}""",
        [Used(11, 7)],
    ),
    (
        """{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"APIError",
        "data":{"message":"the model is out","statusCode":400,"isRetryable":false}}}""",
        [Trouble("the model is out")],
    ),
    ('{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"Aborted"}}', [Trouble("Aborted")]),
    ('{"type":"reasoning","timestamp":1,"sessionID":"ses_1","part":{"type":"reasoning","text":"Hm."}}', []),
]


@pytest.mark.parametrize(("line", "told"), REAL)
def test_a_line_tells_what_happened(line: str, told: list[Heard]) -> None:
    assert heard(json.loads(line)) == told


def ran(tool: str, state: str) -> list[Heard]:
    part = f'{{"type":"tool","tool":"{tool}","callID":"call_1","state":{{{state}}},"id":"prt_1"}}'
    return heard(json.loads(f'{{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{part}}}'))


@pytest.mark.parametrize(("code", "ok"), [("0", True), ("3", False), ("null", False)])
def test_a_shell_command_has_ended_as_its_exit_code_tells(code: str, ok: bool) -> None:
    given = '"input":{"command":"echo hi; make","description":"Make"}'
    told = ran("bash", f'"status":"completed",{given},"output":"hi\\n","metadata":{{"output":"hi\\n","exit":{code}}}')

    assert told == [Ran("Bash", {"command": "echo hi; make"}, "hi\n", ok)]


def test_what_was_not_permitted_has_failed() -> None:
    why = "The user rejected permission to use this specific tool call."
    told = ran("bash", f'"status":"error","input":{{"command":"ls /etc"}},"error":"{why}"')

    assert told == [Ran("Bash", {"command": "ls /etc"}, why, ok=False)]


def test_other_tools_are_told_with_what_they_were_given() -> None:
    told = ran(
        "gemba_ask_question",
        '"status":"completed","input":{"text":"Which?"},"output":"01a1 advisory: go on","metadata":{"truncated":false}',
    )

    assert told == [Ran("gemba_ask_question", {"text": "Which?"}, "01a1 advisory: go on")]


KEYS = ("type", "part", "sessionID", "tool", "state", "status", "input", "metadata", "error", "data", "tokens", "cost")
TYPES = ("step_start", "text", "tool_use", "step_finish", "error", "bash", "completed")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), values))
def test_a_line_that_is_not_as_expected_never_raises(event: dict[str, object]) -> None:
    assert isinstance(heard(event), list)
