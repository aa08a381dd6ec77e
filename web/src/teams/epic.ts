/** The text that a team is started with for an epic. Pure. */
import type { WorkItem } from "../api/types";

export function textOfEpic({ title, description, acceptance }: Pick<WorkItem, "title" | "description" | "acceptance">): string {
  const done = acceptance.trim() === "" ? "" : `Done when:\n${acceptance.trim()}`;
  return [title.trim(), description.trim(), done].filter((part) => part !== "").join("\n\n");
}
