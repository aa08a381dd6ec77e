/** Where an escalation stands: which list it belongs to, and in which order. Pure; mirrors the server's own ordering. */
import type { Escalation, EscalationList } from "./types";

export function isUnresolved(escalation: Escalation): boolean {
  return escalation.state === "open" || escalation.state === "acknowledged" || escalation.state === "snoozed";
}

/** Unresolved and not put off: it stands in the inbox proper. */
export function isActive(escalation: Escalation): boolean {
  return escalation.state === "open" || escalation.state === "acknowledged";
}

/** Blocking first, the oldest first within. */
export function byUrgencyThenAge(a: Escalation, b: Escalation): number {
  if (a.urgency !== b.urgency) return a.urgency === "blocking" ? -1 : 1;
  return Date.parse(a.opened_at) - Date.parse(b.opened_at) || (a.id < b.id ? -1 : 1);
}

/** What was settled last comes first. */
export function byLastSettled(a: Escalation, b: Escalation): number {
  return Date.parse(b.resolution?.at ?? b.changed_at) - Date.parse(a.resolution?.at ?? a.changed_at);
}

/** The list with `escalation` at its place, or without it when it no longer `belongs` there. */
export function placedIn(
  list: EscalationList,
  escalation: Escalation,
  belongs: boolean,
  order: (a: Escalation, b: Escalation) => number,
): EscalationList {
  const others = list.escalations.filter((one) => one.id !== escalation.id);
  const wasThere = others.length < list.escalations.length;
  if (!belongs && !wasThere) return list;
  return {
    ...list,
    escalations: belongs ? [...others, escalation].sort(order) : others,
    total: list.total + Number(belongs) - Number(wasThere),
  };
}
