/**
 * The browser's own notifications of what newly waits, for whoever wants them and does not look at the page. Chosen in
 * this browser; nothing is asked of anybody who did not.
 */
import { useSyncExternalStore } from "react";
import type { Escalation } from "../api/types";
import { kindOf } from "../inbox/wording";
import { cardById, focusCard } from "../ui/card-focus";
import { firstLine } from "../ui/plain-text";
import { goToScreen, openOne } from "./routes";

export type Notifying = "on" | "off" | "refused" | "impossible";

const KEY = "gemba.notify";
/** From here on one notification for all is less of an interruption. */
const MANY = 4;
const listeners = new Set<() => void>();

function current(): Notifying {
  if (!("Notification" in window)) return "impossible";
  if (Notification.permission === "denied") return "refused";
  return localStorage.getItem(KEY) === "on" && Notification.permission === "granted" ? "on" : "off";
}

function tell(): void {
  for (const listener of listeners) listener();
}

async function switchTo(wanted: boolean): Promise<void> {
  if (!wanted) localStorage.removeItem(KEY);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
  tell();
}

export function useNotifying(): { state: Notifying; switchTo: (on: boolean) => Promise<void> } {
  const state = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
  return { state, switchTo };
}

/** Of what has just come, while the page is out of sight. The same thing twice, as from two tabs, shows once. */
export function notifyOf(arrived: readonly Escalation[]): void {
  if (!document.hidden || current() !== "on") return;
  const [first] = arrived;
  if (first !== undefined && arrived.length >= MANY) {
    show(`${arrived.length} wait for you`, `First: ${wordsOf(first)}`, "several", () => goTo(first.id));
    return;
  }
  for (const one of arrived)
    show(`${kindOf(one).label} from ${firstLine(one.session_id, 60)}`, wordsOf(one), one.id, () => goTo(one.id));
}

const wordsOf = (one: Escalation) => firstLine(one.title ?? one.text, 200);

function show(title: string, body: string, tag: string, onOpen: () => void): void {
  try {
    const shown = new Notification(title, { body, tag, icon: "/icon.svg" });
    shown.onclick = () => {
      window.focus();
      shown.close();
      onOpen();
    };
  } catch {
    // Some browsers have the word and allow it to service workers alone: then the title and the icon tell.
  }
}

/** To its card: in the inbox where it stands there, else on the screen of its own. */
function goTo(id: string): void {
  goToScreen("inbox");
  const card = cardById(id);
  if (card) focusCard(card);
  else openOne("escalation", id);
}
