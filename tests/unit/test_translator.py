"""What each frame means: every hook, every rule of authority, mode and urgency, and properties over any frame."""

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.event import NAMES, Draft
from gemba.sessions.frames import Frame, read_frame
from gemba.sessions.session import Facts, Prompt
from gemba.sessions.translator import HOOKS, translate

QUESTION = {"kind": "question", "role": "manager", "text": "Which port?", "mode": "balanced"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "rm -r build"}}
USED = {"input_tokens": 1_200, "output_tokens": 34, "cost_usd": 0.0123}
EDIT = {"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}

_numbers = itertools.count(1)


def frame(hook: str, payload: dict[str, Any] | None = None, **fields: Any) -> Frame:
    given = {"session_id": "s", "hook": hook, "event_id": f"e{next(_numbers)}", "ts": "2026-03-01T10:00:00Z"}
    return Frame(**{**given, "agent_type": "claude", "payload": payload, **fields})


def drafts(hook: str, payload: dict[str, Any] | None = None, facts: Facts | None = None, **fields: Any) -> list[Draft]:
    return list(translate(frame(hook, payload, **fields), facts or Facts()).drafts)


def only(hook: str, payload: dict[str, Any] | None = None, facts: Facts | None = None, **fields: Any) -> Draft:
    (draft,) = drafts(hook, payload, facts, **fields)
    return draft


def ask(**changes: Any) -> Draft:
    return only("GembaAsk", {**QUESTION, **changes})


def dropped(draft: Draft) -> str:
    assert draft.name == "frame_dropped"
    return str(draft.payload["reason"])


def play(*frames: Frame) -> tuple[list[Draft], Facts]:
    """A session's frames one after another, as ingest gives them to the translator."""
    facts = Facts()
    told: list[Draft] = []
    for each in frames:
        translation = translate(each, facts)
        told += translation.drafts
        facts = Facts(facts.role, translation.prompts)
    return told, facts


def opened(told: list[Draft]) -> list[str | None]:
    return [draft.ref for draft in told if draft.name == "escalation_opened"]


def settled(told: list[Draft]) -> list[str | None]:
    return [draft.ref for draft in told if draft.name == "permission_settled"]


# ---- every hook -------------------------------------------------------------------------------------------------


TABLE: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("GembaAsk", QUESTION, "escalation_opened", {"kind": "question", "channel": "tool_call"}),
    ("GembaAsk", {**QUESTION, "kind": "assumption", "chose": "8080"}, "assumption_recorded", {"chose": "8080"}),
    ("GembaState", {"state": "working", "note": "n"}, "session_state_reported", {"state": "working", "note": "n"}),
    ("GembaReplyRead", {"event_id": "a1"}, "reply_read", {"event_id": "a1", "at": None}),
    ("GembaReplyRead", {"event_id": "a1", "at": "2026"}, "reply_read", {"event_id": "a1", "at": "2026"}),
    ("GembaReplyRead", {"event_id": "a1", "at": 5}, "reply_read", {"event_id": "a1", "at": None}),
    ("GembaWithdraw", {"event_id": "a1"}, "ask_withdrawn", {"event_id": "a1"}),
    ("GembaSkillOutput", {"skill_id": "pm.x", "lines": ["a"]}, "skill_output_emitted", {"lines": ["a"]}),
    ("GembaHandoff", {"status": "COMPLETE"}, "handoff_received", {"status": "COMPLETE"}),
    ("GembaPermission", BASH, "notification_kept", BASH),
    ("GembaUsage", USED, "usage_reported", USED),
    (
        "GembaUsage",
        {"output_tokens": 7},
        "usage_reported",
        {"input_tokens": None, "output_tokens": 7, "cost_usd": None},
    ),
    ("SessionStart", {"source": "startup"}, "session_transition", {"to": "running"}),
    ("UserPromptSubmit", {"prompt": "go on"}, "user_message", {"text": "go on", "by_client": False}),
    ("PreToolUse", BASH, "tool_use", {"phase": "pre", **BASH}),
    ("PostToolUse", BASH, "tool_use", {"phase": "post", **BASH}),
    ("PostToolUseFailure", BASH, "tool_use", {"phase": "failed", **BASH}),
    ("Notification", {"message": "?"}, "escalation_opened", {"kind": "permission_prompt"}),
    ("PermissionRequest", BASH, "escalation_opened", {"kind": "permission_prompt", "channel": "notification"}),
    ("Stop", {"stop_hook_active": False}, "turn_ended", {"stop_hook_active": False}),
    ("SubagentStop", {"agent_id": "x"}, "subagent_stopped", {"agent_id": "x"}),
    ("SessionEnd", {"reason": "exit"}, "session_transition", {"to": "completed", "close_reason": "provider_exit"}),
    ("PreCompact", {"a": 1}, "unknown_hook", {"hook": "PreCompact", "payload": {"a": 1}}),
]


