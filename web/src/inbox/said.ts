/** What was done, in the words of its toast: the answer, to whom, and what had been asked. Pure. */
import type { Escalation } from "../api/types";
import { firstLine } from "../ui/plain-text.ts";
import { sessionName } from "../ui/session-name.ts";
import { formatMoment } from "../ui/time.ts";
import { answerOf } from "./wording.ts";

type Said = Pick<Escalation, "kind" | "title" | "text" | "session_id" | "resolution" | "proposal" | "snoozed_until">;

const ANSWER = 60;
const ASKED = 80;
const ALLOWED: Record<string, string> = { yes: "Allowed", no: "Refused" };

export function answeredWords(answered: Said[]): string {
  const [first] = answered;
  if (first === undefined) return "Not answered";
  const what = isProposed(answered) ? "Proposed" : "Answered";
  const answer = quoted(first.resolution && answerOf(first.resolution, first.kind));
  if (answered.length > 1) return `${what} ${answered.length}${answer && `: ${answer}`}`;
  const decided = first.kind === "permission_prompt" ? ALLOWED[first.resolution?.decision ?? ""] : undefined;
  if (decided !== undefined) return `${decided}: ${askedOf(first)}`;
  return `${what} ${sessionName(first.session_id)}${answer && `: ${answer}`} · ${askedOf(first)}`;
}

/** What is done to one card without an answer to its agent: "Dismissed", "Snoozed for an hour". */
export function doneWords(words: string, done: Said[], now: Date): string {
  const [one] = done;
  if (one === undefined) return words;
  if (isProposed(done)) return `Proposed, not done yet: ${words}`;
  const until = one.snoozed_until === null ? "" : `, until ${formatMoment(new Date(one.snoozed_until), now)}`;
  const isTold = one.kind === "approval" && until === "";
  return isTold ? words : `${words}${until} · ${askedOf(one)}`;
}

function isProposed(answered: Said[]): boolean {
  return answered.some((one) => one.proposal?.state === "waiting");
}

function askedOf({ title, text }: Said): string {
  return firstLine(title ?? text, ASKED);
}

function quoted(answer: string | null): string {
  return answer === null ? "" : `“${firstLine(answer, ANSWER)}”`;
}
