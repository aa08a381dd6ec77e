/** Back from what a card opened, the focus is on that card again: one remembered id, for one way there and back. */
import { useEffect } from "react";
import { focusCard } from "./card-focus";

let opened: string | null = null;

/** Before the card's own screen is opened. */
export function rememberCard(id: string): void {
  opened = id;
}

/** On the screen with the cards, as soon as they are there. */
export function useReturnToCard(areThere: boolean): void {
  useEffect(() => {
    if (!areThere || opened === null) return;
    const card = document.querySelector<HTMLElement>(`.card[data-card-id="${CSS.escape(opened)}"]`);
    opened = null;
    if (card) focusCard(card);
  }, [areThere]);
}
