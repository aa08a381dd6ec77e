/** What the page reads. Events keep it fresh (live/sync.ts); only what has no event is read again by time. */
import { QueryClient, queryOptions } from "@tanstack/react-query";
import { lastSeen } from "../live/line";
import { api, payload } from "./client";
import { byLastSettled, byUrgencyThenAge, isUnresolved, placedIn } from "./escalation-list";
import { isWorthRetrying } from "./problem";
import type { Escalation, EscalationList } from "./types";

const PAGE = 200;
/** More cards than anyone can answer in a sitting; the rest moves up as the first are answered. */
const INBOX_LIMIT = 500;
const SETTLED_LIMIT = 50;
const ASSUMPTION_LIMIT = 200;
const FULL_TEXTS_KEPT = 60_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // The server is on this machine: being offline says nothing about it.
      networkMode: "always",
      retry: (failures, error) => failures < 2 && isWorthRetrying(error),
    },
    mutations: {
      networkMode: "always",
      // Safe, because the confirm id travels with the request: the server carries it out once.
      retry: (failures, error) => failures < 2 && isWorthRetrying(error),
      retryDelay: (failures) => 300 * 2 ** failures,
    },
  },
});

/** Reads again while the answer is older than an event that was already applied, which it would undo. */
async function upToDate<T extends { as_of: number }>(read: () => Promise<T>): Promise<T> {
  let answer = await read();
  for (let again = 0; again < 3 && answer.as_of < lastSeen(); again += 1) answer = await read();
  return answer;
}

async function readUnresolved(signal: AbortSignal): Promise<EscalationList> {
  const first = await readPage(null, signal);
  const escalations = [...first.escalations];
  let cursor = first.next_cursor;
  while (cursor !== null && escalations.length < INBOX_LIMIT) {
    const page = await readPage(cursor, signal);
    escalations.push(...page.escalations);
    cursor = page.next_cursor;
  }
  return { ...first, escalations, next_cursor: cursor };
}

async function readPage(cursor: string | null, signal: AbortSignal): Promise<EscalationList> {
  const query = { state: "unresolved", limit: PAGE, ...(cursor === null ? {} : { cursor }) };
  return payload(await api.GET("/api/escalations", { params: { query }, signal }));
}

export const unresolvedQuery = queryOptions({
  queryKey: ["escalations", "unresolved"],
  queryFn: ({ signal }) => upToDate(() => readUnresolved(signal)),
  // The code may have moved meanwhile, and no event tells.
  refetchOnWindowFocus: "always",
});

async function readSettled(
  which: { state: string } | { delivery: "undelivered" },
  signal: AbortSignal,
): Promise<EscalationList> {
  const query = { ...which, order: "recent" as const, limit: SETTLED_LIMIT };
  return payload(await api.GET("/api/escalations", { params: { query }, signal }));
}

export const settledQuery = queryOptions({
  queryKey: ["escalations", "settled"],
  queryFn: ({ signal }) =>
    upToDate(async () => {
      // A reply that nobody has read stays in sight however old it is.
      const [unread, recent] = await Promise.all([
        readSettled({ delivery: "undelivered" }, signal),
        readSettled({ state: "resolved,dismissed,expired,withdrawn" }, signal),
      ]);
      const known = new Set(unread.escalations.map((escalation) => escalation.id));
      const others = recent.escalations.filter((escalation) => !known.has(escalation.id));
      return { ...recent, escalations: [...unread.escalations, ...others].sort(byLastSettled) };
    }),
});

/** The whole of a text that the list cut. */
export function wholeEscalationQuery(id: string) {
  return queryOptions({
    queryKey: ["escalation", id],
    queryFn: ({ signal }) => readEscalation(id, signal),
    gcTime: FULL_TEXTS_KEPT,
  });
}

export async function readEscalation(id: string, signal?: AbortSignal): Promise<Escalation> {
  return payload(await api.GET("/api/escalations/{id}", { params: { path: { id } }, ...(signal && { signal }) }));
}

export const assumptionsQuery = queryOptions({
  queryKey: ["assumptions"],
  queryFn: ({ signal }) =>
    upToDate(async () =>
      payload(await api.GET("/api/assumptions", { params: { query: { limit: ASSUMPTION_LIMIT } }, signal })),
    ),
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => upToDate(async () => payload(await api.GET("/api/sessions", { signal }))),
});

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/doctor", { signal })),
});

/** Puts the server's newest word on some escalations into the lists, without reading them again. */
export function placeEscalations(escalations: Escalation[]): void {
  const place = (list: EscalationList, ofThisList: (one: Escalation) => boolean, order: typeof byLastSettled) =>
    escalations.reduce((placed, one) => placedIn(placed, one, ofThisList(one), order), list);
  const list = queryClient.setQueryData(
    unresolvedQuery.queryKey,
    (old) => old && place(old, isUnresolved, byUrgencyThenAge),
  );
  queryClient.setQueryData(
    settledQuery.queryKey,
    (old) => old && place(old, (one) => !isUnresolved(one), byLastSettled),
  );
  // The part of a long inbox that was not read yet moves up as the first cards are answered.
  if (list && list.next_cursor !== null && list.escalations.length < INBOX_LIMIT - PAGE)
    void refresh(unresolvedQuery.queryKey);
}

/** Reads again what is on screen under `queryKey`; what is not is read when it is next looked at. */
export function refresh(queryKey: readonly unknown[]): Promise<void> {
  return queryClient.invalidateQueries({ queryKey });
}
