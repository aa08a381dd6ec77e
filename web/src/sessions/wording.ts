/** What a session is, does and came to, in words; and the order of the list. Pure. */
import type { Session, SessionInput, Usage, Worktree } from "../api/types";
import type { Look } from "../handoffs/wording.ts";

export function isAlive({ lifecycle }: Pick<Session, "lifecycle">): boolean {
  return lifecycle === "starting" || lifecycle === "running";
}

const SILENT_AFTER = 60 * 60_000;

/** Whether it works as far as anybody knows: of one that somebody else started only what is heard of it tells. */
export function isAtWork(session: Session, now: number = Date.now()): boolean {
  return isAlive(session) && ((session.run ?? null) !== null || now - Date.parse(session.last_frame_at) < SILENT_AFTER);
}

const LOOKS: Record<Session["lifecycle"], Look> = {
  starting: { label: "Starting", icon: "hourglass", tone: "warn" },
  running: { label: "Running", icon: "pulse", tone: "good" },
  completed: { label: "Completed", icon: "check", tone: "plain" },
  stopped: { label: "Stopped", icon: "hand", tone: "plain" },
  failed: { label: "Failed", icon: "refused", tone: "bad" },
  lost: { label: "Lost", icon: "question", tone: "bad" },
};

export function lookOf(session: Session): Look {
  const isStopping = isAlive(session) && session.run?.wanted === false;
  if (isAlive(session) && !isAtWork(session)) return { label: "Not heard of lately", icon: "question", tone: "plain" };
  return isStopping ? { label: "Being stopped", icon: "hourglass", tone: "warn" } : LOOKS[session.lifecycle];
}

/** What it says of itself; nothing once it is over, or when that is said already. */
export function saysOf(session: Session): string | null {
  return isAlive(session) && session.reported_state !== null ? session.reported_state.replace("-", " ") : null;
}

const REASONS: Record<string, string> = {
  provider_exit: "It ended by itself",
  operator_stop: "Somebody stopped it",
  time_limit: "It ran as long as its type may, and was stopped",
  not_started: "It could not be started",
  killed: "Something else killed it",
  pane_gone: "Somebody closed its pane",
  terminal_died: "The terminal that it ran in died",
};

