/** What the board calls things, and what a card says of itself. Pure. */
import type { WorkCard, WorkKind, WorkState } from "../api/types.ts";
import { firstLine, plainText } from "../ui/plain-text.ts";

export const STATES = {
  backlog: "Backlog",
  unstarted: "Unstarted",
  staged: "Staged",
  in_progress: "In progress",
  review: "Review",
  done: "Done",
  deferred: "Deferred",
  cancelled: "Cancelled",
} as const satisfies Record<WorkState, string>;

/** In the order in which work goes through them. */
export const STATE_NAMES = Object.keys(STATES) as WorkState[];

export const KINDS = {
  milestone: "Milestone",
  epic: "Epic",
  task: "Task",
  bug: "Bug",
  feature: "Feature",
  chore: "Chore",
  decision: "Decision",
} as const satisfies Record<WorkKind, string>;

export const KIND_NAMES = Object.keys(KINDS) as WorkKind[];

export const PRIORITIES = ["P0", "P1", "P2", "P3", "P4"] as const;

export const isState = (text: string): text is WorkState => Object.hasOwn(STATES, text);
export const isKind = (text: string): text is WorkKind => Object.hasOwn(KINDS, text);

type Names = Readonly<Record<string, string>>;

/** An item that a card names, by its title where that is known. */
export function named(id: string, names: Names): string {
  const title = names[id];
  return title === undefined ? id : `${id} (${firstLine(title, 60)})`;
}

export interface Standing {
  tone: "good" | "warn" | "plain";
  /** For the room that a card has. */
  short: string;
  /** All of it. */
  long: string;
}

/** Whether an open item can be begun, and if not, what is in its way. Nothing for what says so by its column alone. */
export function standingOf(card: WorkCard, names: Names): Standing | null {
  const [first] = card.blocked_by;
  if (first !== undefined) {
    const rest = card.blockers - 1;
    const more = rest > 0 ? ` +${rest}` : "";
    const others = card.blockers - card.blocked_by.length;
    const all = card.blocked_by.map((id) => named(id, names)).join(", ");
    return {
      tone: "warn",
      short: `Blocked by ${first}${more}`,
      long: `Blocked by ${all}${others > 0 ? ` and ${others} more` : ""}`,
    };
  }
  const [above] = card.held_by;
  if (above !== undefined)
    return {
      tone: "warn",
      short: `Blocked with ${above}`,
      long: `Blocked, because it is part of ${card.held_by.map((id) => named(id, names)).join(", ")}`,
    };
  if (card.claim !== null) {
    const words = `Claimed by ${plainText(card.claim.owner)}`;
    return { tone: "plain", short: words, long: words };
  }
  return card.ready ? { tone: "good", short: "Ready", long: "Ready: nothing is in its way" } : null;
}

/** "Done cannot become review." */
export function notPossible(from: WorkState, to: WorkState): string {
  return from === to ? `It is there already` : `Not from ${STATES[from].toLowerCase()}`;
}
