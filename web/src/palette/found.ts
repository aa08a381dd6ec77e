/** What the server found, and where one was last, as entries of the palette. */
import type { Found } from "../api/types";
import { ICONS } from "../app/Navigation";
import { goToPersona, goToScreen, isOneOf, isRoute, isWithin, openOne } from "../app/routes";
import { firstLine, plainText } from "../ui/plain-text";
import type { Entry } from "./entries";
import type { Recent } from "./recent";
import { hintOf, NOUNS, OTHERS, titleOf, type Noun } from "./wording";

const FOUND = 2;
const ORDER = Object.keys(NOUNS) as Noun[];

export function entryOf(found: Found): Entry {
  const { kind, id } = found;
  const title = titleOf(found);
  const { label, icon } = NOUNS[kind];
  return {
    key: `${kind} ${id}`,
    texts: [title, id, `${label} ${found.detail ?? ""}`],
    rank: FOUND + ORDER.indexOf(kind),
    title,
    icon,
    kind: label,
    hint: hintOf(found),
    keys: [],
    choose: () => (kind === "persona" ? goToPersona(id) : openOne(kind, id)),
    isFound: true,
  };
}

/** Where one was, unless a page of another version wrote something else there. */
export function entryOfRecent({ what, id, title }: Recent): Entry | null {
  const base = { rank: 0, keys: [], isFound: false };
  if (id === null) {
    if (!isRoute(what) && !isWithin(what)) return null;
    const icon = isRoute(what) ? ICONS[what] : "trend";
    const shown = firstLine(title);
    return { ...base, key: `screen ${what}`, texts: [shown], title: shown, icon, kind: "Screen", hint: "", choose: () => goToScreen(what) };
  }
  if (!isOneOf(what)) return null;
  const { label, icon } = what in OTHERS ? OTHERS[what as keyof typeof OTHERS] : NOUNS[what as Noun];
  const shown = firstLine(title) || plainText(id);
  const hint = title === id ? "" : plainText(id);
  return { ...base, key: `${what} ${id}`, texts: [shown, id], title: shown, icon, kind: label, hint, choose: () => openOne(what, id) };
}
