/** The inbox in a sentence: how many agents are stopped, and how many merely asked. Pure. */
import type { Escalation } from "../api/types";

const count = (amount: number, one: string, many: string) => (amount === 1 ? `1 ${one}` : `${amount} ${many}`);

export function summaryOf(active: Escalation[], undelivered: number): string {
  const blocking = active.filter((escalation) => escalation.urgency === "blocking");
  const stopped = new Set(blocking.map((escalation) => escalation.session_id)).size;
  const asking = active.length - blocking.length;
  const parts = [];
  if (active.length === 0) parts.push("Nobody waits for you any more.");
  if (stopped > 0) parts.push(`${count(stopped, "agent is", "agents are")} stopped until you answer.`);
  if (asking > 0) parts.push(`${count(asking, "question does", "questions do")} not hold anyone up.`);
  if (undelivered > 0) parts.push(`${count(undelivered, "answer has", "answers have")} not arrived.`);
  return parts.join(" ");
}
