/** A memory as it is being edited, and what of it is different from what was suggested. Pure. */
import type { AcceptMemory, Memory } from "../api/types.ts";
import { CLASSES, TYPES } from "./wording.ts";

export interface Edited {
  slug: string;
  type: string;
  class: string;
  body: string;
  /** Names with commas in between. */
  surfaces: string;
}

export function asEdited({ slug, type, class: kind, body, surfaces }: Memory): Edited {
  return { slug, type, class: kind, body, surfaces: surfaces.join(", ") };
}

/** Only what was changed is sent: a word that nobody knows stays as the agent wrote it. */
export function changesOf(memory: Memory, edited: Edited): AcceptMemory {
  const before = asEdited(memory);
  const type = TYPES.find((one) => one === edited.type);
  const kind = CLASSES.find((one) => one === edited.class);
  return {
    ...(edited.slug.trim() !== before.slug && { slug: edited.slug.trim() }),
    ...(type !== undefined && type !== before.type && { type }),
    ...(kind !== undefined && kind !== before.class && { class: kind }),
    ...(edited.body.trim() !== before.body.trim() && { body: edited.body.trim() }),
    ...(edited.surfaces.trim() !== before.surfaces && { surfaces: namesIn(edited.surfaces) }),
  };
}

function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}
