/**
 * Applying lines of a consult: one, or all that are left in their order until one is refused; and taking them back, the
 * last first. Each time is a confirm id of its own, and nothing is sent twice while an answer is on its way.
 */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { applyLine, consultQuery, takeBackLine } from "../api/consult-queries";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { announce } from "../ui/announce";
import { offerWayBack } from "../undo/undo";
import { applicableOf, withApplied, withoutApplied } from "./lines";
import { problemOf } from "./wording";

export interface Applying {
  /** The line that is being applied. */
  pending: number | null;
  /** How far all of them got. */
  all: { done: number; of: number } | null;
  errors: ReadonlyMap<number, Error>;
  apply: (idx: number) => void;
  applyAll: () => void;
  /** Its change is undone, unless somebody changed the same since; it can be applied again. */
  takeBack: (idx: number) => void;
  /** All that are applied, the last first, until one is refused. */
  takeAllBack: () => void;
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

  /** The last first, as each may build on those before it; one that is refused ends it. */
  async function takeAllBack(places: number[]): Promise<void> {
    setAll(null);
    for (const idx of places.toReversed()) {
      const { applied_idx: left } = await takeBackLine(id, idx, newConfirmId());
      queryClient.setQueryData(consultQuery(id).queryKey, (known) => known && withoutApplied(known, left));
    }
  }

  function offerBack(places: number[]): void {
    if (places.length === 0) return;
    const many = (what: string) => (places.length === 1 ? `Line ${places[0]} is ${what}` : `${places.length} lines are ${what}`);
    offerWayBack(many("applied"), async () => {
      try {
        await takeAllBack(places);
      } finally {
        void refresh(consultQuery(id).queryKey);
      }
      return { words: many("taken back"), refused: [] };
    });
  }

  async function takeBack(idx: number): Promise<boolean> {
    setPending(idx);
    setErrors((known) => new Map([...known].filter(([place]) => place !== idx)));
    try {
      await takeAllBack([idx]);
      announce(`Line ${idx} is taken back`);
      return true;
    } catch (problem) {
      const error = problem instanceof Error ? problem : new Error(String(problem));
      setErrors((known) => new Map(known).set(idx, error));
      announce(`Not taken back. ${explain(error)}`);
      if (error instanceof Refused) void refresh(consultQuery(id).queryKey);
      return false;
    } finally {
      setPending(null);
    }
  }

  async function takeBackEach(): Promise<void> {
    setAll(null);
    const places = queryClient.getQueryData(consultQuery(id).queryKey)?.applied.map(({ idx }) => idx) ?? [];
    for (const idx of places.toReversed()) if (!(await takeBack(idx))) return;
    announce(`${places.length} lines are taken back`);
  }

  async function alone(act: () => Promise<unknown>): Promise<void> {
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
        if (await applyOne(idx)) offerBack([idx]);
      }),
    takeBack: (idx) => void alone(() => takeBack(idx)),
    takeAllBack: () => void alone(takeBackEach),
    applyAll: () =>
      void alone(async () => {
        const known = queryClient.getQueryData(consultQuery(id).queryKey);
        const places = known === undefined ? [] : applicableOf(known);
        let done = 0;
        for (; done < places.length; done += 1) {
          setAll({ done, of: places.length });
          if (!(await applyOne(places[done]!))) break;
        }
        setAll({ done, of: places.length });
        offerBack(places.slice(0, done));
      }),
  };
}