const SIGNALS: Record<number, string> = { 1: "SIGHUP", 2: "SIGINT", 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM" };

/** How it ended, as one would say it; nothing while it lives. */
export function endingOf(session: Session): string | null {
  if (isAlive(session)) return null;
  const { code = null, signal = null, trouble = null } = session.run ?? {};
  const reason = session.close_reason ?? null;
  const words = reason === null ? "It is over" : (REASONS[reason] ?? reason.replaceAll("_", " "));
  if (trouble !== null) return `${words}: ${trouble}`;
  if (signal !== null) return `${words}, by ${SIGNALS[signal] ?? `signal ${signal}`}`;
  return code === null ? words : `${words}, with code ${code}`;
}

/** Why nobody can type to it; null where one can. */
export function whyNotTyped(session: Session): string | null {
  const run = session.run ?? null;
  if (!isAlive(session) || (run !== null && run.ended_at !== null)) return "It is over: nobody reads what is typed.";
  if (run === null) return "Somebody else started it: type where it runs.";
  if (!run.wanted) return "It is being stopped.";
  return run.headless ? "It takes one prompt and ends with its turn: nobody can type to it. Start another one." : null;
}

const INPUTS: Record<SessionInput["state"], string> = {
  waiting: "Is typed as soon as no dialog of its client is open",
  typing: "Being typed",
  typed: "Typed",
  read: "Typed, and read",
  not_typed: "Not typed",
};

export function inputWords({ state, trouble }: Pick<SessionInput, "state" | "trouble">): string {
  return trouble === null ? `${INPUTS[state]}.` : `${INPUTS[state]}. ${trouble}`;
}

/** It did not arrive, or nobody knows whether it did. */
export function didNotArrive({ state, trouble }: Pick<SessionInput, "state" | "trouble">): boolean {
  return state === "not_typed" || trouble !== null;
}

const newestFirst = (a: string, b: string) => Date.parse(b) - Date.parse(a);

/** Those that live first, with those that need the operator in front; then what ended last. None moves by being heard of. */
export function livingFirst(a: Session, b: Session): number {
  const ranks = Number(isAlive(b)) - Number(isAlive(a)) || Number(b.needs_you) - Number(a.needs_you);
  return ranks || newestFirst(a.run?.ended_at ?? a.first_seen_at, b.run?.ended_at ?? b.first_seen_at);
}

const many = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;

/** What would be lost with a worktree; the first part alone when nothing would. */
export function worktreeWords(tree: Worktree): string[] {
  const parts: string[] = tree.is_there ? [] : ["Its folder is gone"];
  if (tree.is_there) parts.push(tree.dirty === 0 ? "Nothing uncommitted" : `${many(tree.dirty, "file")} not committed`);
  if (tree.unmerged !== null && tree.unmerged > 0)
    parts.push(`${many(tree.unmerged, "commit")} that ${tree.base_branch ?? "the workspace"} does not have`);
  else if (tree.ahead !== null) parts.push(tree.ahead === 0 ? "no commits" : `${many(tree.ahead, "commit")}, all merged`);
  if (tree.unpushed !== null && tree.unpushed > 0) parts.push(`${tree.unpushed} not pushed`);
  return parts;
}

/** Whether it wants something of the operator, and how much; null when it does not. */
export function needsWords({ needs_you: needs, waiting }: Pick<Session, "needs_you" | "waiting">): string | null {
  if (waiting === 0) return needs ? "needs you" : null;
  const asks = `${many(waiting, "ask")} ${waiting === 1 ? "waits" : "wait"}`;
  return needs ? `needs you: ${asks}` : asks;
}

/** What was only in a worktree when it was looked at; null while nobody has. */
export function unsavedWords(session: Session): string | null {
  const seen = session.run?.unsaved ?? null;
  if (seen === null) return null;
  const parts = [
    ...(seen.dirty > 0 ? [`${many(seen.dirty, "file")} not committed`] : []),
    ...(seen.unmerged > 0 ? [`${many(seen.unmerged, "commit")} not merged`] : []),
  ];
  return parts.length === 0 ? "nothing only there" : parts.join(", ");
}

/** A worktree by the end of its path, which is all that differs. */
export function worktreeName(folder: string): string {
  const at = folder.lastIndexOf("/.gemba/worktrees/");
  return at < 0 ? folder : folder.slice(at + 1);
}

/** What happens to all that is in a worktree when it is released. */
export function releaseWords(tree: Worktree): string {
  const kept = [
    ...(tree.dirty > 0 ? [`${many(tree.dirty, "file")} not committed: kept under refs/gemba/released/`] : []),
    ...((tree.unmerged ?? 0) > 0 ? [`${many(tree.unmerged ?? 0, "commit")} not merged: kept on ${tree.branch}`] : []),
  ];
  if (kept.length === 0) return "Its folder and its branch go. Nothing is only there.";
  return `Its folder goes, with all that is listed above. ${kept.join("; ")}.`;
}

const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const tokens = (count: number | null) => (count === null ? "–" : compact.format(count));

/** Tokens in and out, and what they cost; a dash for what nobody has told. */
export function usageWords(usage: Usage | null): string {
  if (usage === null) return "–";
  return `${tokens(usage.tokens_in)} tokens in, ${tokens(usage.tokens_out)} out, ${costOf(usage.cost_usd_micros)}`;
}

function costOf(micros: number | null): string {
  if (micros === null) return "cost –";
  return micros > 0 && micros < 5_000 ? "under $0.01" : `$${(micros / 1_000_000).toFixed(2)}`;
}
