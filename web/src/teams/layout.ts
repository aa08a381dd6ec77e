/**
 * Where the tasks of a run stand in its picture: in layers by their depth, what is to be done first at the left. Lines that
 * pass a layer have a lane of their own there, and a line that follows from others is not drawn. Pure; the same tasks give
 * the same picture, whatever state they are in.
 */
export interface Node {
  id: string;
  blocked_by: readonly string[];
}

export interface Placed {
  id: string;
  layer: number;
  x: number;
  y: number;
}

export interface Line {
  from: string;
  to: string;
  /** As SVG draws it. */
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  /** By layer, from above. */
  layers: string[][];
  placed: Map<string, Placed>;
  lines: Line[];
}

export const BOX = { width: 184, height: 56 };
const GAP = { across: 56, down: 14 };
const LANE = 10;
const SWEEPS = 6;
/** More lines than this are drawn as they come: nobody could tell them apart, and sorting them out takes long. */
const MOST_LINES = 4_000;

/** A box, or the place where a line passes a layer. */
interface Stop {
  key: string;
  id: string | null;
  before: Stop[];
  after: Stop[];
  at: number;
  y: number;
}

export function layOut(nodes: readonly Node[]): Layout {
  const depth = depthsOf(nodes);
  const edges = nodes.flatMap(({ id, blocked_by }) => drawn(id, blocked_by, nodes, depth));
  const { layers, chains } = stopsOf(nodes, edges, depth);
  if (edges.length <= MOST_LINES) for (let sweep = 0; sweep < SWEEPS; sweep += 1) sort(layers, sweep % 2 === 0);
  const height = place(layers);
  const placed = new Map<string, Placed>();
  layers.forEach((layer, index) => {
    for (const { id, y } of layer)
      if (id !== null) placed.set(id, { id, layer: index, x: index * (BOX.width + GAP.across), y: y - BOX.height / 2 });
  });
  return {
    width: Math.max(0, layers.length * (BOX.width + GAP.across) - GAP.across),
    height,
    layers: layers.map((layer) => layer.flatMap(({ id }) => (id === null ? [] : [id]))),
    placed,
    lines: chains.map(({ from, to, stops }) => ({ from, to, path: pathOf(stops, depth.get(from) ?? 0) })),
  };
}

