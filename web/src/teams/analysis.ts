/** What a run's text was taken to ask for, and its roles, as the server keeps them; what is not there is left out. Pure. */
import type { TeamRun } from "../api/types";
import { isStored, objects, text, texts } from "./stored.ts";

export interface Capability {
  name: string;
  prefix: string;
  reason: string;
  words: { word: string; found: string; times: number }[];
}

export interface Analysis {
  capabilities: Capability[];
  complexity: { score: number; level: string; reason: string } | null;
  merges: { name: string; into: string; reason: string }[];
  roles: string[];
}

export interface Role {
  name: string;
  prefix: string;
  title: string;
  capabilities: string[];
  loads: string[];
  spec: string;
}

export function analysisOf({ analysis }: { analysis: unknown }): Analysis {
  const stored = isStored(analysis) ? analysis : {};
  const complexity = stored["complexity"];
  return {
    capabilities: objects(stored["capabilities"]).map((each) => ({
      name: text(each["name"]),
      prefix: text(each["prefix"]),
      reason: text(each["reason"]),
      words: objects(each["words"]).map((word) => ({ word: text(word["word"]), found: text(word["found"]), times: Number(word["times"] ?? 1) })),
    })),
    complexity: isStored(complexity)
      ? { score: Number(complexity["score"] ?? 0), level: text(complexity["level"]), reason: text(complexity["reason"]) }
      : null,
    merges: objects(stored["merges"]).map((each) => ({ name: text(each["name"]), into: text(each["into"]), reason: text(each["reason"]) })),
    roles: objects(stored["roles"]).map((each) => text(each["name"])),
  };
}

export function rolesOf({ roles }: Pick<TeamRun, "roles">): Role[] {
  return objects(roles).map((each) => ({
    name: text(each["name"]),
    prefix: text(each["prefix"]),
    title: text(each["title"]),
    capabilities: texts(each["capabilities"]),
    loads: texts(each["loads"]),
    spec: text(each["spec"]),
  }));
}

/** Whether the roles are those that the text asked for; else somebody gave the plan. */
export function isFromText(analysis: Analysis, roles: Role[]): boolean {
  const sorted = (names: string[]) => names.toSorted().join();
  return sorted(analysis.roles) === sorted(roles.map(({ name }) => name));
}

/** The spec without what stands at its head for programs. */
export function bodyOf(spec: string): string {
  return spec.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "");
}
