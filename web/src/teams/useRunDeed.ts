/** Something done to a run or a task of it: the run as it is then takes its place; what goes wrong is told beside the deed. */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { teamQuery, TEAMS } from "../api/team-queries";
import type { TeamRun } from "../api/types";
import { announce } from "../ui/announce";

interface Deed {
  run: (confirmId: string) => Promise<TeamRun | null>;
  /** For those who do not see it. */
  said: string;
  then?: () => void;
  confirmId: string;
}

export function useRunDeed(id: string) {
  const mutation = useMutation({
    mutationFn: ({ run, confirmId }: Deed) => run(confirmId),
    onSuccess: (run, { said, then }) => {
      if (run !== null) queryClient.setQueryData(teamQuery(id).queryKey, run);
      void refresh(TEAMS);
      announce(said);
      then?.();
    },
    onError: (error) => {
      announce(`Not done. ${explain(error)}`);
      // What is true by now: it may have moved on meanwhile.
      if (error instanceof Refused) void refresh([...TEAMS, "one", id]);
    },
  });
  return {
    isBusy: mutation.isPending,
    error: mutation.error,
    putAway: mutation.reset,
    act: (deed: Omit<Deed, "confirmId">) => mutation.mutate({ ...deed, confirmId: newConfirmId() }),
  };
}
