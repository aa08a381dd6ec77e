/** How many assumptions were recorded since the operator last looked at them. Remembered by the browser; the server has no such notion. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { assumptionsQuery } from "../api/queries";
import type { Assumption } from "../api/types";

const KEY = "gemba.assumptions-seen";
const listeners = new Set<() => void>();

function seenUntil(): string {
  return localStorage.getItem(KEY) ?? "";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

export function useUnseenAssumptions(): number {
  const assumptions = useQuery(assumptionsQuery).data?.assumptions ?? [];
  const seen = useSyncExternalStore(subscribe, seenUntil);
  return assumptions.filter((assumption) => assumption.overturned === null && assumption.recorded_at > seen).length;
}

/** While the list is on screen everything in it counts as seen. */
export function useMarkSeen(assumptions: Assumption[]): void {
  const newest = assumptions.reduce((latest, { recorded_at }) => (recorded_at > latest ? recorded_at : latest), "");
  useEffect(() => {
    if (newest <= seenUntil()) return;
    localStorage.setItem(KEY, newest);
    for (const listener of listeners) listener();
  }, [newest]);
}
