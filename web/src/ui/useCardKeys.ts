/** Keys that move between cards. What they do to a card is the card's own business. */
import { useEffect, useEffectEvent } from "react";
import { announce } from "./announce";
import { currentCard, moveFocus } from "./card-focus";
import { isCommand } from "./keys";

/** Without `goToArrivals` for cards that ask nothing: there is nothing new to go to, and no number answers. */
export function useCardKeys(goToArrivals?: () => void): void {
  const asks = goToArrivals !== undefined;
  const latest = useEffectEvent(() => goToArrivals?.());
  useEffect(() => {
    // Each says whether it did anything; outside the cards the arrows scroll, as everywhere.
    const keys: Record<string, () => boolean> = {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      ArrowDown: () => currentCard() !== null && moveFocus(1),
      ArrowUp: () => currentCard() !== null && moveFocus(-1),
    };
    // With no card chosen a number has nothing to answer: it chooses the first one, and answers when pressed again.
    const choose = () => currentCard() === null && moveFocus(1) && (announce("Press the number again to answer"), true);
    if (asks) {
      keys["n"] = () => (latest(), true);
      for (let digit = 1; digit <= 9; digit++) keys[digit] = choose;
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isCommand(event) || document.querySelector("dialog[open]")) return;
      if (keys[event.key]?.()) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [asks]);
}
