/** What the settings screen calls things. Pure. */
import type { Setting, SettingsFile, SettingsFinding } from "../api/types.ts";

export type Part = Setting["part"];

/** In the order in which they are shown. */
export const PARTS: Record<Part, { title: string; about: string }> = {
  modes: { title: "Modes", about: "How much an agent may interrupt you, and what it is told of it." },
  policies: { title: "Policies", about: "What happens to what nobody answers." },
  channels: { title: "Channels", about: "Ways to reach somebody." },
  budgets: { title: "Budgets and caps", about: "What the workspace may take. A cap of 0 is none." },
  agents: { title: "Agents", about: "What a session can be started with." },
  teams: { title: "Teams", about: "Team runs, and what programs do in them." },
  approvals: { title: "Approvals", about: "What this project’s own commands do." },
  context: { title: "Context", about: "Sections of what is known of the project." },
  server: { title: "Server and gates", about: "Where it listens, what it keeps, what it compares with the world." },
};

export const PART_NAMES = Object.keys(PARTS) as Part[];

/** When a change of a file counts. */
export const COUNTS: Record<SettingsFile["counts"], string> = {
  at_once: "A change counts at once, for what begins after it.",
  next_start: "A change counts from the server’s next start.",
};

export const errorsIn = (findings: readonly SettingsFinding[]) =>
  findings.filter(({ severity }) => severity !== "note").length;

/** Whether a file can be used, in a few words. */
export function stateOf({ digest, findings }: Pick<SettingsFile, "digest" | "findings">): {
  words: string;
  tone: "ok" | "warn" | "fail";
} {
  if (digest === "") return { words: "not there: the defaults count", tone: "ok" };
  const errors = errorsIn(findings);
  if (errors > 0) return { words: errors === 1 ? "1 fault" : `${errors} faults`, tone: "fail" };
  const notes = findings.length;
  if (notes > 0) return { words: notes === 1 ? "1 note" : `${notes} notes`, tone: "warn" };
  return { words: "no fault", tone: "ok" };
}

/** The names that a value stands for: tables apart from keys. */
export function nameParts(name: string): { table: string; key: string } {
  const cut = name.lastIndexOf(".");
  return { table: cut < 0 ? "" : name.slice(0, cut), key: cut < 0 ? name : name.slice(cut + 1) };
}
