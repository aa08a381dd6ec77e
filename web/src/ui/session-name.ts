/** A session as people call it. Pure. */
import { plainText } from "./plain-text.ts";

const OF_A_TASK = /^team-[0-9a-f]+\.(.+)\.(\d+)$/;

/** Its id; of one that works on a run's task, the task and which try it is. */
export function sessionName(id: string): string {
  const [, task, attempt] = OF_A_TASK.exec(id) ?? [];
  return plainText(task === undefined ? id : `${task} try ${attempt}`);
}
