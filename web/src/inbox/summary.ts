/** The inbox in a sentence: how many agents are stopped, put off or not, and how many merely asked. Pure. */
import type { Escalation } from "../api/types";

type Asked = Pick<Escalation, "urgency" | "session_id" | "waiting">;

const count = (amount: number, one: string, many: string) => (amount === 1 ? `1 ${one}` : `${amount} ${many}`);
const sessionsOf = (asked: Asked[]) => new Set(asked.map(({ session_id }) => session_id));
export const stops = ({ urgency }: Pick<Escalation, "urgency">) => urgency === "blocking";

export function summaryOf(active: Asked[], undelivered: number, snoozed: Asked[] = []): string {
  const stopped = sessionsOf([...active, ...snoozed].filter(stops));
  const shown = sessionsOf(active.filter(stops));
  const aside = [...stopped].filter((id) => !shown.has(id)).length;
  const others = active.filter((one) => !stops(one));
  const waiting = others.filter((one) => one.waiting).length;
  const asking = others.length - waiting;
  const parts = [];
  if (active.length === 0 && stopped.size === 0) parts.push("Nobody waits for you any more.");
  if (stopped.size > 0) {
    const which = aside === 0 ? "" : aside === stopped.size ? ", snoozed" : `, ${aside} of them snoozed`;
    parts.push(`${count(stopped.size, "agent is", "agents are")} stopped until you answer${which}.`);
  }
  if (waiting > 0) parts.push(`${count(waiting, "question is", "questions are")} advisory, yet said to wait.`);
  if (asking > 0) parts.push(`${count(asking, "question does", "questions do")} not hold anyone up.`);
  if (undelivered > 0) parts.push(`${count(undelivered, "answer has", "answers have")} not arrived.`);
  return parts.join(" ");
}
