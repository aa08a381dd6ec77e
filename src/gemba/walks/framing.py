"""What the built-in project manager says of an item: a sentence, the source in short, and one to three actions, the
best first. Pure: the same facts give the same words. No model is asked.

For an escalation the actions are replies. Each proposed reply is one that the ask would take; what was answered before
to a like question goes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from gemba.errors import Invalid
from gemba.escalations.answer import judge
from gemba.escalations.escalation import Channel, Escalation, Respond
from gemba.handoff.approvals import Approval
from gemba.text import one_line
from gemba.walks.walk import MOST_ACTIONS, Framing, WalkAction

_LONGEST_SUMMARY = 600
_LONGEST_CHOICE = 120
_AN_HOUR = 3_600

_GO_ON = "Go on with what you think best: the choice that is easiest to undo. Record it as an assumption."
_LEAVE_OUT = "Leave this out for now and go on with the rest of the task; say in your handoff what is missing."
_STOP = "Stop here and hand over what you have, with what is still open."
# What a card's action says beside itself, where it wants words.
_WORDS = {
    "revise": "Mend what was found, and nothing else.",
    "override": "Looked at on a walk and taken on purpose.",
}
# Of a card's actions, what is worth trying before the others.
_FIRST = ("retry", "wait", "fixed", "close")
_NEEDS_A_FIGURE = frozenset({"raise"})
_KINDS = {
    "question": "asks",
    "blocker": "is stopped",
    "permission_prompt": "wants to be allowed something",
    "hitl_approval": "wants to be allowed something",
    "approval": "wants a command approved",
    "needs_input": "needs an answer to go on",
    "blocked": "says that it is blocked",
    "gate_failure": "did not pass its gate",
    "purview_violation": "touches what a persona answers for",
    "budget_warn": "comes close to a budget",
    "budget_stop": "has used a budget up",
    "stalled": "has not moved for a while",
}


class ItemFacts(NamedTuple):
    """A work item as it is framed."""

    id: str
    kind: str
    title: str
    description: str
    state: str
    priority: int
    created_by: str
    version: int
    closed_by: str | None
    close_reason: str | None


class TaskFacts(NamedTuple):
    """A team's task as it is framed."""

    run_id: str
    id: str
    goal: str
    owner: str
    state: str
    reason: str | None
    can: Sequence[str]  # of retry, accept, skip: what its state allows


class SessionFacts(NamedTuple):
    """A session that failed. `agent` and `task` are there where Gemba started it."""

    id: str
    agent_type: str
    lifecycle: str
    reason: str | None
    agent: str | None
    task: str
    title: str


class MemoryFacts(NamedTuple):
    """What an agent suggests to remember."""

    id: str
    slug: str
    type: str
    class_: str
    description: str
    body: str
    rationale: str


# ---- escalations -----------------------------------------------------------------------------------------------------


def frame_escalation(one: Escalation, approvals: Sequence[Approval]) -> Framing:
    who = one.session_id or one.agent_type or "The system"
    waits = " and waits" if one.waiting else ""
    subject = one_line(one.title or one.text, 160)
    sentence = f"{who} {_KINDS.get(one.kind, 'asks')}{waits}: {subject}"
    parts = [one_line(one.text, _LONGEST_SUMMARY)] if one.title else []
    parts += [f"On {one.bead_id}." for _ in (1,) if one.bead_id]
    parts += [_command(each) for each in approvals]
    if one.precedent is not None:
        parts.append(f"Before, to a like question: {one_line(one.precedent.answer.text, 200)} ({one.precedent.why}).")
    if one.stale is not None:
        parts.append("The code moved since it was asked.")
    return Framing(sentence, "\n".join(parts), _replies(one, approvals))


def _command(each: Approval) -> str:
    step = f"{each.position}. " if each.position is not None else ""
    return f"{step}{each.command} (risk {each.risk}{': ' + each.reason if each.reason else ''})"


def _replies(one: Escalation, approvals: Sequence[Approval]) -> list[WalkAction]:
    if one.kind == "approval":
        return [_approve(approvals)] if approvals else [_later(one)]
    path = f"/api/escalations/{quote(one.id, safe='')}/respond"
    made = [WalkAction(label, "POST", path, body) for label, body in _answers(one) if _fits(one, body)]
    return _distinct(made)[:MOST_ACTIONS] or [_later(one)]


