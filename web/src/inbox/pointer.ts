/** Where the pointer went down last, and for which card: what a click on the next card is held against. */
import { isDoublePress, isSlip, type Deed, type Press } from "./slip";

let press: Press | null = null;
let lastDeed: (Press & { id: string }) | null = null;
let lastByKey: Deed | null = null;

document.addEventListener(
  "pointerdown",
  (event) => (press = { x: event.clientX, y: event.clientY, at: performance.now() }),
  { capture: true },
);
document.addEventListener("keydown", () => (press = null), { capture: true });

/**
 * Whether what is about to be done to this card was meant for it. Keys mean the card that has the focus, but for one that
 * has just got it from the deed before, where what is done is `final`.
 */
export function isMeantFor(id: string, final = false): boolean {
  if (press === null) {
    const deed = { id, at: performance.now() };
    if (final && isDoublePress(deed, lastByKey)) return false;
    lastByKey = deed;
    return true;
  }
  if (isSlip(press, id, lastDeed)) return false;
  lastDeed = { ...press, id };
  return true;
}
