/** Says something to screen readers, politely, through the one live region that the frame renders. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let words = "";

export function announce(next: string): void {
  // The same sentence twice is not read again unless it differs: a no-break space makes it differ.
  words = next === words ? `${next}\u00a0` : next;
  for (const listener of listeners) listener();
}

export function useAnnouncement(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => words,
  );
}
