/** What a question is about by the place where it is asked. Pure. */
import type { Place } from "../app/routes";

export interface Ref {
  /** What it is, in a word. */
  what: string;
  id: string;
}

/** The one thing whose address is open; null on a screen of many. */
export function refOf(place: Place): Ref | null {
  return "id" in place ? { what: place.name, id: place.id } : null;
}
