/** Escape leads from one thing back to where one came from, or else to the screen with all of them. */
import { useEffect } from "react";
import { isCommand } from "../ui/keys";
import { goBack, type RouteName } from "./routes";

export function useEscapeBack(to: RouteName): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || !isCommand(event)) return;
      // Escape closes what is open first.
      if (document.querySelector("dialog[open], :popover-open")) return;
      event.preventDefault();
      goBack(to);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [to]);
}