/** The longest way from a beginning. What waits for itself in a circle, or for what is not there, counts as a beginning. */
export function depthsOf(nodes: readonly Node[]): Map<string, number> {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const depth = new Map<string, number>();
  const open = new Map(nodes.map(({ id, blocked_by }) => [id, new Set(blocked_by.filter((each) => known.has(each))).size]));
  const after = new Map<string, string[]>();
  for (const { id, blocked_by } of nodes)
    for (const each of new Set(blocked_by)) if (known.has(each)) after.set(each, [...(after.get(each) ?? []), id]);
  const ready = nodes.filter(({ id }) => open.get(id) === 0).map(({ id }) => id);
  for (const id of ready) depth.set(id, 0);
  for (let at = 0; at < ready.length; at += 1) {
    const id = ready[at]!;
    for (const next of after.get(id) ?? []) {
      depth.set(next, Math.max(depth.get(next) ?? 0, depth.get(id)! + 1));
      const left = open.get(next)! - 1;
      open.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  for (const { id } of nodes) if (open.get(id)! > 0) depth.set(id, depth.get(id) ?? 0);
  return depth;
}

/** The lines to a task, without those that another of its blockers already stands behind. */
function drawn(id: string, blockedBy: readonly string[], nodes: readonly Node[], depth: Map<string, number>): [string, string][] {
  const direct = [...new Set(blockedBy)].filter((each) => (depth.get(each) ?? Infinity) < depth.get(id)!);
  if (direct.length < 2) return direct.map((each) => [each, id]);
  const reach = reachOf(nodes);
  return direct.filter((each) => !direct.some((other) => other !== each && reach.get(other)?.has(each))).map((each) => [each, id]);
}

const reaches = new WeakMap<readonly Node[], Map<string, Set<string>>>();

/** By task, all that is before it. */
function reachOf(nodes: readonly Node[]): Map<string, Set<string>> {
  const found = reaches.get(nodes);
  if (found) return found;
  const reach = new Map<string, Set<string>>();
  const known = new Map(nodes.map((node) => [node.id, node]));
  const visit = (id: string, path: Set<string>): Set<string> => {
    const had = reach.get(id);
    if (had) return had;
    const all = new Set<string>();
    if (path.has(id)) return all;
    path.add(id);
    for (const each of known.get(id)?.blocked_by ?? []) {
      if (!known.has(each)) continue;
      all.add(each);
      for (const further of visit(each, path)) all.add(further);
    }
    path.delete(id);
    reach.set(id, all);
    return all;
  };
  for (const { id } of nodes) visit(id, new Set());
  reaches.set(nodes, reach);
  return reach;
}

interface Chain {
  from: string;
  to: string;
  stops: Stop[];
}

function stopsOf(nodes: readonly Node[], edges: [string, string][], depth: Map<string, number>): { layers: Stop[][]; chains: Chain[] } {
  const layers: Stop[][] = [];
  const stop = (layer: number, key: string, id: string | null): Stop => {
    const made = { key, id, before: [], after: [], at: 0, y: 0 };
    while (layers.length <= layer) layers.push([]);
    layers[layer]!.push(made);
    return made;
  };
  const boxes = new Map(nodes.map(({ id }) => [id, stop(depth.get(id)!, id, id)]));
  const chains = edges.map(([from, to]): Chain => {
    const stops = [boxes.get(from)!];
    for (let layer = depth.get(from)! + 1; layer < depth.get(to)!; layer += 1) stops.push(stop(layer, `${from} ${to}`, null));
    stops.push(boxes.get(to)!);
    stops.slice(1).forEach((one, index) => {
      stops[index]!.after.push(one);
      one.before.push(stops[index]!);
    });
    return { from, to, stops };
  });
  for (const layer of layers) layer.forEach((one, index) => (one.at = index));
  return { layers, chains };
}

const mean = (stops: Stop[], of: (one: Stop) => number) => stops.reduce((sum, one) => sum + of(one), 0) / stops.length;

/** Each near to what it hangs on: by that fewer lines cross. */
function sort(layers: Stop[][], forwards: boolean): void {
  for (const layer of forwards ? layers : layers.toReversed()) {
    const wanted = new Map(
      layer.map((one) => {
        const near = forwards ? one.before : one.after;
        return [one, near.length === 0 ? one.at : mean(near, ({ at }) => at)];
      }),
    );
    layer.sort((one, other) => wanted.get(one)! - wanted.get(other)! || one.at - other.at);
    layer.forEach((one, index) => (one.at = index));
  }
}

const roomOf = ({ id }: Stop) => (id === null ? LANE : BOX.height);

/**
 * Puts the stops of each layer below each other, each as near as can be to the middle of its neighbours. The picture is as
 * high as the fullest layer and no higher; how high that is comes back.
 */
function place(layers: Stop[][]): number {
  const height = Math.max(0, ...layers.map((layer) => layer.reduce((sum, one) => sum + roomOf(one) + GAP.down, -GAP.down)));
  for (const layer of layers) stack(layer, () => null);
  for (const layer of layers) centre(layer, height);
  for (const forwards of [true, false, true]) {
    for (const layer of forwards ? layers : layers.toReversed()) {
      stack(layer, (one) => {
        const near = forwards ? one.before : one.after;
        return near.length === 0 ? null : mean(near, ({ y }) => y);
      });
      keepWithin(layer, height);
    }
  }
  return height;
}

function centre(layer: Stop[], height: number): void {
  const [first, last] = [layer[0], layer.at(-1)];
  if (first === undefined || last === undefined) return;
  const size = last.y + roomOf(last) / 2 - (first.y - roomOf(first) / 2);
  const shift = (height - size) / 2 - (first.y - roomOf(first) / 2);
  for (const one of layer) one.y += shift;
}

function keepWithin(layer: Stop[], height: number): void {
  let edge = 0;
  for (const one of layer) {
    one.y = Math.max(one.y, edge + roomOf(one) / 2);
    edge = one.y + roomOf(one) / 2 + GAP.down;
  }
  edge = height;
  for (const one of layer.toReversed()) {
    one.y = Math.min(one.y, edge - roomOf(one) / 2);
    edge = one.y - roomOf(one) / 2 - GAP.down;
  }
}

/** Blocks of stops that touch move together, to where their wishes are on the mean. */
function stack(layer: Stop[], wish: (one: Stop) => number | null): void {
  interface Block {
    stops: Stop[];
    offsets: number[];
    top: number;
    size: number;
    wishes: number[];
  }
  const blocks: Block[] = [];
  const settle = (block: Block, fallback: number) => {
    block.top = block.wishes.length === 0 ? fallback : block.wishes.reduce((sum, each) => sum + each, 0) / block.wishes.length;
  };
  for (const one of layer) {
    const room = roomOf(one);
    const wanted = wish(one);
    const last = blocks.at(-1);
    const block: Block = { stops: [one], offsets: [room / 2], top: 0, size: room, wishes: wanted === null ? [] : [wanted - room / 2] };
    settle(block, last === undefined ? one.y - room / 2 : last.top + last.size + GAP.down);
    blocks.push(block);
    for (let at = blocks.length - 1; at > 0; at -= 1) {
      const [above, below] = [blocks[at - 1]!, blocks[at]!];
      if (below.top >= above.top + above.size + GAP.down - 0.001) break;
      const shift = above.size + GAP.down;
      above.stops.push(...below.stops);
      above.offsets.push(...below.offsets.map((each) => each + shift));
      above.wishes.push(...below.wishes.map((each) => each - shift));
      above.size = shift + below.size;
      settle(above, above.top);
      blocks.pop();
    }
  }
  for (const { stops, offsets, top } of blocks) stops.forEach((one, index) => (one.y = top + offsets[index]!));
}

function pathOf(stops: Stop[], first: number): string {
  const step = BOX.width + GAP.across;
  const round = (value: number) => Math.round(value * 10) / 10;
  let path = "";
  stops.slice(1).forEach((to, index) => {
    const from = stops[index]!;
    const layer = first + index;
    const [x1, x2] = [layer * step + BOX.width, (layer + 1) * step];
    const [y1, y2] = [round(from.y), round(to.y)];
    if (index === 0) path = `M${x1} ${y1}`;
    const bend = (x2 - x1) / 2;
    path += `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    if (to.id === null) path += `H${x2 + BOX.width}`;
  });
  return path;
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The task that an arrow leads to: along a line to the nearest at its other end, or up and down within the layer. */
export function neighbour(layout: Layout, id: string, direction: Direction): string | null {
  const here = layout.placed.get(id);
  if (here === undefined) return null;
  if (direction === "ArrowUp" || direction === "ArrowDown") {
    const layer = layout.layers[here.layer]!;
    return layer[layer.indexOf(id) + (direction === "ArrowUp" ? -1 : 1)] ?? null;
  }
  const ends = layout.lines.flatMap(({ from, to }) =>
    direction === "ArrowRight" ? (from === id ? [to] : []) : to === id ? [from] : [],
  );
  const away = (other: string) => {
    const { layer, y } = layout.placed.get(other)!;
    return Math.abs(layer - here.layer) * 100_000 + Math.abs(y - here.y);
  };
  return ends.toSorted((one, other) => away(one) - away(other))[0] ?? null;
}
