/**
 * An agent's words as plain text that cannot lie: characters that hide, reorder or delete others are shown by name, so
 * that a command reads as it will run.
 */
const DECEIVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function plainText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(DECEIVING, nameOf);
}

function nameOf(character: string): string {
  const code = character.charCodeAt(0);
  // Unicode has a picture for each of the first 32 control characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The first line that says something, for places with room for one. */
export function firstLine(text: string, limit = 140): string {
  const line =
    plainText(text)
      .split("\n")
      .find((each) => each.trim() !== "")
      ?.trim() ?? "";
  return line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
}
