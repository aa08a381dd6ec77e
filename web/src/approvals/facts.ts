/** What a seal covers beside the command, and which of it all steps of a plan have in common. Pure. */
import type { Approval } from "../api/types";

const SEALED = {
  Risk: ({ risk, reason }) => [risk, reason],
  In: ({ cwd }) => cwd,
  Tool: ({ tool }) => tool,
  Environment: ({ environment }) => environment,
  Rollback: ({ rollback }) => rollback,
  Verification: ({ verification }) => verification,
  Requester: ({ requester }) => requester,
  Expiry: ({ expires_at }) => expires_at.slice(0, "2026-11-16T12:00".length),
  Seal: ({ hash }) => hash,
} satisfies Record<string, (approval: Approval) => unknown>;

export type FactName = keyof typeof SEALED;

export const FACTS = Object.keys(SEALED) as FactName[];

/** Those that say the same of every step: told once, they leave room for what differs. */
export function sharedBy(steps: readonly Approval[]): FactName[] {
  const values = (name: FactName) => new Set(steps.map((step) => JSON.stringify(SEALED[name](step))));
  return steps.length < 2 ? [] : FACTS.filter((name) => values(name).size === 1);
}
