/** What the page does to work items. Each takes the confirm id of the intent, so that a repeated request is done once. */
import { api, payload } from "./client";
import type { ChangeItem, NewRelation, NewWorkItem, WorkItem } from "./types";

const of = (id: string, confirmId: string) => ({ path: { id }, header: { "X-GEMBA-Confirm": confirmId } });

export async function createItem(item: NewWorkItem, confirmId: string): Promise<WorkItem> {
  const params = { header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.POST("/api/work-items", { params, body: { item } }));
}

export async function changeItem(id: string, body: ChangeItem, confirmId: string): Promise<WorkItem> {
  return payload(await api.PATCH("/api/work-items/{id}", { params: of(id, confirmId), body }));
}

/** Takes back the change with this number, and no other. */
export async function undoChange(id: string, number: number, confirmId: string): Promise<WorkItem> {
  return payload(await api.POST("/api/work-items/{id}/undo", { params: of(id, confirmId), body: { number } }));
}

export async function claimItem(id: string, evenBlocked: boolean, confirmId: string): Promise<WorkItem> {
  const body = { even_blocked: evenBlocked };
  return payload(await api.POST("/api/work-items/{id}/claim", { params: of(id, confirmId), body }));
}

export async function releaseItem(id: string, confirmId: string): Promise<WorkItem> {
  return payload(await api.POST("/api/work-items/{id}/claim/release", { params: of(id, confirmId), body: {} }));
}

export async function relateItem(id: string, relation: NewRelation, confirmId: string): Promise<WorkItem> {
  return payload(await api.POST("/api/work-items/{id}/relations", { params: of(id, confirmId), body: relation }));
}

export async function unrelateItem(id: string, relation: NewRelation, confirmId: string): Promise<WorkItem> {
  const params = of(id, confirmId);
  return payload(await api.POST("/api/work-items/{id}/relations/remove", { params, body: relation }));
}
