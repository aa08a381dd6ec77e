/** What the page reads of approvals. Their events keep it fresh (live/sync.ts). */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";

export const APPROVALS = ["approvals"] as const;
const PAGE = 30;
/** A plan has at most fifty steps, each of which may have been edited. */
const MOST_STEPS = 500;
const KEPT = 60_000;

/** The requests that one escalation asks about, those that were edited too. */
export function approvalsOfQuery(escalation: string) {
  return queryOptions({
    queryKey: [...APPROVALS, "of", escalation],
    queryFn: async ({ signal }) => {
      const query = { escalation, limit: MOST_STEPS };
      return payload(await api.GET("/api/approvals", { params: { query }, signal }));
    },
    gcTime: KEPT,
  });
}

/** Every request there was, newest first. */
export const approvalHistoryQuery = infiniteQueryOptions({
  queryKey: [...APPROVALS, "history"],
  queryFn: async ({ pageParam, signal }) => {
    const query = { limit: PAGE, ...pageParam };
    return payload(await api.GET("/api/approvals", { params: { query }, signal }));
  },
  initialPageParam: {} as { cursor?: string },
  getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
  gcTime: KEPT,
});
