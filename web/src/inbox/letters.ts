/**
 * Answers and decisions about cards on their way to the server: what an operator has decided is kept until the server has
 * answered, also when the line is gone or the tab is loaded anew. A card shows its own as not sent yet.
 */
import { approvalsOfQuery } from "../api/approval-queries";
import { explain } from "../api/problem";
import { placeEscalations, refresh } from "../api/queries";
import type { Escalation } from "../api/types";
import * as outbox from "../outbox/outbox";
import { announce } from "../ui/announce";
import { firstLine, plainText } from "../ui/plain-text";
import { offerUndo, sayDone } from "../undo/undo";
import { perform, type Deed, type Done } from "./deeds";
import { writeDraft } from "./drafts";
import { doneWords } from "./said";
import { seenIsTold } from "./useSeen";

interface Content {
  id: string;
  deed: Deed;
}

/** What waits for a connection; the others are about the moment, and are tried again by hand. */
const KEPT: ReadonlySet<Deed["verb"]> = new Set([
  ...(["respond", "dismiss", "snooze", "confirm", "reject", "approve", "edit", "refuse"] as const),
]);

/** What takes a card away, or lets something run, is told where it was done. */
const TOLD: ReadonlySet<Deed["verb"]> = new Set(["approve", "edit", "refuse", "dismiss", "snooze"] as const);

const contentOf = (letter: outbox.Letter): Content => letter.content as Content;

const idsOf = ({ id, deed }: Content): string[] => (deed.verb === "respond" ? deed.ids : [id]);

export type Sent = outbox.Arrived<Done>;

/** Carries a deed out, now or when the line is back. */
export async function send(id: string, deed: Deed, about: string): Promise<Sent> {
  if (!KEPT.has(deed.verb)) {
    await seenIsTold(id);
    const sentAt = Date.now();
    return { answer: await perform(id, deed), sentAt };
  }
  const content: Content = { id, deed };
  const words = `${deed.words}: ${plainText(about)}`;
  return outbox.postAndWait<Done>({ kind: "card", lane: deed.confirmId, words, confirmId: deed.confirmId, content });
}

/** What a card is about, in a line. */
export const aboutOf = ({ title, text }: Pick<Escalation, "title" | "text">): string => title ?? firstLine(text, 80);

export interface Unsent {
  confirmId: string;
  words: string;
  /** It was tried, and the server did not answer. */
  isStuck: boolean;
}

/** What was decided of a card and is not known to the server yet. */
export function useUnsent(id: string): Unsent | null {
  const { letters, stuck } = outbox.useOutbox();
  const letter = letters.find((one) => one.kind === "card" && idsOf(contentOf(one)).includes(id));
  if (letter === undefined) return null;
  const { confirmId } = letter;
  return { confirmId, words: contentOf(letter).deed.words, isStuck: stuck.has(confirmId) };
}

/** How it is sent; see openOutbox. */
export const cardCarrier: outbox.Carrier = {
  send: async (letter) => {
    const { id, deed } = contentOf(letter);
    await seenIsTold(id);
    return perform(id, deed);
  },
  arrived: (letter, answer, sentAt) => {
    const { deed } = contentOf(letter);
    const done = answer as Done;
    for (const one of done.changed) writeDraft(one.id, "");
    tellDone(deed, done, sentAt);
    refreshApprovals(contentOf(letter));
  },
  refused: (letter, error) => {
    if (error.escalation !== null) placeEscalations([error.escalation]);
    refreshApprovals(contentOf(letter));
    const isSettled = error.code === "already_resolved" || error.code === "illegal_move";
    const first = error.escalation?.resolution?.text ?? "";
    const why = isSettled && first !== "" ? `The first answer stands: ${plainText(first)}` : plainText(explain(error));
    return { what: isSettled ? "Answered elsewhere meanwhile, yours came second" : "Not done", why, isSettled };
  },
};

export function tellDone(deed: Deed, done: Done, sentAt: number): void {
  placeEscalations(done.changed);
  announce(deed.words);
  if (deed.verb === "respond") offerUndo(done.changed, done.refused, deed.typed, sentAt);
  else if (TOLD.has(deed.verb)) sayDone(doneWords(deed.words, done.changed, new Date()));
}

/** What was shown may be another plan by now. */
export function refreshApprovals({ id, deed }: Content): void {
  if ("request" in deed) void refresh(approvalsOfQuery(id).queryKey);
}
