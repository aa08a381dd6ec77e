/**
 * The places where one was last, newest first, kept in this browser for each workspace. What is kept is an address and
 * a title.
 */
import type { OneOfName, Place, RouteName, WithinName } from "../app/routes.ts";

export type Recent =
  | { what: RouteName | WithinName; id: null; title: string }
  | { what: OneOfName; id: string; title: string };

const MOST = 8;
const LONGEST_TITLE = 200;

const isSame = (one: Recent, other: Recent) => one.what === other.what && one.id === other.id;

/** With this place at the top, once. A title that says no more than the id does not replace one that does. */
export function withPlace(before: readonly Recent[], place: Recent): Recent[] {
  const known = before.find((one) => isSame(one, place));
  const title = place.title === place.id && known !== undefined ? known.title : place.title;
  const newest = { ...place, title: title.slice(0, LONGEST_TITLE) } as Recent;
  return [newest, ...before.filter((one) => !isSame(one, place))].slice(0, MOST + 1);
}

/** What something that was read is called, if it is the thing of that id. */
export function titleIn(data: unknown, id: string): string | null {
  const { id: own, title, text } = (data ?? {}) as Record<string, unknown>;
  if (own !== id) return null;
  return [title, text].find((words): words is string => typeof words === "string" && words.trim() !== "") ?? null;
}

export function recentOf(place: Place): Recent | null {
  if (place.name === null) return null;
  if ("id" in place) return { what: place.name, id: place.id, title: place.id };
  return { what: place.name, id: null, title: place.title };
}

/** What was kept, as far as it can be read: others may have written there, or an earlier page. */
export function readRecent(kept: string | null): Recent[] {
  try {
    const found: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(found) ? found.filter(isRecent).slice(0, MOST + 1) : [];
  } catch {
    return [];
  }
}

function isRecent(value: unknown): value is Recent {
  if (typeof value !== "object" || value === null) return false;
  const { what, id, title } = value as Record<string, unknown>;
  return typeof what === "string" && (id === null || typeof id === "string") && typeof title === "string";
}
