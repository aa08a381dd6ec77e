/** The keys of a walk, the same as in the terminal, as tables. Pure. */

export type Command =
  | "ratify"
  | "modify"
  | "reject"
  | "defer"
  | "handoff"
  | "next"
  | "perspectives"
  | "order"
  | "say"
  | "topic"
  | "pull"
  | "pause"
  | "end";

export const KEYS: Record<Command, string> = {
  ratify: "r",
  modify: "m",
  reject: "x",
  defer: "d",
  handoff: "h",
  next: "n",
  perspectives: "p",
  order: "o",
  say: "s",
  topic: "t",
  pull: "a",
  pause: "z",
  end: "e",
};

/** After `d`. */
export type Until = "later" | "hour" | "tomorrow" | "backlog";

export const UNTIL_KEYS: Record<Until, string> = { later: "d", hour: "h", tomorrow: "t", backlog: "b" };

function byKey<Name extends string>(keys: Record<Name, string>, key: string): Name | null {
  return (Object.keys(keys) as Name[]).find((name) => keys[name] === key) ?? null;
}

export const commandOf = (key: string): Command | null => byKey(KEYS, key);

export const untilOf = (key: string): Until | null => byKey(UNTIL_KEYS, key);

/** The number that a key stands for, from 1 to `most`. */
export function numberOf(key: string, most: number): number | null {
  const number = /^[1-9]$/.test(key) ? Number(key) : 0;
  return number >= 1 && number <= most ? number : null;
}
