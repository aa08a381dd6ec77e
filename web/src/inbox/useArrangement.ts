/** Keeps the cards on screen still while the inbox changes behind them: measures, arranges, brings in on demand. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { cardById, cardsOnScreen, currentCard, focusCard } from "../ui/card-focus";
import { arrange } from "./arrangement";
import { readDraft } from "./drafts";

type Ids = readonly string[];

const hasDraft = (id: string) => readDraft(id) !== "";
const isInUse = (id: string) => hasDraft(id) || currentCard()?.dataset["escalationId"] === id;
const isBelowView = (card: HTMLElement) => card.getBoundingClientRect().top >= window.innerHeight;

/** How many of the cards, counted from the top, are in view or above it. */
function countFixed(): number {
  const cards = cardsOnScreen();
  const firstBelow = cards.findIndex(isBelowView);
  return firstBelow < 0 ? cards.length : firstBelow;
}

function sameIds(a: Ids, b: Ids): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}

/** `wanted` in the server's order; null until it is known. */
export function useArrangement(wanted: Ids | null) {
  const [shown, setShown] = useState<Ids>(wanted ?? []);
  const [below, setBelow] = useState<Ids>([]);
  const before = useRef<Set<string>>(new Set());

  const rearrange = useCallback((next: (old: Ids) => Ids) => {
    setShown((old) => {
      const arranged = next(old);
      return sameIds(old, arranged) ? old : arranged;
    });
  }, []);

  useLayoutEffect(() => {
    if (wanted === null) return;
    const fixed = countFixed();
    rearrange((old) => arrange(old, wanted, fixed, isInUse));
  }, [wanted, rearrange]);

  // What came in below the view is as unseen as what is held back.
  useLayoutEffect(() => {
    const known = before.current;
    before.current = new Set(shown);
    if (known.size === 0) return;
    const unseen = shown.filter((id) => !known.has(id) && isBelowView(cardById(id) ?? document.body));
    if (unseen.length > 0) setBelow((old) => [...old, ...unseen]);
  }, [shown]);

  const held = useMemo(() => {
    const onScreen = new Set(shown);
    return (wanted ?? []).filter((id) => !onScreen.has(id));
  }, [shown, wanted]);

  /** Shows the inbox as it is now. */
  const bringIn = useCallback(() => {
    if (wanted !== null) rearrange((old) => arrange(old, wanted, 0, hasDraft));
  }, [wanted, rearrange]);

  /** Shows the inbox as it is now and goes to the first of the `arrivals`. */
  const goToNew = useCallback(
    (arrivals: Ids) => {
      flushSync(() => {
        bringIn();
        setBelow([]);
      });
      const first = cardsOnScreen().find((card) => arrivals.includes(card.dataset["escalationId"] ?? ""));
      if (first) focusCard(first);
    },
    [bringIn],
  );

  /** Takes one card off the screen; its heir, if it has one, stands in its place. */
  const release = useCallback(
    (id: string, heir?: string) =>
      rearrange((old) => {
        const takesOver = heir !== undefined && !old.includes(heir);
        return old.flatMap((one) => (one !== id ? [one] : takesOver ? [heir] : []));
      }),
    [rearrange],
  );

  /** Puts a card right below another one, at once: it is the operator who wants it there. */
  const putBelow = useCallback(
    (id: string, other: string) =>
      rearrange((old) => (old.includes(id) ? old : old.flatMap((one) => (one === other ? [one, id] : [one])))),
    [rearrange],
  );

  useEffect(() => {
    // Who comes back to the tab was not reading anything here, unless a card still has the focus.
    const onReturn = () => {
      if (document.visibilityState === "visible" && currentCard() === null) bringIn();
    };
    document.addEventListener("visibilitychange", onReturn);
    return () => document.removeEventListener("visibilitychange", onReturn);
  }, [bringIn]);

  return { shown, held, below, goToNew, release, putBelow };
}
