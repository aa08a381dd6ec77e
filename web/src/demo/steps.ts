/** What one can do in the demo, and how the server's own lists tell that it was done. */
import type { Approval, ConsultSummary, Escalation, TeamSummary } from "../api/types.ts";

export type StepName = "answer" | "approve" | "rank" | "team";

export interface Facts {
  settled: Pick<Escalation, "kind" | "resolution">[];
  approvals: Pick<Approval, "state">[];
  consults: Pick<ConsultSummary, "skill_id" | "status">[];
  /** Undefined while they are not known; none where there is no git. */
  runs: Pick<TeamSummary, "ended_at">[] | undefined;
}

const COMMANDS = ["approval", "permission_prompt"];

/** What the operator did is done; what an agent was told in its window, or by a rule, is not theirs. */
function isAnswered({ resolution }: Facts["settled"][number]): boolean {
  return resolution?.by === "operator" && resolution.outcome === "answered";
}

export function doneSteps({ settled, approvals, consults, runs = [] }: Facts): StepName[] {
  const answered = settled.filter(isAnswered);
  const found: [StepName, boolean][] = [
    ["answer", answered.some(({ kind }) => !COMMANDS.includes(kind))],
    [
      "approve",
      approvals.some(({ state }) => state === "approved") ||
        answered.some(({ kind, resolution }) => COMMANDS.includes(kind) && resolution?.decision === "yes"),
    ],
    ["rank", consults.some(({ skill_id, status }) => skill_id === "epic_order" && (status === "completed" || status === "closed"))],
    ["team", runs.some(({ ended_at }) => ended_at !== null)],
  ];
  return found.filter(([, isDone]) => isDone).map(([name]) => name);
}
