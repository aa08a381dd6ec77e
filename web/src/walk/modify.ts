/** What of a proposed action the operator can edit, and the request that comes of it. Pure. */
import type { Decide, WalkAction } from "../api/types";

type Edited = NonNullable<Decide["edited"]>;
type Body = Record<string, unknown>;
/** What the schema makes of a body that may hold anything. */
type Sendable = NonNullable<Edited["body"]>;

/** One member of the body, as it is typed. */
export interface BodyField {
  name: string;
  kind: "text" | "number" | "flag" | "json";
  input: string;
}

export type ModifyForm =
  /** A reply in words. */
  | { as: "words"; text: string }
  /** Another command in the place of the one that was asked for. */
  | { as: "command" }
  /** Members of a body; of a nested one those of `within`. */
  | { as: "fields"; within: string | null; fields: BodyField[] };

const REPLY = /^\/api\/escalations\/[^/]+\/(respond|snooze)$/;
const APPROVE = /^\/api\/approvals\/[^/]+\/approve$/;
/** A body of a single object is edited by what is in that. */
const NESTED = "item";

export function formOf({ label, path, body: known }: WalkAction): ModifyForm {
  const body = known as Body;
  if (APPROVE.test(path)) return { as: "command" };
  if (REPLY.test(path) && !("value" in body)) {
    // Of an option what it says; with an answer in a word, or a snooze, there is nothing to begin with.
    const words = typeof body["text"] === "string" ? body["text"] : "option" in body ? label : "";
    return { as: "words", text: words };
  }
  const nested = body[NESTED];
  const isNested = typeof nested === "object" && nested !== null && !Array.isArray(nested);
  return {
    as: "fields",
    within: isNested ? NESTED : null,
    fields: Object.entries(isNested ? (nested as Body) : body).map(fieldOf),
  };
}

function fieldOf([name, value]: [string, unknown]): BodyField {
  if (typeof value === "string") return { name, kind: "text", input: value };
  if (typeof value === "number") return { name, kind: "number", input: String(value) };
  if (typeof value === "boolean") return { name, kind: "flag", input: String(value) };
  return { name, kind: "json", input: JSON.stringify(value, null, 2) };
}

export type Faults = ReadonlyMap<string, string>;

/** The body that the fields make, with whatever else the action has; or what is wrong, by the name of the field. */
export function bodyOf(
  action: Pick<WalkAction, "body">,
  within: string | null,
  fields: readonly BodyField[],
): { body: Body } | { faults: Faults } {
  const faults = new Map<string, string>();
  const made: Body = {};
  for (const { name, kind, input } of fields) {
    const value = valueOf(kind, input);
    if (value === undefined) faults.set(name, kind === "number" ? "A number is needed." : "This is no JSON.");
    else made[name] = value;
  }
  if (faults.size > 0) return { faults };
  const whole = action.body as Body;
  return { body: within === null ? made : { ...whole, [within]: made } };
}

/** A whole body as it is typed; what is wrong with it where it is none. */
export function bodyFrom(json: string): { body: Body } | { fault: string } {
  const value = valueOf("json", json);
  const isBody = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isBody) return { body: value as Body };
  return { fault: value === undefined ? "This is no JSON." : "An object is needed: { … }." };
}

function valueOf(kind: BodyField["kind"], input: string): unknown {
  switch (kind) {
    case "text":
      return input;
    case "flag":
      return input === "true";
    case "number":
      return input.trim() === "" || !Number.isFinite(Number(input)) ? undefined : Number(input);
    case "json":
      try {
        return JSON.parse(input) as unknown;
      } catch {
        return undefined;
      }
  }
}

/** Words for a reply; for a command, the one to run instead. */
export const editedWords = (text: string): Edited => ({ text });

export const editedBody = (body: Body): Edited => ({ body: body as Sendable });

/** A value for an ask that wants one of a form, whatever was proposed. */
export function editedValue(escalation: string, value: unknown): Edited {
  const path = `/api/escalations/${encodeURIComponent(escalation)}/respond`;
  return { verb: "POST", path, body: { value } as Body as Sendable };
}
