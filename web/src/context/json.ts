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

/** What an item of a list is called, beside its number: its id or else its name. */
export function titleOf(value: unknown): string | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const { id, name } = value as Record<string, unknown>;
  const title = typeof id === "string" ? id : name;
  return typeof title === "string" && title.trim() !== "" ? title : null;
}

interface Change {
  pointer: string;
  kind: "added" | "merged" | "united" | "overwritten" | "removed";
  before?: unknown;
  after?: unknown;
  shortened?: boolean;
}

/** What is gone and what has come, each as the values to be shown; neither where they are too long to be listed. */
export interface Difference {
  gone: unknown[];
  come: unknown[];
  /** They are items of a list, whose other items are as they were. */
  ofItems: boolean;
}

export function differenceOf(change: Change, all: Change[] = [change]): Difference {
  const { kind, before, after } = change;
  if (change.shortened && before === undefined && after === undefined) return { gone: [], come: [], ofItems: false };
  if (kind === "united" && Array.isArray(before) && Array.isArray(after)) {
    // Of items that were merged a change of their own tells, with how they were and how they are.
    const told = all.filter((one) => isItemOf(one.pointer, change.pointer)).flatMap((one) => [one.before, one.after]);
    const items = { gone: without(before, [...after, ...told]), come: without(after, [...before, ...told]) };
    if (items.gone.length + items.come.length + told.length > 0) return { ...items, ofItems: true };
  }
  return { gone: kind === "added" ? [] : [before], come: kind === "removed" ? [] : [after], ofItems: false };
}

function isItemOf(pointer: string, list: string): boolean {
  return pointer.startsWith(`${list}/`) && !pointer.includes("/", list.length + 1);
}

/** The items of one list that the other has not. */
function without(items: unknown[], others: unknown[]): unknown[] {
  const known = new Set(others.map((item) => JSON.stringify(item)));
  return items.filter((item) => !known.has(JSON.stringify(item)));
}
