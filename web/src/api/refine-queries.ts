/** What the table of the backlog reads, and what it has done. Events of items and consults keep it fresh (live/sync.ts). */
import { queryOptions } from "@tanstack/react-query";
import { api, payload } from "./client";
import { startConsult } from "./consult-queries";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type BacklogItem = Schemas["WorkRow"];
export type ItemState = BacklogItem["state"];
export type ItemChange = Pick<Schemas["ChangeItem"], "priority" | "state" | "parent" | "labels">;
export type Refinement = Schemas["ConsultDetail"];

/** What nobody has begun. */
export const BACKLOG_STATES = ["backlog", "unstarted", "staged", "deferred"] as const satisfies ItemState[];
/** Any item's event makes these out of date. */
export const BACKLOG = ["backlog"] as const;

/** Whom the table asks. */
export const PM = "project-manager";

const PAGE = 500;
/** More than anyone goes through in a sitting; those made last are there. */
const MOST = 2_000;
const KEPT = 60_000;

/** All of it, in however many pages. */
export const backlogQuery = queryOptions({
  queryKey: [...BACKLOG, "items"],
  queryFn: async ({ signal }) => {
    const first = await readPage(null, signal);
    const items = [...first.items];
    let cursor = first.next_cursor;
    while (cursor !== null && items.length < MOST) {
      const page = await readPage(cursor, signal);
      items.push(...page.items);
      cursor = page.next_cursor;
    }
    return { ...first, items };
  },
  gcTime: KEPT,
});

async function readPage(cursor: string | null, signal: AbortSignal) {
  const query = { state: BACKLOG_STATES.join(","), limit: PAGE, ...(cursor !== null && { cursor }) };
  return payload(await api.GET("/api/work-items", { params: { query }, signal }));
}

/** What others can be a part of. */
export const wholesQuery = queryOptions({
  queryKey: [...BACKLOG, "wholes"],
  queryFn: async ({ signal }) => {
    const query = { kind: "epic,milestone", limit: PAGE };
    return payload(await api.GET("/api/work-items", { params: { query }, signal }));
  },
  gcTime: KEPT,
});

const confirmed = (id: string, confirmId: string) => ({ path: { id }, header: { "X-GEMBA-Confirm": confirmId } });

/** `version` is that of the item as it was shown: what somebody changed since is a conflict. */
export async function changeItem(id: string, change: ItemChange, version: number, confirmId: string) {
  const body = { ...change, version };
  return payload(await api.PATCH("/api/work-items/{id}", { params: confirmed(id, confirmId), body }));
}

export function askToRefine(ids: string[], agent: string, guidance: string, confirmId: string) {
  const asked = {
    persona_id: PM,
    skill_id: "refine",
    raw_input: { item_ids: ids },
    ...(agent !== "" && { agent_type: agent }),
    ...(guidance !== "" && { guidance }),
  };
  return startConsult(asked, confirmId);
}
