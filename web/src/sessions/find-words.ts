/** Where words stand in a text, whatever their case, and the text in pieces around them. Pure. */

export interface Part {
  text: string;
  /** Which of the places it is, from 0; null for what stands between them. */
  place: number | null;
}

/** Each is an element to lay out; who finds more than this looks for something else. */
export const MOST_PLACES = 500;

/** The text in order, with the last `MOST_PLACES` at which the words stand. */
export function partsOf(text: string, words: string): Part[] {
  const starts = placesOf(text, words);
  const parts: Part[] = [];
  let told = 0;
  starts.forEach((start, place) => {
    if (start > told) parts.push({ text: text.slice(told, start), place: null });
    told = start + words.length;
    parts.push({ text: text.slice(start, told), place });
  });
  if (told < text.length) parts.push({ text: text.slice(told), place: null });
  return parts;
}

function placesOf(text: string, words: string): number[] {
  if (words === "") return [];
  const [wanted, among] = [lowered(words), lowered(text)];
  const starts: number[] = [];
  for (let at = among.lastIndexOf(wanted); at >= 0 && starts.length < MOST_PLACES; ) {
    starts.push(at);
    if (at < wanted.length) break;
    at = among.lastIndexOf(wanted, at - wanted.length);
  }
  return starts.reverse();
}

/** In small letters, each as long as it was: places in it are places in the text. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
