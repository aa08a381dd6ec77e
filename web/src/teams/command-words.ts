/** What each of the decisions about a task does, in a few words: the same wherever one decides. Pure. */
import type { TaskCommand } from "../api/team-deeds.ts";

export const COMMAND_WORDS: Record<TaskCommand, string> = {
  accept: "take its work as it is, with a warning",
  retry: "once more, with all its tries anew",
  revise: "a new version, done otherwise: say how",
  skip: "leave it out, and all that depends on it",
};

export const isTaskCommand = (action: string): action is TaskCommand => action in COMMAND_WORDS;
