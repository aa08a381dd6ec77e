/** For how many seconds an answer can be taken back before it goes out. The operator's choice, kept by this browser. */
import { useSyncExternalStore } from "react";

const KEY = "gemba.undo-seconds";
const USUAL = 6;
export const CHOICES = [0, 3, 6, 15, 30] as const;

const listeners = new Set<() => void>();

export function holdSeconds(): number {
  const kept = Number(localStorage.getItem(KEY) ?? Number.NaN);
  return CHOICES.some((seconds) => seconds === kept) ? kept : USUAL;
}

function choose(seconds: number): void {
  if (seconds === USUAL) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, String(seconds));
  for (const listener of listeners) listener();
}

export function useHoldSeconds(): [seconds: number, choose: (seconds: number) => void] {
  const seconds = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, holdSeconds);
  return [seconds, choose];
}
