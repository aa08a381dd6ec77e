/** What the page reads of planning: what each session should do next. Events of items and sessions make it out of date. */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";

/** The key of everything here. */
export const PLANNING = ["planning"] as const;
/** Of what is ready, how much is shown for a session. */
export const CHOICES = 12;
const BATCH = 20;

export const selectionQuery = queryOptions({
  queryKey: [...PLANNING, "selection"],
  queryFn: async ({ signal }) =>
    payload(
      await api.GET("/api/work-items/selection", { params: { query: { limit: CHOICES, batch: BATCH } }, signal }),
    ),
  // What is ready and who lives may have changed while nobody looked.
  staleTime: 0,
});
