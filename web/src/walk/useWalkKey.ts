/** A key of the walk, pressed anywhere on the screen where nothing else wants it. The handler says whether it took it. */
import { useEffect, useEffectEvent } from "react";
import { isCommand } from "../ui/keys";

/** What has keys of its own keeps them. */
const OTHERS = ".side";
/** While a second key or a yes is waited for, the first keys rest. */
const WAITING = "[data-walk-waits]";

type Press = (key: string, event: KeyboardEvent) => boolean;

/** `always`: also while a second key is waited for. */
export function useWalkKey(press: Press, always = false): void {
  const onPress = useEffectEvent(press);
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || !isCommand(event)) return;
      if (document.querySelector("dialog[open], :popover-open") || document.activeElement?.closest(OTHERS)) return;
      if (!always && document.querySelector(WAITING)) return;
      if (onPress(event.key, event)) event.preventDefault();
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, [always]);
}
