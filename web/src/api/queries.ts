/** What the page reads. Events keep it fresh (live/sync.ts); only what has no event is read again by time. */
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { lastSeen } from "../live/line";
import { api, payload } from "./client";
import { byLastSettled, byUrgencyThenAge, isUnresolved, placedIn } from "./escalation-list";
import { isWorthRetrying } from "./problem";
import type { paths } from "./schema";
import type { Escalation, EscalationList, MemoryState } from "./types";

const PAGE = 200;
/** More cards than anyone can answer in a sitting; the rest moves up as the first are answered. */
const INBOX_LIMIT = 500;
const SETTLED_LIMIT = 50;
const SETTLED = "resolved,dismissed,expired,withdrawn";
const SEARCH_PAGE = 30;
const SEARCHES_KEPT = 60_000;
/** What was asked, as the screens beside the inbox show it: any escalation's event makes it out of date. */
export const ASKED = ["asked"] as const;
const ASSUMPTION_LIMIT = 200;
/** The list has those that were heard of last. */
export const SESSION_LIMIT = 200;
const RULE_LIMIT = 200;
const MEMORY_LIMIT = 100;
/** What agents want remembered, in whatever state: any memory's event makes it out of date. */
export const MEMORIES = ["memories"] as const;
/** What is known of the project, by section, and how it changed: any section's event makes it out of date. */
export const CONTEXT = ["context"] as const;
const REVISION_LIMIT = 10;
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
export async function upToDate<T extends { as_of: number }>(read: () => Promise<T>): Promise<T> {
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
        readSettled({ state: SETTLED }, signal),
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

/** One escalation with everything that is known of it. */
export function escalationQuery(id: string) {
  return queryOptions({
    queryKey: [...ASKED, "one", id],
    queryFn: ({ signal }) => readEscalation(id, signal),
    gcTime: SEARCHES_KEPT,
    // The code may have moved since it was last looked at.
    staleTime: 0,
  });
}

export function precedentsQuery(id: string) {
  return queryOptions({
    queryKey: [...ASKED, "precedents", id],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/escalations/{id}/precedents", { params: { path: { id } }, signal })),
    gcTime: SEARCHES_KEPT,
  });
}

/** What is settled, newest first; with words, only what has them in question or answer. */
export function answeredQuery(words: string) {
  return infiniteQueryOptions({
    queryKey: [...ASKED, "answered", words],
    queryFn: async ({ pageParam, signal }) => {
      const found = words === "" ? {} : { q: words };
      const query = { state: SETTLED, order: "recent" as const, limit: SEARCH_PAGE, ...found, ...pageParam };
      return payload(await api.GET("/api/escalations", { params: { query }, signal }));
    },
    initialPageParam: {} as { cursor?: string },
    getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
    gcTime: SEARCHES_KEPT,
    // What was found before stays in sight until the next answer is there.
    placeholderData: (before) => before,
  });
}

/** Everything that one session asked, what changed last first. */
export function sessionAsksQuery(session: string) {
  return infiniteQueryOptions({
    queryKey: [...ASKED, "session", session],
    queryFn: async ({ pageParam, signal }) => {
      const query = { session, order: "recent" as const, limit: SEARCH_PAGE, ...pageParam };
      return payload(await api.GET("/api/escalations", { params: { query }, signal }));
    },
    initialPageParam: {} as { cursor?: string },
    getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
    gcTime: SEARCHES_KEPT,
  });
}

export function sessionAssumptionsQuery(session: string) {
  return queryOptions({
    queryKey: [...ASKED, "assumptions", session],
    queryFn: async ({ signal }) => {
      const query = { session, limit: ASSUMPTION_LIMIT };
      return payload(await api.GET("/api/assumptions", { params: { query }, signal }));
    },
    gcTime: SEARCHES_KEPT,
  });
}

export const rulesQuery = queryOptions({
  queryKey: ["rules"],
  queryFn: ({ signal }) =>
    upToDate(async () => payload(await api.GET("/api/rules", { params: { query: { limit: RULE_LIMIT } }, signal }))),
});

function memoriesQuery(state: MemoryState) {
  return queryOptions({
    queryKey: [...MEMORIES, state],
    queryFn: ({ signal }) =>
      upToDate(async () =>
        payload(await api.GET("/api/memories", { params: { query: { state, limit: MEMORY_LIMIT } }, signal })),
      ),
  });
}

export const waitingMemoriesQuery = memoriesQuery("suggested");
export const acceptedMemoriesQuery = memoriesQuery("accepted");
export const rejectedMemoriesQuery = memoriesQuery("rejected");

export const contextQuery = queryOptions({
  queryKey: [...CONTEXT, "sections"],
  queryFn: ({ signal }) => upToDate(async () => payload(await api.GET("/api/context", { signal }))),
});

/** A section whose value is too long for the list of all. */
export function contextSectionQuery(name: string, revision: number) {
  return queryOptions({
    queryKey: [...CONTEXT, "section", name, revision],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/context/{name}", { params: { path: { name } }, signal })),
    gcTime: SEARCHES_KEPT,
  });
}

export function contextHistoryQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: [...CONTEXT, "history", name],
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { name }, query: { limit: REVISION_LIMIT, ...pageParam } };
      return payload(await api.GET("/api/context/{name}/history", { params, signal }));
    },
    initialPageParam: {} as { cursor?: string },
    getNextPageParam: ({ next_cursor }) => (next_cursor === null ? undefined : { cursor: next_cursor }),
    gcTime: SEARCHES_KEPT,
  });
}

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/policies", { signal })),
});

/** Who the operator is here: the name that goes with the token. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/me", { signal })),
});

type AttentionFilter = NonNullable<paths["/api/attention"]["get"]["parameters"]["query"]>;

export function attentionQuery(filter: AttentionFilter) {
  return queryOptions({
    queryKey: [...ASKED, "attention", filter],
    queryFn: async ({ signal }) => payload(await api.GET("/api/attention", { params: { query: filter }, signal })),
    gcTime: SEARCHES_KEPT,
    placeholderData: (before) => before,
  });
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
  queryFn: ({ signal }) =>
    upToDate(async () =>
      payload(await api.GET("/api/sessions", { params: { query: { limit: SESSION_LIMIT } }, signal })),
    ),
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
