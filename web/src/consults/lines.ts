/** A consult's lines as they arrived, those that were taken and those that were not. Pure. */
import type { AppliedLine, Consult, ConsultLine, LineError, SuggestedAction } from "../api/types";

export type Arrived =
  | { kind: "line"; idx: number; line: ConsultLine; note: string | null }
  | { kind: "error"; error: LineError };

/** In the order in which they came: an error says its place among all, and the lines that were taken fill the others. */
export function arrivedLines(consult: Pick<Consult, "validated_lines" | "line_errors" | "line_notes">): Arrived[] {
  const lines = consult.validated_lines as unknown as ConsultLine[];
  const errors = new Map(consult.line_errors.map((error) => [error.index, error]));
  const notes = new Map(consult.line_notes.map(({ index, note }) => [index, note]));
  const found: Arrived[] = [];
  for (let place = 0, idx = 0; found.length < lines.length + errors.size; place += 1) {
    const error = errors.get(place);
    const line = lines[idx];
    if (error !== undefined) found.push({ kind: "error", error });
    else if (line !== undefined) found.push({ kind: "line", idx: idx++, line, note: notes.get(place) ?? null });
  }
  return found;
}

export function actionOf(line: ConsultLine): SuggestedAction | null {
  return "suggested_action" in line ? (line.suggested_action ?? null) : null;
}

/** The places of what can be applied and is not yet, in the order of the lines, which is that of the ranks. */
export function applicableOf(consult: Pick<Consult, "validated_lines" | "applied_idx">): number[] {
  const lines = consult.validated_lines as unknown as ConsultLine[];
  const applied = new Set(consult.applied_idx);
  return lines.flatMap((line, idx) => (actionOf(line) !== null && !applied.has(idx) ? [idx] : []));
}

/** A consult as it is once a line was applied, until it is read again. */
export function withApplied(consult: Consult, applied: AppliedLine, all: number[]): Consult {
  const others = consult.applied.filter(({ idx }) => idx !== applied.idx);
  return { ...consult, applied_idx: all, applied: [...others, applied].sort((one, other) => one.idx - other.idx) };
}

/** A consult as it is once lines were taken back, until it is read again. */
export function withoutApplied(consult: Consult, all: number[]): Consult {
  return { ...consult, applied_idx: all, applied: consult.applied.filter(({ idx }) => all.includes(idx)) };
}

/** What an action does, in the words of somebody who would do it by hand. */
export function actionWords({ verb, path, body }: SuggestedAction): string {
  const fields = body as Record<string, unknown>;
  const item = /^\/api\/work-items\/([^/]+)$/.exec(path)?.[1];
  if (verb === "PATCH" && item !== undefined) {
    const changes = Object.entries(fields).filter(([name]) => name !== "version");
    const said = changes.map(([name, value]) => FLAGS[`${name} ${value}`] ?? `${FIELDS[name] ?? name} ${valueOf(value)}`);
    return `${decoded(item)}: ${said.join(", ")}`;
  }
  if (verb === "POST" && path === "/api/work-items") {
    const { kind = "item", title = "" } = (fields["item"] ?? {}) as { kind?: string; title?: string };
    return `New ${kind}: ${title}`;
  }
  if (verb === "POST" && path === "/api/teams") {
    const { roles = [], tasks = [] } = (fields["plan"] ?? {}) as { roles?: unknown[]; tasks?: unknown[] };
    return `Plan a team run: ${tasks.length} tasks, ${roles.length} roles; nothing begins yet`;
  }
  return `${verb} ${path}`;
}

const FLAGS: Readonly<Record<string, string>> = {
  "ratified true": "agreed to",
  "ratified false": "not agreed to",
  "retro done": "looked back at",
};

const FIELDS: Readonly<Record<string, string>> = {
  user_order: "place",
  estimated_tokens: "tokens",
  parent: "part of",
};

function valueOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
