/** A heading in the place of one that is on its way: the focus, if it is here, goes over to that when it comes. */
import { useLayoutEffect, useRef } from "react";

let focusWaits = false;

export function StandIn({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const own = heading.current;
    // Undone while the heading is still in the document.
    return () => {
      focusWaits = own !== null && own === document.activeElement;
    };
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** For what comes in the place of a stand-in. */
export function useFocusOfStandIn(): void {
  useLayoutEffect(() => {
    if (focusWaits) document.querySelector<HTMLElement>("main h1")?.focus();
    focusWaits = false;
  }, []);
}
