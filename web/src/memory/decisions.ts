/** What an operator can do to a memory, as requests. Each carries a confirm id, so that sending it again does it once. */
import { useMutation } from "@tanstack/react-query";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { MEMORIES, refresh } from "../api/queries";
import type { AcceptMemory, Memory } from "../api/types";
import { announce } from "../ui/announce";
import { offerWayBack } from "../undo/undo";

export type Decision =
  { verb: "accept"; body: AcceptMemory } | { verb: "reject"; body: { reason?: string } } | { verb: "reopen" };

const TAKEN_BACK = "Taken back: it waits again";

async function perform(id: string, decision: Decision, confirmId: string): Promise<Memory> {
  const params = { path: { id }, header: { "X-GEMBA-Confirm": confirmId } };
  switch (decision.verb) {
    case "accept":
      return payload(await api.POST("/api/memories/{id}/accept", { params, body: decision.body }));
    case "reject":
      return payload(await api.POST("/api/memories/{id}/reject", { params, body: decision.body }));
    case "reopen":
      return payload(await api.POST("/api/memories/{id}/reopen", { params, body: {} }));
  }
}

async function takeBack(id: string) {
  await perform(id, { verb: "reopen" }, newConfirmId());
  await refresh(MEMORIES);
  return { words: TAKEN_BACK, refused: [] };
}

/** Decides about one memory; what went wrong stays with it, and what somebody else decided meanwhile is read. */
export function useDecision(id: string) {
  const mutation = useMutation({
    mutationFn: ({ decision, confirmId }: { decision: Decision; confirmId: string }) =>
      perform(id, decision, confirmId),
    onSuccess: (memory, { decision }) => {
      if (decision.verb === "reopen") announce(TAKEN_BACK);
      else offerWayBack(wordsFor(memory), () => takeBack(id));
      return refresh(MEMORIES);
    },
    onError: (error) => {
      announce(`Not done. ${explain(error)}`);
      void refresh(MEMORIES);
    },
  });
  const decide = (decision: Decision) => {
    if (!mutation.isPending) mutation.mutate({ decision, confirmId: newConfirmId() });
  };
  return { decide, isBusy: mutation.isPending, error: mutation.error };
}

function wordsFor({ state, slug }: Memory): string {
  return state === "accepted" ? `Remembered as ${slug}` : "Rejected: it is not offered again";
}
