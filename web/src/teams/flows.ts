/** Who knows what: each thing that a task published, through which channel, and whom it reached. Pure. */
import type { TaskTransfers, TeamKnowledge } from "../api/types";

export type Channel = TaskTransfers["got"][number]["channel"];

export interface Flow {
  channel: Channel;
  /** What it is called there. */
  name: string;
  /** Its size, or what it says. */
  note: string;
  /** By task, the first of a task alone. */
  to: string[];
}

export interface Publisher {
  /** Null for what no task of the run published: a person said it. */
  task: string | null;
  flows: Flow[];
}

const keyOf = (channel: string, ref: string) => `${channel} ${ref}`;

export function publishersOf({ tasks }: Pick<TeamKnowledge, "tasks">): Publisher[] {
  const reached = new Map<string | null, Map<string, { channel: Channel; ref: string; to: string[] }>>();
  for (const { task_id: consumer, got } of tasks)
    for (const { channel, ref, source } of got) {
      const from = reached.get(source) ?? new Map();
      reached.set(source, from);
      const flow = from.get(keyOf(channel, ref)) ?? { channel, ref, to: [] };
      from.set(keyOf(channel, ref), flow);
      if (!flow.to.includes(consumer)) flow.to.push(consumer);
    }
  const known = tasks.map((task) => ({ task: task.task_id, flows: flowsOf(task, reached.get(task.task_id)) }));
  const ids = new Set(tasks.map(({ task_id }) => task_id));
  const others = [...reached]
    .filter(([source]) => source === null || !ids.has(source))
    .map(([task, from]) => ({ task, flows: [...from.values()].map(({ channel, ref, to }) => ({ channel, name: nameOf(channel, ref), note: "", to })) }));
  return [...known, ...others].filter(({ flows }) => flows.length > 0);
}

function flowsOf(task: TaskTransfers, reached: Map<string, { channel: Channel; ref: string; to: string[] }> | undefined): Flow[] {
  const left = new Map(reached ?? []);
  const take = (channel: Channel, ref: string) => {
    const to = left.get(keyOf(channel, ref))?.to ?? [];
    left.delete(keyOf(channel, ref));
    return to;
  };
  const artifacts = task.artifacts.map(({ name, version, lines }): Flow => {
    const note = `version ${version}, ${lines} ${lines === 1 ? "line" : "lines"}`;
    return { channel: "artifact", name, note, to: take("artifact", `${name}@${version}`) };
  });
  const state: Flow[] =
    task.key_findings.length > 0 || left.has(keyOf("state", task.task_id))
      ? [{ channel: "state", name: "Findings", note: task.key_findings.join(" · "), to: take("state", task.task_id) }]
      : [];
  const wisdom = task.wisdom.map((each): Flow => ({ channel: "wisdom", name: nameOf("wisdom", String(each)), note: "", to: take("wisdom", String(each)) }));
  const angles = task.angles.map((each): Flow => ({ channel: "exploration", name: each, note: "", to: take("exploration", each) }));
  const chain: Flow[] =
    left.has(keyOf("accumulator", task.task_id))
      ? [{ channel: "accumulator", name: "What its chain knows", note: "", to: take("accumulator", task.task_id) }]
      : [];
  const rest = [...left.values()].map(({ channel, ref, to }): Flow => ({ channel, name: nameOf(channel, ref), note: "", to }));
  return [...artifacts, ...state, ...wisdom, ...angles, ...chain, ...rest];
}

function nameOf(channel: Channel, ref: string): string {
  if (channel === "wisdom") return `Wisdom ${ref}`;
  return channel === "artifact" ? ref.replace(/@(\d+)$/, ", version $1") : ref;
}

export const CHANNELS: Record<Channel, string> = {
  artifact: "artifact",
  state: "state update",
  wisdom: "wisdom",
  accumulator: "along its chain",
  exploration: "exploration",
};
