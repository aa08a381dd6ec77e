/** Commands in the making, as a card keeps them in its draft until one is sent: by their place in the plan. Pure. */
import { parsed } from "../answer/schema.ts";
import type { Approval } from "../api/types";

/** By place and not by request: a step that somebody else edits meanwhile is a new request in the same place. */
export type Edits = Readonly<Record<string, string>>;

type Placed = Pick<Approval, "position">;

/** The only place there is, where one command is asked about by itself. */
const ALONE = "0";

export function placeOf({ position }: Placed): string {
  return position === null ? ALONE : String(position);
}

export function editsIn(draft: string): Edits {
  const kept = parsed(draft);
  return typeof kept === "object" && kept !== null ? (kept as Edits) : {};
}

/** Whether it says a command, and another one than is asked about. */
export function isAnother(text: string | undefined, step: Pick<Approval, "command">): text is string {
  return text !== undefined && text.trim() !== "" && text !== step.command;
}

/** Empty when every step is left as it is asked about. */
export function draftOf(edits: Edits, steps: readonly (Placed & Pick<Approval, "command">)[]): string {
  return written(
    steps.flatMap((step) => {
      const text = edits[placeOf(step)];
      return isAnother(text, step) ? [[placeOf(step), text]] : [];
    }),
  );
}

/** What is left of a draft once the edit of this step was sent. */
export function withoutEdit(draft: string, sent: Placed): string {
  return written(Object.entries(editsIn(draft)).filter(([place]) => place !== placeOf(sent)));
}

/** What was typed and did not go out, with the words for what it is. */
export function unsentIn(draft: string): { what: string; text: string }[] {
  return Object.entries(editsIn(draft)).map(([place, text]) => ({
    what: place === ALONE ? "edit" : `edit of step ${place}`,
    text,
  }));
}

function written(edits: [place: string, text: string][]): string {
  return edits.length === 0 ? "" : JSON.stringify(Object.fromEntries(edits));
}
