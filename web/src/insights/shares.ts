/** Who or what the cost was for, and how advice fared, as rows that are compared. Pure. */
import type { CostShares, Insights, TrackRecord, UsageRow } from "../api/types";
import { answeredBy, formatDollars, percent } from "../consults/wording.ts";
import type { Ranked } from "../plots/Ranking";
import { tokens } from "../sprints/wording.ts";
import { firstLine, plainText } from "../ui/plain-text.ts";
import { unpricedWords, type Unit } from "./day-plots.ts";

/** The built-in advisor's name for itself. */
const ADVISOR = "gemba-advisor";
const SHORT = 60;

export interface Share extends Ranked {
  row: UsageRow;
}

/** As far as clients tell it: more than this where some turns told none. */
export function costOf({ cost_usd_micros: micros, unpriced }: Pick<UsageRow, "cost_usd_micros" | "unpriced">): string {
  return micros === null ? "–" : `${unpriced > 0 ? "≥ " : ""}${formatDollars(micros / 1_000_000)}`;
}

const amountOf = ({ cost_usd_micros: micros, tokens: many }: Pick<UsageRow, "cost_usd_micros" | "tokens">, unit: Unit) =>
  unit === "tokens" ? many : (micros ?? 0) / 1_000_000;
const said = (amount: number, unit: Unit) => (unit === "tokens" ? `${tokens(amount)} tokens` : formatDollars(amount));

function shareOf(key: string, name: string, row: UsageRow, unit: Unit, part: Share["part"]): Share {
  return { key, name, row, part, value: amountOf(row, unit), said: unit === "tokens" ? tokens(row.tokens) : costOf(row) };
}

/** Those that have a name by it, the others together; `none` is what belongs to none of them, where that is to be shown. */
export function sharesOf({ rows, more, rest, none }: CostShares, unit: Unit, noneName?: string): Share[] {
  const found = rows.map((row) => shareOf(`key ${row.key}`, row.title ?? row.key, row, unit, 0));
  found.sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  if (rest !== null) found.push(shareOf("rest", `${more} more`, rest, unit, 1));
  if (none !== null && noneName !== undefined) found.push(shareOf("none", noneName, none, unit, 2));
  return found;
}

const isUntold = ({ cost_usd_micros: micros }: Insights["total"], unit: Unit) => unit === "dollars" && micros === null;
const UNTOLD = "No turn of these days told what it cost; count in tokens.";

export function epicsFinding({ epics, total }: Pick<Insights, "epics" | "total">, unit: Unit): string {
  if (isUntold(total, unit)) return UNTOLD;
  const [first] = sharesOf(epics, unit);
  const whole = amountOf(total, unit);
  if (first === undefined || whole === 0) return `${said(whole, unit)}, none of it for an epic.`;
  const value = first.value ?? 0;
  const more = unit === "dollars" ? unpricedWords(total) : "";
  return `${firstLine(first.name, SHORT)} took the most: ${said(value, unit)} of ${said(whole, unit)}, ${percent(value / whole)}.${more}`;
}

export function personasFinding({ personas, total }: Pick<Insights, "personas" | "total">, unit: Unit): string {
  if (isUntold(total, unit)) return UNTOLD;
  const rows = sharesOf(personas, unit);
  const [first] = rows;
  const advice = rows.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const whole = amountOf(total, unit);
  const most = first !== undefined && rows.length > 1 ? `; ${firstLine(first.name, SHORT)} the most: ${said(first.value ?? 0, unit)}` : "";
  return `Advice took ${said(advice, unit)} of ${said(whole, unit)}${whole > 0 ? `, ${percent(advice / whole)}` : ""}${most}.`;
}

type PastRecord = TrackRecord["records"][number];

export interface Fared extends Ranked {
  record: PastRecord;
  persona: string;
}

export const isAdvisor = ({ model }: Pick<PastRecord, "model">): boolean => model === ADVISOR;
export const modelName = ({ model }: Pick<PastRecord, "model">): string =>
  answeredBy({ model: model === "unknown" ? null : model, status: "completed" });

/** By persona and model; the built-in advisor is drawn otherwise than models are. */
export function faredOf({ records }: TrackRecord, nameOf: (persona: string) => string): Fared[] {
  return records.map((record) => ({
    key: `${record.persona_id} ${record.model}`,
    persona: plainText(nameOf(record.persona_id)),
    name: `${nameOf(record.persona_id)}, ${modelName(record)}`,
    value: record.agreement,
    said: record.agreement === null ? "nothing to compare yet" : percent(record.agreement),
    part: isAdvisor(record) ? 0 : 1,
    record,
  }));
}

export function recordFinding({ records, rankings }: TrackRecord): string {
  const asked = `${tokens(rankings.length)} ${rankings.length === 1 ? "ranking" : "rankings"}`;
  const scored = records.filter(({ agreement }) => agreement !== null);
  if (scored.length === 0) return `${asked}; none can be compared with what happened yet.`;
  const best = (of: PastRecord[]) => of.toSorted((one, other) => (other.agreement ?? 0) - (one.agreement ?? 0))[0];
  const told = [best(scored.filter(isAdvisor)), best(scored.filter((one) => !isAdvisor(one)))]
    .filter((one) => one !== undefined)
    .map((one) => `${percent(one.agreement ?? 0)} of ${tokens(one.pairs)} pairs by ${modelName(one)}`);
  return `${asked}. In the order in which they were finished: ${told.join(", ")}.`;
}