@pytest.mark.parametrize(("hook", "payload", "name", "said"), TABLE)
def test_a_hook_becomes_its_event(hook: str, payload: dict[str, Any], name: str, said: dict[str, Any]) -> None:
    draft = only(hook, payload)

    assert draft.name == name
    assert draft.payload.items() >= said.items()
    assert draft.session_id == "s"


def test_every_hook_that_is_known_is_in_the_table_above() -> None:
    assert {hook for hook, _, _, _ in TABLE} == {*HOOKS, "PreCompact"}


@pytest.mark.parametrize("hook", [*HOOKS, "PreCompact"])
def test_a_frame_without_a_payload_is_translated(hook: str) -> None:
    assert only(hook).name in NAMES


def test_an_unknown_hook_keeps_what_was_no_json() -> None:
    assert only("X", payload_raw="<html>").payload["payload_raw"] == "<html>"


@pytest.mark.parametrize("hook", ["GembaReplyRead", "GembaWithdraw"])
@pytest.mark.parametrize("target", [None, 5, "", "../x", "x" * 129])
def test_a_frame_about_an_ask_must_name_one(hook: str, target: object) -> None:
    assert "event_id" in dropped(only(hook, {"event_id": target}))


@pytest.mark.parametrize("hook", ["GembaReplyRead", "GembaWithdraw"])
def test_a_frame_about_an_ask_refers_to_that_ask(hook: str) -> None:
    assert only(hook, {"event_id": "the-ask"}).ref == "the-ask"


@pytest.mark.parametrize("state", wire.STATES)
def test_every_state_can_be_reported(state: str) -> None:
    assert only("GembaState", {"state": state}).payload == {"state": state, "bead_id": None, "note": None}


@pytest.mark.parametrize("state", [None, "", "Working", "done", 1, ["working"]])
def test_a_state_that_does_not_exist_is_dropped_with_those_that_do(state: object) -> None:
    assert dropped(only("GembaState", {"state": state})).endswith(f"allowed: {', '.join(wire.STATES)}")


@pytest.mark.parametrize(
    "used",
    [
        *({}, {"input_tokens": None}, {"tokens": 5}, {"input_tokens": -1}, {"input_tokens": 1.5}),
        *({"input_tokens": True}, {"output_tokens": "many"}, {"output_tokens": 10**12 + 1}),
        *({**USED, "cost_usd": -0.1}, {"cost_usd": 10**7}, {"cost_usd": float("nan")}, {"cost_usd": ["1"]}),
    ],
)
def test_a_usage_that_nobody_can_add_up_is_dropped_whole(used: dict[str, Any]) -> None:
    assert dropped(only("GembaUsage", used))


def test_a_tools_own_word_for_its_phase_does_not_hide_ours() -> None:
    assert only("PreToolUse", {"phase": "post"}).payload == {"phase": "pre"}


# ---- authority, modes, urgency ----------------------------------------------------------------------------------

URGENCY = {
    ("question", "balanced"): "advisory",
    ("question", "cautious"): "blocking",
    ("blocker", "balanced"): "blocking",
    ("blocker", "cautious"): "blocking",
}


