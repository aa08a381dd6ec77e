/** An answer that is still held back: how long, on the server's word and this page's clock. */
import type { Escalation } from "../api/types";
import { useWords } from "../ui/Age";

export function isHeld({ held_until, delivery }: Escalation, now = Date.now()): boolean {
  return held_until !== null && delivery === "pending" && Date.parse(held_until) > now;
}

export function Held({ escalation }: { escalation: Escalation }) {
  const until = Date.parse(escalation.held_until ?? "");
  const words = useWords((now) => (isHeld(escalation, now) ? `goes out in ${Math.ceil((until - now) / 1_000)} s` : ""));
  return words === "" ? null : <span className="held">{words}</span>;
}
