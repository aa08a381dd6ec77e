/** What becomes of a text's lines: which go, which come, and what stands around them. Pure. */

export interface Line {
  kind: "same" | "gone" | "new";
  text: string;
  /** Its number, from 1: in the old text where it goes, else in the new one. */
  number: number;
}

export interface Gap {
  kind: "gap";
  /** How many lines are left out. */
  many: number;
}

const AROUND = 2;
/** Steps of a comparison; a text that differs in more is shown as replaced. */
const MOST_STEPS = 4_000_000;

/** All lines of both, in order. */
export function linesOf(before: string, after: string): Line[] {
  const old = splitLines(before);
  const now = splitLines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const same = (from: number, to: number): Line[] =>
    now.slice(from, to).map((text, place) => ({ kind: "same", text, number: from + place + 1 }));
  return [
    ...same(0, start),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end), start),
    ...same(now.length - end, now.length),
  ];
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  // What ends with a line's end has no empty line behind it.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** By the longest common part. */
function middle(old: string[], now: string[], offset: number): Line[] {
  const gone = (place: number): Line => ({ kind: "gone", text: old[place]!, number: offset + place + 1 });
  const come = (place: number): Line => ({ kind: "new", text: now[place]!, number: offset + place + 1 });
  if (old.length * now.length > MOST_STEPS) return [...old.map((_, place) => gone(place)), ...now.map((_, place) => come(place))];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let a = old.length - 1; a >= 0; a -= 1)
    for (let b = now.length - 1; b >= 0; b -= 1)
      common[a * width + b] =
        old[a] === now[b]
          ? common[(a + 1) * width + b + 1]! + 1
          : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!);
  const lines: Line[] = [];
  let a = 0;
  let b = 0;
  while (a < old.length || b < now.length) {
    if (a < old.length && b < now.length && old[a] === now[b]) {
      lines.push({ kind: "same", text: now[b]!, number: offset + b + 1 });
      a += 1;
      b += 1;
    } else if (a < old.length && (b >= now.length || common[(a + 1) * width + b]! >= common[a * width + b + 1]!)) {
      lines.push(gone(a));
      a += 1;
    } else {
      lines.push(come(b));
      b += 1;
    }
  }
  return lines;
}

/** Only what changes, with a little around it; empty where nothing does. */
export function changesOf(before: string, after: string): (Line | Gap)[] {
  const lines = linesOf(before, after);
  const isNear = lines.map((_, place) =>
    lines.slice(Math.max(0, place - AROUND), place + AROUND + 1).some(({ kind }) => kind !== "same"),
  );
  const shown: (Line | Gap)[] = [];
  lines.forEach((line, place) => {
    const last = shown.at(-1);
    if (isNear[place]) shown.push(line);
    else if (last?.kind === "gap") last.many += 1;
    else shown.push({ kind: "gap", many: 1 });
  });
  return shown.some(({ kind }) => kind === "gone" || kind === "new") ? shown : [];
}
