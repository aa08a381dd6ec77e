/** What is plotted of the days: which figures, how they are said, and in a sentence what they show. Pure. */
import type { InsightDay, Insights } from "../api/types";
import { formatDollars } from "../consults/wording.ts";
import { dayName } from "../plots/days.ts";
import { roundTicks, sayShort, timeTicks, type Scale } from "../plots/ticks.ts";
import { tokens } from "../sprints/wording.ts";
import { formatSeconds } from "../ui/time.ts";

/** What cost is counted in: dollars as far as clients tell them, or tokens. */
export type Unit = "dollars" | "tokens";

export interface DayPart {
  name: string;
  valueOf: (day: InsightDay) => number | null;
}

export interface DaysPlot {
  id: string;
  title: string;
  kind: "bars" | "lines";
  /** Of bars, from below. */
  parts: readonly [DayPart, ...DayPart[]];
  scaleOf: (most: number) => Scale;
  /** A value as it stands in the table, and at a mark of the axis. */
  say: (value: number) => string;
  sayMark: (value: number) => string;
  /** What a day without a value is in words. */
  nothing: string;
  /** Whether there is anything to show. */
  isEmpty: (insights: Insights) => boolean;
  finding: (insights: Insights) => string;
  /** What will stand here, and what has to happen for that. */
  lesson: string;
}

const many = (value: number, one: string, more = `${one}s`) => `${tokens(value)} ${value === 1 ? one : more}`;
const aDay = (value: number) => value.toLocaleString("en", { maximumFractionDigits: value < 1 ? 2 : 1 });
const dollarsOf = (micros: number | null) => (micros === null ? null : micros / 1_000_000);
const span = (seconds: number | null) => formatSeconds(seconds ?? 0);
const minutes = (value: number) => formatSeconds(Math.round(value * 60));

/** The day with the most of something; the first of several. */
function peakOf(days: readonly InsightDay[], valueOf: DayPart["valueOf"]): { day: string; value: number } {
  let [peak, most] = ["", 0];
  for (const day of days) {
    const value = valueOf(day) ?? 0;
    if (value > most) [peak, most] = [day.day, value];
  }
  return { day: peak, value: most };
}

const DISPATCHED: DaysPlot = {
  id: "dispatched",
  title: "Work dispatched",
  kind: "bars",
  parts: [{ name: "Dispatched", valueOf: (day) => day.dispatched }],
  scaleOf: (most) => roundTicks(most, { whole: true }),
  say: tokens,
  sayMark: sayShort,
  nothing: "nothing",
  isEmpty: ({ total }) => total.dispatched === 0,
  finding: ({ days, total }) => {
    const peak = peakOf(days, (day) => day.dispatched);
    const rate = `${aDay(total.dispatched / days.length)} a day`;
    return `${many(total.dispatched, "dispatch", "dispatches")} in ${days.length} days, ${rate}; the most on ${dayName(peak.day)}: ${tokens(peak.value)}.`;
  },
  lesson: "Each piece of work that is given to an agent counts here: start a session, begin a team run, or let ready work start by itself.",
};

const unanswered = (day: Pick<InsightDay, "asked" | "answered" | "by_default">) =>
  Math.max(0, day.asked - day.answered - day.by_default);

const ASKED: DaysPlot = {
  id: "asked",
  title: "Escalations",
  kind: "bars",
  parts: [
    { name: "Answered", valueOf: (day) => day.answered },
    { name: "By default", valueOf: (day) => day.by_default },
    { name: "Not answered", valueOf: unanswered },
  ],
  scaleOf: (most) => roundTicks(most, { whole: true }),
  say: tokens,
  sayMark: sayShort,
  nothing: "nothing asked",
  isEmpty: ({ total }) => total.asked === 0,
  finding: ({ days, total }) => {
    const ends = [`answered ${tokens(total.answered)}`];
    if (total.by_default > 0) ends.push(`${tokens(total.by_default)} by default`);
    const rate = `${aDay(total.asked / days.length)} a day`;
    const each = total.dispatched > 0 ? `, ${aDay(total.asked / total.dispatched)} for each dispatch` : "";
    return `Asked ${tokens(total.asked)}, ${ends.join(", ")}; ${rate}${each}.`;
  },
  lesson: "What agents ask with gemba-ask counts here, by the day of the question and by what became of it.",
};

/** The middle one and the ninth of ten. */
const times = (what: "to_see" | "to_answer"): DaysPlot["parts"] => [
  { name: "Median", valueOf: (day) => day[`${what}_p50`] },
  { name: "Nine of ten within", valueOf: (day) => day[`${what}_p90`] },
];

const TIME = { kind: "lines", scaleOf: timeTicks, say: formatSeconds, sayMark: formatSeconds } as const;

