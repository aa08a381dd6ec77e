/** Where code stands in an agent's words: `between backticks`, or between two lines of three. Pure; nothing else is markup. */

export interface Piece {
  kind: "words" | "code" | "block";
  text: string;
}

const FENCE = /^ {0,3}```[^`]*$/;
const SPAN = /(?<!`)`([^`\n]+)`(?!`)/g;
/** More is not prose any more, and every span is an element to lay out. */
const MOST_SPANS = 300;

/** The text in pieces. A fence that is never closed, or a lone backtick, is what it looks like. */
export function splitCode(text: string): Piece[] {
  if (!text.includes("`")) return text === "" ? [] : [{ kind: "words", text }];
  const lines = text.split("\n");
  const lastClosing = lines.lastIndexOf("```");
  const pieces: Piece[] = [];
  let prose: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const end = at < lastClosing && FENCE.test(line) ? lines.indexOf("```", at + 1) : -1;
    if (end < 0 || pieces.length >= MOST_SPANS) {
      prose.push(line);
      continue;
    }
    pieces.push(...splitSpans(prose.join("\n"), MOST_SPANS - pieces.length));
    pieces.push({ kind: "block", text: lines.slice(at + 1, end).join("\n") });
    prose = [];
    at = end;
  }
  pieces.push(...splitSpans(prose.join("\n"), MOST_SPANS - pieces.length));
  return pieces;
}

function splitSpans(text: string, most: number): Piece[] {
  const pieces: Piece[] = [];
  let told = 0;
  for (const found of text.matchAll(SPAN)) {
    if (pieces.length >= most) break;
    if (found.index > told) pieces.push({ kind: "words", text: text.slice(told, found.index) });
    pieces.push({ kind: "code", text: found[1]! });
    told = found.index + found[0].length;
  }
  const rest = text.slice(told);
  return rest === "" ? pieces : [...pieces, { kind: "words", text: rest }];
}
