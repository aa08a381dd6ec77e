/**
 * What the page reads of sessions beside their list, and what it has done to them. Events keep it fresh (live/sync.ts);
 * what an agent shows, and its worktree, have none: they are read again by time, while it lives and somebody looks.
 */
import { infiniteQueryOptions, queryOptions, skipToken } from "@tanstack/react-query";
import { api, payload } from "./client";
import { sessionsQuery } from "./queries";
import type { NewSession, SessionInput } from "./types";

const KEPT = 60_000;
const LINES = 1_000;
const TRANSCRIPT_EVERY = 2_000;
const WORKTREE_EVERY = 15_000;
const INPUTS = 10;

export function sessionQuery(id: string) {
  return queryOptions({
    queryKey: [...sessionsQuery.queryKey, "one", id],
    queryFn: async ({ signal }) => payload(await api.GET("/api/sessions/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
  });
}

export function transcriptQuery(id: string, lives: boolean) {
  return queryOptions({
    queryKey: ["transcript", id],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { lines: LINES } };
      return payload(await api.GET("/api/sessions/{id}/transcript", { params, signal }));
    },
    gcTime: KEPT,
    staleTime: 0,
    refetchInterval: lives && TRANSCRIPT_EVERY,
  });
}

export function worktreeQuery(id: string, lives: boolean) {
  return queryOptions({
    queryKey: ["worktree", id],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/sessions/{id}/worktree", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
    refetchInterval: lives && WORKTREE_EVERY,
  });
}

export const agentTypesQuery = queryOptions({
  queryKey: ["agent-types"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/agents", { signal })),
  // A file and the programs on a machine: no event tells of a change.
  staleTime: 0,
});

/** What was typed, a few at a time. */
export function inputsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["inputs", id],
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { id }, query: { limit: INPUTS, ...pageParam } };
      return payload(await api.GET("/api/sessions/{id}/inputs", { params, signal }));
    },
    initialPageParam: {} as { cursor?: string },
    getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
    gcTime: KEPT,
    staleTime: 0,
  });
}

export type InputNews = Pick<SessionInput, "state" | "trouble">;

/** How far an input got: events alone tell. */
export function inputQuery(id: string) {
  return queryOptions<InputNews>({ queryKey: ["input", id], queryFn: skipToken });
}

const confirmed = (id: string, confirmId: string) => ({ path: { id }, header: { "X-GEMBA-Confirm": confirmId } });

export async function startSession(body: NewSession, confirmId: string) {
  return payload(await api.POST("/api/sessions", { params: { header: { "X-GEMBA-Confirm": confirmId } }, body }));
}

export async function sendPrompt(id: string, text: string, confirmId: string) {
  return payload(await api.POST("/api/sessions/{id}/send", { params: confirmed(id, confirmId), body: { text } }));
}

export async function interruptSession(id: string, confirmId: string) {
  return payload(await api.POST("/api/sessions/{id}/interrupt", { params: confirmed(id, confirmId), body: {} }));
}

export async function stopSession(id: string, confirmId: string) {
  return payload(await api.POST("/api/sessions/{id}/stop", { params: confirmed(id, confirmId), body: {} }));
}

/** `shown` is the seal of what the operator saw to be only there. */
export async function releaseSession(id: string, shown: string | null, confirmId: string) {
  const body = shown === null ? {} : { shown };
  return payload(await api.POST("/api/sessions/{id}/release", { params: confirmed(id, confirmId), body }));
}
