/** The columns of a board as answers change them: cards in their order, each once, the newest word on each. Pure. */
import type { WorkBoard, WorkCard, WorkColumn, WorkState } from "../api/types.ts";

const FINISHED: readonly WorkState[] = ["done", "cancelled"];

export const isFinished = (state: WorkState) => FINISHED.includes(state);

const compare = <T extends number | string>(one: T, other: T) => (one < other ? -1 : one > other ? 1 : 0);

/** The server's order: open cards as they should be done, finished ones by their last change. */
export function inOrder(one: WorkCard, other: WorkCard): number {
  if (isFinished(one.state)) return compare(other.updated_at, one.updated_at) || compare(other.id, one.id);
  return (
    compare(one.user_order ?? Number.POSITIVE_INFINITY, other.user_order ?? Number.POSITIVE_INFINITY) ||
    compare(one.priority, other.priority) ||
    compare(one.created_at, other.created_at) ||
    compare(one.id, other.id)
  );
}

export function cardIn(board: WorkBoard, id: string): WorkCard | undefined {
  for (const { cards } of board.columns) {
    const found = cards.find((card) => card.id === id);
    if (found) return found;
  }
  return undefined;
}

export function loadedOf(board: WorkBoard | undefined, state: WorkState): number {
  return board?.columns.find((column) => column.state === state)?.cards.length ?? 0;
}

/** The next page of a column behind its last card. One that was asked for with another cursor is not taken. */
export function extended(board: WorkBoard, page: WorkBoard, state: WorkState, cursor: string): WorkBoard {
  const more = page.columns.find((column) => column.state === state);
  if (more === undefined) return board;
  const known = new Set(board.columns.flatMap(({ cards }) => cards.map(({ id }) => id)));
  const columns = board.columns.map((column) =>
    column.state !== state || column.next_cursor !== cursor
      ? column
      : {
          ...column,
          total: more.total,
          cards: [...column.cards, ...more.cards.filter(({ id }) => !known.has(id))],
          next_cursor: more.next_cursor,
        },
  );
  return { ...board, columns, names: { ...board.names, ...page.names } };
}

/**
 * What `answer` says of the items that were asked about takes the place of what was known; those that it does not have
 * are no longer of this board. A card that is newer already stays. A card that belongs behind all that was read of its
 * column comes with the next page.
 */
export function merged(board: WorkBoard, answer: WorkBoard, asked: readonly string[]): WorkBoard {
  const known = new Map(board.columns.flatMap(({ cards }) => cards.map((card) => [card.id, card] as const)));
  const newer = new Set(
    answer.columns.flatMap(({ cards }) =>
      cards.filter((card) => (known.get(card.id)?.version ?? 0) > card.version).map(({ id }) => id),
    ),
  );
  const leaving = new Set(asked.filter((id) => !newer.has(id)));
  const columns = board.columns.map((column): WorkColumn => {
    const told = answer.columns.find(({ state }) => state === column.state);
    const stay = column.cards.some(({ id }) => leaving.has(id))
      ? column.cards.filter(({ id }) => !leaving.has(id))
      : column.cards;
    const cards = (told?.cards ?? [])
      .filter(({ id }) => leaving.has(id))
      .reduce((placed, card) => inserted(placed, card, column.next_cursor === null), stay);
    const total = told?.total ?? column.total;
    return cards === column.cards && total === column.total ? column : { ...column, cards, total };
  });
  return { ...board, columns, names: renamed({ ...board.names, ...answer.names }, answer) };
}

function inserted(cards: readonly WorkCard[], card: WorkCard, isWhole: boolean): WorkCard[] {
  const index = cards.findIndex((other) => inOrder(card, other) < 0);
  if (index >= 0) return cards.toSpliced(index, 0, card);
  return isWhole ? [...cards, card] : [...cards];
}

/** Titles that others are named by follow the cards themselves. */
function renamed(names: Record<string, string>, { columns }: WorkBoard): Record<string, string> {
  for (const { cards } of columns) for (const { id, title } of cards) if (id in names) names[id] = title;
  return names;
}

/**
 * The cards that a change of some items shows on: their own, those that name them as what blocks or holds them, and for
 * those `withParts` everything below, which is held when they are.
 */
export function touchedBy(board: WorkBoard, ids: Iterable<string>, withParts: Iterable<string>): string[] {
  const changed = new Set(ids);
  const whole = new Set(withParts);
  const cards = board.columns.flatMap((column) => column.cards);
  for (let known = -1; known !== whole.size; ) {
    known = whole.size;
    for (const { id, parent } of cards) if (parent !== null && whole.has(parent)) whole.add(id);
  }
  const naming = cards.filter(({ blocked_by, held_by }) => [...blocked_by, ...held_by].some((id) => changed.has(id)));
  return [...new Set([...changed, ...whole, ...naming.map(({ id }) => id)])];
}
