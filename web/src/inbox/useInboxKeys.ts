/** Keys that move between cards. What they do to a card is the card's own business. */
import { useEffect, useEffectEvent } from "react";
import { isCommand } from "../ui/keys";
import { moveFocus } from "./focus";

export function useInboxKeys(goToArrivals: () => void): void {
  const latest = useEffectEvent(goToArrivals);
  useEffect(() => {
    const keys: Record<string, () => void> = {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      ArrowDown: () => moveFocus(1),
      ArrowUp: () => moveFocus(-1),
      n: () => latest(),
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isCommand(event) || document.querySelector("dialog[open]")) return;
      const run = keys[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
