/** What the page does to team runs and their tasks. Each takes the confirm id of the intent: a repeated request is done once. */
import { api, payload } from "./client";
import type { NewTeam, TeamRun } from "./types";

const header = (confirmId: string) => ({ "X-GEMBA-Confirm": confirmId });
const ofRun = (id: string, confirmId: string) => ({ path: { id }, header: header(confirmId) });
const ofTask = (id: string, task: string, confirmId: string) => ({ path: { id, task }, header: header(confirmId) });

export async function startTeam(body: NewTeam, confirmId: string): Promise<TeamRun> {
  return payload(await api.POST("/api/teams", { params: { header: header(confirmId) }, body }));
}

export type RunCommand = "start" | "pause" | "resume" | "cancel";

export async function commandRun(id: string, command: RunCommand, confirmId: string): Promise<TeamRun> {
  const params = ofRun(id, confirmId);
  switch (command) {
    case "start":
      return payload(await api.POST("/api/teams/{id}/start", { params, body: {} }));
    case "pause":
      return payload(await api.POST("/api/teams/{id}/pause", { params, body: {} }));
    case "resume":
      return payload(await api.POST("/api/teams/{id}/resume", { params, body: {} }));
    case "cancel":
      return payload(await api.POST("/api/teams/{id}/cancel", { params, body: {} }));
  }
}

export async function sayToRun(id: string, text: string, confirmId: string): Promise<TeamRun> {
  return payload(await api.POST("/api/teams/{id}/feedback", { params: ofRun(id, confirmId), body: { text } }));
}

export const DIMENSIONS = ["completeness", "consistency", "accuracy", "depth"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The dimension with the lowest score where none is named. */
export async function improveRun(id: string, dimension: Dimension | null, confirmId: string): Promise<TeamRun> {
  const body = dimension === null ? {} : { dimension };
  return payload(await api.POST("/api/teams/{id}/improve", { params: ofRun(id, confirmId), body }));
}

export async function archiveRun(id: string, remove: boolean, confirmId: string) {
  return payload(await api.POST("/api/teams/{id}/archive", { params: ofRun(id, confirmId), body: { remove } }));
}

export type TaskCommand = "accept" | "retry" | "revise" | "skip";

export async function commandTask(
  id: string,
  task: string,
  command: TaskCommand,
  text: string,
  confirmId: string,
): Promise<TeamRun> {
  const params = ofTask(id, task, confirmId);
  const body = { text };
  switch (command) {
    case "accept":
      return payload(await api.POST("/api/teams/{id}/tasks/{task}/accept", { params, body }));
    case "retry":
      return payload(await api.POST("/api/teams/{id}/tasks/{task}/retry", { params, body }));
    case "revise":
      return payload(await api.POST("/api/teams/{id}/tasks/{task}/revise", { params, body }));
    case "skip":
      return payload(await api.POST("/api/teams/{id}/tasks/{task}/skip", { params, body }));
  }
}

/** A word on the run's bus, to one of it or to all. */
export async function postMessage(id: string, to: string, summary: string, confirmId: string) {
  const body = { type: "note", summary, to };
  return payload(await api.POST("/api/teams/{id}/messages", { params: ofRun(id, confirmId), body }));
}
