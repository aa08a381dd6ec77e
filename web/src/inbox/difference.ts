/** Where two like questions differ, for a line of a list: the words of the second that the first does not have there. Pure. */

/** Null when they are the same to the letter. */
export function differenceOf(first: string, second: string): string | null {
  const a = first.split(/\s+/).filter(Boolean);
  const b = second.split(/\s+/).filter(Boolean);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const own = b.slice(start, b.length - end);
  if (own.length === 0 && a.length === b.length) return null;
  const words = own.length === 0 ? b.slice(Math.max(0, start - 2), start + 2) : own;
  const from = own.length === 0 ? Math.max(0, start - 2) : start;
  return `${from > 0 ? "… " : ""}${words.join(" ")}${from + words.length < b.length ? " …" : ""}`;
}
