/** What the page reads of team runs. Events keep it fresh (live/sync.ts). */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import { refresh } from "./queries";
import type { TeamKnowledge } from "./types";

/** Runs in a list and one by one: their own events and what is used make them out of date. */
export const TEAMS = ["teams"] as const;

const PAGE = 20;
const KEPT = 60_000;

export const teamsQuery = infiniteQueryOptions({
  queryKey: [...TEAMS, "list"],
  queryFn: async ({ pageParam, signal }) =>
    payload(await api.GET("/api/teams", { params: { query: { limit: PAGE, ...pageParam } }, signal })),
  initialPageParam: {} as { cursor?: string },
  getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
});

const keyOf = (id: string, ...more: string[]) => [...TEAMS, "one", id, ...more] as const;

export function teamQuery(id: string) {
  return queryOptions({
    queryKey: keyOf(id, "run"),
    queryFn: async ({ signal }) => payload(await api.GET("/api/teams/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
  });
}

export function teamTaskQuery(id: string, task: string) {
  return queryOptions({
    queryKey: keyOf(id, "task", task),
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/teams/{id}/tasks/{task}", { params: { path: { id, task } }, signal })),
    gcTime: KEPT,
  });
}

export function teamKnowledgeQuery(id: string) {
  return queryOptions({
    queryKey: keyOf(id, "knowledge"),
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/teams/{id}/knowledge", { params: { path: { id } }, signal })) as TeamKnowledge,
    gcTime: KEPT,
  });
}

/** The latest `limit` messages. */
export function teamMessagesQuery(id: string, limit: number) {
  return queryOptions({
    queryKey: [...keyOf(id, "messages"), limit],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/teams/{id}/messages", { params: { path: { id }, query: { limit } }, signal })),
    gcTime: KEPT,
    placeholderData: keepPreviousData,
  });
}

/** What a task wrote down, by its digest: another text is another artifact. */
export function teamArtifactQuery(id: string, name: string, version: number, digest: string) {
  return queryOptions({
    queryKey: [...TEAMS, "artifact", id, name, version, digest],
    queryFn: async ({ signal }) => {
      const params = { path: { id, name }, query: { version } };
      return payload(await api.GET("/api/teams/{id}/artifacts/{name}", { params, signal }));
    },
    gcTime: KEPT,
  });
}

/** Reads again what these events make out of date: of each the name and what it is of. */
export async function followTeams(news: string[]): Promise<void> {
  const keys = new Map<string, readonly string[]>();
  for (const each of news) {
    const [event = "", ref = ""] = each.split(" ");
    const [id = ""] = ref.split("/");
    const key = event === "team.message" ? keyOf(id, "messages") : event === "team.learned" ? keyOf(id, "knowledge") : keyOf(id);
    keys.set(key.join(), key);
  }
  await Promise.all([...keys.values()].map(refresh));
}
