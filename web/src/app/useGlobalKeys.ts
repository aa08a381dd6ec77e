/**
 * Keys that work on every screen: `?` for the map, `/` for the search, `q` for a question, `g` and a letter for a screen;
 * and the palette's, which work while one types, too.
 */
import { useEffect, useEffectEvent, useRef } from "react";
import { flushSync } from "react-dom";
import { isCommand } from "../ui/keys";
import { isPaletteKey } from "./palette-key";
import { goTo, goToScreen, ROUTES, type RouteName } from "./routes";

const SECOND_KEY_WITHIN = 1_500;

function goToSearch(): void {
  flushSync(() => goTo("answered"));
  document.querySelector<HTMLElement>("#search")?.focus();
}

interface Shown {
  help: () => void;
  panel: () => void;
  palette: () => void;
}

export function useGlobalKeys({ help, panel, palette }: Shown): void {
  const pressedG = useRef(0);
  const onHelp = useEffectEvent(help);
  const onPanel = useEffectEvent(panel);
  const onPalette = useEffectEvent(palette);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isPaletteKey(event)) {
        event.preventDefault();
        if (!document.querySelector("dialog[open]")) onPalette();
        return;
      }
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
