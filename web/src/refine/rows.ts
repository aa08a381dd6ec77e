/** The table of the backlog as rows: their order, what is looked for, and what a persona says about each. Pure. */
import type { BacklogItem, ItemChange, ItemState } from "../api/refine-queries";

/** What matters most first; of the same, what is oldest. */
export function inOrder(items: readonly BacklogItem[]): BacklogItem[] {
  return [...items].sort(
    (one, other) =>
      one.priority - other.priority || one.created_at.localeCompare(other.created_at) || one.id.localeCompare(other.id),
  );
}

/** Every word has to be somewhere in it; an empty state lets all of them pass. */
export function matching(items: readonly BacklogItem[], text: string, state: string): BacklogItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const known = [item.id, item.title, item.kind, item.parent ?? "", ...item.labels].join("\n").toLowerCase();
    return (state === "" || item.state === state) && words.every((word) => known.includes(word));
  });
}

/** Labels as they are typed: between commas, each once. */
export function labelsIn(text: string): string[] {
  return [...new Set(text.split(",").map((label) => label.trim()))].filter(Boolean);
}

export function shortNumber(tokens: number | null): string {
  if (tokens === null) return "";
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000).toLocaleString("en")}k`;
}

// ---- what a persona says ---------------------------------------------------------------------------------------------

export interface Proposal {
  idx: number;
  title: string;
  rationale: string;
  confidence: number;
  /** In words, what would be done. */
  does: string;
}

export interface Finding {
  idx: number;
  text: string;
}

/** What was said about one item. */
export interface Said {
  findings: Finding[];
  proposals: Proposal[];
}

export interface Advice {
  strategy: string;
  summary: string;
  byItem: ReadonlyMap<string, Said>;
  /** About no item, or one that is not shown: findings, and milestones that are missing. */
  rest: Said;
}

/** Lines come from a model: nothing of them is taken for granted. */
export function adviceOf(lines: readonly unknown[], shown: ReadonlySet<string>): Advice {
  const byItem = new Map<string, Said>();
  const rest: Said = { findings: [], proposals: [] };
  let [strategy, summary] = ["", ""];
  const about = (id: string | undefined): Said => {
    if (id === undefined || !shown.has(id)) return rest;
    const said = byItem.get(id) ?? { findings: [], proposals: [] };
    byItem.set(id, said);
    return said;
  };
  for (const [idx, line] of lines.entries()) {
    const { type, reasoning, notes, text: words, refs, title, rationale, confidence, suggested_action: action } = fields(line);
    if (type === "strategy") strategy = text(reasoning);
    else if (type === "summary") summary = text(notes);
    else if (type === "finding") {
      const found = Array.isArray(refs) ? refs.find((ref): ref is string => typeof ref === "string" && shown.has(ref)) : undefined;
      about(found).findings.push({ idx, text: text(words) });
    } else if (type === "proposal") {
      const proposal = {
        idx,
        title: text(title),
        rationale: text(rationale),
        confidence: typeof confidence === "number" ? confidence : 0,
        does: actionIn(action),
      };
      about(itemIn(action)).proposals.push(proposal);
    }
  }
  return { strategy, summary, byItem, rest };
}

const ITEM_PATH = /^\/api\/work-items\/([^/]+)$/;

/** The item that an action would change. */
export function itemIn(action: unknown): string | undefined {
  const path = ITEM_PATH.exec(text(fields(action)["path"]))?.[1];
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** An action in words: what would be different. */
export function actionIn(action: unknown): string {
  const { verb, body } = fields(action);
  if (verb === "POST") {
    const item = fields(fields(body)["item"]);
    return `make the ${text(item["kind"]) || "item"} “${text(item["title"])}”`;
  }
  return Object.entries(fields(body))
    .filter(([name]) => name !== "version")
    .map(([name, value]) => `${name} → ${worded(value)}`)
    .join(", ");
}

function worded(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(worded).join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// ---- a change --------------------------------------------------------------------------------------------------------

/** What a change would make of an item, in words. */
export function changeIn(change: ItemChange): string {
  return Object.entries(change)
    .map(([name, value]) => `${name} → ${worded(value)}`)
    .join(", ");
}

/** Whether a change would change anything. */
export function isNews(item: BacklogItem, change: ItemChange): boolean {
  return Object.entries(change).some(
    ([name, value]) => JSON.stringify(item[name as keyof ItemChange] ?? null) !== JSON.stringify(value ?? null),
  );
}

export const STATES: readonly ItemState[] = [
  ...(["backlog", "unstarted", "staged", "in_progress", "review", "done", "deferred", "cancelled"] as const),
];

export const stateWords = (state: string) => state.replace("_", " ");
