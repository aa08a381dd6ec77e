/**
 * Applying lines of a consult: one, or all that are left in their order until one is refused. Each time is a confirm id of
 * its own, and nothing is sent twice while an answer is on its way.
 */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { applyLine, consultQuery } from "../api/consult-queries";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { announce } from "../ui/announce";
import { applicableOf, withApplied } from "./lines";
import { problemOf } from "./wording";

export interface Applying {
  /** The line that is being applied. */
  pending: number | null;
  /** How far all of them got. */
  all: { done: number; of: number } | null;
  errors: ReadonlyMap<number, Error>;
  apply: (idx: number) => void;
  applyAll: () => void;
}

export function useApplying(id: string): Applying {
  const [pending, setPending] = useState<number | null>(null);
  const [all, setAll] = useState<Applying["all"]>(null);
  const [errors, setErrors] = useState<ReadonlyMap<number, Error>>(new Map());
  // Two clicks come before the page has rendered once: what is under way is known at once.
  const busy = useRef(false);
  const send = useMutation({
    mutationFn: ({ idx, confirmId }: { idx: number; confirmId: string }) => applyLine(id, idx, confirmId),
  });

  async function applyOne(idx: number): Promise<boolean> {
    setPending(idx);
    setErrors((known) => new Map([...known].filter(([place]) => place !== idx)));
    try {
      const done = await send.mutateAsync({ idx, confirmId: newConfirmId() });
      const applied = { idx, at: new Date().toISOString(), by: "you", outcome: done.outcome };
      queryClient.setQueryData(consultQuery(id).queryKey, (known) => known && withApplied(known, applied, done.applied_idx));
      announce(`Line ${idx} is applied`);
      return true;
    } catch (problem) {
      const error = problem instanceof Error ? problem : new Error(String(problem));
      setErrors((known) => new Map(known).set(idx, error));
      announce(`${problemOf(error)}. ${explain(error)}`);
      // What is true by now: somebody else may have applied or closed it.
      if (error instanceof Refused) void refresh(consultQuery(id).queryKey);
      return false;
    } finally {
      setPending(null);
    }
  }

  async function alone(act: () => Promise<void>): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    try {
      await act();
    } finally {
      busy.current = false;
    }
  }

  return {
    pending,
    all,
    errors,
    apply: (idx) =>
      void alone(async () => {
        setAll(null);
        await applyOne(idx);
      }),
    applyAll: () =>
      void alone(async () => {
        const known = queryClient.getQueryData(consultQuery(id).queryKey);
        const places = known === undefined ? [] : applicableOf(known);
        for (const [done, idx] of places.entries()) {
          setAll({ done, of: places.length });
          if (!(await applyOne(idx))) return;
        }
        setAll({ done: places.length, of: places.length });
      }),
  };
}
