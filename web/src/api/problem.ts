/** What went wrong with a request, in words an operator can act on. */
import type { Escalation, Problem, WorkItem } from "./types";

/** One fault of an answer that does not fit, and where in the answer it lies; an empty pointer means the whole. */
export interface Finding {
  pointer: string;
  found: string;
  allowed: string;
}

/** What the server sent with its refusal; nothing of it when something else answered in its place. */
export type ProblemDocument = Partial<Problem> & {
  escalation?: Escalation;
  findings?: Finding[];
  item?: WorkItem;
  escalations?: string[];
};

/** The server answered, and refused. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  /** Where in the request the fault lies. */
  readonly pointer: string | null;
  readonly findings: Finding[];
  /** With `already_resolved`: the escalation as the first answer left it. */
  readonly escalation: Escalation | null;
  /** With a conflict over a work item: the item as it is now. */
  readonly item: WorkItem | null;
  /** With `purview_held`: the cards that let the change go. */
  readonly escalations: string[];

  constructor(status: number, document: ProblemDocument) {
    super(document.detail ?? `The server answered ${status}.`);
    this.name = "Refused";
    this.status = status;
    this.code = document.code ?? "unknown";
    this.pointer = document.pointer ?? null;
    this.findings = document.findings ?? [];
    this.escalation = document.escalation ?? null;
    this.item = document.item ?? null;
    this.escalations = document.escalations ?? [];
  }
}

/** The server did not answer at all, or broke down on the way: the same request may be sent again. */
export function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof Refused) || error.status >= 500;
}

/** A field by its name, as a person knows it; a long pointer is a place in a document of theirs, and stays one. */
function inWords(pointer: string): string {
  const steps = pointer.replace(/^\/(item|raw_input|value)\//, "/").split("/").slice(1);
  return steps.reduce((words, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return words !== "" && /^\d+$/.test(name) ? `${words}[${Number(name) + 1}]` : `${words}${words && "."}${name}`;
  }, "");
}

export function explain(error: unknown): string {
  if (error instanceof Refused) {
    const { pointer, message } = error;
    const isField = pointer !== null && pointer !== "" && pointer.split("/").length <= 3 && message.startsWith(pointer);
    return isField ? inWords(pointer) + message.slice(pointer.length) : message;
  }
  return "Gemba’s server did not answer. Is gemba serve still running?";
}
