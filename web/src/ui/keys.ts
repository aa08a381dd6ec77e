/** Which key presses are commands. Pure but for reading the event. */

const TEXT_INPUTS = new Set(["text", "search", "email", "url", "password", "number"]);

/** While text is typed, or with a modifier held, a letter is a letter. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && TEXT_INPUTS.has(target.type);
}

export function isCommand(event: {
  target: EventTarget | null;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}): boolean {
  return !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey;
}
