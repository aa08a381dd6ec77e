"""What an event is: something that happened, with a name, a payload and whom it concerns. Types and names only.

`ref` is the id of the escalation, assumption or rule that an event is about; of an event about none, its frame's id.
"""

from __future__ import annotations

from typing import Any

import msgspec

# Every event there is, and what it tells. First what frames said, then what became of it: `<noun>.<past>`.
NAMES = {
    "escalation_opened": "an agent, or its client, wants something from the operator",
    "assumption_recorded": "an agent took a decision alone",
    "session_state_reported": "an agent said what it is doing",
    "session_transition": "a session began, or is over",
    "turn_ended": "the agent finished its turn and waits for its next prompt",
    "subagent_stopped": "an agent's own subagent finished",
    "user_message": "somebody typed at the agent's own prompt",
    "tool_use": "the agent is about to use a tool (phase pre), has used it (post), or has used it in vain (failed)",
    "notification_kept": "the client notified of something that needs nobody, or of a dialog that is known already",
    "permission_settled": "a permission dialog of the client is closed",
    "reply_read": "the agent has read its reply",
    "ask_withdrawn": "the agent took its ask back",
    "skill_output_emitted": "a skill gave its output",
    "handoff_received": "an agent's turn ended in an envelope",
    "usage_reported": "a turn took this many tokens, and cost this much, as far as its client says",
    "unknown_hook": "a frame that Gemba does not know; it is kept",
    "frame_dropped": "a frame that was refused, or lines that are no frames, and why",
    "escalation.acknowledged": "the operator has seen it",
    "escalation.snoozed": "the operator wants to see it later",
    "escalation.reopened": "it waits again: its snooze is over, or an answer was taken back",
    "escalation.resolved": "it is answered",
    "escalation.dismissed": "the operator declined to answer",
    "escalation.expired": "its time ran out",
    "escalation.withdrawn": "nobody wants the answer any more",
    "escalation.reminded": "nobody has looked at it yet, and its policy reminds",
    "escalation.notified": "somebody was notified of it, or could not be",
    "escalation.proposed": "an answer waits to be verified",
    "escalation.refused": "a proposed answer did not pass, and why",
    "escalation.sent": "the reply is laid down for the asker: after it was held back, or once more",
    "escalation.rerouted": "a reply that did not arrive is sent another way",
    "escalation.delivered": "the asker has the reply",
    "escalation.undelivered": "the reply has not reached the asker, and why",
    "assumption.overturned": "the operator decided otherwise",
    "assumption.sent": "the other decision is laid down once more for the agent",
    "assumption.delivered": "the agent has read that it was overturned",
    "assumption.undelivered": "the agent could not be told that it was overturned, and why",
    "session.wanted": "somebody wants an agent started",
    "session.unwanted": "somebody wants a session stopped",
    "run.ended": "an agent that Gemba started runs no more, whether or not its client said so before",
    "worktree.changed": "what is only in a session's worktree is not what it was when it was looked at before",
    "worktree.released": "the worktree of a session that is over is gone, and what stays of it",
    "transcript.removed": "what an agent printed is gone: it was over for as long as that is kept",
    "input.wanted": "somebody wants something typed to an agent, or wants it interrupted",
    "input.changed": "what was to be typed is typed, is read by the agent's client, or was not typed, and why",
    "dialog.left": "the key for an answer was not pressed, or did nothing: the dialog is decided in the agent's window",
    "rule.made": "the operator said how every ask of one wording is answered from now on",
    "rule.revoked": "the operator took a rule back",
    "approval.requested": "an agent wants to run a command that somebody has to approve first",
    "approval.decided": "a request for approval is approved, edited, refused, expired or withdrawn",
    "approval.reopened": "an approval that was not used was taken back: the request waits again",
    "approval.used": "a grant is consumed: the command that it was given for may run, once",
    "approval.ended": "how a command ended that was approved, as far as its client said",
    "audit.begun": "the operator began a new audit log, since the one before was gone or was changed",
    "dispatch.created": "work was given to an agent, with an envelope of its own",
    "dispatch.moved": "a dispatch has another plan status, or its next turn",
    "handoff.checking": "an envelope says COMPLETE, and what it claims is compared with the world",
    "handoff.accepted": "an envelope was accepted: its dispatch has moved, and what it brought is applied",
    "handoff.refused": "an envelope was refused, and by what; nothing was changed by it",
    "context.changed": "a section of project knowledge has a new revision",
    "memory.suggested": "an agent wants something remembered; a person decides",
    "memory.accepted": "something is remembered from now on, as it was suggested or edited",
    "memory.rejected": "something is not remembered, and not offered again",
    "memory.reopened": "a decision about a memory was taken back: it waits again",
    "item.created": "there is a new work item",
    "item.changed": "a work item, or what it is to others, is not what it was; and what became ready by that",
    "item.claimed": "a work item is somebody's for a while, or for a while longer",
    "item.released": "a claim was given back",
    "item.imported": "work items came from elsewhere, many at once",
    "sprint.created": "a sprint is planned",
    "sprint.changed": "a sprint has other items, another budget, other thresholds or words",
    "sprint.started": "a sprint runs: what turns take is counted against its budget",
    "sprint.burnt": "a sprint has passed a threshold of its budget: inform, warn or stop",
    "sprint.closed": "a sprint is over",
    "settings.changed": "somebody has saved a file of the workspace's settings",
    "phase.changed": "the project is in another phase",
    "purview.held": "a purview asks about a change of work; a blocking one holds it until somebody answers",
    "purview.advised": "a change of work was made that an advisory purview is concerned with, and why",
    "walk.started": "an operator began to go through everything that waits",
    "walk.agenda_added": "something came onto the agenda of a walk",
    "walk.agenda_changed": "an item of a walk's agenda was moved, taken off, or settled elsewhere",
    "walk.turn": "the operator said something on a walk, or went to another item",
    "walk.decided": "the operator decided an item of a walk",
    "walk.taken_back": "a decision on an item of a walk was taken back: it is on the table again",
    "walk.consulted": "a persona was asked on a walk",
    "walk.paused": "a walk rests",
    "walk.resumed": "a walk goes on",
    "walk.ended": "a walk is over, and what came of it",
    "consult.started": "a persona is asked for advice, or its prompt was made and nothing else",
    "consult.lines": "lines of a consult came: those that were taken, and how many were not",
    "consult.applied": "somebody applied a line of a consult, or recorded that they did",
    "consult.unapplied": "somebody took an applied line of a consult back; its change is undone",
    "consult.finished": "a consult is over: completed, failed, timed_out or cancelled; what it took",
    "consult.settled": "what a consult took was told after its end",
    "consult.closed": "nothing of a consult can be applied any more",
    "authority.used": "a manager persona applied a line of its own consult, and by which rule",
    "authority.refused": "a manager persona may not apply a line of its own consult, and why; a person may",
    "authority.revoked": "a person took the authority of a manager persona back",
    "authority.restored": "a person gave the authority of a manager persona again",
    "auto.switched": "somebody switched auto-dispatch on or off, for the workspace or for a type of agent",
    "auto.claimed": "auto-dispatch has chosen a work item for a session and claimed it, and why",
    "auto.started": "auto-dispatch has given a work item to an agent, and why it and why to that one",
    "auto.refused": "what auto-dispatch had chosen could not be started, and why; the item is free again",
    "auto.ended": "what auto-dispatch had started is over: done, failed or left to others",
    "auto.asked": "nothing was ready, so auto-dispatch asked the project manager, or could not, and why",
    "team.planned": "a team run is planned, and waits for somebody to start it",
    "team.started": "a team run begins: what can begin of it does",
    "team.changed": "a team run is paused, goes on, or is over; or somebody said something to it",
    "team.task_changed": "a task of a team run is in another state, or was added, and why",
    "team.reviewed": "somebody who was asked to review a task's work has, or cannot",
    "team.finished": "a team run is over: completed, with or without warnings, failed or cancelled",
    "team.message": "messages were posted on the bus of a team run: their numbers, from whom, to whom",
    "team.learned": "a task of a team, or a person, left knowledge for the others, and how much of each kind",
    "team.archived": "a team run is archived: its folder gets a manifest, and is removed where that was asked for",
    "purview.released": "somebody said that what a purview asked about is fixed, or overrode it with a justification",
}


class Draft(msgspec.Struct, frozen=True):
    """An event before it has a place in the log."""

    name: str
    payload: dict[str, Any]
    session_id: str | None = None
    ref: str | None = None


class Event(msgspec.Struct, frozen=True):
    """An event as it is stored and as it goes over the wire."""

    id: int
    at: str
    name: str
    session_id: str | None
    ref: str | None
    payload: msgspec.Raw


class Filter(msgspec.Struct, frozen=True):
    """Which events a reader wants; an empty part wants all."""

    names: frozenset[str] = frozenset()
    session_id: str | None = None
    ref: str | None = None

    def wants(self, event: Event) -> bool:
        return (
            (not self.names or event.name in self.names)
            and (self.session_id is None or event.session_id == self.session_id)
            and (self.ref is None or event.ref == self.ref)
        )


ALL = Filter()
