/** An entry of an item's history in words. Pure. */
import type { ItemChange } from "../api/types.ts";
import { firstLine } from "../ui/plain-text.ts";

const LONGEST = 80;
const CAN_BE_UNDONE = ["changed", "related", "unrelated"];
/** What follows from another field, and is told with it. */
const FOLLOWING = new Set(["closed_at", "closed_by", "ratified_by"]);

const NAMES: Record<string, string> = {
  estimated_tokens: "estimate",
  user_order: "place",
  close_reason: "reason",
  ratified_at: "ratified",
};

export function valueIn(value: unknown): string {
  if (value === null || value === undefined || value === "") return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : firstLine(value.map(String).join(", "), LONGEST);
  if (typeof value === "object") return firstLine(JSON.stringify(value), LONGEST);
  return firstLine(String(value).replaceAll("_", " "), LONGEST);
}

interface Sentence {
  source: string;
  kind: string;
  target: string;
}

const sentence = ({ source, kind, target }: Sentence) => `${source} ${kind.replaceAll("-", " ")} ${target}`;

/** What happened, a line each. */
export function linesOf({ kind, before, after }: ItemChange): string[] {
  const relation = (after["relation"] ?? before["relation"]) as Sentence | undefined;
  if (relation !== undefined) return [`${after["relation"] === undefined ? "No longer: " : ""}${sentence(relation)}`];
  const claim = (after["claim"] ?? before["claim"]) as { owner: string } | undefined;
  if (claim !== undefined) return [kind === "claimed" ? `Claimed by ${claim.owner}` : `The claim of ${claim.owner} was given back`];
  if (kind === "created") return ["Made"];
  return Object.keys(after)
    .filter((name) => !FOLLOWING.has(name) && !(name === "close_reason" && valueIn(after[name]) === valueIn(before[name])))
    .map((name) => `${NAMES[name] ?? name}: ${valueIn(before[name])} → ${valueIn(after[name])}`);
}

export function causeOf({ actor, cause, kind }: ItemChange): string {
  const by = kind === "undone" ? `undone by ${actor}` : `by ${actor}`;
  return cause.kind === "person" ? by : `${by}, after ${cause.kind === "import" ? "an" : "a"} ${cause.kind} (${cause.id})`;
}

/** The change that an undo takes back: the last one in effect, where it was made at this item. The newest come first. */
export function lastUndoable(changes: readonly ItemChange[]): ItemChange | undefined {
  const last = changes.find(({ kind, undone }) => CAN_BE_UNDONE.includes(kind) && !undone);
  return last?.of === null ? last : undefined;
}
