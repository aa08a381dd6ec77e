"""The gate at the end of a turn: a handoff is accepted, sent back or given up, and no fault of the gate opens it."""

import contextlib
import fcntl
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.handoff.envelope_files import write_given
from tests.fixtures.hooks import BRIDGE, SESSION, Run, answer, blocked, frames, handoffs, hook, passed_open

DISPATCH = "d-1"
AGENT = "a0123456789abcdef"
EVIDENCE = (
    *("patterns_checked", "files_checked", "commands_run", "key_outputs"),
    *("verbatim_outputs", "cross_layer_impacts", "open_gaps"),
)


@pytest.fixture(autouse=True)
def _session(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.chdir(workspace)


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_DISPATCH_ID", DISPATCH)


# -- the gate ----------------------------------------------------------------------------------------------------------


def envelope(status: str = "COMPLETE", agent_id: str = AGENT, **more: Any) -> dict[str, Any]:
    return {
        "agent_status": {
            "plan_status": status,
            "agent_id": agent_id,
            "pending_steps": [],
            "next_action": "nothing",
        },
        "evidence_report": {**{key: [] for key in EVIDENCE}, "verification": {"result": "pass"}},
        **more,
    }


def said(document: object) -> dict[str, Any]:
    """A turn that ends in this block."""
    body = document if isinstance(document, str) else json.dumps(document)
    return {"last_assistant_message": f"Done.\n\n```agent_contract_handoff\n{body}\n```\n"}


def given_envelope(home: Path, document: object, id: str = DISPATCH) -> None:
    (home / "envelopes").mkdir(exist_ok=True)
    text = document if isinstance(document, str) else json.dumps(document)
    (home / "envelopes" / f"{id}.json").write_text(text)


def repair(found: Run) -> str:
    """The reason with which a turn was sent back."""
    told = answer(found)
    assert told["decision"] == "block"
    assert set(told) == {"decision", "reason"}
    return str(told["reason"])


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_an_ordinary_turn_passes(home: Path, event: str) -> None:
    assert passed_open(hook(event, {"last_assistant_message": "The port is 8080.", "agent_id": AGENT}))
    assert passed_open(hook(event, {"last_assistant_message": "Use ```agent_contract_handoff blocks.``` Yes."}))
    assert passed_open(hook(event, {}))
    assert [frame.hook for frame in frames(home)] == [event] * 3
    assert not (home / "gates").exists()


def test_an_accepted_handoff_is_a_frame_and_the_turn_ends(home: Path) -> None:
    assert passed_open(hook("Stop", said(envelope())))
    assert handoffs(home) == [{"dispatch_id": "", "agent_id": "", "event": "Stop", "envelope": envelope()}]


def test_a_broken_handoff_is_sent_back_with_what_is_wrong(home: Path) -> None:
    document = envelope()
    del document["evidence_report"]["files_checked"]

    assert "files_checked" in repair(hook("Stop", said(document)))
    assert handoffs(home) == []
    counted = json.loads((home / "gates/team_one.json").read_text())
    assert counted == {"id": SESSION, "refusals": [["FILES_CHECKED"]]}


def test_a_turn_of_a_dispatch_has_to_end_in_a_handoff(home: Path, dispatched: None) -> None:
    assert "agent_status" in repair(hook("Stop", {"last_assistant_message": "All done!"}))
    assert passed_open(hook("Stop", said(envelope())))
    (handoff,) = handoffs(home)
    assert handoff["dispatch_id"] == DISPATCH
    assert not (home / f"gates/{DISPATCH}.json").exists()


def test_a_subagent_does_not_hand_off_for_the_dispatch_of_its_session(home: Path, dispatched: None) -> None:
    assert passed_open(hook("SubagentStop", {"agent_id": "a11111", "last_assistant_message": "Found 3 files."}))
    assert passed_open(hook("SubagentStop", {"agent_id": "a11111", **said(envelope())}))
    (handoff,) = handoffs(home)
    assert (handoff["dispatch_id"], handoff["agent_id"]) == ("", "a11111")


def test_every_turn_has_to_where_the_hook_requires_it(home: Path) -> None:
    assert "agent_status" in repair(hook("Stop", {"last_assistant_message": "All done!"}, "--require"))
    assert "agent_status" in repair(hook("SubagentStop", {"agent_id": "a11111"}, "--require"))
    assert passed_open(hook("Stop", said(envelope()), "--require"))


def test_the_input_envelope_of_the_dispatch_decides(home: Path, dispatched: None) -> None:
    given_envelope(home, {"metadata": {"agent_id": AGENT}, "agent_contract_handoff": {"consolidation_required": True}})
    found = repair(hook("Stop", said(envelope(agent_id="a99999"))))

    assert "a99999" in found
    assert "consolidation_report" in found
    report = {
        **{key: [] for key in ("confirmed_findings", "suspected_findings", "conflicts", "open_gaps")},
        "ownership_assessment": "owned_here",
        "next_best_agent": "nobody",
    }
    assert passed_open(hook("Stop", said(envelope(consolidation_report=report))))
    (handoff,) = handoffs(home)
    assert (handoff["dispatch_id"], handoff["agent_id"]) == (DISPATCH, AGENT)


def test_the_dispatch_that_a_living_session_was_given_last_decides(home: Path, dispatched: None) -> None:
    given_envelope(home, {"metadata": {"agent_id": "a11111"}})
    given_envelope(home, {"metadata": {"agent_id": AGENT}}, id="d-2")
    write_given(home, "team_one", "d-3")  # another session whose file has the same name
    assert "a11111" in repair(hook("Stop", said(envelope())))

    write_given(home, SESSION, "d-2")

    assert passed_open(hook("Stop", said(envelope())))
    (handoff,) = handoffs(home)
    assert (handoff["dispatch_id"], handoff["agent_id"]) == ("d-2", AGENT)


def test_a_turn_without_a_block_is_shown_the_id_that_it_must_repeat(home: Path, dispatched: None) -> None:
    given_envelope(home, {"metadata": {"agent_id": AGENT}})

    assert f'"agent_id": "{AGENT}"' in repair(hook("Stop", {"last_assistant_message": "All done!"}))


def test_a_subagent_may_have_a_dispatch_of_its_own(home: Path) -> None:
    given_envelope(home, {"metadata": {"agent_id": AGENT}}, id="abc123")

    assert "agent_status" in repair(hook("SubagentStop", {"agent_id": "abc123", "last_assistant_message": "Done"}))
    assert passed_open(hook("SubagentStop", {"agent_id": "abc124", "last_assistant_message": "Done"}))
    assert passed_open(hook("SubagentStop", {"agent_id": "abc123", **said(envelope())}))
    (handoff,) = handoffs(home)
    assert (handoff["dispatch_id"], handoff["agent_id"], handoff["event"]) == ("abc123", "abc123", "SubagentStop")


@pytest.mark.parametrize("document", ["", "{", "[]", "null", "[" * 10_000, b"\xff".decode("latin-1")])
def test_an_input_envelope_that_cannot_be_read_blocks(home: Path, dispatched: None, document: str) -> None:
    given_envelope(home, document)

    assert blocked(hook("Stop", said(envelope())), str(home / f"envelopes/{DISPATCH}.json"))
    assert handoffs(home) == []


@pytest.mark.parametrize("id", ["../../etc/passwd", "..", "a/b", " \t ", "é", "x" * 500])
def test_no_dispatch_id_leads_out_of_the_home(home: Path, monkeypatch: pytest.MonkeyPatch, id: str) -> None:
    monkeypatch.setenv("GEMBA_DISPATCH_ID", id)
    found = answer(hook("Stop", {"last_assistant_message": "Done"}))

    assert (found is None) is (not id.strip())
    assert {path.name for path in home.iterdir()} <= {"sessions", "gates"}
    assert len(list((home / "gates").glob("*.json"))) == bool(id.strip())


# -- repairs have an end -----------------------------------------------------------------------------------------------


def lacking(*keys: str) -> dict[str, Any]:
    """A turn whose evidence lacks these keys."""
    document = envelope()
    for key in keys:
        del document["evidence_report"][key]
    return said(document)


def test_after_two_repairs_in_vain_the_turn_is_let_go_as_refused(home: Path, dispatched: None) -> None:
    given_envelope(home, {"metadata": {"agent_id": AGENT}})
    assert "open_gaps" in repair(hook("Stop", lacking("files_checked", "open_gaps", "key_outputs")))
    assert "open_gaps" in repair(hook("Stop", lacking("files_checked", "open_gaps")))
    told = answer(hook("Stop", lacking("open_gaps")))

    assert set(told) == {"systemMessage"}
    assert "OPEN_GAPS" in told["systemMessage"]
    (handoff,) = handoffs(home)
    document = lacking("open_gaps")["last_assistant_message"]
    assert handoff == {
        "dispatch_id": DISPATCH,
        "agent_id": AGENT,
        "event": "Stop",
        "envelope": json.loads(document.splitlines()[3]),
        "refused": True,
        "codes": ["OPEN_GAPS"],
        "text": document,
    }


def test_the_same_codes_again_end_it_at_once(home: Path, dispatched: None) -> None:
    message = {"last_assistant_message": "x" * 10_000}
    repair(hook("Stop", message))
    assert set(answer(hook("Stop", message))) == {"systemMessage"}

    (handoff,) = handoffs(home)
    assert (handoff["envelope"], handoff["codes"]) == (None, ["AGENT_STATUS"])
    assert handoff["text"] == "…" + "x" * 4_000


def test_the_turn_after_one_that_was_let_go_is_counted_anew(home: Path, dispatched: None) -> None:
    for _ in range(2):
        assert repair(hook("Stop", {"last_assistant_message": "Done"}))
        assert set(answer(hook("Stop", {"last_assistant_message": "Done"}))) == {"systemMessage"}
    assert len(handoffs(home)) == 2


def test_an_accepted_handoff_clears_the_count(home: Path) -> None:
    for _ in range(3):
        assert repair(hook("Stop", lacking("open_gaps")))
        assert passed_open(hook("Stop", said(envelope())))
    assert len(handoffs(home)) == 3


def test_a_prompt_of_a_person_clears_the_count_and_one_of_the_client_does_not(home: Path, dispatched: None) -> None:
    message = {"last_assistant_message": "Done"}
    assert repair(hook("Stop", message))
    assert passed_open(hook("UserPromptSubmit", {"prompt": "Go on"}))
    assert repair(hook("Stop", message))
    assert passed_open(hook("UserPromptSubmit", {"prompt": "<task-notification>done</task-notification>"}))
    assert set(answer(hook("Stop", message))) == {"systemMessage"}


def test_subagents_of_one_session_are_counted_each_by_itself(home: Path, dispatched: None) -> None:
    message = {"last_assistant_message": "Done"}
    for agent in ("a11111", "a22222"):
        assert repair(hook("SubagentStop", {**message, "agent_id": agent}, "--require"))
    assert repair(hook("Stop", message))
    assert set(answer(hook("SubagentStop", {**message, "agent_id": "a11111"}, "--require"))) == {"systemMessage"}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"refusals": 1}', '{"refusals": [1]}', "[" * 9_000])
