/** Something done in a walk but for deciding: the walk as it is then takes its place; what goes wrong is told. */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import type { Walk } from "../api/types";
import { walkQuery, walksQuery } from "../api/walk-queries";
import { announce } from "../ui/announce";

interface Deed {
  run: (confirmId: string) => Promise<Walk | null>;
  /** For those who do not see it; by the walk as it is then. */
  said?: string | ((walk: Walk) => string);
  then?: () => void;
  confirmId: string;
}

export interface WalkDeeds {
  isBusy: boolean;
  error: Error | null;
  putAway: () => void;
  act: (deed: Omit<Deed, "confirmId">) => void;
}

export function useWalkDeed(id: string): WalkDeeds {
  const { queryKey } = walkQuery(id);
  const mutation = useMutation({
    // One after the other: each begins from what the one before has left.
    scope: { id: `walk ${id}` },
    mutationFn: ({ run, confirmId }: Deed) => run(confirmId),
    onSuccess: async (walk, { said, then }) => {
      if (walk === null) void refresh(queryKey);
      else {
        await queryClient.cancelQueries({ queryKey });
        queryClient.setQueryData(queryKey, walk);
      }
      if (typeof said === "string") announce(said);
      else if (said !== undefined && walk !== null) announce(said(walk));
      void refresh(walksQuery.queryKey);
      then?.();
    },
    onError: (error) => {
      announce(`Not done. ${explain(error)}`);
      // What is true by now: another tab may have been first.
      if (error instanceof Refused) void refresh(queryKey);
    },
  });
  return {
    isBusy: mutation.isPending,
    error: mutation.error,
    putAway: mutation.reset,
    act: (deed) => mutation.mutate({ ...deed, confirmId: newConfirmId() }),
  };
}
