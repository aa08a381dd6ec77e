/**
 * An agent's Markdown in blocks: headings, lists, tables, quotes, code. What is not one of these stays the text it is:
 * links, images and HTML are shown as they were written, so that nothing leads anywhere and nothing is fetched. Pure.
 */
export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "words"; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: { depth: number; text: string }[] }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "quote"; text: string }
  | { kind: "code"; text: string }
  | { kind: "rule" };

export type Span = { kind: "words" | "code" | "strong" | "soft"; text: string };

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const DIVIDER = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
/** Each block is an element to lay out: what comes behind is one text. */
const MOST_BLOCKS = 2_000;

export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (blocks.length >= MOST_BLOCKS) {
      blocks.push({ kind: "code", text: lines.slice(at).join("\n") });
      break;
    }
    const read = readCode(lines, at) ?? readTable(lines, at) ?? readList(lines, at) ?? readQuote(lines, at) ?? readLine(lines, at);
    if (read.block !== null) blocks.push(read.block);
    at = read.next;
  }
  return blocks;
}

interface Read {
  block: Block | null;
  next: number;
}

function readCode(lines: string[], at: number): Read | null {
  const fence = FENCE.exec(lines[at]!)?.[1];
  if (fence === undefined) return null;
  const isEnd = (line: string) => line.trim().startsWith(fence) && line.trim().replaceAll(fence[0]!, "") === "";
  const found = lines.findIndex((line, index) => index > at && isEnd(line));
  const end = found < 0 ? lines.length : found;
  return { block: { kind: "code", text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

const cellsOf = (line: string) =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

function readTable(lines: string[], at: number): Read | null {
  if (!ROW.test(lines[at]!) || !DIVIDER.test(lines[at + 1] ?? "")) return null;
  let next = at + 2;
  while (next < lines.length && ROW.test(lines[next]!)) next += 1;
  return { block: { kind: "table", head: cellsOf(lines[at]!), rows: lines.slice(at + 2, next).map(cellsOf) }, next };
}

function readList(lines: string[], at: number): Read | null {
  const first = ITEM.exec(lines[at]!);
  if (first === null || RULE.test(lines[at]!)) return null;
  const items: { depth: number; text: string }[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next]!;
    const item = ITEM.exec(line);
    const last = items.at(-1);
    if (item !== null) items.push({ depth: Math.min(4, Math.floor(item[1]!.length / 2)), text: item[4]! });
    else if (last !== undefined && /^\s{2,}\S/.test(line) && !FENCE.test(line)) last.text += `\n${line.trim()}`;
    else break;
  }
  return { block: { kind: "list", ordered: first[3] !== undefined, start: Number(first[3] ?? 1), items }, next };
}

function readQuote(lines: string[], at: number): Read | null {
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next]!)) next += 1;
  if (next === at) return null;
  return { block: { kind: "quote", text: lines.slice(at, next).map((line) => QUOTE.exec(line)![1]!).join("\n") }, next };
}

function readLine(lines: string[], at: number): Read {
  const line = lines[at]!;
  const heading = HEADING.exec(line);
  if (heading !== null) return { block: { kind: "heading", level: heading[1]!.length, text: heading[2]! }, next: at + 1 };
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (line.trim() === "") return { block: null, next: at + 1 };
  let next = at + 1;
  while (next < lines.length && !beginsAnother(lines, next)) next += 1;
  return { block: { kind: "words", text: lines.slice(at, next).join("\n") }, next };
}

function beginsAnother(lines: string[], at: number): boolean {
  const line = lines[at]!;
  return line.trim() === "" || HEADING.test(line) || FENCE.test(line) || QUOTE.test(line) || ITEM.test(line) || ROW.test(line) || RULE.test(line);
}

/** First what is escaped, which is itself and begins nothing. */
const SPANS = /\\([\\`*[<|~&_])|(?<!`)`([^`\n]+)`(?!`)|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])/g;
const MOST_SPANS = 500;

export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let told = 0;
  for (const found of text.matchAll(SPANS)) {
    if (spans.length >= MOST_SPANS) break;
    if (found.index > told) spans.push({ kind: "words", text: text.slice(told, found.index) });
    const [whole, escaped, code, strong, soft = ""] = found;
    if (escaped !== undefined) spans.push({ kind: "words", text: escaped });
    else spans.push(code !== undefined ? { kind: "code", text: code } : strong !== undefined ? { kind: "strong", text: strong } : { kind: "soft", text: soft });
    told = found.index + whole.length;
  }
  if (told < text.length) spans.push({ kind: "words", text: text.slice(told) });
  return joined(spans);
}

/** Words that follow each other are one span. */
function joined(spans: Span[]): Span[] {
  return spans.reduce<Span[]>((all, span) => {
    const last = all.at(-1);
    if (last?.kind !== "words" || span.kind !== "words") all.push(span);
    else all[all.length - 1] = { kind: "words", text: last.text + span.text };
    return all;
  }, []);
}