@pytest.mark.parametrize("mode", [*wire.MODES, "", "reckless", None, 5])
@pytest.mark.parametrize("role", wire.ROLES)
@pytest.mark.parametrize("kind", wire.ASK_KINDS)
def test_kind_role_and_mode_decide_what_an_ask_becomes(kind: str, role: str, mode: object) -> None:
    draft = ask(kind=kind, role=role, mode=mode, chose="8080")

    counted = mode if mode in wire.MODES else "balanced"
    if kind == "assumption":
        assert (draft.name, draft.payload["mode"]) == ("assumption_recorded", counted)
    elif kind == "blocker" and role == "coach":
        assert "a coach never raises a blocker" in dropped(draft)
    elif counted == "dangerous":
        assert "--kind assumption" in dropped(draft)
    else:
        assert draft.name == "escalation_opened"
        assert draft.payload["urgency"] == URGENCY[kind, str(counted)]
        assert draft.payload["mode"] == counted
        assert draft.payload["role"] == role


@pytest.mark.parametrize("mode", wire.MODES)
@pytest.mark.parametrize("payload", [{"type": "permission_prompt"}, {"type": "hitl"}, {"type": "elicitation_dialog"}])
def test_what_the_client_asks_blocks_in_every_mode(payload: dict[str, Any], mode: str) -> None:
    assert only("Notification", {**payload, "mode": mode}).payload["urgency"] == "blocking"


@pytest.mark.parametrize("role", wire.ROLES)
@pytest.mark.parametrize("kind", wire.ASK_KINDS)
def test_an_ask_with_another_role_than_the_sessions_is_dropped(kind: str, role: str) -> None:
    payload = {**QUESTION, "kind": kind, "role": role, "chose": "x"}
    for own in wire.ROLES:
        draft = only("GembaAsk", payload, Facts(role=own))
        if own != role:
            assert dropped(draft) == f"the frame says role {role}, the session has role {own}"
        elif (kind, role) != ("blocker", "coach"):
            assert draft.name != "frame_dropped"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "permission_prompt"}, "kind is 'permission_prompt'; allowed: question, blocker, assumption"),
        ({"kind": "approval"}, "kind is 'approval'; allowed: question, blocker, assumption"),
        ({"kind": None}, "kind is missing; allowed: question, blocker, assumption"),
        ({"kind": {"a": []}}, "kind is no text; allowed: question, blocker, assumption"),
        ({"kind": "Blocker"}, "kind is 'Blocker'; allowed: question, blocker, assumption"),
        ({"role": "operator"}, "role is 'operator'; allowed: coach, manager"),
        ({"role": None}, "role is missing; allowed: coach, manager"),
        ({"text": ""}, "text is missing or empty"),
        ({"text": " \n"}, "text is missing or empty"),
        ({"text": None}, "text is missing or empty"),
        ({"text": ["x"]}, "text is missing or empty"),
        ({"kind": "assumption"}, "an assumption must say what was chosen"),
        ({"kind": "assumption", "chose": "\t"}, "an assumption must say what was chosen"),
    ],
)
def test_an_ask_that_does_not_fit_is_dropped_with_the_reason(changes: dict[str, Any], why: str) -> None:
    draft = ask(**changes)

    assert dropped(draft) == why
    assert draft.payload["hook"] == "GembaAsk"


def test_a_value_nested_as_deep_as_json_goes_is_dropped_like_any_other() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]

    assert dropped(ask(kind=deep)).startswith("kind is no text")


# ---- what an ask says -------------------------------------------------------------------------------------------


def test_an_ask_carries_everything_it_said() -> None:
    said = {
        "title": "Port",
        "bead_id": "shop-12",
        "options": ["8080", "9090"],
        "cwd": "/srv/shop",
        "commit": "c0ffee",
        "branch": "main",
    }

    payload = ask(**said, wait=True).payload

    assert payload.items() >= said.items()
    assert (payload["text"], payload["waiting"], payload["agent_type"]) == ("Which port?", True, "claude")
    assert payload["asked_at"] == "2026-03-01T10:00:00Z"


def test_what_an_ask_leaves_out_or_gets_wrong_is_absent() -> None:
    payload = ask(title=5, bead_id=[], options="8080", cwd=None, commit={}, wait="yes").payload

    assert {payload[key] for key in ("title", "bead_id", "cwd", "commit", "branch", "worktree", "schema")} == {None}
    assert (payload["options"], payload["waiting"]) == ([], False)


SCHEMA = {"type": "object", "properties": {"port": {"type": "integer"}}}


def test_an_ask_carries_its_schema_and_its_worktree() -> None:
    payload = ask(schema=SCHEMA, worktree="/srv/shop").payload

    assert (payload["schema"], payload["worktree"], payload["text"]) == (SCHEMA, "/srv/shop", "Which port?")


