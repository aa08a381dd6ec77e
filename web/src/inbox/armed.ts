/**
 * A number that has answered nothing yet: it only chose its card, or would decide for good on a card that nobody chose. Pressed
 * again it answers, and the card says so meanwhile.
 */
import { useSyncExternalStore } from "react";

interface Armed {
  id: string;
  digit: number;
}

let armed: Armed | null = null;
const listeners = new Set<() => void>();

function set(next: Armed | null): void {
  armed = next;
  for (const listener of listeners) listener();
}

export function arm(id: string, digit: number): void {
  set({ id, digit });
}

export function disarm(id: string): void {
  if (armed?.id === id) set(null);
}

/** The number that answers this card when it is pressed again. */
export function useArmed(id: string): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (armed?.id === id ? armed.digit : null),
  );
}
