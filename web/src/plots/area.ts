/** From values to places on a plot. Pure. */
import type { Scale } from "./ticks.ts";

/** The part of a plot that is inside its axes. */
export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** How high a value stands. */
export function heightOn({ least, most }: Scale, { top, bottom }: Area): (value: number) => number {
  return (value) => bottom - ((value - least) / (most - least)) * (bottom - top);
}

export interface Bands {
  /** How wide each is. */
  width: number;
  startOf: (index: number) => number;
  middleOf: (index: number) => number;
}

/** So many bands side by side that fill the area. */
export function bandsOf(count: number, { left, right }: Area): Bands {
  const width = (right - left) / Math.max(1, count);
  const startOf = (index: number) => left + index * width;
  return { width, startOf, middleOf: (index) => startOf(index) + width / 2 };
}

/** Each part on top of those before it: where it begins and where it ends. What is not known takes no room. */
export function stacked(parts: readonly (number | null)[]): [from: number, to: number][] {
  let top = 0;
  return parts.map((part) => {
    const from = top;
    top += part ?? 0;
    return [from, top];
  });
}

/** The positions that have a value, in stretches without a gap: a line is drawn through each. */
export function stretches(values: readonly (number | null)[]): number[][] {
  const found: number[][] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last?.at(-1) === index - 1) last.push(index);
    else found.push([index]);
  });
  return found;
}