def nested(levels: int) -> dict[str, Any]:
    return {"items": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"schema": "text"}, "it is no JSON object"),
        ({"schema": [SCHEMA]}, "it is no JSON object"),
        ({"schema": False}, "it is no JSON object"),
        ({"schema": SCHEMA, "options": ["a"]}, "options say already what the answer may be"),
        ({"schema": nested(33)}, "nested too deeply"),
        ({"schema": nested(900)}, "nested too deeply"),
        ({"schema": {"const": "a\0b"}}, "text that cannot be kept"),
        ({"schema": {"enum": ["x" * 1000] * 70}}, "larger than 65,536 bytes"),
        ({"schema": {"const": "x" * 70_000}}, "cannot be kept"),
    ],
)
def test_a_schema_that_is_none_never_loses_its_question(given: dict[str, Any], reason: str) -> None:
    draft = ask(**given)

    assert draft.name == "escalation_opened"
    assert draft.payload["schema"] is None
    words, note = draft.payload["text"].split("\n\n")
    assert words == "Which port?"
    assert note.startswith("(Its schema for the answer could not be used: ")
    assert reason in note


def test_a_schema_may_be_as_deep_and_large_as_is_kept() -> None:
    for schema in (nested(wire.MAX_DEPTH - 1), {"enum": ["x" * 1000] * 65}):
        assert ask(schema=schema).payload["schema"] == schema


def test_options_are_texts_with_something_in_them_and_not_too_many() -> None:
    assert ask(options=["a", "", 5, None, " ", "b"]).payload["options"] == ["a", "b"]
    assert len(ask(options=["x"] * 500).payload["options"]) == wire.MAX_OPTIONS
    # Of a frame that somebody wrote by hand: an answer names an option by the number that its asker gave it.
    assert ask(options=["a", "a", "b"]).payload["options"] == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("name", "most"),
    [("text", wire.MAX_TEXT), ("title", wire.MAX_TITLE), ("bead_id", wire.MAX_ID), ("branch", wire.MAX_ID)],
)
def test_what_is_too_long_is_cut_and_says_so(name: str, most: int) -> None:
    assert ask(**{name: "x" * most}).payload[name] == "x" * most

    cut = ask(**{name: "x" * 1_000_000}).payload[name]

    assert cut == "x" * most + "… (cut: 1,000,000 characters; the session log has them all)"


def test_text_that_no_database_takes_is_replaced() -> None:
    assert ask(text="a\0b", options=["\0"]).payload.items() >= {"text": "a\ufffdb", "options": ["\ufffd"]}.items()


# ---- a client's notifications -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("elicitation", "hitl_approval"),
        ("elicitation_dialog", "hitl_approval"),
        ("hitl", "hitl_approval"),
        ("approval", "hitl_approval"),
        ("HITL", "hitl_approval"),
        ("permission", "permission_prompt"),
        ("permission_prompt", "permission_prompt"),
        ("Permission_Prompt ", "permission_prompt"),
        ("", "permission_prompt"),
        (" ", "permission_prompt"),
        (None, "permission_prompt"),
        (5, "permission_prompt"),
    ],
)
def test_a_notification_that_wants_a_person_opens_an_escalation(word: object, kind: str) -> None:
    draft = only("Notification", {"notification_type": word, "message": "May I?", "title": "T"})

    assert draft.name == "escalation_opened"
    said = {"kind": kind, "channel": "notification", "text": "May I?", "title": "T", "role": None, "waiting": True}
    assert draft.payload.items() >= said.items()


@pytest.mark.parametrize("word", ["idle", "idle_prompt", "IDLE"])
def test_an_idle_notification_says_that_the_agent_waits_for_its_prompt(word: str) -> None:
    draft = only("Notification", {"notification_type": word, "message": "waiting"})

    assert draft.name == "session_state_reported"
    assert draft.payload == {"state": "prompting", "bead_id": None, "note": "waiting"}


