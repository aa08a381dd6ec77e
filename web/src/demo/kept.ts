/** What of the guide this tab remembers: that it was put away, and what was done. Another demo begins anew. */
import type { StepName } from "./steps";

const KEY = "gemba.guide";

export interface Kept {
  /** When the demo's server was started. */
  of: string;
  isClosed: boolean;
  done: StepName[];
}

export function readKept(of: string): Kept {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
    if (kept?.of === of) return kept;
  } catch {
    // Not ours, or of another version.
  }
  return { of, isClosed: false, done: [] };
}

export function keep(kept: Kept): void {
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}
