/**
 * One column: how many there are, and of its cards those that are near what is in view. The card that has, or last had,
 * the focus stays wherever it is scrolled to, and so does the one that is being dragged.
 */
import { memo, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { WorkCard, WorkColumn, WorkState } from "../api/types";
import { Icon } from "../ui/Icon";
import { ItemCard, type CardDeeds } from "./ItemCard";
import type { Refusal } from "./useMoves";
import { heightOf, rangeOf, rowsIn, scrolledTo, topOf, type Range, type Rows } from "./window";
import { notPossible, STATES } from "./wording";

/** A card with the gap below it, as board.css has them; and how much higher one is that says why it was not moved. */
const ROW = 136;
const REFUSED = 176;
const SPARE = 8;
/** So many cards before the last one the next are read. */
const AHEAD = 40;

/** The card that is to have the focus, in this column. A new object each time: the same one can be wished for again. */
export interface Wish {
  id: string;
  state: WorkState;
}

interface Props {
  column: WorkColumn;
  names: Readonly<Record<string, string>>;
  isFolded: boolean;
  onFold: ((state: WorkState) => void) | null;
  dragged: WorkCard | null;
  /** Whether what is dragged may be dropped here. */
  isAllowed: boolean;
  onDrop: (to: WorkState) => void;
  busy: ReadonlyMap<string, WorkState>;
  refusals: ReadonlyMap<string, Refusal>;
  wish: Wish | null;
  onGranted: (wish: Wish) => void;
  onMore: (state: WorkState) => void;
  deeds: CardDeeds;
}

export const Column = memo(function Column(props: Props) {
  const { column, isFolded, onFold, dragged, isAllowed, onDrop } = props;
  const { state, total } = column;
  const [isOver, setIsOver] = useState(false);
  const drop = dragged === null || dragged.state === state ? undefined : isAllowed ? "can" : "cannot";
  return (
    <section
      className="lane"
      aria-labelledby={`lane-${state}`}
      data-state={state}
      data-folded={isFolded || undefined}
      data-empty={total === 0 || undefined}
      data-drop={drop}
      data-over={(isOver && drop === "can") || undefined}
      onDragOver={(event) => {
        if (drop !== "can") return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        if (drop === "can") onDrop(state);
      }}
    >
      <header className="lane-head">
        <h2 id={`lane-${state}`}>
          {STATES[state]} <span className="count">{total}</span>
        </h2>
        {onFold && (
          <button
            type="button"
            className="tool"
            aria-expanded={!isFolded}
            aria-label={`${STATES[state]}: ${isFolded ? "unfold" : "fold"}`}
            onClick={() => onFold(state)}
          >
            <Icon name="chevron" />
          </button>
        )}
      </header>
      {dragged !== null && drop === "cannot" && <p className="lane-not">{notPossible(dragged.state, state)}</p>}
      {!isFolded && <Cards {...props} />}
    </section>
  );
});

function Cards({ column, names, dragged, busy, refusals, wish, onGranted, onMore, deeds }: Props) {
  const { cards, state, next_cursor, total } = column;
  const scroller = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Range>({ first: 0, end: 2 * SPARE });
  const [pinned, setPinned] = useState<string | null>(null);
  const rows = useMemo<Rows>(() => {
    const tall = refusals.size === 0 ? [] : cards.flatMap(({ id }, row) => (refusals.has(id) ? [row] : []));
    return { count: cards.length, height: ROW, extra: REFUSED, tall };
  }, [cards, refusals]);

  function look(): void {
    const box = scroller.current;
    if (box === null) return;
    const next = rangeOf(rows, box.scrollTop, box.clientHeight, SPARE);
    setRange((now) => (now.first === next.first && now.end === next.end ? now : next));
  }

  useLayoutEffect(look);
  const onResize = useEffectEvent(look);
  useEffect(() => {
    const observer = new ResizeObserver(() => onResize());
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  const wantsMore = next_cursor !== null && range.end + AHEAD >= cards.length;
  useEffect(() => {
    if (wantsMore) onMore(state);
  }, [wantsMore, onMore, state, cards.length]);

  // First the card is scrolled to and drawn, then it gets the focus.
  useLayoutEffect(() => {
    const box = scroller.current;
    const row = wish === null ? -1 : cards.findIndex(({ id }) => id === wish.id);
    if (box === null || wish === null || row < 0) return;
    box.scrollTop = scrolledTo(rows, row, box.scrollTop, box.clientHeight);
    setPinned(wish.id);
  }, [wish, cards, rows]);
  useLayoutEffect(() => {
    if (wish === null) return;
    const card = scroller.current?.querySelector<HTMLElement>(`[data-item-id="${CSS.escape(wish.id)}"]`);
    if (!card) return;
    card.focus({ preventScroll: true });
    card.closest(".lane")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    onGranted(wish);
  });

  const pinnedRow = pinned === null ? -1 : cards.findIndex(({ id }) => id === pinned);
  const draggedRow = dragged === null ? -1 : cards.findIndex(({ id }) => id === dragged.id);
  const shown = rowsIn({ first: range.first, end: Math.min(range.end, cards.length) }, [pinnedRow, draggedRow]);
  const stop = pinnedRow >= 0 ? pinnedRow : (shown[0] ?? -1);
  return (
    <div
      ref={scroller}
      className="lane-cards"
      onScroll={look}
      onFocus={(event) => {
        const card = event.target.closest<HTMLElement>(".item-card");
        if (card) setPinned(card.dataset["itemId"] ?? null);
      }}
    >
      {cards.length === 0 && <p className="lane-empty">Nothing {total > 0 ? "was read yet" : "here"}</p>}
      <ol style={{ height: heightOf(rows) }}>
        {shown.map((row) => {
          const card = cards[row]!;
          return (
            <li
              key={card.id}
              aria-setsize={total}
              aria-posinset={row + 1}
              style={{ transform: `translateY(${topOf(rows, row)}px)` }}
            >
              <ItemCard
                card={card}
                names={names}
                isStop={row === stop}
                movingTo={busy.get(card.id)}
                refusal={refusals.get(card.id)}
                deeds={deeds}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}
