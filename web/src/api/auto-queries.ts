/** What the page reads of auto-dispatch and does to it. Events of it, of work and of sessions make it out of date. */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";

/** The key of everything here. */
export const AUTO = ["auto"] as const;
const LAST = 5;

export const autoQuery = queryOptions({
  queryKey: [...AUTO, "status"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/auto", { signal })),
  staleTime: 0,
});

export const autoStartsQuery = queryOptions({
  queryKey: [...AUTO, "starts"],
  queryFn: async ({ signal }) =>
    payload(await api.GET("/api/auto/starts", { params: { query: { limit: LAST } }, signal })),
  staleTime: 0,
});

/** Without a type it is the workspace's own switch. */
export async function switchAuto(on: boolean, agentType: string | null, confirmId: string) {
  const params = { header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.POST("/api/auto/switch", { params, body: { on, agent_type: agentType } }));
}
