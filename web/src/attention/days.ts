/** The days of a report, each with its sums over agents and kinds, also those on which nothing was asked. Pure. */
import type { Attention, AttentionRow } from "../api/types";

export interface Day {
  day: string;
  asked: number;
  answered: number;
  by_default: number;
  blocked_minutes: number;
}

export interface Filter {
  agent_type: string;
  kind: string;
}

const A_DAY = 86_400_000;
const MOST_DAYS = 400;

export function daysOf(report: Pick<Attention, "from" | "to">, rows: readonly AttentionRow[]): Day[] {
  const days: Day[] = [];
  const first = Date.parse(report.from.slice(0, 10));
  const last = Date.parse(report.to.slice(0, 10));
  for (let at = first; at <= last && days.length < MOST_DAYS; at += A_DAY) {
    const day = new Date(at).toISOString().slice(0, 10);
    const these = rows.filter((row) => row.day === day);
    const sum = (figure: "asked" | "answered" | "by_default" | "blocked_minutes") =>
      these.reduce((total, row) => total + row[figure], 0);
    days.push({
      day,
      asked: sum("asked"),
      answered: sum("answered"),
      by_default: sum("by_default"),
      blocked_minutes: sum("blocked_minutes"),
    });
  }
  return days;
}

/** Every value that a filter may take, in order. */
export function valuesOf(report: Attention, name: keyof Filter): string[] {
  return [...new Set(report.rows.map((row) => row[name]))].sort();
}
