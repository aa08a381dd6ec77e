/** What the page does in a walk. Each takes the confirm id of the intent: a repeated request is done once. */
import { api, payload } from "./client";
import type { ConsultSummary, Decide, Decided, PerspectivesAsked, Walk } from "./types";

const header = (confirmId: string) => ({ "X-GEMBA-Confirm": confirmId });
const ofWalk = (id: string, confirmId: string) => ({ path: { id }, header: header(confirmId) });
const ofItem = (id: string, item: string, confirmId: string) => ({ path: { id, item }, header: header(confirmId) });

export async function startWalk(label: string, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks", { params: { header: header(confirmId) }, body: { label } }));
}

/** To an item, or with none to the next one. */
export async function goToItem(id: string, item: string | null, confirmId: string): Promise<Walk> {
  const body = item === null ? {} : { item };
  return payload(await api.POST("/api/walks/{id}/turn", { params: ofWalk(id, confirmId), body }));
}

export async function say(id: string, message: string, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks/{id}/turn", { params: ofWalk(id, confirmId), body: { message } }));
}

export async function decide(id: string, item: string, body: Decide, confirmId: string): Promise<Decided> {
  return payload(await api.POST("/api/walks/{id}/decide/{item}", { params: ofItem(id, item, confirmId), body }));
}

/** The decision on an item, where its effect can be undone. */
export async function takeBack(id: string, item: string, confirmId: string): Promise<Walk> {
  const params = ofItem(id, item, confirmId);
  return payload(await api.POST("/api/walks/{id}/take-back/{item}", { params, body: {} }));
}

export type Added = { ref: string } | { topic: string } | Record<string, never>;

/** One thing, or with nothing named all that came to wait since. */
export async function addToAgenda(id: string, body: Added, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks/{id}/agenda", { params: ofWalk(id, confirmId), body }));
}

/** `place` counts from 1 among those that are not decided. */
export async function moveItem(id: string, item: string, place: number, confirmId: string): Promise<Walk> {
  const params = ofItem(id, item, confirmId);
  return payload(await api.PATCH("/api/walks/{id}/agenda/{item}", { params, body: { place } }));
}

export async function removeItem(id: string, item: string, confirmId: string): Promise<Walk> {
  return payload(await api.DELETE("/api/walks/{id}/agenda/{item}", { params: ofItem(id, item, confirmId) }));
}

/** The project manager is asked for an order of the epics as the board is now. */
export async function askForOrder(id: string, confirmId: string): Promise<ConsultSummary> {
  const body = { skill_id: "epic_order" };
  return payload(await api.POST("/api/walks/{id}/consult", { params: ofWalk(id, confirmId), body }));
}

export async function askPerspectives(id: string, item: string, confirmId: string): Promise<PerspectivesAsked> {
  return payload(await api.POST("/api/walks/{id}/perspectives", { params: ofWalk(id, confirmId), body: { item } }));
}

export async function pauseWalk(id: string, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks/{id}/pause", { params: ofWalk(id, confirmId), body: {} }));
}

export async function resumeWalk(id: string, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks/{id}/resume", { params: ofWalk(id, confirmId), body: {} }));
}

export async function endWalk(id: string, abandon: boolean, confirmId: string): Promise<Walk> {
  return payload(await api.POST("/api/walks/{id}/end", { params: ofWalk(id, confirmId), body: { abandon } }));
}
