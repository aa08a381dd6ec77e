/** Keys over the rows of a consult: `j` and `k` move, `a` applies the current one. Focus is the selection. */
import { useEffect, type KeyboardEvent as ReactKeyboardEvent, type RefObject } from "react";
import { focusCard } from "../ui/card-focus";
import { isCommand } from "../ui/keys";

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
/** What has keys of its own keeps them. */
const OTHERS = "aside, form, dialog, [role=grid]";

/**
 * The handler for keys that are pressed inside. With `everywhere` they work while the focus is elsewhere on the screen too,
 * but for the arrows, which scroll there.
 */
export function useRowKeys(
  place: RefObject<HTMLElement | null>,
  everywhere: boolean,
): (event: ReactKeyboardEvent) => void {
  useEffect(() => {
    if (!everywhere) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const other = document.activeElement?.closest(OTHERS);
      if (event.defaultPrevented || (other && !other.contains(place.current))) return;
      if (press(place.current, event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [everywhere, place]);
  return (event) => {
    if (!event.defaultPrevented && press(place.current, event.nativeEvent)) event.preventDefault();
  };
}

/** Whether the key did anything. */
function press(place: HTMLElement | null, event: KeyboardEvent): boolean {
  if (place === null || !isCommand(event) || event.shiftKey || document.querySelector("dialog[open]")) return false;
  const rows = [...place.querySelectorAll<HTMLElement>("[data-line]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const step = STEPS[event.key];
  if (event.key === "a" && at >= 0) {
    rows[at]?.querySelector<HTMLElement>("[data-apply]")?.click();
    return true;
  }
  if (step === undefined || (at < 0 && event.key.startsWith("Arrow"))) return false;
  const next = at < 0 ? rows[0] : rows[at + step];
  if (next !== undefined) focusCard(next);
  return next !== undefined;
}
