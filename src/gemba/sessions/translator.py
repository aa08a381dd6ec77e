"""Frame → events. Pure: what a frame means depends on the frame and on the session's facts alone.

Authority and dangerous mode are judged here a second time, so that a hand-written frame cannot pass what the
commands refuse. Nothing vanishes: what is refused becomes `frame_dropped`, what is not understood `unknown_hook`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from gemba import wire
from gemba.event import Draft
from gemba.sessions.frames import Frame
from gemba.sessions.session import Facts, Prompt, ReportedState
from gemba.text import storable

_LONGEST_PATH = 4096
_LONGEST_TIME = 64
# A client's own JSON is kept verbatim up to these limits; the whole of it stays in the session log.
_LONGEST_STRING = 16_000
# Of one turn; beyond them a client has miscounted.
_MOST_TOKENS = 10**12
_MOST_USD = 10**6
# What a tool call is about, in the inputs of the tools that clients have; the first that is there.
_MAIN_INPUTS = ("command", "file_path", "path", "url", "query", "pattern")
# A prompt that starts so was written by the client itself, not by a person.
_CLIENT_PROMPT = "<task-notification>"


class Translation(NamedTuple):
    """The events of one frame, and the permission dialogs that are open after it."""

    drafts: tuple[Draft, ...]
    prompts: tuple[Prompt, ...]


Translate = Callable[[Frame, dict[str, Any], Facts], Translation]


class Dropped(Exception):
    """A frame that must not take effect; the reason is kept."""


def translate(frame: Frame, facts: Facts) -> Translation:
    payload = frame.payload or {}
    translate_hook = HOOKS.get(frame.hook, _unknown)
    try:
        return translate_hook(frame, payload, facts)
    except Dropped as dropped:
        reason = {"hook": frame.hook, "reason": str(dropped)}
        return Translation((_draft(frame, "frame_dropped", reason),), facts.prompts)


def _ask(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    kind = _one_of(payload, "kind", wire.ASK_KINDS)
    role = _one_of(payload, "role", wire.ROLES)
    if facts.role is not None and role != facts.role:
        raise Dropped(f"the frame says role {role}, the session has role {facts.role}")
    text = _text(payload, "text", wire.MAX_TEXT)
    if not text.strip():
        raise Dropped("text is missing or empty")
    mode = mode_of(payload)
    common = {
        "role": role,
        "text": text,
        "mode": mode,
        "bead_id": _text(payload, "bead_id", wire.MAX_ID) or None,
        "agent_type": agent_type_of(frame),
        "cwd": _text(payload, "cwd", _LONGEST_PATH) or None,
        "commit": _text(payload, "commit", wire.MAX_ID) or None,
        "branch": _text(payload, "branch", wire.MAX_ID) or None,
        "worktree": _text(payload, "worktree", _LONGEST_PATH) or None,
        "asked_at": _time(frame),
    }
    if kind == "assumption":
        chose = _text(payload, "chose", wire.MAX_TEXT)
        if not chose.strip():
            raise Dropped("an assumption must say what was chosen")
        return _only(facts, _draft(frame, "assumption_recorded", {**common, "chose": chose}))
    refusal = wire.refusal(kind, role, mode)
    if refusal is not None:
        raise Dropped(refusal)
    options = _options(payload)
    schema, trouble = _schema(payload, options)
    opened = {
        **common,
        "text": text if trouble is None else without_schema(text, trouble),
        "kind": kind,
        "channel": "tool_call",
        "urgency": wire.urgency_of(kind, mode),
        "title": _text(payload, "title", wire.MAX_TITLE) or None,
        "options": options,
        "schema": schema,
        "waiting": payload.get("wait") is True,
        "waiting_until": _text(payload, "wait_until", _LONGEST_TIME) or None,
    }
    return _only(facts, _draft(frame, "escalation_opened", opened))


def _state(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    reported = {
        "state": _one_of(payload, "state", wire.STATES),
        "bead_id": _text(payload, "bead_id", wire.MAX_ID) or None,
        "note": _text(payload, "note", wire.MAX_NOTE) or None,
    }
    return _only(facts, _draft(frame, "session_state_reported", reported))


def _about_an_ask(name: str) -> Translate:
    def about(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
        target = payload.get("event_id")
        if not isinstance(target, str) or not wire.valid_event_id(target):
            raise Dropped("event_id must name an ask")
        about_it = {"event_id": target, "at": _text(payload, "at", _LONGEST_TIME) or None}
        return _only(facts, Draft(name, about_it, frame.session_id, target))

    return about


def _usage(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    """What a turn took, as far as its client says; it adds to what the session took before."""
    used = {
        "input_tokens": _amount(payload, "input_tokens", _MOST_TOKENS, int),
        "output_tokens": _amount(payload, "output_tokens", _MOST_TOKENS, int),
        "cost_usd": _amount(payload, "cost_usd", _MOST_USD, int | float),
    }
    if set(used.values()) == {None}:
        raise Dropped(f"none of {', '.join(used)} is there")
    about = {"bead_id": facts.bead_id, "at": _time(frame)}
    return _only(facts, _draft(frame, "usage_reported", {**used, **about}))


def _verbatim(name: str, longest: int = _LONGEST_STRING) -> Translate:
    def keep(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
        return _only(facts, _draft(frame, name, _bounded(payload, longest)))

    return keep


def _session_start(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    return _only(facts, _draft(frame, "session_transition", {"to": "running", "cause": _bounded(payload)}))


def _session_end(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    to, reason = ("stopped", "operator_stop") if facts.stopping else ("completed", "provider_exit")
    ended = {"to": to, "close_reason": reason, "cause": _bounded(payload)}
    return Translation((_draft(frame, "session_transition", ended),), ())


def _stop(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    """The turn is over, so no dialog of it can still be open."""
    settled = tuple(_settled(frame, prompt, "the turn ended") for prompt in facts.prompts)
    return Translation((_draft(frame, "turn_ended", _bounded(payload)), *settled), ())


def _tool_use(phase: str) -> Translate:
    def used(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
        draft = _draft(frame, "tool_use", {**_bounded(payload), "phase": phase})
        if phase == "pre":
            return _only(facts, draft)
        call = _call(payload)
        ran = tuple(prompt for prompt in facts.prompts if prompt.call == call)
        settled = tuple(_settled(frame, prompt, "the tool ran") for prompt in ran)
        # Something ran: a dialog told of from now on may be another one than those we know without their call.
        left = tuple(prompt if prompt.call else prompt.aged() for prompt in facts.prompts if prompt not in ran)
        return Translation((draft, *settled), left)

    return used


def _notification(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    """The client's own words for what it wants: `notification_type`, else `type`, else `kind`."""
    words = (_text(payload, key, wire.MAX_ID) for key in ("notification_type", "type", "kind"))
    word = next((word.strip().lower() for word in words if word.strip()), "")
    if word.startswith("elicitation") or word in ("hitl", "approval", "hitl_approval"):
        opened = _client_escalation(frame, payload, facts, "hitl_approval")
        # Never taken for a permission dialog, but gone with its turn as one is.
        prompts = (*facts.prompts, Prompt(frame.event_id, call=None, fresh=False))
        return Translation((_draft(frame, "escalation_opened", opened),), prompts)
    if word.startswith("permission") or not word:
        return _permission(frame, payload, facts, call=None)
    if word.startswith("idle"):
        idle = {"state": ReportedState.PROMPTING.value, "bead_id": None, "note": _message(payload) or None}
        return _only(facts, _draft(frame, "session_state_reported", idle))
    return _only(facts, _draft(frame, "notification_kept", _bounded(payload)))


