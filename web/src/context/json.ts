/** JSON values as the screen shows them: what is one line, what has parts, which parts a change brought and took. Pure. */

export type Part = [name: string, value: unknown];

const LONGEST_LINE = 80;

/** What an object or a list holds, by name or by number; null for what has no parts. */
export function partsOf(value: unknown): Part[] | null {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item]);
  if (value !== null && typeof value === "object") return Object.entries(value);
  return null;
}

/** The value as one line of JSON, or null when it wants more room than that. */
export function asLine(value: unknown): string | null {
  const parts = partsOf(value);
  if (parts === null) return typeof value === "string" ? `"${value}"` : JSON.stringify(value);
  const braces = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return braces.join("");
  if (!Array.isArray(value) || parts.some(([, item]) => partsOf(item) !== null)) return null;
  let line = "";
  for (const [, item] of parts) {
    line += `${line && ", "}${asLine(item) ?? ""}`;
    if (line.length > LONGEST_LINE || line.includes("\n")) return null;
  }
  return `[${line}]`;
}

export function countOf(value: unknown): string {
  const many = partsOf(value)?.length ?? 0;
  if (Array.isArray(value)) return many === 1 ? "1 item" : `${many.toLocaleString("en")} items`;
  return many === 1 ? "1 entry" : `${many.toLocaleString("en")} entries`;
}

interface Change {
  kind: "added" | "merged" | "united" | "overwritten" | "removed";
  before?: unknown;
  after?: unknown;
}

export interface Difference {
  gone?: { value: unknown };
  come?: { value: unknown };
  /** Of a list that grew or shrank at its end, only the items that make the difference are given. */
  ofItems: boolean;
}

/** What a change took away and what it brought. */
export function differenceOf({ kind, before, after }: Change): Difference {
  if (kind === "added") return { come: { value: after }, ofItems: false };
  if (kind === "removed") return { gone: { value: before }, ofItems: false };
  if (Array.isArray(before) && Array.isArray(after)) {
    const same = before.findIndex((item, index) => !isSame(item, after[index]));
    const shared = Math.min(same === -1 ? before.length : same, after.length);
    if (shared === before.length) return { come: { value: after.slice(shared) }, ofItems: true };
    if (shared === after.length) return { gone: { value: before.slice(shared) }, ofItems: true };
  }
  return { gone: { value: before }, come: { value: after }, ofItems: false };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
