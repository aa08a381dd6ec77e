/** What the page reads of sprints, usage and the days, and what it has done to sprints. Events keep it fresh (live/sync.ts). */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import type { ChangeSprint, NewSprint } from "./types";

/** Sprints, in a list and one by one: their own events, usage and finished work make them out of date. */
export const SPRINTS = ["sprints"] as const;
/** What holds new work back. */
export const HELD = ["held"] as const;
/** The days, and what was used: whatever is asked, begun or used makes them out of date. */
export const INSIGHTS = ["insights"] as const;

const PAGE = 20;
const KEPT = 60_000;
/** A hold may be over by itself, and no event tells. */
const HELD_EVERY = 60_000;

export const sprintsQuery = infiniteQueryOptions({
  queryKey: [...SPRINTS, "list"],
  queryFn: async ({ pageParam, signal }) =>
    payload(await api.GET("/api/sprints", { params: { query: { limit: PAGE, ...pageParam } }, signal })),
  initialPageParam: {} as { cursor?: string },
  getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
});

export function sprintQuery(id: string) {
  return queryOptions({
    queryKey: [...SPRINTS, "one", id],
    queryFn: async ({ signal }) => payload(await api.GET("/api/sprints/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
  });
}

export const runningSprintQuery = queryOptions({
  queryKey: [...SPRINTS, "running"],
  queryFn: async ({ signal }) => {
    const query = { state: "running", limit: 1 };
    return payload(await api.GET("/api/sprints", { params: { query }, signal })).sprints[0] ?? null;
  },
});

export const holdsQuery = queryOptions({
  queryKey: HELD,
  queryFn: async ({ signal }) => payload(await api.GET("/api/holds", { signal })),
  refetchInterval: ({ state }) => (state.data?.holds.some(({ until }) => until !== null) ? HELD_EVERY : false),
});

export function insightsQuery(days: number) {
  return queryOptions({
    queryKey: [...INSIGHTS, "days", days],
    queryFn: async ({ signal }) => payload(await api.GET("/api/insights", { params: { query: { days } }, signal })),
    gcTime: KEPT,
    placeholderData: (before) => before,
  });
}

export type UsageBy = "session" | "task" | "epic" | "sprint" | "persona" | "day";

export function usageQuery(by: UsageBy) {
  return queryOptions({
    queryKey: [...INSIGHTS, "usage", by],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/usage", { params: { query: { by, limit: PAGE } }, signal })),
    gcTime: KEPT,
    placeholderData: (before) => before,
  });
}

/** Items that may be put into a sprint, by words of their title or id. */
export function itemsLikeQuery(text: string) {
  return queryOptions({
    queryKey: ["items-like", text],
    queryFn: async ({ signal }) => {
      const query = { text, state: "backlog,unstarted,staged,in_progress,review", limit: 8 };
      return payload(await api.GET("/api/work-items", { params: { query }, signal }));
    },
    enabled: text !== "",
    gcTime: KEPT,
    staleTime: 0,
    placeholderData: (before) => before,
  });
}

const header = (confirmId: string) => ({ "X-GEMBA-Confirm": confirmId });
const confirmed = (id: string, confirmId: string) => ({ path: { id }, header: header(confirmId) });

export async function createSprint(body: NewSprint, confirmId: string) {
  return payload(await api.POST("/api/sprints", { params: { header: header(confirmId) }, body }));
}

export async function changeSprint(id: string, body: ChangeSprint, confirmId: string) {
  return payload(await api.PATCH("/api/sprints/{id}", { params: confirmed(id, confirmId), body }));
}

export async function startSprint(id: string, confirmId: string) {
  return payload(await api.POST("/api/sprints/{id}/start", { params: confirmed(id, confirmId), body: {} }));
}

export async function closeSprint(id: string, reason: string, confirmId: string) {
  return payload(await api.POST("/api/sprints/{id}/close", { params: confirmed(id, confirmId), body: { reason } }));
}

export async function addToSprint(id: string, item: string, confirmId: string) {
  const body = { item_ids: [item] };
  return payload(await api.POST("/api/sprints/{id}/items", { params: confirmed(id, confirmId), body }));
}

export async function removeFromSprint(id: string, item: string, confirmId: string) {
  const body = { item_ids: [item] };
  return payload(await api.POST("/api/sprints/{id}/items/remove", { params: confirmed(id, confirmId), body }));
}
