import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { groupsAt, KEY_GROUPS, type KeyRow } from "./keymap.ts";

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "..");
const NAMES: Record<string, string> = {
  "Esc": "Escape",
  "↑": "ArrowUp",
  "↓": "ArrowDown",
  "←": "ArrowLeft",
  "→": "ArrowRight",
  "Page Up": "PageUp",
  "Page Down": "PageDown",
};
const DIGITS = "digit";

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.(test|d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** The keys that a file's code names where it looks at one. */
function keysIn(code: string): Set<string> {
  const found = new Set<string>();
  const add = (pattern: RegExp) => {
    for (const match of code.matchAll(pattern)) found.add(match[1]!);
  };
  add(/\bkey(?:\.toLowerCase\(\))? [!=]== "([^"]+)"/g);
  // A switch over the key, up to where its cases end.
  for (const [, cases] of code.matchAll(/switch \(event\.key\) \{([\s\S]*?)\n {4}\}/g))
    for (const match of cases!.matchAll(/case "([^"]+)":/g)) found.add(match[1]!);
  // Tables and sets that are asked by the key.
  for (const [, name] of code.matchAll(/\b(\w+)(?:\[(?:event\.)?key\]|\.has\(event\.key\))/g)) tableKeys(code, name!, found);
  for (const [, name] of code.matchAll(/const (RUN_KEYS|KEYS|UNTIL_KEYS)\b/g)) tableKeys(code, name!, found, true);
  add(/\bkeys\["([^"]+)"\] =/g);
  if (/\bkeys\[digit\]|Number\((?:event\.)?key\)|\/\^\[\d-\d\]\$\/\.test\((?:event\.)?key\)/.test(code)) found.add(DIGITS);
  return found;
}

function tableKeys(code: string, name: string, found: Set<string>, values = false): void {
  const isSet = code.includes(`const ${name} = new Set(`);
  const written = isSet ? `const ${name} = new Set\\(\\[([^\\]]*)\\]` : `const ${name}\\b[\\s\\S]*?= \\{([\\s\\S]*?)\\};`;
  const body = new RegExp(written).exec(code)?.[1];
  if (body === undefined) return;
  if (isSet || values) for (const match of body.matchAll(/"([^"]+)"/g)) found.add(match[1]!);
  else for (const match of body.matchAll(/(?:^|[,{\n])\s*"?([A-Za-z]\w*|[^\s"])"?:/g)) found.add(match[1]!);
}

/** The keys that a row of the map stands for, as events name them. */
function keysOf({ keys }: KeyRow): string[] {
  if (keys.includes("…")) return [DIGITS];
  const held = ["Shift", "Ctrl"].includes(keys[0]!) ? keys.slice(1) : keys;
  return held.map((key) => NAMES[key] ?? (keys[0] === "Ctrl" && key.length === 1 ? key.toLowerCase() : key));
}

const handled = new Map(
  sources(SOURCE)
    .map((path) => [relative(SOURCE, path), keysIn(readFileSync(path, "utf8"))] as const)
    .filter(([, keys]) => keys.size > 0),
);

test("every key that a file handles stands in the map, in a group that names the file", () => {
  const missing: string[] = [];
  for (const [file, keys] of handled) {
    const listed = new Set(
      KEY_GROUPS.filter(({ files }) => files.includes(file)).flatMap(({ rows }) => rows.flatMap(keysOf)),
    );
    for (const key of keys) if (!listed.has(key)) missing.push(`${file}: ${key}`);
  }
  assert.deepEqual(missing, []);
});

test("every key of the map is handled by a file that its group names, and every file that it names handles some", () => {
  const untrue: string[] = [];
  for (const { title, files, rows } of KEY_GROUPS) {
    const keys = new Set(files.flatMap((file) => [...(handled.get(file) ?? [])]));
    for (const key of rows.flatMap(keysOf)) if (!keys.has(key)) untrue.push(`${title}: ${key}`);
    for (const file of files) if (!handled.has(file)) untrue.push(`${title}: ${file} handles no key`);
  }
  assert.deepEqual(untrue, []);
});

test("what is looked for in the code is found", () => {
  assert.deepEqual([...handled.get("board/useBoardKeys.ts")!].sort().join(" "), "ArrowDown ArrowLeft ArrowRight ArrowUp Enter c j k m");
  assert.ok(handled.get("inbox/Card.tsx")!.has(DIGITS));
  assert.deepEqual([...handled.get("teams/commands.ts")!].sort(), ["a", "c", "f", "i", "p", "s"]);
  assert.ok(handled.get("refine/useRefineKeys.ts")!.has("l"));
});

test("a place has its own groups, and those that work everywhere", () => {
  const { here, everywhere, elsewhere } = groupsAt("board");
  assert.deepEqual(here.map(({ title }) => title), ["Board"]);
  assert.ok(everywhere.some(({ title }) => title === "The palette"));
  assert.equal(here.length + everywhere.length + elsewhere.length, KEY_GROUPS.length);
  assert.deepEqual(groupsAt(null).here, []);
});
