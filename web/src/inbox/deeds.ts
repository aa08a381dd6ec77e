/** What an operator can do to an escalation, as requests. Each carries a confirm id, so that sending it again does it once. */
import { api, newConfirmId, payload } from "../api/client";
import { readEscalation } from "../api/queries";
import type { Answer, Approval, Escalation, Refusal, Reroute, Snooze } from "../api/types";
import { firstLine } from "../ui/plain-text";
import { holdSeconds } from "../undo/hold";

export type Deed = { confirmId: string; words: string } & (
  | { verb: "respond"; body: Answer; ids: string[]; typed: string }
  | { verb: "dismiss"; body: { text?: string } }
  | { verb: "snooze"; body: Snooze }
  | { verb: "ack" }
  | { verb: "reopen" }
  | { verb: "confirm" }
  | { verb: "reject"; body: { text: string } }
  | { verb: "reroute"; body: Reroute }
  | { verb: "approve"; request: string; body: { seals: string[] } }
  | { verb: "edit"; request: string; position: number | null; body: { command: string } }
  | { verb: "refuse"; request: string; body: { reason: string } }
);

/** What became of it: those that it was done to, as they are now, and those for which it could not be done. */
export interface Done {
  changed: Escalation[];
  refused: Refusal[];
}

/** `words` say what is being done, for the card and for screen readers. */
export const deeds = {
  /** One answer for one or several; held back for a moment in which it can be taken back. */
  respond: (answered: Escalation[], body: Answer, words: string, typed = ""): Deed => ({
    verb: "respond",
    body: { ...body, ...holdFor(answered) },
    ids: answered.map(({ id }) => id),
    typed,
    words,
    confirmId: newConfirmId(),
  }),
  dismiss: (reason: string): Deed => ({
    verb: "dismiss",
    body: reason.trim() === "" ? {} : { text: reason.trim() },
    words: "Dismissed",
    confirmId: newConfirmId(),
  }),
  snooze: (body: Snooze, words: string): Deed => ({ verb: "snooze", body, words, confirmId: newConfirmId() }),
  ack: (): Deed => ({ verb: "ack", words: "Seen", confirmId: newConfirmId() }),
  reopen: (): Deed => ({ verb: "reopen", words: "Opened again", confirmId: newConfirmId() }),
  confirm: (): Deed => ({ verb: "confirm", words: "Confirmed", confirmId: newConfirmId() }),
  reject: (why: string): Deed => ({
    verb: "reject",
    body: { text: why.trim() },
    words: "Refused",
    confirmId: newConfirmId(),
  }),
  reroute: (body: Reroute, words: string): Deed => ({ verb: "reroute", body, words, confirmId: newConfirmId() }),
  /** Of a command or a whole plan, by the seals that were on screen. It takes effect at once. */
  approve: (steps: Approval[]): Deed => ({
    verb: "approve",
    request: steps[0]?.id ?? "",
    body: { seals: steps.map(({ hash }) => hash) },
    words: `${steps.length > 1 ? `Approved all ${steps.length}` : "Approved"}: ${commandsOf(steps)}`,
    confirmId: newConfirmId(),
  }),
  edit: (step: Approval, command: string): Deed => ({
    verb: "edit",
    request: step.id,
    position: step.position,
    body: { command },
    words: `${step.set_id === null ? "Approved as edited" : `Step ${step.position} edited`}: ${firstLine(command, 80)}`,
    confirmId: newConfirmId(),
  }),
  refuse: (steps: Approval[], reason: string): Deed => ({
    verb: "refuse",
    request: steps[0]?.id ?? "",
    body: { reason: reason.trim() },
    words: `Refused: ${commandsOf(steps)}`,
    confirmId: newConfirmId(),
  }),
};

function commandsOf(steps: Approval[]): string {
  return firstLine(steps.map(({ command }) => firstLine(command, 80)).join("; "), 120);
}

/** What decides, as far as it is up to this operator: a policy may want more before it is so. */
export const decides = ({ verb }: Deed) => ["respond", "approve", "edit", "refuse"].includes(verb);

/** Nothing but an answer to a command of ours is held back for a moment: the others go at once, for good. */
export const goesAtOnce = ({ channel }: Pick<Escalation, "channel">) => channel !== "tool_call";

/** An answer that comes late cannot be taken back, and one into a client's own window never could be. */
function holdFor(answered: Escalation[]): { hold?: number } {
  const undoable = answered.every((one) => !goesAtOnce(one) && one.resolution === null);
  return undoable && holdSeconds() > 0 ? { hold: holdSeconds() } : {};
}

export async function perform(id: string, deed: Deed): Promise<Done> {
  const header = { "X-GEMBA-Confirm": deed.confirmId };
  if (deed.verb === "respond" && deed.ids.length > 1) {
    const body = { ...deed.body, ids: deed.ids };
    const done = payload(await api.POST("/api/escalations/respond", { params: { header }, body }));
    return { changed: done.answered, refused: done.refused };
  }
  return { changed: [await performOne(id, deed, { path: { id }, header })], refused: [] };
}

type Params = { path: { id: string }; header: { "X-GEMBA-Confirm": string } };

async function performOne(id: string, deed: Deed, params: Params): Promise<Escalation> {
  switch (deed.verb) {
    case "respond": {
      const one = { ...params, path: { id: deed.ids[0] ?? id } };
      return payload(await api.POST("/api/escalations/{id}/respond", { params: one, body: deed.body }));
    }
    case "dismiss":
      return payload(await api.POST("/api/escalations/{id}/dismiss", { params, body: deed.body }));
    case "snooze":
      return payload(await api.POST("/api/escalations/{id}/snooze", { params, body: deed.body }));
    case "ack":
      return payload(await api.POST("/api/escalations/{id}/ack", { params, body: {} }));
    case "reopen":
      return payload(await api.POST("/api/escalations/{id}/reopen", { params, body: {} }));
    case "confirm":
      return payload(await api.POST("/api/escalations/{id}/confirm", { params, body: {} }));
    case "reject":
      return payload(await api.POST("/api/escalations/{id}/reject", { params, body: deed.body }));
    case "reroute":
      return payload(await api.POST("/api/escalations/{id}/reroute", { params, body: deed.body }));
    case "approve": {
      const one = { ...params, path: { id: deed.request } };
      await api.POST("/api/approvals/{id}/approve", { params: one, body: deed.body });
      return readEscalation(id);
    }
    case "edit": {
      const one = { ...params, path: { id: deed.request } };
      await api.POST("/api/approvals/{id}/edit", { params: one, body: deed.body });
      return readEscalation(id);
    }
    case "refuse": {
      const one = { ...params, path: { id: deed.request } };
      await api.POST("/api/approvals/{id}/refuse", { params: one, body: deed.body });
      return readEscalation(id);
    }
  }
}