def test_a_count_that_cannot_be_read_begins_anew(home: Path, dispatched: None, content: str) -> None:
    (home / "gates").mkdir()
    (home / f"gates/{DISPATCH}.json").write_text(content)

    assert repair(hook("Stop", {"last_assistant_message": "Done"}))
    assert set(answer(hook("Stop", {"last_assistant_message": "Done"}))) == {"systemMessage"}


def test_refusals_at_once_are_all_counted(home: Path, dispatched: None) -> None:
    """Of many at once, each with codes of its own, exactly two are asked for a repair until one is let go."""
    turns = [json.dumps(lacking(key)).encode() for key in EVIDENCE[:3]]
    pipe = subprocess.PIPE
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen([*BRIDGE, "hook", "Stop"], stdin=pipe, stdout=pipe)) for _ in turns
        ]
        told = [process.communicate(turn)[0] for process, turn in zip(running, turns, strict=True)]

    assert sorted(next(iter(json.loads(line))) for line in told) == ["decision", "decision", "systemMessage"]


def test_a_handoff_that_is_too_long_to_be_kept_is_sent_back(home: Path, dispatched: None) -> None:
    long = envelope()
    long["evidence_report"]["verbatim_outputs"] = ["x" * 1_000_000] * 5

    assert "shorter" in repair(hook("Stop", said(long)))
    assert set(answer(hook("Stop", said(long)))) == {"systemMessage"}
    (handoff,) = handoffs(home)
    assert (handoff["envelope"], handoff["refused"], handoff["codes"]) == (None, True, ["BODY:body_size"])


