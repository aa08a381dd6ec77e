/** Which of several questions can take the same answer. Pure; the server has the last word on each. */
import type { Asked } from "./choices";

/** Equal for questions that an answer in the same form fits; null for those that are answered one by one. */
export function formOf(escalation: Asked): string | null {
  const { channel, options, schema } = escalation;
  if (channel !== "tool_call" && channel !== "handoff") return null;
  return JSON.stringify([options, schema]);
}

/** Those with the form that most of them have (the first such form), and the rest. */
export function fitting<E extends Asked>(chosen: readonly E[]): { fit: E[]; rest: E[] } {
  const byForm = new Map<string, E[]>();
  for (const one of chosen) {
    const form = formOf(one);
    if (form !== null) byForm.set(form, [...(byForm.get(form) ?? []), one]);
  }
  const fit = [...byForm.values()].reduce<E[]>((most, these) => (these.length > most.length ? these : most), []);
  return { fit, rest: chosen.filter((one) => !fit.includes(one)) };
}
