/** Half-typed replies, kept per tab: they outlive a re-render, a change of screen and a reload, and go when they were sent. */
const PREFIX = "gemba.draft.";

export function readDraft(id: string): string {
  return sessionStorage.getItem(PREFIX + id) ?? "";
}

export function writeDraft(id: string, text: string): void {
  if (text === "") sessionStorage.removeItem(PREFIX + id);
  else sessionStorage.setItem(PREFIX + id, text);
}
