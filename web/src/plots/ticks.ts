/** Where an axis begins, ends and has its marks, in numbers that people say. Pure. */

export interface Scale {
  least: number;
  most: number;
  ticks: number[];
}

const WANTED = 4;
const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** What a person would count in, up to a day. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((many) => many * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((many) => many * MINUTE),
  ...[1, 2, 3, 6, 12].map((many) => many * HOUR),
];

/** From nought, or below it where the least is, to the first mark that the largest does not pass. */
export function roundTicks(most: number, { least = 0, whole = false }: { least?: number; whole?: boolean } = {}): Scale {
  const low = Math.min(0, least);
  const high = Math.max(0, most);
  if (high === low) return { least: 0, most: 1, ticks: [0, 1] };
  const step = roundStep((high - low) / WANTED);
  return marks(low, high, whole ? Math.max(1, step) : step);
}

/** The same for seconds: in halves and quarters of minutes and hours, and in whole days. */
export function timeTicks(most: number): Scale {
  const wanted = Math.max(0, most) / WANTED;
  const step = TIME_STEPS.find((each) => each >= wanted) ?? DAY * Math.max(1, roundStep(wanted / DAY));
  return marks(0, Math.max(step, most), step);
}

/** At most so many of a row of positions, at even distances, the last one among them. */
export function spread(count: number, room: number): number[] {
  const step = Math.ceil(count / Math.max(1, room));
  return Array.from({ length: count === 0 ? 0 : Math.ceil(count / step) }, (_, index) => count - 1 - index * step).reverse();
}

/** "1.5 k", "20 M": short, and never another number than it is, as long as that is a round one. */
export function sayShort(value: number): string {
  const size = Math.abs(value);
  const [unit, name] = size >= 1e9 ? [1e9, " G"] : size >= 1e6 ? [1e6, " M"] : size >= 1e3 ? [1e3, " k"] : [1, ""];
  return `${(value / unit).toLocaleString("en", { maximumFractionDigits: 6 })}${name}`;
}

/** The smallest of 1, 2, 5, 10, 20 … that is not smaller. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5].find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return exact(factor * power);
}

function marks(low: number, high: number, step: number): Scale {
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => exact((first + index) * step));
  return { least: exact(first * step), most: exact(last * step), ticks };
}

/** Without what floating point leaves behind; no minus before nought. */
function exact(value: number): number {
  return Number(value.toPrecision(12)) + 0;
}
