/**
 * Events of work items → cache. The board reads the cards that changed, and those that say something of them; a burst
 * becomes one read. The screen of an item reads anew what concerns it.
 */
import { queryClient, refresh } from "../api/queries";
import type { WorkBoard, WorkItem } from "../api/types";
import { BOARD, epicsQuery, ITEM, readCards, type BoardFilter } from "../api/work-queries";
import { touchedBy } from "../board/columns";
import { coalesce } from "./coalesce";
import { changedBy, concerns, type Changed, type WorkNews } from "./work-news";

const BURST_WINDOW = 60;
const SIDE_WINDOW = 1_000;
/** From here on one read of the columns is cheaper, and the address of the read stays short. */
const MANY = 150;

/** Null stands for everything. */
const changedWork = coalesce<Changed | null>(BURST_WINDOW, async (news) => {
  const changed = news.has(null) ? null : [...news].filter((one) => one !== null);
  await Promise.all([renewBoards(changed), renewItems(changed && new Set(changed.map(({ id }) => id)))]);
});

const changedEpics = coalesce<null>(SIDE_WINDOW, () => refresh(epicsQuery.queryKey));

async function renewBoards(changed: Changed[] | null): Promise<void> {
  const boards = queryClient.getQueryCache().findAll({ queryKey: BOARD });
  const themselves = changed?.filter(({ asParent }) => !asParent) ?? [];
  const withParts = themselves.filter((one) => one.withParts).map(({ id }) => id);
  await Promise.all(
    boards.map(async (query) => {
      const board = query.state.data as WorkBoard | undefined;
      // What nobody looks at is read when it is looked at again.
      if (changed === null || board === undefined || !query.isActive()) return refresh(query.queryKey);
      const ids = new Set(themselves.map(({ id }) => id));
      const touched = ids.size > MANY ? [...ids] : touchedBy(board, ids, withParts);
      if (touched.length > MANY) return refresh(query.queryKey);
      await readCards(queryClient, query.queryKey[1] as BoardFilter, touched);
    }),
  );
}

async function renewItems(ids: ReadonlySet<string> | null): Promise<void> {
  const active = queryClient.getQueryCache().findAll({ queryKey: ITEM, type: "active" });
  const shown = active.filter(({ queryKey }) => queryKey[2] === "whole").map(({ queryKey }) => queryKey[1] as string);
  await Promise.all(
    shown.map(async (id) => {
      const item = queryClient.getQueryData<WorkItem>([...ITEM, id, "whole"]);
      if (ids === null || item === undefined || concerns(item, ids)) await refresh([...ITEM, id]);
    }),
  );
}

export function followWork(ref: string | null, news: WorkNews): void {
  for (const one of changedBy(ref, news) ?? [null]) changedWork(one);
  if (news.item === undefined || news.item.kind === "epic" || news.item.kind === "milestone") changedEpics(null);
}
