/**
 * A command to the letter: what a person cannot see, or sees elsewhere than it stands, is shown by name. Stricter than
 * plain-text.ts: here a space that is none, the end of a line and a space before it matter too. Pure.
 */
export interface Piece {
  text: string;
  /** Whether it stands for characters that cannot be seen. */
  isMark: boolean;
}

/** Controls, formats, separators, what has no glyph; every space but the usual one; one that nothing follows on its line. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|\p{Variation_Selector}| (?= *(?:\n|$))/gu;
/** Beyond this a mark is text like the rest: a page full of single marks would be slow. */
const MANY = 20_000;

export function piecesOf(command: string): Piece[] {
  if (command.length > MANY) return [{ text: command.replace(UNSEEN, nameOf), isMark: false }];
  const pieces: Piece[] = [];
  const add = (text: string, isMark: boolean) => {
    const last = pieces.at(-1);
    if (last?.isMark === isMark) last.text += text;
    else if (text !== "") pieces.push({ text, isMark });
  };
  let end = 0;
  for (const found of command.matchAll(UNSEEN)) {
    add(command.slice(end, found.index), false);
    add(nameOf(found[0]), true);
    end = found.index + found[0].length;
  }
  add(command.slice(end), false);
  return pieces;
}

function nameOf(character: string): string {
  if (character === "\n") return "↵\n";
  if (character === "\t") return "⇥\t";
  if (character === " ") return "·";
  const code = character.codePointAt(0) ?? 0;
  // Unicode has a picture for each of the first 32 control characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
