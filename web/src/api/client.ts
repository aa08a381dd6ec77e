/**
 * The one typed client of /api. It adds the token, turns every refusal into `Refused`, and gives each intent of the
 * operator its own confirm id, so that a repeated request is carried out once.
 */
import createClient, { type Middleware } from "openapi-fetch";
import { Refused, type ProblemDocument } from "./problem";
import type { paths } from "./schema";
import { currentToken, forgetToken } from "./token";

const bearer = /^Bearer (.*)$/;

const authorize: Middleware = {
  onRequest({ request }) {
    const token = currentToken();
    if (token !== null) request.headers.set("Authorization", `Bearer ${token}`);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok) return;
    if (response.status === 401) forgetToken(bearer.exec(request.headers.get("Authorization") ?? "")?.[1] ?? null);
    throw new Refused(response.status, await readProblem(response));
  },
};

async function readProblem(response: Response): Promise<ProblemDocument> {
  try {
    return (await response.json()) as ProblemDocument;
  } catch {
    return {};
  }
}

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(authorize);

/** A random id (UUID v4). `crypto.randomUUID` exists only in secure contexts, and a LAN address over http is none. */
export function newConfirmId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The payload of an answer; refusals were thrown on the way, so what is left has data. */
export function payload<T>(result: { data?: T }): T {
  return result.data as T;
}
