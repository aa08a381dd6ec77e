/** The words for what became of a request and its grant. Pure. */
import type { Approval } from "../api/types";
import { firstLine, plainText } from "../ui/plain-text.ts";
import { formatSpan } from "../ui/time.ts";

const RISKS: Record<string, string> = {
  T0: "reads",
  T1: "checks locally",
  T2: "simulates",
  T3: "changes state",
  unknown: "unknown: it may do anything",
};

export function riskOf({ risk }: Pick<Approval, "risk">): string {
  const words = RISKS[risk];
  return risk === "unknown" || words === undefined ? (words ?? risk) : `${risk} ${words}`;
}

/** "expires in 2 days", "its time ran out". */
export function expiryOf({ expires_at }: Pick<Approval, "expires_at">, now: number): string {
  const left = Date.parse(expires_at) - now;
  if (left <= 0) return "its time ran out";
  return left < 10_000 ? "expires now" : `expires in ${formatSpan(left)}`;
}

export function isOver({ expires_at }: Pick<Approval, "expires_at">, now: number): boolean {
  return Date.parse(expires_at) <= now;
}

/** "Approved by ana, confirmed by ben · used, and it ran well". */
export function stateOf(approval: Approval, now: number): string {
  const { state, decided_by, confirmed_by, decision_reason } = approval;
  const second = confirmed_by === null ? "" : `, confirmed by ${plainText(confirmed_by)}`;
  const by = decided_by === null ? "" : ` by ${plainText(decided_by)}${second}`;
  const why = decision_reason === null ? "" : `: ${plainText(decision_reason)}`;
  switch (state) {
    case "pending":
      return isOver(approval, now) ? "Its time ran out" : `Waits, ${expiryOf(approval, now)}`;
    case "approved":
      return `Approved${by}${why} · ${grantOf(approval, now)}`;
    case "superseded":
      return `Edited${by}: another command took its place`;
    case "refused":
      return `Refused${by}${why}`;
    case "expired":
      return "Nobody decided in time";
    case "withdrawn":
      return `Withdrawn by the agent${why}`;
  }
}

function grantOf(approval: Approval, now: number): string {
  const outcome = approval.outcome === null ? "" : `: ${plainText(approval.outcome)}`;
  switch (approval.grant_state) {
    case "consumed":
      return "used; how it ended is not told yet";
    case "succeeded":
      return "used, and it ran well";
    case "failed":
      return `used, and it failed${outcome}`;
    case "unknown":
      return "used; how it ended is not known";
    case "unused":
    case null:
      return isOver(approval, now) ? "not used in time" : `not used yet, ${expiryOf(approval, now)}`;
  }
}

/** What is asked about now: of a plan each step as it was last edited, in order. After that, what was decided. */
export function planOf(approvals: readonly Approval[]): Approval[] {
  const alive = approvals.filter((one) => one.state !== "superseded");
  return alive.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
}

/** A command where there is room for one line: the first, how many more there are, and whether any of it is left out. */
export function headOf(command: string): { line: string; more: string; isCut: boolean } {
  const whole = plainText(command).trim();
  const line = firstLine(command);
  const others = whole.split("\n").length - 1;
  const more = others === 0 ? "" : others === 1 ? "… 1 more line" : `… ${others} more lines`;
  return { line, more, isCut: line !== whole };
}
