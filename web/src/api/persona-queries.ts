/** What the page reads of personas, purviews and phases. Events keep it fresh (live/sync.ts). */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import type { Phase, ProjectPhase } from "./types";

/** Personas with what they spend: any consult's event makes it out of date. */
export const PERSONAS = ["personas"] as const;
/** The phase, and what follows from it. */
export const PHASES = ["phases"] as const;
/** How past rankings fared. */
export const RECORD = ["track-record"] as const;
const KEPT = 60_000;
const RANKINGS = 500;
const HOLDS = 50;

export const personasQuery = queryOptions({
  queryKey: [...PERSONAS, "list"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/personas", { signal })),
});

export const purviewsQuery = queryOptions({
  queryKey: [...PHASES, "purviews"],
  queryFn: async ({ signal }) =>
    payload(await api.GET("/api/purviews", { params: { query: { limit: HOLDS } }, signal })),
});

export const phasesQuery = queryOptions({
  queryKey: [...PHASES, "list"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/phases", { signal })),
});

/** What was asked of each; of all days where none are said. */
export function personaFiguresQuery(days: number | null) {
  return queryOptions({
    queryKey: [...PERSONAS, "figures", days],
    queryFn: async ({ signal }) => {
      const query = days === null ? {} : { days };
      return payload(await api.GET("/api/insights/personas", { params: { query }, signal }));
    },
    gcTime: KEPT,
    placeholderData: (before) => before,
  });
}

/** How rankings of the last days fared: consults make it out of date, and so does work that is finished. */
export function trackRecordQuery(days: number) {
  return queryOptions({
    queryKey: [...RECORD, days],
    queryFn: async ({ signal }) =>
      payload(await api.GET("/api/personas/track-record", { params: { query: { days, limit: RANKINGS } }, signal })),
    gcTime: KEPT,
    placeholderData: (before) => before,
  });
}

/** Only if the project is still in the phase that the operator saw. */
export async function changePhase(phase: Phase, expected: Phase, confirmId: string): Promise<ProjectPhase> {
  const params = { header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.PATCH("/api/project/phase", { params, body: { phase, expected } }));
}
