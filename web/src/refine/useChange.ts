/**
 * Changes one item of the table, one change after the other. Each is sent with the version that was shown, or that our own
 * change before it made, so what somebody else changed meanwhile is never overwritten unseen: the row shows what is true by
 * then, and the operator decides again.
 */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
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

export function useChange(id: string) {
  const [refused, setRefused] = useState<{ error: Error; change: ItemChange } | null>(null);
  const ownVersion = useRef(0);
  const mutation = useMutation({
    // What is wanted while another change is on its way waits for it.
    scope: { id: `item ${id}` },
    mutationFn: ({ item, change, confirmId }: Wish) =>
      changeItem(item.id, change, Math.max(item.version, ownVersion.current), confirmId),
    onSuccess: (item, { change }) => {
      ownVersion.current = item.version;
      setRefused(null);
      placeItem(item);
      announce(`${item.id}: ${changeIn(change)}`);
    },
    onError: (error, { change }) => {
      setRefused({ error, change });
      announce(`Not changed. ${explain(error)}`);
      void refresh(BACKLOG);
    },
  });
  return {
    /** What was refused last, and what was wanted. */
    refused,
    change(item: BacklogItem, change: ItemChange): void {
      if (isNews(item, change)) mutation.mutate({ item, change, confirmId: newConfirmId() });
      else setRefused(null);
    },
    forget: () => setRefused(null),
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
