/** What an event of a work item says has changed, and whom that concerns. Pure. */
import type { WorkItem, WorkRow } from "../api/types.ts";

/** What the page needs of an event's payload. An import tells no single items. */
export interface WorkNews {
  item?: WorkRow;
  fields?: string[];
  now_ready?: string[];
  now_unready?: string[];
  /** How many turned; the lists may have fewer. */
  turned?: number;
}

export interface Changed {
  id: string;
  /** It may be blocked now, or no longer, and with it everything below. */
  withParts: boolean;
  /** It is only the whole of which something else is a part. */
  asParent: boolean;
}

const HOLDING = ["relations", "parent"];

/** Null for more than an event names. */
export function changedBy(ref: string | null, news: WorkNews): Changed[] | null {
  const { item, fields = [], now_ready = [], now_unready = [], turned = 0 } = news;
  const others = [...now_ready, ...now_unready];
  if (ref === null || item === undefined || turned > others.length) return null;
  const withParts = fields.some((field) => HOLDING.includes(field));
  return [
    { id: ref, withParts, asParent: false },
    ...others.map((id) => ({ id, withParts: false, asParent: false })),
    ...(item.parent === null ? [] : [{ id: item.parent, withParts: false, asParent: true }]),
  ];
}

/** Whether something of these shows on an item's screen. */
export function concerns({ id, parent, relations }: WorkItem, ids: ReadonlySet<string>): boolean {
  const isRelated = relations.some(({ source, target }) => ids.has(source) || ids.has(target));
  return ids.has(id) || (parent !== null && ids.has(parent)) || isRelated;
}