def _permission_request(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    return _permission(frame, payload, facts, call=_call(payload))


def _permission_asked_here(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    """A dialog that waits for an approval of ours: the operator is asked by that one, and by nothing else."""
    prompts = (*facts.prompts, Prompt(frame.event_id, _call(payload)))
    return Translation((_draft(frame, "notification_kept", _bounded(payload)),), prompts)


def _permission(frame: Frame, payload: dict[str, Any], facts: Facts, call: str | None) -> Translation:
    """A dialog is told of twice, by PermissionRequest and seconds later by Notification: it is one escalation."""
    tool = None if call is None else _text(payload, "tool_name", wire.MAX_ID)
    for prompt in facts.prompts:
        if prompt.fresh and (prompt.call is None or call is None):
            known = Prompt(prompt.ref, prompt.call or call, tool=prompt.tool or tool)
            prompts = tuple(known if other is prompt else other for other in facts.prompts)
            kept = Draft("notification_kept", _bounded(payload), frame.session_id, prompt.ref)
            return Translation((kept,), prompts)
    # PermissionRequest comes once a dialog: for a call that is known already, the dialog before it was closed.
    closed = tuple(prompt for prompt in facts.prompts if call is not None and prompt.call == call)
    settled = tuple(_settled(frame, prompt, "it was asked again") for prompt in closed)
    opened = _draft(frame, "escalation_opened", _client_escalation(frame, payload, facts, "permission_prompt"))
    left = tuple(prompt for prompt in facts.prompts if prompt not in closed)
    return Translation((*settled, opened), (*left, Prompt(frame.event_id, call, tool=tool)))


def _user_message(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    """The correlator decides what the words answered. A dialog told of from now on is another one."""
    text = _text(payload, "prompt", wire.MAX_TEXT)
    message = {"text": text, "by_client": text.startswith(_CLIENT_PROMPT), "asked_at": _time(frame)}
    return Translation((_draft(frame, "user_message", message),), tuple(prompt.aged() for prompt in facts.prompts))


def _unknown(frame: Frame, payload: dict[str, Any], facts: Facts) -> Translation:
    kept = {
        "hook": frame.hook,
        "payload": _bounded(payload),
        "payload_raw": _cut(storable(frame.payload_raw or ""), 1000),
    }
    return _only(facts, _draft(frame, "unknown_hook", kept))


HOOKS: dict[str, Translate] = {
    "GembaAsk": _ask,
    "GembaState": _state,
    "GembaReplyRead": _about_an_ask("reply_read"),
    "GembaWithdraw": _about_an_ask("ask_withdrawn"),
    "GembaSkillOutput": _verbatim("skill_output_emitted", longest=wire.MAX_LINE),
    "GembaHandoff": _verbatim("handoff_received", longest=wire.MAX_LINE),
    "GembaPermission": _permission_asked_here,
    "GembaUsage": _usage,
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "Stop": _stop,
    "SubagentStop": _verbatim("subagent_stopped"),
    "UserPromptSubmit": _user_message,
    "PreToolUse": _tool_use("pre"),
    "PostToolUse": _tool_use("post"),
    "PostToolUseFailure": _tool_use("failed"),
    "Notification": _notification,
    "PermissionRequest": _permission_request,
}


def mode_of(payload: dict[str, Any]) -> str:
    """The mode captured at the ask; an unknown one counts as balanced."""
    mode = payload.get("mode")
    return mode if isinstance(mode, str) and mode in wire.MODES else wire.DEFAULT_MODE


def agent_type_of(frame: Frame) -> str:
    return _cut(storable(frame.agent_type or ""), wire.MAX_ID)


def _client_escalation(frame: Frame, payload: dict[str, Any], facts: Facts, kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "channel": "notification",
        "urgency": wire.urgency_of(kind, facts.mode),
        "role": None,
        "text": _message(payload) or "The agent's client asks for your permission.",
        "mode": facts.mode,
        "title": _text(payload, "title", wire.MAX_TITLE) or None,
        "options": [],
        "schema": None,
        "bead_id": None,
        "agent_type": agent_type_of(frame),
        "cwd": _text(payload, "cwd", _LONGEST_PATH) or None,
        "commit": None,
        "branch": None,
        "worktree": None,
        "waiting": True,
        "asked_at": _time(frame),
    }


def _message(payload: dict[str, Any]) -> str:
    message = _text(payload, "message", wire.MAX_TEXT)
    tool = _text(payload, "tool_name", wire.MAX_ID)
    if message or not tool:
        return message
    return _cut(_in_words(tool, _bounded(payload.get("tool_input"))), wire.MAX_TEXT)


def _in_words(tool: str, given: Any) -> str:
    """A call as a person reads it: what it does on the first line, then every other input by its name.

    Further lines of a value are indented, so that none of them can pass for another input.
    """
    inputs = given if isinstance(given, dict) else {} if given is None else {"input": given}
    main = next((name for name in _MAIN_INPUTS if isinstance(inputs.get(name), str)), None)
    first = tool if main is None else f"{tool}: {_shown(inputs[main])}"
    return "\n".join([first, *(f"{' '.join(name.split())}: {_shown(inputs[name])}" for name in inputs if name != main)])


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return text.replace("\n", "\n    ")


def _call(payload: dict[str, Any]) -> str:
    """Which tool call this is about: a digest of the tool and its input, the same before and after it ran."""
    call = [payload.get("tool_name"), _bounded(payload.get("tool_input"))]
    return hashlib.sha256(msgspec.json.encode(call, order="deterministic")).hexdigest()[:32]


def _settled(frame: Frame, prompt: Prompt, how: str) -> Draft:
    return Draft("permission_settled", {"how": how}, frame.session_id, prompt.ref)


def _draft(frame: Frame, name: str, payload: dict[str, Any]) -> Draft:
    return Draft(name, payload, frame.session_id, frame.event_id)


def _only(facts: Facts, draft: Draft) -> Translation:
    return Translation((draft,), facts.prompts)


def _one_of(payload: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = payload.get(key)
    if not isinstance(value, str) or value not in allowed:
        found = repr(value[:80]) if isinstance(value, str) else "missing" if value is None else "no text"
        raise Dropped(f"{key} is {found}; allowed: {', '.join(allowed)}")
    return value


def _amount(payload: dict[str, Any], key: str, most: int, kind: Any) -> Any:
    """A number that is there and makes sense; None where it is not there."""
    value = payload.get(key)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= most):
        return value
    found = str(value)[:40] if isinstance(value, int | float) else "no number"
    raise Dropped(f"{key} is {found}; allowed: a number from 0 to {most:,}")


def _time(frame: Frame) -> str:
    return storable(frame.ts[:_LONGEST_TIME])


def _text(payload: dict[str, Any], key: str, longest: int) -> str:
    value = payload.get(key)
    return _cut(storable(value), longest) if isinstance(value, str) else ""


def _options(payload: dict[str, Any]) -> list[str]:
    value = payload.get("options")
    if not isinstance(value, list):
        return []
    texts = [_cut(storable(option), wire.MAX_OPTION) for option in value if isinstance(option, str) and option.strip()]
    return texts[: wire.MAX_OPTIONS]


def _schema(payload: dict[str, Any], options: list[str]) -> tuple[dict[str, Any] | None, str | None]:
    """The schema for the answer, or why it is not taken; what it means is not for the translator to say."""
    schema = payload.get("schema")
    if schema is None:
        return None, None
    if not isinstance(schema, dict):
        return None, "it is no JSON object"
    if options:
        return None, "options say already what the answer may be"
    bounded = _bounded(schema, wire.MAX_SCHEMA)
    if bounded != schema:
        return None, "it is nested too deeply, or has text that cannot be kept"
    if len(msgspec.json.encode(schema)) > wire.MAX_SCHEMA:
        return None, f"it is larger than {wire.MAX_SCHEMA:,} bytes"
    return schema, None


def without_schema(text: str, trouble: str) -> str:
    """The words of an ask whose schema is not used: a question is never lost for that, and whoever answers sees it."""
    return f"{text}\n\n(Its schema for the answer could not be used: {trouble}.)"


def kept_text(text: str) -> str:
    """A text of a client's own JSON as its event has it."""
    return _cut(storable(text), _LONGEST_STRING)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… (cut: {len(text):,} characters; the session log has them all)"


def _bounded(value: Any, longest: int = _LONGEST_STRING, depth: int = 0) -> Any:
    if isinstance(value, str):
        return _cut(storable(value), longest)
    if depth >= wire.MAX_DEPTH and isinstance(value, dict | list):
        return "… (cut: nested too deeply)"
    if isinstance(value, dict):
        return {_cut(storable(key), wire.MAX_ID): _bounded(item, longest, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_bounded(item, longest, depth + 1) for item in value]
    return value
