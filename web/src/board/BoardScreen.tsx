/** All work, in a column for each state: what is ready, what is blocked and by what, moved by hand or by key. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { WorkBoard, WorkCard, WorkItem, WorkState } from "../api/types";
import { boardQuery, epicsQuery, movesQuery, readCards, readMoreOf } from "../api/work-queries";
import { rememberedCard, useParameter } from "../app/routes";
import { useAskedFor } from "../app/useAskedFor";
import { refresh } from "../api/queries";
import { Holds } from "../sprints/Holds";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useNarrow } from "../ui/useNarrow";
import { Column, type Wish } from "./Column";
import { cardIn } from "./columns";
import { isFiltered, useChosen } from "./filter";
import { Filters } from "./Filters";
import { useFolded } from "./folding";
import type { CardDeeds } from "./ItemCard";
import { MoveMenu } from "./MoveMenu";
import { NewItem } from "./NewItem";
import { Offers } from "./Offers";
import { useBoardKeys } from "./useBoardKeys";
import { useMoves } from "./useMoves";
import { isState, STATE_NAMES, STATES } from "./wording";

const totalOf = (board: WorkBoard) => board.columns.reduce((sum, { total }) => sum + total, 0);

export function BoardScreen() {
  const client = useQueryClient();
  const { chosen, set, filter } = useChosen();
  const found = useQuery(boardQuery(filter));
  const moves = useQuery(movesQuery).data;
  const board = found.data;
  const [folded, fold] = useFolded();
  const isNarrow = useNarrow();
  const [wantedColumn, setColumn] = useParameter("column");
  const [dragged, setDragged] = useState<WorkCard | null>(null);
  const [asked, setAsked] = useState<WorkCard | null>(null);
  const [wish, setWish] = useState<Wish | null>(null);
  const [isMaking, setIsMaking] = useState(false);

  const column = isState(wantedColumn) ? wantedColumn : "unstarted";
  const open = isNarrow ? [column] : STATE_NAMES.filter((state) => !folded.has(state));
  const focus = (id: string) => {
    const now = client.getQueryData(boardQuery(filter).queryKey);
    const card = now && cardIn(now, id);
    if (card && open.includes(card.state)) setWish({ id, state: card.state });
  };
  const { busy, refusals, offers, move, putAway, decline } = useMoves(filter, focus);
  const deeds = useStable<CardDeeds>({
    askWhere: setAsked,
    move,
    putAway,
    // The card is drawn otherwise only after the browser has taken its picture.
    beginDrag: (card) => requestAnimationFrame(() => setDragged(card)),
    endDrag: () => requestAnimationFrame(() => setDragged(null)),
  });
  const handlers = useStable({
    more: (state: WorkState) => void readMoreOf(client, filter, state),
    drop: (to: WorkState) => dragged && move(dragged, to),
    granted: (granted: Wish) => setWish((now) => (now === granted ? null : now)),
    fold,
  });
  useBoardKeys({ board, open, focus, deeds, startNew });
  useReturn(board, focus);
  useAskedFor("item", startNew);

  function startNew(): void {
    setIsMaking(true);
    document.querySelector<HTMLElement>(".new-title")?.focus();
  }

  const total = board === undefined ? 0 : totalOf(board);
  const isThere = board !== undefined && !found.isPlaceholderData;
  useEffect(() => {
    if (isThere && isFiltered(chosen)) announce(total === 1 ? "1 item" : `${total} items`);
    // Told when another filter has its answer, not whenever an item comes or goes.
  }, [isThere, filter]);

  function onMade(item: WorkItem): void {
    void readCards(client, filter, [item.id]);
    if (item.kind === "epic" || item.kind === "milestone") void refresh(epicsQuery.queryKey);
  }

  return (
    <div className="board" data-dragging={dragged !== null || undefined}>
      <header className="screen-head board-head">
        <h1 tabIndex={-1}>Board</h1>
        <button
          type="button"
          className="button"
          aria-keyshortcuts="c"
          aria-expanded={isMaking}
          onClick={() => setIsMaking(!isMaking)}
        >
          <Kbd>c</Kbd> New item
        </button>
      </header>
      <Holds />
      {isMaking && (
        <NewItem
          parent={chosen.parent}
          onMade={onMade}
          onClose={() => {
            setIsMaking(false);
            document.querySelector<HTMLElement>(".board-head .button")?.focus();
          }}
        />
      )}
      {isNarrow ? (
        <>
          <details className="board-filters">
            <summary>{isFiltered(chosen) ? "Filtered: change it" : "Filter"}</summary>
            <Filters board={board} chosen={chosen} set={set} />
          </details>
          <select
            className="line-input"
            aria-label="Column"
            value={column}
            onChange={(event) => setColumn(event.target.value)}
          >
            {board?.columns.map(({ state, total: count }) => (
              <option key={state} value={state}>
                {STATES[state]} ({count})
              </option>
            ))}
          </select>
        </>
      ) : (
        <Filters board={board} chosen={chosen} set={set} />
      )}
      <Offers offers={offers} onClose={move} onDecline={decline} />
      {found.isPending && <Skeletons count={3} label="Reading the board" />}
      {found.isError && board === undefined && (
        <ReadError what="The board" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {isThere && total === 0 && <Nothing isFiltered={isFiltered(chosen)} />}
      {board !== undefined && total > 0 && (
        <div className="lanes" aria-busy={found.isPlaceholderData}>
          {board.columns
            .filter(({ state }) => !isNarrow || state === column)
            .map((one) => (
              <Column
                key={one.state}
                column={one}
                names={board.names}
                isFolded={!isNarrow && folded.has(one.state)}
                onFold={isNarrow ? null : handlers.fold}
                dragged={dragged}
                isAllowed={dragged !== null && (moves?.[dragged.state] ?? []).includes(one.state)}
                onDrop={handlers.drop}
                busy={busy}
                refusals={refusals}
                wish={wish?.state === one.state ? wish : null}
                onGranted={handlers.granted}
                onMore={handlers.more}
                deeds={deeds}
              />
            ))}
        </div>
      )}
      {asked && <MoveMenu item={asked} onMove={(to) => move(asked, to)} onClose={() => setAsked(null)} />}
    </div>
  );
}

function Nothing({ isFiltered: filtered }: { isFiltered: boolean }) {
  if (filtered)
    return (
      <EmptyState title="Nothing fits">
        <p>No item fits what is chosen above.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="There is no work yet">
      <p>
        Make the first item here with <Kbd>c</Kbd>, or take in what you have:
      </p>
      <pre tabIndex={0} aria-label="Commands that bring work">
        <code>{'gemba item add "Search" --kind epic\ngemba import beads .beads/issues.jsonl\ngemba import md TODO.md'}</code>
      </pre>
      <p className="hint">
        <Icon name="layers" size={14} /> An epic has parts; what blocks what decides what is ready.
      </p>
    </EmptyState>
  );
}

/** Functions that stay the same while what they close over changes, for those who draw anew when they do not. */
function useStable<Functions extends object>(functions: Functions): Functions {
  const latest = useRef(functions);
  useEffect(() => {
    latest.current = functions;
  });
  return useMemo(() => {
    const names = Object.keys(functions) as (keyof Functions)[];
    const call = (name: keyof Functions) => (...words: unknown[]) =>
      (latest.current[name] as (...all: unknown[]) => unknown)(...words);
    return Object.fromEntries(names.map((name) => [name, call(name)])) as Functions;
    // Made once: the names do not change.
  }, []);
}

/** Back from an item, the focus is on its card again. */
function useReturn(board: WorkBoard | undefined, focus: (id: string) => void): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (board === undefined || isDone.current) return;
    isDone.current = true;
    const id = rememberedCard();
    if (id !== null && cardIn(board, id) !== undefined) focus(id);
  }, [board, focus]);
}
