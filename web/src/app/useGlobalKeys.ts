/** Keys that work on every screen: `?` for the map, `/` for the search, `q` for a question, `g` and a letter for a screen. */
import { useEffect, useEffectEvent, useRef } from "react";
import { flushSync } from "react-dom";
import { isCommand } from "../ui/keys";
import { goTo, ROUTES, type RouteName } from "./routes";

const SECOND_KEY_WITHIN = 1_500;

/** By key, the focus goes along: screen readers say where one is, and the next key starts from there. */
function goToScreen(route: RouteName): void {
  flushSync(() => goTo(route));
  document.querySelector<HTMLElement>("main h1")?.focus();
}

function goToSearch(): void {
  flushSync(() => goTo("answered"));
  document.querySelector<HTMLElement>("#search")?.focus();
}

export function useGlobalKeys(showHelp: () => void, showPanel: () => void): void {
  const pressedG = useRef(0);
  const onHelp = useEffectEvent(showHelp);
  const onPanel = useEffectEvent(showPanel);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isCommand(event) || document.querySelector("dialog[open]")) return;
      const afterG = event.timeStamp - pressedG.current < SECOND_KEY_WITHIN && pressedG.current > 0;
      pressedG.current = event.key === "g" ? event.timeStamp : 0;
      const route = (Object.keys(ROUTES) as RouteName[]).find((name) => ROUTES[name].key === event.key);
      if (event.key === "?") onHelp();
      else if (event.key === "/") goToSearch();
      else if (afterG && route !== undefined) {
        // One of the screens has the letter itself: it is not the beginning of the next pair.
        pressedG.current = 0;
        goToScreen(route);
      }
      else if (event.key === "q") onPanel();
      else return;
      event.preventDefault();
    };
    // Before the screens' own keys, so that the second key of a pair is not taken for one of theirs.
    document.addEventListener("keydown", onKeyDown, { capture: true });
    return () => document.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}
