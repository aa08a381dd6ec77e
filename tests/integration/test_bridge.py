"""`gemba-bridge hook`: what a client says is kept word for word, and only a gate can stop it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.cli.hook_input import HookInput, HookSession
from tests.fixtures.hooks import BRIDGE, SESSION, answer, blocked, frames, hook, kept, logged, passed_open

DISPATCH = "d-1"


@pytest.fixture(autouse=True)
def _session(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.chdir(workspace)


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_DISPATCH_ID", DISPATCH)


# -- what the client says is kept --------------------------------------------------------------------------------------


def test_the_clients_own_json_is_kept_word_for_word(home: Path, workspace: Path) -> None:
    sent = b'{"session_id":"theirs", "b":1.0,"a":[1e3,"\\u00e9\\ud800"],"b":2}'

    assert passed_open(hook("PostToolUse", stdin=sent + b"\n"))
    assert b'"payload":' + sent + b"}\n" in (home / "sessions/team_one.jsonl").read_bytes()
    (frame,) = frames(home)
    assert (frame.session_id, frame.hook, frame.agent_type) == (SESSION, "PostToolUse", "claude")
    assert frame.workspace == str(workspace)


def test_json_over_several_lines_is_one_line_of_the_same_value(home: Path) -> None:
    value = {"text": "é\u2028\u0085\x7f\x1b[31m\n", "list": [1, {"a": None}]}
    sent = json.dumps(value, indent="\t", ensure_ascii=False).replace("\n", "\r\n").encode()

    assert passed_open(hook("PostToolUse", stdin=sent))
    assert kept(home, "PostToolUse") == value
    assert not set((home / "sessions/team_one.jsonl").read_text()) & set("\u2028\u0085\x7f\x1b\t\r")


@pytest.mark.parametrize(
    ("sent", "raw"),
    [
        (b"", None),
        (b" \n", None),
        (b"not json", "not json"),
        (b'{"a": 1', '{"a": 1'),
        (b"[1]", "[1]"),
        (b'"text"', '"text"'),
        (b'{"a": NaN}', '{"a": NaN}'),
        (b'{"a": 1}{"a": 1}', '{"a": 1}{"a": 1}'),
        (b"\x00\xff\xfe", "\x00\ufffd\ufffd"),
        (b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", '{"a": ' + "[" * 500 + "]" * 500 + "}"),
        (b"[" * 100_000, "[" * 100_000),
        (b'{"a": ' + b"9" * 5_000 + b"}", '{"a": ' + "9" * 5_000 + "}"),
        (b"x" * 200_000, "x" * 100_000),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_no_json_object_is_kept_as_text(home: Path, sent: bytes, raw: str | None) -> None:
    assert passed_open(hook("Notification", stdin=sent))
    (frame,) = frames(home)
    assert (frame.payload, frame.payload_raw) == ({}, raw)


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_kept(home: Path, sent: bytes) -> None:
    Path(wire.log_path(str(home), SESSION)).unlink(missing_ok=True)
    given = HookInput(sent)
    HookSession(given).keep("Notification", given)

    (frame,) = frames(home)
    assert frame.payload == (given.payload or {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=5), st.sampled_from([None, 2, "\t"]), st.booleans())
def test_any_json_object_comes_back_as_it_was(home: Path, value: Any, indent: Any, ascii_only: bool) -> None:
    Path(wire.log_path(str(home), SESSION)).unlink(missing_ok=True)
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).replace("Infinity", "1e999")
    given = HookInput(text.encode("utf-8", "replace"))
    HookSession(given).keep("Notification", given)

    (line,) = Path(wire.log_path(str(home), SESSION)).read_bytes().splitlines()
    assert json.loads(line)["payload"] == json.loads(text.encode("utf-8", "replace"))


def test_a_payload_that_is_too_long_for_a_frame_is_kept_with_its_long_texts_cut(home: Path) -> None:
    sent = {"session_id": "theirs", "tool_response": {"stdout": "é" * 3_000_000}, "tool_name": "Bash"}

    assert passed_open(hook("PostToolUse", sent))
    found = kept(home, "PostToolUse")
    assert found["tool_response"]["stdout"] == "é" * 16_000 + "…"
    assert (found["session_id"], found["tool_name"]) == ("theirs", "Bash")


def test_a_payload_of_too_many_parts_is_kept_with_its_short_texts_alone(home: Path) -> None:
    assert passed_open(hook("PostToolUse", {"tool_name": "Bash", "many": ["x" * 100] * 50_000}))
    assert kept(home, "PostToolUse") == {"tool_name": "Bash"}


def test_an_event_that_nobody_knows_is_kept_too(home: Path) -> None:
    assert passed_open(hook("PreCompact", {"trigger": "auto"}))
    assert kept(home, "PreCompact") == {"trigger": "auto"}


def test_without_an_id_of_ours_the_clients_own_is_the_sessions(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_SESSION_ID")
    monkeypatch.setenv("GEMBA_AGENT_TYPE", "other")

    assert passed_open(hook("SessionStart", {"session_id": "their/own"}))
    (frame,) = frames(home, "their/own")
    assert (frame.session_id, frame.agent_type) == ("their/own", "other")


def test_the_workspace_is_the_one_that_is_named_or_above_the_clients_folder(
    home: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    hook("Notification", {"cwd": str(workspace / ".git")})
    hook("Notification", {"cwd": "a\0b"})
    monkeypatch.setenv("GEMBA_WORKSPACE", str(tmp_path / "named"))
    hook("Notification", {"cwd": str(workspace)})

    assert [frame.workspace for frame in frames(home)] == [str(workspace), "", str(tmp_path / "named")]


def test_nothing_of_the_environment_is_written(home: Path, monkeypatch: pytest.MonkeyPatch, dispatched: None) -> None:
    monkeypatch.setenv("CLAUDE_TOKEN", "very-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "very-secret")
    hook("SessionStart", {})
    hook("Stop", {"last_assistant_message": "done"})
    hook("Stop", stdin=b"broken")
    hook("Notification", stdin=b"broken")

    written = [path for path in home.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"very-secret" in path.read_bytes()]


# -- failing open ------------------------------------------------------------------------------------------------------


def test_other_events_go_on_and_say_in_a_log_what_went_wrong(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_SESSION_ID")

    assert passed_open(hook("Notification", {}))
    (line,) = logged(home)
    assert line.partition(" ")[2] == (
        "Notification: the session has no name: neither GEMBA_SESSION_ID nor the client's session_id says it"
    )


@pytest.mark.parametrize("flags", [["--unknown"], ["--deadline"], ["--deadline", "soon"], ["more"]])
def test_wrong_usage_goes_on_at_other_events_and_blocks_at_a_gate(home: Path, flags: list[str]) -> None:
    assert passed_open(hook("Notification", {}, *flags))
    assert blocked(hook("Stop", {}, *flags), "Stop: ")
    assert blocked(hook("PreToolUse", {}, "--approvals", *flags), "PreToolUse: ")
    assert len(logged(home)) == 3


def test_a_home_that_cannot_be_used_stops_gates_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GEMBA_HOME", str(tmp_path / "file"))

    assert passed_open(hook("PostToolUse", {}))
    assert passed_open(hook("PreToolUse", {}))
    assert blocked(hook("Stop", {}), str(tmp_path / "file"))
    assert blocked(hook("SubagentStop", {}), str(tmp_path / "file"))
    assert blocked(hook("PermissionRequest", {}, "--approvals"), str(tmp_path / "file"))


def test_the_log_of_faults_stays_small(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_SESSION_ID")
    (home / "bridge.log").write_text("old\n" * 100_000)
    hook("Notification", {})
    hook("Notification", {})

    assert len(logged(home)) == 1
    assert sorted(path.name for path in home.iterdir()) == ["bridge.log", "bridge.log.1"]
    assert (home / "bridge.log.1").read_text().startswith("old\n")


@pytest.mark.parametrize("words", [[], ["hook"], ["other", "Stop"], ["--json"], ["hook", "--require"]])
def test_a_person_is_told_how_to_use_it(words: list[str]) -> None:
    found = subprocess.run([*BRIDGE, *words], input="", capture_output=True, text=True)

    assert (found.returncode, found.stdout) == (1, "")
    assert "allowed: " in found.stderr


def test_help_has_an_example() -> None:
    found = subprocess.run([*BRIDGE, "--help"], input="", capture_output=True, text=True)

    assert found.returncode == 0
    assert "Example:\n  gemba-bridge hook Stop" in found.stdout


# -- the start of a session --------------------------------------------------------------------------------------------


def test_the_agent_of_a_dispatch_is_told_its_envelope_when_its_session_starts(home: Path, dispatched: None) -> None:
    assert passed_open(hook("SessionStart", {"source": "startup"}))
    (home / "envelopes").mkdir()
    (home / f"envelopes/{DISPATCH}.md").write_text("# Your task\n")

    assert answer(hook("SessionStart", {"source": "startup"})) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "# Your task\n"}
    }


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_an_agent_is_told_once_what_was_answered_meanwhile(home: Path, event: str) -> None:
    folder = Path(wire.turns_folder(str(home), SESSION))
    folder.mkdir(parents=True)
    event_id = wire.new_event_id()
    answered = {"event_id": event_id, "session_id": SESSION, "outcome": "answered", "text": "Green.", "by": "operator"}
    waits = {**answered, "question": "Which colour?", "at": "2026-01-02T03:04:05Z"}
    (folder / f"{event_id}.json").write_text(json.dumps(waits))

    said = answer(hook(event, {"prompt": "Go on"}))
    assert said is not None
    told = said["hookSpecificOutput"]
    assert told["hookEventName"] == event
    assert told["additionalContext"].endswith("Question: Which colour?\nAnswered: Green.")
    assert list(folder.iterdir()) == []
    read = frames(home)[-1]
    assert (read.hook, (read.payload or {})["event_id"]) == ("GembaReplyRead", event_id)
    assert passed_open(hook(event, {"prompt": "And on"}))


# -- what a turn took --------------------------------------------------------------------------------------------------


def said(id: str, taken: int, made: int, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": taken, "cache_read_input_tokens": 1_000, "output_tokens": made, "service_tier": "standard"}
    return {"type": "assistant", "message": {"id": id, "role": "assistant", "content": [], "usage": usage}, **more}


def prompted(text: str = "go on") -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def used(home: Path) -> list[tuple[int, int]]:
    """What was told, turn by turn, in and out."""
    told = [frame.payload or {} for frame in frames(home) if frame.hook == "GembaUsage"]
    return [(one["input_tokens"], one["output_tokens"]) for one in told]


def test_what_a_turn_took_is_told_from_the_transcript_and_never_twice(home: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"

    def written(*entries: dict[str, Any]) -> None:
        with transcript.open("a") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)

    def ended(event: str = "Stop", **more: str) -> None:
        sent = {"transcript_path": str(transcript), "last_assistant_message": "done", **more}
        assert hook(event, sent).returncode == 0

    written(prompted(), said("m-1", 5, 1), said("m-1", 5, 20), said("m-2", 7, 30))
    ended()
    assert used(home) == [(2_012, 50)]
    assert [frame.hook for frame in frames(home)] == ["GembaUsage", "Stop"]
    ended()
    assert used(home) == [(2_012, 50)]

    # The end of a turn that is written down after its hook has run comes with the next one.
    written(said("m-3", 1, 1), prompted(), said("m-4", 1, 2))
    ended()
    written(said("m-5", 1, 4))
    ended("SessionEnd")
    assert used(home) == [(2_012, 50), (2_002, 3), (1_001, 4)]

    agent = tmp_path / "agent-1.jsonl"
    agent.write_text(json.dumps(said("a-1", 9, 9, isSidechain=True)) + "\n")
    ended("SubagentStop", agent_transcript_path=str(agent))
    assert used(home)[-1] == (1_009, 9)
    assert len({frame.event_id for frame in frames(home)}) == len(frames(home))


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"no json\n[1]\nnull\n",
        b'{"type": "assistant", "message": "words"}\n',
        b'{"type": "assistant", "message": {"id": "m", "usage": [1]}}\n',
        b'{"type": "assistant", "message": {"id": 5, "usage": {"input_tokens": 5}}}\n',
        b'{"type": "assistant", "message": {"id": "m", "content": []}}\n',
    ],
)
def test_a_transcript_that_tells_nothing_keeps_no_turn_from_ending(home: Path, tmp_path: Path, lines: bytes) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(lines)

    for path in (str(transcript), str(tmp_path), "/none", "a\0b"):
        done = hook("Stop", {"transcript_path": path, "last_assistant_message": "done"})
        assert done.returncode == 0, done
    assert used(home) == []


@pytest.mark.parametrize("taken", [True, -5, 1.5, "7", None, [1]])
def test_figures_that_are_none_count_nothing(home: Path, tmp_path: Path, taken: object) -> None:
    transcript = tmp_path / "transcript.jsonl"
    usage = {"input_tokens": taken, "output_tokens": 3}
    transcript.write_text(json.dumps({"type": "assistant", "message": {"id": "m", "usage": usage}}) + "\n")

    assert hook("Stop", {"transcript_path": str(transcript), "last_assistant_message": "done"}).returncode == 0
    assert used(home) == [(0, 3)]
