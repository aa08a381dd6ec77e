/**
 * Moves of cards to other states: what is on its way, what was refused and why, what may be closed now. A move carries
 * the version that was looked at, so that a change that somebody else made meanwhile is shown and never lost.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import type { Offer, WorkItem, WorkState } from "../api/types";
import { changeItem, undoChange } from "../api/work-deeds";
import { readCards, type BoardFilter } from "../api/work-queries";
import { announce } from "../ui/announce";
import { firstLine, plainText } from "../ui/plain-text";
import { offerWayBack } from "../undo/undo";
import { STATES } from "./wording";

/** What a move needs to know of an item. */
export interface Movable {
  id: string;
  title: string;
  state: WorkState;
  version: number;
}

/** A move that was not made. */
export interface Refusal {
  to: WorkState;
  words: string;
  /** Somebody changed the item first: the move may be made all the same, on the item as it is now. */
  isConflict: boolean;
  /** The card in the inbox that lets the move go. */
  escalation: string | null;
}

interface Move {
  card: Movable;
  to: WorkState;
  confirmId: string;
}

export function refusalOf(error: unknown, to: WorkState): Refusal {
  const item = error instanceof Refused ? error.item : null;
  const isConflict = error instanceof Refused && error.code === "version_conflict" && item !== null;
  const words =
    isConflict && item !== null
      ? `${plainText(item.updated_by)} changed it first: it is ${STATES[item.state].toLowerCase()} now, version ${item.version}. Nothing was moved.`
      : `Not moved. ${explain(error)}`;
  return { to, words, isConflict, escalation: error instanceof Refused ? (error.escalations[0] ?? null) : null };
}

const without = <Value>(map: ReadonlyMap<string, Value>, id: string) => new Map([...map].filter(([one]) => one !== id));

/** Says what was moved, and offers the way back for a while; one that was changed since stays as it is. */
export function offerToMoveBack(moved: WorkItem, after: (id: string) => unknown): void {
  const title = firstLine(moved.title, 60);
  offerWayBack(`${title} is ${STATES[moved.state].toLowerCase()}`, async () => {
    const item = await undoChange(moved.id, moved.changes, newConfirmId());
    after(item.id);
    return { words: `${title} is ${STATES[item.state].toLowerCase()} again`, refused: [] };
  });
}

export function useMoves(filter: BoardFilter, onMoved: (id: string) => void) {
  const client = useQueryClient();
  const [busy, setBusy] = useState<ReadonlyMap<string, WorkState>>(new Map());
  const [refusals, setRefusals] = useState<ReadonlyMap<string, Refusal>>(new Map());
  const [offers, setOffers] = useState<readonly Offer[]>([]);
  const { mutate } = useMutation({
    mutationFn: ({ card, to, confirmId }: Move) => changeItem(card.id, { state: to, version: card.version }, confirmId),
    onMutate: ({ card, to }) => {
      setBusy((now) => new Map(now).set(card.id, to));
      setRefusals((now) => without(now, card.id));
    },
    onSuccess: async (item, { card }) => {
      offerToMoveBack(item, (id) => void readCards(client, filter, [id]).then(() => onMoved(id)));
      setOffers((now) => [...now.filter(({ item_id }) => item_id !== item.id), ...(item.offers ?? [])]);
      await readCards(client, filter, [card.id]);
      onMoved(card.id);
    },
    onError: (error, { card, to }) => {
      const refusal = refusalOf(error, to);
      setRefusals((now) => new Map(now).set(card.id, refusal));
      announce(`${firstLine(card.title, 60)}: ${refusal.words}`);
      if (refusal.isConflict) void readCards(client, filter, [card.id]);
    },
    onSettled: (_item, _error, { card }) => setBusy((now) => without(now, card.id)),
  });
  return {
    busy,
    refusals,
    offers,
    move: (card: Movable, to: WorkState) => mutate({ card, to, confirmId: newConfirmId() }),
    putAway: (id: string) => setRefusals((now) => without(now, id)),
    decline: (id: string) => setOffers((now) => now.filter(({ item_id }) => item_id !== id)),
  };
}
