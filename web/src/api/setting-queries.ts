/** The workspace's settings: what their files say, their texts, and what is wrong with a text before it is saved. */
import { queryOptions } from "@tanstack/react-query";
import { api, newConfirmId, payload } from "./client";

/** All that is read of settings: the event of a file that was saved makes it out of date. */
export const SETTINGS = ["settings"] as const;
const CHECKS_KEPT = 10_000;

export const settingsQuery = queryOptions({
  queryKey: [...SETTINGS, "said"],
  queryFn: async ({ signal }) => payload(await api.GET("/api/settings", { signal })),
  // Files are also changed by hand, and no event tells.
  staleTime: 0,
  refetchOnWindowFocus: "always",
});

export function settingsTextQuery(file: string) {
  return queryOptions({
    queryKey: [...SETTINGS, "text", file],
    queryFn: async ({ signal }) => payload(await api.GET("/api/settings/{file}", { params: { path: { file } }, signal })),
    staleTime: 0,
    gcTime: 0,
  });
}

/** Belongs to its text, so that a late answer is never shown for another one. */
export function settingsCheckQuery(file: string, text: string) {
  return queryOptions({
    queryKey: ["settings-check", file, text],
    queryFn: async ({ signal }) => {
      const params = { header: { "X-GEMBA-Confirm": newConfirmId() } };
      return payload(await api.POST("/api/settings/check", { params, body: { file, text }, signal }));
    },
    gcTime: CHECKS_KEPT,
    placeholderData: (before) => before,
  });
}

export interface Saving {
  file: string;
  text: string;
  /** Of what was read: another one by now is refused. */
  digest: string;
  confirmId: string;
}

export async function saveSettings({ file, text, digest, confirmId }: Saving) {
  const params = { path: { file }, header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.PUT("/api/settings/{file}", { params, body: { text, digest } }));
}