def _approve(approvals: Sequence[Approval]) -> WalkAction:
    what = "the command" if len(approvals) == 1 else f"all {len(approvals)} commands"
    path = f"/api/approvals/{quote(approvals[0].id, safe='')}/approve"
    return WalkAction(f"Approve {what}", "POST", path, {"seals": [each.hash for each in approvals]})


def _later(one: Escalation) -> WalkAction:
    """Nothing can be proposed that it would take: it is answered by modify."""
    path = f"/api/escalations/{quote(one.id, safe='')}/snooze"
    return WalkAction("Look at it again in an hour", "POST", path, {"seconds": _AN_HOUR})


def _answers(one: Escalation) -> Iterator[tuple[str, dict[str, Any]]]:
    if one.channel is Channel.SYSTEM:
        yield from _card_actions(one.options)
    elif one.channel is Channel.NOTIFICATION:
        yield "Yes", {"decision": "yes"}
        yield "No", {"decision": "no"}
    elif one.schema is not None:
        if one.precedent is not None:
            yield "As before", {"value": one.precedent.answer.value}
        yield from ((one_line(_shown(value), _LONGEST_CHOICE), {"value": value}) for value in _values(one.schema))
    elif one.options:
        if one.precedent is not None:
            yield one_line(one.precedent.answer.text, _LONGEST_CHOICE), {"text": one.precedent.answer.text}
        for number, option in enumerate(one.options, 1):
            yield one_line(option, _LONGEST_CHOICE), {"option": number}
    else:
        if one.precedent is not None:
            yield one_line(one.precedent.answer.text, _LONGEST_CHOICE), {"text": one.precedent.answer.text}
        for words in (_GO_ON, _LEAVE_OUT, _STOP):
            yield words, {"text": words}


