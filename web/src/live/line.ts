/** The page's one live line: opened once there is something to resume from, closed when the token goes. */
import { useSyncExternalStore } from "react";
import { LiveStream, type Connection } from "./stream";
import type { Message } from "./sse-parser";

/** What the page keeps in its cache; tool calls and prompts are left out because nothing here shows them. */
const NAMES = [
  "approval.requested",
  "approval.decided",
  "approval.reopened",
  "approval.used",
  "approval.ended",
  "audit.begun",
  "escalation_opened",
  "escalation.acknowledged",
  "escalation.snoozed",
  "escalation.reopened",
  "escalation.resolved",
  "escalation.dismissed",
  "escalation.expired",
  "escalation.withdrawn",
  "escalation.reminded",
  "escalation.notified",
  "escalation.proposed",
  "escalation.refused",
  "escalation.sent",
  "escalation.rerouted",
  "escalation.delivered",
  "escalation.undelivered",
  "rule.made",
  "rule.revoked",
  "assumption_recorded",
  "assumption.overturned",
  "assumption.delivered",
  "assumption.undelivered",
  "context.changed",
  "memory.suggested",
  "memory.accepted",
  "memory.rejected",
  "memory.reopened",
  "dispatch.created",
  "dispatch.moved",
  "handoff.checking",
  "handoff.accepted",
  "handoff.refused",
  "session_state_reported",
  "session_transition",
  "turn_ended",
  "session.wanted",
  "session.unwanted",
  "run.ended",
  "usage_reported",
  "worktree.changed",
  "worktree.released",
  "transcript.removed",
  "input.wanted",
  "input.changed",
  "item.created",
  "item.changed",
  "item.claimed",
  "item.released",
  "item.imported",
  "consult.started",
  "consult.lines",
  "consult.applied",
  "consult.unapplied",
  "consult.finished",
  "consult.closed",
  "phase.changed",
  "purview.held",
  "purview.advised",
  "purview.released",
  "sprint.created",
  "sprint.changed",
  "sprint.started",
  "sprint.burnt",
  "sprint.closed",
  "team.planned",
  "team.started",
  "team.changed",
  "team.task_changed",
  "team.finished",
  "team.message",
  "team.learned",
  "team.archived",
  "walk.started",
  "walk.agenda_added",
  "walk.agenda_changed",
  "walk.turn",
  "walk.decided",
  "walk.taken_back",
  "walk.consulted",
  "walk.paused",
  "walk.resumed",
  "walk.ended",
  "frame_dropped",
  "unknown_hook",
];

const listeners = new Set<() => void>();
let connection: Connection = { phase: "connecting" };
let stream: LiveStream | null = null;

function report(next: Connection): void {
  connection = next;
  for (const listener of listeners) listener();
}

/** `after` null: from now on, for when nothing could be read yet. */
export function openLine(after: number | null, onMessage: (message: Message) => void): void {
  if (stream !== null) return;
  stream = new LiveStream(`/api/events?name=${NAMES.join(",")}`, after, { onMessage, onConnection: report });
  stream.start();
}

export function closeLine(next: Connection): void {
  stream?.stop();
  stream = null;
  report(next);
}

export function reconnectNow(): void {
  stream?.reconnectNow();
}

/** The last event told; a list read at an earlier point is already out of date. */
export function lastSeen(): number {
  return stream?.lastSeen ?? 0;
}

export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentConnection(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnectionChange, currentConnection);
}