@pytest.mark.parametrize("word", ["auth_success", "approval_given", "hitlist", "not_permission", "info"])
def test_any_other_notification_is_kept_and_bothers_nobody(word: str) -> None:
    draft = only("Notification", {"notification_type": word, "message": "m"})

    assert (draft.name, draft.payload) == ("notification_kept", {"notification_type": word, "message": "m"})


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"notification_type": "info", "type": "permission", "kind": "idle"}, "notification_kept"),
        ({"type": "idle", "kind": "permission"}, "session_state_reported"),
        ({"kind": "info"}, "notification_kept"),
        ({"notification_type": "", "type": "info"}, "notification_kept"),
        ({"notification_type": None, "type": "", "kind": "idle"}, "session_state_reported"),
        ({"notification_type": {"x": 1}, "kind": "info"}, "notification_kept"),
    ],
)
def test_a_notification_is_judged_by_notification_type_else_type_else_kind(payload: dict[str, Any], name: str) -> None:
    assert only("Notification", payload).name == name


@pytest.mark.parametrize(
    ("tool_input", "text"),
    [
        ({"command": "rm -r build"}, "Bash: rm -r build"),
        (
            {"description": "Clean", "command": "make clean", "timeout": 5},
            "Bash: make clean\ndescription: Clean\ntimeout: 5",
        ),
        ({"command": "ls\ndescription: harmless"}, "Bash: ls\n    description: harmless"),
        ({"x\ny: 1": "2"}, "Bash\nx y: 1: 2"),
        ({"edits": [{"old": "a"}]}, 'Bash\nedits: [\n      {\n        "old": "a"\n      }\n    ]'),
        ({"command": None}, "Bash\ncommand: null"),
        (None, "Bash"),
        ("raw", "Bash\ninput: raw"),
    ],
)
def test_a_permission_request_says_which_call_it_is_about(tool_input: Any, text: str) -> None:
    request = {"tool_name": "Bash", "tool_input": tool_input}

    assert only("PermissionRequest", request).payload["text"] == text


def test_a_permission_without_words_still_says_what_it_is() -> None:
    assert only("PermissionRequest").payload["text"] == "The agent's client asks for your permission."


# ---- one dialog, one escalation ---------------------------------------------------------------------------------


def test_permission_request_then_notification_is_one_escalation() -> None:
    request = frame("PermissionRequest", BASH)

    told, facts = play(request, frame("Notification", {"type": "permission_prompt"}))

    assert opened(told) == [request.event_id]
    assert told[-1].name == "notification_kept"
    assert told[-1].ref == request.event_id
    assert len(facts.prompts) == 1


def test_notification_then_permission_request_is_one_escalation() -> None:
    notification = frame("Notification", {"type": "permission_prompt"})

    told, _ = play(notification, frame("PermissionRequest", BASH), frame("PostToolUse", BASH))

    assert opened(told) == [notification.event_id]
    assert settled(told) == [notification.event_id]


def test_requests_for_different_calls_are_two_escalations() -> None:
    one, other = frame("PermissionRequest", BASH), frame("PermissionRequest", EDIT)

    told, _ = play(one, other, frame("Notification"), frame("PostToolUse", EDIT))

    assert opened(told) == [one.event_id, other.event_id]
    assert settled(told) == [other.event_id]


def test_a_call_that_is_requested_again_is_a_new_dialog_and_the_old_one_is_settled() -> None:
    """It was refused before: had it been allowed, the tool would have run in between."""
    one, again = frame("PermissionRequest", BASH), frame("PermissionRequest", BASH)

    told, facts = play(one, again)

    assert opened(told) == [one.event_id, again.event_id]
    assert settled(told) == [one.event_id]
    assert [prompt.ref for prompt in facts.prompts] == [again.event_id]


def test_the_order_of_a_calls_arguments_makes_no_other_call() -> None:
    request = frame("PermissionRequest", {"tool_name": "Edit", "tool_input": {"a": 1, "b": 2}})

    told, _ = play(request, frame("PostToolUse", {"tool_input": {"b": 2, "a": 1}, "tool_name": "Edit"}))

    assert settled(told) == [request.event_id]


def test_another_call_that_ran_settles_nothing() -> None:
    told, facts = play(frame("PermissionRequest", BASH), frame("PostToolUse", EDIT))

    assert settled(told) == []
    assert len(facts.prompts) == 1


