/** The search over all nouns. Each answer belongs to its words, so that a late one is never shown for others. */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";

const OF_EACH = 8;
const KEPT = 30_000;

export function findQuery(q: string) {
  return queryOptions({
    queryKey: ["find", q],
    queryFn: async ({ signal }) => payload(await api.GET("/api/find", { params: { query: { q, limit: OF_EACH } }, signal })),
    enabled: q !== "",
    gcTime: KEPT,
    staleTime: 0,
    // What was found before stays in sight until the next answer is there, as far as it fits what is typed now.
    placeholderData: (before) => before,
  });
}
