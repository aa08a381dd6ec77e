/** The words and marks for what the server names by code. Pure. */
import type { Dispatch, Handoff, PlanStatus, WorldCheck } from "../api/types";
import type { IconName } from "../ui/Icon";
import { plainText } from "../ui/plain-text.ts";

export interface Look {
  label: string;
  icon: IconName;
  tone: "good" | "bad" | "warn" | "plain";
}

export const STATES: Record<Handoff["state"], Look> = {
  accepted: { label: "Accepted", icon: "stamp", tone: "good" },
  refused: { label: "Refused", icon: "refused", tone: "bad" },
  checking: { label: "Being checked", icon: "hourglass", tone: "warn" },
};

export const ANSWERS: Record<WorldCheck["verdict"], Look> = {
  ok: { label: "OK", icon: "check", tone: "good" },
  failed: { label: "Failed", icon: "close", tone: "bad" },
  unknown: { label: "Unknown", icon: "question", tone: "warn" },
};

const STATUSES: Record<PlanStatus, string> = {
  COMPLETE: "Complete",
  IN_PROGRESS: "In progress",
  APPROVAL_REQUEST: "Asks for approval",
  BLOCKED: "Blocked",
  NEEDS_INPUT: "Needs input",
};

/** What the agent says of its plan; nothing when it says nothing that is known. */
export function statusOf(status: PlanStatus | null): string {
  return status === null ? "No status" : STATUSES[status];
}

const REFUSED_BY: Record<NonNullable<Handoff["refused_by"]>, string> = {
  verdict: "The envelope is not as it must be",
  status: "Its status cannot follow what was before",
  world: "What it claims was not found",
  repairs_spent: "It was sent back and came no better",
};

export function whyRefused(handoff: Pick<Handoff, "refused_by">): string | null {
  return handoff.refused_by === null ? null : REFUSED_BY[handoff.refused_by];
}

const MOST_CODES = 6;

/** The point of a refusal in one line: what was claimed and found, which codes, or which move was not allowed. */
export function refusedOver(handoff: Pick<Handoff, "refused_by" | "refusal" | "checks" | "verdict">): string {
  const failed = handoff.checks.find(({ verdict }) => verdict === "failed");
  if (handoff.refused_by === "world" && failed)
    return plainText(`${nameOf(failed)}: claimed ${failed.claimed}; found ${failed.found}`);
  const codes = [...handoff.verdict.missing, ...handoff.verdict.invalid];
  if (codes.length === 0) return plainText(handoff.refusal?.message ?? "");
  const more = codes.length - MOST_CODES;
  return plainText(codes.slice(0, MOST_CODES).join(", ")) + (more > 0 ? ` and ${more} more` : "");
}

/** What the agent says for the person; without it, that there is nothing to read. */
export function saidBy(handoff: Pick<Handoff, "summary" | "verdict">): string {
  if (handoff.summary !== "") return handoff.summary;
  return handoff.verdict.findings.some(({ pointer }) => pointer !== "")
    ? "It says nothing for you to read."
    : "Its turn ended without an envelope that can be read.";
}

/** "files_modified" → "files modified". */
export function nameOf(check: Pick<WorldCheck, "name">): string {
  return check.name.replaceAll("_", " ");
}

const NEEDS = { require: "required", report: "only reported", off: "off" } as const;

/** What the gate makes of a check that fails; nothing where nobody knows. */
export function weightOf(check: Pick<WorldCheck, "name">, policy: Dispatch["policy"] | undefined): string | null {
  const need = policy && Object.entries(policy).find(([name]) => name === check.name)?.[1];
  return need === undefined ? null : NEEDS[need];
}

const SOURCES: Record<Handoff["source"], string> = {
  api: "over the API",
  cli: "by gemba handoff submit",
  gate: "by its client’s hook, before the turn ended",
  hook: "by its client’s hook",
  mcp: "by the MCP tool",
};

export function cameBy(handoff: Pick<Handoff, "source" | "event">): string {
  const words = SOURCES[handoff.source];
  return handoff.event === null ? words : `${words} (${plainText(handoff.event)})`;
}

/** Long ids, short enough to be told apart at a glance. */
export function shortId(id: string): string {
  return plainText(id).slice(0, 8);
}

const PROGRESS: Record<PlanStatus, Pick<Look, "icon" | "tone">> = {
  COMPLETE: { icon: "stamp", tone: "good" },
  IN_PROGRESS: { icon: "hourglass", tone: "plain" },
  APPROVAL_REQUEST: { icon: "key", tone: "warn" },
  BLOCKED: { icon: "hand", tone: "bad" },
  NEEDS_INPUT: { icon: "question", tone: "warn" },
};

/** How far a dispatch got. Complete is only what was accepted as complete. */
export function progressOf({ status }: Pick<Dispatch, "status">): Look {
  if (status === null) return { label: "Nothing accepted yet", icon: "clock", tone: "plain" };
  return { label: STATUSES[status], ...PROGRESS[status] };
}
