/**
 * Texts of settings in the making, by file: they outlive a change of screen. Unlike replies they are kept in memory
 * alone, since there may be a password in one.
 */
const drafts = new Map<string, string>();

export const keptDraft = (file: string): string | undefined => drafts.get(file);

export function keepDraft(file: string, text: string): void {
  drafts.set(file, text);
}

export function forgetDraft(file: string): void {
  drafts.delete(file);
}
