/** Where the pointer went down last, and for which card: what a click on the next card is held against. */
import { isSlip, type Press } from "./slip";

let press: Press | null = null;
let lastDeed: (Press & { id: string }) | null = null;

document.addEventListener(
  "pointerdown",
  (event) => (press = { x: event.clientX, y: event.clientY, at: performance.now() }),
  { capture: true },
);
document.addEventListener("keydown", () => (press = null), { capture: true });

/** Whether what is about to be done to this card was meant for it. Keys always mean the card that has the focus. */
export function isMeantFor(id: string): boolean {
  if (press === null) return true;
  if (isSlip(press, id, lastDeed)) return false;
  lastDeed = { ...press, id };
  return true;
}
