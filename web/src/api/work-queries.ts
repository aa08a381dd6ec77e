/** What the page reads of work items. Their events keep it fresh (live/work-sync.ts). */
import { infiniteQueryOptions, queryOptions, type QueryClient } from "@tanstack/react-query";
import { extended, loadedOf, merged } from "../board/columns";
import { api, payload } from "./client";
import { upToDate } from "./queries";
import type { paths } from "./schema";
import type { WorkBoard, WorkState } from "./types";

/** The key of every board, whatever it is filtered by. */
export const BOARD = ["board"] as const;
/** The key of all that the screen of one item reads; the item's id follows. */
export const ITEM = ["item"] as const;
const PAGE = 100;
/** When more of a column is wanted than was read at first. */
const NEXT_PAGE = 500;
const EPICS = 200;
const FOUND = 8;
const HISTORY_PAGE = 20;
const KEPT = 60_000;

type BoardParameters = NonNullable<paths["/api/board"]["get"]["parameters"]["query"]>;

/** What of the work a board shows; what is left out filters nothing. */
export type BoardFilter = Pick<BoardParameters, "kind" | "label" | "parent" | "text" | "assignee" | "ready" | "blocked">;

async function readBoard(query: BoardParameters, signal?: AbortSignal): Promise<WorkBoard> {
  return upToDate(async () => payload(await api.GET("/api/board", { params: { query }, ...(signal && { signal }) })));
}

const keyOf = (filter: BoardFilter) => [...BOARD, filter] as const;

/** All columns from their tops, each as far down as it was read before. */
export function boardQuery(filter: BoardFilter) {
  return queryOptions({
    queryKey: keyOf(filter),
    queryFn: async ({ client, signal }): Promise<WorkBoard> => {
      const before = client.getQueryData<WorkBoard>(keyOf(filter));
      let board = await readBoard({ ...filter, limit: PAGE }, signal);
      for (const { state } of board.columns)
        while (loadedOf(board, state) < loadedOf(before, state) && cursorOf(board, state) !== null)
          board = await withMore(board, filter, state, signal);
      return board;
    },
    gcTime: KEPT,
    placeholderData: (before) => before,
    // A claim ends by itself, and no event tells.
    refetchOnWindowFocus: "always",
  });
}

const cursorOf = (board: WorkBoard, state: WorkState) =>
  board.columns.find((column) => column.state === state)?.next_cursor ?? null;

async function withMore(board: WorkBoard, filter: BoardFilter, state: WorkState, signal?: AbortSignal) {
  const cursor = cursorOf(board, state);
  if (cursor === null) return board;
  return extended(board, await readBoard({ ...filter, state, cursor, limit: NEXT_PAGE }, signal), state, cursor);
}

/** The next cards of a column, behind those that are there. */
export async function readMoreOf(client: QueryClient, filter: BoardFilter, state: WorkState): Promise<void> {
  const board = client.getQueryData<WorkBoard>(keyOf(filter));
  const cursor = board && cursorOf(board, state);
  if (!cursor) return;
  try {
    const more = await readBoard({ ...filter, state, cursor, limit: NEXT_PAGE });
    client.setQueryData<WorkBoard>(keyOf(filter), (now) => now && extended(now, more, state, cursor));
  } catch {
    await client.invalidateQueries({ queryKey: keyOf(filter) });
  }
}

/** Puts the server's newest word on some items into a board, without reading the others again unless that fails. */
export async function readCards(client: QueryClient, filter: BoardFilter, ids: readonly string[]): Promise<void> {
  try {
    const answer = await readBoard({ ...filter, ids: ids.join(","), limit: NEXT_PAGE });
    client.setQueryData<WorkBoard>(keyOf(filter), (now) => now && merged(now, answer, ids));
  } catch {
    await client.invalidateQueries({ queryKey: keyOf(filter) });
  }
}

/** For each state, where an item in it may go. It changes with the server only. */
export const movesQuery = queryOptions({
  queryKey: ["moves"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/board/moves", { signal })),
  select: ({ moves }) => moves as Partial<Record<WorkState, WorkState[]>>,
});

/** What others can be part of, the newest first. */
export const epicsQuery = queryOptions({
  queryKey: [...ITEM, "epics"],
  queryFn: async ({ signal }) => {
    const query = { kind: "epic,milestone", limit: EPICS };
    return payload(await api.GET("/api/work-items", { params: { query }, signal }));
  },
  gcTime: KEPT,
});

/** The first few items that have these words, for a field that wants one of them. */
export function foundQuery(text: string) {
  return queryOptions({
    queryKey: [...ITEM, "found", text],
    queryFn: async ({ signal }) => {
      const query = { text, limit: FOUND };
      return payload(await api.GET("/api/work-items", { params: { query }, signal }));
    },
    enabled: text !== "",
    gcTime: KEPT,
    placeholderData: (before) => before,
  });
}

export function itemQuery(id: string) {
  return queryOptions({
    queryKey: [...ITEM, id, "whole"],
    queryFn: async ({ signal }) => payload(await api.GET("/api/work-items/{id}", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
  });
}

export function explainQuery(id: string) {
  return queryOptions({
    queryKey: [...ITEM, id, "explain"],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/work-items/{id}/explain", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
  });
}

export function graphQuery(id: string) {
  return queryOptions({
    queryKey: [...ITEM, id, "graph"],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/work-items/{id}/graph", { params: { path: { id } }, signal })),
    gcTime: KEPT,
    staleTime: 0,
  });
}

/** What it consists of, by state. */
export function partsQuery(id: string) {
  return queryOptions({
    queryKey: [...ITEM, id, "parts"],
    queryFn: ({ signal }) => readBoard({ parent: id, limit: PAGE }, signal),
    gcTime: KEPT,
    staleTime: 0,
  });
}

export function itemHistoryQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: [...ITEM, id, "history"],
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { id }, query: { limit: HISTORY_PAGE, ...pageParam } };
      return payload(await api.GET("/api/work-items/{id}/history", { params, signal }));
    },
    initialPageParam: {} as { before?: number },
    getNextPageParam: ({ next_before }) => (next_before === null ? undefined : { before: next_before }),
    gcTime: KEPT,
    staleTime: 0,
  });
}
