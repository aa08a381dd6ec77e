/** Sessions by what is ready, as a grid: which items stand in which row, and what each cell says. Pure. */
import type { NamedItem, RuledOut, Selection, SelectionChoice, SessionRanking } from "../api/types";

export type Cell =
  | { kind: "choice"; choice: SelectionChoice }
  | { kind: "out"; out: RuledOut }
  /** Considered, and behind what is shown of this session. */
  | { kind: "behind" };

export interface GridRow {
  item: NamedItem;
  cells: Cell[];
}

/** The best first, as for a session that has done nothing yet; then what only others may do, then what nobody may. */
export function gridRows(selection: Selection): GridRow[] {
  const names = new Map(selection.items.map((item) => [item.id, item]));
  const columns = selection.sessions.map(cellsOf);
  const ids = new Set([
    ...selection.sessions.flatMap(({ choices }) => choices.map(({ item_id }) => item_id)),
    ...selection.sessions.flatMap(({ ruled_out: out }) => out.map(({ item_id }) => item_id)),
  ]);
  return [...ids].flatMap((id) => {
    const item = names.get(id);
    const cells = columns.map((column): Cell => column.get(id) ?? { kind: "behind" });
    return item === undefined ? [] : [{ item, cells }];
  });
}

function cellsOf({ choices, ruled_out: ruledOut }: SessionRanking): Map<string, Cell> {
  const out = ruledOut.map((one): [string, Cell] => [one.item_id, { kind: "out", out: one }]);
  const open = choices.map((choice): [string, Cell] => [choice.item_id, { kind: "choice", choice }]);
  return new Map([...out, ...open]);
}

export interface CellPlace {
  row: number;
  column: number;
}

const STEPS: Readonly<Record<string, [down: number, right: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

/** The cell that a key leads to; null for keys that lead nowhere. */
export function cellAfter(place: CellPlace, key: string, rows: number, columns: number): CellPlace | null {
  if (key === "Home") return { row: place.row, column: 0 };
  if (key === "End") return { row: place.row, column: columns - 1 };
  const step = STEPS[key];
  if (step === undefined) return null;
  const within = (value: number, many: number) => Math.min(Math.max(value, 0), many - 1);
  return { row: within(place.row + step[0], rows), column: within(place.column + step[1], columns) };
}

/** "+12", "−40", "0". */
export function points(number: number): string {
  return number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0";
}
