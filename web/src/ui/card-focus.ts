/**
 * Focus is the selection: the current card, or row that can be one, is what holds it. Reads and moves the document's focus,
 * keeps no state.
 */
const CARD = ".card, .row[tabindex]";

export function cardsOnScreen(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(CARD)];
}

export function cardById(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.card[data-escalation-id="${CSS.escape(id)}"]`);
}

export function currentCard(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>(CARD) ?? null;
}

/** The card that got the focus without being chosen: what was before it went away, or a number was pressed with none chosen. */
let handed: HTMLElement | null = null;

export function wasHanded(card: HTMLElement | null): boolean {
  return card !== null && card === handed;
}

export function focusCard(card: HTMLElement): void {
  handed = null;
  card.focus({ preventScroll: true });
  // A card higher than the window shows its beginning.
  const fits = card.offsetHeight < window.innerHeight - 160;
  card.scrollIntoView({ block: fits ? "nearest" : "start" });
}

/** To the card `step` places on; without a current one, to the first in view. False when there is none. */
export function moveFocus(step: 1 | -1): boolean {
  const cards = cardsOnScreen();
  const current = currentCard();
  const index = current === null ? -1 : cards.indexOf(current);
  const next = index < 0 ? cards.find((card) => card.getBoundingClientRect().bottom > 0) : cards[index + step];
  if (next) focusCard(next);
  return next !== undefined;
}

/** To a card that nobody chose. */
function hand(card: HTMLElement): void {
  focusCard(card);
  handed = card;
}

/** With none chosen, to the first in view; the operator has yet to choose what to do there. Null when there is none. */
export function handFocusToFirst(): HTMLElement | null {
  if (currentCard() !== null || !moveFocus(1)) return null;
  handed = currentCard();
  return handed;
}

/** Before `card` goes away: to its neighbour below, else above, else to the screen's heading. */
export function focusAwayFrom(card: HTMLElement): void {
  const cards = cardsOnScreen().filter((one) => one === card || one.dataset["settled"] === undefined);
  const index = cards.indexOf(card);
  const next = cards[index + 1] ?? cards[index - 1];
  if (next) hand(next);
  else document.querySelector<HTMLElement>("main h1")?.focus();
}
