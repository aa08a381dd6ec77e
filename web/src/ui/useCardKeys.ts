/** Keys that move between cards. What they do to a card is the card's own business. */
import { useEffect, useEffectEvent } from "react";
import { currentCard, handFocusToFirst, moveFocus } from "./card-focus";
import { isCommand } from "./keys";

interface ForAsks {
  goToArrivals: () => void;
  /** Takes the current card into the selection, and the one that the focus moves to. */
  select: (card: HTMLElement) => void;
  /** A number was pressed with no card chosen: it has chosen this one, and answers when pressed again. */
  arm: (card: HTMLElement, digit: number) => void;
}

const STEPS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1, J: 1, K: -1 };

/** Without `forAsks` for cards that ask nothing: there is nothing new to go to, no number answers, nothing is selected. */
export function useCardKeys(forAsks?: ForAsks): void {
  const asks = forAsks !== undefined;
  const goToArrivals = useEffectEvent(() => forAsks?.goToArrivals());
  const select = useEffectEvent((card: HTMLElement | null) => card && forAsks?.select(card));
  const arm = useEffectEvent((card: HTMLElement, digit: number) => forAsks?.arm(card, digit));
  useEffect(() => {
    // Each says whether it did anything; outside the cards the arrows scroll, as everywhere.
    const keys: Record<string, () => boolean> = {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      ArrowDown: () => currentCard() !== null && moveFocus(1),
      ArrowUp: () => currentCard() !== null && moveFocus(-1),
    };
    const choose = (digit: number) => {
      const card = handFocusToFirst();
      if (card !== null) arm(card, digit);
      return card !== null;
    };
    const extend = (step: 1 | -1) => {
      if (currentCard() === null) return false;
      select(currentCard());
      moveFocus(step);
      select(currentCard());
      return true;
    };
    if (asks) {
      keys["n"] = () => (goToArrivals(), true);
      for (let digit = 1; digit <= 9; digit++) keys[digit] = () => choose(digit);
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isCommand(event) || document.querySelector("dialog[open]")) return;
      const step = asks && event.shiftKey ? STEPS[event.key] : undefined;
      if (step !== undefined ? extend(step) : keys[event.key]?.()) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [asks]);
}
