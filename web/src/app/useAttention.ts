/**
 * Gets the operator's attention outside the page: title, favicon, the browser's notifications where they are wanted and,
 * for screen readers, the announcement of arrivals.
 */
import { useEffect, useRef } from "react";
import { isActive } from "../api/escalation-list";
import type { EscalationList } from "../api/types";
import { kindOf } from "../inbox/wording";
import { announce } from "../ui/announce";
import { firstLine } from "../ui/plain-text";
import { iconWithCount } from "./favicon";
import { notifyOf } from "./notifications";

function announceArrivals(inbox: EscalationList, known: Set<string>): void {
  const arrived = inbox.escalations.filter((escalation) => isActive(escalation) && !known.has(escalation.id));
  const [first] = arrived;
  if (first === undefined) return;
  notifyOf(arrived);
  const words = `${kindOf(first).label} from ${first.session_id}: ${firstLine(first.title ?? first.text, 100)}`;
  announce(arrived.length === 1 ? `New: ${words}` : `${arrived.length} new. First: ${words}`);
}

export function useAttention(inbox: EscalationList | undefined, screen: string | null, place = "Gemba"): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (inbox === undefined) return;
    if (known.current !== null) announceArrivals(inbox, known.current);
    known.current = new Set(inbox.escalations.map((escalation) => escalation.id));
  }, [inbox]);

  const active = inbox?.escalations.filter(isActive) ?? [];
  const waiting = active.length;
  const blocking = active.some((escalation) => escalation.urgency === "blocking");
  useEffect(() => {
    const title = screen === null ? place : `${firstLine(screen, 60)} · ${place}`;
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [waiting, screen, place]);
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon) icon.href = waiting > 0 ? iconWithCount(waiting, blocking) : "/icon.svg";
  }, [waiting, blocking]);
}
