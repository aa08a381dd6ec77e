/** Whether there is no room for a side bar, as the styles have it (frame-narrow.css). */
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 860px)";

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(NARROW);
      query.addEventListener("change", listener);
      return () => query.removeEventListener("change", listener);
    },
    () => matchMedia(NARROW).matches,
  );
}
