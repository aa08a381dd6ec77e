/** Keys of the board: from card to card and from column to column, and what is done to the card that has the focus. */
import { useEffect, useEffectEvent } from "react";
import type { WorkBoard, WorkState } from "../api/types";
import { isCommand } from "../ui/keys";
import { cardIn } from "./columns";
import type { CardDeeds } from "./ItemCard";

interface Shown {
  board: WorkBoard | undefined;
  /** The columns whose cards are in view, from left to right. */
  open: readonly WorkState[];
  focus: (id: string) => void;
  deeds: CardDeeds;
  startNew: () => void;
}

const current = () => document.activeElement?.closest<HTMLElement>(".item-card")?.dataset["itemId"] ?? null;

/** Of the cards that a column shows, the one that stands nearest to the focus. */
function besideFocus(state: WorkState): string | null {
  const at = document.activeElement?.getBoundingClientRect().top ?? 0;
  const cards = [...document.querySelectorAll<HTMLElement>(`.lane[data-state="${state}"] .item-card`)];
  const distance = (card: HTMLElement) => Math.abs(card.getBoundingClientRect().top - at);
  cards.sort((one, other) => distance(one) - distance(other));
  return cards[0]?.dataset["itemId"] ?? null;
}

export function useBoardKeys(shown: Shown): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { board, open, focus, deeds, startNew } = shown;
    if (board === undefined) return false;
    const columns = board.columns.filter(({ state, cards }) => open.includes(state) && cards.length > 0);
    const id = current();
    const card = id === null ? undefined : cardIn(board, id);
    const own = columns.find(({ state }) => state === card?.state);
    const go = (to: string | null | undefined) => (to ? (focus(to), true) : id !== null);

    const inColumn = (step: 1 | -1) => {
      if (own === undefined) return go(columns[0]?.cards[0]?.id);
      return go(own.cards[own.cards.findIndex((one) => one.id === id) + step]?.id);
    };
    const toColumn = (step: 1 | -1) => {
      if (own === undefined) return false;
      const next = columns[columns.indexOf(own) + step];
      return go(next && besideFocus(next.state));
    };
    switch (event.key) {
      case "j":
        return inColumn(1);
      case "k":
        return inColumn(-1);
      case "ArrowDown":
        return id !== null && inColumn(1);
      case "ArrowUp":
        return id !== null && inColumn(-1);
      case "ArrowRight":
        return toColumn(1);
      case "ArrowLeft":
        return toColumn(-1);
      case "c":
        startNew();
        return true;
      case "m":
        if (card) deeds.askWhere(card);
        return card !== undefined;
      case "Enter": {
        const element = document.activeElement;
        if (!element?.matches(".item-card")) return false;
        element.querySelector<HTMLElement>(".item-title a")?.click();
        return true;
      }
      default:
        return false;
    }
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.shiftKey || !isCommand(event) || document.querySelector("dialog[open]")) return;
      if (onKey(event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
