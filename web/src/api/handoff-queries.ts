/** What the page reads of handoffs and dispatches. Any event of either makes both out of date (live/sync.ts). */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import type { Handoff } from "./types";

/** The key of everything here. */
export const HANDED = ["handed"] as const;
const PAGE = 30;
/** Goals that the list of handoffs shows beside them; older dispatches are named by their id. */
const GOALS = 200;
const KEPT = 60_000;

export interface HandoffFilter {
  state?: Handoff["state"];
  session?: string;
  dispatch?: string;
}

/** Newest first. */
export function handoffsQuery(filter: HandoffFilter) {
  return infiniteQueryOptions({
    queryKey: [...HANDED, "handoffs", filter],
    queryFn: async ({ pageParam, signal }) =>
      payload(
        await api.GET("/api/handoffs", { params: { query: { ...filter, limit: PAGE, ...pageParam } }, signal }),
      ),
    initialPageParam: {} as { cursor?: string },
    getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
    gcTime: KEPT,
    // Another filter takes the place of this one when it is there.
    placeholderData: (before) => before,
  });
}

export function handoffQuery(id: string) {
  return queryOptions({
    queryKey: [...HANDED, "handoff", id],
    queryFn: async ({ signal }) => payload(await api.GET("/api/handoffs/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
  });
}

export const dispatchesQuery = infiniteQueryOptions({
  queryKey: [...HANDED, "dispatches"],
  queryFn: async ({ pageParam, signal }) =>
    payload(await api.GET("/api/dispatches", { params: { query: { limit: PAGE, ...pageParam } }, signal })),
  initialPageParam: {} as { cursor?: string },
  getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
  gcTime: KEPT,
});

/** What each of the newest dispatches is for, by its id. */
export const goalsQuery = queryOptions({
  queryKey: [...HANDED, "goals"],
  queryFn: async ({ signal }) =>
    payload(await api.GET("/api/dispatches", { params: { query: { limit: GOALS } }, signal })),
  select: ({ dispatches }) => new Map(dispatches.map(({ id, goal }) => [id, goal])),
  gcTime: KEPT,
});

export function dispatchQuery(id: string) {
  return queryOptions({
    queryKey: [...HANDED, "dispatch", id],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/dispatches/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
  });
}
