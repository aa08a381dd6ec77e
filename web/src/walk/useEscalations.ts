/** What still waits, by its id: the lists that the frame reads anyway. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { unresolvedQuery } from "../api/queries";
import type { Escalation } from "../api/types";

const NONE: Escalation[] = [];

export function useEscalations(): ReadonlyMap<string, Escalation> {
  const waiting = useQuery(unresolvedQuery).data?.escalations ?? NONE;
  return useMemo(() => new Map(waiting.map((one) => [one.id, one])), [waiting]);
}
