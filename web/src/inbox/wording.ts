/** The words and marks for what the server names by code. Pure. */
import type { Delivery, Escalation, Resolution } from "../api/types";
import type { IconName } from "../ui/Icon";
import { plainText } from "../ui/plain-text.ts";

const KINDS: Record<string, [label: string, icon: IconName]> = {
  question: ["Question", "question"],
  blocker: ["Blocker", "hand"],
  permission_prompt: ["Permission", "key"],
  hitl_approval: ["Approval", "stamp"],
  approval: ["Approval", "stamp"],
  needs_input: ["Needs input", "question"],
  blocked: ["Blocked", "hand"],
  gate_failure: ["Gate failed", "gate"],
  purview_violation: ["Outside its purview", "fence"],
  budget_warn: ["Budget warning", "coin"],
  budget_stop: ["Budget used up", "coin"],
  stalled: ["Stalled", "hourglass"],
};

export function kindOf(escalation: Pick<Escalation, "kind">): { label: string; icon: IconName } {
  const [label, icon] = KINDS[escalation.kind] ?? [escalation.kind.replaceAll("_", " "), "question" as const];
  return { label, icon };
}

/** The only operator of a workspace that has named none. */
const ITSELF = "operator";

/** The operator, here, in another tab or on the command line, goes without saying. */
const BY: Record<Resolution["by"], string> = {
  operator: "",
  pane: " in the pane",
  agent: " by the agent",
  session: " because its session ended",
  policy: " by the policy",
  rule: " by a rule",
};

/** What the server says where it was indeed the session that ended. */
const SESSION_OVER = "the session ended";

const OUTCOMES: Record<Resolution["outcome"], string> = {
  answered: "Answered",
  default: "Answered by default",
  expired: "Expired",
  declined: "Dismissed",
  withdrawn: "Withdrawn",
};

/** What an answer about a command was. */
const DECIDED: Record<string, string> = { yes: "Approved", no: "Refused", modify: "Edited" };

/** "Answered", "Answered by ana, confirmed by ben", "Withdrawn by the agent", "Expired". */
export function outcomeOf(resolution: Resolution, kind?: string): string {
  const { outcome, by, who, late, confirmed_by: confirmer } = resolution;
  const impersonal = by === "policy" || outcome === "expired";
  const person = by === "operator" && who !== null && who !== ITSELF ? ` by ${plainText(who)}` : "";
  const decided = kind === "approval" && outcome === "answered" ? DECIDED[resolution.decision ?? ""] : undefined;
  const why = by === "session" && resolution.text !== SESSION_OVER ? `: ${plainText(resolution.text)}` : BY[by];
  const words = (decided ?? OUTCOMES[outcome]) + (impersonal ? "" : person || why) + (late ? " late" : "");
  return confirmer === null ? words : `${words}, confirmed by ${plainText(confirmer)}`;
}

/** The words of the answer, when there was one. */
export function answerOf(resolution: Resolution, kind?: string): string | null {
  // That it was approved is said already.
  if (kind === "approval" && resolution.decision === "yes" && resolution.text === "yes") return null;
  if (resolution.outcome === "withdrawn" || resolution.outcome === "expired") return null;
  return resolution.text || resolution.decision || resolution.action || null;
}

const DELIVERIES: Record<Delivery, string | null> = {
  none: null,
  pending: "on its way",
  delivered: "delivered",
  undelivered: "not delivered",
};

export function deliveryOf(escalation: { delivery: Delivery }): string | null {
  return DELIVERIES[escalation.delivery];
}

/** Short enough to compare at a glance, long enough to be told apart. */
export function shortHash(commit: string): string {
  return commit.slice(0, 7);
}

/** Its time ran out, or a policy answered in the operator's place: an answer now is the agent's next turn. */
export function mayBeAnsweredLate(escalation: Escalation): boolean {
  const { channel, state, late, resolution } = escalation;
  if (late || channel !== "tool_call") return false;
  return state === "expired" || (state === "resolved" && resolution?.outcome === "default");
}