const TO_SEE: DaysPlot = {
  ...TIME,
  id: "to-see",
  title: "Time to see",
  parts: times("to_see"),
  nothing: "nothing seen",
  isEmpty: ({ total }) => total.seen === 0,
  finding: ({ total }) =>
    `Asked ${tokens(total.asked)}, seen ${tokens(total.seen)}; half of these within ${span(total.to_see_p50)}, nine of ten within ${span(total.to_see_p90)}.`,
  lesson: "From a question until you acknowledge, snooze or answer it: the day's median, and what nine of ten were seen within.",
};

const TO_ANSWER: DaysPlot = {
  ...TIME,
  id: "to-answer",
  title: "Time to answer",
  parts: times("to_answer"),
  nothing: "nothing answered",
  isEmpty: ({ total }) => total.answered === 0,
  finding: ({ total }) =>
    `Asked ${tokens(total.asked)}, answered ${tokens(total.answered)}; the median answer took ${span(total.to_answer_p50)}, nine of ten at most ${span(total.to_answer_p90)}.`,
  lesson: "From a question until its answer: the day's median, and what nine of ten were answered within.",
};

const BLOCKED: DaysPlot = {
  id: "blocked",
  title: "Blocked agent-minutes",
  kind: "bars",
  parts: [{ name: "Blocked minutes", valueOf: (day) => day.blocked_minutes }],
  scaleOf: (most) => roundTicks(most),
  say: (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }),
  sayMark: sayShort,
  nothing: "nobody waited",
  isEmpty: ({ total }) => total.blocked_minutes === 0,
  finding: ({ days, total }) => {
    const peak = peakOf(days, (day) => day.blocked_minutes);
    return `Agents stood still for ${minutes(total.blocked_minutes)} in all; the longest for what was asked on ${dayName(peak.day)}: ${minutes(peak.value)}.`;
  },
  lesson: "How long agents stood still because a blocking question was open; two questions at once count once.",
};

function costPlot(unit: Unit): DaysPlot {
  const inDollars = unit === "dollars";
  const say = inDollars ? formatDollars : tokens;
  const valueOf = inDollars ? (day: InsightDay) => dollarsOf(day.cost_usd_micros) : (day: InsightDay) => day.tokens;
  return {
    id: "cost",
    title: "Cost by day",
    kind: "bars",
    parts: [{ name: inDollars ? "Dollars" : "Tokens", valueOf }],
    scaleOf: (most) => roundTicks(most, { whole: !inDollars }),
    say,
    sayMark: inDollars ? (value) => `$${sayShort(value)}` : sayShort,
    nothing: inDollars ? "no cost told" : "nothing",
    isEmpty: ({ total }) => (inDollars ? total.cost_usd_micros === null : total.tokens === 0),
    finding: ({ days, total }) => {
      const peak = peakOf(days, valueOf);
      const whole = inDollars ? formatDollars(dollarsOf(total.cost_usd_micros) ?? 0) : many(total.tokens, "token");
      const most = peak.value > 0 ? `; the most on ${dayName(peak.day)}: ${say(peak.value)}` : "";
      return `${whole} in ${days.length} days${most}.${inDollars ? unpricedWords(total) : ""}`;
    },
    lesson: "What each turn took stands here as soon as an agent's client tells it.",
  };
}

export function unpricedWords({ turns, unpriced }: { turns: number; unpriced: number }): string {
  return unpriced === 0 ? "" : ` ${tokens(unpriced)} of ${many(turns, "turn")} told no cost.`;
}

export const WORK_PLOTS: readonly DaysPlot[] = [DISPATCHED, ASKED];
export const WAITING_PLOTS: readonly DaysPlot[] = [TO_SEE, TO_ANSWER, BLOCKED];
export const COST_PLOT: Record<Unit, DaysPlot> = { dollars: costPlot("dollars"), tokens: costPlot("tokens") };

/** What the axis has to reach: bars stand on each other, lines do not. */
export function mostOf({ kind, parts }: DaysPlot, days: readonly InsightDay[]): number {
  const reach = (values: (number | null)[]) =>
    kind === "bars" ? values.reduce<number>((sum, value) => sum + (value ?? 0), 0) : Math.max(0, ...values.map((value) => value ?? 0));
  return days.reduce((most, day) => Math.max(most, reach(parts.map(({ valueOf }) => valueOf(day)))), 0);
}

/** A day in words, for who points at it. */
export function sayDay({ kind, parts, say, nothing }: DaysPlot, day: InsightDay): string {
  const told = parts
    .map(({ name, valueOf }) => ({ name, value: valueOf(day) }))
    .filter(({ value }) => value !== null && (kind === "lines" || value > 0));
  return told.length === 0 ? nothing : told.map(({ name, value }) => `${name.toLowerCase()} ${say(value ?? 0)}`).join(", ");
}
