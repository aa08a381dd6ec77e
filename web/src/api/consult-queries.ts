/** What the page reads of consults, and what it has done to them. Their events make it out of date (live/sync.ts). */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import { queryClient } from "./queries";
import type { Consult, EpicOrderInput, LineApplied, LineTakenBack, NewConsult } from "./types";

/** The key of everything here. */
export const CONSULTS = ["consults"] as const;
const PAGE = 10;
const KEPT = 60_000;

/** Newest first, without lines. */
export const consultsQuery = infiniteQueryOptions({
  queryKey: [...CONSULTS, "list"],
  queryFn: async ({ pageParam, signal }) =>
    payload(await api.GET("/api/consults", { params: { query: { limit: PAGE, ...pageParam } }, signal })),
  initialPageParam: {} as { cursor?: string },
  getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
  gcTime: KEPT,
});

export function consultQuery(id: string) {
  return queryOptions({
    queryKey: [...CONSULTS, "one", id],
    queryFn: async ({ signal }) => payload(await api.GET("/api/consults/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
  });
}

/** What personas said of one thing, newest first. */
export const PERSPECTIVES = [...CONSULTS, "perspectives"] as const;

export function perspectivesQuery(ref: string) {
  return queryOptions({
    queryKey: [...PERSPECTIVES, ref],
    queryFn: async ({ signal }) => payload(await api.GET("/api/perspectives", { params: { query: { ref } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
  });
}

/** The board as epic_order is given it, at this moment. */
export const orderInputQuery = queryOptions({
  queryKey: [...CONSULTS, "input"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/skills/epic_order/input", { signal })),
  gcTime: 0,
  staleTime: 0,
});

/** The same, read anew: an order is asked for what is so when it is asked for. */
export function readOrderInput(): Promise<EpicOrderInput> {
  return queryClient.fetchQuery(orderInputQuery);
}

const confirm = (confirmId: string) => ({ "X-GEMBA-Confirm": confirmId });

/** What a skill is given: its own schema judges it, so that no type here has to. */
export type Asked = Omit<NewConsult, "raw_input"> & { raw_input: unknown };

export async function startConsult(asked: Asked, confirmId: string) {
  const body = asked as NewConsult;
  return payload(await api.POST("/api/consults", { params: { header: confirm(confirmId) }, body }));
}

export async function applyLine(id: string, idx: number, confirmId: string): Promise<LineApplied> {
  const params = { path: { id, idx: String(idx) }, header: confirm(confirmId) };
  return payload(await api.POST("/api/consults/{id}/apply/{idx}", { params, body: {} }));
}

export async function takeBackLine(id: string, idx: number, confirmId: string): Promise<LineTakenBack> {
  const params = { path: { id, idx: String(idx) }, header: confirm(confirmId) };
  return payload(await api.POST("/api/consults/{id}/take-back/{idx}", { params, body: {} }));
}

export async function cancelConsult(id: string, confirmId: string): Promise<Consult> {
  const params = { path: { id }, header: confirm(confirmId) };
  return payload(await api.POST("/api/consults/{id}/cancel", { params, body: {} }));
}

export async function closeConsult(id: string, confirmId: string): Promise<Consult> {
  const params = { path: { id }, header: confirm(confirmId) };
  return payload(await api.POST("/api/consults/{id}/close", { params, body: {} }));
}
