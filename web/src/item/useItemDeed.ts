/** Something done to an item: what it is then takes its place on the screen; what goes wrong is told beside the deed. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { refresh } from "../api/queries";
import type { WorkItem } from "../api/types";
import { ITEM, itemQuery } from "../api/work-queries";
import { announce } from "../ui/announce";

interface Deed {
  run: (confirmId: string) => Promise<WorkItem>;
  /** For those who do not see it. */
  said: (item: WorkItem) => string;
  then?: (item: WorkItem) => void;
  confirmId: string;
}

export function useItemDeed(id: string) {
  const client = useQueryClient();
  const show = (item: WorkItem) => {
    if (item.id === id) client.setQueryData(itemQuery(id).queryKey, item);
    void refresh([...ITEM, id]);
  };
  const mutation = useMutation({
    mutationFn: ({ run, confirmId }: Deed) => run(confirmId),
    onSuccess: (item, { said, then }) => {
      show(item);
      const words = said(item);
      if (words !== "") announce(words);
      then?.(item);
    },
    onError: (error) => {
      if (error instanceof Refused && error.item !== null) show(error.item);
      announce(`Not done. ${explain(error)}`);
    },
  });
  return {
    isBusy: mutation.isPending,
    error: mutation.error,
    putAway: mutation.reset,
    act: (deed: Omit<Deed, "confirmId">) => mutation.mutate({ ...deed, confirmId: newConfirmId() }),
  };
}