def test_a_call_that_is_about_to_run_settles_nothing() -> None:
    told, _ = play(frame("PermissionRequest", BASH), frame("PreToolUse", BASH))

    assert settled(told) == []


def test_the_end_of_the_turn_settles_every_dialog() -> None:
    one, other = frame("PermissionRequest", BASH), frame("PermissionRequest", EDIT)

    told, facts = play(one, other, frame("Stop"))

    assert settled(told) == [one.event_id, other.event_id]
    assert facts.prompts == ()
    assert [draft.name for draft in told[2:]] == ["turn_ended", "permission_settled", "permission_settled"]


def test_the_end_of_the_session_leaves_no_dialog() -> None:
    _, facts = play(frame("PermissionRequest", BASH), frame("SessionEnd"))

    assert facts.prompts == ()


@pytest.mark.parametrize("between", [frame("UserPromptSubmit", {"prompt": "no"}), frame("PostToolUse", EDIT)])
def test_a_notification_after_something_else_happened_is_another_dialog(between: Frame) -> None:
    told, _ = play(frame("Notification"), between, frame("Notification"))

    assert len(opened(told)) == 2


def test_a_human_in_the_loop_notification_is_never_taken_for_the_permission_dialog() -> None:
    told, _ = play(frame("PermissionRequest", BASH), frame("Notification", {"type": "hitl"}))

    assert len(opened(told)) == 2


def test_a_dialog_that_an_approval_answers_is_no_escalation_of_its_own_not_even_by_its_notification() -> None:
    told, facts = play(
        frame("GembaPermission", BASH), frame("Notification", {"type": "permission_prompt"}), frame("PostToolUse", BASH)
    )

    assert opened(told) == []
    assert len(settled(told)) == 1
    assert facts.prompts == ()


def test_subagents_and_states_leave_open_dialogs_alone() -> None:
    prompts = (Prompt("a", "call"), Prompt("b", None, fresh=False))
    for hook in set(HOOKS) - {
        "Stop",
        "SessionEnd",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "Notification",
    }:
        if hook not in ("PermissionRequest", "GembaPermission"):
            assert translate(frame(hook), Facts(prompts=prompts)).prompts == prompts


# ---- what a person typed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "by_client"),
    [
        ("use port 2", False),
        ("", False),
        ("<task-notification><id>1</id></task-notification>", True),
        ("look at <task-notification>", False),
    ],
)
def test_a_prompt_of_the_clients_own_is_marked(typed: str, by_client: bool) -> None:
    payload = only("UserPromptSubmit", {"prompt": typed}).payload

    assert (payload["text"], payload["by_client"]) == (typed, by_client)


# ---- limits -----------------------------------------------------------------------------------------------------


def test_a_clients_long_text_is_cut_and_says_so() -> None:
    kept = only("PostToolUse", {"tool_response": "x" * 100_000}).payload["tool_response"]

    assert len(kept) < 17_000
    assert kept.endswith("(cut: 100,000 characters; the session log has them all)")


def test_a_clients_deep_document_is_cut_and_says_so() -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"in": deep}

    assert b"nested too deeply" in msgspec.json.encode(only("PreCompact", deep).payload)


@pytest.mark.parametrize("hook", ["GembaHandoff", "GembaSkillOutput"])
def test_an_agents_own_output_is_kept_whole(hook: str) -> None:
    payload = {"text": "x" * 1_000_000}

    assert only(hook, payload).payload == payload


def test_a_time_that_is_none_is_kept_short() -> None:
    assert len(only("GembaAsk", QUESTION, ts="9" * 1_000_000).payload["asked_at"]) == 64


def test_a_long_agent_type_is_cut() -> None:
    assert only("GembaAsk", QUESTION, agent_type="x" * 10_000).payload["agent_type"].startswith("x" * 256 + "…")


# ---- any frame --------------------------------------------------------------------------------------------------

