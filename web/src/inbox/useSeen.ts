/** Tells the server, once and quietly, that a card was really seen: in view for a second, on a visible page. The event tells the rest. */
import { useEffect, type RefObject } from "react";
import { deeds, perform } from "./deeds";

const LONG_ENOUGH = 1_000;
/** Half of the card, or half of the window when the card is higher than that. */
const ENOUGH = 0.5;

const told = new Map<string, Promise<void>>();

function tell(id: string): void {
  if (told.has(id)) return;
  // When it fails nobody minds: it is told when the card next comes into view.
  const telling = perform(id, deeds.ack()).then(
    () => undefined,
    () => void told.delete(id),
  );
  told.set(id, telling);
}

/** Resolves when nothing is under way: "seen" must not overtake what is done next, since it would wake a snoozed card. */
export function seenIsTold(id: string): Promise<void> {
  return told.get(id) ?? Promise.resolve();
}

export function useSeen(card: RefObject<HTMLElement | null>, id: string, unseen: boolean): void {
  useEffect(() => {
    if (!unseen || card.current === null) return;
    let timer: number | undefined;
    let inView = false;
    const consider = () => {
      clearTimeout(timer);
      if (inView && document.visibilityState === "visible") timer = window.setTimeout(() => tell(id), LONG_ENOUGH);
    };
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return;
        const fillsWindow = entry.intersectionRect.height > window.innerHeight * ENOUGH;
        const next = entry.intersectionRatio >= ENOUGH || fillsWindow;
        if (next === inView) return;
        inView = next;
        consider();
      },
      { threshold: [0.1, 0.25, ENOUGH, 0.75] },
    );
    observer.observe(card.current);
    document.addEventListener("visibilitychange", consider);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", consider);
    };
  }, [card, id, unseen]);
}
