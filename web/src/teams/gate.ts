/** How an attempt was judged, as the server keeps it. What is stored is read with care: a gate of another form shows nothing. Pure. */
import type { TeamAttempt } from "../api/types";
import { isStored, number, objects, text, texts, type Stored } from "./stored.ts";

export interface DimensionScore {
  dimension: string;
  score: number;
  /** Null where there was nothing to compute. */
  computed: number | null;
  reviewed: number;
  failed: string[];
  reason: string;
}

export interface Gate {
  score: number;
  outcome: string;
  reviewer: string;
  reason: string;
  dimensions: DimensionScore[];
}

export interface Check {
  dimension: string;
  name: string;
  passed: boolean;
  evidence: string;
}

export function gateOf(stored: unknown): Gate | null {
  if (!isStored(stored)) return null;
  const score = number(stored["score"]);
  if (score === null) return null;
  return {
    score,
    outcome: text(stored["outcome"]),
    reviewer: text(stored["reviewer"]),
    reason: text(stored["reason"]),
    dimensions: objects(stored["dimensions"]).map(dimensionOf),
  };
}

function dimensionOf(stored: Stored): DimensionScore {
  return {
    dimension: text(stored["dimension"]),
    score: number(stored["score"]) ?? 0,
    computed: number(stored["computed"]),
    reviewed: number(stored["reviewed"]) ?? 0,
    failed: texts(stored["failed"]),
    reason: text(stored["reason"]),
  };
}

export function checksOf(attempt: Pick<TeamAttempt, "checks">): Check[] {
  return objects(attempt.checks).map((stored) => ({
    dimension: text(stored["dimension"]),
    name: text(stored["name"]),
    passed: stored["passed"] === true,
    evidence: text(stored["evidence"]),
  }));
}

/** What the reviewer wrote beside the points. */
export function noteOf(attempt: Pick<TeamAttempt, "review">): string {
  return isStored(attempt.review) ? text((attempt.review as Stored)["note"]) : "";
}

/** "86.25", "100". */
export function points(score: number): string {
  return String(Math.round(score * 100) / 100);
}
