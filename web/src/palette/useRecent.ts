/** Keeps where one was in this browser, a list for each workspace; the palette reads it. */
import { useEffect } from "react";
import { queryClient } from "../api/queries";
import type { Place } from "../app/routes";
import { readRecent, recentOf, titleIn, withPlace, type Recent } from "./recent";

const keyOf = (workspace: string) => `gemba.recent.${workspace}`;

export function keptRecent(workspace: string): Recent[] {
  return readRecent(localStorage.getItem(keyOf(workspace)));
}

function keepRecent(workspace: string, recent: readonly Recent[]): void {
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
    if (newest === null || workspace === undefined) return;
    const keep = (one: Recent) => keepRecent(workspace, withPlace(keptRecent(workspace), one));
    const { id } = newest;
    keep(newest);
    if (id === null) return;
    // Its title is known once its screen has read it.
    const call = (data: unknown) => {
      const title = titleIn(data, id);
      if (title !== null) keep({ ...newest, title });
    };
    const reads = queryClient.getQueryCache();
    for (const { state } of reads.findAll()) call(state.data);
    return reads.subscribe(({ type, query }) => {
      if (type === "updated") call(query.state.data);
    });
    // A task beside its run is no place of its own, and the title comes with the name.
  }, [place.name, id, workspace]);
}