def test_a_handoff_of_odd_values_is_kept(home: Path) -> None:
    odd = '"context_consumption": {"tokens_used": 1e999}, "user_facing_summary": "\\ud800\\u0000\\u2028"'
    body = json.dumps(envelope())[:-1] + f", {odd}" + "}"

    assert passed_open(hook("Stop", said(body)))
    (handoff,) = handoffs(home)
    assert handoff["envelope"]["context_consumption"]["tokens_used"] == sys.float_info.max


def test_a_handoff_that_nests_deep_is_kept(home: Path) -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]

    assert passed_open(hook("Stop", said(envelope(rollback_executed=deep))))
    assert len(handoffs(home)) == 1


# -- last words from a transcript --------------------------------------------------------------------------------------


def entry(kind: str, content: object, **more: Any) -> dict[str, Any]:
    return {"type": kind, "message": {"role": kind, "content": content, **more.pop("message", {})}, **more}


def text_parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.fixture
def transcript(tmp_path: Path) -> Callable[..., str]:
    def write(*entries: object) -> str:
        path = tmp_path / "transcript.jsonl"
        path.write_text("".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in entries))
        return str(path)

    return write


HANDOFF = said(envelope())["last_assistant_message"]
RESULT = entry("user", [{"type": "tool_result", "content": "ok"}])