def _card_actions(options: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    known = sorted(options, key=lambda each: _FIRST.index(each) if each in _FIRST else len(_FIRST))
    for action in known:
        if action not in _NEEDS_A_FIGURE:
            words = {"text": _WORDS[action]} if action in _WORDS else {}
            yield action.replace("_", " ").capitalize(), {"action": action, **words}


def _values(schema: dict[str, Any]) -> Iterator[Any]:
    """Values that a schema names: its default, its constants, yes and no."""
    if "default" in schema:
        yield schema["default"]
    if "const" in schema:
        yield schema["const"]
    listed = schema.get("enum")
    if isinstance(listed, list):
        yield from listed
    if schema.get("type") == "boolean":
        yield from (True, False)


def _fits(one: Escalation, body: dict[str, Any]) -> bool:
    try:
        judge(one.channel, one.options, one.schema, Respond(**body))
    except Invalid:
        return False
    return True


def _distinct(actions: Iterable[WalkAction]) -> list[WalkAction]:
    seen: dict[str, WalkAction] = {}
    for each in actions:
        seen.setdefault(each.label.casefold(), each)
    return list(seen.values())


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


# ---- work ------------------------------------------------------------------------------------------------------------


def frame_filed(one: ItemFacts) -> Framing:
    sentence = f"{one.created_by} filed the {one.kind} {one.id}: {one_line(one.title, 160)}"
    return Framing(sentence, _about(one), [_ratify(one), _to_backlog(one), _cancel(one)])


def frame_item(one: ItemFacts) -> Framing:
    sentence = f"The {one.kind} {one.id} is {one.state}: {one_line(one.title, 160)}"
    return Framing(sentence, _about(one), [_ratify(one), _raise(one)] if one.priority else [_ratify(one)])


def frame_closed(one: ItemFacts) -> Framing:
    by = f" by {one.closed_by}" if one.closed_by else ""
    why = f"Closed with: {one_line(one.close_reason, 300)}" if one.close_reason else "No reason was given."
    sentence = f"{one.id} was closed{by} and wants a look back: {one_line(one.title, 160)}"
    noted = WalkAction("Note that the look back is done", "PATCH", _path(one), {"retro": "done"})
    follow = WalkAction(
        "File what follows from it",
        "POST",
        "/api/work-items",
        {
            "item": {"title": f"Follow up on {one.id}: {one_line(one.title, 120)}", "kind": "chore"},
            "relations": [{"kind": "discovered-from", "target": one.id}],
        },
    )
    return Framing(sentence, why, [noted, follow])


def _about(one: ItemFacts) -> str:
    return one_line(one.description, _LONGEST_SUMMARY) if one.description else "It has no description."


def _path(one: ItemFacts) -> str:
    return f"/api/work-items/{quote(one.id, safe='-._~:@+')}"


def _ratify(one: ItemFacts) -> WalkAction:
    return WalkAction("Agree to it", "PATCH", _path(one), {"ratified": True})


def _to_backlog(one: ItemFacts) -> WalkAction:
    return WalkAction("Send it to the backlog", "PATCH", _path(one), {"state": "backlog", "ratified": True})


def _cancel(one: ItemFacts) -> WalkAction:
    return WalkAction("Cancel it", "PATCH", _path(one), {"state": "cancelled", "close_reason": "not agreed to"})


def _raise(one: ItemFacts) -> WalkAction:
    return WalkAction(f"Make it priority {one.priority - 1}", "PATCH", _path(one), {"priority": one.priority - 1})


# ---- the rest --------------------------------------------------------------------------------------------------------


def frame_task(one: TaskFacts) -> Framing:
    sentence = f"The task {one.id} of {one.owner} is {one.state.replace('_', ' ')}: {one_line(one.goal, 160)}"
    path = f"/api/teams/{quote(one.run_id, safe='')}/tasks/{quote(one.id, safe='')}"
    labels = {"retry": "Do it once more", "accept": "Take it as it is", "skip": "Leave it out"}
    actions = [WalkAction(labels[each], "POST", f"{path}/{each}", {}) for each in labels if each in one.can]
    look = WalkAction("Pause the run", "POST", f"/api/teams/{quote(one.run_id, safe='')}/pause", {})
    return Framing(sentence, one_line(one.reason or "No reason is known.", _LONGEST_SUMMARY), actions or [look])


def frame_session(one: SessionFacts) -> Framing:
    why = f": {one_line(one.reason, 200)}" if one.reason else ""
    sentence = f"The session {one.id} of {one.agent_type} {_how(one.lifecycle)}{why}"
    actions = []
    if one.agent is not None and one.task.strip():
        body = {"agent": one.agent, "task": one.task, "title": one_line(one.title, 180)}
        actions.append(WalkAction("Start it once more", "POST", "/api/sessions", body))
    item = {"title": f"Find out why {one.id} {_how(one.lifecycle)}", "kind": "bug", "description": one.reason or ""}
    actions.append(WalkAction("File it as a bug", "POST", "/api/work-items", {"item": item}))
    return Framing(sentence, one_line(one.title or one.task or "Its task is not known.", _LONGEST_SUMMARY), actions)


def _how(lifecycle: str) -> str:
    return "was lost" if lifecycle == "lost" else "failed"


def frame_memory(one: MemoryFacts) -> Framing:
    sentence = f"An agent suggests to remember, as {one.slug}: {one_line(one.description, 160)}"
    parts = [one_line(one.body, _LONGEST_SUMMARY), one_line(one.rationale, 300)]
    path = f"/api/memories/{quote(one.id, safe='')}"
    keep = WalkAction("Remember it", "POST", f"{path}/accept", {})
    always = WalkAction("Remember it, for every turn", "POST", f"{path}/accept", {"class": "anchor"})
    drop = WalkAction("Do not remember it", "POST", f"{path}/reject", {})
    actions = [keep, drop] if one.class_ == "anchor" else [keep, always, drop]
    return Framing(sentence, "\n".join(part for part in parts if part), actions)


def frame_topic(words: str) -> Framing:
    item = {"title": one_line(words, 180), "kind": "task"}
    return Framing(
        f"You wanted to talk about: {one_line(words, 200)}",
        "Say what you think, ask, or file it.",
        [WalkAction("File it as work", "POST", "/api/work-items", {"item": item})],
    )
