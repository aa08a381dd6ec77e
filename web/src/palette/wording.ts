/** What the palette calls things. Pure. */
import type { Found } from "../api/types.ts";
import type { OneOfName } from "../app/routes.ts";
import { SKILLS } from "../consults/wording.ts";
import type { IconName } from "../ui/Icon.tsx";
import { firstLine, plainText } from "../ui/plain-text.ts";

export type Noun = Found["kind"];

/** In the order in which they go where all else is equal. */
export const NOUNS: Record<Noun, { label: string; icon: IconName }> = {
  escalation: { label: "Escalation", icon: "question" },
  item: { label: "Item", icon: "layers" },
  session: { label: "Session", icon: "terminal" },
  team: { label: "Team run", icon: "graph" },
  consult: { label: "Consult", icon: "coach" },
  sprint: { label: "Sprint", icon: "burn" },
  persona: { label: "Persona", icon: "people" },
};

/** What has an address of its own and is not found by words, but may be come back to. */
export const OTHERS: Record<Exclude<OneOfName, Noun>, { label: string; icon: IconName }> = {
  handoff: { label: "Handoff", icon: "handover" },
  dispatch: { label: "Dispatch", icon: "brief" },
  walk: { label: "Walk", icon: "steps" },
};

const LONGEST = 120;

export function titleOf({ kind, id, title }: Pick<Found, "kind" | "id" | "title">): string {
  if (kind === "consult") return SKILLS[title] ?? plainText(title);
  return firstLine(title, LONGEST) || plainText(id);
}

/** "done", "in progress": a code in words. */
export const inWords = (code: string) => plainText(code).replaceAll("_", " ");

/** What tells one from another of the same title. */
export function hintOf({ kind, id, state, detail }: Found): string {
  const said = detail === null ? "" : plainText(detail);
  const words = {
    escalation: [`from ${said}`, inWords(state)],
    item: [plainText(id), said, inWords(state)],
    session: [plainText(id), said, inWords(state)],
    team: [plainText(id), said, inWords(state)],
    consult: [`by ${said}`, inWords(state), plainText(id)],
    sprint: [plainText(id), inWords(state)],
    persona: [said, inWords(state)],
  }[kind];
  return words.filter((word) => word !== "").join(" · ");
}
