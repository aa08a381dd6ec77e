/** The fields of a work item as they are typed: each as a text, and what that text says. Pure. */
import type { ChangeItem, WorkItem } from "../api/types.ts";

export type FieldName =
  | "title"
  | "description"
  | "acceptance"
  | "kind"
  | "priority"
  | "assignee"
  | "labels"
  | "concepts"
  | "targets"
  | "parent"
  | "estimated_tokens"
  | "user_order"
  | "repository";

/** How a field is typed: in a line, in many, as one of a few, as words with commas, a line each, a number, an item. */
export type Shape = "line" | "text" | "choice" | "words" | "lines" | "number" | "item";

export interface Field {
  name: FieldName;
  label: string;
  shape: Shape;
  /** What stands where there is nothing. */
  none: string;
  help?: string;
}

export const TITLE: Field = { name: "title", label: "Title", shape: "line", none: "" };

export const TEXTS: readonly Field[] = [
  { name: "description", label: "Description", shape: "text", none: "Nobody has described it yet" },
  { name: "acceptance", label: "It is accepted when", shape: "text", none: "Nobody has said what has to be true" },
];

export const FACTS: readonly Field[] = [
  { name: "kind", label: "Kind", shape: "choice", none: "" },
  { name: "priority", label: "Priority", shape: "choice", none: "" },
  { name: "parent", label: "Part of", shape: "item", none: "nothing" },
  { name: "assignee", label: "Assignee", shape: "line", none: "nobody" },
  { name: "labels", label: "Labels", shape: "words", none: "none", help: "With commas in between" },
  { name: "targets", label: "Targets", shape: "lines", none: "none", help: "Paths that it will touch, one a line; * and ** stand for anything" },
  { name: "concepts", label: "Concepts", shape: "words", none: "none", help: "With commas in between" },
  { name: "estimated_tokens", label: "Estimate", shape: "number", none: "none", help: "In tokens" },
  { name: "user_order", label: "Place", shape: "number", none: "by priority and age", help: "A number; the lowest goes first" },
  { name: "repository", label: "Repository", shape: "line", none: "this one" },
];

/** A field as one types it. */
export function textOf(item: WorkItem, { name, shape }: Field): string {
  const value = item[name];
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join(shape === "lines" ? "\n" : ", ");
  return String(value);
}

export type Read = { value: string | number | string[] | null } | { fault: string };

/** What a text says; a fault where it says nothing that the field can have. */
export function read({ name, shape, label }: Field, text: string): Read {
  switch (shape) {
    case "words":
      return { value: each(text.split(",")) };
    case "lines":
      return { value: each(text.split("\n")) };
    case "number":
      if (text.trim() === "") return { value: null };
      if (!/^\d{1,15}$/.test(text.trim())) return { fault: `${label} is a whole number, such as 12000, or nothing` };
      return { value: Number(text.trim()) };
    case "choice":
      return { value: name === "priority" ? Number(text) : text };
    case "item":
      return { value: text.trim() === "" ? null : text.trim() };
    case "line":
      if (name === "title") return text.trim() === "" ? { fault: "An item has a title" } : { value: text };
      return { value: text.trim() === "" ? null : text.trim() };
    case "text":
      return { value: text };
  }
}

function each(words: string[]): string[] {
  return [...new Set(words.map((word) => word.trim()).filter((word) => word !== ""))];
}

/** The change that is sent: this field, on the item as it was looked at. */
export function changeOf({ name }: Field, value: string | number | string[] | null, version: number): ChangeItem {
  return { [name]: value, version };
}

/** Somebody else gave the field another value while one types, and not the one that is typed. */
export function isContested(base: string, now: string, typed: string): boolean {
  return now !== base && now !== typed;
}
