/**
 * Decisions of walks on their way to the server, one after the other in the order in which they were taken. While one is
 * here the page shows it as decided (agenda.ts); once it is, there is a way back where the server knows one.
 */
import { useMemo } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import type { AgendaItem, Decide, Decided } from "../api/types";
import { decide, takeBack } from "../api/walk-deeds";
import { walkQuery } from "../api/walk-queries";
import { writeDraft } from "../inbox/drafts";
import * as outbox from "../outbox/outbox";
import { plainText } from "../ui/plain-text";
import { holdSeconds } from "../undo/hold";
import { offerWayBack } from "../undo/undo";
import { canTakeBack, withDecided, type Sent } from "./agenda";
import { doneOf, problemOf } from "./wording";

interface Content extends Sent {
  walk: string;
  topic: string;
}

export interface Letter extends Content {
  confirmId: string;
}

/** A decision that did not take, and why. */
export type NotTaken = Content & Pick<outbox.NotTaken, "what" | "why" | "isSettled">;

export interface Outbox {
  letters: readonly Letter[];
  notTaken: readonly NotTaken[];
  /** The server does not answer: what is here is sent again and again. */
  isStuck: boolean;
}

export const contentOf = (letter: outbox.Letter): Content => letter.content as Content;

/** What is on its way for one walk. */
export function useOutbox(walk: string): Outbox {
  const { letters, notTaken, stuck } = outbox.useOutbox();
  return useMemo(() => {
    const isOfWalk = (one: outbox.Letter) => one.kind === "walk" && contentOf(one).walk === walk;
    return {
      letters: letters.filter(isOfWalk).map((one) => ({ ...contentOf(one), confirmId: one.confirmId })),
      notTaken: notTaken.filter(isOfWalk).map(({ what, why, isSettled, ...one }) => ({ ...contentOf(one), what, why, isSettled })),
      isStuck: letters.some((one) => isOfWalk(one) && stuck.has(one.confirmId)),
    };
  }, [letters, notTaken, stuck, walk]);
}

/** Where what is typed about an item is kept, until the server has taken it. */
export const draftOf = (item: string): string => `walk item ${item}`;

export function post(walk: string, item: Pick<AgendaItem, "id" | "topic">, body: Decide): void {
  putAway(item.id);
  const content: Content = { walk, item: item.id, topic: item.topic, body };
  outbox.post({ kind: "walk", lane: "walk", words: plainText(item.topic), confirmId: newConfirmId(), content });
}

export function putAway(item: string): void {
  outbox.putAway((one) => one.kind === "walk" && contentOf(one).item === item);
}

/** How a decision is sent; see openOutbox. */
export const walkCarrier: outbox.Carrier = {
  lingers: true,
  send: (letter) => {
    const { walk, item, body } = contentOf(letter);
    return decide(walk, item, body, letter.confirmId);
  },
  arrived: async (letter, answer) => {
    const { walk, item } = contentOf(letter);
    const done = answer as Decided;
    const { queryKey } = walkQuery(walk);
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, (known) => known && withDecided(known, done));
    writeDraft(draftOf(item), "");
    offerBack(walk, done.item);
  },
  refused: (letter, error) => {
    void refresh(walkQuery(contentOf(letter).walk).queryKey);
    const isSettled = error.code === "settled_elsewhere" || error.code === "already_decided";
    return { what: problemOf(error), why: plainText(explain(error)), isSettled };
  },
};

function offerBack(walk: string, item: AgendaItem): void {
  if (item.decision === null || holdSeconds() === 0 || !canTakeBack(item, Date.now())) return;
  const topic = plainText(item.topic);
  offerWayBack(`${doneOf(item.decision).label}: ${topic}`, async () => {
    const { queryKey } = walkQuery(walk);
    try {
      const back = await takeBack(walk, item.id, newConfirmId());
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, back);
    } finally {
      void refresh(queryKey);
    }
    return { words: `Taken back: ${topic}`, refused: [] };
  });
}
