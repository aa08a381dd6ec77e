/** What a memory is called, and whom it will reach, in an operator's words. */
import type { Memory } from "../api/types.ts";
import { plainText } from "../ui/plain-text.ts";

export const TYPES = ["atom", "decision", "negative"] as const;
export const CLASSES = ["anchor", "thread", "log"] as const;

/** Which later turns are given it: by its class, and a thread by its surfaces. A class that nobody knows is a thread. */
export function reachOf({ class: kind, surfaces }: Pick<Memory, "class" | "surfaces">): string {
  if (kind === "anchor") return "for every turn";
  if (kind === "log") return "for turns that ask for logs";
  if (surfaces.length === 0) return "for turns on no surface";
  return `for turns on ${surfaces.map((one) => plainText(one)).join(", ")}`;
}

/** A bare text is its own description, which is not said twice. */
export function titleOf({ description, body }: Pick<Memory, "description" | "body">): string | null {
  return description === body.split(/\s+/).join(" ").trim() ? null : description;
}
