/** What the page reads of walks, and which events make it out of date (live/sync.ts). */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";

/** The key of everything here. */
export const WALKS = ["walks"] as const;
const RECENT = 10;
const KEPT = 60_000;

/** The latest, and whether one is worth it now. */
export const walksQuery = queryOptions({
  queryKey: [...WALKS, "list"],
  queryFn: async ({ signal }) =>
    payload(await api.GET("/api/walks", { params: { query: { limit: RECENT } }, signal })),
});

export function walkQuery(id: string) {
  return queryOptions({
    queryKey: [...WALKS, "one", id],
    queryFn: async ({ signal }) => payload(await api.GET("/api/walks/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    // What it is about may have been settled while nobody looked at it.
    staleTime: 0,
  });
}

const SETTLING = /^(escalation\.(resolved|dismissed|expired|withdrawn|reopened)|item\.changed|team\.task_changed)$/;

/** Whether what stands on an agenda may wait no more, or again. */
export function settlesAgenda(event: string): boolean {
  return SETTLING.test(event);
}
