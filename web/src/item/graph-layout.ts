/**
 * Where the items stand in the picture of what blocks an item and what it unblocks: a level for each step away from it,
 * what is to be done first at the beginning. Pure.
 */
import type { GraphNode, ItemGraph } from "../api/types.ts";

/** Steps that are drawn on either side; the list below the picture has the rest. */
const STEPS = 2;
const MOST_ON_A_LEVEL = 6;
const ACROSS = { width: 176, height: 48, along: 44, beside: 10, lines: MOST_ON_A_LEVEL };
/** Where there is no room for levels beside each other, they stand below each other, two items in a row. */
const DOWN = { width: 156, height: 48, along: 34, beside: 10, lines: 2 };

export interface Placed {
  node: GraphNode;
  level: number;
  onPath: boolean;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
  onPath: boolean;
  /** As SVG draws it. */
  line: string;
}

export interface Layout {
  width: number;
  height: number;
  node: { width: number; height: number };
  placed: Placed[];
  edges: Edge[];
  /** Neighbours that are not drawn: there are too many of them. */
  left: number;
}

type Levels = Map<number, GraphNode[]>;

function levelsOf(graph: ItemGraph): { levels: Levels; left: number } {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const at = new Map<string, number>();
  const middle = graph.critical_path.indexOf(graph.id);
  graph.critical_path.forEach((id, index) => at.set(id, index - middle));
  at.set(graph.id, 0);
  for (const { kind, source, target } of graph.neighbours) {
    if (kind !== "blocks") continue;
    const [other, level] = target === graph.id ? [source, -1] : [target, 1];
    if (!at.has(other)) at.set(other, level);
  }
  const levels: Levels = new Map();
  for (const [id, level] of at) {
    const node = nodes.get(id);
    if (node && Math.abs(level) <= STEPS) levels.set(level, [...(levels.get(level) ?? []), node]);
  }
  let left = 0;
  const onPath = new Set(graph.critical_path);
  const weight = ({ id, state }: GraphNode) => (onPath.has(id) ? 0 : state === "done" || state === "cancelled" ? 2 : 1);
  for (const [level, members] of levels) {
    const sorted = members.toSorted((one, other) => weight(one) - weight(other));
    left += Math.max(0, sorted.length - MOST_ON_A_LEVEL);
    levels.set(level, sorted.slice(0, MOST_ON_A_LEVEL));
  }
  return { levels, left };
}

export function layOut(graph: ItemGraph, direction: "across" | "down"): Layout {
  const { levels, left } = levelsOf(graph);
  const order = [...levels.keys()].sort((one, other) => one - other);
  const onPath = new Set(graph.critical_path.length > 1 ? graph.critical_path : []);
  const size = direction === "across" ? ACROSS : DOWN;
  const step = direction === "across" ? size.height + size.beside : size.width + size.beside;
  const most = Math.max(...order.map((level) => Math.min(size.lines, levels.get(level)!.length)));
  const breadth = most * step - size.beside;
  const placed: Placed[] = [];
  let along = 0;
  for (const level of order) {
    const members = levels.get(level)!;
    for (let row = 0; row < members.length; row += size.lines) {
      const line = members.slice(row, row + size.lines);
      const start = (breadth - (line.length * step - size.beside)) / 2;
      line.forEach((node, index) => {
        const beside = start + index * step;
        const [x, y] = direction === "across" ? [along, beside] : [beside, along];
        placed.push({ node, level, onPath: onPath.has(node.id), x, y });
      });
      if (direction === "down") along += size.height + size.beside;
    }
    along += direction === "across" ? size.width + size.along : size.along - size.beside;
  }
  const length = Math.max(0, along - size.along);
  return {
    width: direction === "across" ? length : breadth,
    height: direction === "across" ? breadth : length,
    node: { width: size.width, height: size.height },
    placed,
    edges: edgesOf(graph, placed, size, direction),
    left,
  };
}

function edgesOf(graph: ItemGraph, placed: Placed[], size: { width: number; height: number }, direction: "across" | "down") {
  const at = new Map(placed.map((one) => [one.node.id, one]));
  const wanted = new Map<string, [from: string, to: string, onPath: boolean]>();
  const want = (from: string, to: string, onPath: boolean) => wanted.set(`${from} ${to}`, [from, to, onPath]);
  for (const { kind, source, target } of graph.neighbours) if (kind === "blocks") want(source, target, false);
  graph.critical_path.slice(1).forEach((to, index) => want(graph.critical_path[index]!, to, true));
  return [...wanted.values()].flatMap(([from, to, onPath]): Edge[] => {
    const one = at.get(from);
    const other = at.get(to);
    return one && other ? [{ from, to, onPath, line: lineBetween(one, other, size, direction) }] : [];
  });
}

function lineBetween(one: Placed, other: Placed, { width, height }: { width: number; height: number }, direction: "across" | "down") {
  if (direction === "across") {
    const [x1, y1, x2, y2] = [one.x + width, one.y + height / 2, other.x, other.y + height / 2];
    const bend = (x2 - x1) / 2;
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1, x2, y2] = [one.x + width / 2, one.y + height, other.x + width / 2, other.y];
  const bend = (y2 - y1) / 2;
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

/** What the picture shows, in a sentence. */
export function toldOf(graph: ItemGraph): string {
  const blocks = graph.neighbours.filter(({ kind }) => kind === "blocks");
  const before = blocks.filter(({ target }) => target === graph.id).map(({ source }) => source);
  const after = blocks.filter(({ source }) => source === graph.id).map(({ target }) => target);
  const list = (ids: string[]) => (ids.length > 10 ? `${ids.slice(0, 10).join(", ")} and ${ids.length - 10} more` : ids.join(", "));
  const sentences = [
    before.length > 0 ? `${graph.id} is blocked by ${list(before)}.` : `Nothing blocks ${graph.id}.`,
    after.length > 0 ? `It blocks ${list(after)}.` : "It blocks nothing.",
    graph.critical_path.length > 1 ? `The longest chain of open work through it: ${list(graph.critical_path)}.` : "",
  ];
  return sentences.filter((one) => one !== "").join(" ");
}
