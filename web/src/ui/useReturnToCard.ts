/** Back from what a card opened, the focus is on that card again, as soon as the cards are there. */
import { useEffect } from "react";
import { rememberedCard } from "../app/routes";
import { focusCard } from "./card-focus";

export function useReturnToCard(areThere: boolean): void {
  useEffect(() => {
    const id = areThere ? rememberedCard() : null;
    if (id === null) return;
    const card = document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(id)}"]`);
    if (card) focusCard(card);
  }, [areThere]);
}
