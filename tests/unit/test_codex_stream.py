"""What Codex tells, read from lines that Codex 0.166 has printed (paths and ids are shortened)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.sessions.driver.codex import heard
from gemba.sessions.driver.heard import Conversation, Heard, Ran, Said, Trouble, Used

REAL: list[tuple[str, list[Heard]]] = [
    (
        '{"type":"thread.started","thread_id":"01a1e5ef-726b-78d1-b78a-35e4f843ec23"}',
        [Conversation("01a1e5ef-726b-78d1-b78a-35e4f843ec23")],
    ),
    ('{"type":"turn.started"}', []),
    ('{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"I wait."}}', [Said("I wait.")]),
    (
        r"""{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -c 'exit 3'",
        "aggregated_output":"","exit_code":null,"status":"in_progress"}}""",
        [],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -c 'exit 3'",
        "aggregated_output":"","exit_code":3,"status":"failed"}}""",
        [Ran("Bash", {"command": "exit 3"}, "", ok=False)],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_0","type":"command_execution",
        "command":"/bin/bash -lc \"gemba-ask --text 'Which port?'; echo rc=\"'$?; touch a'",
        "aggregated_output":"01a1e5e3 advisory: go on\nrc=0\n","exit_code":0,"status":"completed"}}""",
        [
            Ran(
                "Bash",
                {"command": "gemba-ask --text 'Which port?'; echo rc=$?; touch a"},
                "01a1e5e3 advisory: go on\nrc=0\n",
            )
        ],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"gemba","tool":"ask_question",
        "arguments":{"text":"Which host?"},"result":{"content":[{"type":"text","text":"01a1e5e3 advisory: go on"}],
        "structured_content":{"event_id":"01a1e5e3"}},"error":null,"status":"completed"}}""",
        [Ran("mcp__gemba__ask_question", {"text": "Which host?"}, "01a1e5e3 advisory: go on")],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_0","type":"mcp_tool_call","server":"gemba","tool":"ask_question",
        "arguments":{},"result":{"content":[{"type":"text","text":"text is missing; allowed: a text"}],
        "structured_content":null},"error":null,"status":"failed"}}""",
        [Ran("mcp__gemba__ask_question", {}, "text is missing; allowed: a text", ok=False)],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_0","type":"file_change",
        "changes":[{"path":"/workspace/a.txt","kind":"add"}],"status":"completed"}}""",
        [Ran("apply_patch", {"changes": [{"path": "/workspace/a.txt", "kind": "add"}]})],
    ),
    (
        r"""{"type":"turn.completed","usage":{"input_tokens":7,"cached_input_tokens":0,"cache_write_input_tokens":0,
        "output_tokens":4,"reasoning_output_tokens":0}}""",
        [Used(7, 4, in_all=True)],
    ),
    (
        r"""{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}""",
        [Trouble("Model metadata not found.")],
    ),
    (
        '{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}',
        [Trouble("Reconnecting... waiting for network (Connection failed: error sending request)")],
    ),
    (
        '{"type":"turn.failed","error":{"message":"Missing environment variable: `OPENAI_API_KEY`."}}',
        [Trouble("Missing environment variable: `OPENAI_API_KEY`.")],
    ),
]


@pytest.mark.parametrize(("line", "told"), REAL)
def test_a_line_tells_what_happened(line: str, told: list[Heard]) -> None:
    assert heard(json.loads(line.replace("\n", ""))) == told


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("/usr/bin/zsh -lc 'make test'", "make test"),
        ("make test", "make test"),
        ("/bin/bash -c 'it''s not closed", "/bin/bash -c 'it''s not closed"),
        ("/bin/bash script.sh now", "/bin/bash script.sh now"),
        ("", ""),
    ],
)
def test_a_command_is_told_without_the_shell_around_it(command: str, line: str) -> None:
    item = {"type": "command_execution", "command": command, "aggregated_output": None, "status": "completed"}

    assert heard({"type": "item.completed", "item": item}) == [Ran("Bash", {"command": line})]


KEYS = ("type", "item", "status", "error", "message", "usage", "text", "command", "server", "tool", "result", "content")
TYPES = ("item.completed", "turn.completed", "turn.failed", "mcp_tool_call", "command_execution", "file_change")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), values))
def test_a_line_that_is_not_as_expected_never_raises(event: dict[str, object]) -> None:
    assert isinstance(heard(event), list)
