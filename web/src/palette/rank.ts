/**
 * How well what was typed fits a text: whole, from its beginning, by words, by parts of words, or by letters in their
 * order. The same words always rank the same things in the same order. Pure.
 */

/** From here on a fit leaves no doubt: what is named so need not wait for what else may be found. */
export const STRONG = 800;

const SAME = 1_000;
const BEGINS = 900;
const WORD = 100;
const WORD_BEGINS = 80;
const PART = 50;
const INITIALS = 35;
const LETTERS = 10;
/** What stands beside a title counts a little less than the title. */
const BESIDE = 5;
const MOST_WORDS = 8;
const LONGEST = 300;

const MARKS = /\p{M}+/gu;
const APART = /[^\p{L}\p{N}]+/u;

/** Without case and accents. */
export function folded(text: string): string {
  return text.slice(0, LONGEST).normalize("NFKD").replace(MARKS, "").toLowerCase();
}

export interface Rankable {
  /** By which it is told from the others; the last word where all else is equal. */
  key: string;
  /** In which words are looked for; the first is its title. */
  texts: readonly string[];
  /** What of equal fit goes first. */
  rank: number;
}

export interface Ranked<Entry> {
  entry: Entry;
  score: number;
}

/** How well it fits; null where a word occurs nowhere, not even by its letters. */
export function scoreOf(typed: string, texts: readonly string[]): number | null {
  const whole = folded(typed).trim().replace(/\s+/g, " ");
  if (whole === "") return 0;
  const known = texts.map(folded).filter((text) => text !== "");
  let best = 0;
  known.forEach((text, place) => {
    const less = place === 0 ? 0 : BESIDE;
    if (text === whole) best = Math.max(best, SAME - less);
    else if (text.startsWith(whole)) best = Math.max(best, BEGINS - less);
  });
  if (best > 0) return best;
  const words = whole.split(" ").slice(0, MOST_WORDS);
  let sum = 0;
  for (const word of words) {
    const fits = known.map((text, place) => fitOf(word, text) - (place === 0 ? 0 : BESIDE));
    const fit = Math.max(0, ...fits);
    if (fit === 0) return null;
    sum += fit;
  }
  return sum / words.length;
}

/** How well one word fits one text; 0 where it does not. */
function fitOf(word: string, text: string): number {
  const parts = text.split(APART);
  if (parts.includes(word)) return WORD;
  if (parts.some((part) => part.startsWith(word)) || text.startsWith(word)) return WORD_BEGINS;
  if (text.includes(word)) return PART;
  if (word.length < 2) return 0;
  if (isInitials(word, parts)) return INITIALS;
  return lettersFit(word, text);
}

function isInitials(word: string, parts: readonly string[]): boolean {
  const initials = parts.map((part) => part.charAt(0)).join("");
  return initials.includes(word);
}

/** All letters in their order: the closer together, the better. Too far apart is chance. */
function lettersFit(word: string, text: string): number {
  let from = text.indexOf(word.charAt(0));
  let best = 0;
  while (from >= 0) {
    let at = from;
    for (let place = 1; place < word.length && at >= 0; place += 1) at = text.indexOf(word.charAt(place), at + 1);
    if (at < 0) break;
    const span = at - from + 1;
    if (span <= word.length * 2) best = Math.max(best, (LETTERS * word.length) / span);
    from = text.indexOf(word.charAt(0), from + 1);
  }
  return best;
}

/** Those that fit, the best first; what `isKept` holds stays whether it fits or not, at the end. */
export function ranked<Entry extends Rankable>(
  typed: string,
  entries: readonly Entry[],
  isKept: (entry: Entry) => boolean = () => false,
): Ranked<Entry>[] {
  const found: Ranked<Entry>[] = [];
  for (const entry of entries) {
    const score = scoreOf(typed, entry.texts) ?? (isKept(entry) ? 0 : null);
    if (score !== null) found.push({ entry, score });
  }
  return found.sort(byFit);
}

function byFit(one: Ranked<Rankable>, other: Ranked<Rankable>): number {
  if (one.score !== other.score) return other.score - one.score;
  if (one.entry.rank !== other.entry.rank) return one.entry.rank - other.entry.rank;
  return one.entry.key < other.entry.key ? -1 : one.entry.key > other.entry.key ? 1 : 0;
}

export interface Piece {
  text: string;
  isMatch: boolean;
}

/** A text in pieces, those that were typed told apart. */
export function piecesOf(text: string, typed: string): Piece[] {
  const small = text.toLowerCase();
  // Letters whose small form is longer would put the marks elsewhere.
  if (small.length !== text.length) return [{ text, isMatch: false }];
  const isMatch = new Array<boolean>(text.length).fill(false);
  for (const word of typed.toLowerCase().split(/\s+/).slice(0, MOST_WORDS)) {
    const at = word === "" ? -1 : small.indexOf(word);
    if (at >= 0) isMatch.fill(true, at, at + word.length);
  }
  const pieces: Piece[] = [];
  for (let place = 0; place < text.length; place += 1) {
    const last = pieces.at(-1);
    const matches = isMatch[place] === true;
    if (last !== undefined && last.isMatch === matches) last.text += text.charAt(place);
    else pieces.push({ text: text.charAt(place), isMatch: matches });
  }
  return pieces;
}
