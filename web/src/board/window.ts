/** Which rows of a long column are near enough to be drawn. All rows have one height, but for the few that say more. Pure. */

export interface Rows {
  count: number;
  height: number;
  /** The rows that are higher, by so much, in ascending order. */
  tall: readonly number[];
  extra: number;
}

export interface Range {
  first: number;
  /** Behind the last one. */
  end: number;
}

export function topOf({ height, tall, extra }: Rows, row: number): number {
  return row * height + extra * tall.filter((one) => one < row).length;
}

export const heightOf = (rows: Rows) => topOf(rows, rows.count);

/** The row at this distance from the top; the last one for what lies below. */
export function rowAt(rows: Rows, distance: number): number {
  let low = 0;
  let high = Math.max(0, rows.count - 1);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (topOf(rows, middle) <= distance) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The rows in view and `spare` beyond either end, in steps, so that not every pixel that is scrolled draws anew. */
export function rangeOf(rows: Rows, scrolled: number, seen: number, spare: number): Range {
  const first = rowAt(rows, Math.max(0, scrolled));
  const last = rowAt(rows, Math.max(0, scrolled + seen));
  const step = Math.max(1, Math.floor(spare / 2));
  return {
    first: Math.max(0, Math.floor((first - spare) / step) * step),
    end: Math.min(rows.count, Math.ceil((last + 1 + spare) / step) * step),
  };
}

/** The rows of a range, and those that are kept wherever they are, in ascending order. */
export function rowsIn({ first, end }: Range, kept: readonly number[]): number[] {
  const inRange = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  const beyond = kept.filter((row) => row >= 0 && (row < first || row >= end));
  return [...new Set([...inRange, ...beyond])].sort((one, other) => one - other);
}

/** How far to scroll so that a row is in view, moving no more than it takes. */
export function scrolledTo(rows: Rows, row: number, scrolled: number, seen: number): number {
  const top = topOf(rows, row);
  const bottom = topOf(rows, row + 1);
  if (top < scrolled) return top;
  return bottom > scrolled + seen ? bottom - seen : scrolled;
}
