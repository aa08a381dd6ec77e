/** What is plotted of the days: which figure, what it is called, and how it is said. Pure. */
import type { InsightDay } from "../api/types";
import { formatSeconds } from "../ui/time.ts";

export interface Series {
  id: string;
  title: string;
  valueOf: (day: InsightDay) => number | null;
  say: (value: number) => string;
  /** What the sentence gives: the sum of the days, or the middle one of those that have a value. */
  overall: "sum" | "middle";
}

const count = (one: string, many: string) => (value: number) =>
  `${Math.round(value).toLocaleString("en")} ${Math.round(value) === 1 ? one : many}`;

export const SERIES: Series[] = [
  { id: "tokens", title: "Tokens used", valueOf: (day) => day.tokens, say: count("token", "tokens"), overall: "sum" },
  {
    id: "dispatched",
    title: "Work dispatched",
    valueOf: (day) => day.dispatched,
    say: count("dispatch", "dispatches"),
    overall: "sum",
  },
  { id: "asked", title: "Escalations", valueOf: (day) => day.asked, say: count("escalation", "escalations"), overall: "sum" },
  {
    id: "to-answer",
    title: "Time to answer",
    valueOf: (day) => day.to_answer_p50,
    say: (value) => formatSeconds(value),
    overall: "middle",
  },
  {
    id: "blocked",
    title: "Blocked agent-minutes",
    valueOf: (day) => day.blocked_minutes,
    say: (value) => `${value.toLocaleString("en", { maximumFractionDigits: 1 })} min`,
    overall: "sum",
  },
];

/** One sentence that says what the picture shows. */
export function sentenceOf({ valueOf, say, overall }: Series, days: InsightDay[]): string {
  const told = days.map((day) => ({ day: day.day, value: valueOf(day) })).filter(({ value }) => value !== null);
  const values = told.map(({ value }) => value ?? 0);
  const most = Math.max(0, ...values);
  if (values.length === 0 || most === 0) return `Nothing in ${days.length} days.`;
  const peak = told.find(({ value }) => value === most)?.day ?? "";
  const whole =
    overall === "sum"
      ? `${say(values.reduce((sum, value) => sum + value, 0))} in ${days.length} days`
      : `${say(values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? 0)} on a usual day`;
  return `${whole}; the most on ${peak}: ${say(most)}.`;
}
