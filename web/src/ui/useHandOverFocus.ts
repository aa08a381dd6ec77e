/** Focus is never lost: what goes away with the focus in it hands it over, to an heir or else to the screen's heading. */
import { useLayoutEffect, type RefObject } from "react";

type Heir = (leaving: HTMLElement) => HTMLElement | null | undefined;

export function useHandOverFocus(element: RefObject<HTMLElement | null>, heirOf?: Heir): void {
  useLayoutEffect(() => {
    const leaving = element.current;
    // Layout effects are undone while the element is still in the document.
    return () => {
      if (leaving === null || !leaving.contains(document.activeElement)) return;
      const heir = heirOf?.(leaving) ?? document.querySelector<HTMLElement>("main h1");
      heir?.focus({ preventScroll: true });
    };
  }, [element, heirOf]);
}
