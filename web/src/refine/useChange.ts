/**
 * Changes one item of the table. It is sent with the version that was shown, so what somebody changed meanwhile is never
 * overwritten unseen: the row shows what is true by then, and the operator decides again.
 */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { BACKLOG, BACKLOG_STATES, backlogQuery, changeItem, type BacklogItem, type ItemChange } from "../api/refine-queries";
import { announce } from "../ui/announce";
import { changeIn, isNews } from "./rows";

interface Wish {
  item: BacklogItem;
  change: ItemChange;
  confirmId: string;
}

export function useChange() {
  const mutation = useMutation({
    mutationFn: ({ item, change, confirmId }: Wish) => changeItem(item.id, change, item.version, confirmId),
    onSuccess: (item, { change }) => {
      placeItem(item);
      announce(`${item.id}: ${changeIn(change)}`);
    },
    onError: (error) => {
      announce(`Not changed. ${explain(error)}`);
      void refresh(BACKLOG);
    },
  });
  return {
    isPending: mutation.isPending,
    /** What was refused, and what was wanted. */
    refused: mutation.error === null ? null : { error: mutation.error, change: mutation.variables!.change },
    change(item: BacklogItem, change: ItemChange): void {
      if (!mutation.isPending && isNews(item, change)) mutation.mutate({ item, change, confirmId: newConfirmId() });
    },
    forget: () => mutation.reset(),
  };
}

export type Changing = ReturnType<typeof useChange>;

export const isConflict = (error: Error) => error instanceof Refused && error.code === "version_conflict";

/** The server's newest word on an item; one that is begun or over leaves the table. */
export function placeItem(item: BacklogItem): void {
  const stays = (BACKLOG_STATES as readonly string[]).includes(item.state);
  queryClient.setQueryData(backlogQuery.queryKey, (known) => {
    if (known === undefined) return known;
    const items = known.items.flatMap((one) => (one.id !== item.id ? [one] : stays ? [item] : []));
    return { ...known, items };
  });
}
