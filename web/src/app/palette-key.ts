/** The key that opens the palette: ⌘K where there is such a key, Ctrl K elsewhere. Pure but for asking which it is. */
const isMac = typeof navigator !== "undefined" && /^(Mac|iP)/.test(navigator.platform);

/** As it is shown, and as `aria-keyshortcuts` has it. */
export const PALETTE_KEYS = isMac ? ["⌘", "K"] : ["Ctrl", "K"];
export const PALETTE_SHORTCUT = isMac ? "Meta+K" : "Control+K";

/** Ctrl K cuts a line on a Mac: there it stays what it is. */
export function isPaletteKey(event: {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}): boolean {
  const held = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  return held && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
}
