/** How long to wait before the next attempt: doubling from half a second to eight, with jitter so that tabs do not return in step. */
const FIRST = 500;
const LONGEST = 8_000;

/** `random` is in [0, 1): between half and the whole of the step. */
export function retryDelay(failures: number, random: number): number {
  const step = Math.min(LONGEST, FIRST * 2 ** Math.min(failures, 10));
  return Math.round(step * (0.5 + random / 2));
}
