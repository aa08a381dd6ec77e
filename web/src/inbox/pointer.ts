/**
 * A second click on the spot of the first falls on the card that has moved there meanwhile, and was not meant for it.
 * Pure but for one listener, which notes where the pointer went down last.
 */
const STEADY = 500;
const SAME_SPOT = 12;

interface Press {
  x: number;
  y: number;
  at: number;
}

let press: Press | null = null;
let lastDeed: (Press & { id: string }) | null = null;

document.addEventListener(
  "pointerdown",
  (event) => (press = { x: event.clientX, y: event.clientY, at: performance.now() }),
  { capture: true },
);
document.addEventListener("keydown", () => (press = null), { capture: true });

/** Whether what is about to be done to this card was meant for it; if so, it is the deed that the next one is held against. */
export function isMeantFor(id: string): boolean {
  if (press === null) return true;
  const before = lastDeed;
  const slipped =
    before !== null &&
    before.id !== id &&
    press.at - before.at < STEADY &&
    Math.hypot(press.x - before.x, press.y - before.y) < SAME_SPOT;
  if (!slipped) lastDeed = { ...press, id };
  return !slipped;
}