def test_the_last_words_are_read_from_the_transcript(
    home: Path, dispatched: None, transcript: Callable[..., str]
) -> None:
    path = transcript(
        entry("user", "Do it"),
        entry("assistant", text_parts("I begin")),
        RESULT,
        entry("assistant", [{"type": "thinking", "thinking": "…"}], message={"id": "m2"}),
        entry("assistant", text_parts(HANDOFF.partition("\n")[0]), message={"id": "m2"}),
        entry("assistant", text_parts(HANDOFF.partition("\n")[2]), message={"id": "m2"}),
        {"type": "system", "subtype": "info"},
        "broken {",
        "",
    )

    assert passed_open(hook("Stop", {"transcript_path": path}))
    assert len(handoffs(home)) == 1


def test_what_was_said_before_the_last_prompt_is_not_how_this_turn_ended(
    home: Path, dispatched: None, transcript: Callable[..., str]
) -> None:
    for prompt in ("Go on", text_parts("Go on")):
        path = transcript(entry("user", "Do it"), entry("assistant", text_parts(HANDOFF)), entry("user", prompt))
        (home / f"gates/{DISPATCH}.json").unlink(missing_ok=True)
        assert "agent_status" in repair(hook("Stop", {"transcript_path": path}))
    assert handoffs(home) == []


def test_what_the_hook_says_goes_before_the_transcript(
    home: Path, dispatched: None, transcript: Callable[..., str]
) -> None:
    path = transcript(entry("assistant", HANDOFF))

    assert "agent_status" in repair(hook("Stop", {"transcript_path": path, "last_assistant_message": ""}))


def test_a_subagents_words_are_in_its_own_transcript_or_in_its_part_of_the_other(
    home: Path, dispatched: None, transcript: Callable[..., str], tmp_path: Path
) -> None:
    path = transcript(entry("assistant", HANDOFF), entry("assistant", HANDOFF, isSidechain=True), entry("user", "Next"))
    assert passed_open(hook("SubagentStop", {"transcript_path": path}, "--require"))

    path = transcript(entry("assistant", HANDOFF))
    assert "agent_status" in repair(hook("SubagentStop", {"transcript_path": path}, "--require"))
    assert passed_open(
        hook("SubagentStop", {"transcript_path": "/nowhere", "agent_transcript_path": path}, "--require")
    )


def test_only_the_end_of_a_long_transcript_is_read(
    home: Path, dispatched: None, transcript: Callable[..., str]
) -> None:
    path = transcript(*[entry("assistant", "é" * 1_000_000, message={"id": "x"})] * 6, entry("assistant", HANDOFF))

    assert passed_open(hook("Stop", {"transcript_path": path}))


@pytest.mark.parametrize("path", ["", "/nowhere", "/", "a\0b", "\ud800", 1, None, ["x"]])
def test_a_transcript_that_cannot_be_read_says_nothing(dispatched: None, path: object) -> None:
    assert "agent_status" in repair(hook("Stop", {"transcript_path": path}))


# -- failing closed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", b"not json", b"[]", b'{"last_assistant_message": NaN}', b"\xff" * 10])
def test_input_that_is_not_understood_blocks_at_a_gate(home: Path, sent: bytes) -> None:
    assert blocked(hook("Stop", stdin=sent), "the client's input is no JSON object")
    assert len(frames(home)) == 1


def test_a_session_without_a_name_blocks_at_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMBA_SESSION_ID")

    assert blocked(hook("Stop", {}), "the session has no name")


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_a_gate_blocks_when_its_deadline_passes(home: Path, event: str) -> None:
    """The log is held by another, so that no frame can be written."""
    log = Path(wire.log_path(str(home), SESSION))
    log.parent.mkdir()
    with log.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert blocked(hook(event, {}, "--deadline", "0.3"), "no decision within 0.3 s")


def test_a_gate_whose_code_is_broken_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dispatched: None) -> None:
    """As after an update that went wrong: a module that cannot be loaded."""
    broken = "import sys; sys.modules['gemba.handoff.verdict'] = None; from gemba.cli.bridge import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", broken, "hook", "Stop"],
        input=json.dumps(said(envelope())),
        capture_output=True,
        text=True,
    )

    assert blocked(found, "ModuleNotFoundError")


def test_an_answer_that_cannot_be_written_blocks(dispatched: None) -> None:
    with Path("/dev/full").open("w") as full:
        found = subprocess.run([*BRIDGE, "hook", "Stop"], input=b"{}", stdout=full, stderr=subprocess.PIPE, check=False)

    assert found.returncode == 2
    assert found.stderr.startswith(b"gemba-bridge: blocked at Stop: ")
