/** A second click on the spot of the first falls on the card that has moved there meanwhile, and was not meant for it. Pure. */
export interface Press {
  x: number;
  y: number;
  /** Milliseconds on the page's own clock. */
  at: number;
}

const STEADY = 500;
const SAME_SPOT = 12;

export function isSlip(press: Press, id: string, before: (Press & { id: string }) | null): boolean {
  return (
    before !== null &&
    before.id !== id &&
    press.at - before.at < STEADY &&
    Math.hypot(press.x - before.x, press.y - before.y) < SAME_SPOT
  );
}

export interface Deed {
  id: string;
  at: number;
}

/** A key that is pressed twice falls on the next card, which has the focus by then: not meant where nothing can be undone. */
export function isDoublePress(deed: Deed, before: Deed | null): boolean {
  return before !== null && before.id !== deed.id && deed.at - before.at < STEADY;
}
