/** A session's asks and decisions in one order, newest first, and its figures. Pure. */
import { isUnresolved } from "../api/escalation-list.ts";
import type { Assumption, Escalation } from "../api/types";

export type Entry =
  | { what: "ask"; id: string; at: number; escalation: Escalation }
  | { what: "assumption"; id: string; at: number; assumption: Assumption };

/** With more asks to come, assumptions that are older than the last one wait for them. */
export function timelineOf(escalations: Escalation[], assumptions: Assumption[], more: boolean): Entry[] {
  const asks = escalations.map(
    (escalation): Entry => ({
      what: "ask",
      id: escalation.id,
      at: Date.parse(escalation.opened_at),
      escalation,
    }),
  );
  const oldest = more ? Math.min(...asks.map(({ at }) => at)) : Number.NEGATIVE_INFINITY;
  const decided = assumptions
    .map(
      (assumption): Entry => ({
        what: "assumption",
        id: assumption.id,
        at: Date.parse(assumption.recorded_at),
        assumption,
      }),
    )
    .filter(({ at }) => at >= oldest);
  return [...asks, ...decided].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

export interface Figures {
  waiting: number;
  answered: number;
  /** The middle one of the times from ask to answer, in milliseconds. */
  usualWait: number | null;
}

export function figuresOf(escalations: Escalation[]): Figures {
  const answered = escalations.filter(({ resolution }) => resolution?.outcome === "answered");
  const waits = answered
    .map(({ opened_at, resolution }) => Date.parse(resolution!.at) - Date.parse(opened_at))
    .sort((a, b) => a - b);
  return {
    waiting: escalations.filter(isUnresolved).length,
    answered: answered.length,
    usualWait: waits[Math.floor((waits.length - 1) / 2)] ?? null,
  };
}
