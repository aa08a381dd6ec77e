/** What the floor reads: one snapshot of everything, kept fresh by nearly every event (live/sync.ts). */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import { upToDate } from "./queries";

export const FLOOR = ["floor"] as const;

/** A hold may be over by itself, and no event tells. */
const HELD_EVERY = 60_000;

export const floorQuery = queryOptions({
  queryKey: FLOOR,
  queryFn: ({ signal }) => upToDate(async () => payload(await api.GET("/api/floor", { signal }))),
  refetchInterval: ({ state }) => (state.data?.ready.holds.some(({ until }) => until !== null) ? HELD_EVERY : false),
  // Claims run out and sessions fall silent without an event: whoever comes back to the window sees it as it is.
  refetchOnWindowFocus: "always",
});