texts = st.text(st.characters(), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=25,
)
# Words that mean something somewhere, so that drawn payloads reach every branch.
words = st.sampled_from(
    [*wire.ASK_KINDS, *wire.ROLES, *wire.MODES, *wire.STATES, "permission", "idle", "hitl", "e1", "Bash", "yes", ""]
)
_ASKED = [
    "kind",
    "role",
    "text",
    "mode",
    "title",
    "bead_id",
    "options",
    "chose",
    "cwd",
    "commit",
    "branch",
    "wait",
    "wait_until",
]
_ASKED += ["worktree", "schema", "at"]
_TOLD = [
    "state",
    "note",
    "event_id",
    "type",
    "notification_type",
    "message",
    "tool_name",
    "tool_input",
    "prompt",
    "phase",
]
keys = st.sampled_from(_ASKED + _TOLD)
payloads = st.none() | st.dictionaries(keys | texts, words | json_values, max_size=8)


@st.composite
def lines(draw: st.DrawFn, hook: str | None = None) -> bytes:
    """A line as some program could write it: everything but its names is drawn, lone surrogates and NaN included."""
    document = {
        "session_id": draw(st.sampled_from(["s", "a/b", "\u202e"])),
        "hook": hook or draw(st.sampled_from([*HOOKS, "PreCompact", "\x1b[31m"])),
        "event_id": draw(st.sampled_from(["e1", "e2", "x" * 128])),
        "ts": draw(texts | st.just(wire.timestamp())),
        "agent_type": draw(st.none() | texts),
        "payload": draw(payloads),
        "payload_raw": draw(st.none() | texts),
    }
    return json.dumps(document, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


def read(line: bytes) -> Frame:
    found = read_frame(line)
    assert isinstance(found, Frame), found
    return found


facts = st.builds(
    Facts,
    role=st.none() | st.sampled_from(wire.ROLES),
    prompts=st.lists(
        st.builds(Prompt, st.sampled_from(["e1", "e2", "e3"]), st.none() | st.just("call"), st.booleans()), max_size=3
    ).map(tuple),
)


@given(lines(), facts)
def test_any_frame_becomes_events_that_can_be_stored(line: bytes, known: Facts) -> None:
    told = read(line)

    translation = translate(told, known)

    assert translation == translate(told, known)
    assert translation.drafts
    for draft in translation.drafts:
        assert draft.name in NAMES
        assert draft.session_id == told.session_id
        assert draft.ref is not None
        assert wire.valid_event_id(draft.ref)
        stored = msgspec.json.encode(draft.payload)
        assert b"\\u0000" not in stored
        assert msgspec.json.decode(stored) == json.loads(stored) == draft.payload
    assert all(wire.valid_event_id(prompt.ref) for prompt in translation.prompts)


@given(lines("GembaAsk"), facts)
def test_no_frame_gets_past_dangerous_mode_or_lets_a_coach_block(line: bytes, known: Facts) -> None:
    told = read(line)

    for draft in translate(told, known).drafts:
        if draft.name == "escalation_opened":
            payload = told.payload or {}
            assert payload.get("mode") != "dangerous"
            assert (payload["kind"], payload["role"]) != ("blocker", "coach")
            assert known.role in (None, payload["role"])
            assert draft.payload["urgency"] == URGENCY[draft.payload["kind"], draft.payload["mode"]]


@given(payloads, st.sampled_from(wire.KINDS), st.sampled_from(wire.ROLES), facts)
def test_whatever_else_it_says_a_dangerous_ask_is_dropped(
    payload: dict[str, Any] | None, kind: str, role: str, known: Facts
) -> None:
    said = {**(payload or {}), "kind": kind, "role": role, "mode": "dangerous"}

    assert dropped(only("GembaAsk", said, known))


@given(payloads, facts)
def test_whatever_else_it_says_a_coachs_blocker_is_dropped(payload: dict[str, Any] | None, known: Facts) -> None:
    assert dropped(only("GembaAsk", {**(payload or {}), "kind": "blocker", "role": "coach"}, known))


@given(st.lists(lines(), max_size=12))
def test_a_dialog_is_settled_at_most_once(session: list[bytes]) -> None:
    frames = [msgspec.structs.replace(read(line), event_id=f"e{n}") for n, line in enumerate(session)]

    told, known = play(*frames)

    assert len(set(opened(told))) == len(opened(told))
    assert len(set(settled(told))) == len(settled(told))
    asked = set(opened(told)) | {each.event_id for each in frames if each.hook == "GembaPermission"}
    assert set(settled(told)) <= asked
    assert {prompt.ref for prompt in known.prompts} <= asked - set(settled(told))
