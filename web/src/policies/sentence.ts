/** A policy in a sentence that reads like one. Pure. */
import type { Policy } from "../api/types";

const UNITS: Record<string, [one: string, many: string]> = {
  d: ["day", "days"],
  h: ["hour", "hours"],
  m: ["minute", "minutes"],
  s: ["second", "seconds"],
};

/** "1h30m" → "1 hour 30 minutes". */
export function spelledOut(duration: string): string {
  const parts = [...duration.matchAll(/(\d+)([dhms])/g)].map(([, amount, unit]) => {
    const [one, many] = UNITS[unit!]!;
    return `${amount} ${amount === "1" ? one : many}`;
  });
  return parts.join(" ") || duration;
}

export function listed(names: readonly string[], word = "and"): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}

/** Which escalations it takes: "Blocking blockers and questions", "Everything". */
export function subjectOf({ urgency, kinds }: Policy): string {
  const what = kinds.length === 0 ? "" : listed(kinds.map((kind) => `${kind.replaceAll("_", " ")}s`));
  const words = [urgency ?? "", what].filter(Boolean).join(" ");
  const whole = words === "" ? "everything" : what === "" ? `everything ${words}` : words;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

export interface Step {
  when: string;
  what: string;
}

/** What happens to one that nobody answers, in order. */
export function stepsOf(policy: Policy): Step[] {
  const steps: Step[] = [];
  const { remind_after, repeat_every, repeat_at_most, notify, then_notify, expire_after } = policy;
  if (remind_after !== null) {
    steps.push({ when: `after ${spelledOut(remind_after)}`, what: `remind${whom(notify)}` });
    const next = whom(then_notify.length > 0 ? then_notify : notify);
    if (repeat_every !== null)
      steps.push({
        when: `every ${spelledOut(repeat_every)}`,
        what: `again${next}${atMost(repeat_at_most)}, until somebody looks`,
      });
  }
  if (expire_after !== null) steps.push({ when: `after ${spelledOut(expire_after)}`, what: endOf(policy) });
  return steps;
}

const whom = (names: readonly string[]) => (names.length === 0 ? "" : `, notify ${listed(names)}`);
const atMost = (times: number | null) => (times === null ? "" : `, at most ${times} times`);

function endOf({ default_answer, default_option }: Policy): string {
  if (default_answer !== null) return `it is answered “${default_answer}” for you`;
  if (default_option !== null) return `it is answered with option ${default_option} for you`;
  return "it expires without an answer";
}

/** What happens when its time is over, for a card that counts it down: "answered “go on” for you", "expires". */
export function endWords(policy: Pick<Policy, "default_answer" | "default_option"> | undefined): string {
  if (policy?.default_answer != null) return `answered “${policy.default_answer}” for you`;
  if (policy?.default_option != null) return `answered with option ${policy.default_option} for you`;
  return "expires";
}

/** What an answer must pass before it is given, or null. */
export function verifyWords({ verify }: Policy): string | null {
  if (verify === null) return null;
  if (verify.person) return "An answer waits for a second person before it is given.";
  return `An answer must pass ${(verify.check ?? []).join(" ")} within ${verify.seconds} seconds before it is given.`;
}

/** The whole in one sentence. */
export function sentenceOf(policy: Policy): string {
  const steps = stepsOf(policy).map(({ when, what }) => `${when} ${what}`);
  const waits = policy.kinds.length > 0 ? "wait" : "waits";
  // What ends by itself does not wait until somebody answers.
  const long = policy.expire_after === null ? "until you answer" : "for your answer";
  const whole = `${subjectOf(policy)} ${waits} ${long}${steps.length === 0 ? "" : `: ${steps.join("; ")}`}`;
  // An answer that is quoted at its end may have brought the full stop along.
  return /[.!?]”$/.test(whole) ? whole : `${whole}.`;
}
