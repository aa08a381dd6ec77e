/** Keeps where one was in this browser, a list for each workspace; the palette reads it. */
import { useEffect } from "react";
import type { Place } from "../app/routes";
import { readRecent, recentOf, withPlace, type Recent } from "./recent";

const keyOf = (workspace: string) => `gemba.recent.${workspace}`;

export function keptRecent(workspace: string): Recent[] {
  return readRecent(localStorage.getItem(keyOf(workspace)));
}

export function keepRecent(workspace: string, recent: readonly Recent[]): void {
  try {
    localStorage.setItem(keyOf(workspace), JSON.stringify(recent));
  } catch {
    // No room: what was kept before stays.
  }
}

export function useRecent(place: Place, workspace: string | undefined): void {
  const id = "id" in place ? place.id : null;
  useEffect(() => {
    const newest = recentOf(place);
    if (newest !== null && workspace !== undefined) keepRecent(workspace, withPlace(keptRecent(workspace), newest));
    // A task beside its run is no place of its own, and the title comes with the name.
  }, [place.name, id, workspace]);
}
