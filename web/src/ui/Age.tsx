/** Ticking ages: one timer for the page, and an element renders again only when its own words change. */
import { useSyncExternalStore } from "react";
import { formatAgo, formatSpan, formatWhole } from "./time";

const listeners = new Set<() => void>();
let timer: number | undefined;

function onSecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    if (document.visibilityState === "visible") for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** What `words` makes of the present moment, kept current. */
export function useWords(words: (now: number) => string): string {
  return useSyncExternalStore(onSecond, () => words(Date.now()));
}

export function Age({ since, ago = false, className }: { since: string; ago?: boolean; className?: string }) {
  const start = Date.parse(since);
  const words = useWords((now) => (ago ? formatAgo : formatSpan)(now - start));
  return (
    <time className={className} dateTime={since} title={formatWhole(new Date(start))}>
      {words}
    </time>
  );
}
