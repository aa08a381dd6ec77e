/** Which questions stand on one card because they ask the same. Pure; the server says which are alike. */
import type { Escalation } from "../api/types";

/** Like questions that wait with the same urgency; the first of them is on the card. */
export interface Group {
  head: Escalation;
  others: Escalation[];
}

const NOBODY: Escalation[] = [];

function keyOf(escalation: Escalation, apart: ReadonlySet<string>): string {
  const { id, group_id, urgency } = escalation;
  return apart.has(id) || group_id === "" ? `alone ${id}` : `${urgency} ${group_id}`;
}

/**
 * The waiting ones in groups, each where its first member stands. `apart` are answered by themselves. A group keeps the
 * head that it had `before`, so that its card does not become another one while it is read.
 */
export function groupsOf(
  active: readonly Escalation[],
  apart: ReadonlySet<string>,
  before: readonly Group[] = [],
): Group[] {
  const members = new Map<string, Escalation[]>();
  for (const one of active) {
    const key = keyOf(one, apart);
    const known = members.get(key);
    if (known === undefined) members.set(key, [one]);
    else known.push(one);
  }
  const heads = new Set(before.map(({ head }) => head.id));
  return [...members.values()].map((all) => {
    const head = all.find(({ id }) => heads.has(id)) ?? all[0]!;
    return { head, others: all.length === 1 ? NOBODY : all.filter((one) => one !== head) };
  });
}
