/** What an operator can do to an escalation, as requests. Each carries a confirm id, so that sending it again does it once. */
import { api, newConfirmId, payload } from "../api/client";
import type { Answer, Escalation, Snooze } from "../api/types";

export type Deed = { confirmId: string; words: string } & (
  | { verb: "respond"; body: Answer }
  | { verb: "dismiss"; body: { text?: string } }
  | { verb: "snooze"; body: Snooze }
  | { verb: "ack" }
  | { verb: "reopen" }
);

/** `words` say what is being done, for the card and for screen readers. */
export const deeds = {
  respond: (body: Answer, words: string): Deed => ({ verb: "respond", body, words, confirmId: newConfirmId() }),
  dismiss: (reason: string): Deed => ({
    verb: "dismiss",
    body: reason.trim() === "" ? {} : { text: reason.trim() },
    words: "Dismissed",
    confirmId: newConfirmId(),
  }),
  snooze: (body: Snooze, words: string): Deed => ({ verb: "snooze", body, words, confirmId: newConfirmId() }),
  ack: (): Deed => ({ verb: "ack", words: "Seen", confirmId: newConfirmId() }),
  reopen: (): Deed => ({ verb: "reopen", words: "Opened again", confirmId: newConfirmId() }),
};

export async function perform(id: string, deed: Deed): Promise<Escalation> {
  const params = { path: { id }, header: { "X-GEMBA-Confirm": deed.confirmId } };
  switch (deed.verb) {
    case "respond":
      return payload(await api.POST("/api/escalations/{id}/respond", { params, body: deed.body }));
    case "dismiss":
      return payload(await api.POST("/api/escalations/{id}/dismiss", { params, body: deed.body }));
    case "snooze":
      return payload(await api.POST("/api/escalations/{id}/snooze", { params, body: deed.body }));
    case "ack":
      return payload(await api.POST("/api/escalations/{id}/ack", { params, body: {} }));
    case "reopen":
      return payload(await api.POST("/api/escalations/{id}/reopen", { params, body: {} }));
  }
}
